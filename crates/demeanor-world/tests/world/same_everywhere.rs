//! The result does not depend on the number of processes and threads: every tick's digest is the same as that of one batch.

use std::sync::OnceLock;

use crate::village::process::{Run, digests};
use crate::village::reference;

#[test]
fn two_processes_have_the_digests_of_one_batch() {
    let run = Run { processes: 2, ..Run::default() };
    assert_eq!(digests(&run), reference::one_batch(run.shards, run.ticks));
}

#[test]
fn one_batch_has_the_digests_of_a_machine_for_each_villager() {
    assert_eq!(reference::one_batch(64, 100), reference::naive(64, 100));
}

#[test]
fn more_workers_than_shards_have_the_digests_of_one_batch() {
    let run = Run { processes: 2, threads: 3, shards: 4, ..Run::default() };
    assert_eq!(digests(&run), reference::one_batch(run.shards, run.ticks));
}

const MANY: Run = Run { shards: 9, ticks: 2000, ..Run::SMALLEST };

fn over_thousands_of_ticks(processes: usize, threads: usize) {
    static EXPECTED: OnceLock<Vec<(u64, u64)>> = OnceLock::new();
    let expected = EXPECTED.get_or_init(|| reference::one_batch(MANY.shards, MANY.ticks));
    assert_eq!(&digests(&Run { processes, threads, ..MANY }), expected);
}

#[test]
fn thousands_of_ticks_are_the_same_on_one_thread() {
    over_thousands_of_ticks(1, 1);
}

#[test]
fn thousands_of_ticks_are_the_same_on_three_threads() {
    over_thousands_of_ticks(1, 3);
}

#[test]
fn thousands_of_ticks_are_the_same_on_two_processes() {
    over_thousands_of_ticks(2, 1);
}

#[test]
fn thousands_of_ticks_are_the_same_on_two_processes_of_two_threads() {
    over_thousands_of_ticks(2, 2);
}

#[test]
fn thousands_of_ticks_are_the_same_on_three_processes() {
    over_thousands_of_ticks(3, 1);
}

#[test]
fn thousands_of_ticks_are_the_same_on_four_processes() {
    over_thousands_of_ticks(4, 1);
}
