//! Plays for a minute. After half a minute, the game is saved, and continues in another app.
//!
//! `cargo run` in this directory.

use bevy_demeanor::StateMachinePlugin;
use guards::level::{begin, level, seen};
use guards::yard::{ASSETS, play};
use moonshine_save::prelude::*;

fn main() {
    let file = std::env::temp_dir().join("guards.ron");
    let mut app = level(StateMachinePlugin::new().in_parallel(), ASSETS);
    begin(app.world_mut());
    print!("{}", play(&mut app, 30, seen));
    app.world_mut().trigger_save(SaveWorld::default_into_file(&file));
    app.world_mut().flush();

    let mut app = level(StateMachinePlugin::new().in_parallel(), ASSETS);
    app.world_mut().trigger_load(LoadWorld::default_from_file(&file));
    print!("{}", play(&mut app, 30, seen));
}
