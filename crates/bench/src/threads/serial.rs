//! How much of a parallel tick runs on one thread only, whatever the number of threads: its serial share.
//!
//! A tick of `par_update` has three parts. The *chunks*, each updated with its changes by some thread, are parallel. Before
//! them they are listed, and after them the owners are moved to their new buckets; how much of these two is parallel is the
//! question.
//!
//! Wall clock does not tell: on a machine with two cores, one of which others use, the ratio of one thread to two is noise,
//! and where memory is the limit, parallel work looks serial. Nor does the processor time of a pool: an idle thread of rayon
//! looks for work for a while before it sleeps. So this is measured, in processor time of single threads:
//!
//! 1. On a pool of *one* thread, where nothing is idle: how long a tick takes, and how long the parts before and after the
//!    chunks take. The tick is one without stamps, for these cost time themselves. If those two parts were serial, their share
//!    of the tick would be the serial share: the upper bound, *at most*.
//! 2. On a pool of *two* threads: how long each thread works after its last chunk, until the tick returns. Serial work is done
//!    by the thread that made the call, and the other idles; parallel work is done by both, about half each. So what the other
//!    one does, less what an idle thread takes anyway, is half of the parallel work, and what the caller does beyond that is
//!    serial. The medians of many ticks count, for in one tick either thread may do more than its half.
//! 3. What an idle thread takes is measured on the same pool, in turns with the ticks: a parallel loop, then serial work. What
//!    nine in ten stay below counts. So where the part after the chunks is as short as that, some ten microseconds, all of it
//!    counts as serial.
//!
//! The serial share is the part before the chunks, plus the serial part of what comes after: time of (1), split by (2). What
//! is before the chunks is taken to be serial. By Amdahl's law the share limits the speed-up on any number of cores.
//!
//! A made-up tick, of whose parts the lengths are known, stands in the table to show what the estimate is worth.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::made_up;
use super::stamps::{Stamps, now};
use bench_runner::{median, quantile};

/// How long ticks are measured at least, however few rounds are asked for: one tick says little.
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
    /// If nothing before and after the chunks were parallel.
    pub(super) at_most: f64,
}

/// Processor time of a tick on two threads, after the chunks, in nanoseconds.
struct After {
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

    /// Measures so many ticks of each kind or more, in turns. A tick runs on the current pool, and its chunks note what takes
    /// how long if there is anywhere to note it.
    pub(super) fn share(&self, mut tick: impl FnMut(Option<&Stamps>) + Send, rounds: usize) -> Share {
        let (mut whole, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let (mut caller, mut other, mut idle) = (Vec::new(), Vec::new(), Vec::new());
        let start = Instant::now();
        while whole.len() < rounds || start.elapsed() < LEAST_TIME {
            whole.push(self.one.whole(&mut tick));
            let (listing, moving) = self.one.around_chunks(&mut tick);
            before.push(listing);
            after.push(moving);
            let on_two = self.two.after_chunks(&mut tick);
            caller.push(on_two.caller);
            other.push(on_two.other);
            idle.push(self.two.after_chunks(made_up::idling).other);
        }
        let [whole, before, after] = [whole, before, after].map(median);
        let [caller, other] = [caller, other].map(median);
        let other = (other - quantile(0.9, idle)).max(0.0);
        let serial_part = ((caller - other) / (caller + other).max(1.0)).clamp(0.0, 1.0);
        Share { serial: (before + after * serial_part) / whole, at_most: (before + after) / whole }
    }
}

impl Share {
    /// How many times as fast as one core so many are, at best.
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

    /// The processor time of a tick without stamps.
    fn whole(&self, tick: &mut (impl FnMut(Option<&Stamps>) + Send)) -> f64 {
        self.threads.install(|| {
            let start = now();
            tick(None);
            nanoseconds(now().saturating_sub(start))
        })
    }

    /// The processor time of a tick before its chunks and after them, on the thread that calls.
    fn around_chunks(&self, tick: &mut (impl FnMut(Option<&Stamps>) + Send)) -> (f64, f64) {
        self.stamps.clear();
        self.threads.install(|| {
            let start = now();
            tick(Some(&self.stamps));
            let end = now();
            let stamp = self.stamps.of(rayon::current_thread_index().unwrap_or_default());
            (nanoseconds(stamp.before_chunks(start)), nanoseconds(stamp.after_chunks(start, end)))
        })
    }

    /// Runs a tick on one of the two threads, and returns how long each worked after its last chunk.
    fn after_chunks(&self, mut tick: impl FnMut(Option<&Stamps>) + Send) -> After {
        self.stamps.clear();
        self.threads.install(|| {
            let start: Vec<Duration> = rayon::broadcast(|_| now());
            tick(Some(&self.stamps));
            // The caller's is read before it waits for the other.
            let caller_end = now();
            let mut end: Vec<Duration> = rayon::broadcast(|_| now());
            let caller = rayon::current_thread_index().unwrap_or_default();
            end[caller] = caller_end;
            let taken = |thread: usize| nanoseconds(self.stamps.of(thread).after_chunks(start[thread], end[thread]));
            After { caller: taken(caller), other: taken(1 - caller) }
        })
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}
