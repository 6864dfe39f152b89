//! The cameras.

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use super::FIRST_TICK;
use crate::yard::{Incident, Intruder, Kind, cameras, in_view, spot};

#[derive(Component, Reflect)]
#[reflect(Component)]
#[require(Save)]
pub struct Camera {
    pub state: State,
    /// The time at which the camera entered its state, in seconds.
    since: f32,
    /// The place on the ground that the camera looks at.
    pub spot: Vec3,
    /// How long the camera has swept the yard, in seconds.
    swept: f32,
    pub alarms: u32,
}

#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Sweeps the yard from side to side.
    Sweep,
    /// Keeps looking at the intruder.
    Watch,
    /// Has raised the alarm.
    Alarm,
    /// Sees nothing for a while.
    Blind,
}

impl Camera {
    fn enter(&mut self, state: State, now: f32) {
        (self.state, self.since) = (state, now);
    }
}

pub fn film(
    time: Res<Time>,
    mut cameras: Query<(&mut Camera, &Transform)>,
    intruders: Query<&Transform, With<Intruder>>,
    mut commands: Commands,
) {
    let now = time.elapsed_secs();
    for (mut camera, transform) in &mut cameras {
        let age = now - camera.since;
        let seen = |spot| in_view(intruders, transform.translation, spot);
        match camera.state {
            State::Sweep => {
                camera.swept += time.delta_secs();
                camera.spot = spot(transform.translation, camera.swept);
                if seen(camera.spot).is_some() {
                    camera.enter(State::Watch, now);
                }
            }
            State::Watch => {
                camera.spot = seen(camera.spot).unwrap_or(camera.spot);
                if seen(camera.spot).is_none() {
                    camera.enter(State::Sweep, now);
                } else if age >= 0.5 {
                    camera.enter(State::Alarm, now);
                    camera.alarms += 1;
                    commands.trigger(Incident { kind: Kind::Alarm, place: camera.spot, range: 12.0 });
                }
            }
            State::Alarm => {
                camera.spot = seen(camera.spot).unwrap_or(camera.spot);
                if age >= 2.0 {
                    camera.enter(State::Sweep, now);
                }
            }
            State::Blind if age >= 3.0 => camera.enter(State::Sweep, now),
            State::Blind => {}
        }
    }
}

pub fn notice(it: On<Incident>, time: Res<Time<Fixed>>, mut cameras: Query<(&mut Camera, &Transform)>) {
    let Kind::Flash = it.kind else { return };
    for (mut camera, _) in cameras.iter_mut().filter(|(_, transform)| it.is_near(transform.translation)) {
        camera.enter(State::Blind, time.elapsed_secs());
    }
}

pub fn spawn(world: &mut World) {
    for place in cameras() {
        let camera = Camera { state: State::Sweep, since: FIRST_TICK, spot: place, swept: 0.0, alarms: 0 };
        world.spawn((camera, Transform::from_translation(place)));
    }
}
