//! What the owners of a chunk have asked for.
//!
//! Nearly all of them ask for nothing, or for one change between flat states: these are *movers*, eight bytes each, which are
//! done together. An owner that asks for anything else is an [`Individual`]: it gets a seat, and finishes its tick by itself.

use std::hash::{Hash, Hasher};
use std::mem;
use std::ptr;

use super::panics::FirstPanic;
use super::pass::CHUNK;
use super::states::States;
use crate::change::Cause;
use crate::fsm::Request;
use crate::owner::Owner;
use crate::requests::Requests;
use crate::seat::Seat;
use crate::single::Single;
use crate::state::{Mover, State, StateRef};

/// What a mover asks for, in few bits.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(super) enum Kind {
    Change,
    Force,
    Revert,
    /// A state is to be ensured that is active: nothing is done.
    Nothing,
}

impl Mover {
    #[inline]
    pub(super) fn new(slot: usize, kind: Kind, target: u32) -> Self {
        Self(u64::from(target) << 32 | (kind as u64) << Self::SLOT_BITS | slot as u64)
    }

    /// The number of the state that the owner asks for.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the upper half")]
    pub(super) fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.0 >> Self::SLOT_BITS & 3 {
            0 => Kind::Change,
            1 => Kind::Force,
            2 => Kind::Revert,
            _ => Kind::Nothing,
        }
    }

    #[inline]
    pub(super) fn cause(self) -> Cause {
        match self.kind() {
            Kind::Change | Kind::Nothing => Cause::Change,
            Kind::Force => Cause::Force,
            Kind::Revert => Cause::Revert,
        }
    }

    /// The request as a machine would have it.
    pub(super) fn request<T: Owner>(self, states: &States<T>) -> Option<Request<T>> {
        match self.kind() {
            Kind::Change => Some(Request::Change(states.get(self.target()).state().clone())),
            Kind::Force => Some(Request::Force(states.get(self.target()).state().clone())),
            Kind::Revert => Some(Request::Revert),
            Kind::Nothing => None,
        }
    }
}

/// An owner that finishes its tick by itself.
pub(super) struct Individual<T: Owner> {
    pub(super) slot: usize,
    pub(super) seat: Seat<T>,
    pub(super) requests: Requests<T>,
    /// How many changes its callback has led to.
    count: u32,
    /// Whether a callback has changed it at once.
    pub(super) has_changed: bool,
}

impl<T: Owner> Individual<T> {
    pub(super) fn new(slot: usize, seat: Seat<T>, count: u32) -> Self {
        Self { slot, seat, requests: Requests::new(), count, has_changed: false }
    }

