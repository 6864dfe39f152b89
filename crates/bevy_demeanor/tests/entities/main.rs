//! Machines on entities, driven through `App::update`, headless.

mod equivalence;
mod events;
mod faults;
mod markers;
mod observers;
mod order;
mod parallel;
mod pass;
#[cfg(feature = "reflect")]
mod scenes;
mod sleepers;
mod soldier;
mod start;
mod time;
mod verbs;
mod waiting;
