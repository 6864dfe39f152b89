//! The chunks of a parallel tick. One thread runs the updates and the changes of a chunk, or offers a message to its owners.

use std::mem;
use std::sync::{Mutex, PoisonError};

use crate::batch::chunk::pass::Pass;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, ChunkOutcome, Global, PassPart};
use crate::batch::rows::columns::{Columns, NotedColumns, RowsMut, Tag};
use crate::batch::rows::gaps::mark_rows;
use crate::batch::rows::range::{Rows, SharedByRows};
use crate::owner::Owner;

/// Buckets that have at most this many rows together are run one after the other.
const FEW_ROWS: usize = CHUNK / 2;

/// The outcome of a chunk's part in a tick, with facts for the threads that move its owners.
#[expect(clippy::struct_excessive_bools, reason = "these are independent facts")]
pub(super) struct Ticked<T: Owner> {
    pub(super) outcome: ChunkOutcome<T>,
    /// Whether a mover may have data beside its row that its change makes obsolete.
    pub(super) have_more: bool,
    /// Whether a mover leaves or enters a nested state.
    pub(super) are_nested: bool,
    /// Whether the rows of the movers have been marked.
    pub(super) are_marked: bool,
    /// Whether there is an outcome.
    pub(super) has_outcome: bool,
}

impl<T: Owner> Ticked<T> {
    pub(super) const fn new() -> Self {
        let outcome = ChunkOutcome::new();
        Self { outcome, have_more: false, are_nested: false, are_marked: false, has_outcome: false }
    }

    /// Takes the outcome of a pass, and looks at the movers.
    pub(super) fn keep(&mut self, outcome: &mut ChunkOutcome<T>, rows: &Rows<'_, T>) {
        mem::swap(&mut self.outcome, outcome);
        let Rows { bucket, shared: SharedByRows { states, extras, timers, .. }, noted } = rows;
        let movers = &self.outcome.movers;
        self.have_more =
            !(extras.is_empty() && timers.is_empty()) && movers.iter().any(|mover| noted.tags[mover.slot()].has_more());
        self.are_nested = movers.iter().any(|mover| states.is_nested(*bucket) || states.is_nested(mover.target()));
        self.has_outcome = true;
    }

    /// Empties the outcome at the end of a tick. Returns how many owners have handled a message.
    pub(super) fn clear(&mut self, panic: &mut FirstPanic) -> usize {
        let Self { outcome, .. } = self;
        outcome.movers.clear();
        panic.keep_other(&mut outcome.panic);
        // There may be as many `individuals` as owners, which is too much memory to keep.
        outcome.give_back();
        (self.are_marked, self.has_outcome) = (false, false);
        mem::take(&mut self.outcome.handled)
    }

    /// Marks the rows of the movers while these rows are in the cache, if the movers have no other data to move or to remove.
    fn mark(&mut self, bucket: u32, tags: &mut [Tag], times: &mut [f64]) {
        let ChunkOutcome { movers, moved_at, .. } = &self.outcome;
        // If times are kept from this tick on, all rows must get their times first.
        let has_times = !times.is_empty() || *moved_at == 0.0;
        self.are_marked = has_times && !self.have_more && !self.are_nested;
        if self.are_marked {
            mark_rows(bucket, tags, times, movers, *moved_at);
        }
    }
}

/// A number of rows and chunks: of one bucket, or of all buckets before a bucket.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) chunks: usize,
}

/// The functions that are called for the chunks of a tick.
pub(super) struct Calls<'a, C, R, M> {
    /// The function that is called for each chunk.
    pub(super) act: &'a R,
    /// The function that creates the context of a chunk from the chunk's number in the tick.
    pub(super) make: &'a M,
    /// The context of the first chunk, if it has already been created.
    pub(super) first: Mutex<Option<C>>,
    pub(super) sleepers: Sleepers,
}

impl<C, R, M: Fn(usize) -> C> Calls<'_, C, R, M> {
    /// Returns the context of a chunk, or `None` if it cannot be created.
    fn context(&self, number: usize, panic: &mut FirstPanic) -> Option<C> {
        let first = if number == 0 { self.first.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        first.or_else(|| panic.catch(|| (self.make)(number)))
    }

    /// Returns whether a chunk is left out because its owners sleep. The first chunk is never left out, because the due changes
    /// have been made with its context.
    fn leaves_out<T: Owner>(&self, number: usize, rows: &Rows<'_, T>) -> bool {
        self.sleepers == Sleepers::TakePartIfDue && number > 0 && rows.are_asleep() && rows.noted.due.is_empty()
    }
}