    /// Runs it as a machine.
    pub(super) fn run<R>(&mut self, global: &StateRef<T>, act: impl FnOnce(&mut Single<'_, T>) -> R) -> R {
        let mut single = Single::new(&mut self.seat, global);
        single.requests = mem::take(&mut self.requests);
        single.count = self.count;
        let result = act(&mut single);
        self.has_changed |= single.made > 0;
        self.count = single.count;
        self.requests = mem::take(&mut single.requests);
        result
    }
}

pub(super) struct Asked<T: Owner> {
    /// In the order of slots.
    movers: Vec<Mover>,
    /// Whether some movers are individuals now, or have nothing to do.
    has_stale: bool,
    individuals: Vec<Individual<T>>,
    /// By slot: one more than the place among the individuals, or 0.
    places: Vec<u16>,
    /// What was asked for in `exit`s, to be refused.
    pub(super) misused: Vec<(usize, Request<T>)>,
    /// The lowest slot from which on a request may be a mover.
    open_from: usize,
    seen: Box<[Seen<T>; SEEN]>,
}

/// The number that a singleton has been found to have. A type's vtable has several addresses, so that there may be several
/// entries for one state; a wrong number there cannot be, since singletons keep theirs.
struct Seen<T: Owner> {
    state: Option<&'static dyn State<T>>,
    index: u32,
}

const SEEN: usize = 256;

impl<T: Owner> Asked<T> {
    pub(super) fn new() -> Self {
        Self {
            movers: Vec::new(),
            has_stale: false,
            individuals: Vec::new(),
            places: Vec::new(),
            misused: Vec::new(),
            open_from: 0,
            seen: Box::new([const { Seen { state: None, index: 0 } }; SEEN]),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.movers.is_empty() && self.individuals.is_empty()
    }

    pub(super) fn has_movers(&self) -> bool {
        !self.movers.is_empty()
    }

    /// Lets requests be movers, from the first slot on.
    pub(super) fn open(&mut self) {
        self.open_from = 0;
    }

    /// From here on requests are no movers.
    pub(super) fn close(&mut self) {
        self.open_from = usize::MAX;
    }

    /// Writes down that the owner at a slot asks for a change to a flat singleton, unless that takes more than this.
    #[inline]
    pub(super) fn change(&mut self, slot: usize, state: &'static dyn State<T>) -> bool {
        let seen = &self.seen[Entry::of(state)];
        let has_room = self.movers.len() < self.movers.capacity();
        if slot < self.open_from || !has_room || !seen.state.is_some_and(|seen| ptr::eq(seen, state)) {
            return false;
        }
        self.movers.push(Mover::new(slot, Kind::Change, seen.index));
        self.open_from = slot + 1;
        true
    }

    /// Remembers the number of a flat singleton.
    pub(super) fn remember(&mut self, state: &'static dyn State<T>, index: u32) {
        self.seen[Entry::of(state)] = Seen { state: Some(state), index };
    }

    /// Writes a mover down, if nothing is written of its owner, nor of one behind it.
    pub(super) fn add(&mut self, mover: Mover) -> bool {
        let slot = mover.slot();
        let is_open = slot >= self.open_from;
        if is_open {
            self.has_stale |= mover.kind() == Kind::Nothing;
            self.movers.push(mover);
            self.open_from = slot + 1;
        }
        is_open
    }

    /// The owner at a slot, if it is an individual.
    #[inline]
    pub(super) fn individual(&self, slot: usize) -> Option<&Individual<T>> {
        if self.individuals.is_empty() {
            return None;
        }
        let place = usize::from(*self.places.get(slot)?);
        self.individuals.get(place.checked_sub(1)?)
    }

    pub(super) fn individual_mut(&mut self, slot: usize) -> Option<&mut Individual<T>> {
        if self.individuals.is_empty() {
            return None;
        }
        let place = usize::from(*self.places.get(slot)?);
        self.individuals.get_mut(place.checked_sub(1)?)
    }

    /// Makes an individual of an owner that is none. If it was a mover, that is its first request.
    pub(super) fn add_individual(&mut self, mut individual: Individual<T>, states: &States<T>) {
        let slot = individual.slot;
        if let Some(mover) = self.mover_of(slot) {
            self.has_stale = true;
            if let Some(request) = mover.request(states) {
                individual.requests.push(request);
            }
        }
        if self.places.len() <= slot {
            self.places.resize(CHUNK.max(slot + 1), 0);
        }
        self.open_from = self.open_from.max(slot.saturating_add(1));
        self.individuals.push(individual);
        self.places[slot] = u16::try_from(self.individuals.len()).unwrap_or(u16::MAX);
    }

    fn mover_of(&self, slot: usize) -> Option<Mover> {
        let last = *self.movers.last()?;
        // Nearly always the one that was written last.
        let at = if last.slot() == slot {
            self.movers.len() - 1
        } else {
            self.movers.binary_search_by_key(&slot, |mover| mover.slot()).ok()?
        };
        self.movers.get(at).copied()
    }

    /// Whether anything waits that the owner at a slot has asked for.
    pub(super) fn has_requests(&self, slot: usize) -> bool {
        match self.individual(slot) {
            Some(individual) => !individual.requests.is_empty(),
            None => self.mover_of(slot).is_some(),
        }
    }

    /// Takes out the movers, and adds them to `movers`. Those that are individuals, or have nothing to do, are left out.
    pub(super) fn take_movers(&mut self, movers: &mut Vec<Mover>) {
        if mem::take(&mut self.has_stale) {
            let is_individual = |mover: &Mover| self.individual(mover.slot()).is_some();
            movers.extend(
                self.movers.iter().filter(|mover| mover.kind() != Kind::Nothing && !is_individual(mover)).copied(),
            );
        } else if movers.is_empty() {
            mem::swap(&mut self.movers, movers);
        } else {
            movers.extend_from_slice(&self.movers);
        }
        self.movers.clear();
    }

    /// Takes out the individuals, by ascending slot.
    pub(super) fn take_individuals(&mut self) -> Vec<Individual<T>> {
        for individual in &self.individuals {
            self.places[individual.slot] = 0;
        }
        let mut individuals = mem::take(&mut self.individuals);
        if !individuals.is_sorted_by_key(|individual| individual.slot) {
            individuals.sort_unstable_by_key(|individual| individual.slot);
        }
        individuals
    }

    /// Gives the room back that the individuals were in.
    pub(super) fn reuse(&mut self, emptied: Vec<Individual<T>>) {
        if emptied.is_empty() && self.individuals.is_empty() {
            self.individuals = emptied;
        }
    }

    /// Drops what the owner at a slot has asked for.
    pub(super) fn forget(&mut self, slot: usize, panic: &mut FirstPanic) {
        match self.individual_mut(slot) {
            Some(individual) => {
                let requests = mem::take(&mut individual.requests);
                panic.catch(|| drop(requests));
            }
            None => self.movers.retain(|mover| mover.slot() != slot),
        }
    }
}

/// Finds the entry of a reference in the cache. Both words of it count, since all singletons without a size may share an
/// address.
struct Entry(u64);

impl Entry {
    #[inline]
    fn of<T: Owner>(state: &'static dyn State<T>) -> usize {
        let mut entry = Self(0);
        ptr::from_ref(state).hash(&mut entry);
        // Knuth's multiplicative hash: every bit of the words counts in the highest eight.
        let [.., highest] = entry.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        highest.into()
    }
}

impl Hasher for Entry {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.0 = self.0.rotate_left(32) ^ word as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
