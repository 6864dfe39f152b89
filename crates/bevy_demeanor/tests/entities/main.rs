//! Machines on entities, driven through `App::update`, headless.

mod body;
mod clock;
mod derive;
mod equivalence;
mod events;
mod faults;
mod markers;
mod names;
mod parallel;
mod parameters;
mod pass;
#[cfg(feature = "reflect")]
mod scenes;
mod sleepers;
mod soldier;
mod start;
mod threads;
mod time;
mod together;
mod verbs;
mod waiting;
