//! One chunk's part in a tick: its updates, then the changes they asked for (rules 19, 20, 22).
//!
//! What nearly all owners ask for, one change between flat states, is done for all of them at once, a step at a time. An
//! owner that anything else happens to finishes its tick alone, on a seat, by the very code that a machine runs.

use std::any::Any;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use log::{Level, log_enabled};
use slotmap::{DefaultKey, Key as _};

use super::columns::RowSlice;
use crate::fsm::Fsm;
use crate::owner::{Cause, Change, Outcome, Owner, Refusal};
use crate::seat::Seat;
use crate::slice::{Book, FsmSlice, Mover, Row, Rows, Seated};
use crate::state::StateRef;
use crate::transition::{BEING_LEFT, Steps, carry_out, log_change, tell};

/// How many owners are updated before their changes are made: enough to pay for the virtual calls, few enough that an owner
/// is still in the cache when it changes.
pub(super) const CHUNK: usize = 2048;

/// Up to how many states the movers of a chunk are counted by target, rather than sorted.
const MOST_COUNTED: usize = 256;

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
}

pub(super) type Fault = Box<dyn Any + Send>;

impl<T: Owner> Upshot<T> {
    fn new() -> Self {
        Self { movers: Vec::new(), moved_at: 0.0, seated: Vec::new(), fault: None }
    }
}

/// What passing over a chunk needs, kept from one to the next so that nothing is allocated.
pub(super) struct Pass<T: Owner> {
    book: Book<T>,
    /// The seat that the chunk's owners share.
    shared: Seat<T>,
    /// The movers by target, those of a target by slot.
    grouped: Vec<Mover>,
    groups: Vec<Group>,
    /// Where in `grouped` the next mover to each target goes.
    places: Vec<usize>,
    refused: Vec<Mover>,
    /// The slots, ascending, that have finished their tick.
    finished: Vec<u32>,
    pub(super) upshot: Upshot<T>,
}

impl<T: Owner> Pass<T> {
    pub(super) fn new() -> Self {
        Self {
            book: Book::new(),
            shared: Seat::new(StateRef::NONE),
            grouped: Vec::new(),
            groups: Vec::new(),
            places: Vec::new(),
            refused: Vec::new(),
            finished: Vec::new(),
            upshot: Upshot::new(),
        }
    }

    #[cfg(feature = "parallel")]
    pub(super) fn take_upshot(&mut self) -> Upshot<T> {
        mem::replace(&mut self.upshot, Upshot::new())
    }

    /// Runs a chunk's part in a tick. What is left to do is to move the owners to their new buckets, as the upshot says.
    pub(super) fn run(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        self.finished.clear();
        let known = chunk.rows.states.get(chunk.rows.bucket);
        if known.is_owned {
            self.tick_each(chunk, cx);
            return;
        }
        self.shared.copy_path(&known.seat);
        let depth = known.seat.depth();
        if !chunk.global.is_none() && !chunk.global.is_passive() {
            self.update(chunk, chunk.global, cx);
            self.finish(chunk, Some(0), cx);
        }
        for (level, state) in known.seat.path().enumerate() {
            if self.upshot.fault.is_some() {
                break;
            }
            if state.is_passive() {
                continue;
            }
            self.update(chunk, state, cx);
            let is_innermost = level + 1 == depth;
            if is_innermost && known.is_flat && !self.book.movers.is_empty() {
                carry_out(&mut ManyChanges { pass: self, chunk, cx });
            }
            self.finish(chunk, (!is_innermost).then_some(level + 1), cx);
        }
    }

