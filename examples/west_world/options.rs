//! The command line.

use std::ffi::OsString;

use lexopt::{Arg, Error, Parser, ValueExt};

use super::bob::Habits;
use super::town::Program;

pub(crate) const USAGE: &str = "\
usage: west_world [west-world-1|with-woman|with-messaging] [--ticks N] [--seed N]
                  [--comfort N] [--pockets N] [--thirst N] [--tired N] [--watch]
  --ticks N    how long the story is
  --seed N     another story for each number
  --comfort N  with how many nuggets in the bank Bob feels rich enough to go home
  --pockets N  how many nuggets he can carry
  --thirst N   how thirsty he gets before he goes to the saloon
  --tired N    above this fatigue he goes on sleeping
  --watch      tells the story in real time";

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) program: Program,
    pub(crate) ticks: u64,
    pub(crate) seed: u64,
    pub(crate) habits: Habits,
    /// Whether to run in real time, for a human viewer.
    pub(crate) watch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { program: Program::WithMessaging, ticks: 30, seed: 1, habits: Habits::default(), watch: false }
    }
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, Error> {
    let mut parser = Parser::from_args(arguments);
    let mut options = Options::default();
    let mut program = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("comfort") => options.habits.comfort = parser.value()?.parse::<i32>()?.into(),
            Arg::Long("pockets") => options.habits.pockets = parser.value()?.parse::<i32>()?.into(),
            Arg::Long("thirst") => options.habits.thirst = parser.value()?.parse::<i32>()?.into(),
            Arg::Long("tired") => options.habits.tired = parser.value()?.parse::<i32>()?.into(),
            Arg::Long("watch") => options.watch = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Value(name) if program.is_none() => program = Some(name.parse_with(program_named)?),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    options.program = program.unwrap_or(options.program);
    Ok(Some(options))
}

fn program_named(name: &str) -> Result<Program, &'static str> {
    match name {
        "west-world-1" => Ok(Program::WestWorld1),
        "with-woman" => Ok(Program::WithWoman),
        "with-messaging" => Ok(Program::WithMessaging),
        _ => Err("there is no such program"),
    }
}
