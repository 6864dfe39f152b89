//! The ledger of a chunk: what each of its owners has done so far in the tick under way. Each question about an owner is answered
//! here.
//!
//! Nearly all owners ask for nothing, or for one change: these are *movers*, eight bytes each, which change together. An owner
//! that asks for anything else is an individual.

use std::mem;

use super::machines::Entering;
use super::waits::Waits;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::Numbers;
use crate::batch::rows::individuals::{Individual, Individuals};
use crate::batch::rows::notes::Notes;
use crate::batch::rows::range::Rows;
use crate::fsm::Request;
use crate::owner::Owner;
use crate::state::{Kind, Mover, State, StateRef};

/// What one owner has done.
pub(crate) enum Entry<'e, T: Owner> {
    /// Nothing. All there is of it is its row.
    Blank,
    /// It has asked for one change, and for nothing else.
    Mover,
    /// It has asked to wait, and for nothing else.
    Waiter,
    /// It has done more than that, and finishes its tick by itself.
    Individual(&'e Individual<T>),
}

pub(crate) struct Ledger<'l, T: Owner> {
    pub(crate) asked: &'l mut Asked<T>,
    pub(crate) individuals: &'l mut Individuals<T>,
    /// Singletons that an owner has asked for, and that the batch does not know.
    pub(crate) unmet: &'l mut Vec<&'static dyn State<T>>,
    pub(crate) notes: &'l mut Notes<T>,
}

impl<T: Owner> Ledger<'_, T> {
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Entry<'_, T> {
        if let Some(individual) = self.individuals.get(slot) {
            Entry::Individual(individual)
        } else if self.asked.mover_of(slot).is_some() {
            Entry::Mover
        } else if self.asked.waits.has(slot) {
            Entry::Waiter
        } else {
            Entry::Blank
        }
    }

    /// Whether the owners from a slot on have done nothing.
    pub(crate) fn is_blank_from(&self, slot: usize) -> bool {
        !self.individuals.has_unfinished() && self.asked.has_none_from(slot)
    }

    /// Whether a change that the owner at a slot has made at once has cut short the change under way.
    pub(crate) fn is_cut_short(&self, slot: usize) -> bool {
        self.individuals.get(slot).is_some_and(|individual| individual.made > 0)
    }

    /// The owner at a slot as an individual. If it has not been one, it takes over what is written down of it. `entering` is the
    /// step that it is in, if it is being changed.
    pub(crate) fn individual(
        &mut self,
        slot: usize,
        rows: &Rows<'_, T>,
        entering: Option<&Entering<'_, T>>,
    ) -> &mut Individual<T> {
        let Self { asked, individuals, .. } = self;
        if individuals.get(slot).is_none() {
            let individual = individuals.add(slot);
            let mut kept = usize::MAX;
            if let Some(entering) = entering {
                kept = entering.kept;
                individual.load(rows);
                entering.enter_on(&mut individual.seat);
                individual.count = 1;
            }
            if let Some(mover) = asked.supersede(slot) {
                individual.ask_as(mover, rows);
            }
            for (request, scope) in asked.waits.take(slot, kept, rows.states()) {
                individual.ask(request, scope);
            }
        }
        individuals.get_mut(slot).expect("it is one now")
    }

    /// Withdraws the changes that the owner at a slot has asked for.
    pub(crate) fn withdraw_changes(&mut self, slot: usize) {
        match self.individuals.get_mut(slot) {
            Some(individual) => individual.requests.withdraw_changes(),
            None => self.asked.withdraw_mover(slot),
        }
    }

    /// Withdraws all that the owner at a slot has asked for in the callback that is running.
    pub(crate) fn withdraw_all(&mut self, slot: usize) {
        if let Some(Individual { requests, count, seat, .. }) = self.individuals.get_mut(slot) {
            requests.withdraw_all(count, seat);
        } else {
            self.asked.withdraw_mover(slot);
            self.asked.waits.withdraw(slot);
        }
    }

    /// Leaves the owner at a slot in the state `from`, where it was, though its `exit` has run.
    pub(crate) fn stay(&mut self, slot: usize, rows: &Rows<'_, T>, from: &StateRef<T>) {
        let individual = self.individual(slot, rows, None);
        individual.load(rows);
        individual.seat.previous = from.clone();
        individual.is_touched = true;
    }

    /// Drops what the owner at a slot has asked for in a callback that has panicked.
    pub(crate) fn forget(&mut self, slot: usize, panic: &mut FirstPanic) {
        if !self.individuals.forget(slot, panic) {
            self.asked.forget(slot);
        }
    }
}

