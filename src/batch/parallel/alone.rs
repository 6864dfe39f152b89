//! The chunks that the calling thread runs alone, as `update` does: all chunks, or the first chunks, until their time shows that
//! several threads are worth it for the others. The results are the same in both cases.

use std::mem;
use std::time::{Duration, Instant};

use super::Workers;
use super::chunks::{Calls, Extent, run_chunk, start_of};
use crate::batch::chunk::pass::Pass;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, PassPart};
use crate::batch::rows::store::Store;
use crate::owner::Owner;

/// Several threads are used if they are expected to save more than this: waking them and waiting for them takes some ten
/// microseconds, and then one thread reads what another has written about each chunk. Debug builds use several threads as soon
/// as they can, so that tests cover one thread and several.
const COST: Cost = if cfg!(debug_assertions) { Cost::NOTHING } else { Cost { once: 75e-6, per_chunk: 300e-9 } };

/// The cost of several threads, in seconds.
struct Cost {
    once: f64,
    per_chunk: f64,
}

impl Cost {
    const NOTHING: Self = Self { once: 0.0, per_chunk: 0.0 };
}

/// At least this many rows are timed together. A batch that has at most twice as many is not timed.
const LEAST_ROWS: usize = if cfg!(debug_assertions) { 1 } else { CHUNK / 4 };

/// Measures how fast one thread runs the chunks of a tick.
pub(super) struct Pace {
    threads: usize,
    left: Extent,
    /// The rows that are being timed, and since when. `None` if nothing is timed, because several threads cannot be worth it.
    timed: Option<(usize, Instant)>,
    /// The average seconds for a row: for the rows that were timed last, or for the rows of the previous tick.
    per_row: Option<f64>,
    /// The rows of this tick that have been timed, and the time that threads have taken for them.
    all: (usize, Duration),
}

impl Pace {
    /// Begins a tick. `before` is the average of the previous tick.
    pub(super) fn new(left: Extent, before: Option<f64>) -> Self {
        let threads = if left.rows > 2 * LEAST_ROWS { rayon::current_num_threads() } else { 1 };
        let timed = (threads > 1).then(|| (0, Instant::now()));
        Self { threads, left, timed, per_row: before, all: (0, Duration::ZERO) }
    }

    fn is_worth_threads(&self) -> bool {
        self.per_row.is_some_and(|per_row| saves(&COST, self.threads, per_row, self.left))
    }

    /// Notes that the calling thread has run a chunk of `rows` rows.
    fn advance(&mut self, rows: usize) {
        self.left = Extent { rows: self.left.rows - rows, chunks: self.left.chunks - 1 };
        let Some((timed, since)) = &mut self.timed else { return };
        *timed += rows;
        if *timed >= LEAST_ROWS {
            let now = Instant::now();
            let (rows, time) = (mem::take(timed), now - mem::replace(since, now));
            self.per_row = Some(average(rows, time));
            self.add(rows, time);
        }
    }

    fn add(&mut self, rows: usize, time: Duration) {
        self.all = (self.all.0 + rows, self.all.1 + time);
    }

    /// Ends the tick. Several threads have taken `time` together for the rows that were left. Returns the average time of a row
    /// in seconds, if any row was timed.
    pub(super) fn end(mut self, time: Duration) -> Option<f64> {
        if !time.is_zero() {
            self.add(self.left.rows, time);
        }
        let (rows, time) = self.all;
        (rows > 0).then(|| average(rows, time))
    }
}

/// Returns whether several threads save more than they cost, if one thread takes `per_row` seconds for each row that is left.
#[expect(clippy::cast_precision_loss, reason = "a batch has fewer than 2^32 rows")]
fn saves(cost: &Cost, threads: usize, per_row: f64, left: Extent) -> bool {
    let saved = per_row * left.rows as f64 * (1.0 - 1.0 / threads as f64);
    threads > 1 && left.rows > 0 && saved >= cost.once + cost.per_chunk * left.chunks as f64
}

