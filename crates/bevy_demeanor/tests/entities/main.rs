//! Machines on entities, driven through `App::update`, headless.

#[cfg(feature = "derive")]
mod body;
#[cfg(all(feature = "derive", feature = "time"))]
mod clock;
mod equivalence;
mod events;
mod faults;
mod markers;
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
