//! Grunts and snipers, each kind from a file that a designer edits. Both files use the same behaviors.
//!
//! ```text
//! grunt.toml                          sniper.toml
//!   always (global) -> dead             always (global) -> dead
//!   patrol                              find a nest   go_to cover
//!   fight                               lie in wait   rest
//!     charge        go_to foe           aim
//!     shoot                             shoot
//!   run to cover    go_to cover         dead
//!   rest
//!   dead
//! ```
//!
//! ```text
//! cargo run --example arena --features definition
//! cargo run --example arena --features watch -- --watch
//! ```
//!
//! The first command simulates 60 seconds. After 30 seconds it reloads the grunts' file, changed so that they run away later.
//! The second command runs in real time until you stop it, and reloads the files whenever you save them.

#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "an arena is small")]

#[path = "../command_line/mod.rs"]
mod command_line;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Change, Fsm, Owner, State, StateRef};
use schemars::JsonSchema;
use serde::Deserialize;

const USAGE: &str = "usage: arena [--watch]";

const TICK: f32 = 0.1;
const COVERS: [[f32; 2]; 3] = [[-20.0, 0.0], [20.0, 10.0], [0.0, -25.0]];

/// The context of all enemies: the hero, who walks in circles, and the time. It also counts events.
pub(crate) struct Arena {
    hero: [f32; 2],
    seconds: f64,
    shots: usize,
    pain: f32,
    pub(crate) deaths: usize,
    /// The state `dead` of each file.
    dead: Vec<StateRef<Enemy>>,
}

impl Arena {
    pub(crate) fn new(dead: impl IntoIterator<Item = StateRef<Enemy>>) -> Self {
        let dead = dead.into_iter().collect();
        Self { hero: [15.0, 0.0], seconds: 0.0, shots: 0, pain: 0.0, deaths: 0, dead }
    }

    fn is_dead(&self, state: Option<&StateRef<Enemy>>) -> bool {
        state.is_some_and(|state| self.dead.contains(state))
    }

    fn advance(&mut self) {
        self.seconds += f64::from(TICK);
        let (sin, cos) = (self.seconds as f32 * 0.3).sin_cos();
        self.hero = [15.0 * cos, 15.0 * sin];
    }
}

#[derive(Clone)]
pub(crate) struct Enemy {
    at: [f32; 2],
    health: f32,
    ammo: u32,
    rng: u32,
}

#[derive(Clone, Copy)]
pub(crate) enum Told {
    Hit(f32),
}

impl Owner for Enemy {
    type Context<'a> = Arena;
    type Message = Told;

    fn now(arena: &Arena) -> f64 {
        arena.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, arena: &mut Arena) {
        // A guard may have refused the change: in this case, the enemy has not died.
        let has_died = change.is_taken() && arena.is_dead(change.to) && !arena.is_dead(change.from);
        arena.deaths += usize::from(has_died);
    }
}

impl Enemy {
    pub(crate) fn new(at: [f32; 2], seed: u32) -> Self {
        Self { at, health: 100.0, ammo: 20, rng: seed }
    }

    fn distance(&self, to: [f32; 2]) -> f32 {
        (to[0] - self.at[0]).hypot(to[1] - self.at[1])
    }

    fn cover(&self) -> [f32; 2] {
        COVERS.into_iter().min_by(|a, b| self.distance(*a).total_cmp(&self.distance(*b))).unwrap_or_default()
    }

    fn walk(&mut self, to: [f32; 2], speed: f32) {
        let distance = self.distance(to).max(0.001);
        let step = (speed * TICK).min(distance) / distance;
        self.at = [self.at[0] + (to[0] - self.at[0]) * step, self.at[1] + (to[1] - self.at[1]) * step];
    }

    /// The hero hits the enemy if it is close to him.
    fn face(&mut self, arena: &Arena) {
        if self.distance(arena.hero) < 7.0 {
            self.health -= 25.0 * TICK;
        }
    }

    /// Returns a random number from 0 to 1, without 1. Each enemy has its own generator, so that a run can be repeated.
    fn random(&mut self) -> f32 {
        self.rng = self.rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.rng >> 8) as f32 / 16_777_216.0
    }
}

#[derive(Deserialize, JsonSchema)]
struct Wander {
    speed: f32,
}

impl State<Enemy> for Wander {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Arena) {
        let (x, y) = (enemy.random() - 0.5, enemy.random() - 0.5);
        let to = [enemy.at[0] + x * 10.0, enemy.at[1] + y * 10.0];
        enemy.walk(to, self.speed);
    }

    fn on_message(&self, enemy: &mut Enemy, told: &Told, _: &mut Fsm<'_, Enemy>, _: &mut Arena) -> bool {
        let Told::Hit(by) = told;
        enemy.health -= by;
        false
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Foe,
    Cover,
}

#[derive(Deserialize, JsonSchema)]
struct GoTo {
    target: Target,
    speed: f32,
}

impl State<Enemy> for GoTo {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, arena: &mut Arena) {
        let to = match self.target {
            Target::Foe => arena.hero,
            Target::Cover => enemy.cover(),
        };
        enemy.walk(to, self.speed);
        enemy.face(arena);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Shoot {
    damage: f32,
}

impl State<Enemy> for Shoot {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, arena: &mut Arena) {
        enemy.ammo = enemy.ammo.saturating_sub(1);
        arena.shots += 1;
        arena.pain += self.damage;
        enemy.face(arena);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Rest {
    healing: f32,
}

impl State<Enemy> for Rest {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Arena) {
        enemy.ammo = enemy.ammo.max(20);
    }

    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut Arena) {
        enemy.health = (enemy.health + self.healing * TICK).min(100.0);
    }
}

