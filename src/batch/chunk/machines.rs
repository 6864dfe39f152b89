//! The machines of a chunk's owners, to which the handles in callbacks refer.

use std::ops::Range;
use std::ptr;

use log::error;

use super::ledger::{Entering, Ledger, LedgerEntry};
use super::waits::Wait;
use crate::batch::known::states::NOWHERE;
use crate::batch::rows::individuals::Individual;
use crate::batch::rows::notes::as_observer;
use crate::batch::rows::range::Rows;
use crate::batch::wait::timers::MOST_NUMBERS;
use crate::batch::wait::waiter::{Until, short};
use crate::change::End;
use crate::fsm::{Entries, Machines, Order, Request, View, time_or_zero};
use crate::machine::regions::Tree;
use crate::machine::seat::{Rare, Seat};
use crate::machine::settings::Settings;
use crate::machine::single::Single;
use crate::machine::transition::{BEING_LEFT, log_misuse};
use crate::machine::waiting::{Awaited, Note, Pending, Scope};
use crate::owner::Owner;
use crate::state::{Kind, Mover, State, StateRef};

/// The step of a tick to which the callbacks belong.
pub(crate) enum Phase<'a, T: Owner> {
    /// The updates of one state. If `is_last` is set, only the owners' requests are left of the tick after these updates.
    Update { is_last: bool },
    /// The calls of `can_exit` for the movers, which are sorted by slot.
    CanExit(&'a [Mover]),
    /// The calls of `can_enter` for changes to this target.
    CanEnter(&'a StateRef<T>),
    /// The calls of `exit` for the movers, which are sorted by slot.
    Exit(&'a [Mover]),
    /// The calls of `enter` for one state.
    Enter(&'a Entering<'a, T>),
    /// The calls of `after_update`. If they are for movers, their last step is given.
    AfterUpdate(Option<&'a Entering<'a, T>>),
}

impl<'a, T: Owner> Phase<'a, T> {
    /// Returns the current step, if states are being entered.
    fn entering(&self) -> Option<&'a Entering<'a, T>> {
        if let Self::Enter(entering) = self { Some(*entering) } else { None }
    }
}

/// The machines of some consecutive owners of one bucket.
pub(crate) struct ChunkMachines<'a, 'l, T: Owner> {
    pub(crate) rows: &'a Rows<'a, T>,
    pub(crate) settings: &'a Settings<T>,
    pub(crate) ledger: &'a mut Ledger<'l, T>,
    /// The slots of the owners to which the handles belong.
    pub(crate) slots: Range<usize>,
    pub(crate) phase: &'a Phase<'a, T>,
    /// The scope of the state whose callbacks are called.
    pub(crate) scope: Scope,
}

impl<'a, T: Owner> ChunkMachines<'a, '_, T> {
    /// Returns the slot of the `nth` owner, if there is one.
    #[inline]
    fn slot(&self, nth: usize) -> Option<usize> {
        if nth < self.slots.len() {
            return Some(self.slots.start + nth);
        }
        self.no_such_owner(nth);
        None
    }

    #[cold]
    fn no_such_owner(&self, nth: usize) {
        error!(target: "demeanor", "there is no owner {nth} to hand out: there are only {}", self.slots.len());
    }

    /// Returns the state of the bucket. It is the owners' current state until a change enters another state.
    fn from(&self) -> &'a StateRef<T> {
        self.rows.known().state()
    }
}

/// Recording requests.
impl<T: Owner> ChunkMachines<'_, '_, T> {
    /// Converts a request to a mover, if the request can be carried out in bulk. The owner must have made no other request.
    fn mover(&mut self, slot: usize, request: &Request<T>) -> Option<Mover> {
        let known = self.rows.known();
        if let Request::Ensure(to) = request {
            if let Some(depth) = known.path().position(|active| active == to) {
                return u32::try_from(depth).ok().map(|depth| Mover::new(slot, Kind::Nothing, depth));
            }
        }
        let (kind, target) = match request {
            _ if !known.is_bulk => return None,
            Request::Change(to) | Request::Ensure(to) => (Kind::Change, self.innermost_of(to)?),
            Request::ChangeSingleton(to) => (Kind::Change, self.innermost_of(&StateRef::from(*to))?),
            Request::Force(to) => (Kind::Force, self.innermost_of(to)?),
            Request::Revert => (Kind::Revert, self.rows.previous_number(slot).filter(|&previous| previous != NOWHERE)?),
            Request::Push(_)
            | Request::Pop
            | Request::Resume(_)
            | Request::Send(_)
            | Request::After(_)
            | Request::Next(_)
            | Request::Due(_)
            | Request::Sleep(_)
            | Request::Cancel
            | Request::Stay
            | Request::InRegion(_)
            | Request::Acting(_) => return None,
        };
        self.rows.states().get(target).is_bulk.then(|| Mover::new(slot, kind, target))
    }

