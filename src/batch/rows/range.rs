//! Some consecutive rows of a bucket without the owners: the data that the batch stores for each owner. Owners in owned states
//! and in states with regions have a seat instead.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use slotmap::SecondaryMap;

use super::columns::NotedColumns;
use crate::batch::known::key::Key;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::{KnownState, NOWHERE, States};
use crate::batch::wait::timers::Timers;
use crate::boxed::RareBox;
use crate::fsm::{Entries, NEVER, View};
use crate::machine::seat::{Rare, Seat, clone_rare_from};
use crate::machine::waiting::{Note, Scope};
use crate::owner::Owner;
use crate::state::{State, StateRef, same};

/// The times of owners, before the batch has seen a clock.
static ZEROS: [f64; 64] = [0.0; 64];

/// The data that few owners have besides their row, by key.
pub(crate) type Extras<T> = SecondaryMap<Key, Extra<T>>;

pub(crate) struct Extra<T: Owner> {
    /// The previous state, when the row has no number for it.
    pub(crate) previous: StateRef<T>,
    /// The stack, the history, and the timers if there are many. The lock allows any thread to take this data out, instead of
    /// copying it, for an owner that finishes its tick alone.
    rare: Mutex<RareBox<Rare<T>>>,
}

impl<T: Owner> Extra<T> {
    /// Creates the data beside a row. `previous` is the previous state if it is kept there, and otherwise `StateRef::NONE`.
    pub(crate) const fn of(previous: StateRef<T>) -> Self {
        Self { previous, rare: Mutex::new(RareBox::NONE) }
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Option<Box<Rare<T>>> {
        self.rare.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, RareBox<Rare<T>>> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies `source`, and reuses the existing memory.
    fn copy_from(&mut self, source: &Self) {
        self.previous.clone_from(&source.previous);
        clone_rare_from(self.rare_mut(), source.lock().as_deref());
    }

    /// Returns whether there is no data. The value may still own memory that can be reused.
    fn is_empty(&self) -> bool {
        self.previous.is_none() && !self.lock().as_deref().is_some_and(Rare::is_memorable)
    }
}

/// Copies the contents of `source` to `extras`, and uses the memory of `spare` for it. Memory that is left over stays in
/// `spare`.
///
/// The states in both are dropped one by one: the map's own methods would leak all states after a state whose `Drop` panics.
pub(crate) fn clone_extras_from<T: Owner>(
    extras: &mut Extras<T>,
    spare: &mut Vec<Extra<T>>,
    source: &Extras<T>,
    panic: &mut FirstPanic,
) {
    spare.extend(extras.drain().map(|(_, extra)| extra));
    for (key, extra) in source.iter().filter(|(_, extra)| !extra.is_empty()) {
        let mut room = spare.pop().unwrap_or(Extra::of(StateRef::NONE));
        panic.catch(|| room.copy_from(extra));
        extras.insert(key, room);
    }
    let nothing = Extra::of(StateRef::NONE);
    for room in &mut *spare {
        panic.catch(|| room.copy_from(&nothing));
    }
    // The next call moves all extras to `spare`.
    spare.reserve(extras.len());
}

/// The data that all rows of a batch share.
pub(crate) struct SharedByRows<'a, T: Owner> {
    pub(crate) states: &'a States<T>,
    pub(crate) extras: &'a Extras<T>,
    pub(crate) timers: &'a Timers<T>,
    /// Whether there is a journal.
    pub(crate) has_journal: bool,
}

impl<T: Owner> Clone for SharedByRows<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Owner> Copy for SharedByRows<'_, T> {}

/// Some consecutive rows of a bucket. Slot 0 is the first of these rows.
pub(crate) struct Rows<'a, T: Owner> {
    pub(crate) bucket: u32,
    pub(crate) shared: SharedByRows<'a, T>,
    pub(crate) noted: NotedColumns<'a>,
}

