//! The same level, written with enums and systems. The times of the cameras are in the code instead of a file.

mod camera;
mod guards;
mod player;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_transform::prelude::*;

use self::camera::Camera;
use self::guards::Guard;
use self::player::Player;
use crate::yard::{Seen, spawn_prowlers, yard};

/// The time at which every character's first state begins, in seconds.
const FIRST_TICK: f32 = 1.0 / 64.0;

/// Creates the level without its characters.
pub fn level(assets: &str) -> App {
    let mut app = yard(assets);
    app.add_observer(guards::notice).add_observer(player::notice).add_observer(camera::notice);
    app.add_systems(FixedUpdate, (guards::think, player::play, camera::film, guards::rest).chain());
    // In the first frame of an app, no time passes.
    app.update();
    app
}

/// Spawns the characters of a new game.
pub fn begin(world: &mut World) {
    guards::spawn(world);
    player::spawn(world);
    camera::spawn(world);
    spawn_prowlers(world);
}

/// Returns the visible data of all characters.
pub fn seen(app: &mut App) -> Seen {
    let mut guards = app.world_mut().query::<(&Guard, &Transform)>();
    let mut cameras = app.world_mut().query::<&Camera>();
    let mut player = app.world_mut().query::<(&Player, &Transform)>();
    let world = app.world();
    Seen {
        guards: guards.iter(world).map(|(it, at)| (at.translation, format!("{:?}", it.state), it.deaths)).collect(),
        cameras: cameras.iter(world).map(|it| (it.spot, format!("{:?}", it.state).to_lowercase(), it.alarms)).collect(),
        player: player.iter(world).map(|(it, at)| (at.translation, format!("{:?}", it.state), it.caught)).collect(),
    }
}
