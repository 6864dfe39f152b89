//! Machines from files: what a file may say, what is reported of it, and what its machines do.
#![cfg(feature = "definition")]

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../trace/mod.rs"]
mod trace;

mod allocations;
mod case_files;
mod conditions;
mod cursor;
mod decisions;
mod durations;
mod exact_time;
mod faults;
mod files;
mod format;
mod garbage;
mod guard;
mod links;
mod machines;
mod nested;
mod played;
mod properties;
mod prove;
mod questions;
mod regions;
mod reload;
mod reload_often;
mod reported;
mod reports;
mod runs;
mod runtime;
mod script;
mod script_checks;
mod script_hosts;
mod script_limits;
mod times;
mod troop;
mod turns;
mod twin;
mod waiting;
mod watch;