pub(crate) fn vocabulary() -> Vocabulary<Enemy> {
    Vocabulary::new()
        .value("health", |enemy: &Enemy, _| enemy.health.into())
        .value("ammo", |enemy: &Enemy, _| enemy.ammo.into())
        .value("foe_distance", |enemy: &Enemy, arena: &Arena| enemy.distance(arena.hero).into())
        .value("cover_distance", |enemy: &Enemy, _| enemy.distance(enemy.cover()).into())
        .behavior_with("wander", |wander: Wander| wander)
        .behavior_with("go_to", |go_to: GoTo| go_to)
        .behavior_with("shoot", |shoot: Shoot| shoot)
        .behavior_with("rest", |rest: Rest| rest)
        .message("hit", |told| matches!(told, Told::Hit(_)))
        .random(|enemy: &mut Enemy, _| enemy.random().into())
}

/// All enemies of one kind, and the file with their behavior.
///
/// Each kind has its own batch, because each file has its own global state.
struct Side {
    file: PathBuf,
    definition: Definition<Enemy>,
    batch: Batch<Enemy>,
}

impl Side {
    fn load(file: &str) -> io::Result<Self> {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("arena").join(file);
        let definition = Definition::load(&file, &vocabulary()).map_err(io::Error::other)?;
        let batch = definition.batch();
        Ok(Self { file, definition, batch })
    }

    fn spawn(&mut self, enemies: u32, arena: &mut Arena) {
        for i in 0..enemies {
            let (sin, cos) = (i as f32).sin_cos();
            let far = 10.0 + (i % 40) as f32;
            self.batch.spawn(Enemy::new([far * cos, far * sin], i), self.definition.initial(), arena);
        }
    }

    /// Returns how many enemies are in each state, by name.
    fn census(&self) -> String {
        let states = self.definition.states();
        let count = |state: &StateRef<Enemy>| (state.name().into_owned(), self.batch.owners_in(&**state).len());
        let counts: BTreeMap<_, _> = states.iter().map(count).filter(|(_, count)| *count > 0).collect();
        counts.iter().map(|(state, count)| format!("{state} {count}")).collect::<Vec<_>>().join(", ")
    }
}

fn main() -> ExitCode {
    env_logger::init();
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("arena", USAGE, parse(arguments), out, err, play)
}

struct Options {
    /// Runs until it is stopped, and reloads the files when they are saved.
    watch: bool,
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    use lexopt::{Arg, Parser};

    let mut parser = Parser::from_args(arguments);
    let mut options = Options { watch: false };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("watch") if cfg!(feature = "watch") => options.watch = true,
            Arg::Long("watch") => return Err("--watch needs `--features watch`".into()),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

fn play(options: &Options, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    let mut sides = [Side::load("grunt.toml")?, Side::load("sniper.toml")?];
    let mut arena = Arena::new(sides.iter().filter_map(|side| side.definition.state("dead")));
    for side in &mut sides {
        side.spawn(500, &mut arena);
    }
    if options.watch { watch(&mut sides, &mut arena, out, err) } else { run(&mut sides, &mut arena, out) }
}

/// Simulates 60 seconds, as fast as it can.
fn run(sides: &mut [Side; 2], arena: &mut Arena, out: &mut dyn Write) -> io::Result<()> {
    for tick in 0..=600 {
        let [grunts, snipers] = &*sides;
        if tick == 300 {
            let text = fs::read_to_string(&grunts.file)?;
            grunts.definition.reload(&text.replace("health < 60", "health < 10")).map_err(io::Error::other)?;
            writeln!(out, "       the grunts are braver now")?;
        }
        if tick % 100 == 0 {
            writeln!(out, "{:>4.0} s  grunts: {}", arena.seconds, grunts.census())?;
            writeln!(out, "       snipers: {}", snipers.census())?;
        }
        arena.advance();
        for side in &mut *sides {
            if tick % 50 == 49 {
                side.batch.broadcast(&Told::Hit(5.0), arena);
            }
            side.batch.update(arena);
        }
    }
    writeln!(out, "{} shots for {} of damage, {} deaths", arena.shots, arena.pain, arena.deaths)
}

/// Runs in real time until it is stopped, and reloads the files whenever they are saved.
#[cfg(feature = "watch")]
fn watch(sides: &mut [Side; 2], arena: &mut Arena, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    use demeanor::definition::Watch;

    let watch = |side: &Side| Watch::new(&side.definition, &side.file).map_err(io::Error::other);
    let mut watches = [watch(&sides[0])?, watch(&sides[1])?];
    for tick in 0_u64.. {
        for watch in &mut watches {
            if let Err(problems) = watch.poll() {
                let _ = writeln!(err, "{problems}");
            }
        }
        arena.advance();
        for side in &mut *sides {
            side.batch.update(arena);
            if tick % 20 == 0 {
                writeln!(out, "{:>4.0} s  {}", arena.seconds, side.census())?;
            }
        }
        std::thread::sleep(std::time::Duration::from_secs_f32(TICK));
    }
    Ok(())
}

#[cfg(not(feature = "watch"))]
fn watch(_: &mut [Side; 2], _: &mut Arena, _: &mut dyn Write, _: &mut dyn Write) -> io::Result<()> {
    unreachable!("the command line refuses `--watch`")
}

#[cfg(test)]
#[path = "../tests/arena.rs"]
mod tests;
