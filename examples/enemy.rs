//! One enemy that idles, thinks, wanders and chases: the example of the XNA article on state machines.
//!
//! ```text
//! Enemy
//! ├─ Awareness   (global)   sees the player: Chase
//! ├─ Idle        (initial)  after a while: Think
//! ├─ Think                  flips a coin: Idle or Wander
//! ├─ Wander                 after a while: Think
//! └─ Chase                  loses sight of the player: back to the previous state
//! ```
//!
//! The game runs ten ticks a second. Twice a second it prints the corridor, with the enemy (`E`) and the player (`@`):
//!
//! ```text
//! cargo run --example enemy
//! cargo run --example enemy -- --seconds 60 --seed 4
//! RUST_LOG=off cargo run --example enemy
//! ```
//!
//! ```text
//! 11.5 s  Idle   |            E         @                 |
//! [DEBUG demeanor] Enemy: Idle -> Chase (change)
//! 12.0 s  Chase  |               E    @                   |
//! ```
//!
//! The library logs the changes. This example shows the log on standard error, unless `RUST_LOG` has another setting.

#[path = "command_line/mod.rs"]
mod command_line;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use demeanor::{Agent, Fsm, GameTime, Owner, State, StateMachine};

const USAGE: &str = "usage: enemy [--seconds N] [--seed N]";

const TICK: Duration = Duration::from_millis(100);
const TICKS_PER_LINE: u64 = 5;

/// The length of the corridor, in steps.
const CORRIDOR: u32 = 40;

struct Enemy {
    /// The place in steps from the left end of the corridor.
    position: f64,
    /// The direction in which it wanders: -1 is left, 1 is right.
    heading: f64,
    /// The time until it thinks again.
    rethink: Duration,
}

/// The context of the callbacks: the clock, a coin to flip, and the player's place.
struct Level {
    time: GameTime,
    coin: oorandom::Rand32,
}

impl Owner for Enemy {
    type Context<'a> = Level;
    type Message = ();

    fn now(level: &Level) -> f64 {
        level.time.total().as_secs_f64()
    }
}

impl Level {
    /// Returns the player's place. Every 25 seconds the player comes from the right, waits at the other end, and runs back.
    fn player(&self) -> f64 {
        let seconds = self.time.total().as_secs_f64() % 25.0;
        if seconds < 17.0 { (68.0 - 4.0 * seconds).clamp(8.0, 60.0) } else { (8.0 + 7.0 * (seconds - 17.0)).min(60.0) }
    }

    /// Flips the coin. Returns whether it shows heads.
    fn heads(&mut self) -> bool {
        self.coin.rand_u32() % 2 == 0
    }
}

impl Enemy {
    /// How far it sees, in steps.
    const SIGHT: f64 = 10.0;
    /// The speed of walking, in steps per second.
    const STROLL: f64 = 2.0;
    /// The speed of running, in steps per second.
    const RUN: f64 = 5.0;

    fn distance_to_player(&self, level: &Level) -> f64 {
        (level.player() - self.position).abs()
    }

    /// Moves for one tick at `speed`, in steps per second, to the right if it is positive. Returns `false` at a wall.
    fn step(&mut self, speed: f64, time: &GameTime) -> bool {
        let target = self.position + speed * time.elapsed().as_secs_f64();
        let (left_wall, right_wall) = (0.0, f64::from(CORRIDOR - 1));
        self.position = target.clamp(left_wall, right_wall);
        (left_wall..=right_wall).contains(&target)
    }

    /// Returns whether it is time to think again.
    fn has_waited(&mut self, time: &GameTime) -> bool {
        self.rethink = self.rethink.saturating_sub(time.elapsed());
        self.rethink.is_zero()
    }
}

/// The global state, which runs beside all others.
struct Awareness;

impl State<Enemy> for Awareness {
    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, level: &mut Level) {
        if enemy.distance_to_player(level) < Enemy::SIGHT && !fsm.is_in_state(&Chase) {
            fsm.change_state(&Chase);
        }
    }
}

struct Idle;

impl State<Enemy> for Idle {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Level) {
        enemy.rethink = Duration::from_secs(3);
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, level: &mut Level) {
        if enemy.has_waited(&level.time) {
            fsm.change_state(&Think);
        }
    }
}

struct Think;

impl State<Enemy> for Think {
    fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, level: &mut Level) {
        if level.heads() {
            fsm.change_state(&Wander);
        } else {
            fsm.change_state(&Idle);
        }
    }
}

struct Wander;

impl State<Enemy> for Wander {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, level: &mut Level) {
        enemy.rethink = Duration::from_secs(4);
        enemy.heading = if level.heads() { 1.0 } else { -1.0 };
    }

    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, level: &mut Level) {
        if !enemy.step(enemy.heading * Enemy::STROLL, &level.time) {
            enemy.heading = -enemy.heading;
        }
        if enemy.has_waited(&level.time) {
            fsm.change_state(&Think);
        }
    }
}

struct Chase;

impl State<Enemy> for Chase {
    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, level: &mut Level) {
        let distance = enemy.distance_to_player(level);
        if distance > Enemy::SIGHT {
            fsm.revert_state();
        } else if distance > 1.0 {
            enemy.step(Enemy::RUN * (level.player() - enemy.position).signum(), &level.time);
        }
    }
}

fn main() -> ExitCode {
    // The filter shows only the library's log lines, not those of other crates.
    let filter = env_logger::Env::default().default_filter_or("demeanor=debug");
    env_logger::Builder::from_env(filter).format_timestamp(None).init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("enemy", USAGE, parse(arguments), out, err, |options, out, _| play(options, out))
}

struct Options {
    seconds: u32,
    seed: u64,
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    use lexopt::{Arg, Parser, ValueExt};

    let mut parser = Parser::from_args(arguments);
    let mut options = Options { seconds: 30, seed: 2 };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seconds") => options.seconds = parser.value()?.parse()?,
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

fn play(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut level = Level { time: GameTime::new(), coin: oorandom::Rand32::new(options.seed) };
    let enemy = Enemy { position: 12.0, heading: 1.0, rethink: Duration::ZERO };
    let mut enemy = Agent::new(enemy, StateMachine::new(&Idle).with_global(&Awareness));
    enemy.start(&mut level);
    for tick in 0..=u64::from(options.seconds) * 10 {
        if tick % TICKS_PER_LINE == 0 {
            draw(&enemy, &level, out)?;
        }
        level.time.advance(TICK);
        enemy.update(&mut level);
    }
    Ok(())
}

/// Prints the time, the enemy's state, and the corridor.
fn draw(enemy: &Agent<Enemy>, level: &Level, out: &mut dyn Write) -> io::Result<()> {
    let sign_at = |column: u32| {
        let is_here = |position: f64| (-0.5..0.5).contains(&(position - f64::from(column)));
        match (is_here(enemy.position), is_here(level.player())) {
            (true, _) => 'E',
            (false, true) => '@',
            (false, false) => ' ',
        }
    };
    let corridor: String = (0..CORRIDOR).map(sign_at).collect();
    let state = enemy.machine().current().map(|state| state.name().into_owned()).unwrap_or_default();
    writeln!(out, "{:4.1} s  {state:<6} |{corridor}|", level.time.total().as_secs_f64())
}

#[cfg(test)]
#[path = "tests/enemy.rs"]
mod tests;
