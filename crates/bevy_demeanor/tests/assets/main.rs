//! Machines from files that Bevy's asset server loads: from memory, and headless.

mod beginning;
mod exchanging;
mod mistakes;
mod names;
mod owners;
mod reloading;
#[cfg(feature = "serialize")]
mod saves;
mod scripts;
mod stage;
