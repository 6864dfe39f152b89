//! The level, with state machines.

use std::thread;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_transform::prelude::*;

use crate::camera::{self, Camera};
use crate::guards::{self, Guard};
use crate::player::{self, Player};
use crate::yard::{Incident, Seen, spawn_prowlers, yard};

/// Creates the level without its characters, and loads the files in the folder `assets`.
pub fn level(plugin: StateMachinePlugin<Guard>, assets: &str) -> App {
    let mut app = yard(assets);
    guards::plugin(&mut app, plugin);
    app.add_plugins((player::plugin, camera::plugin));
    app.add_observer(notice::<Guard>).add_observer(notice::<Player>).add_observer(notice::<Camera>);
    while !camera::is_ready(app.world()) {
        app.update();
        thread::yield_now();
    }
    app
}

/// Spawns the characters of a new game.
pub fn begin(world: &mut World) {
    guards::spawn(world);
    player::spawn(world);
    camera::spawn(world);
    spawn_prowlers(world);
}

/// Tells the characters nearby.
fn notice<T: EntityOwner<Message = Incident>>(
    it: On<Incident>,
    characters: Query<(Entity, &Transform), With<T>>,
    mut commands: Commands,
) {
    let near = characters.iter().filter(|(_, transform)| it.is_near(transform.translation));
    commands.queue(Machines::<T>::send_to(near.map(|(character, _)| character), *it));
}

/// Returns the visible data of all characters.
pub fn seen(app: &mut App) -> Seen {
    Seen {
        guards: characters(app, |guard: &Guard, place| (place, guard.deaths)),
        cameras: characters(app, |camera: &Camera, _| (camera.spot, camera.alarms)),
        player: characters(app, |player: &Player, place| (place, player.caught)),
    }
}

fn characters<T: EntityOwner + Component>(
    app: &mut App,
    seen: fn(&T, Vec3) -> (Vec3, u32),
) -> Vec<(Vec3, String, u32)> {
    let mut characters = app.world_mut().query::<(&T, &Transform, &Machine<T>)>();
    let characters = characters.iter(app.world()).map(|(character, transform, machine)| {
        let (place, count) = seen(character, transform.translation);
        (place, machine.current().map(|state| state.name().into_owned()).unwrap_or_default(), count)
    });
    characters.collect()
}
