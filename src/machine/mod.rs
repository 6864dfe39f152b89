//! One owner's machine: its seat, its requests and timers, and the change algorithm.
//!
//! This folder is a part of the layer `machine`. The layer knows states, owners and the handle. It does not know files,
//! batches, casts or saved data: the layers that do use this one.

pub(crate) mod agent;
pub(crate) mod idle;
pub(crate) mod observer;
pub(crate) mod quiet;
pub(crate) mod regions;
pub(crate) mod report;
pub(crate) mod seat;
pub(crate) mod settings;
pub(crate) mod single;
pub(crate) mod state_machine;
pub(crate) mod step;
pub(crate) mod taken;
pub(crate) mod transition;
pub(crate) mod visit;
pub(crate) mod waiting;
