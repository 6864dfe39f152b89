//! Very many ticks, and very many states: as many as `RANDOM_CASES` says. 25 000 are ten million ticks and a million states.
//!
//! - `ticks`: a machine, a batch, a cast and a definition do in each tick what a simple model does, and take no more and more memory.
//! - `states`: what states take of memory, and how often they are asked, grows as their number does.

#![cfg(all(feature = "std", feature = "serde"))]

#[path = "../cases/mod.rs"]
mod cases;
mod states;
mod ticks;

use cases::cases;

/// `each` for each case that the random tests look at.
fn many(each: u32) -> u32 {
    cases(64).cases.saturating_mul(each)
}
