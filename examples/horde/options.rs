//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;

use lexopt::{Arg, Error, Parser, ValueExt};

pub(crate) const USAGE: &str = "\
usage: horde [--owners N] [--ticks N] [--threads N] [--churn PERCENT] [--output FILE.svg|FILE.png]
  --owners N       how many enemies there are
  --ticks N        how long they are updated
  --threads N      on how many threads; more than 1 needs the feature `parallel`
  --churn PERCENT  how often they change state, compared with the default
  --output FILE    the picture to draw";

pub(crate) struct Options {
    pub(crate) owners: u32,
    pub(crate) ticks: u32,
    pub(crate) threads: usize,
    /// How often the enemies change state, in percent of the usual.
    pub(crate) churn: u32,
    /// The file of the picture.
    pub(crate) output: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = if cfg!(feature = "parallel") { cores } else { 1 };
        Self { owners: 1_000_000, ticks: 720, threads, churn: 100, output: PathBuf::from("target/horde.svg") }
    }
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(arguments);
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("owners") => options.owners = parser.value()?.parse()?,
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("threads") => options.threads = parser.value()?.parse_with(threads)?,
            Arg::Long("churn") => options.churn = parser.value()?.parse()?,
            Arg::Long("output") => options.output = picture(parser.value()?)?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

fn threads(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(0) => Err("there must be at least 1 thread".to_owned()),
        Ok(threads) if threads > 1 && !cfg!(feature = "parallel") => {
            Err("more than 1 thread needs `--features parallel`".to_owned())
        }
        Ok(threads) => Ok(threads),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that the file has the extension of a picture: SVG or PNG.
fn picture(file: OsString) -> Result<PathBuf, Error> {
    let file = PathBuf::from(file);
    if is_png(&file) || file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        return Ok(file);
    }
    Err(format!("a picture is written as .svg or .png, not as {}", file.display()).into())
}

pub(crate) fn is_png(file: &std::path::Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}
