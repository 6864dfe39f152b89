//! seldom_state, on its own version of Bevy. The rows run the work of entering and leaving either in `on_enter` and `on_exit`,
//! as its documentation recommends, or inline, where the change is requested. The inline rows measure the crate without the
//! cost of these callbacks.

use bevy_app_018::{App, Update};
use bevy_ecs_018 as bevy_ecs;
use bevy_ecs_018::prelude::*;
use seldom_state::prelude::*;

use crate::body::Body;

#[derive(Component)]
struct Character {
    body: Body,
    is_due: bool,
}

#[derive(Component, Clone)]
#[component(storage = "SparseSet")]
struct Mode<const N: u8>;

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Character>().iter(app.world()).map(|it| it.body.checksum()).fold(0, u64::wrapping_add)
}

fn tick<const N: u8>(mut characters: Query<&mut Character, With<Mode<N>>>) {
    for mut character in &mut characters {
        character.is_due = character.body.update::<N>();
    }
}

fn tick_inline<const N: u8, const M: u8>(mut characters: Query<&mut Character, With<Mode<N>>>) {
    for mut character in &mut characters {
        character.is_due = character.body.update::<N>();
        if character.is_due {
            character.body.exit::<N>();
            character.body.enter::<M>();
        }
    }
}

fn is_due(In(entity): In<Entity>, characters: Query<&Character>) -> bool {
    characters.get(entity).is_ok_and(|character| character.is_due)
}

fn enter<const N: u8>(entity: &mut EntityCommands) {
    entity.entry::<Character>().and_modify(|mut character| character.body.enter::<N>());
}

fn exit<const N: u8>(entity: &mut EntityCommands) {
    entity.entry::<Character>().and_modify(|mut character| character.body.exit::<N>());
}

fn machine() -> StateMachine {
    StateMachine::default()
        .trans::<Mode<0>, _>(is_due, Mode::<1>)
        .trans::<Mode<1>, _>(is_due, Mode::<2>)
        .trans::<Mode<2>, _>(is_due, Mode::<3>)
        .trans::<Mode<3>, _>(is_due, Mode::<4>)
        .trans::<Mode<4>, _>(is_due, Mode::<5>)
        .trans::<Mode<5>, _>(is_due, Mode::<0>)
}

macro_rules! with_events {
    ($machine:expr, $($n:literal)*) => {
        $machine$(.on_enter::<Mode<$n>>(enter::<$n>).on_exit::<Mode<$n>>(exit::<$n>))*
    };
}

pub fn app(entities: u32, period: u32) -> App {
    let mut app = spawned(entities, period, || with_events!(machine(), 0 1 2 3 4 5));
    app.add_systems(Update, (tick::<0>, tick::<1>, tick::<2>, tick::<3>, tick::<4>, tick::<5>));
    app
}

pub fn inline(entities: u32, period: u32) -> App {
    let mut app = spawned(entities, period, machine);
    app.add_systems(
        Update,
        (
            tick_inline::<0, 1>,
            tick_inline::<1, 2>,
            tick_inline::<2, 3>,
            tick_inline::<3, 4>,
            tick_inline::<4, 5>,
            tick_inline::<5, 0>,
        ),
    );
    app
}

fn spawned(entities: u32, period: u32, machine: impl Fn() -> StateMachine) -> App {
    let mut app = App::new();
    app.add_plugins(StateMachinePlugin::default());
    for i in 0..entities {
        let character = Character { body: Body::new(i, period), is_due: false };
        let mut entity = app.world_mut().spawn((character, machine()));
        match Body::first_state(i) {
            0 => entity.insert(Mode::<0>),
            1 => entity.insert(Mode::<1>),
            2 => entity.insert(Mode::<2>),
            3 => entity.insert(Mode::<3>),
            4 => entity.insert(Mode::<4>),
            _ => entity.insert(Mode::<5>),
        };
    }
    app
}
