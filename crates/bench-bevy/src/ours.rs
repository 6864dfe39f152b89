//! The rows of this project.

use bevy_app::App;
use bevy_demeanor::{EntityContext, EntityOwner, Machine, StateMachinePlugin};
use bevy_ecs::component::Component;
use demeanor::{Fsm, Owner, State, StateRef};

use crate::body::Body;

#[derive(Component)]
pub struct Character(Body);

impl Owner for Character {
    type Context<'a> = ();
    type Message = ();
}

impl EntityOwner for Character {
    type Body = ();
    type Param = ();
}

pub struct Mode<const N: u8>;

impl Character {
    /// The work of a system that visits the entities in one of the states.
    #[inline]
    pub fn visit(&mut self) {
        self.0.visit();
    }
}

macro_rules! states {
    ($($n:literal -> $next:literal;)*) => {$(
        impl State<Character> for Mode<$n> {
            fn enter(&self, character: &mut Character, _: &mut Fsm<'_, Character>, (): &mut ()) {
                character.0.enter::<$n>();
            }

            fn update(&self, character: &mut Character, fsm: &mut Fsm<'_, Character>, (): &mut ()) {
                if character.0.update::<$n>() {
                    fsm.change_state(&Mode::<$next>);
                }
            }

            fn exit(&self, character: &mut Character, _: &mut Fsm<'_, Character>, (): &mut ()) {
                character.0.exit::<$n>();
            }
        }
    )*};
}
states! { 0 -> 1; 1 -> 2; 2 -> 3; 3 -> 4; 4 -> 5; 5 -> 0; }

/// A character whose body is a separate component; its states get the body as a parameter.
#[derive(Component)]
pub struct Soul;

#[derive(Component)]
pub struct Flesh(Body);

impl Owner for Soul {
    type Context<'a> = EntityContext<'a, Self>;
    type Message = ();
}

impl EntityOwner for Soul {
    type Body = &'static mut Flesh;
    type Param = ();
}

struct Way<const N: u8>;

macro_rules! states_beside {
    ($($n:literal -> $next:literal;)*) => {$(
        impl State<Soul> for Way<$n> {
            fn enter(&self, _: &mut Soul, _: &mut Fsm<'_, Soul>, cx: &mut EntityContext<'_, Soul>) {
                cx.body.0.enter::<$n>();
            }

            fn update(&self, _: &mut Soul, fsm: &mut Fsm<'_, Soul>, cx: &mut EntityContext<'_, Soul>) {
                if cx.body.0.update::<$n>() {
                    fsm.change_state(&Way::<$next>);
                }
            }

            fn exit(&self, _: &mut Soul, _: &mut Fsm<'_, Soul>, cx: &mut EntityContext<'_, Soul>) {
                cx.body.0.exit::<$n>();
            }
        }
    )*};
}
states_beside! { 0 -> 1; 1 -> 2; 2 -> 3; 3 -> 4; 4 -> 5; 5 -> 0; }

fn beside(plugin: StateMachinePlugin<Soul>, entities: u32, period: u32) -> App {
    let mut app = App::new();
    app.add_plugins(plugin);
    let machine = |i| Machine::started(demeanor::StateMachine::new(first_way(i)));
    app.world_mut().spawn_batch((0..entities).map(move |i| (Soul, Flesh(Body::new(i, period)), machine(i))));
    app.world_mut().flush();
    app
}

pub fn with_body(entities: u32, period: u32) -> App {
    beside(StateMachinePlugin::new(), entities, period)
}

#[cfg(feature = "parallel")]
pub fn with_body_in_parallel(entities: u32, period: u32) -> App {
    beside(StateMachinePlugin::new().in_parallel(), entities, period)
}

pub fn checksum_beside(app: &mut App) -> u64 {
    app.world_mut().query::<&Flesh>().iter(app.world()).map(|it| it.0.checksum()).fold(0, u64::wrapping_add)
}

/// The same machines without Bevy: the cost of the library alone.
pub struct Machines(Vec<(Character, demeanor::StateMachine<Character>)>);

impl Machines {
    pub fn new(entities: u32, period: u32) -> Self {
        let machine = |i| demeanor::StateMachine::new(first_state(i));
        Self((0..entities).map(|i| (Character(Body::new(i, period)), machine(i))).collect())
    }

    pub fn update(&mut self) {
        for (character, machine) in &mut self.0 {
            machine.update(character, &mut ());
        }
    }

    pub fn checksum(&mut self) -> u64 {
        self.0.iter().map(|(character, _)| character.0.checksum()).fold(0, u64::wrapping_add)
    }
}

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Character>().iter(app.world()).map(|it| it.0.checksum()).fold(0, u64::wrapping_add)
}

macro_rules! first_state {
    ($name:ident, $owner:ident, $mode:ident) => {
        fn $name(i: u32) -> StateRef<$owner> {
            match Body::first_state(i) {
                0 => (&$mode::<0>).into(),
                1 => (&$mode::<1>).into(),
                2 => (&$mode::<2>).into(),
                3 => (&$mode::<3>).into(),
                4 => (&$mode::<4>).into(),
                _ => (&$mode::<5>).into(),
            }
        }
    };
}
first_state!(first_state, Character, Mode);
first_state!(first_way, Soul, Way);

fn app(plugin: StateMachinePlugin<Character>, entities: u32, period: u32) -> App {
    let mut app = App::new();
    app.add_plugins(plugin);
    // The machine is already started, because the entities of the other rows do not enter their first state either.
    let machine = |i| Machine::started(demeanor::StateMachine::new(first_state(i)));
    app.world_mut().spawn_batch((0..entities).map(move |i| (Character(Body::new(i, period)), machine(i))));
    app.world_mut().flush();
    app
}

pub fn plain(entities: u32, period: u32) -> App {
    app(StateMachinePlugin::new(), entities, period)
}

#[cfg(feature = "parallel")]
pub fn parallel(entities: u32, period: u32) -> App {
    app(StateMachinePlugin::new().in_parallel(), entities, period)
}

pub fn with_messages(entities: u32, period: u32) -> App {
    app(StateMachinePlugin::new().with_change_messages(), entities, period)
}

pub fn with_markers(entities: u32, period: u32) -> App {
    let plugin = StateMachinePlugin::new()
        .with_marker::<Mode<0>>()
        .with_marker::<Mode<1>>()
        .with_marker::<Mode<2>>()
        .with_marker::<Mode<3>>()
        .with_marker::<Mode<4>>()
        .with_marker::<Mode<5>>();
    app(plugin, entities, period)
}

pub fn with_sparse_markers(entities: u32, period: u32) -> App {
    let plugin = StateMachinePlugin::new()
        .with_sparse_marker::<Mode<0>>()
        .with_sparse_marker::<Mode<1>>()
        .with_sparse_marker::<Mode<2>>()
        .with_sparse_marker::<Mode<3>>()
        .with_sparse_marker::<Mode<4>>()
        .with_sparse_marker::<Mode<5>>();
    app(plugin, entities, period)
}

pub fn with_indexes(entities: u32, period: u32) -> App {
    let plugin = StateMachinePlugin::new()
        .with_index::<Mode<0>>()
        .with_index::<Mode<1>>()
        .with_index::<Mode<2>>()
        .with_index::<Mode<3>>()
        .with_index::<Mode<4>>()
        .with_index::<Mode<5>>();
    app(plugin, entities, period)
}