    /// Ticks each owner alone: those of owned states, whose states differ.
    fn tick_each(&mut self, chunk: &mut Chunk<'_, T>, cx: &mut T::Context<'_>) {
        for (slot, owner) in (0..).zip(chunk.owners.iter_mut()) {
            if self.upshot.fault.is_some() {
                break;
            }
            if !chunk.part.has(chunk.rows.keys[slot as usize]) {
                continue;
            }
            let mut seat = chunk.rows.seat(slot);
            let mut fsm = Fsm::new(&mut seat, chunk.global);
            panics_kept(&mut self.upshot.fault, || fsm.tick(owner, cx));
            self.upshot.seated.push(Seated { slot, seat, changes: 0 });
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
            let is_finished = self.finished.binary_search(&(slot as u32)).is_ok();
            !is_finished && chunk.part.has(chunk.rows.keys[slot])
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
        #[expect(clippy::cast_possible_truncation, reason = "a chunk is far smaller than 2^32")]
        let first = run.start as u32;
        let row = Row { rows, first, book: &mut self.book, entered_at: rows.entered_at, has_previous: true };
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
        let (mut requests, mut seated) = self.book.take(rows);
        let upshot = &mut self.upshot;
        let mut requests = requests.drain(..).peekable();
        let mut seated = seated.drain(..).peekable();
        loop {
            let slots = [requests.peek().map(|(slot, _)| *slot), seated.peek().map(|seated| seated.slot)];
            let Some(slot) = slots.into_iter().flatten().min() else { break };
            let moved =
                upshot.movers.binary_search_by_key(&slot, |mover| mover.slot()).ok().map(|at| upshot.movers[at]);
            let mut seated = seated.next_if(|seated| seated.slot == slot).unwrap_or_else(|| {
                let mut seat = rows.seat(slot);
                if let Some(mover) = moved {
                    seat.previous = mem::replace(&mut seat.current, rows.state(mover.target()).clone());
                    seat.entered_at = upshot.moved_at;
                }
                Seated { slot, seat, changes: u32::from(moved.is_some()) }
            });
            let mut fsm = Fsm::new(&mut seated.seat, chunk.global);
            fsm.changes = seated.changes;
            while let Some((_, request)) = requests.next_if(|(of, _)| *of == slot) {
                fsm.requests.push(request);
            }
            let owner = &mut chunk.owners[slot as usize];
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

    /// Sorts the movers by target: always in the same order, so that the calls that follow are the same each time.
    fn group(&mut self, states: usize) {
        let Self { upshot, grouped, groups, places, .. } = self;
        grouped.clone_from(&upshot.movers);
        if states > MOST_COUNTED {
            grouped.sort_by_key(|mover| mover.target());
            self.mark_groups();
            return;
        }
        // A place for each target, then each mover to the next place of its own.
        if places.len() <= states {
            places.resize(states + 1, 0);
        }
        for mover in &upshot.movers {
            places[mover.target() as usize] += 1;
        }
        groups.clear();
        let mut end = 0;
        for (target, place) in (0..).zip(places.iter_mut()) {
            let count = mem::replace(place, end);
            if count > 0 {
                end += count;
                groups.push(Group { target, end });
            }
        }
        for mover in &upshot.movers {
            let place = &mut places[mover.target() as usize];
            grouped[*place] = *mover;
            *place += 1;
        }
        places.fill(0);
    }

    /// Finds the groups anew.
    fn mark_groups(&mut self) {
        self.groups.clear();
        for group in self.grouped.chunk_by(|one, next| one.target() == next.target()) {
            let start = self.groups.last().map_or(0, |group| group.end);
            self.groups.push(Group { target: group[0].target(), end: start + group.len() });
        }
    }

    /// Takes movers out that are not to be entered after all.
    fn ungroup(&mut self, slot: u32) {
        self.grouped.retain(|mover| mover.slot() != slot);
        self.mark_groups();
    }
}

/// Movers with the same target: up to `end`, from where the group before ends.
struct Group {
    target: u32,
    end: usize,
}

/// The changes of a chunk's movers, all from one flat state to flat ones, made together.
struct ManyChanges<'p, 'a, 'x, T: Owner> {
    pass: &'p mut Pass<T>,
    chunk: &'p mut Chunk<'a, T>,
    cx: &'p mut T::Context<'x>,
}

#[derive(Clone, Copy)]
enum Guard {
    CanExit,
    CanEnter,
}

impl<'a, T: Owner> ManyChanges<'_, 'a, '_, T> {
    /// The state that all of them leave.
    fn from(&self) -> &'a StateRef<T> {
        self.chunk.rows.states.get(self.chunk.rows.bucket).state()
    }

    /// Asks a guard of each of `movers`, whose groups say of which state; takes out those that it refuses.
    fn ask(&mut self, guard: Guard, movers: &mut Vec<Mover>, groups: &mut [Group]) {
        let states = self.chunk.rows.states;
        let mut next = 0;
        loop {
            let owners = &*self.chunk.owners;
            let is_answered = panics_kept(&mut self.pass.upshot.fault, || {
                for group in groups.iter() {
                    let state = states.get(group.target).state();
                    match guard {
                        Guard::CanExit => state.can_exit_each(owners, &movers[..group.end], &mut next, self.cx),
                        Guard::CanEnter => state.can_enter_each(owners, &movers[..group.end], &mut next, self.cx),
                    }
                    if next < group.end {
                        break;
                    }
                }
            });
            let Some(group) = groups.iter().position(|group| next < group.end) else { return };
            let mover = movers.remove(next);
            groups[group..].iter_mut().for_each(|group| group.end -= 1);
            self.pass.refused.push(mover);
            if is_answered {
                let asked = states.get(groups[group].target).state();
                let outcome = Outcome::Refused(match guard {
                    Guard::CanExit => Refusal::Exit(asked),
                    Guard::CanEnter => Refusal::Enter(asked),
                });
                let (from, to) = (self.from(), states.get(mover.target()).state());
                let change = Change { from: Some(from), to: Some(to), cause: Cause::Change, outcome };
                let owner = &mut self.chunk.owners[mover.slot() as usize];
                panics_kept(&mut self.pass.upshot.fault, || tell(owner, &change, self.cx));
            }
        }
    }
}

impl<T: Owner> Steps for ManyChanges<'_, '_, '_, T> {
    fn admit(&mut self) -> bool {
        let mut movers = mem::take(&mut self.pass.upshot.movers);
        self.pass.book.take_movers(&mut movers);
        let mut all = [Group { target: self.chunk.rows.bucket, end: movers.len() }];
        self.ask(Guard::CanExit, &mut movers, &mut all);
        self.pass.upshot.movers = movers;

        self.pass.group(self.chunk.rows.states.len());
        let mut grouped = mem::take(&mut self.pass.grouped);
        let mut groups = mem::take(&mut self.pass.groups);
        self.pass.refused.clear();
        self.ask(Guard::CanEnter, &mut grouped, &mut groups);
        self.pass.groups = groups;
        self.pass.grouped = grouped;
        let Pass { refused, upshot, .. } = &mut *self.pass;
        if !refused.is_empty() {
            upshot.movers.retain(|mover| refused.iter().all(|refused| refused.slot() != mover.slot()));
        }
        !upshot.movers.is_empty()
    }

