//! Machines on entities, driven through `App::update`, headless.

mod equivalence;
mod events;
mod faults;
mod markers;
mod parallel;
mod pass;
mod soldier;
mod verbs;
