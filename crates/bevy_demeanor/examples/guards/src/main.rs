//! Plays for a minute. After half a minute, the game is saved, and continues in another app.
//!
//! `cargo run` in this directory.

use bevy_demeanor::StateMachinePlugin;
use guards::guards::{game, seen, spawn};
use guards::yard::{play, spawn_intruders};
use moonshine_save::prelude::*;

fn main() {
    let file = std::env::temp_dir().join("guards.ron");
    let mut app = game(StateMachinePlugin::new().in_parallel());
    app.add_systems(bevy_app::Startup, (spawn, spawn_intruders));
    print!("{}", play(&mut app, 30, seen));
    app.world_mut().trigger_save(SaveWorld::default_into_file(&file));
    app.world_mut().flush();

    let mut app = game(StateMachinePlugin::new().in_parallel());
    app.update(); // In the first frame of an app, no time passes.
    app.world_mut().trigger_load(LoadWorld::default_from_file(&file));
    print!("{}", play(&mut app, 30, seen));
}
