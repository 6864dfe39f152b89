//! What the owners of a batch wait for: their timers, and what of them is due.
//!
//! The layer above `known` and below `rows`: it knows owners by their keys alone.

pub(crate) mod timers;
pub(crate) mod waiter;
pub(crate) mod wheel;
