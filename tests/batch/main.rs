//! Many owners: the chapters of the semantics for a batch, and what a batch is besides.
#![cfg(feature = "std")]

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../machine/play.rs"]
mod play;
#[path = "../trace/mod.rs"]
mod trace;

mod by_key;
mod container;
mod few_owners;
mod many_owners;
mod many_timers;
mod memory;
mod now;
mod panics;
mod parallel_broadcast;
mod parallel_order;
mod rules;
mod waiting;