impl<'a, T: Owner> Rows<'a, T> {
    pub(crate) fn states(&self) -> &'a States<T> {
        self.shared.states
    }

    /// Returns whether the owners sleep.
    pub(crate) fn are_asleep(&self) -> bool {
        self.noted.first < self.noted.asleep
    }

    #[inline]
    pub(crate) fn key(&self, slot: usize) -> Key {
        self.noted.tags[slot].key
    }

    /// Returns whether an owner may have timers, or wakes by itself.
    pub(crate) fn has_timers(&self, slot: usize) -> bool {
        self.noted.tags[slot].has_timers()
    }

    /// Returns the number that a state of the owner at a slot has stored under `key`.
    #[inline]
    pub(crate) fn noted(&self, slot: usize, by: Scope, key: u32) -> Option<f64> {
        let tag = self.noted.tags[slot];
        if !tag.has_timers() {
            return None;
        }
        self.shared.timers.first_noted(tag.key, by, key).or_else(|| self.noted_elsewhere(slot, by, key))
    }

    /// For each owner from the slot `first` on, writes the number that the state with the scope `by` has stored under `key`.
    /// Writes NaN if the state has stored none.
    pub(crate) fn note_each(&self, first: usize, by: Scope, key: u32, numbers: &mut [f64]) {
        let tags = &self.noted.tags[first..first + numbers.len()];
        // The numbers lie far apart. This loop is so short that the processor fetches many at a time.
        for (number, tag) in numbers.iter_mut().zip(tags) {
            *number = self.shared.timers.first_noted(tag.key, by, key).unwrap_or(f64::NAN);
        }
        for (slot, number) in (first..).zip(numbers) {
            if number.is_nan() {
                *number = self.noted(slot, by, key).unwrap_or(f64::NAN);
            }
        }
    }

    /// Replaces the number that a state of the owner at a slot has stored under the same key. Returns `false` if there is no
    /// number that can be replaced during a tick.
    pub(crate) fn replace_note(&self, slot: usize, by: Scope, note: Note) -> bool {
        self.has_timers(slot) && self.shared.timers.replace_first(self.key(slot), by, note)
    }

    #[inline(never)]
    fn noted_elsewhere(&self, slot: usize, by: Scope, key: u32) -> Option<f64> {
        let (timers, owner) = (self.shared.timers, self.key(slot));
        if timers.are_beside(owner) {
            self.with_rare(slot, |rare| rare?.waiting.timers.noted(by, key))
        } else {
            timers.noted(owner, by, key)
        }
    }

    #[inline]
    pub(crate) fn known(&self) -> &'a KnownState<T> {
        self.states().get(self.bucket)
    }

    /// Returns the number of an owner's previous state: `NOWHERE` if there is none, and `None` if the state is in `extras`.
    pub(crate) fn previous_number(&self, slot: usize) -> Option<u32> {
        self.noted.tags[slot].previous()
    }

    /// Returns the previous state of an owner, or `StateRef::NONE`.
    #[inline]
    pub(crate) fn previous(&self, slot: usize) -> &'a StateRef<T> {
        match self.noted.tags[slot].previous() {
            Some(index) => self.states().get(index).state(),
            None => self.kept_previous(slot),
        }
    }

    /// Returns the previous state of an owner whose row has no number for it.
    #[cold]
    fn kept_previous(&self, slot: usize) -> &'a StateRef<T> {
        let nowhere = self.states().get(NOWHERE).state();
        self.shared.extras.get(self.noted.tags[slot].key).map_or(nowhere, |extra| &extra.previous)
    }

    /// Returns when the current states of some owners were entered, if times are kept.
    pub(crate) fn times(&self, slots: &Range<usize>) -> &'a [f64] {
        self.noted.current.get(slots.clone()).unwrap_or_default()
    }

    pub(crate) fn entered_at(&self, slot: usize) -> f64 {
        if self.noted.tags[slot].is_entered() { self.noted.current.get(slot).copied().unwrap_or(0.0) } else { NEVER }
    }

    /// Returns how long an owner has been in its current state. The code uses `get` although no index is ever out of bounds, so
    /// that the compiler removes it if the result is not used.
    #[inline]
    pub(crate) fn time_in_state(&self, slot: usize, now: f64) -> f64 {
        let is_entered = self.noted.tags.get(slot).is_some_and(|tag| tag.is_entered());
        now - if is_entered { self.noted.current.get(slot).copied().unwrap_or(0.0) } else { 0.0 }
    }

    pub(crate) fn ancestors_entered_at(&self, slot: usize) -> &'a [f64] {
        self.noted.ancestors.get(slot * self.noted.depth..(slot + 1) * self.noted.depth).unwrap_or_default()
    }

    /// Returns when each owner in `slots` entered a state, if the state is active and its times are kept.
    pub(crate) fn entries(&self, slots: Range<usize>, state: &dyn State<T>) -> Option<Entries<'a>> {
        let known = self.known();
        if same(&**known.state(), state) {
            let times = self.noted.current.get(slots.clone()).or(ZEROS.get(..slots.len()))?;
            return Some(Entries { times, width: 1, at: 0 });
        }
        let at = known.ancestors.iter().rposition(|ancestor| same(&**ancestor, state))?;
        let width = self.noted.depth;
        let times = self.noted.ancestors.get(slots.start * width..slots.end * width)?;
        Some(Entries { times, width, at })
    }

    /// Calls `look` with the stack, the history and the timers (if many) of an owner, or with `None` if there are none.
    pub(crate) fn with_rare<R>(&self, slot: usize, look: impl FnOnce(Option<&Rare<T>>) -> R) -> R {
        let rare = self.extra(slot).map(Extra::lock);
        look(rare.as_ref().and_then(|rare| rare.as_deref()).filter(|rare| rare.is_memorable()))
    }

    fn extra(&self, slot: usize) -> Option<&'a Extra<T>> {
        if self.shared.extras.is_empty() { None } else { self.shared.extras.get(self.noted.tags[slot].key) }
    }

    /// Returns the view of an owner's machine.
    #[inline]
    pub(crate) fn view(&self, slot: usize, target: &'a StateRef<T>) -> View<'a, T> {
        View {
            current: self.known().state(),
            previous: self.previous(slot),
            target,
            ancestors: &self.known().ancestors,
            entered_at: self.entered_at(slot),
            ancestors_entered_at: self.ancestors_entered_at(slot),
            around: None,
            regions: None,
        }
    }

    /// Copies an owner's data into an empty seat, and reuses the seat's memory.
    pub(crate) fn copy(&self, slot: usize, seat: &mut Seat<T>) {
        self.with_rare(slot, |rare| {
            if let Some(kept) = rare {
                let rare = seat.rare_mut();
                rare.stack.extend(kept.stack.iter().cloned());
                rare.history.extend_from_slice(&kept.history);
            }
        });
        self.load_row(slot, seat);
    }

    /// Loads an owner's data into an empty seat, and reuses the seat's memory. Takes the stack, the history and the timers out of
    /// the data beside the row.
    #[inline]
    pub(crate) fn load(&self, slot: usize, seat: &mut Seat<T>) {
        if let Some(extra) = self.extra(slot) {
            let mut rare = extra.lock();
            if let Some(rare) = rare.as_mut().filter(|rare| rare.is_memorable()) {
                seat.rare_mut().swap_memory(rare, true);
            }
        }
        self.load_row(slot, seat);
    }

    /// Puts the data beside an owner's row back from the seat into which it was loaded. The seat must not have changed since.
    pub(crate) fn put_back(&self, slot: usize, seat: &mut Seat<T>) {
        let (Some(extra), Some(rare)) = (self.extra(slot), &mut *seat.rare) else { return };
        if let Some(kept) = &mut **extra.lock() {
            rare.swap_memory(kept, self.shared.timers.are_beside(self.key(slot)));
        }
    }

    #[inline]
    fn load_row(&self, slot: usize, seat: &mut Seat<T>) {
        let known = self.known();
        seat.current = known.state().clone();
        seat.previous = self.previous(slot).clone();
        seat.entered_at = self.entered_at(slot);
        if !known.ancestors.is_empty() {
            let rare = seat.rare_mut();
            rare.ancestors.extend_from_slice(&known.ancestors);
            rare.ancestors_entered_at.extend_from_slice(self.ancestors_entered_at(slot));
            rare.ancestors_entered_at.resize(known.ancestors.len(), 0.0);
            if seat.entered_at.is_nan() {
                seat.rare_mut().ancestors_entered_at.fill(NEVER);
            }
        }
        if self.are_asleep() || self.has_timers(slot) {
            self.load_waiting(slot, self.are_asleep(), seat);
        }
    }

    /// Reads a part of each piece of data that loading an owner will read, so that this data is in the cache by then.
    pub(crate) fn look_ahead(&self, slot: usize) -> f64 {
        self.entered_at(slot) + self.shared.timers.next(self.key(slot)).unwrap_or(0.0)
    }

    /// Loads an owner's timers and sleep into a seat.
    pub(crate) fn load_waiting(&self, slot: usize, is_asleep: bool, seat: &mut Seat<T>) {
        let key = self.key(slot);
        let are_beside = self.has_timers(slot) && self.shared.timers.are_beside(key);
        if are_beside && !seat.is_waiting() {
            let waiting = &mut seat.rare_mut().waiting;
            self.with_rare(slot, |rare| {
                if let Some(rare) = rare {
                    waiting.clone_from(&rare.waiting);
                }
            });
        }
        if is_asleep {
            if !seat.is_asleep() {
                seat.sleep_until(f64::INFINITY);
            }
            seat.rare_mut().waiting.revision = self.noted.revision;
        }
        if self.has_timers(slot) && !are_beside {
            self.shared.timers.load(key, self.states(), &mut seat.rare_mut().waiting);
        }
    }
}
