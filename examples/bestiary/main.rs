//! The bestiary of a game: ten kinds of creature in one file, with hundreds of states, run as a crowd.
//!
//! Two sides fight for the halls of a drowned abbey. Read `bestiary.fsm.toml` first: it has the whole behavior of the
//! creatures. The program only defines the words of the file.
//!
//! ```text
//! words.rs        the words that the file can use
//! behaviors.rs    what creatures do: look, walk, strike, hide and so on
//! creature.rs     a body, and what a creature knows of others
//! halls.rs        the halls, and how one walks through their doors
//! world.rs        what all share during a tick; what they do to each other
//! crowd.rs        the creatures in batches, or one machine for each
//! game.rs         a tick of all creatures, then what they do to each other
//! report.rs       the tables at the end
//! ```
//!
//! ```text
//! cargo run --release --example bestiary --features definition,script
//! cargo run --release --example bestiary --features script,parallel -- --creatures 20000 --ticks 900 --seed 7
//! cargo run --release --example bestiary --features script,watch -- --watch
//! ```
//!
//! The second command runs each kind on all cores, with the same result. `--machines` runs one machine per creature instead,
//! also with the same result. The third command runs in real time until you stop it, prints the tables every ten seconds, and
//! reloads the file when you save it. Changes in a `body` apply to creatures that are created later.
//!
//! A designer checks the file and draws a creature without the game, with the words from `--words`:
//!
//! ```text
//! cd examples/bestiary
//! demeanor check bestiary.fsm.toml --vocabulary words.json
//! demeanor graph bestiary.fsm.toml --vocabulary words.json --machine lurker --format svg --output lurker.svg
//! ```

mod behaviors;
#[path = "../command_line/mod.rs"]
mod command_line;
pub(crate) mod creature;
pub(crate) mod crowd;
pub(crate) mod game;
mod halls;
mod options;
pub(crate) mod report;
pub(crate) mod words;
mod world;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use game::Game;
use options::Options;
pub(crate) use options::USAGE;
use words::vocabulary;

fn main() -> ExitCode {
    env_logger::init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("bestiary", USAGE, options::parse(arguments), out, err, play)
}

fn play(options: &Options, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    if options.words {
        return write!(out, "{}", vocabulary().export().to_json());
    }
    let kinds = crowd::read_kinds(&options.file, &vocabulary()).map_err(io::Error::other)?;
    let mut game = Game::new(kinds, options.creatures, options.seed, !options.machines);
    if options.watch { watch(&mut game, options, out, err) } else { run(&mut game, options, out) }
}

/// Runs as fast as it can, and prints the tables.
fn run(game: &mut Game, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let start = Instant::now();
    for _ in 0..options.ticks {
        game.tick();
    }
    let took = start.elapsed();
    report::write(game, options.seed, out)?;
    writeln!(out, "{:.0} ticks per second", f64::from(options.ticks) / took.as_secs_f64())
}

/// Runs in real time until it is stopped, and reloads the file whenever it is saved.
#[cfg(feature = "watch")]
fn watch(game: &mut Game, options: &Options, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    use std::thread::sleep;
    use std::time::Duration;

    use demeanor::definition::Watch;

    const TICK: Duration = Duration::from_nanos(1_000_000_000 / world::TICKS_PER_SECOND as u64);

    let watches = game.kinds.iter().map(|kind| Watch::new(&kind.definition, &options.file).map_err(io::Error::other));
    let mut watches = watches.collect::<io::Result<Vec<_>>>()?;
    loop {
        // All kinds are from the same file, so one report is enough.
        let failed: Vec<_> = watches.iter_mut().filter_map(|watch| watch.poll().err()).collect();
        if let Some(problems) = failed.first() {
            let _ = writeln!(err, "{problems}");
        }
        let start = Instant::now();
        game.tick();
        if game.world.tick % (10 * world::TICKS_PER_SECOND) == 0 {
            report::write(game, options.seed, out)?;
            writeln!(out)?;
        }
        sleep(TICK.saturating_sub(start.elapsed()));
    }
}

#[cfg(not(feature = "watch"))]
fn watch(_: &mut Game, _: &Options, _: &mut dyn Write, _: &mut dyn Write) -> io::Result<()> {
    unreachable!("the command line refuses `--watch`")
}

#[cfg(test)]
#[path = "../tests/bestiary.rs"]
mod tests;
