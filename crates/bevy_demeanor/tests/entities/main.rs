//! Machines on entities, driven through `App::update`, headless.

mod body;
#[path = "../../../../tests/cases/mod.rs"]
mod cases;
mod clock;
#[cfg(feature = "serialize")]
mod clones;
mod derive;
mod equivalence;
mod events;
mod faults;
#[cfg(feature = "serialize")]
mod guard;
#[cfg(feature = "serialize")]
mod heard;
mod hours;
mod index;
mod journal;
mod labels;
mod markers;
#[cfg(feature = "serialize")]
mod model;
mod names;
mod observers;
mod order;
mod parallel;
mod parameters;
mod pass;
mod regions;
#[cfg(feature = "serialize")]
mod saved_times;
#[cfg(feature = "serialize")]
mod saves;
#[cfg(feature = "reflect")]
mod scenes;
mod sleepers;
mod soldier;
mod start;
mod tables;
mod templates;
mod threads;
#[cfg(feature = "serialize")]
mod ticks;
mod time;
mod together;
mod verbs;
mod waiting;
