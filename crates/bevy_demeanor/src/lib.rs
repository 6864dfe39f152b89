//! State machines of `demeanor` on the entities of Bevy.
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
mod update;

pub use commands::MachineCommands;
pub use context::EntityContext;
#[cfg(feature = "reflect")]
pub use current_state::CurrentState;
pub use event::{Entered, Exited, StateChanged};
pub use machine::Machine;
pub use marker::{In, InSparseSet, InTable, MarkerStorage};
pub use owner::{EntityOwner, ParallelOwner};
pub use plugin::{Machines, StateMachinePlugin, StateSet};
