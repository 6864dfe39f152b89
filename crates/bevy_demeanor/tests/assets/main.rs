//! Machines from files that Bevy's asset server loads: from memory, and headless.

mod beginning;
mod stage;
