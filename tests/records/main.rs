//! What can be looked at afterwards: the journal, its trace, diagrams of what was seen, replays.
#![cfg(feature = "std")]

mod diagram;
mod ended_early;
mod flock;
mod journal;
mod journal_trace;
mod replay;