/// Calls the functions for a chunk, unless it is left out. Appends its context.
pub(super) fn run_chunk<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c>>(
    calls: &Calls<'_, T::Context<'c>, R, M>,
    number: usize,
    pass: &mut Pass<T>,
    chunk: &mut Chunk<'_, T>,
    contexts: &mut Vec<T::Context<'c>>,
) where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>),
{
    if calls.leaves_out(number, &chunk.rows) {
        return;
    }
    if let Some(mut cx) = calls.context(number, &mut pass.outcome.panic) {
        (calls.act)(pass, chunk, &mut cx);
        contexts.push(cx);
    }
}

/// The data that all chunks share.
pub(super) struct Ticks<'a, T: Owner, C, R, M> {
    pub(super) calls: &'a Calls<'a, C, R, M>,
    /// The passes that no thread is using.
    pub(super) idle: &'a Mutex<Vec<Pass<T>>>,
    pub(super) shared: SharedByRows<'a, T>,
    pub(super) global: &'a Global<T>,
    /// The rows and chunks before each bucket, in the order of the states. The last entry has the rows and chunks of all buckets.
    pub(super) extents: &'a [Extent],
}

/// Whether sleeping owners take part.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sleepers {
    TakePart,
    /// Sleeping owners take part only in chunks in which something is due for one of them.
    TakePartIfDue,
    AreLeftOut,
}

impl Sleepers {
    /// Returns how many rows and chunks of a bucket take part. Sleeping owners have chunks of their own.
    pub(super) fn extent<T: Owner>(self, columns: &Columns<T>) -> Extent {
        let awake = columns.len() - columns.asleep;
        let asleep = if self == Self::AreLeftOut { 0 } else { columns.asleep };
        Extent { rows: awake + asleep, chunks: awake.div_ceil(CHUNK) + asleep.div_ceil(CHUNK) }
    }
}

/// Returns the slot at which a chunk of a bucket begins. The chunks of awake owners are counted first, although the rows of
/// sleeping owners come first.
pub(super) fn start_of<T: Owner>(columns: &Columns<T>, chunk: usize) -> usize {
    let awake = (columns.len() - columns.asleep).div_ceil(CHUNK);
    chunk.checked_sub(awake).map_or(columns.asleep + chunk * CHUNK, |chunk| chunk * CHUNK)
}

/// Consecutive chunks of one bucket.
struct Chunks<'a, T: Owner> {
    bucket: u32,
    /// The number of the first of these chunks in the tick.
    number: usize,
    rows: RowsMut<'a, T>,
    /// The number of sleeping rows in the whole bucket.
    asleep: usize,
    revision: usize,
    due: &'a [u32],
    ticked: &'a mut [Ticked<T>],
}

impl<T: Owner> Chunks<'_, T> {
    /// Splits the chunks before the chunk with the index `chunk`, which begins at `slot`.
    fn split_at(self, chunk: usize, slot: usize) -> (Self, Self) {
        let (ticked, other_ticked) = self.ticked.split_at_mut(chunk);
        let (rows, other_rows) = self.rows.split_at(slot);
        let number = self.number + chunk;
        (Self { rows, ticked, ..self }, Self { number, rows: other_rows, ticked: other_ticked, ..self })
    }
}

