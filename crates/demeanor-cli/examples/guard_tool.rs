//! A game's own tool: it has the subcommands of `demeanor`, and knows the game's words.

use std::process::ExitCode;

use demeanor::definition::Vocabulary;
use demeanor::{Owner, State};
use schemars::JsonSchema;
use serde::Deserialize;

struct Guard {
    health: f64,
    enemy: Option<f64>,
    random: oorandom::Rand64,
}

#[expect(dead_code, reason = "this tool only checks files; the game sends messages")]
enum Told {
    TookDamage,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = Told;
}

/// Walks to the enemy.
#[derive(Deserialize, JsonSchema)]
struct GoTo {
    /// In meters per second.
    #[expect(dead_code, reason = "this tool only checks files; the game walks")]
    speed: f64,
}

impl State<Guard> for GoTo {}

/// What the game offers to its files: the game loads them with the same vocabulary.
fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("health", |guard: &Guard, ()| guard.health)
        .value("distance", |guard: &Guard, ()| guard.enemy.unwrap_or(f64::NAN))
        .flag("enemy_visible", |guard: &Guard, ()| guard.enemy.is_some())
        .random(|guard: &mut Guard, ()| guard.random.rand_float())
        .message("took_damage", |told| matches!(told, Told::TookDamage))
        .behavior_with("go_to", |go_to: GoTo| go_to)
        .describe("distance", "To the enemy, in meters.")
}

fn main() -> ExitCode {
    demeanor_cli::run(&vocabulary())
}
