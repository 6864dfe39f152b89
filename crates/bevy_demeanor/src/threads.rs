//! Decides whether a parallel pass runs on one thread or on all, and runs its chunks on all.

use core::iter;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_platform::time::Instant;
use bevy_tasks::{ComputeTaskPool, TaskPool};

use crate::update::{CHUNK, Waited};

/// A pass over fewer entities always runs on one thread.
const LEAST: usize = if cfg!(debug_assertions) { 1 } else { CHUNK + 1 };

/// Decides whether a pass runs on one thread or on all. The result of the pass is the same.
#[derive(Default)]
pub(crate) struct Pace {
    measured: demeanor::pace::Pace,
    /// In debug builds, both ways take turns, so that tests cover both: whether the last pass ran on all threads.
    was_on_all: bool,
}

impl Pace {
    /// Calls `pass` for so many entities. Its argument says whether it runs on all threads.
    pub(crate) fn run<R>(&mut self, entities: usize, pass: impl FnOnce(bool) -> R) -> R {
        if entities < LEAST {
            return pass(false);
        }
        if cfg!(debug_assertions) {
            self.was_on_all = !self.was_on_all;
            return pass(self.was_on_all);
        }
        let start = Instant::now();
        self.measured.run(entities, || start.elapsed().as_secs_f64(), pass)
    }
}

/// The work for a chunk. It is in a box, so that the tasks of Bevy's threads are compiled once for all types of owners.
pub(crate) type Job<'j> = Box<dyn FnOnce() -> Waited + Send + 'j>;

/// Runs jobs on this thread and on Bevy's compute threads. All jobs are run even if one of them panics; the panic of the first of
/// them in their order is resumed.
///
/// `next` returns the next job; an iterator as a trait object would be more to compile for each type of owner. No more jobs wait
/// than the threads need, so that what `next` has fetched for a chunk is still in the processor's cache.
pub(crate) fn run_on_all<'j>(next: &mut dyn FnMut() -> Option<Job<'j>>) -> Waited {
    // A pool without threads would wait forever for a task that panicked.
    let run = |job: Job<'j>| catch_unwind(AssertUnwindSafe(job));
    let under_way = &AtomicUsize::new(0);
    let pool = ComputeTaskPool::get_or_init(TaskPool::default);
    let mut own = Vec::new();
    let spawned = pool.scope(|scope| {
        for (nth, job) in iter::from_fn(next).enumerate() {
            if under_way.load(Ordering::Relaxed) < 2 * pool.thread_num() {
                under_way.fetch_add(1, Ordering::Relaxed);
                scope.spawn(async move {
                    let end = run(job);
                    under_way.fetch_sub(1, Ordering::Relaxed);
                    (nth, end)
                });
            } else {
                own.push((nth, run(job)));
            }
        }
    });
    let mut ends: Vec<_> = own.into_iter().chain(spawned).collect();
    ends.sort_unstable_by_key(|(nth, _)| *nth);
    let waited = ends.into_iter().map(|(_, end)| end.unwrap_or_else(|panic| resume_unwind(panic)));
    waited.fold(Waited::default(), Waited::or)
}
