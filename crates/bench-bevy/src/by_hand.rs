//! Code that a game writes without a crate: the state as an enum component, and as tag components.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;

use crate::body::{Body, STATES};

#[derive(Component)]
struct Character(Body);

#[derive(Component, Clone, Copy)]
enum Mode {
    S0,
    S1,
    S2,
    S3,
    S4,
    S5,
}

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Character>().iter(app.world()).map(|it| it.0.checksum()).fold(0, u64::wrapping_add)
}

pub fn with_enum(entities: u32, period: u32) -> App {
    let mut app = App::new();
    let modes = [Mode::S0, Mode::S1, Mode::S2, Mode::S3, Mode::S4, Mode::S5];
    app.world_mut().spawn_batch(
        (0..entities).map(move |i| (Character(Body::new(i, period)), modes[usize::from(Body::first_state(i))])),
    );
    app.add_systems(Update, |mut characters: Query<(&mut Character, &mut Mode)>| {
        for (mut character, mut mode) in &mut characters {
            let body = &mut character.0;
            macro_rules! states {
                ($($state:ident $n:literal -> $next:ident $m:literal;)*) => {
                    match *mode {
                        $(Mode::$state => if body.update::<$n>() {
                            body.exit::<$n>();
                            *mode = Mode::$next;
                            body.enter::<$m>();
                        })*
                    }
                };
            }
            states! { S0 0 -> S1 1; S1 1 -> S2 2; S2 2 -> S3 3; S3 3 -> S4 4; S4 4 -> S5 5; S5 5 -> S0 0; }
        }
    });
    app
}

#[derive(Component)]
struct Tag<const N: u8>;

/// The same tag, stored in a sparse set.
#[derive(Component)]
#[component(storage = "SparseSet")]
struct SparseTag<const N: u8>;

macro_rules! tags {
    ($function:ident, $tag:ident) => {
        pub fn $function(entities: u32, period: u32) -> App {
            fn tick<const N: u8, const M: u8>(
                mut commands: Commands,
                mut characters: Query<(Entity, &mut Character), With<$tag<N>>>,
            ) {
                for (entity, mut character) in &mut characters {
                    let body = &mut character.0;
                    // An entity that entered this state in this tick is not updated in it until the next tick.
                    if body.update::<N>() {
                        body.exit::<N>();
                        commands.entity(entity).remove::<$tag<N>>().insert($tag::<M>);
                        body.enter::<M>();
                    }
                }
            }
            let mut app = App::new();
            for i in 0..entities {
                let mut entity = app.world_mut().spawn(Character(Body::new(i, period)));
                match Body::first_state(i) {
                    0 => entity.insert($tag::<0>),
                    1 => entity.insert($tag::<1>),
                    2 => entity.insert($tag::<2>),
                    3 => entity.insert($tag::<3>),
                    4 => entity.insert($tag::<4>),
                    _ => entity.insert($tag::<5>),
                };
            }
            // The systems have no order, so there is no sync point between them: all of them see the tags as they were before
            // the tick.
            app.add_systems(
                Update,
                (tick::<0, 1>, tick::<1, 2>, tick::<2, 3>, tick::<3, 4>, tick::<4, 5>, tick::<5, 0>),
            );
            app
        }
    };
}

tags!(with_tags, Tag);
tags!(with_sparse_tags, SparseTag);

const _: () = assert!(STATES == 6);
