//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Error, Parser, ValueExt};

pub(crate) const USAGE: &str = "usage: soccer [--ticks N] [--seed N] [--svg FILE] [--watch]";

pub(crate) struct Options {
    pub(crate) ticks: u64,
    pub(crate) seed: u64,
    /// Where the picture is written to, if one is wanted.
    pub(crate) svg: Option<PathBuf>,
    /// Shows the match in the terminal, in real time.
    pub(crate) watch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { ticks: 20_000, seed: 1, svg: None, watch: false }
    }
}

/// Reads the arguments, without the program's name. `None` when all that is asked for is help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(arguments);
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("svg") => options.svg = Some(parser.value()?.into()),
            Arg::Long("watch") => options.watch = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}
