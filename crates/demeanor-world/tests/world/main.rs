//! Worlds on one process and on many. One executable, because each one compiles the library for the villagers again.

mod checkpoints;
mod faults;
mod meeting;
mod same_everywhere;
mod ticks;
#[cfg(unix)]
mod trial;
mod village;

/// Not a test: the processes that the tests start run this function.
#[test]
fn a_process() {
    village::process::be_one();
}