    /// Returns whether a mover contains its whole request. A mover does not say that a state is only to be ensured. If a state
    /// with children was requested, a mover contains only the number of the innermost state to enter. Returns `None` if the mover
    /// does not contain the whole request, and the request cannot be kept beside the mover.
    fn is_whole(&self, mover: Mover, request: &Request<T>) -> Option<bool> {
        let is_target = |to: &StateRef<T>| *self.rows.states().get(mover.target()).state() == *to;
        let (is_whole, to) = match request {
            Request::Ensure(to) => (mover.kind() == Kind::Nothing, to),
            Request::Change(to) | Request::Force(to) => (is_target(to), to),
            Request::ChangeSingleton(to) => return Some(is_target(&StateRef::from(*to))),
            _ => return Some(true),
        };
        (is_whole || to.as_singleton().is_some()).then_some(is_whole)
    }

    /// Returns the number of the state in which a change to `to` ends, if the change can be made in bulk.
    fn innermost_of(&mut self, to: &StateRef<T>) -> Option<u32> {
        // This call only notes `to` if it is unknown. It is made for every request, because `innermost_of` may find a state or
        // not, depending on which owners have been updated before. The note must not depend on this.
        self.number_of(to);
        self.rows.states().innermost_of(self.rows.known(), to)
    }

    /// Returns the number of a requested state. Notes a singleton that the batch does not know yet, so that it gets a number when
    /// the outcome of the chunk is applied.
    fn number_of(&mut self, state: &StateRef<T>) -> Option<u32> {
        let number = self.rows.states().bucket_of(state);
        if let (None, Some(state)) = (number, state.as_singleton()) {
            let is_last = self.ledger.unmet.last().is_some_and(|last| std::ptr::eq(*last, state));
            if !is_last {
                self.ledger.unmet.push(state);
            }
        }
        number
    }

    /// Returns whether the owner at a slot can wait in bulk: it has requested nothing but a few waits and, if the new wait may
    /// end its tick, only the rest of the current callback is left of the tick.
    fn may_wait(&self, slot: usize, may_end_tick: bool) -> bool {
        let is_in_time = match self.phase {
            Phase::Update { is_last } => (*is_last || !may_end_tick) && self.rows.known().is_bulk,
            Phase::Enter(entering) => entering.is_innermost() || !may_end_tick,
            Phase::CanExit(_) | Phase::CanEnter(_) | Phase::Exit(_) | Phase::AfterUpdate(_) => false,
        };
        let may_be_waiter = || matches!(self.ledger.entry(slot), LedgerEntry::Blank | LedgerEntry::Waiter);
        is_in_time && may_be_waiter() && self.ledger.asked.waits.has_room(slot)
    }

    /// Replaces a stored number at once, unless an earlier request may end the state or may replace the same number. Returns
    /// whether the number was replaced.
    fn replace_note(&self, slot: usize, note: Note) -> bool {
        matches!(self.phase, Phase::Update { .. })
            && matches!(self.ledger.entry(slot), LedgerEntry::Blank)
            && self.ledger.asked.waits.has_none(slot)
            && self.rows.replace_note(slot, note.scope(self.scope), note)
    }

    /// Returns `true` only if the numbers that the states of all owners from `first` on have stored are in the rows.
    fn is_in_rows(&self, first: usize) -> bool {
        matches!(self.phase, Phase::Update { .. })
            && self.ledger.is_blank_from(first)
            && self.ledger.asked.waits.are_open()
    }

    /// Iterates over the waits that a state of the owner at a slot has requested in callbacks of this tick that have returned.
    fn waits_of(&self, slot: usize, by: Scope) -> impl Iterator<Item = &Wait> {
        let is_entering = matches!(self.phase, Phase::Enter(_));
        // A wait that is requested in `enter` begins when the change is complete.
        self.ledger.asked.waits.returned(slot).filter(move |wait| wait.scope == by && !(is_entering && wait.is_entry))
    }

    /// Returns the number of a singleton that is the target of a timer, if the number fits into the timing wheel.
    fn number_of_singleton(&mut self, state: &'static dyn State<T>) -> Option<u32> {
        let known = self.ledger.asked.numbers.get(state);
        known.or_else(|| self.number_of(&state.into())).filter(|&number| number < MOST_NUMBERS)
    }

