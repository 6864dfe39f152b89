//! The ledger of a chunk: the requests that each owner has made so far in the current tick. All questions about the requests of
//! an owner are answered here.
//!
//! Nearly all owners request nothing or one change. An owner that requests one change is a *mover*: its request takes eight
//! bytes, and its change is made in bulk. An owner that only requests waits is a *waiter*. An owner that requests anything else
//! is an *individual*. A change is *immediate* if a callback makes it by `change_state_now` or a similar method.

use std::mem;

use super::waits::Waits;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::{KnownState, Numbers};
use crate::batch::rows::columns::append_kept;
use crate::batch::rows::individuals::{Individual, Individuals};
use crate::batch::rows::notes::Notes;
use crate::batch::rows::range::Rows;
use crate::batch::wait::waiter::Until;
use crate::change::End;
use crate::fsm::{Request, View};
use crate::machine::seat::{DEEPEST, Seat};
use crate::owner::Owner;
use crate::state::{Kind, Mover, State, StateRef};

/// The entry of one owner in the ledger.
pub(crate) enum LedgerEntry<'e, T: Owner> {
    /// The owner has requested nothing that is pending, except waits in callbacks that have returned.
    Blank,
    /// The owner has requested one change, and nothing else in the same callback.
    Mover,
    /// The owner has requested waits in the callback that is running, and nothing else.
    Waiter,
    /// The owner has made other requests or an immediate change, and finishes its tick alone.
    Individual(&'e Individual<T>),
}

pub(crate) struct Ledger<'l, T: Owner> {
    pub(crate) asked: &'l mut Asked<T>,
    pub(crate) individuals: &'l mut Individuals<T>,
    /// Singletons that owners have requested and that the batch does not know yet.
    pub(crate) unmet: &'l mut Vec<&'static dyn State<T>>,
    pub(crate) notes: &'l mut Notes<T>,
}

impl<T: Owner> Ledger<'_, T> {
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> LedgerEntry<'_, T> {
        if let Some(individual) = self.individuals.get(slot) {
            LedgerEntry::Individual(individual)
        } else if self.asked.mover_of(slot).is_some() {
            LedgerEntry::Mover
        } else if self.asked.waits.has(slot) {
            LedgerEntry::Waiter
        } else {
            LedgerEntry::Blank
        }
    }

    /// Returns `true` only if every owner from `slot` on is `Blank`. If the chunk has an individual that has not finished its
    /// tick, returns `false`, whatever the slot of the individual.
    pub(crate) fn is_blank_from(&self, slot: usize) -> bool {
        !self.individuals.has_unfinished() && self.asked.has_none_from(slot)
    }

    /// Returns how the bulk change of the owner at a slot has ended early, if it has, and the depth of the state whose `enter`
    /// has ended it.
    pub(crate) fn ended_early(&self, slot: usize) -> Option<(End, usize)> {
        self.individuals.get(slot)?.ended_early()
    }

    /// Returns the individual of the owner at a slot. If there is none yet, creates it from the owner's mover and waits.
    /// `entering` is the current step, if states are being entered.
    pub(crate) fn individual(
        &mut self,
        slot: usize,
        rows: &Rows<'_, T>,
        entering: Option<&Entering<'_, T>>,
    ) -> &mut Individual<T> {
        self.individual_and_notes(slot, rows, entering).0
    }

    /// Does the same as [`individual`](Self::individual), and also returns the notes.
    pub(crate) fn individual_and_notes(
        &mut self,
        slot: usize,
        rows: &Rows<'_, T>,
        entering: Option<&Entering<'_, T>>,
    ) -> (&mut Individual<T>, &mut Notes<T>) {
        let Self { asked, individuals, notes, .. } = self;
        if let Some(place) = individuals.place(slot) {
            return (individuals.at(place), notes);
        }
        let individual = individuals.add(slot);
        let mut kept = usize::MAX;
        if let Some(entering) = entering {
            kept = entering.kept;
            individual.load(rows);
            entering.enter_on(&mut individual.seat);
            individual.count = 1;
        }
        // If no owner has requested waits, this check saves a search, which takes as long as taking a wait.
        if !asked.waits.is_empty() {
            for (wait, has_returned) in asked.waits.take(slot, kept) {
                match wait.until {
                    // On a machine, a number is stored before the next callback, which may depend on it.
                    Until::Note(note) if has_returned => {
                        individual.load(rows);
                        individual.note(wait.scope, note);
                    }
                    _ => individual.ask(wait.request(rows.states()), wait.scope),
                }
            }
        }
        // A callback that has requested a wait requests no mover, so these waits are those of callbacks before the mover's.
        if let Some(mover) = asked.supersede(slot) {
            match asked.take_original(slot) {
                Some(request) => individual.requests.push(request),
                None => individual.ask_as(mover, rows),
            }
        }
        (individual, notes)
    }

    /// Withdraws the changes that the owner at a slot has requested (rule 37).
    pub(crate) fn withdraw_changes(&mut self, slot: usize) {
        match self.individuals.get_mut(slot) {
            Some(individual) => individual.requests.withdraw_changes(),
            None => self.asked.withdraw_mover(slot),
        }
    }

    /// Withdraws all requests that the owner at a slot has made in the callback that is running (rule 37).
    pub(crate) fn withdraw_all(&mut self, slot: usize) {
        if let Some(Individual { requests, count, seat, .. }) = self.individuals.get_mut(slot) {
            requests.withdraw_all(count);
            seat.forget_sleep();
        } else {
            self.asked.withdraw_mover(slot);
            self.asked.waits.withdraw(slot);
        }
    }

    /// Keeps the owner at a slot in the state `from`, although an `exit` has begun.
    pub(crate) fn stay(&mut self, slot: usize, rows: &Rows<'_, T>, from: &StateRef<T>) {
        let individual = self.individual(slot, rows, None);
        individual.load(rows);
        individual.seat.previous = from.clone();
        individual.is_touched = true;
    }

    /// Drops the requests that the owner at a slot has made in a callback that panicked.
    pub(crate) fn forget(&mut self, slot: usize, panic: &mut FirstPanic) {
        if !self.individuals.forget(slot, panic) {
            self.asked.forget(slot);
        }
    }
}

