//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::{Arg, Error, Parser, ValueExt};

pub(crate) const USAGE: &str = "\
usage: bestiary [FILE] [--creatures N] [--ticks N] [--seed N] [--machines] [--watch] [--words]
  FILE           the file with the creatures; by default the example's own
  --creatures N  how many creatures there are
  --ticks N      how long they are updated
  --seed N       other random numbers for each number
  --machines     uses a machine for each creature, instead of a batch for each kind
  --watch        goes on until it is stopped, and reloads the file when it is saved
  --words        only prints the words that a file can use, for `demeanor --vocabulary`";

pub(crate) struct Options {
    /// The file with the creatures.
    pub(crate) file: PathBuf,
    pub(crate) creatures: usize,
    pub(crate) ticks: u32,
    pub(crate) seed: u64,
    /// Whether to use one machine per creature, instead of one batch per kind.
    pub(crate) machines: bool,
    /// Whether to run until it is stopped, and to reload the file when it is saved.
    pub(crate) watch: bool,
    /// Whether to print only the words that a file can use, for the tool.
    pub(crate) words: bool,
}

impl Default for Options {
    fn default() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("bestiary/bestiary.fsm.toml");
        Self { file, creatures: 3000, ticks: 3600, seed: 1, machines: false, watch: false, words: false }
    }
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    const MOST: usize = 1_000_000;

    let mut parser = Parser::from_args(arguments);
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("creatures") => options.creatures = parser.value()?.parse::<usize>()?.min(MOST),
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("machines") => options.machines = true,
            Arg::Long("watch") if cfg!(feature = "watch") => options.watch = true,
            Arg::Long("watch") => return Err("--watch needs `--features watch`".into()),
            Arg::Long("words") => options.words = true,
            Arg::Value(file) => options.file = file.into(),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}
