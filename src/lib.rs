//! State machines for game characters.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod agent;
#[cfg(feature = "definition")]
pub mod definition;
mod fsm;
mod machine;
mod owner;
mod seat;
mod state;
mod time;
mod transition;

pub use agent::Agent;
pub use fsm::{Fsm, FsmSlice};
pub use machine::StateMachine;
pub use owner::{Cause, Change, Outcome, Owner, Refusal};
pub use state::{State, StateRef};
pub use time::GameTime;
