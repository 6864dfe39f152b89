//! What happens does not depend on how many processes and threads there are: every tick's digest is that of one batch.

mod village;

use village::process::{Run, be_one, digests};
use village::reference;

/// Not a test: what the processes run that the tests start.
#[test]
fn a_process() {
    be_one();
}

#[test]
fn two_processes_have_the_digests_of_one_batch() {
    let run = Run { processes: 2, threads: 1, shards: 64, ticks: 100 };
    assert_eq!(digests(run), reference::one_batch(run.shards, run.ticks));
}

#[test]
fn one_batch_has_the_digests_of_a_machine_for_each_villager() {
    assert_eq!(reference::one_batch(64, 100), reference::naive(64, 100));
}

#[test]
fn one_worker_has_the_digests_of_one_batch() {
    let run = Run { processes: 1, threads: 1, shards: 64, ticks: 100 };
    assert_eq!(digests(run), reference::one_batch(run.shards, run.ticks));
}
