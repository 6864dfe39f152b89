//! A million enemies on a plain, for three days: a batch, the cost of a tick, and a chart of the enemies in each state.
//!
//! ```text
//! Enemy
//! ├─ Rest      (initial)  rested, and it is day: Think; the hero comes close: Flee
//! ├─ Idle                 after a while: Think
//! ├─ Think                looks around: Chase, Rest, Wander or Idle
//! ├─ Wander               sees the hero: Chase; after a while: Think
//! ├─ Chase                is hit, or exhausted: Flee; loses sight of the hero: Wander
//! └─ Flee                 far enough: Rest
//! ```
//!
//! The hero comes each morning, stays near the middle of the plain, and leaves in the afternoon. An hour has ten ticks.
//!
//! ```text
//! cargo run --release --example horde --features parallel
//! cargo run --release --example horde -- --owners 100000 --ticks 2400 --churn 300 --output horde.png
//! ```
//!
//! `--churn` sets how often the enemies change state, in percent of the usual: 0 is never, 10000 is in nearly every tick.
//! Without the feature `parallel` there is one thread. At the end the program prints a table with the cost of a tick, and draws
//! the number of enemies in each state over time. Changes and picture do not depend on the number of threads.

#[path = "../command_line/mod.rs"]
mod command_line;
mod enemy;
mod options;
mod plot;
mod report;
mod run;
mod world;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) use options::USAGE;

fn main() -> ExitCode {
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("horde", USAGE, options::parse(arguments), out, err, |options, out, err| {
        let threads = run::useful_threads(options.threads);
        if threads < options.threads {
            let _ = writeln!(err, "horde: {threads} threads, not {}: more would only wait for work", options.threads);
        }
        let record = run::run(options, threads)?;
        report::write(&record, options, out)?;
        plot::draw(&record, &options.output)?;
        writeln!(out, "\nPopulation per state over time: {}", options.output.display())
    })
}

#[cfg(test)]
#[path = "tests/horde.rs"]
mod tests;
