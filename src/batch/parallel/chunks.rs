//! The chunks of a parallel tick, each updated with its changes by some thread; or offered a message.

use std::sync::{Mutex, PoisonError};
use std::{iter, mem};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::batch::chunk::pass::Pass;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, ChunkOutcome, Global, PassPart};
use crate::batch::rows::columns::{Columns, NotedColumns, RowsMut, Tag};
use crate::batch::rows::gaps::mark_rows;
use crate::batch::rows::range::{Rows, SharedByRows};
use crate::owner::Owner;

/// Up to how many owners one thread updates without asking others to help.
const FEW_ROWS: usize = CHUNK / 2;

/// The outcome of a chunk's part in a tick, and what follows for the threads that move its owners.
pub(super) struct Ticked<T: Owner> {
    pub(super) outcome: ChunkOutcome<T>,
    /// Whether a mover may have more than its row.
    pub(super) have_more: bool,
    /// Whether a mover leaves a nested state or comes to one.
    pub(super) are_nested: bool,
    /// Whether the movers have been marked.
    pub(super) are_marked: bool,
}

impl<T: Owner> Ticked<T> {
    pub(super) const fn new() -> Self {
        Self { outcome: ChunkOutcome::new(), have_more: false, are_nested: false, are_marked: false }
    }

    fn look_at_movers(&mut self, rows: &Rows<'_, T>) {
        let Rows { bucket, shared: SharedByRows { states, extras, timers, .. }, noted } = rows;
        let movers = &self.outcome.movers;
        self.have_more =
            !(extras.is_empty() && timers.is_empty()) && movers.iter().any(|mover| noted.tags[mover.slot()].has_more());
        self.are_nested = movers.iter().any(|mover| states.is_nested(*bucket) || states.is_nested(mover.target()));
        self.are_marked = false;
    }

    /// Marks the movers while their rows are in the cache, if that is all that there is to do with them.
    fn mark(&mut self, bucket: u32, tags: &mut [Tag], times: &mut [f64]) {
        let ChunkOutcome { movers, moved_at, .. } = &self.outcome;
        // A clock that begins in this tick gives all rows their times first.
        let has_times = !times.is_empty() || *moved_at == 0.0;
        self.are_marked = has_times && !self.have_more && !self.are_nested;
        if self.are_marked {
            mark_rows(bucket, tags, times, movers, *moved_at);
        }
    }
}

/// What all chunks share.
pub(super) struct Ticks<'a, T: Owner, C, R, M> {
    /// What is done with each chunk.
    pub(super) act: &'a R,
    pub(super) make: &'a M,
    /// The passes that no thread is using.
    pub(super) idle: &'a Mutex<Vec<Pass<T>>>,
    pub(super) shared: SharedByRows<'a, T>,
    pub(super) global: &'a Global<T>,
    pub(super) sleepers: Sleepers,
    /// The context of the first chunk, where it has been needed before.
    pub(super) first: Mutex<Option<C>>,
}

/// Whether sleeping owners take part.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sleepers {
    TakePart,
    /// Where something is due for one of them.
    TakePartIfDue,
    AreLeftOut,
}

impl Sleepers {
    /// How many chunks of a bucket take part. The owners that are asleep are divided into chunks by themselves.
    pub(super) fn chunks<T: Owner>(self, columns: &Columns<T>) -> usize {
        let asleep = if self == Self::AreLeftOut { 0 } else { columns.asleep };
        (columns.len() - columns.asleep).div_ceil(CHUNK) + asleep.div_ceil(CHUNK)
    }
}

/// The row at which a chunk of a bucket begins. The chunks of the owners that are awake come first.
pub(super) fn start_of<T: Owner>(columns: &Columns<T>, chunk: usize) -> usize {
    let awake = (columns.len() - columns.asleep).div_ceil(CHUNK);
    chunk.checked_sub(awake).map_or(columns.asleep + chunk * CHUNK, |chunk| chunk * CHUNK)
}

