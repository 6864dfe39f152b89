//! A small game that is saved and loaded: guards that patrol, are stunned, recover and die.

use bevy_app::App;
use bevy_demeanor::{EntityContext, EntityOwner, Machine, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use demeanor::{Fsm, Owner, State, StateBook};
use moonshine_save::prelude::Save;
use serde::{Deserialize, Serialize};

/// The game's clock, in seconds. It can be saved.
#[derive(Resource, Reflect, Default)]
#[reflect(Resource)]
pub struct Clock(pub f64);

/// A guard. Its required component is its machine.
#[derive(Component, Reflect, Default)]
#[reflect(Component)]
#[require(Save, Machine<Guard> = Machine::new(&Patrol).with_global(&Mortal))]
pub struct Guard {
    /// The health. At 0, the guard is dead.
    pub health: u32,
    /// The number of states that it has entered.
    pub entered: u32,
    /// The number of steps that it has walked.
    pub steps: u32,
}

/// The messages of a guard.
#[derive(Serialize, Deserialize)]
pub enum Told {
    /// It is shot at.
    Shot,
    /// It is hit on the head.
    Blow,
    /// It recovers. It sends this message to itself.
    Better,
}

type Context<'a> = EntityContext<'a, Guard>;

impl Owner for Guard {
    type Context<'a> = Context<'a>;
    type Message = Told;

    fn now(cx: &Context<'_>) -> f64 {
        cx.param.0
    }
}

impl EntityOwner for Guard {
    type Body = ();
    type Param = Res<'static, Clock>;
}

/// Walks.
pub struct Patrol;
impl State<Guard> for Patrol {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Context<'_>) {
        guard.entered += 1;
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Context<'_>) {
        guard.steps += 1;
    }
}

/// Lies on the ground for two seconds, and then returns to the previous state.
pub struct Stunned;
impl State<Guard> for Stunned {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Context<'_>) {
        guard.entered += 1;
        fsm.send_after(2.0, Told::Better);
        fsm.sleep();
    }

    fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Context<'_>) -> bool {
        if let Told::Better = told {
            fsm.pop_state();
        }
        matches!(told, Told::Better)
    }
}

/// The final state.
pub struct Dead;
impl State<Guard> for Dead {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Context<'_>) {
        guard.entered += 1;
        fsm.sleep();
    }
}

/// The global state. A guard without it is immortal.
pub struct Mortal;
impl State<Guard> for Mortal {
    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Context<'_>) -> bool {
        match told {
            Told::Shot if guard.health > 0 => {
                guard.health -= 1;
                if guard.health == 0 {
                    fsm.force_state(&Dead);
                }
            }
            Told::Blow if !fsm.is_in_state(&Dead) && !fsm.is_in_state(&Stunned) => fsm.push_state(&Stunned),
            _ => return false,
        }
        true
    }

    fn is_passive(&self) -> bool {
        true
    }
}

/// Returns the game. To be saved, it only needs the book.
pub fn game() -> App {
    let book = StateBook::new().with(&Patrol).with(&Stunned).with(&Dead).with(&Mortal).with_messages();
    let mut app = App::new();
    app.init_resource::<Clock>();
    app.register_type::<Guard>().register_type::<Clock>();
    app.add_plugins(StateMachinePlugin::<Guard>::new().with_book(book));
    app
}
