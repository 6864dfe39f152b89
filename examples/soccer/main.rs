//! Soccer, five a side: characters of several types that call each other in the middle of their own callbacks.
//!
//! ```text
//! Team (team.rs)                 Keeper (keeper.rs)      FieldPlayer (field_player/)
//! ├─ Rules            (global)   ├─ Orders   (global)    ├─ Orders       (global)
//! ├─ PrepareForKickOff           ├─ GoHome               ├─ GoHome
//! └─ InPlay                      ├─ TendGoal             ├─ OffTheBall
//!    ├─ Defending                ├─ Intercept            │  ├─ KeepPosition
//!    └─ Attacking                └─ HoldBall             │  ├─ Mark
//!                                                        │  └─ Support
//!                                                        ├─ AfterTheBall
//!                                                        │  ├─ Chase
//!                                                        │  └─ Receive
//!                                                        ├─ OnTheBall
//!                                                        │  ├─ Dribble
//!                                                        │  ├─ Pass         (with data: to whom, and where)
//!                                                        │  └─ Shoot        (with data: where)
//!                                                        └─ Stumble         (not to be left before 0.7 seconds)
//! ```
//!
//! The example shows:
//!
//! - **A team's machine above its players' machines.** `Attacking` and `Defending` send the players: to the ball, to an
//!   opponent, to a place where a pass can arrive. They read the states of the players, even of a player who is acting.
//! - **Nested telegrams.** A player in `Support` asks for the ball within his own callback. The player with the ball kicks it,
//!   and tells the first player to receive it; the first player is in `Receive` before his callback continues: `rejoin` makes
//!   this possible. Then the passer tells the team, which sends a third player.
//! - **Telegrams to oneself.** A player who gets to the ball sends himself a telegram: with `send_now` where the rest of the
//!   tick depends on it, with `send` where it does not. A keeper tells himself when to throw, with `send_after`.
//! - **`post`.** When the ball changes sides, both teams are told after the current turn.
//! - **A context of the game's own.** `Match` (game.rs) holds the members, the ball, and the bodies of all ten players, so that
//!   all players see each other. Data that only a player's own states read is in the owner. `Match` has its own methods.
//!
//! ```text
//! cargo run --example soccer -- --watch
//! cargo run --release --example soccer
//! cargo run --release --example soccer -- --ticks 100000 --seed 7 --svg target/soccer.svg --film target/film.svg
//! RUST_LOG=demeanor=trace cargo run --release --example soccer -- --ticks 200
//! ```
//!
//! With `--watch`, it shows 35 seconds of the match in a terminal of at least 80 by 24 characters; `--ticks` sets the length,
//! with 20 ticks per second. Then it prints the score, and how often each character has entered each state. The first lines of
//! the second command:
//!
//! ```text
//! Orange 16 : 21 Blue, after 20000 ticks (1000 seconds), seed 1
//!
//! 107 times a player asked for a pass; 18 times he got it within the same call
//! ```
//!
//! `--svg` draws the end of the match: the tracks of the last eight seconds, and the states of the players. `--film` draws the
//! last twelve seconds as an animation, which a browser shows. The same seed gives the same match.

mod ball;
mod body;
mod census;
#[path = "../command_line/mod.rs"]
mod command_line;
pub(crate) mod field_player;
mod film;
pub(crate) mod game;
pub(crate) mod keeper;
mod options;
mod picture;
pub(crate) mod pitch;
mod report;
pub(crate) mod team;
mod view;
pub(crate) mod watch;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use film::Film;
pub(crate) use game::Match;
pub(crate) use options::USAGE;

fn main() -> ExitCode {
    env_logger::init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("soccer", USAGE, options::parse(arguments), out, err, |options, out, _| {
        let mut game = Match::new(options.seed);
        let mut film = Film::default();
        if options.watch {
            out.write_all(watch::CLEAR.as_bytes())?;
        }
        for _ in 0..options.ticks {
            game.tick();
            film.record(&game);
            if options.watch {
                out.write_all(watch::frame(&game).as_bytes())?;
                out.flush()?;
                thread::sleep(game::TICK);
            }
        }
        if options.watch {
            out.write_all(b"\n\n")?;
        }
        report::write(&game, options.seed, out)?;
        if let Some(file) = &options.svg {
            picture::write(&picture::svg(&game), file)?;
            writeln!(out, "\nThe last seconds: {}", file.display())?;
        }
        if let Some(file) = &options.film {
            picture::write(&film.svg(), file)?;
            writeln!(out, "\nThe last seconds, moving: {}", file.display())?;
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "../tests/soccer.rs"]
mod tests;
