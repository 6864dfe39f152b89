//! The serial share of a parallel tick: how much of it runs on one thread only, whatever the number of threads.
//!
//! A tick of `par_update` has three parts. First the *chunks* are listed. Then the chunks are updated, with their changes, by
//! different threads; this part is parallel. At last the owners are moved to their new buckets. This file measures how much of
//! the first and of the last part is parallel.
//!
//! Wall-clock time does not show it: on a machine with two cores, one of which is used by other programs, the ratio of one
//! thread to two is noise, and where memory is the limit, parallel work looks serial. The processor time of a pool does not
//! show it either: an idle thread of rayon looks for work for a while before it sleeps. So this is measured in processor time
//! of single threads:
//!
//! 1. On a pool of *one* thread, where no thread is idle: how long a tick takes. It is measured without stamps, which take time
//!    themselves.
//! 2. On a pool of *two* threads: how long the calling thread works before its first chunk, and how long each thread works after
//!    its last chunk, until the tick returns. The calling thread does the serial work while the other thread is idle; both
//!    threads do about half of the parallel work. So the work of the other thread, minus the time that an idle thread uses
//!    anyway, is half of the parallel work; the caller's work beyond that is serial. The medians of many ticks are used, because
//!    in one tick either thread may do more than its half.
//! 3. The time that an idle thread uses is measured on the same pool, in turns with the ticks: a parallel loop, then serial
//!    work. The 90 % quantile is used. So if the part after the chunks is as short as that (about ten microseconds), all of it
//!    counts as serial.
//!
//! The serial share is the part before the chunks, plus the serial part after the chunks. If all of the part after the chunks
//! were serial, the share would be the upper bound, *at most*. The part before the chunks counts as serial. By Amdahl's law the
//! share limits the speed-up on any number of cores. A tick that `par_update` runs on one thread, because it is short, has no
//! meaningful share.
//!
//! An artificial tick, whose parts have known lengths, is in the table to show how accurate the estimate is.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::made_up;
use super::stamps::{Stamps, now};
use bench_runner::{median, quantile};

/// The shortest time for which ticks are measured, however few rounds are requested: a single tick is not representative.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// Pools of one thread and of two.
pub(super) struct Pools {
    one: Pool,
    two: Pool,
}

struct Pool {
    threads: ThreadPool,
    stamps: Stamps,
}

/// The serial shares of a tick: 0.01 for one hundredth.
pub(super) struct Share {
    pub(super) serial: f64,
    /// The share if no part before and after the chunks were parallel.
    pub(super) at_most: f64,
}

/// Processor time of a tick on two threads, before and after the chunks, in nanoseconds.
struct AroundChunks {
    /// The time of the calling thread before its first chunk.
    before: f64,
    /// The times of both threads after their last chunks.
    caller: f64,
    other: f64,
}

impl Pools {
    /// # Errors
    ///
    /// When the threads cannot be started.
    pub(super) fn new() -> Result<Self, String> {
        Ok(Self { one: Pool::new(1)?, two: Pool::new(2)? })
    }

    /// Measures at least `rounds` ticks of each kind, in turns. A tick runs on the current pool. Its chunks note the times if
    /// stamps are passed.
    pub(super) fn share(&self, mut tick: impl FnMut(Option<&Stamps>) + Send, rounds: usize) -> Share {
        let (mut whole, mut before) = (Vec::new(), Vec::new());
        let (mut caller, mut other, mut idle) = (Vec::new(), Vec::new(), Vec::new());
        let start = Instant::now();
        while whole.len() < rounds || start.elapsed() < LEAST_TIME {
            whole.push(self.one.whole(&mut tick));
            let on_two = self.two.around_chunks(&mut tick);
            before.push(on_two.before);
            caller.push(on_two.caller);
            other.push(on_two.other);
            idle.push(self.two.around_chunks(made_up::idling).other);
        }
        let [whole, before, caller, other] = [whole, before, caller, other].map(median);
        let other = (other - quantile(0.9, idle)).max(0.0);
        Share { serial: (before + (caller - other).max(0.0)) / whole, at_most: (before + caller + other) / whole }
    }
}

impl Share {
    /// Returns the largest possible speed-up on this number of cores.
    pub(super) fn speed_up(&self, cores: f64) -> f64 {
        1.0 / (self.serial + (1.0 - self.serial) / cores)
    }
}

impl Pool {
    fn new(threads: usize) -> Result<Self, String> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|why| format!("no pool of {threads} threads: {why}"))?;
        Ok(Self { threads: pool, stamps: Stamps::new(threads) })
    }

    /// Returns the processor time of a tick without stamps.
    fn whole(&self, tick: &mut (impl FnMut(Option<&Stamps>) + Send)) -> f64 {
        self.threads.install(|| {
            let start = now();
            tick(None);
            nanoseconds(now().saturating_sub(start))
        })
    }

    /// Runs a tick on one of the two threads, and returns how long each thread worked around its chunks.
    fn around_chunks(&self, mut tick: impl FnMut(Option<&Stamps>) + Send) -> AroundChunks {
        self.stamps.clear();
        self.threads.install(|| {
            let start: Vec<Duration> = rayon::broadcast(|_| now());
            tick(Some(&self.stamps));
            // Read before the calling thread waits for the other.
            let caller_end = now();
            let mut end: Vec<Duration> = rayon::broadcast(|_| now());
            let caller = rayon::current_thread_index().unwrap_or_default();
            end[caller] = caller_end;
            let taken = |thread: usize| nanoseconds(self.stamps.of(thread).after_chunks(start[thread], end[thread]));
            let before = nanoseconds(self.stamps.of(caller).before_chunks(start[caller]));
            AroundChunks { before, caller: taken(caller), other: taken(1 - caller) }
        })
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}
