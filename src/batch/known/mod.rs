//! By what a batch knows its owners and its states: keys, numbers, slots. And how it keeps a panic of theirs.
//!
//! The lowest layer of a batch, on which even the journal stands: it knows states and seats, and neither rows nor ticks.

pub(crate) mod key;
pub(crate) mod panics;
pub(crate) mod slots;
pub(crate) mod states;
