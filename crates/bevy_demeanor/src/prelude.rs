//! The items that a game with machines needs: `use bevy_demeanor::prelude::*;`.
//!
//! None of its names is in one of Bevy's preludes, so that both can be imported. The trait of states is called `MachineState`
//! here, because `State` is a resource of `bevy_state`. In a game without `bevy_state`, `use demeanor::State;` has the short
//! name.

#[cfg(feature = "derive")]
pub use bevy_demeanor_derive::{Owner, SharedParam};
pub use demeanor::State as MachineState;
#[cfg(feature = "serialize")]
pub use demeanor::StateBook;
pub use demeanor::{Cause, Change, Fsm, IntoState, NextWake, Owner, StateMachine, StateRef};

pub use crate::add::AppExtMachines;
#[cfg(feature = "asset")]
pub use crate::asset::{DefinedMachine, DefinitionFile, LoadedDefinitions};
pub use crate::commands::MachineCommands;
pub use crate::condition::{any_in_state, any_machine_changed, any_machine_in, every_machine_in};
pub use crate::context::{CallbackContext, Cx, EntityContext};
#[cfg(feature = "reflect")]
pub use crate::current_state::CurrentState;
pub use crate::event::{Entered, Exited, StateChanged};
pub use crate::index::{QueryInState, StateIndex};
pub use crate::machine::Machine;
pub use crate::marker::{InSparseSet, InState};
pub use crate::owner::{EntityOwner, OwnerChanges, ParallelOwner};
pub use crate::plugin::StateMachinePlugin;
pub use crate::sets::{MachineSet, Machines};
pub use crate::shared::SharedParam;
