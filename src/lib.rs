//! State machines for game characters.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod agent;
#[cfg(feature = "std")]
mod batch;
mod cast;
mod fsm;
mod machine;
mod message;
mod owner;
mod seat;
mod slice;
mod state;
mod time;
mod transition;
mod watched;

pub use agent::Agent;
#[cfg(feature = "std")]
pub use batch::{Batch, ForeignGlobal, Key};
pub use cast::{Cast, Delivery, KeyTaken, UnknownReceiver};
pub use fsm::Fsm;
pub use machine::StateMachine;
pub use message::{Dispatcher, Telegram};
pub use owner::{Cause, Change, Outcome, Owner, Refusal};
pub use slice::FsmSlice;
pub use state::{State, StateRef};
pub use time::GameTime;
pub use watched::{Step, Watched};
