//! The chunks that the calling thread runs alone, as `update` does: all of them, or the first ones, whose time shows that
//! several threads are worth it for the others. The results are the same in both cases.

use std::mem;
use std::time::{Duration, Instant};

use super::Workers;
use super::chunks::{Calls, Sleepers, start_of};
use crate::batch::chunk::pass::Pass;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, PassPart};
use crate::batch::rows::store::Store;
use crate::owner::Owner;

/// Several threads are used if they are expected to save this much: waking them and waiting for them takes some ten
/// microseconds. Debug builds use them as soon as they can, so that tests cover one thread and several.
const WORTH: Duration = Duration::from_micros(if cfg!(debug_assertions) { 0 } else { 50 });

/// At least this many rows are timed together. A batch that has at most twice as many is not timed.
const LEAST_ROWS: usize = if cfg!(debug_assertions) { 1 } else { CHUNK / 4 };

/// How fast the calling thread runs the chunks of a tick.
struct Pace {
    /// The number of threads, and when the first of the timed rows was begun. `None` if rows are not timed, because several
    /// threads cannot be worth it.
    since: Option<(usize, Instant)>,
    rows: usize,
    rows_left: usize,
}

impl Pace {
    fn new(rows_left: usize) -> Self {
        let threads = if rows_left > 2 * LEAST_ROWS { rayon::current_num_threads() } else { 1 };
        Self { since: (threads > 1).then(|| (threads, Instant::now())), rows: 0, rows_left }
    }

    /// Notes that a chunk of `rows` rows has been run. Returns whether several threads are worth it for the rows that are left.
    fn is_worth_threads_after(&mut self, rows: usize) -> bool {
        self.rows += rows;
        self.rows_left -= rows;
        let Some((threads, since)) = self.since.filter(|_| self.rows >= LEAST_ROWS) else { return false };
        let now = Instant::now();
        let is_worth = is_worth_threads(threads, now - since, self.rows, self.rows_left);
        (self.since, self.rows) = (Some((threads, now)), 0);
        is_worth
    }
}

/// Returns whether several threads are worth it for the rows that are left, if one thread has run `rows` rows in `time`.
#[expect(clippy::cast_precision_loss, reason = "a batch has fewer rows than this loses")]
fn is_worth_threads(threads: usize, time: Duration, rows: usize, rows_left: usize) -> bool {
    let time_left = time.as_secs_f64() * rows_left as f64 / rows as f64;
    rows_left > 0 && time_left * (1.0 - 1.0 / threads as f64) >= WORTH.as_secs_f64()
}

/// The chunks that the calling thread has run alone.
#[derive(Default)]
pub(super) struct Alone {
    /// How many these are, from the first one on.
    pub(super) chunks: usize,
    /// Whether a chunk's outcome has been kept for the end of the tick, with those of all later chunks.
    pub(super) has_kept: bool,
    /// How many owners have handled a message.
    pub(super) handled: usize,
}

/// Runs chunks until several threads are worth it for the others. Appends the contexts.
///
/// The outcome of a chunk is taken up at once if all its changes have been made in bulk, because no callback can see this.
/// Other outcomes are kept, as on several threads: they may contain new states.
pub(super) fn run_alone<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c>>(
    calls: &Calls<'_, T::Context<'c>, R, M>,
    store: &mut Store<T>,
    pass: &mut Pass<T>,
    workers: &mut Workers<T>,
    contexts: &mut Vec<T::Context<'c>>,
) -> Alone
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>),
{
    let Workers { extents, ticked, .. } = workers;
    let mut alone = Alone::default();
    let mut pace = Pace::new(extents.last().map_or(0, |all| all.rows));
    for nth in 0..extents.len() - 1 {
        let bucket = store.states.order()[nth];
        for chunk in 0..extents[nth + 1].chunks - extents[nth].chunks {
            let columns = &store.buckets[bucket as usize];
            let start = start_of(columns, chunk);
            let end = if start < columns.asleep { columns.asleep } else { columns.len() };
            let (number, len) = (alone.chunks, CHUNK.min(end - start));
            let mut chunk = store.chunk(bucket, start, len, PassPart::ALL);
            if !calls.leaves_out(number, &chunk.rows) {
                if let Some(mut cx) = calls.context(number, &mut pass.outcome.panic) {
                    (calls.act)(pass, &mut chunk, &mut cx);
                    contexts.push(cx);
                }
                let outcome = &mut pass.outcome;
                if outcome.has_only_movers() {
                    alone.handled += mem::take(&mut outcome.handled);
                    store.take_up(bucket, start, outcome);
                } else {
                    alone.has_kept = true;
                    mem::swap(outcome, &mut ticked[number].outcome);
                    ticked[number].look_at_movers(&chunk.rows);
                }
            }
            alone.chunks += 1;
            if pace.is_worth_threads_after(len) {
                return alone;
            }
        }
        if !alone.has_kept {
            store.move_marked(bucket);
        }
    }
    alone
}
