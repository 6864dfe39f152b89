//! State machines of [`demeanor`] on the entities of Bevy.
//!
//! A machine is a component, [`Machine<T>`], on the same entity as its owner, the component `T`. [`add_state_machine`] updates
//! all machines of `T` in one system that runs beside others. A state describes the behavior of one entity. Its callbacks get
//! the owner, the machine, and a context with other components of the entity, system parameters, commands and the time.
//!
//! ```
//! use bevy_app::prelude::*;
//! use bevy_demeanor::prelude::*;
//! use bevy_ecs::prelude::*;
//!
//! #[derive(Component)]
//! struct Place(f32);
//!
//! #[derive(Component, Owner)]
//! #[owner(body = &mut Place)]
//! struct Door {
//!     open_for: u32,
//! }
//!
//! struct Closed;
//! struct Open;
//! impl MachineState<Door> for Closed {}
//! impl MachineState<Door> for Open {
//!     fn enter(&self, door: &mut Door, _: &mut Fsm<'_, Door>, cx: &mut Cx<'_, Door>) {
//!         door.open_for = 2;
//!         cx.body.0 += 1.0;
//!     }
//!
//!     fn update(&self, door: &mut Door, fsm: &mut Fsm<'_, Door>, _: &mut Cx<'_, Door>) {
//!         door.open_for -= 1;
//!         if door.open_for == 0 {
//!             fsm.change_state(&Closed);
//!         }
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_state_machine::<Door>();
//! let door = app.world_mut().spawn((Door { open_for: 0 }, Place(0.0), Machine::<Door>::new(&Closed))).id();
//! app.world_mut().commands().entity(door).change_state(&Open);
//! app.update();
//! assert!(app.world().get::<Machine<Door>>(door).unwrap().is_in_state(&Open));
//! assert_eq!(app.world().get::<Place>(door).unwrap().0, 1.0);
//! app.update();
//! assert!(app.world().get::<Machine<Door>>(door).unwrap().is_in_state(&Closed));
//! ```
//!
//! # Two ways to write a state
//!
//! As `MachineState<T>`, which is [`demeanor::State`]: the state decides for itself, entity by entity, and may do all its work
//! there. As systems over [`With<InState<S>>`](InState): the work of many entities in one state is written beside the rest of
//! the game. Both work on the same machines; the example `idle_patrol` does both.
//!
//! # Costs
//!
//! The pass alone reads `T`, `Machine<T>` and the components of [`T::Body`](EntityOwner::Body). A change of state moves
//! nothing. Each of [`with_marker`](StateMachinePlugin::with_marker), [`with_triggers`](StateMachinePlugin::with_triggers),
//! [`with_change_events`](StateMachinePlugin::with_change_events) and
//! [`with_change_messages`](StateMachinePlugin::with_change_messages) has a cost at each change, and none otherwise; a marker
//! in a table costs most, because it moves the entity.
//!
//! # Observers, scenes and saved games
//!
//! Observers may do anything: despawn, remove machines and owners, change states. The events of these changes come after all
//! events that were recorded before; see [`StateChanged`]. With the feature `serialize`, scenes and saved games contain whole
//! machines: `StateMachinePlugin::with_book`. With `reflect`, `CurrentState` is for inspectors, and for scenes that are written
//! by hand.
//!
//! # Waiting
//!
//! A pass does not touch an entity whose machine has nothing to do until later. States set timers and sleep as in the library
//! ([`Fsm::change_state_after`](demeanor::Fsm::change_state_after), [`Fsm::sleep`](demeanor::Fsm::sleep)). With the feature
//! `time`, the clock is the `Time` that is current in the schedule of the pass: the virtual time, or the fixed time in
//! `FixedUpdate`.
//!
//! ```
//! # #[cfg(feature = "time")] {
//! use std::time::Duration;
//!
//! use bevy_app::prelude::*;
//! use bevy_demeanor::prelude::*;
//! use bevy_ecs::prelude::*;
//! use bevy_time::{TimePlugin, TimeUpdateStrategy};
//!
//! #[derive(Component, Owner)]
//! struct Guard;
//!
//! struct Stunned;
//! struct Patrol;
//! impl MachineState<Guard> for Patrol {}
//! impl MachineState<Guard> for Stunned {
//!     fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
//!         fsm.change_state_after(2.0, &Patrol);
//!         fsm.sleep();
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins(TimePlugin).insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(200)));
//! app.add_state_machine::<Guard>();
//! let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Stunned))).id();
//! for _ in 0..10 {
//!     app.update();
//! }
//! assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_asleep());
//! app.update();
//! assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_in_state(&Patrol));
//!
//! // From outside: the guard sleeps, and goes on patrol again after a minute.
//! app.world_mut().commands().entity(guard).sleep::<Guard>().change_state_after(60.0, &Patrol);
//! app.world_mut().flush();
//! assert!(app.world().get::<Machine<Guard>>(guard).unwrap().is_asleep());
//! # }
//! ```
//!
//! [`add_state_machine`]: AppExtMachines::add_state_machine
// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![expect(
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    reason = "a system's parameters are by value, and as long as what it asks for"
)]

