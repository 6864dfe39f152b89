//! West World, the three programs of chapter 2 of Mat Buckland's *Programming Game AI by Example*: a port of characters that
//! have state machines and send each other telegrams.
//!
//! ```text
//! Miner Bob (bob.rs)                         Elsa (elsa.rs)
//! ├─ GettingThirsty              (global)    ├─ WifesGlobalState    (global)
//! ├─ GoHomeAndSleepTilRested     (initial)   ├─ DoHouseWork         (initial)
//! ├─ EnterMineAndDigForNugget                ├─ VisitBathroom
//! ├─ VisitBankAndDepositGold                 └─ CookStew
//! ├─ QuenchThirst
//! └─ EatStew
//! ```
//!
//! | program | who | telegrams |
//! |---|---|---|
//! | `west-world-1` | Bob | |
//! | `with-woman` | Bob, Elsa | |
//! | `with-messaging` (default) | Bob, Elsa | `HiHoneyImHome`, `StewReady` |
//!
//! ```text
//! cargo run --release --example west_world
//! cargo run --release --example west_world -- with-woman --ticks 100 --seed 7 --watch
//! RUST_LOG=debug cargo run --release --example west_world -- west-world-1
//! ```
//!
//! Its output is the same as that of the book's programs. The first tick:
//!
//! ```text
//! Miner Bob: All mah fatigue has drained away. Time to find more gold!
//! Miner Bob: Walkin' to the goldmine
//! Elsa: Washin' the dishes
//! ```

mod bob;
#[path = "../command_line/mod.rs"]
mod command_line;
mod elsa;
mod options;
mod page;
mod random;
mod telegraph;
mod town;

use std::env;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

pub(crate) use options::USAGE;

fn main() -> ExitCode {
    env_logger::init();
    let stdout = io::stdout();
    let is_colored = stdout.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut out = BufWriter::new(stdout.lock());
    ExitCode::from(answer(env::args_os().skip(1), is_colored, &mut out, &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(
    arguments: impl IntoIterator<Item = OsString>,
    is_colored: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    command_line::answer("west_world", USAGE, options::parse(arguments), out, err, |options, out, _| {
        town::run(options, is_colored, out)
    })
}

#[cfg(test)]
#[path = "../tests/gallery.rs"]
mod gallery;
#[cfg(test)]
#[path = "../tests/west_world.rs"]
mod tests;