/// The requests of a chunk's owners, except those of individuals.
pub(crate) struct Asked<T: Owner> {
    /// Sorted by slot.
    movers: Vec<Mover>,
    /// The requests of the movers that do not contain their whole request, sorted by slot. They are needed if another request is
    /// carried out ahead of the mover. Only requests for singletons are here, so that no code of the game runs when they are
    /// dropped.
    originals: Vec<(usize, Option<Request<T>>)>,
    /// Whether `movers` contains movers whose owners are individuals now, or movers of the kind `Nothing`.
    has_stale: bool,
    /// Whether a forced change has been added since this field was last reset.
    pub(crate) has_forced: bool,
    /// The requests that were made in `exit`, with the slots of their owners. They are refused.
    pub(crate) misused: Vec<(usize, Request<T>)>,
    /// The timers and sleeps that owners request, except those of individuals.
    pub(crate) waits: Waits,
    /// Only a request of an owner at this slot or a higher one can become a mover.
    open_from: usize,
    /// Whether the bucket's owners can change in bulk.
    is_bulk: bool,
    /// A cache of the numbers of singletons to which owners change in bulk.
    pub(crate) numbers: Numbers<T>,
}

impl<T: Owner> Asked<T> {
    pub(crate) fn new() -> Self {
        Self {
            movers: Vec::new(),
            originals: Vec::new(),
            has_stale: false,
            has_forced: false,
            misused: Vec::new(),
            waits: Waits::default(),
            open_from: 0,
            is_bulk: false,
            numbers: Numbers::new(),
        }
    }

    pub(crate) fn has_movers(&self) -> bool {
        !self.movers.is_empty()
    }

    /// Allows the requests of all owners to become movers. If `is_bulk` is `false`, only requests that change nothing can.
    pub(crate) fn open(&mut self, is_bulk: bool) {
        self.open_from = 0;
        self.is_bulk = is_bulk;
        self.waits.open();
    }

