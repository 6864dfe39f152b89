//! One owner's machine: its seat, its requests and timers, and the one change algorithm.
//!
//! This is the core's layer: it knows states, owners and the handle. It knows no files, batches, casts, or saved data. Those
//! layers lie above and use what is here.

pub(crate) mod agent;
pub(crate) mod idle;
pub(crate) mod observer;
pub(crate) mod report;
pub(crate) mod seat;
pub(crate) mod single;
pub(crate) mod state_machine;
pub(crate) mod step;
pub(crate) mod taken;
pub(crate) mod transition;
pub(crate) mod waiting;