    #[cold]
    fn write(&mut self, slot: usize, request: Request<T>) {
        match self.phase {
            Phase::Exit(_) => return self.ledger.asked.misused.push((slot, request)),
            // Only the first request of an owner can become a mover. This holds even if the first request cannot, because the
            // batch does not know its state.
            Phase::Update { .. } if matches!(self.ledger.entry(slot), LedgerEntry::Blank) => {
                let mover = self.mover(slot, &request);
                if let Some((mover, is_whole)) = mover.and_then(|mover| Some((mover, self.is_whole(mover, &request)?)))
                {
                    if self.ledger.asked.add(mover) {
                        if let Request::ChangeSingleton(to) = request {
                            self.remember(to, mover.target());
                        }
                        if !is_whole {
                            self.ledger.asked.keep_original(slot, request);
                        }
                        return;
                    }
                }
            }
            _ => {}
        }
        let scope = self.scope;
        self.individual(slot).ask(request, scope);
    }

    /// Caches the number of a singleton, if a change to it ends in this singleton itself.
    fn remember(&mut self, state: &'static dyn State<T>, number: u32) {
        if *self.rows.states().get(number).state() == StateRef::from(state) {
            self.ledger.asked.numbers.set(state, number);
        }
    }

    /// Returns the individual of the owner at a slot, and creates it if there is none.
    fn individual(&mut self, slot: usize) -> &mut Individual<T> {
        self.ledger.individual(slot, self.rows, self.phase.entering())
    }

    /// Runs `act` on the machine of the owner at a slot, while a callback of this owner is running.
    fn run(&mut self, slot: usize, act: &mut dyn FnMut(&mut Single<'_, T>)) {
        let entering = self.phase.entering();
        let (individual, notes) = self.ledger.individual_and_notes(slot, self.rows, entering);
        if let (Some(entering), 0) = (entering, individual.made) {
            individual.entering = entering.depth;
        }
        individual.load(self.rows);
        individual.run(self.settings, as_observer(&mut notes.of(self.rows, slot)), act);
    }

    /// Returns the seat of the owner at a slot, if the owner is an individual whose seat has been loaded.
    fn seat_of(&self, slot: usize) -> Option<&Seat<T>> {
        self.ledger.individuals.get(slot).filter(|individual| individual.is_loaded).map(|individual| &individual.seat)
    }

    /// Returns whether the change in progress has left the state of a scope.
    fn has_left(&self, scope: Scope) -> bool {
        matches!(self.phase, Phase::Enter(entering) if scope.ends_with(entering.kept))
    }

    /// Returns the target of the mover at a slot, or `StateRef::NONE` if there is no such mover.
    fn target(&self, movers: &[Mover], slot: usize) -> &StateRef<T> {
        self.rows.states().get(Mover::find(movers, slot).map_or(NOWHERE, Mover::target)).state()
    }

    /// Returns whether a request is made in `exit`. If so, logs that the request is refused.
    fn is_misused(&self, request: &dyn std::fmt::Display, owner: &T) -> bool {
        let is_misused = matches!(self.phase, Phase::Exit(_));
        if is_misused {
            log_misuse(owner, request, self.from().as_option(), BEING_LEFT);
        }
        is_misused
    }
}

impl<T: Owner> Machines<T> for ChunkMachines<'_, '_, T> {
    fn ask_singleton(&mut self, nth: usize, to: &'static dyn State<T>) {
        let Some(slot) = self.slot(nth) else { return };
        if !self.ledger.asked.change(slot, to) {
            self.write(slot, Request::ChangeSingleton(to));
        }
    }

    fn ask(&mut self, nth: usize, request: Request<T>) {
        if let Some(slot) = self.slot(nth) {
            self.write(slot, request);
        }
    }

    fn wait(&mut self, nth: usize, seconds: f64, awaited: Awaited<T>) -> bool {
        if let Awaited::Note(note) = awaited {
            if self.slot(nth).is_some_and(|slot| self.replace_note(slot, note)) {
                return true;
            }
        }
        let may_end_tick = !matches!(awaited, Awaited::Note(_));
        let Some(slot) = self.slot(nth).filter(|&slot| self.may_wait(slot, may_end_tick)) else { return false };
        let scope = match awaited {
            Awaited::Next(_) => Scope::Current,
            Awaited::Note(note) => note.scope(self.scope),
            _ => self.scope,
        };
        let until = match awaited {
            Awaited::Wake => Until::Awake,
            Awaited::Change(to) | Awaited::Next(to) => match self.number_of_singleton(to) {
                Some(number) => Until::Change(number),
                None => return false,
            },
            Awaited::Note(note) => Until::Note(note),
        };
        let is_entry = matches!(self.phase, Phase::Enter(_));
        let revision = match self.phase {
            _ if until != Until::Awake => 0,
            Phase::Enter(entering) => short(entering.known.state().revision()),
            _ => short(self.from().revision()),
        };
        self.ledger.asked.waits.add(Wait { slot, seconds, until, scope, is_entry, revision });
        // Further requests of the owner come after this one, so they cannot become movers.
        self.ledger.asked.close_up_to(slot);
        true
    }

