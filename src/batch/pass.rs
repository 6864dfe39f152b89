//! One chunk's part in a tick: its updates, then the changes they asked for (rules 19, 20, 22).
//!
//! What nearly all owners ask for, one change between flat states, is done for all of them at once, a step at a time. An
//! owner that anything else happens to finishes its tick alone, on a seat, by the very code that a machine runs.

use std::any::Any;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use slotmap::{DefaultKey, Key as _};

use super::changes::{Grouping, ManyChanges};
use super::columns::RowSlice;
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::slice::{Book, FsmSlice, Mover, Row, Rows, Seated};
use crate::state::StateRef;

/// How many owners are updated before their changes are made: enough to pay for the virtual calls, few enough that an owner
/// is still in the cache when it changes.
pub(super) const CHUNK: usize = 2048;

/// Some consecutive rows of a bucket.
pub(super) struct Chunk<'a, T: Owner> {
    pub(super) owners: &'a mut [T],
    pub(super) rows: RowSlice<'a, T>,
    /// `StateRef::NONE` when there is none.
    pub(super) global: &'a StateRef<T>,
    pub(super) part: Part,
}

/// The owners that a pass is for: the `k`-th of `n` parts.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) k: u32,
    pub(super) n: u32,
}

impl Part {
    pub(super) const ALL: Self = Self { k: 0, n: 1 };

    /// The parts are by key, so that an owner stays in its own wherever it moves.
    fn has(self, key: DefaultKey) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half of a key is its index")]
        let index = key.data().as_ffi() as u32;
        index % self.n == self.k
    }
}

/// What a chunk's tick comes to.
pub(super) struct Upshot<T: Owner> {
    /// The owners that have changed in bulk, by ascending slot.
    pub(super) movers: Vec<Mover>,
    /// When they did, in seconds.
    pub(super) moved_at: f64,
    /// The owners that finished their tick on a seat.
    pub(super) seated: Vec<Seated<T>>,
    /// The first panic.
    pub(super) fault: Option<Fault>,
    /// Seats that nobody is on, for the next.
    pub(super) spare: Vec<Seat<T>>,
}

/// What a callback has panicked with. Behind a lock, though never shared, so that threads may share a batch.
pub(super) struct Fault(Mutex<Box<dyn Any + Send>>);

impl Fault {
    pub(super) fn new(panic: Box<dyn Any + Send>) -> Self {
        Self(Mutex::new(panic))
    }

