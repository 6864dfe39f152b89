//! Machines on entities, driven through `App::update`, headless.

#[cfg(feature = "derive")]
mod body;
#[cfg(all(feature = "derive", feature = "time"))]
mod clock;
mod equivalence;
mod events;
mod faults;
mod markers;
#[cfg(feature = "derive")]
mod names;
mod parallel;
#[cfg(feature = "derive")]
mod parameters;
mod pass;
#[cfg(feature = "reflect")]
mod scenes;
mod sleepers;
mod soldier;
mod start;
#[cfg(feature = "derive")]
mod threads;
mod time;
#[cfg(feature = "derive")]
mod together;
mod verbs;
mod waiting;
