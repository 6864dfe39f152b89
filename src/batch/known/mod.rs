//! The keys of owners, the numbers of states, the slots of rows, and the panics of the game's code.
//!
//! This is the lowest layer of a batch, and even the journal uses it. It knows states and seats, but neither rows nor ticks.

pub(crate) mod key;
pub(crate) mod panics;
pub(crate) mod slots;
pub(crate) mod states;
