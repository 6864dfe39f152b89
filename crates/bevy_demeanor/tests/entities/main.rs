//! Machines on entities, driven through `App::update`, headless.

mod equivalence;
mod events;
mod faults;
#[cfg(feature = "serialize")]
mod guard;
mod markers;
#[cfg(feature = "serialize")]
mod model;
mod observers;
mod order;
mod parallel;
mod pass;
#[cfg(feature = "serialize")]
mod saves;
#[cfg(feature = "reflect")]
mod scenes;
mod sleepers;
mod soldier;
mod start;
mod time;
mod verbs;
mod waiting;