#[expect(clippy::cast_precision_loss, reason = "a batch has fewer than 2^32 rows")]
fn average(rows: usize, time: Duration) -> f64 {
    time.as_secs_f64() / rows as f64
}

/// The chunks that the calling thread has run alone.
#[derive(Default)]
pub(super) struct Alone {
    /// The number of these chunks. They are the first chunks of the tick.
    pub(super) chunks: usize,
    /// Whether a chunk's outcome has been kept for the end of the tick.
    pub(super) has_kept: bool,
    /// How many owners have handled a message.
    pub(super) handled: usize,
}

/// Runs chunks until several threads are worth it for the others. Appends the contexts.
///
/// If all changes of a chunk have been made in bulk, its outcome is taken up at once, because no callback can see this. Other
/// outcomes are kept, as on several threads, because they may contain new states.
pub(super) fn run_alone<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c>>(
    calls: &Calls<'_, T::Context<'c>, R, M>,
    store: &mut Store<T>,
    pass: &mut Pass<T>,
    workers: &mut Workers<T>,
    pace: &mut Pace,
    contexts: &mut Vec<T::Context<'c>>,
) -> Alone
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>),
{
    let Workers { extents, ticked, .. } = workers;
    let mut alone = Alone::default();
    for nth in 0..extents.len() - 1 {
        let bucket = store.states.order()[nth];
        for chunk in 0..extents[nth + 1].chunks - extents[nth].chunks {
            if pace.is_worth_threads() {
                return alone;
            }
            let columns = &store.buckets[bucket as usize];
            let start = start_of(columns, chunk);
            let end = if start < columns.asleep { columns.asleep } else { columns.len() };
            let (number, len) = (alone.chunks, CHUNK.min(end - start));
            let mut chunk = store.chunk(bucket, start, len, PassPart::ALL);
            run_chunk(calls, number, pass, &mut chunk, contexts);
            let outcome = &mut pass.outcome;
            if outcome.has_only_movers() {
                alone.handled += mem::take(&mut outcome.handled);
                store.take_up(bucket, start, outcome);
            } else {
                alone.has_kept = true;
                ticked[number].keep(outcome, &chunk.rows);
            }
            alone.chunks += 1;
            pace.advance(len);
        }
        if !alone.has_kept {
            store.move_marked(bucket);
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_threads_are_used_if_they_save_more_than_they_cost() {
        let cost = Cost { once: 75e-6, per_chunk: 300e-9 };
        let saves = |threads, nanoseconds: f64, rows, chunks| {
            saves(&cost, threads, nanoseconds * 1e-9, Extent { rows, chunks })
        };
        assert!(saves(2, 16.0, 10_000, 5), "80 us");
        assert!(!saves(2, 15.0, 10_000, 5), "75 us");
        assert!(!saves(2, 16.0, 10_000, 50), "80 us, less than 75 us and 15 us for the chunks");
        assert!(saves(8, 14.0, 10_000, 5), "122 us");
        assert!(!saves(1, 1000.0, 1_000_000, 500), "there is no other thread");
        assert!(!saves(2, 1000.0, 100, 1), "too few rows are left");
    }

    #[test]
    fn several_threads_that_cost_nothing_are_used_while_rows_are_left() {
        assert!(saves(&Cost::NOTHING, 2, 0.0, Extent { rows: 1, chunks: 1 }));
        assert!(!saves(&Cost::NOTHING, 2, 0.0, Extent::default()));
    }

    #[test]
    fn the_pace_is_the_average_of_all_rows_that_were_timed() {
        let left = Extent { rows: 4000, chunks: 4 };
        let mut pace = Pace::new(left, Some(1.0));
        pace.add(1000, Duration::from_millis(10));
        assert_eq!(pace.end(Duration::ZERO), Some(1e-5));
        let mut pace = Pace::new(left, None);
        pace.add(1000, Duration::from_millis(10));
        pace.left.rows = 3000;
        assert_eq!(pace.end(Duration::from_millis(70)), Some(2e-5));
        assert_eq!(Pace::new(left, Some(1.0)).end(Duration::ZERO), None);
    }
}
