//! A bug report that can be played: guards in a corridor, a player with random actions, and a replay of them.
//!
//! ```text
//! Guard
//! ├─ Patrol   (initial)  hears a whistle: Listen; sees the player: Chase; is tired: Nap
//! ├─ Listen              sees the player: Chase; after 8 ticks: Patrol
//! ├─ Chase               the player is far away: Listen; is tired: Nap
//! ├─ Nap                 asleep for 30 ticks, or until a whistle: Patrol
//! └─ Stunned             hit by a stone; after 12 ticks: Patrol
//! ```
//!
//! The first run plays, and writes a report: the guards as they were at its beginning, and the player's actions in each tick. A
//! second run, maybe on another computer, reads the report, plays up to a tick, and shows the state of each guard in this tick:
//!
//! ```text
//! cargo run --example replay --features serde -- --report target/replay.ron --seed 3
//! cargo run --example replay --features serde -- --report target/replay.ron --to 57
//! ```

#[path = "../command_line/mod.rs"]
mod command_line;
mod game;
mod guard;
mod options;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use demeanor::save::Replay;

use game::{Deed, Game, SavedGame, random_deeds};
use guard::Guard;
use options::{Options, USAGE};

fn main() -> ExitCode {
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("replay", USAGE, options::parse(arguments), out, err, |options, out, _| match options.to {
        None => play(options, out),
        Some(tick) => look(&options.report, tick, out),
    })
}

/// The number of ticks before the recording begins.
const BEFORE: u64 = 100;

/// Plays a game, and writes the report.
fn play(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut player = oorandom::Rand32::new(options.seed);
    let mut game = Game::new(options.guards);
    for _ in 0..BEFORE {
        let deeds = random_deeds(&mut player, &game);
        game.advance(&deeds);
    }
    let mut replay = Replay::new(game.clone());
    for tick in 0..options.ticks {
        let deeds = random_deeds(&mut player, &game);
        game.advance(&deeds);
        for deed in deeds {
            replay.record(tick, deed);
        }
    }
    write(&replay, &options.report)?;
    game.show(out)?;
    writeln!(out, "\n{} ticks with {} actions: {}", options.ticks, replay.inputs().count(), options.report.display())
}

/// Reads a report, plays up to a tick, and shows the guards.
fn look(report: &Path, tick: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut replay = read(report)?;
    for (at, deed) in replay.inputs().filter(|(at, _)| (tick.saturating_sub(5)..tick).contains(at)) {
        writeln!(out, "in tick {at} of the report {deed}")?;
    }
    replay.play_to(tick, Game::advance).show(out)
}

fn write(replay: &Replay<Game, Deed>, report: &Path) -> io::Result<()> {
    let saved = replay.as_ref().try_map(Game::save).map_err(io::Error::other)?;
    let text = ron::to_string(&saved).map_err(io::Error::other)?;
    if let Some(directory) = report.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(report, text).map_err(|error| in_file(report, error))
}

fn read(report: &Path) -> io::Result<Replay<Game, Deed>> {
    let text = fs::read_to_string(report).map_err(|error| in_file(report, error))?;
    let saved: Replay<SavedGame<Guard>, Deed> = ron::from_str(&text).map_err(|error| in_file(report, error))?;
    saved.try_map(Game::load).map_err(|error| in_file(report, error))
}

fn in_file(report: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", report.display()))
}

#[cfg(test)]
#[path = "../tests/replay.rs"]
mod tests;
