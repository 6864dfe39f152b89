//! Many owners: the chapters of the semantics for a batch, and what a batch is besides.
#![cfg(feature = "std")]

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../machine/play.rs"]
mod play;
#[path = "../trace/mod.rs"]
mod trace;

mod by_key;
mod container;
mod few_owners;
mod game;
mod many_owners;
mod many_timers;
mod memory;
mod panics;
mod parallel_order;
mod rules;
mod waiting;
mod ways;

use demeanor::{Batch, Owner};

/// The states that a batch knows, by name, with the number of owners in each.
fn census<T: Owner>(batch: &Batch<T>) -> Vec<(String, usize)> {
    batch.census().map(|(state, count)| (state.to_string(), count)).collect()
}

#[cfg(feature = "parallel")]
fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}
