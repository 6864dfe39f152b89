//! State machines for game characters.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod agent;
#[cfg(feature = "std")]
mod batch;
#[cfg(feature = "definition")]
pub mod definition;
mod fsm;
mod machine;
mod owner;
mod seat;
mod slice;
mod state;
mod time;
mod transition;

pub use agent::Agent;
#[cfg(feature = "std")]
pub use batch::{Batch, ForeignGlobal, Key};
pub use fsm::Fsm;
pub use machine::StateMachine;
pub use owner::{Cause, Change, Outcome, Owner, Refusal};
pub use slice::FsmSlice;
pub use state::{State, StateRef};
pub use time::GameTime;
