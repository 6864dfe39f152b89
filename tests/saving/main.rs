//! What is saved and loaded goes on as if it had not been (rule 27).
//!
//! - `barracks`: guards, and their states, which write down what happens to them.
//! - `machine`, `batch`, `cast`, `definition`: what is saved of each, and that it goes on.
//! - `ticks`: timers that last whole ticks, at every rate and on every clock.
//! - `changed`: a program whose states are others than when it saved.
//! - `formats`: JSON, RON, postcard and bincode.
//! - `kinds`: machines, agents, batches and casts, as what can be written and read in each format.
//! - `golden`: files of version 1.
//! - `garbage`: files that are anything but right.
//! - `mixed`: files of another version or of another kind, and fields that are missing, renamed or there twice.
//! - `qualified`: states that have the same name, in a book that qualifies their names.
//! - `regions`: machines, agents and casts with regions.
//! - `untouched`: what is there goes on as if nothing had been saved or loaded that could not be.
//!
//! Random programs are saved and loaded in `tests/equivalence`.

#![cfg(all(feature = "serde", feature = "std"))]

mod barracks;
mod batch;
#[path = "../cases/mod.rs"]
mod cases;
mod cast;
mod changed;
#[cfg(feature = "definition")]
mod definition;
mod formats;
mod garbage;
mod golden;
mod kinds;
mod machine;
mod mixed;
mod qualified;
mod regions;
mod ticks;
mod untouched;
