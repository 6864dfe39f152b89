//! The chunks of a parallel tick, each updated with its changes by some thread; or offered a message.

use std::sync::{Mutex, PoisonError};

use crate::batch::chunk::pass::Pass;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::chunk::{Chunk, Global, PassPart};
use crate::batch::rows::columns::{Columns, NotedColumns};
use crate::batch::rows::outcome::ChunkOutcome;
use crate::batch::rows::range::{Rows, SharedByRows};
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::Mover;

/// Up to how many owners one thread updates without asking others to help, if they are in several buckets.
const FEW_ROWS: usize = CHUNK / 2;

/// The outcome of a chunk's part in a tick, and what follows for the threads that move its owners.
pub(super) struct Ticked<T: Owner> {
    pub(super) outcome: ChunkOutcome<T>,
    /// How many movers leave the bucket.
    pub(super) leavers: usize,
    /// Whether some movers come back to the bucket that they are in.
    pub(super) has_returning: bool,
    /// Where they go, if all owners of the chunk leave together.
    pub(super) target_of_all: Option<u32>,
    /// Whether more is to be moved than rows.
    pub(super) is_intricate: bool,
}

/// The movers of a chunk whose rows several threads move together, without the rest of its outcome.
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
        Self {
            outcome: ChunkOutcome::new(),
            leavers: 0,
            has_returning: false,
            target_of_all: None,
            is_intricate: false,
        }
    }

    fn count(&mut self, rows: &Rows<'_, T>, has_sleepers: bool) {
        let (bucket, tags) = (rows.bucket, rows.tags());
        let movers = &self.outcome.movers;
        self.leavers = movers.iter().filter(|mover| mover.target() != bucket).count();
        self.has_returning = self.leavers < movers.len();
        let first = movers.first().map(|mover| mover.target()).filter(|_| self.leavers == tags.len());
        self.target_of_all = first.filter(|first| movers.iter().all(|mover| mover.target() == *first));
        let has_more = |mover: &Mover| tags[mover.slot()].has_more();
        self.is_intricate = !self.outcome.changed.is_empty() || has_sleepers && !movers.is_empty();
        self.is_intricate |= rows.have_more() && movers.iter().any(has_more);
        // Nor do threads move the times of the states around one.
        self.is_intricate |= movers.iter().any(|mover| rows.is_nested(*mover));
        let individuals = self.outcome.individuals.by_slot();
        self.is_intricate |= individuals.iter().any(|individual| individual.is_touched);
    }
}

/// How much there is in the buckets before one.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) chunks: usize,
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
    /// One for each bucket, in the order of the states, and one behind the last.
    pub(super) extents: &'a [Extent],
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
    /// Into how many chunks they are divided. The owners that are awake are divided by themselves.
    pub(super) fn chunks(self, asleep: usize) -> usize {
        if self == Self::AreLeftOut { 0 } else { asleep.div_ceil(CHUNK) }
    }

    /// How much of a bucket takes part.
    pub(super) fn extent<T: Owner>(self, columns: &Columns<T>) -> Extent {
        let awake = columns.len() - columns.asleep;
        let asleep = if self == Self::AreLeftOut { 0 } else { columns.asleep };
        Extent { rows: awake + asleep, chunks: awake.div_ceil(CHUNK) + self.chunks(asleep) }
    }

    /// The row at which a chunk begins.
    pub(super) fn start(self, chunk: usize, asleep: usize) -> usize {
        match chunk.checked_sub(self.chunks(asleep)) {
            Some(chunk) => asleep + chunk * CHUNK,
            None => chunk * CHUNK,
        }
    }
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
    noted: NotedColumns<'a>,
    ticked: &'a mut [Ticked<T>],
}

impl<T: Owner> Chunks<'_, T> {
    /// Splits them before a chunk, which begins `rows` behind the first.
    fn split_at(self, chunk: usize, rows: usize) -> (Self, Self) {
        let Self { bucket, start, number, owners, seats, noted, ticked } = self;
        let (ticked, other_ticked) = ticked.split_at_mut(chunk);
        let (owners, other_owners) = owners.split_at_mut(rows);
        let (seats, other_seats) = seats.split_at_mut(rows.min(seats.len()));
        let first = Self { bucket, start, number: number + other_ticked.len(), owners, seats, noted, ticked };
        let start = start + rows;
        (first, Self { bucket, start, number, owners: other_owners, seats: other_seats, noted, ticked: other_ticked })
    }
}

impl<'c, T: Owner, R, M: Fn(usize) -> T::Context<'c> + Sync> Ticks<'_, T, T::Context<'c>, R, M>
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
        let bucket = self.shared.states.order()[nth];
        if ticked.is_empty() {
            return Vec::new();
        }
        let number = self.extents[nth].chunks;
        let (owners, seats, noted) = columns.split();
        let all = Chunks { bucket, start: 0, number, owners, seats, noted, ticked };
        let (asleep, awake) = all.split_at(self.sleepers.chunks(noted.asleep), noted.asleep);
        self.join(awake, asleep)
    }

    /// Runs chunks, and then the chunks that come after them, which lie before them.
    fn join(&self, last: Chunks<'_, T>, first: Chunks<'_, T>) -> Vec<T::Context<'c>> {
        match (last.ticked.is_empty(), first.ticked.is_empty()) {
            (true, true) => Vec::new(),
            (true, false) => self.run_chunks(first),
            (false, true) => self.run_chunks(last),
            (false, false) => {
                let (mut contexts, mut others) = rayon::join(|| self.run_chunks(last), || self.run_chunks(first));
                contexts.append(&mut others);
                contexts
            }
        }
    }

    fn run_chunks(&self, chunks: Chunks<'_, T>) -> Vec<T::Context<'c>> {
        if chunks.ticked.len() > 1 {
            let middle = chunks.ticked.len() / 2;
            let (first, last) = chunks.split_at(middle, middle * CHUNK);
            return self.join(last, first);
        }
        let Chunks { bucket, start, number, owners, seats, noted, ticked } = chunks;
        let Some(ticked) = ticked.first_mut() else { return Vec::new() };
        let range = start..start + owners.len();
        let rows = Rows::new(noted, range.clone(), bucket, self.shared);
        let due = noted.due_in(&range);
        if rows.is_asleep && due.is_empty() && self.sleepers == Sleepers::TakePartIfDue {
            ticked.count(&rows, true);
            return Vec::new();
        }
        let chunk = Chunk { owners, seats, rows, due, start, global: self.global, part: PassPart::ALL };
        self.run_chunk(number, chunk, noted.asleep > 0, ticked)
    }

    fn run_chunk(
        &self,
        number: usize,
        mut chunk: Chunk<'_, T>,
        has_sleepers: bool,
        ticked: &mut Ticked<T>,
    ) -> Vec<T::Context<'c>> {
        let outcome = &mut ticked.outcome;
        let made = if number == 0 { self.first.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let context = made.or_else(|| outcome.panic.catch(|| (self.make)(number))).map(|mut cx| {
            with_idle(self.idle, |pass| {
                std::mem::swap(&mut pass.outcome, outcome);
                (self.act)(pass, &mut chunk, &mut cx);
                std::mem::swap(&mut pass.outcome, outcome);
            });
            cx
        });
        ticked.count(&chunk.rows, has_sleepers);
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
