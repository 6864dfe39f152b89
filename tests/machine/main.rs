//! One character's machine, with a file for each chapter of the semantics.
#![expect(clippy::too_many_lines, reason = "a table of rows is one text in one function")]

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../trace/mod.rs"]
mod trace;

mod after_message;
mod after_update;
mod allocations;
mod answers;
mod change;
mod cycles;
mod faults;
mod guards;
mod identity;
mod life;
mod machine_member;
mod message_order;
mod messages_to_oneself;
mod mock;
mod next;
mod panics;
mod paths;
mod play;
mod regions;
mod regions_elsewhere;
mod repeating;
mod replacing;
mod report;
mod requests;
mod sleep;
mod stack_and_history;
mod statecharts;
mod staying;
mod time;
mod timers;
mod update;
