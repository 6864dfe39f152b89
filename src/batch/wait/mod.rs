//! The waits of a batch's owners: their timers, and which timers are due.
//!
//! This layer stands above `known` and below `rows`. It knows owners only by their keys.

pub(crate) mod timers;
pub(crate) mod waiter;
pub(crate) mod wheel;
