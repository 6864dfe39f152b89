//! The chunks of a parallel tick, each updated with its changes by some thread; or offered a message.

use std::sync::{Mutex, PoisonError};

use super::super::columns::{Columns, Tag, Times};
use super::super::outcome::Outcome;
use super::super::pass::{Chunk, Global, Part, Pass};
use super::super::rows::{Extras, Rows};
use super::super::slots::CHUNK;
use super::super::states::States;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::state::Mover;

/// Up to how many owners one thread updates without asking others to help, if they are in several buckets.
const FEW_ROWS: usize = CHUNK / 2;

/// What a chunk's part in a tick has come to, and what that means for those who move its owners.
pub(super) struct Ticked<T: Owner> {
    pub(super) outcome: Outcome<T>,
    /// How many movers leave the bucket.
    pub(super) leavers: usize,
    /// Whether some movers come back to the bucket that they are in.
    pub(super) has_returning: bool,
    /// Where they go, if all owners of the chunk leave together.
    pub(super) target_of_all: Option<u32>,
    /// Whether more is to be moved than rows.
    pub(super) is_intricate: bool,
}

/// The movers of a chunk whose rows are moved by threads together, without what else its tick has come to.
#[derive(Default)]
pub(super) struct ChunkMovers {
    pub(super) list: Vec<Mover>,
    pub(super) moved_at: f64,
    pub(super) leavers: usize,
    pub(super) has_returning: bool,
    pub(super) target_of_all: Option<u32>,
}

impl ChunkMovers {
    /// Exchanges the list with the one of the chunk.
    pub(super) fn exchange<T: Owner>(&mut self, ticked: &mut Ticked<T>) {
        std::mem::swap(&mut self.list, &mut ticked.outcome.movers);
        self.moved_at = ticked.outcome.moved_at;
        self.leavers = ticked.leavers;
        self.has_returning = ticked.has_returning;
        self.target_of_all = ticked.target_of_all;
    }
}

impl<T: Owner> Ticked<T> {
    pub(super) const fn new() -> Self {
        Self { outcome: Outcome::new(), leavers: 0, has_returning: false, target_of_all: None, is_intricate: false }
    }

    fn count(&mut self, bucket: u32, tags: &[Tag], has_extras: bool) {
        let movers = &self.outcome.movers;
        self.leavers = movers.iter().filter(|mover| mover.target() != bucket).count();
        self.has_returning = self.leavers < movers.len();
        let first = movers.first().map(|mover| mover.target()).filter(|_| self.leavers == tags.len());
        self.target_of_all = first.filter(|first| movers.iter().all(|mover| mover.target() == *first));
        let has_extra = |mover: &Mover| tags[mover.slot()].previous().is_none();
        self.is_intricate = !self.outcome.changed.is_empty() || has_extras && movers.iter().any(has_extra);
        let individuals = self.outcome.individuals.by_slot();
        self.is_intricate |= individuals.iter().any(|individual| individual.is_touched && !individual.is_mover);
    }
}

/// How much there is in the buckets before one.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) chunks: usize,
}

/// What all chunks share.
pub(super) struct Ticks<'a, T: Owner, R, M> {
    /// What is done with each chunk.
    pub(super) act: &'a R,
    pub(super) make: &'a M,
    /// The passes that no thread is using.
    pub(super) idle: &'a Mutex<Vec<Pass<T>>>,
    pub(super) states: &'a States<T>,
    pub(super) extras: &'a Extras<T>,
    pub(super) global: &'a Global<T>,
    /// One for each bucket, in the order of the states, and one behind the last.
    pub(super) extents: &'a [Extent],
}

/// Consecutive chunks of one bucket.
struct Chunks<'a, T: Owner> {
    bucket: u32,
    /// The row at which the first of them begins.
    start: usize,
    /// The number of the last of them in the tick, where they come from the last to the first.
    number: usize,
    owners: &'a mut [T],
    /// In a bucket of owned states, each owner's; elsewhere empty.
    seats: &'a mut [Seat<T>],
    noted: (&'a [Tag], &'a Times),
    ticked: &'a mut [Ticked<T>],
}