    fn withdraw_changes(&mut self, nth: usize) {
        // Requests made in `exit` are refused, so there is nothing to withdraw.
        if let (Some(slot), false) = (self.slot(nth), matches!(self.phase, Phase::Exit(_))) {
            self.ledger.withdraw_changes(slot);
        }
    }

    fn withdraw_all(&mut self, nth: usize) {
        if let (Some(slot), false) = (self.slot(nth), matches!(self.phase, Phase::Exit(_))) {
            self.ledger.withdraw_all(slot);
        }
    }

    fn cancel(&mut self, nth: usize, is_canceled: &mut dyn FnMut(&Pending<T>) -> bool) -> usize {
        let Some(slot) = self.slot(nth) else { return 0 };
        if matches!(self.phase, Phase::Exit(_)) {
            self.write(slot, Request::Cancel);
            return 0;
        }
        let has_timers = match self.ledger.entry(slot) {
            LedgerEntry::Blank | LedgerEntry::Mover => self.rows.has_timers(slot),
            LedgerEntry::Waiter | LedgerEntry::Individual(_) => true,
        };
        let mut canceled = 0;
        if has_timers {
            self.run(slot, &mut |single| canceled = single.cancel(0, is_canceled));
        }
        canceled
    }

    fn stay(&mut self, nth: usize) -> bool {
        let (Some(slot), Phase::Enter(entering)) = (self.slot(nth), self.phase) else { return false };
        if matches!(self.ledger.ended_early(slot), Some((End::Abandoned, _))) {
            return false;
        }
        if !entering.is_innermost() {
            let individual = self.individual(slot);
            individual.entering = entering.depth;
            individual.has_stayed = true;
            individual.is_touched = true;
        }
        true
    }

    fn execute_now(
        &mut self,
        nth: usize,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let Some(slot) = self.slot(nth) else { return false };
        if self.is_misused(request, owner) {
            return false;
        }
        let mut is_done = false;
        self.run(slot, &mut |single| is_done = single.execute_now(order, request, owner, cx));
        is_done
    }

    fn send_now(
        &mut self,
        nth: usize,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let Some(slot) = self.slot(nth) else { return false };
        if self.is_misused(&"message to oneself", owner) {
            return false;
        }
        let mut is_handled = false;
        self.run(slot, &mut |single| is_handled = single.send_now(order, owner, message, cx));
        is_handled
    }

    fn view(&self, nth: usize) -> View<'_, T> {
        let nowhere = self.rows.states().get(NOWHERE).state();
        let from = self.from();
        let Some(slot) = self.slot(nth) else {
            return View {
                current: from,
                previous: nowhere,
                target: nowhere,
                ancestors: &self.rows.known().ancestors,
                entered_at: 0.0,
                ancestors_entered_at: &[],
                around: None,
                regions: None,
            };
        };
        match self.phase {
            Phase::Update { .. } => match self.seat_of(slot) {
                Some(seat) => seat.view(nowhere),
                None => self.rows.view(slot, nowhere),
            },
            Phase::CanExit(movers) => self.rows.view(slot, self.target(movers, slot)),
            Phase::CanEnter(target) => self.rows.view(slot, target),
            Phase::Exit(movers) => View { previous: from, ..self.rows.view(slot, self.target(movers, slot)) },
            Phase::Enter(entering) => match self.ledger.individuals.get(slot) {
                // An immediate change has ended the bulk change early.
                Some(individual) if individual.made > 0 => individual.seat.view(nowhere),
                Some(individual) if individual.has_stayed => individual.seat.view(&individual.seat.current),
                Some(individual) => individual.seat.view(entering.known.state()),
                None => entering.view(slot, from),
            },
            Phase::AfterUpdate(Some(entering)) => View { target: nowhere, ..entering.view(slot, from) },
            Phase::AfterUpdate(None) => self.rows.view(slot, nowhere),
        }
    }

