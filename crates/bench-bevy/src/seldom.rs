//! seldom_state, on its own version of Bevy. It is spared its events: `exit` and `enter` run where the change falls due.

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

fn tick<const N: u8, const M: u8>(mut characters: Query<&mut Character, With<Mode<N>>>) {
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

pub fn app(entities: u32, period: u32) -> App {
    let mut app = App::new();
    app.add_plugins(StateMachinePlugin::default());
    app.add_systems(Update, (tick::<0, 1>, tick::<1, 2>, tick::<2, 3>, tick::<3, 4>, tick::<4, 5>, tick::<5, 0>));
    for i in 0..entities {
        let machine = StateMachine::default()
            .trans::<Mode<0>, _>(is_due, Mode::<1>)
            .trans::<Mode<1>, _>(is_due, Mode::<2>)
            .trans::<Mode<2>, _>(is_due, Mode::<3>)
            .trans::<Mode<3>, _>(is_due, Mode::<4>)
            .trans::<Mode<4>, _>(is_due, Mode::<5>)
            .trans::<Mode<5>, _>(is_due, Mode::<0>);
        let mut entity = app.world_mut().spawn((Character { body: Body::new(i, period), is_due: false }, machine));
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
