//! One character's machine: a file for each chapter of the semantics.

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../trace/mod.rs"]
mod trace;

mod agent;
mod allocations;
mod change;
mod faults;
mod identity;
mod life;
mod machine_member;
mod message_order;
mod mock;
mod panics;
mod report;
mod requests;
mod sleep;
mod stack_and_history;
mod time;
mod timers;
mod tracing;
mod update;
