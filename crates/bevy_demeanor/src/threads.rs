//! Decides whether a parallel pass runs on one thread or on all, and runs its chunks on all.

use core::any::Any;
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

/// Runs chunks on this thread and on Bevy's compute threads. All chunks are run even if one of them panics; the panic of the first
/// of them in their order is resumed.
///
/// No more chunks wait than the threads need, so that what the iterator has fetched for a chunk is still in the processor's cache.
pub(crate) fn run_on_all<C: Send>(chunks: impl Iterator<Item = C>, run: impl Fn(C) -> Waited + Sync) -> Waited {
    // A pool without threads would wait forever for a task that panicked.
    let run = |chunk| catch_unwind(AssertUnwindSafe(|| run(chunk)));
    let (run, under_way) = (&run, &AtomicUsize::new(0));
    let pool = ComputeTaskPool::get_or_init(TaskPool::default);
    let mut own = Vec::new();
    let spawned = pool.scope(|scope| {
        for (nth, chunk) in chunks.enumerate() {
            if under_way.load(Ordering::Relaxed) < 2 * pool.thread_num() {
                under_way.fetch_add(1, Ordering::Relaxed);
                scope.spawn(async move {
                    let end = run(chunk);
                    under_way.fetch_sub(1, Ordering::Relaxed);
                    (nth, end)
                });
            } else {
                own.push((nth, run(chunk)));
            }
        }
    });
    let mut ends: Vec<_> = own.into_iter().chain(spawned).collect();
    ends.sort_unstable_by_key(|(nth, _)| *nth);
    let waited = ends.into_iter().map(|(_, end)| end.unwrap_or_else(|panic| resume_unwind(panic)));
    waited.fold(Waited::default(), Waited::or)
}

/// Calls a function with all items, even if it panics for some of them. Returns the first panic.
#[inline]
pub(crate) fn for_each_despite_panics<I>(
    mut items: impl Iterator<Item = I>,
    mut act: impl FnMut(I),
) -> Option<Box<dyn Any + Send>> {
    let mut first = None;
    while let Err(panic) = catch_unwind(AssertUnwindSafe(|| items.by_ref().for_each(&mut act))) {
        first.get_or_insert(panic);
    }
    first
}
