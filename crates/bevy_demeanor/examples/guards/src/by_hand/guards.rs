//! The guards.

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use super::FIRST_TICK;
use crate::yard::{HEALTH, Incident, Intruder, Kind, nearest, posts};

#[derive(Component, Reflect)]
#[reflect(Component)]
#[require(Save)]
pub struct Guard {
    pub state: State,
    before: State,
    /// The time at which the guard entered its state, in seconds.
    since: f32,
    post: Vec3,
    goal: Vec3,
    health: f32,
    pub deaths: u32,
}

#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Walks back and forth.
    Patrol,
    /// Goes to the place of a noise, or of an alarm, and gives up after a while.
    Investigate,
    /// Runs after an intruder, and calls the others.
    Chase,
    /// Runs until no intruder is near.
    Flee,
    /// Is blind, and then returns to the previous state.
    Stunned,
    /// Lies there until another guard comes to the post.
    Dead,
}

impl Guard {
    /// Leaves the state, and enters another.
    fn enter(&mut self, state: State, here: &mut Vec3, now: f32) {
        if self.state == State::Dead {
            self.health = HEALTH;
            *here = self.post;
        }
        (self.before, self.state, self.since) = (self.state, state, now);
        self.deaths += u32::from(state == State::Dead);
    }
}

pub fn think(
    time: Res<Time>,
    mut guards: Query<(&mut Guard, &mut Transform)>,
    intruders: Query<&Transform, (With<Intruder>, Without<Guard>)>,
) {
    let (now, step) = (time.elapsed_secs(), time.delta_secs());
    for (mut guard, mut transform) in &mut guards {
        let here = &mut transform.translation;
        let age = now - guard.since;
        if guard.state == State::Investigate && age >= 6.0 || guard.state == State::Dead && age >= 5.0 {
            guard.enter(State::Patrol, here, now);
        }
        let age = now - guard.since;
        match guard.state {
            State::Patrol | State::Investigate => {
                *here = here.move_towards(guard.goal, 1.5 * step);
                if nearest(intruders, *here, 5.0).is_some() {
                    guard.enter(State::Chase, here, now);
                } else if guard.state == State::Patrol {
                    guard.goal = guard.post + if age % 4.0 < 2.0 { Vec3::X * 3.0 } else { Vec3::ZERO };
                }
            }
            State::Chase => {
                let intruder = nearest(intruders, *here, 8.0);
                guard.goal = intruder.unwrap_or(guard.goal);
                *here = here.move_towards(guard.goal, 4.0 * step);
                if intruder.is_none() {
                    guard.enter(State::Investigate, here, now);
                }
            }
            State::Flee => match nearest(intruders, *here, 12.0) {
                Some(from) => *here = here.move_towards(from, -3.0 * step),
                None => guard.enter(State::Patrol, here, now),
            },
            State::Stunned if age >= 1.5 => {
                let before = guard.before;
                guard.enter(before, here, now);
            }
            State::Stunned | State::Dead => {}
        }
    }
}

pub fn notice(
    it: On<Incident>,
    time: Res<Time<Fixed>>,
    mut guards: Query<(&mut Guard, &mut Transform), Without<Intruder>>,
) {
    let now = time.elapsed_secs();
    for (mut guard, mut transform) in &mut guards {
        let here = &mut transform.translation;
        if !it.is_near(*here) {
            continue;
        }
        match (it.kind, guard.state) {
            (Kind::Noise | Kind::Alarm, State::Patrol | State::Investigate) => {
                guard.goal = it.place;
                if guard.state == State::Patrol {
                    guard.enter(State::Investigate, here, now);
                }
            }
            (_, State::Dead) | (Kind::Noise | Kind::Alarm, _) | (Kind::Flash, State::Stunned) => {}
            (Kind::Flash, _) => guard.enter(State::Stunned, here, now),
            (Kind::Blow, state) => {
                guard.health -= 1.0;
                if guard.health <= 0.0 {
                    guard.enter(State::Dead, here, now);
                } else if guard.health < 2.0 && state != State::Stunned {
                    guard.enter(State::Flee, here, now);
                }
            }
        }
    }
}

pub fn rest(time: Res<Time>, mut guards: Query<&mut Guard>) {
    for mut guard in guards.iter_mut().filter(|guard| guard.state == State::Patrol) {
        guard.health = (guard.health + 0.25 * time.delta_secs()).min(HEALTH);
    }
}

pub fn spawn(world: &mut World) {
    let (state, since) = (State::Patrol, FIRST_TICK);
    for post in posts() {
        let guard = Guard { state, before: state, since, post, goal: post, health: HEALTH, deaths: 0 };
        world.spawn((guard, Transform::from_translation(post)));
    }
}