impl<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c> + Sync> Ticks<'_, T, R, M>
where
    R: Fn(&mut Pass<T>, &mut Chunk<'_, T>, &mut T::Context<'c>) + Sync,
    T: Send,
    T::Message: Send,
    T::Context<'c>: Send,
{
    /// Runs the chunks of some buckets, of which the first is the `first`-th of the order. Returns their contexts, in order.
    pub(super) fn run(
        &self,
        first: usize,
        buckets: &mut [Columns<T>],
        ticked: &mut [Ticked<T>],
    ) -> Vec<T::Context<'c>> {
        let extents = &self.extents[first..=first + buckets.len()];
        let rows = extents[buckets.len()].rows - extents[0].rows;
        if rows == 0 {
            return Vec::new();
        }
        if buckets.len() == 1 {
            return self.run_bucket(first, &mut buckets[0], ticked);
        }
        if rows <= FEW_ROWS {
            let mut contexts = Vec::new();
            let mut rest = ticked;
            for (nth, columns) in (first..).zip(buckets) {
                let (ticked, behind) = rest.split_at_mut(self.chunks(nth));
                rest = behind;
                contexts.append(&mut self.run_bucket(nth, columns, ticked));
            }
            return contexts;
        }
        let half = extents[0].rows + rows / 2;
        let middle = extents[1..buckets.len()].partition_point(|extent| extent.rows <= half).max(1);
        let (left, right) = buckets.split_at_mut(middle);
        let (left_ticked, right_ticked) = ticked.split_at_mut(extents[middle].chunks - extents[0].chunks);
        let (mut contexts, mut others) =
            rayon::join(|| self.run(first, left, left_ticked), || self.run(first + middle, right, right_ticked));
        contexts.append(&mut others);
        contexts
    }

    fn chunks(&self, nth: usize) -> usize {
        self.extents[nth + 1].chunks - self.extents[nth].chunks
    }

    fn run_bucket(&self, nth: usize, columns: &mut Columns<T>, ticked: &mut [Ticked<T>]) -> Vec<T::Context<'c>> {
        let Columns { owners, tags, times, seats } = columns;
        let bucket = self.states.order()[nth];
        if ticked.is_empty() {
            return Vec::new();
        }
        let number = self.extents[nth].chunks;
        self.run_chunks(Chunks { bucket, start: 0, number, owners, seats, noted: (tags, times), ticked })
    }

    fn run_chunks(&self, chunks: Chunks<'_, T>) -> Vec<T::Context<'c>> {
        let Chunks { bucket, start, number, owners, seats, noted, ticked } = chunks;
        if let [ticked] = ticked {
            let rows = Rows::new(noted, start..start + owners.len(), bucket, self.states, self.extras);
            return self.run_chunk(number, Chunk { owners, seats, rows, global: self.global, part: Part::ALL }, ticked);
        }
        let middle = ticked.len() / 2;
        let (left, right) = ticked.split_at_mut(middle);
        let (left_owners, right_owners) = owners.split_at_mut(middle * CHUNK);
        let (left_seats, right_seats) = seats.split_at_mut(seats.len().min(middle * CHUNK));
        let behind = right.len();
        let part =
            |start, number, owners, seats, ticked| Chunks { bucket, start, number, owners, seats, noted, ticked };
        let last = part(start + middle * CHUNK, number, right_owners, right_seats, right);
        let first = part(start, number + behind, left_owners, left_seats, left);
        let (mut contexts, mut others) = rayon::join(|| self.run_chunks(last), || self.run_chunks(first));
        contexts.append(&mut others);
        contexts
    }

    fn run_chunk(&self, number: usize, mut chunk: Chunk<'_, T>, ticked: &mut Ticked<T>) -> Vec<T::Context<'c>> {
        let outcome = &mut ticked.outcome;
        let context = outcome.panic.catch(|| (self.make)(number)).map(|mut cx| {
            with_idle(self.idle, |pass| {
                std::mem::swap(&mut pass.outcome, outcome);
                (self.act)(pass, &mut chunk, &mut cx);
                std::mem::swap(&mut pass.outcome, outcome);
            });
            cx
        });
        ticked.count(chunk.rows.bucket, chunk.rows.tags(), !self.extras.is_empty());
        Vec::from_iter(context)
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