impl<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c> + Sync> Ticks<'_, T, T::Context<'c>, R, M>
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>) + Sync,
    T: Send,
    T::Message: Send,
    T::Context<'c>: Send,
{
    /// Runs the chunks of `buckets` on several threads. The first bucket is at the position `first` in the order of the states.
    /// Appends the contexts of the chunks, in order.
    pub(super) fn run(
        &self,
        first: usize,
        buckets: &mut [Columns<T>],
        ticked: &mut [Ticked<T>],
        contexts: &mut Vec<T::Context<'c>>,
    ) {
        let (extent, end) = (self.extents[first], self.extents[first + buckets.len()]);
        let rows = end.rows - extent.rows;
        match buckets {
            _ if rows <= FEW_ROWS => self.with_idle(|pass| {
                let mut ticked = ticked;
                for (nth, columns) in (first..).zip(buckets) {
                    let (awake, asleep, others) = self.split(nth, columns, ticked);
                    ticked = others;
                    self.run_chunk(awake, pass, contexts);
                    self.run_chunk(asleep, pass, contexts);
                }
            }),
            [columns] => {
                let (awake, asleep, _) = self.split(first, columns, ticked);
                self.join(awake, asleep, contexts);
            }
            _ => {
                let half = extent.rows + rows / 2;
                let extents = &self.extents[first + 1..first + buckets.len()];
                let middle = extents.partition_point(|extent| extent.rows <= half).max(1);
                let (left, right) = buckets.split_at_mut(middle);
                let (of_left, of_right) = ticked.split_at_mut(extents[middle - 1].chunks - extent.chunks);
                let run_left = |contexts: &mut _| self.run(first, left, of_left, contexts);
                run_both(contexts, run_left, |contexts| self.run(first + middle, right, of_right, contexts));
            }
        }
    }

    /// Splits the chunks of a bucket into the chunks of awake owners and the chunks of sleeping owners. Also returns the rest of
    /// `ticked`.
    fn split<'b>(
        &self,
        nth: usize,
        columns: &'b mut Columns<T>,
        ticked: &'b mut [Ticked<T>],
    ) -> (Chunks<'b, T>, Chunks<'b, T>, &'b mut [Ticked<T>]) {
        let (bucket, extent) = (self.shared.states.order()[nth], self.extents[nth]);
        let (asleep, revision) = (columns.asleep, columns.revision);
        let awake = (columns.len() - asleep).div_ceil(CHUNK);
        let (rows, due, _) = columns.rows_mut();
        // The chunks of awake owners come first in a tick, although the rows of sleeping owners come first.
        let (sleepers, rows) = rows.split_at(asleep);
        let (ticked, others) = ticked.split_at_mut(self.extents[nth + 1].chunks - extent.chunks);
        let (ticked, of_sleepers) = ticked.split_at_mut(awake);
        let awake = Chunks { bucket, number: extent.chunks, rows, asleep, revision, due, ticked };
        let number = awake.number + awake.ticked.len();
        (awake, Chunks { bucket, number, rows: sleepers, asleep, revision, due, ticked: of_sleepers }, others)
    }

    /// Runs the chunks in `first` and in `last`, on two threads if possible.
    fn join(&self, first: Chunks<'_, T>, last: Chunks<'_, T>, contexts: &mut Vec<T::Context<'c>>) {
        if first.ticked.is_empty() || last.ticked.is_empty() {
            self.run_chunks(first, contexts);
            self.run_chunks(last, contexts);
        } else {
            run_both(contexts, |all| self.run_chunks(first, all), |all| self.run_chunks(last, all));
        }
    }

    fn run_chunks(&self, chunks: Chunks<'_, T>, contexts: &mut Vec<T::Context<'c>>) {
        if chunks.ticked.len() > 1 {
            let middle = chunks.ticked.len() / 2;
            let slot = chunks.rows.first + middle * CHUNK;
            let (first, last) = chunks.split_at(middle, slot);
            return self.join(first, last, contexts);
        }
        self.with_idle(|pass| self.run_chunk(chunks, pass, contexts));
    }

    /// Runs the only chunk in `chunks`, if there is one.
    fn run_chunk(&self, chunks: Chunks<'_, T>, pass: &mut Pass<T>, contexts: &mut Vec<T::Context<'c>>) {
        let Chunks { bucket, number, rows, asleep, revision, due, ticked } = chunks;
        let Some(ticked) = ticked.first_mut() else { return };
        let RowsMut { first, owners, tags, current, ancestors, depth, seats } = rows;
        let noted = NotedColumns { first, tags, current, ancestors, depth, asleep, revision, due };
        let noted = noted.narrow(&(first..first + owners.len()));
        let rows = Rows { bucket, shared: self.shared, noted };
        let mut chunk = Chunk { owners, seats, rows, global: self.global, part: PassPart::ALL };
        run_chunk(self.calls, number, pass, &mut chunk, contexts);
        if !pass.outcome.is_empty() {
            ticked.keep(&mut pass.outcome, &chunk.rows);
            ticked.mark(bucket, tags, current);
        }
    }

    /// Calls `act` with a pass that no thread is using. One pass for each thread is not enough: while a callback waits for rayon,
    /// its thread may run another chunk.
    fn with_idle(&self, act: impl FnOnce(&mut Pass<T>)) {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pass = idle().pop().unwrap_or_else(Pass::new);
        act(&mut pass);
        idle().push(pass);
    }
}

/// Calls `left` and `right`, which append contexts, on two threads if possible.
fn run_both<C: Send>(
    contexts: &mut Vec<C>,
    left: impl FnOnce(&mut Vec<C>) + Send,
    right: impl FnOnce(&mut Vec<C>) + Send,
) {
    let mut others = Vec::new();
    rayon::join(|| left(contexts), || right(&mut others));
    contexts.append(&mut others);
}
