//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Error, Parser, ValueExt};

pub(crate) const USAGE: &str = "\
usage: soccer [--ticks N] [--seed N] [--svg FILE] [--film FILE] [--watch]
  --ticks N    how long the match is; 20 ticks are a second
  --seed N     another match for each number
  --svg FILE   draws the end of the match
  --film FILE  draws the last seconds as a moving picture
  --watch      shows the match in the terminal";

pub(crate) struct Options {
    pub(crate) ticks: u64,
    pub(crate) seed: u64,
    /// The file of the picture, if requested.
    pub(crate) svg: Option<PathBuf>,
    /// The file of the animation, if requested.
    pub(crate) film: Option<PathBuf>,
    /// Whether to show the match in the terminal, in real time. The match is then short, unless its length is given.
    pub(crate) watch: bool,
}

const TICKS: u64 = 20_000;
/// 35 seconds. In the match with the first seed, they contain a goal.
const WATCHED_TICKS: u64 = 700;

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(arguments);
    let mut options = Options { ticks: TICKS, seed: 1, svg: None, film: None, watch: false };
    let mut ticks = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("ticks") => ticks = Some(parser.value()?.parse()?),
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("svg") => options.svg = Some(parser.value()?.into()),
            Arg::Long("film") => options.film = Some(parser.value()?.into()),
            Arg::Long("watch") => options.watch = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    options.ticks = ticks.unwrap_or(if options.watch { WATCHED_TICKS } else { TICKS });
    Ok(Some(options))
}
