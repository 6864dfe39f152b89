//! State machines for game characters.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod agent;
mod cast;
mod fsm;
mod machine;
mod message;
#[cfg(feature = "mock")]
pub mod mock;
mod owner;
mod seat;
mod state;
mod time;
mod transition;

pub use agent::Agent;
pub use cast::{Cast, Delivery, KeyTaken, UnknownReceiver};
pub use fsm::{Fsm, FsmSlice};
pub use machine::StateMachine;
pub use message::{Dispatcher, Telegram};
pub use owner::{Cause, Change, Outcome, Owner, Refusal};
pub use state::{State, StateRef};
pub use time::GameTime;
