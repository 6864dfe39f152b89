//! The player.

use bevy_ecs::prelude::*;
use bevy_reflect::prelude::*;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use super::FIRST_TICK;
use super::guards::{self, Guard};
use crate::yard::{ENTRANCE, Incident, Intruder, Kind, Route, nearest};

#[derive(Component, Reflect)]
#[reflect(Component)]
#[require(Save)]
pub struct Player {
    pub state: State,
    /// The time at which the player entered its state, in seconds.
    since: f32,
    route: Route,
    pub caught: u32,
}

#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Walks slowly until there is an alarm nearby.
    Sneak,
    /// Runs for a while.
    Run,
    /// Is held for a while, no intruder any more, and then begins again at the entrance.
    Caught,
}

impl Player {
    fn enter(&mut self, state: State, now: f32) {
        (self.state, self.since) = (state, now);
        self.caught += u32::from(state == State::Caught);
    }
}

pub fn play(
    time: Res<Time>,
    player: Single<(Entity, &mut Player, &mut Transform)>,
    guards: Query<(&Guard, &Transform), Without<Player>>,
    mut commands: Commands,
) {
    let (now, step) = (time.elapsed_secs(), time.delta_secs());
    let (entity, mut player, mut transform) = player.into_inner();
    let here = &mut transform.translation;
    let age = now - player.since;
    if player.state == State::Caught && age >= 4.0 {
        player.route = Route::default();
        *here = ENTRANCE;
        commands.entity(entity).insert(Intruder);
        player.enter(State::Sneak, now);
    } else if player.state == State::Run && age >= 3.0 {
        player.enter(State::Sneak, now);
    }
    let speed = match player.state {
        State::Sneak => 2.0,
        State::Run => 5.0,
        State::Caught => return,
    };
    let chasing =
        guards.iter().filter(|(guard, _)| guard.state == guards::State::Chase).map(|(_, transform)| transform);
    if nearest(chasing, *here, 1.0).is_some() {
        commands.entity(entity).remove::<Intruder>();
        player.enter(State::Caught, now);
    } else {
        *here = player.route.walk(*here, speed * step);
    }
}

pub fn notice(it: On<Incident>, time: Res<Time<Fixed>>, player: Single<(&mut Player, &Transform)>) {
    let (mut player, transform) = player.into_inner();
    if matches!(it.kind, Kind::Alarm) && player.state == State::Sneak && it.is_near(transform.translation) {
        player.enter(State::Run, time.elapsed_secs());
    }
}

pub fn spawn(world: &mut World) {
    let player = Player { state: State::Sneak, since: FIRST_TICK, route: Route::default(), caught: 0 };
    world.spawn((player, Intruder, Transform::from_translation(ENTRANCE)));
}
