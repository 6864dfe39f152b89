//! State machines of [`demeanor`] on the entities of Bevy.
//!
//! A machine is a component, [`Machine<T>`], beside its owner, the component `T`. The [`StateMachinePlugin`] updates all
//! machines of `T` in one system that runs beside others. `T` is an [`Owner`](demeanor::Owner) as everywhere, whose states
//! are written as everywhere; as an [`EntityOwner`] it also says how the callbacks' context is made from a system
//! parameter.
//!
//! ```
//! use bevy_app::App;
//! use bevy_demeanor::{EntityOwner, Machine, MachineCommands, StateMachinePlugin};
//! use bevy_ecs::prelude::{Commands, Component};
//! use demeanor::{Fsm, Owner, State};
//!
//! #[derive(Component)]
//! struct Door {
//!     open_for: u32,
//! }
//!
//! impl Owner for Door {
//!     type Context<'a> = ();
//!     type Message = ();
//! }
//!
//! impl EntityOwner for Door {
//!     type Param = ();
//!     fn context<'a>((): (), _: Commands<'a, 'a>) {}
//! }
//!
//! struct Closed;
//! struct Open;
//! impl State<Door> for Closed {}
//! impl State<Door> for Open {
//!     fn enter(&self, door: &mut Door, _: &mut Fsm<'_, Door>, _: &mut ()) {
//!         door.open_for = 2;
//!     }
//!
//!     fn update(&self, door: &mut Door, fsm: &mut Fsm<'_, Door>, _: &mut ()) {
//!         door.open_for -= 1;
//!         if door.open_for == 0 {
//!             fsm.change_state(&Closed);
//!         }
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins(StateMachinePlugin::<Door>::new());
//! let door = app.world_mut().spawn((Door { open_for: 0 }, Machine::<Door>::new(&Closed))).id();
//! app.world_mut().commands().entity(door).change_state(&Open);
//! app.update();
//! assert!(app.world().get::<Machine<Door>>(door).unwrap().is_in_state(&Open));
//! app.update();
//! assert!(app.world().get::<Machine<Door>>(door).unwrap().is_in_state(&Closed));
//! ```
//!
//! # Two ways to write a state
//!
//! As `State<T>`: the state decides for itself, entity by entity, and may do all its work there. As systems over
//! [`With<In<S>>`](In): what many entities in one state do is written beside the rest of the game. Both work on the same
//! machines, and the example `idle_patrol` does both.
//!
//! # What costs what
//!
//! The pass alone reads `T` and `Machine<T>` in the order of Bevy's tables. A change of state moves nothing. Each of
//! [`with_marker`](StateMachinePlugin::with_marker), [`with_triggers`](StateMachinePlugin::with_triggers),
//! [`with_change_events`](StateMachinePlugin::with_change_events) and
//! [`with_change_messages`](StateMachinePlugin::with_change_messages) costs something at each change and nothing otherwise;
//! a marker in a table costs most, since it moves the entity.
//!
//! # Observers, scenes and saved games
//!
//! Observers may do anything: despawn, take machines and owners away, change states. What that leads to is told after all that was
//! recorded before; see [`StateChanged`]. With the feature `serialize`, whole machines are in scenes and saved games:
//! `StateMachinePlugin::with_book`. With `reflect`, `CurrentState` is for inspectors, and for scenes that are written by hand.
//!
//! # Waiting
//!
//! A pass does not touch an entity whose machine has nothing to do until later: states set timers and fall asleep as everywhere
//! ([`Fsm::change_state_after`](demeanor::Fsm::change_state_after), [`Fsm::sleep`](demeanor::Fsm::sleep)). Timers go by
//! [`Owner::now`](demeanor::Owner::now), which reads the time from the context.
//!
//! ```
//! use bevy_app::App;
//! use bevy_demeanor::{EntityOwner, Machine, MachineCommands, StateMachinePlugin};
//! use bevy_ecs::prelude::{Commands, Component, Res, Resource};
//! use demeanor::{Fsm, NextWake, Owner, State};
//!
//! #[derive(Resource, Clone, Copy)]
//! struct Seconds(f64);
//!
//! #[derive(Component)]
//! struct Guard;
//!
//! impl Owner for Guard {
//!     type Context<'a> = Seconds;
//!     type Message = ();
//!     fn now(seconds: &Seconds) -> f64 { seconds.0 }
//! }
//!
//! impl EntityOwner for Guard {
//!     type Param = Res<'static, Seconds>;
//!     fn context<'a>(seconds: Res<'a, Seconds>, _: Commands<'a, 'a>) -> Seconds { *seconds }
//! }
//!
//! struct Stunned;
//! struct Patrol;
//! impl State<Guard> for Patrol {}
//! impl State<Guard> for Stunned {
//!     fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Seconds) {
//!         fsm.change_state_after(2.0, &Patrol);
//!         fsm.sleep();
//!     }
//! }
//!
//! let mut app = App::new();
//! app.insert_resource(Seconds(0.0));
//! app.add_plugins(StateMachinePlugin::<Guard>::new());
//! let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Stunned))).id();
//! app.update();
//! assert_eq!(app.world().get::<Machine<Guard>>(guard).unwrap().next_wake(), NextWake::At(2.0));
//! app.insert_resource(Seconds(2.0));
//! app.update();
//! assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Patrol));
//!
//! // From outside: on patrol again after a minute, asleep until then.
//! app.world_mut().commands().entity(guard).sleep::<Guard>().change_state_after(60.0, &Patrol);
//! app.world_mut().flush();
//! assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_asleep());
//! ```

#![expect(
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    reason = "a system's parameters are by value, and as long as what it asks for"
)]

mod commands;
mod context;
#[cfg(feature = "reflect")]
mod current_state;
mod event;
mod follow;
mod machine;
mod marker;
mod owner;
mod plugin;
mod queue;
#[cfg(feature = "serialize")]
mod saved;
mod update;
mod waiting;

pub use commands::MachineCommands;
pub use context::EntityContext;
#[cfg(feature = "reflect")]
pub use current_state::CurrentState;
pub use event::{Entered, Exited, StateChanged};
pub use machine::Machine;
pub use marker::{In, InSparseSet, InTable, MarkerStorage};
pub use owner::{EntityOwner, ParallelOwner};
pub use plugin::{Machines, StateMachinePlugin, StateSet};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
