//! Decides whether a parallel pass runs on one thread or on all, and runs its chunks on all.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_platform::time::Instant;
use bevy_tasks::{ComputeTaskPool, TaskPool};

use crate::update::{CHUNK, Waited};

/// How many passes a measurement holds for, itself included.
const PASSES: u32 = 128;

/// How many of these passes are measured: all threads and one, by turns. In debug builds, these are all passes, so that tests cover
/// both.
const MEASURED: u32 = if cfg!(debug_assertions) { PASSES } else { 6 };

/// A pass over fewer entities always runs on one thread.
const LEAST: usize = if cfg!(debug_assertions) { 1 } else { CHUNK + 1 };

/// Decides whether a pass runs on one thread or on all. The result of the pass is the same.
#[derive(Default)]
pub(crate) struct Pace {
    passes: u32,
    /// The least seconds for each entity in the measured passes, on one thread and on all.
    least: [f64; 2],
}

impl Pace {
    /// Calls `pass` for so many entities. Its argument says whether it runs on all threads.
    pub(crate) fn run<R>(&mut self, entities: usize, pass: impl FnOnce(bool) -> R) -> R {
        if entities < LEAST {
            return pass(false);
        }
        let (is_measured, on_all) = self.next(MEASURED);
        let begin = is_measured.then(Instant::now);
        let result = pass(on_all);
        if let Some(begin) = begin {
            self.note(on_all, begin.elapsed().as_secs_f64(), entities);
        }
        result
    }

    /// Begins a pass, of which the first `measured` are measured. Returns whether it is one of them, and whether it runs on all
    /// threads.
    fn next(&mut self, measured: u32) -> (bool, bool) {
        let nth = self.passes % PASSES;
        self.passes = self.passes.wrapping_add(1);
        if nth == 0 {
            self.least = [f64::INFINITY; 2];
        }
        let is_measured = nth < measured;
        (is_measured, if is_measured { nth.is_multiple_of(2) } else { self.least[1] < self.least[0] })
    }

    #[expect(clippy::cast_precision_loss, reason = "a world has fewer than 2^32 entities")]
    fn note(&mut self, on_all: bool, seconds: f64, entities: usize) {
        let least = &mut self.least[usize::from(on_all)];
        *least = least.min(seconds / entities as f64);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs passes of which the `n`-th takes the seconds that `seconds` says. Returns which of them ran on all threads.
    fn run(pace: &mut Pace, passes: u32, seconds: impl Fn(u32, bool) -> f64) -> Vec<bool> {
        let run_one = |n| {
            let (is_measured, on_all) = pace.next(6);
            if is_measured {
                pace.note(on_all, seconds(n, on_all), 2 * CHUNK);
            }
            on_all
        };
        (0..passes).map(run_one).collect()
    }

    #[test]
    fn the_faster_way_is_used_until_the_next_measurement() {
        let mut pace = Pace::default();
        let ways = run(&mut pace, PASSES, |_, on_all| if on_all { 1.0 } else { 1.5 });
        assert_eq!(ways[..6], [true, false, true, false, true, false]);
        assert_eq!(ways[6..], [true; 122]);
        let ways = run(&mut pace, PASSES, |_, on_all| if on_all { 1.5 } else { 1.0 });
        assert_eq!(ways[..6], [true, false, true, false, true, false]);
        assert_eq!(ways[6..], [false; 122]);
    }

    #[test]
    fn a_pass_that_other_programs_have_held_up_decides_nothing() {
        let ways = run(&mut Pace::default(), 8, |n, on_all| match (n, on_all) {
            (0, _) => 10.0,
            (_, true) => 1.0,
            (_, false) => 1.5,
        });
        assert_eq!(ways[6..], [true; 2]);
    }
}