/// What the owners of a chunk have asked for, except individuals.
pub(crate) struct Asked<T: Owner> {
    /// In the order of slots.
    movers: Vec<Mover>,
    /// Whether some movers are individuals now, or have nothing to do.
    has_stale: bool,
    /// Whether some movers since the last look are forced.
    pub(crate) has_forced: bool,
    /// What was asked for in `exit`s, to be refused.
    pub(crate) misused: Vec<(usize, Request<T>)>,
    /// The timers and sleeps that owners ask for, except individuals.
    pub(crate) waits: Waits,
    /// The lowest slot from which on a request may be a mover.
    open_from: usize,
    /// Whether the bucket's owners can change in bulk.
    is_bulk: bool,
    /// The numbers of singletons that are changed to in bulk.
    pub(crate) numbers: Numbers<T>,
}

impl<T: Owner> Asked<T> {
    pub(crate) fn new() -> Self {
        Self {
            movers: Vec::new(),
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

    /// Lets requests be movers, from the first slot on; changes only where they are made in bulk.
    pub(crate) fn open(&mut self, is_bulk: bool) {
        self.open_from = 0;
        self.is_bulk = is_bulk;
        self.waits.open();
    }

    /// From here on requests of owners up to a slot are no movers.
    pub(crate) fn close_up_to(&mut self, slot: usize) {
        self.open_from = self.open_from.max(slot.saturating_add(1));
    }

    /// From here on requests are no movers.
    pub(crate) fn close(&mut self) {
        self.open_from = usize::MAX;
    }

    /// Writes down that the owner at a slot asks for a change to a singleton. Returns `false` where it takes more than this.
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

    /// Writes down that the owner at a slot asks for a change to the state of a number, unless something is already written down
    /// for this owner or one behind it.
    pub(crate) fn change_to(&mut self, slot: usize, number: u32) -> bool {
        self.is_bulk && self.add(Mover::new(slot, Kind::Change, number))
    }

    /// Whether nothing is written down for the owners from a slot on.
    pub(crate) fn has_none_from(&self, slot: usize) -> bool {
        self.movers.last().is_none_or(|last| last.slot() < slot) && self.waits.has_none_from(slot)
    }

    /// Writes a mover down, unless something is already written down for its owner or one behind it.
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

    /// The owner at a slot becomes an individual. If it was a mover, that is its first request.
    pub(crate) fn supersede(&mut self, slot: usize) -> Option<Mover> {
        let mover = self.mover_of(slot);
        self.has_stale |= mover.is_some();
        self.close_up_to(slot);
        mover
    }

    /// The mover of an owner.
    pub(crate) fn mover_of(&self, slot: usize) -> Option<Mover> {
        let last = self.movers.last().filter(|last| last.slot() >= slot)?;
        // Nearly always the mover that was written down last.
        if last.slot() == slot { Some(*last) } else { Mover::find(&self.movers, slot) }
    }

    /// Takes out the mover of an owner. If it was the last one, its owner may be a mover again.
    fn withdraw_mover(&mut self, slot: usize) {
        let Some(at) = Mover::position(&self.movers, slot) else { return };
        self.movers.remove(at);
        if self.open_from == slot + 1 {
            self.open_from = slot;
        }
    }

    /// Takes out the movers, and adds them to `movers`, without individuals and movers that have nothing to do.
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
    }

    /// Drops what an owner that is no individual has asked for.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.waits.forget(slot);
        self.withdraw_mover(slot);
    }
}