    pub(super) fn resume(self) -> ! {
        resume_unwind(self.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Owner> Upshot<T> {
    /// Whether nothing has come of it.
    pub(super) fn is_empty(&self) -> bool {
        self.movers.is_empty() && self.seated.is_empty() && self.fault.is_none()
    }

    fn spare_seat(&mut self) -> Seat<T> {
        self.spare.pop().unwrap_or_else(Seat::empty)
    }

    pub(super) fn new() -> Self {
        Self { movers: Vec::new(), moved_at: 0.0, seated: Vec::new(), fault: None, spare: Vec::new() }
    }
}

/// What passing over a chunk needs, kept from one to the next so that nothing is allocated.
pub(super) struct Pass<T: Owner> {
    book: Book<T>,
    /// The seat that the chunk's owners share.
    shared: Seat<T>,
    /// The seat that owners of owned states have one after the other.
    single: Seat<T>,
    grouping: Grouping,
    /// The slots, ascending, that have finished their tick.
    finished: Vec<u32>,
    pub(super) upshot: Upshot<T>,
}

impl<T: Owner> Pass<T> {
    pub(super) fn new() -> Self {
        Self {
            book: Book::new(),
            shared: Seat::empty(),
            single: Seat::empty(),
            grouping: Grouping::new(),
            finished: Vec::new(),
            upshot: Upshot::new(),
        }
    }

    /// As [`run`](Self::run), with an upshot that is kept elsewhere.
    #[cfg(feature = "parallel")]
    pub(super) fn run_for(&mut self, upshot: &mut Upshot<T>, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        mem::swap(&mut self.upshot, upshot);
        self.run(chunk, cx);
        mem::swap(&mut self.upshot, upshot);
    }

    /// Runs a chunk's part in a tick. What is left to do is to move the owners to their new buckets, as the upshot says.
    pub(super) fn run(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        self.finished.clear();
        let known = chunk.rows.states.get(chunk.rows.bucket);
        if known.is_owned {
            self.tick_each(chunk, cx);
            return;
        }
        let has_global = !chunk.global.is_none() && !chunk.global.is_passive();
        if known.updating.is_empty() && !has_global {
            return;
        }
        self.shared.copy_path(&known.seat);
        // Not when the owners of the chunk before came to their states.
        self.shared.entered_at = 0.0;
        if has_global {
            self.update(chunk, chunk.global, cx);
            self.finish(chunk, Some(0), cx);
        }
        for &depth in &known.updating {
            let (Some(state), None) = (known.seat.at(depth), &self.upshot.fault) else { break };
            self.update(chunk, state, cx);
            if self.book.is_empty() {
                continue;
            }
            let is_innermost = depth + 1 == known.seat.depth();
            if is_innermost && known.is_flat && !self.book.movers.is_empty() {
                self.change(chunk, cx);
            }
            self.finish(chunk, (!is_innermost).then_some(depth + 1), cx);
        }
    }

    /// Makes the changes that owners have asked for in short, all at once.
    fn change(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        self.book.take_movers(&mut self.upshot.movers);
        let Chunk { owners, rows, global, .. } = chunk;
        let slots = slots_of(&(0..owners.len()));
        let row = Row { rows: &*rows, slots, book: &mut self.book, entered_at: rows.entered_at, has_previous: false };
        let mut fsm = FsmSlice::new(&mut self.shared, global, row);
        ManyChanges::new(owners, rows, &mut fsm, &mut self.upshot, &mut self.grouping, cx).carry_out();
    }

    /// Ticks each owner alone: those of owned states, whose states differ.
    fn tick_each(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        for (slot, owner) in (0..).zip(chunk.owners.iter_mut()) {
            if self.upshot.fault.is_some() {
                break;
            }
            if !chunk.part.has(chunk.rows.key(slot)) {
                continue;
            }
            chunk.rows.load(slot, &mut self.single);
            let mut fsm = Fsm::new(&mut self.single, chunk.global);
            fsm.kept = usize::MAX;
            let is_whole = panics_kept(&mut self.upshot.fault, || fsm.tick(owner, cx));
            // A change leaves fewer.
            if fsm.kept != usize::MAX || !is_whole {
                let seat = mem::replace(&mut self.single, self.upshot.spare_seat());
                self.upshot.seated.push(Seated { slot, seat, changes: 0 });
            }
        }
    }

    /// Calls `update_all` of one of the active states on the owners that have not finished their tick.
    fn update(&mut self, chunk: &mut Chunk<'_, T>, state: &StateRef<T>, cx: &mut T::Context<'_>) {
        if self.finished.is_empty() && chunk.part == Part::ALL {
            let all = 0..chunk.owners.len();
            self.update_run(chunk, state, all, cx);
            return;
        }
        let mut at = 0;
        while at < chunk.owners.len() && self.upshot.fault.is_none() {
            let run = self.next_run(chunk, at);
            at = run.end + 1;
            if !run.is_empty() {
                self.update_run(chunk, state, run, cx);
            }
        }
    }

    /// The owners from `at` on that are to be updated, up to one that is not.
    fn next_run(&self, chunk: &Chunk<'_, T>, at: usize) -> Range<usize> {
        let is_due = |&slot: &usize| {
            #[expect(clippy::cast_possible_truncation, reason = "a chunk is far smaller than 2^32")]
            let slot = slot as u32;
            self.finished.binary_search(&slot).is_err() && chunk.part.has(chunk.rows.key(slot))
        };
        at..(at..chunk.owners.len()).find(|slot| !is_due(slot)).unwrap_or(chunk.owners.len())
    }

    fn update_run(
        &mut self,
        chunk: &mut Chunk<'_, T>,
        state: &StateRef<T>,
        run: Range<usize>,
        cx: &mut T::Context<'_>,
    ) {
        self.book.open_from = 0;
        let rows = &chunk.rows;
        let slots = slots_of(&run);
        let row = Row { rows, slots, book: &mut self.book, entered_at: rows.entered_at, has_previous: true };
        let mut fsm = FsmSlice::new(&mut self.shared, chunk.global, row);
        let owners = &mut chunk.owners[run];
        let fault = &mut self.upshot.fault;
        if !panics_kept(fault, || state.update_all(owners, &mut fsm, cx)) {
            fsm.forget_last();
        }
    }

    /// Lets the owners that anything is still written down of finish their tick, each on its seat: what they have asked for,
    /// then the updates of the active path from a depth on, if any.
    fn finish(&mut self, chunk: &mut Chunk<'_, T>, rest_of_path: Option<usize>, cx: &mut T::Context<'_>) {
        if self.book.is_empty() {
            return;
        }
        let rows = &chunk.rows;
        let upshot = &mut self.upshot;
        let mut book = self.book.drain();
        while let Some(slot) = book.first() {
            let moved =
                upshot.movers.binary_search_by_key(&slot, |mover| mover.slot()).ok().map(|at| upshot.movers[at]);
            let mut seated = book.seated.next_if(|seated| seated.slot == slot).unwrap_or_else(|| {
                let mut seat = upshot.spare_seat();
                rows.load(slot, &mut seat);
                if let Some(mover) = moved {
                    seat.previous = mem::replace(&mut seat.current, rows.state(mover.target()).clone());
                    seat.entered_at = upshot.moved_at;
                }
                Seated { slot, seat, changes: u32::from(moved.is_some()) }
            });
            let mut fsm = Fsm::new(&mut seated.seat, chunk.global);
            fsm.changes = seated.changes;
            while let Some(request) = book.next_of(slot, rows) {
                fsm.requests.push(request);
            }
            let owner = &mut chunk.owners[slot as usize];
            // After a panic, what was asked for before is carried out, but nobody is updated any more.
            let rest_of_path = rest_of_path.filter(|_| upshot.fault.is_none());
            panics_kept(&mut upshot.fault, || {
                fsm.settle_callback(owner, cx);
                if let Some(depth) = rest_of_path {
                    fsm.tick_path(depth, owner, cx);
                }
            });
            upshot.seated.push(seated);
            self.finished.push(slot);
        }
        self.finished.sort_unstable();
        let finished = &self.finished;
        upshot.movers.retain(|mover| finished.binary_search(&mover.slot()).is_err());
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a chunk is far smaller than 2^32")]
fn slots_of(run: &Range<usize>) -> Range<u32> {
    run.start as u32..run.end as u32
}

/// Runs one callback or many, and returns whether all returned. The first panic of a pass is kept for when the batch is in
/// order again (rule 22).
pub(super) fn panics_kept(fault: &mut Option<Fault>, act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| fault.get_or_insert(Fault::new(panic))).is_ok()
}
