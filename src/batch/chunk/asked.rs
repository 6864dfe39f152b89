//! What the owners of a chunk have asked for.
//!
//! Nearly all of them ask for nothing, or for one change: these are *movers*, eight bytes each, which are
//! done together. An owner that asks for anything else is an individual.

use std::mem;

use super::waits::Waits;
use crate::batch::known::numbers::Numbers;
use crate::batch::rows::individuals::Individuals;
use crate::batch::rows::movers::{self, Kind};
use crate::fsm::Request;
use crate::owner::Owner;
use crate::state::{Mover, State};

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
    numbers: Numbers<T>,
}

impl<T: Owner> Asked<T> {
    pub(crate) fn new() -> Self {
        Self {
            movers: Vec::new(),
            has_stale: false,
            has_forced: false,
            misused: Vec::new(),
            waits: Waits::new(),
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

    /// Forgets the numbers of singletons.
    pub(crate) fn forget_numbers(&mut self) {
        self.numbers.clear();
    }

    /// The number of a singleton that is changed to in bulk, if it is remembered.
    pub(crate) fn number_of(&self, state: &'static dyn State<T>) -> Option<u32> {
        self.numbers.get(state)
    }

    /// Remembers the number of a singleton that is changed to in bulk.
    pub(crate) fn remember(&mut self, state: &'static dyn State<T>, index: u32) {
        self.numbers.set(state, index);
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

    /// Strikes out the mover of an owner. If it was the last, its owner may be a mover again.
    pub(crate) fn withdraw_mover(&mut self, slot: usize) {
        let Some(at) = movers::position(&self.movers, slot) else { return };
        self.movers.remove(at);
        if self.open_from == slot + 1 {
            self.open_from = slot;
        }
    }

    /// The mover of an owner.
    pub(crate) fn mover_of(&self, slot: usize) -> Option<Mover> {
        let last = self.movers.last().filter(|last| last.slot() >= slot)?;
        // Nearly always the mover that was written down last.
        if last.slot() == slot { Some(*last) } else { movers::find(&self.movers, slot) }
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