    /// Stops the requests of owners up to `slot` from becoming movers.
    pub(crate) fn close_up_to(&mut self, slot: usize) {
        self.open_from = self.open_from.max(slot.saturating_add(1));
    }

    /// Stops all requests from becoming movers.
    pub(crate) fn close(&mut self) {
        self.open_from = usize::MAX;
    }

    /// Adds a mover for a change of the owner at a slot to a singleton. Returns `false`, and adds nothing, if this fast path
    /// does not apply.
    #[inline]
    pub(crate) fn change(&mut self, slot: usize, state: &'static dyn State<T>) -> bool {
        let has_room = self.movers.len() < self.movers.capacity();
        let Some(target) = self.numbers.get(state).filter(|_| slot >= self.open_from && has_room && self.is_bulk)
        else {
            return false;
        };
        self.movers.push(Mover::new(slot, Kind::Change, target));
        self.open_from = slot + 1;
        true
    }

    /// Adds a mover for a change of the owner at a slot to the state with a number. Returns `false`, and adds nothing, if the
    /// bucket does not change in bulk, or if this owner or one at a higher slot already has an entry.
    pub(crate) fn change_to(&mut self, slot: usize, number: u32) -> bool {
        self.is_bulk && self.add(Mover::new(slot, Kind::Change, number))
    }

    /// Returns whether no owner from `slot` on has a mover or a wait.
    pub(crate) fn has_none_from(&self, slot: usize) -> bool {
        self.movers.last().is_none_or(|last| last.slot() < slot) && self.waits.has_none_from(slot)
    }

    /// Adds a mover. Returns `false`, and adds nothing, if its owner or one at a higher slot already has an entry.
    pub(crate) fn add(&mut self, mover: Mover) -> bool {
        let slot = mover.slot();
        let is_open = slot >= self.open_from;
        if is_open {
            self.has_stale |= mover.kind() == Kind::Nothing;
            self.has_forced |= mover.kind() == Kind::Force;
            self.movers.push(mover);
            self.open_from = slot + 1;
        }
        is_open
    }

    /// Notes that the owner at a slot becomes an individual. Returns the owner's mover, if it has one. The mover is the first
    /// request of its callback.
    pub(crate) fn supersede(&mut self, slot: usize) -> Option<Mover> {
        let mover = self.mover_of(slot);
        self.has_stale |= mover.is_some();
        self.close_up_to(slot);
        mover
    }

    /// Keeps the request of the mover that was added last.
    pub(crate) fn keep_original(&mut self, slot: usize, request: Request<T>) {
        self.originals.push((slot, Some(request)));
    }

    /// Takes the request of the owner's mover, if it was kept.
    fn take_original(&mut self, slot: usize) -> Option<Request<T>> {
        let at = self.originals.binary_search_by_key(&slot, |(of, _)| *of).ok()?;
        self.originals[at].1.take()
    }

    /// Returns the mover of the owner at a slot.
    pub(crate) fn mover_of(&self, slot: usize) -> Option<Mover> {
        let last = self.movers.last().filter(|last| last.slot() >= slot)?;
        // Nearly always, the owner's mover is the last one.
        if last.slot() == slot { Some(*last) } else { Mover::find(&self.movers, slot) }
    }

    /// Removes the mover of an owner. If it was the last mover, its owner can become a mover again.
    fn withdraw_mover(&mut self, slot: usize) {
        let Some(at) = Mover::position(&self.movers, slot) else { return };
        self.movers.remove(at);
        if let Ok(at) = self.originals.binary_search_by_key(&slot, |(of, _)| *of) {
            self.originals.remove(at);
        }
        if self.open_from == slot + 1 {
            self.open_from = slot;
        }
    }

    /// Removes all movers from this list. Appends them to `movers`, except the movers of individuals and the movers of the kind
    /// `Nothing`.
    pub(crate) fn take_movers(&mut self, movers: &mut Vec<Mover>, individuals: &Individuals<T>) {
        if mem::take(&mut self.has_stale) {
            let is_left = |mover: &&Mover| mover.kind() != Kind::Nothing && individuals.get(mover.slot()).is_none();
            movers.extend(self.movers.iter().filter(is_left));
        } else if movers.is_empty() {
            mem::swap(&mut self.movers, movers);
        } else {
            movers.extend_from_slice(&self.movers);
        }
        self.movers.clear();
        self.originals.clear();
    }