/// A chunk of a bucket that a thread is to update.
struct ChunkTask<'a, T: Owner> {
    bucket: u32,
    rows: RowsMut<'a, T>,
    /// Of all rows of the bucket.
    asleep: usize,
    revision: usize,
    due: &'a [u32],
    ticked: &'a mut Ticked<T>,
}

impl<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c> + Sync> Ticks<'_, T, T::Context<'c>, R, M>
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>) + Sync,
    T: Send,
    T::Message: Send,
    T::Context<'c>: Send,
{
    /// Runs the chunks of the buckets, which are in the order of the states. Returns their contexts, in order.
    pub(super) fn run(&self, buckets: &mut [Columns<T>], ticked: &mut [Ticked<T>]) -> Vec<T::Context<'c>> {
        let tasks = self.tasks(buckets, ticked);
        let rows: usize = tasks.iter().map(|task| task.rows.owners.len()).sum();
        let run = |(number, task)| self.run_one(number, task);
        let contexts: Vec<_> = if rows <= FEW_ROWS {
            tasks.into_iter().enumerate().map(run).collect()
        } else {
            tasks.into_par_iter().enumerate().map(run).collect()
        };
        contexts.into_iter().flatten().collect()
    }

    fn tasks<'b>(&self, buckets: &'b mut [Columns<T>], ticked: &'b mut [Ticked<T>]) -> Vec<ChunkTask<'b, T>> {
        let mut tasks = Vec::with_capacity(ticked.len());
        let mut ticked = ticked.iter_mut();
        for (columns, &bucket) in buckets.iter_mut().zip(self.shared.states.order()) {
            let (asleep, revision) = (columns.asleep, columns.revision);
            let (rows, due, _) = columns.rows_mut();
            let (sleepers, awake) = rows.split_at(asleep);
            let sleepers = Some(sleepers).filter(|_| self.sleepers != Sleepers::AreLeftOut);
            for mut rest in iter::once(awake).chain(sleepers) {
                while let Some(ticked) = if rest.owners.is_empty() { None } else { ticked.next() } {
                    let end = rest.first + rest.owners.len().min(CHUNK);
                    let (rows, behind) = rest.split_at(end);
                    rest = behind;
                    tasks.push(ChunkTask { bucket, rows, asleep, revision, due, ticked });
                }
            }
        }
        tasks
    }

    fn run_one(&self, number: usize, task: ChunkTask<'_, T>) -> Option<T::Context<'c>> {
        let ChunkTask { bucket, rows, asleep, revision, due, ticked } = task;
        let RowsMut { first, owners, tags, current, ancestors, depth, seats } = rows;
        let noted = NotedColumns { first, tags, current, ancestors, depth, asleep, revision, due };
        let noted = noted.narrow(&(first..first + owners.len()));
        let rows = Rows { bucket, shared: self.shared, noted };
        if rows.are_asleep() && noted.due.is_empty() && self.sleepers == Sleepers::TakePartIfDue {
            ticked.look_at_movers(&rows);
            return None;
        }
        let mut chunk = Chunk { owners, seats, rows, global: self.global, part: PassPart::ALL };
        let outcome = &mut ticked.outcome;
        let made = if number == 0 { self.first.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let mut context = made.or_else(|| outcome.panic.catch(|| (self.make)(number)));
        if let Some(cx) = &mut context {
            with_idle(self.idle, |pass| {
                mem::swap(&mut pass.outcome, outcome);
                (self.act)(pass, &mut chunk, cx);
                mem::swap(&mut pass.outcome, outcome);
            });
        }
        ticked.look_at_movers(&chunk.rows);
        ticked.mark(bucket, tags, current);
        context
    }
}

/// Lends `act` a pass. Not one for each thread: a callback may itself wait for rayon, and another chunk run meanwhile.
fn with_idle<T: Owner, R>(idle: &Mutex<Vec<Pass<T>>>, act: impl FnOnce(&mut Pass<T>) -> R) -> R {
    let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let mut pass = idle().pop().unwrap_or_else(Pass::new);
    let result = act(&mut pass);
    idle().push(pass);
    result
}
