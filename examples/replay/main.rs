//! A bug report that can be played: guards in a corridor, a player who does something random, and a replay of it.
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
//! A first run plays, and writes a report: the guards as they were when it began, and what the player has done in which tick. A
//! second run, on another machine if need be, reads it, plays to some tick, and shows who is in which state there:
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

/// Does what the command line asks for. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("replay", USAGE, options::parse(arguments), out, err, |options, out, _| match options.to {
        None => play(options, out),
        Some(tick) => look(&options.report, tick, out),
    })
}

/// How long the game has been under way when the recording begins.
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

/// Reads a report, plays to a tick, and shows what is there.
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