    fn tree(&self, nth: usize) -> Option<Tree<'_, T>> {
        // Only a change within the call leads from a state of a chunk to one with regions.
        Some(Tree::new(None, self.seat_of(self.slot(nth)?)?))
    }

    /// During updates, most owners have one active state and have requested nothing. For these owners, this look-up takes a
    /// fraction of the time that it takes to create a view.
    fn entry_of(&self, nth: usize, state: &dyn State<T>) -> (Option<usize>, f64) {
        let slot = self.slot(nth).filter(|_| matches!(self.phase, Phase::Update { .. }));
        let slot = slot.filter(|&slot| matches!(self.ledger.entry(slot), LedgerEntry::Blank));
        let is_flat = self.rows.known().ancestors.is_empty();
        match slot.filter(|_| is_flat && ptr::addr_eq(&raw const **self.from(), state)) {
            Some(slot) => (Some(0), time_or_zero(self.rows.entered_at(slot))),
            None => self.view(nth).entry_of_defined(state),
        }
    }

    fn global(&self) -> &StateRef<T> {
        &self.settings.global
    }

    fn has_requests(&self, nth: usize) -> bool {
        self.slot(nth).is_some_and(|slot| match self.phase {
            // Requests made in `exit` are refused, and a mover has no request but its change. In `after_update`, nothing is
            // pending.
            Phase::Exit(_) | Phase::AfterUpdate(_) => false,
            _ => match self.ledger.entry(slot) {
                LedgerEntry::Blank => false,
                LedgerEntry::Mover => true,
                LedgerEntry::Waiter => self.ledger.asked.waits.has_request(slot),
                LedgerEntry::Individual(individual) => individual.requests.are_any(),
            },
        })
    }

    fn noted(&self, nth: usize, by: Scope, key: u32) -> Option<f64> {
        let slot = self.slot(nth)?;
        match self.seat_of(slot) {
            Some(seat) => seat.noted(by, key),
            None if self.has_left(by) => None,
            None => {
                let mut notes = self.waits_of(slot, by).filter_map(|wait| wait.until.note());
                let asked = notes.find(|note| note.key == key).map(|note| note.number);
                asked.or_else(|| self.rows.noted(slot, by, key))
            }
        }
    }

    fn note_each(&self, nth: usize, by: Scope, key: u32, numbers: &mut [f64]) {
        let first = self.slots.start + nth;
        if self.is_in_rows(first) {
            return self.rows.note_each(first, by, key, numbers);
        }
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = self.noted(nth + i, by, key).unwrap_or(f64::NAN);
        }
    }

    fn replace_notes(&mut self, nth: usize, asked: u64, key: u32, numbers: &[f64; 64]) -> u64 {
        let first = self.slots.start + nth;
        if !self.is_in_rows(first) {
            return asked;
        }
        let (mut rest, mut left) = (asked, 0);
        while rest != 0 {
            let i = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let note = Note::new(key, numbers[i]);
            if !self.rows.replace_note(first + i, self.scope, note) {
                left |= 1 << i;
            }
        }
        left
    }

    fn look_back(&self, nth: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        let Some(slot) = self.slot(nth) else { return look(None) };
        match self.seat_of(slot) {
            Some(seat) => look(seat.rare.as_deref()),
            None => self.rows.with_rare(slot, look),
        }
    }

    fn asks_for_change(&self, nth: usize, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.slot(nth).is_some_and(|slot| match self.ledger.entry(slot) {
            LedgerEntry::Blank | LedgerEntry::Waiter => false,
            LedgerEntry::Mover => true,
            LedgerEntry::Individual(individual) => individual.requests.ask_for_change(is_beside),
        })
    }

    fn entries(&self, nth: usize, count: usize, state: &dyn State<T>) -> Option<Entries<'_>> {
        // An individual may already be in another state.
        let is_in_rows = matches!(self.phase, Phase::Update { .. }) && !self.ledger.individuals.has_unfinished();
        let first = self.slots.start + nth;
        if is_in_rows { self.rows.entries(first..first + count, state) } else { None }
    }

    fn have_acted(&self, nth: usize, count: usize) -> u64 {
        let first = self.slots.start + nth;
        if self.ledger.is_blank_from(first) {
            return 0;
        }
        let has_acted = |slot| !matches!(self.ledger.entry(slot), LedgerEntry::Blank);
        (0..count).filter(|i| has_acted(first + i)).fold(0, |acted, i| acted | 1 << i)
    }

    fn number_of(&mut self, to: &StateRef<T>) -> Option<u32> {
        let is_mover = matches!(self.phase, Phase::Update { .. }) && self.rows.known().is_bulk;
        if is_mover { self.rows.states().innermost_of(self.rows.known(), to) } else { None }
    }

    fn ask_number(&mut self, nth: usize, to: u32) -> bool {
        self.slot(nth).is_some_and(|slot| self.ledger.asked.change_to(slot, to))
    }
}
