//! Grunts and snipers, from two files that share behaviours, in one batch.
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
//! `cargo run --example arena --features definition` runs 60 seconds of it, and reads the grunts' file anew after 30, braver
//! than before. With `--features watch` and the argument `--watch` it goes on, in real time, and you edit the files.

#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "an arena is small")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Change, Fsm, Owner, State};
use schemars::JsonSchema;
use serde::Deserialize;

const TICK: f32 = 0.1;
const COVERS: [[f32; 2]; 3] = [[-20.0, 0.0], [20.0, 10.0], [0.0, -25.0]];

/// What everybody can see: the hero, who walks in circles, and the time.
struct Arena {
    hero: [f32; 2],
    seconds: f64,
    shots: usize,
    pain: f32,
    deaths: usize,
}

impl Arena {
    fn new() -> Self {
        Self { hero: [15.0, 0.0], seconds: 0.0, shots: 0, pain: 0.0, deaths: 0 }
    }

    fn advance(&mut self) {
        self.seconds += f64::from(TICK);
        let (sin, cos) = (self.seconds as f32 * 0.3).sin_cos();
        self.hero = [15.0 * cos, 15.0 * sin];
    }
}

#[derive(Clone)]
struct Enemy {
    at: [f32; 2],
    health: f32,
    ammo: u32,
    rng: u32,
}

#[derive(Clone, Copy)]
enum Told {
    Hit(f32),
}

impl Owner for Enemy {
    type Context<'a> = Arena;
    type Message = Told;

    fn now(arena: &Arena) -> f64 {
        arena.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, arena: &mut Arena) {
        arena.deaths += usize::from(change.to.is_some_and(|to| to.name() == "dead"));
    }
}

impl Enemy {
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

    /// The hero hits who comes near.
    fn face(&mut self, arena: &Arena) {
        if self.distance(arena.hero) < 7.0 {
            self.health -= 25.0 * TICK;
        }
    }

    /// From 0 to below 1. Each enemy has its own, so that a run repeats.
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

fn vocabulary() -> Vocabulary<Enemy> {
    Vocabulary::new()
        .value("health", |enemy: &Enemy, _| enemy.health.into())
        .value("ammo", |enemy: &Enemy, _| enemy.ammo.into())
        .value("foe_distance", |enemy: &Enemy, arena: &Arena| enemy.distance(arena.hero).into())
        .value("cover_distance", |enemy: &Enemy, _| enemy.distance(enemy.cover()).into())
        .behaviour_with("wander", |wander: Wander| wander)
        .behaviour_with("go_to", |go_to: GoTo| go_to)
        .behaviour_with("shoot", |shoot: Shoot| shoot)
        .behaviour_with("rest", |rest: Rest| rest)
        .message("hit", |told| matches!(told, Told::Hit(_)))
        .random(|enemy: &mut Enemy, _| enemy.random().into())
}

fn census(batch: &Batch<Enemy>, definition: &Definition<Enemy>) -> String {
    let counts: BTreeMap<String, usize> = definition
        .states()
        .iter()
        .map(|state| (state.name().into_owned(), batch.owners_in(&**state).len()))
        .filter(|(_, count)| *count > 0)
        .collect();
    counts.iter().map(|(state, count)| format!("{state} {count}")).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn Error>> {
    env_logger::init();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/arena");
    let grunts = Definition::load(folder.join("grunt.toml"), &vocabulary())?;
    let snipers = Definition::load(folder.join("sniper.toml"), &vocabulary())?;

    // Both files have a global state of their own, so each kind has a batch of its own.
    let mut arena = Arena::new();
    let mut batches = [&grunts, &snipers].map(|definition| {
        let mut batch = Batch::new();
        if let Some(global) = definition.global() {
            batch = batch.with_global(global);
        }
        for i in 0..500_u32 {
            let (sin, cos) = (i as f32).sin_cos();
            let far = 10.0 + (i % 40) as f32;
            let enemy = Enemy { at: [far * cos, far * sin], health: 100.0, ammo: 20, rng: i };
            batch.spawn(enemy, definition.initial(), &mut arena);
        }
        batch
    });

    #[cfg(feature = "watch")]
    if std::env::args().any(|argument| argument == "--watch") {
        return watched(&folder, &mut batches, [&grunts, &snipers], &mut arena);
    }
    for tick in 0..=600 {
        if tick == 300 {
            let file = std::fs::read_to_string(folder.join("grunt.toml"))?;
            grunts.reload(&file.replace("health < 60", "health < 10"))?;
            println!("       the grunts are braver now");
        }
        if tick % 100 == 0 {
            println!("{:>4.0} s  grunts: {}", arena.seconds, census(&batches[0], &grunts));
            println!("       snipers: {}", census(&batches[1], &snipers));
        }
        arena.advance();
        for batch in &mut batches {
            if tick % 50 == 49 {
                batch.broadcast(&Told::Hit(5.0), &mut arena);
            }
            batch.update(&mut arena);
        }
    }
    println!("{} shots for {} of damage, {} deaths", arena.shots, arena.pain, arena.deaths);
    Ok(())
}

/// Runs for good, in real time, and reads the files anew whenever they are saved.
#[cfg(feature = "watch")]
fn watched(
    folder: &std::path::Path,
    batches: &mut [Batch<Enemy>; 2],
    definitions: [&Definition<Enemy>; 2],
    arena: &mut Arena,
) -> Result<(), Box<dyn Error>> {
    use demeanor::definition::Watch;
    let mut watches = [
        Watch::new(definitions[0], folder.join("grunt.toml"))?,
        Watch::new(definitions[1], folder.join("sniper.toml"))?,
    ];
    for tick in 0_u64.. {
        for watch in &mut watches {
            if let Err(problems) = watch.poll() {
                eprintln!("{problems}");
            }
        }
        arena.advance();
        for (batch, definition) in batches.iter_mut().zip(definitions) {
            batch.update(arena);
            if tick % 20 == 0 {
                println!("{:>4.0} s  {}", arena.seconds, census(batch, definition));
            }
        }
        std::thread::sleep(std::time::Duration::from_secs_f32(TICK));
    }
    Ok(())
}
