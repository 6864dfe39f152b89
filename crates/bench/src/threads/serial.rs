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
//!    by the thread that made the call, and the other idles; parallel work is done by both, half each. So what the other one
//!    does, less what an idle thread takes anyway, is half of the parallel work, and what the caller does beyond that is
//!    serial. A thread that works more than its half, because the machine was busy elsewhere, makes the share too high,
//!    never too low.
//! 3. What an idle thread takes is measured on the same pool: a parallel loop, then serial work.
//!
//! The serial share is the part before the chunks, plus the serial part of what comes after: time of (1), split by (2). What
//! is before the chunks is taken to be serial. By Amdahl's law the share limits the speed-up on any number of cores.

use std::hint::black_box;
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::stamps::{Stamps, now};
use super::troop::Troop;
use crate::runner::median;
use crate::workload::Context;

/// Pools of one thread and of two, and what the idle one of two takes.
pub(super) struct Pools {
    one: Pool,
    two: Pool,
    /// The processor time of a thread that looks for work and then sleeps, in nanoseconds.
    idle: f64,
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
        let (one, two) = (Pool::new(1)?, Pool::new(2)?);
        let idle = median((0..51).map(|_| two.idling()));
        Ok(Self { one, two, idle })
    }

    /// Measures so many ticks of each kind, in turns.
    pub(super) fn share<const PAD: usize>(&self, troop: &mut Troop<PAD>, cx: &Context, rounds: usize) -> Share {
        let (mut whole, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let (mut caller, mut other) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            whole.push(self.one.whole_tick(troop, cx));
            let (listing, moving) = self.one.tick_around_chunks(troop, cx);
            before.push(listing);
            after.push(moving);
            let on_two = self.two.tick_after_chunks(troop, cx);
            caller.push(on_two.caller);
            other.push((on_two.other - self.idle).max(0.0));
        }
        let [whole, before, after] = [whole, before, after].map(median);
        let [caller, other] = [caller, other].map(median);
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

    /// The processor time of a tick.
    fn whole_tick<const PAD: usize>(&self, troop: &mut Troop<PAD>, cx: &Context) -> f64 {
        self.threads.install(|| {
            let start = now();
            troop.par_tick(cx, None);
            nanoseconds(now().saturating_sub(start))
        })
    }

    /// The processor time of a tick before its chunks and after them, on the thread that calls.
    fn tick_around_chunks<const PAD: usize>(&self, troop: &mut Troop<PAD>, cx: &Context) -> (f64, f64) {
        self.stamps.clear();
        self.threads.install(|| {
            let start = now();
            troop.par_tick(cx, Some(&self.stamps));
            let end = now();
            let stamp = self.stamps.of(rayon::current_thread_index().unwrap_or_default());
            (nanoseconds(stamp.before_chunks(start)), nanoseconds(stamp.after_chunks(start, end)))
        })
    }

    fn tick_after_chunks<const PAD: usize>(&self, troop: &mut Troop<PAD>, cx: &Context) -> After {
        self.after_chunks(|| troop.par_tick(cx, Some(&self.stamps)))
    }

    /// What a thread takes that has nothing to do while another works.
    fn idling(&self) -> f64 {
        let work = |steps: u64| black_box((0..steps).fold(1_u64, |sum, step| black_box(sum.wrapping_mul(step | 1))));
        let idling = self.after_chunks(|| {
            (0..64).into_par_iter().for_each(|_| {
                self.stamps.chunk_begins();
                work(10_000);
                self.stamps.chunk_is_updated();
            });
            work(2_000_000);
        });
        idling.other
    }

    /// Runs `act` on one of the two threads, and returns how long each worked after its last chunk.
    fn after_chunks(&self, act: impl FnOnce() + Send) -> After {
        self.stamps.clear();
        self.threads.install(|| {
            // Where the other thread gets no chunk at all, all that it takes counts.
            let start: Vec<Duration> = rayon::broadcast(|_| now());
            act();
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