    fn exit(&mut self) {
        let state = self.from();
        let Chunk { owners, rows, global, .. } = &mut *self.chunk;
        self.pass.shared.previous = state.clone();
        // Whatever is asked for from here on is written behind this: nobody may ask in `exit`.
        let asked_before = self.pass.book.odd.len();
        self.pass.book.open_from = u32::MAX;
        let mut next = 0;
        while next < self.pass.upshot.movers.len() {
            let Pass { book, shared, upshot, .. } = &mut *self.pass;
            let row = Row { rows: &*rows, first: 0, book, entered_at: rows.entered_at, has_previous: false };
            let mut fsm = FsmSlice::new(shared, global, row);
            fsm.set_exiting();
            let movers = &upshot.movers[next..];
            if panics_kept(&mut upshot.fault, || state.exit_each(owners, movers, &mut fsm, self.cx)) {
                break;
            }
            // That owner stays where it was. The others' changes go on.
            let slot = fsm.last();
            next = upshot.movers.partition_point(|mover| mover.slot() < slot);
            upshot.movers.remove(next);
            let mut seat = rows.seat(slot);
            seat.previous = state.clone();
            upshot.seated.push(Seated { slot, seat, changes: 0 });
            self.pass.ungroup(slot);
        }
        for (slot, request) in self.pass.book.odd.drain(asked_before..) {
            Fsm::new(&mut self.pass.shared, global).misused(&request, &owners[slot as usize], BEING_LEFT);
        }
    }

    fn swap(&mut self) {
        let from = self.from();
        self.pass.upshot.moved_at = T::now(self.cx);
        let mut next = 0;
        while next < self.pass.grouped.len() {
            let Pass { upshot, grouped, groups, .. } = &mut *self.pass;
            let (states, owners) = (self.chunk.rows.states, &mut *self.chunk.owners);
            let is_logged = log_enabled!(target: "demeanor", Level::Debug);
            let is_told = panics_kept(&mut upshot.fault, || {
                for group in groups.iter() {
                    let change = Change::taken(Some(from), Some(states.get(group.target).state()), Cause::Change);
                    // Two loops, so that each vanishes where there is nothing to tell.
                    if is_logged {
                        let movers = grouped[..group.end].iter().skip(next);
                        movers.for_each(|mover| log_change(&owners[mover.slot() as usize], &change));
                    }
                    while next < group.end {
                        next += 1;
                        if let Some(owner) = owners.get_mut(grouped[next - 1].slot() as usize) {
                            owner.on_change(&change, self.cx);
                        }
                    }
                }
            });
            if !is_told {
                next -= 1;
                let slot = grouped[next].slot();
                self.pass.ungroup(slot);
            }
        }
    }

    fn enter(&mut self) {
        let Pass { book, shared, upshot, grouped, groups, .. } = &mut *self.pass;
        let Chunk { owners, rows, global, .. } = &mut *self.chunk;
        shared.entered_at = upshot.moved_at;
        let row = Row { rows: &*rows, first: 0, book, entered_at: &[], has_previous: false };
        let mut fsm = FsmSlice::new(shared, global, row);
        fsm.set_changes(1);
        let mut next = 0;
        let mut enter_rest = |next: &mut usize, fsm: &mut FsmSlice<'_, T>| {
            for group in groups.iter() {
                if group.end <= *next {
                    continue;
                }
                let target = rows.states.get(group.target).state();
                fsm.set_current(target.clone());
                target.enter_each(owners, &grouped[*next..group.end], fsm, self.cx);
                *next = group.end;
            }
        };
        while !panics_kept(&mut upshot.fault, || enter_rest(&mut next, &mut fsm)) {
            fsm.forget_last();
            let slot = fsm.last();
            next += 1 + grouped[next..].iter().position(|mover| mover.slot() == slot).unwrap_or(0);
        }
    }
}

/// Runs one callback or many, and returns whether all returned. The first panic of a pass is kept for when the batch is in
/// order again (rule 22).
pub(super) fn panics_kept(fault: &mut Option<Fault>, act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| fault.get_or_insert(panic)).is_ok()
}
