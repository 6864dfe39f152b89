//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Error, Parser, ValueExt};

pub(crate) const USAGE: &str = "usage: replay [--report FILE] [--to TICK | [--guards N] [--ticks N] [--seed N]]";

pub(crate) struct Options {
    /// The file of the report. It is read if a tick is given, and otherwise written.
    pub(crate) report: PathBuf,
    /// The tick up to which the report is played, if given.
    pub(crate) to: Option<u64>,
    pub(crate) guards: u32,
    pub(crate) ticks: u64,
    pub(crate) seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { report: PathBuf::from("target/replay.ron"), to: None, guards: 12, ticks: 200, seed: 1 }
    }
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(arguments);
    let mut options = Options::default();
    let mut is_played = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("report") => options.report = parser.value()?.into(),
            Arg::Long("to") => options.to = Some(parser.value()?.parse()?),
            Arg::Long("guards") => (options.guards, is_played) = (parser.value()?.parse()?, true),
            Arg::Long("ticks") => (options.ticks, is_played) = (parser.value()?.parse()?, true),
            Arg::Long("seed") => (options.seed, is_played) = (parser.value()?.parse()?, true),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    if is_played && options.to.is_some() {
        return Err("with --to, the report says who was there and what was done".into());
    }
    Ok(Some(options))
}