mod add;
#[cfg(feature = "asset")]
mod asset;
#[cfg(feature = "serialize")]
mod book;
mod broadcast;
mod clock;
mod commands;
mod condition;
mod context;
#[cfg(feature = "reflect")]
mod current_state;
mod despite_panics;
mod event;
#[cfg(feature = "reflect")]
mod factory;
mod follow;
mod index;
mod indexing;
mod journal;
mod label;
mod leaving;
mod machine;
mod marker;
mod marking;
mod missing;
mod named;
mod named_entity;
mod owner;
mod pass;
mod plugin;
pub mod prelude;
mod queue;
mod reach;
mod readers;
mod removing;
mod rows;
#[cfg(feature = "serialize")]
mod saved;
mod sets;
mod shared;
mod states_meant;
mod tables;
mod telling;
mod threads;
mod update;
mod waiting;

pub use add::AppExtMachines;
#[cfg(feature = "asset")]
pub use asset::{DefinedMachine, DefinitionFile, LoadedDefinitions};
/// # Examples
///
/// ```
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component)]
/// struct Place(f32);
/// #[derive(Resource)]
/// struct Alarm(bool);
/// enum Told {
///     Noise,
/// }
///
/// #[derive(Component, Owner)]
/// #[owner(body = (&mut Place, Option<&Name>), param = Res<Alarm>, message = Told)]
/// struct Guard {
///     fear: f32,
/// }
///
/// struct Patrol;
/// impl MachineState<Guard> for Patrol {
///     fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
///         let (place, _name) = &mut cx.body;
///         place.0 += if cx.param.0 { 2.0 } else { 1.0 };
///         guard.fear *= 0.9;
///     }
/// }
/// ```
///
/// Typing errors in the names are compile errors:
///
/// ```compile_fail
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, Owner)]
/// #[owner(bodies = &mut Name)]
/// struct Guard;
/// ```
#[cfg(feature = "derive")]
pub use bevy_demeanor_derive::Owner;
#[cfg(feature = "derive")]
pub use bevy_demeanor_derive::SharedParam;
pub use broadcast::SendTo;
pub use commands::MachineCommands;
pub use condition::{any_in_state, any_machine_changed, any_machine_in, every_machine_in};
pub use context::{CallbackContext, Cx, EntityContext};
#[cfg(feature = "reflect")]
pub use current_state::CurrentState;
#[doc(no_inline)]
pub use demeanor;
pub use event::{Entered, Exited, StateChanged};
pub use index::{QueryInState, StateIndex};
pub use journal::MachineJournal;
pub use machine::Machine;
pub use marker::{InSparseSet, InState, InTable, MarkerStorage};
pub use owner::{EntityOwner, OwnerChanges, ParallelOwner};
pub use plugin::StateMachinePlugin;
pub use sets::{MachineSet, Machines};
pub use shared::SharedParam;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/coming-from.md")]
struct ComingFrom;