    /// Drops the requests that an owner, which is not an individual, has made in a callback that panicked.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.waits.forget(slot);
        self.withdraw_mover(slot);
    }
}

/// One step in which movers with the same target enter one state.
pub(crate) struct Entering<'a, T: Owner> {
    /// The target, with its ancestors.
    pub(crate) known: &'a KnownState<T>,
    /// How many active states, counted from the outermost, the change does not leave.
    pub(crate) kept: usize,
    /// The depth of the state that is being entered.
    pub(crate) depth: usize,
    /// When the change was made, in seconds.
    pub(crate) at: f64,
    pub(crate) times: AncestorTimes<'a>,
}

impl<'a, T: Owner> Entering<'a, T> {
    /// Returns the state that is being entered.
    pub(crate) fn state(&self) -> &'a StateRef<T> {
        self.known.at(self.depth)
    }

    /// Returns whether the state that is being entered is the target, so that this is the last step.
    pub(crate) fn is_innermost(&self) -> bool {
        self.depth == self.known.ancestors.len()
    }

    /// Returns the view of an owner in this step. `from` was the owner's current state before the change.
    pub(crate) fn view(&self, slot: usize, from: &'a StateRef<T>) -> View<'a, T> {
        View {
            current: self.state(),
            previous: from,
            target: self.known.state(),
            ancestors: &self.known.ancestors[..self.depth],
            entered_at: self.at,
            ancestors_entered_at: self.times.of(slot).get(..self.depth).unwrap_or_default(),
            around: None,
            regions: None,
        }
    }

    /// Carries out the change on a seat, up to the state that is being entered.
    pub(crate) fn enter_on(&self, seat: &mut Seat<T>) {
        seat.previous = seat.replace(self.kept, self.known.at(self.kept).clone(), self.at);
        for depth in self.kept + 1..=self.depth {
            seat.descend(self.known.at(depth).clone(), self.at);
        }
    }
}

/// For some movers with the same target: when the target's ancestors were entered, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct AncestorTimes<'a> {
    /// The movers, sorted by slot.
    movers: &'a [Mover],
    /// The times of each mover, outermost first; or one row of times that holds for all movers.
    list: &'a [f64],
    width: usize,
}

impl<'a> AncestorTimes<'a> {
    /// Computes the times for movers that change at the time `at` to a state with `width` ancestors, and do not leave their
    /// outermost `kept` active states. The times are written to `room`.
    pub(crate) fn new<T: Owner>(
        rows: &Rows<'_, T>,
        movers: &'a [Mover],
        (kept, width): (usize, usize),
        at: f64,
        room: &'a mut Vec<f64>,
    ) -> Self {
        room.clear();
        if kept == 0 || width == 0 {
            room.resize(width, at);
        } else {
            let depth = rows.known().ancestors.len();
            for (nth, mover) in (1..).zip(movers) {
                let slot = mover.slot();
                let before = rows.ancestors_entered_at(slot);
                // If the batch keeps no times, all times are 0.
                let before = if before.is_empty() { &[0.0; DEEPEST][..depth] } else { before };
                append_kept(before, rows.entered_at(slot), kept, room);
                room.resize(nth * width, at);
            }
        }
        Self { movers, list: room, width }
    }

    /// Returns the times that [`new`](Self::new) has written to `list` for these movers.
    pub(crate) fn written(movers: &'a [Mover], list: &'a [f64], width: usize) -> Self {
        Self { movers, list, width }
    }

    fn of(&self, slot: usize) -> &'a [f64] {
        if self.list.len() == self.width {
            return self.list;
        }
        let nth = Mover::count_before(self.movers, slot);
        self.list.get(nth * self.width..(nth + 1) * self.width).unwrap_or_default()
    }
}
