//! Some consecutive rows of a bucket without the owners: the data that is noted of each. Owners in owned states have a seat
//! instead.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use slotmap::SecondaryMap;

use super::columns::{NotedColumns, Tag};
use crate::batch::known::key::Key;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::{KnownState, NOWHERE, States};
use crate::batch::wait::timers::Timers;
use crate::fsm::{Entries, NEVER, View};
use crate::machine::seat::{Rare, Seat, clone_rare_from};
use crate::machine::waiting::Scope;
use crate::owner::Owner;
#[cfg(feature = "parallel")]
use crate::state::Mover;
use crate::state::{State, StateRef, same};

/// The data that few owners have besides their row, by key.
pub(crate) type Extras<T> = SecondaryMap<Key, Extra<T>>;

pub(crate) struct Extra<T: Owner> {
    /// The previous state, when the row has no number for it.
    pub(crate) previous: StateRef<T>,
    /// The stack, the history and many timers. Behind a lock, so that an owner that has its tick by itself takes them out and
    /// need not copy them, on whichever thread that is.
    rare: Mutex<Option<Box<Rare<T>>>>,
}

impl<T: Owner> Extra<T> {
    /// The previous state, if it is kept beside the row; else `StateRef::NONE`.
    pub(crate) const fn of(previous: StateRef<T>) -> Self {
        Self { previous, rare: Mutex::new(None) }
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Option<Box<Rare<T>>> {
        self.rare.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Rare<T>>>> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is nothing in it but room.
    fn is_nothing(&self) -> bool {
        self.previous.is_none() && !is_memorable(self.lock().as_deref())
    }
}

fn is_memorable<T: Owner>(rare: Option<&Rare<T>>) -> bool {
    rare.is_some_and(Rare::is_memorable)
}

/// Copies what is in `source` into `extras`, with the room of `spare`, in which the room that is left over stays.
///
/// The states in both are dropped one by one: the map's own methods would leak all states behind one whose `Drop` panics.
pub(crate) fn clone_extras_from<T: Owner>(
    extras: &mut Extras<T>,
    spare: &mut Vec<Extra<T>>,
    source: &Extras<T>,
    panic: &mut FirstPanic,
) {
    spare.extend(extras.drain().map(|(_, extra)| extra));
    for (key, extra) in source.iter().filter(|(_, extra)| !extra.is_nothing()) {
        let mut room = spare.pop().unwrap_or(Extra::of(StateRef::NONE));
        panic.catch(|| room.clone_from(extra));
        extras.insert(key, room);
    }
    let nothing = Extra::of(StateRef::NONE);
    for room in &mut *spare {
        panic.catch(|| room.clone_from(&nothing));
    }
    // For the next time, when they are put there.
    spare.reserve(extras.len());
}

/// What a batch keeps for all of its rows together.
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

pub(crate) struct Rows<'a, T: Owner> {
    pub(crate) bucket: u32,
    pub(crate) states: &'a States<T>,
    extras: &'a Extras<T>,
    timers: &'a Timers<T>,
    tags: &'a [Tag],
    /// When each owner's current state was entered; empty where no times are kept.
    entered_at: &'a [f64],
    ancestors_entered_at: &'a [f64],
    depth: usize,
    /// Whether they sleep.
    pub(crate) is_asleep: bool,
    /// The earliest revision of the state in which they may have fallen asleep.
    revision: usize,
    /// Whether what they do is written down.
    pub(crate) has_journal: bool,
}

impl<'a, T: Owner> Rows<'a, T> {
    pub(crate) fn new(
        noted: NotedColumns<'a>,
        range: Range<usize>,
        bucket: u32,
        SharedByRows { states, extras, timers, has_journal }: SharedByRows<'a, T>,
    ) -> Self {
        let NotedColumns { first, tags, current, ancestors, depth, asleep, revision, .. } = noted;
        let rows = range.start - first..range.end - first;
        Self {
            bucket,
            states,
            extras,
            timers,
            is_asleep: range.start < asleep,
            revision,
            has_journal,
            tags: &tags[rows.clone()],
            entered_at: current.get(rows.clone()).unwrap_or_default(),
            ancestors_entered_at: ancestors.get(rows.start * depth..rows.end * depth).unwrap_or_default(),
            depth,
        }
    }

    #[inline]
    pub(crate) fn key(&self, slot: usize) -> Key {
        self.tags[slot].key
    }

    #[cfg(feature = "parallel")]
    pub(crate) fn tags(&self) -> &'a [Tag] {
        self.tags
    }

    /// Whether more is kept of any owner than its row.
    #[cfg(feature = "parallel")]
    pub(crate) fn have_more(&self) -> bool {
        !self.extras.is_empty() || !self.timers.is_empty()
    }

    /// Whether there are states around the one that a mover leaves, or around the one that it has entered.
    #[cfg(feature = "parallel")]
    pub(crate) fn is_nested(&self, mover: Mover) -> bool {
        self.states.is_nested(self.bucket) || self.states.is_nested(mover.target())
    }

    /// Whether an owner may have timers, or wakes by itself.
    pub(crate) fn has_timers(&self, slot: usize) -> bool {
        self.tags[slot].has_timers()
    }

    /// The number that a state of the owner at a slot keeps about something.
    pub(crate) fn noted(&self, slot: usize, by: Scope, key: u32) -> Option<f64> {
        let owner = self.key(slot);
        if !self.has_timers(slot) {
            None
        } else if self.timers.are_beside(owner) {
            self.with_rare(slot, |rare| rare?.waiting.timers.noted(by, key))
        } else {
            self.timers.noted(owner, by, key)
        }
    }

    pub(crate) fn known(&self) -> &'a KnownState<T> {
        self.states.get(self.bucket)
    }

    /// The number of the previous state of an owner, if there is a previous state and it has a number.
    pub(crate) fn previous_index(&self, slot: usize) -> Option<u32> {
        self.previous_number(slot).filter(|&index| index != NOWHERE)
    }

    /// The number of the previous state of an owner, `NOWHERE` if it has none; `None` if the state is kept elsewhere.
    pub(crate) fn previous_number(&self, slot: usize) -> Option<u32> {
        self.tags[slot].previous()
    }

    /// The previous state of an owner, or `StateRef::NONE`.
    #[inline]
    pub(crate) fn previous(&self, slot: usize) -> &'a StateRef<T> {
        match self.tags[slot].previous() {
            Some(index) => self.states.get(index).state(),
            None => self.kept_previous(slot),
        }
    }

    /// The previous state of an owner whose row has no number for it.
    #[cold]
    fn kept_previous(&self, slot: usize) -> &'a StateRef<T> {
        let nowhere = self.states.get(NOWHERE).state();
        self.extras.get(self.tags[slot].key).map_or(nowhere, |extra| &extra.previous)
    }

    /// When the current states of some owners were entered, if times are kept.
    pub(crate) fn times(&self, slots: &Range<usize>) -> &'a [f64] {
        self.entered_at.get(slots.clone()).unwrap_or_default()
    }

    pub(crate) fn entered_at(&self, slot: usize) -> f64 {
        if self.tags[slot].is_entered() { self.entered_at.get(slot).copied().unwrap_or(0.0) } else { NEVER }
    }

    /// How long an owner has been in its current state. No index is ever out of bounds; but written like this, the
    /// compiler drops the code where the result is not used.
    #[inline]
    pub(crate) fn time_in_state(&self, slot: usize, now: f64) -> f64 {
        let is_entered = self.tags.get(slot).is_some_and(|tag| tag.is_entered());
        now - if is_entered { self.entered_at.get(slot).copied().unwrap_or(0.0) } else { 0.0 }
    }

    pub(crate) fn ancestors_entered_at(&self, slot: usize) -> &'a [f64] {
        self.ancestors_entered_at.get(slot * self.depth..(slot + 1) * self.depth).unwrap_or_default()
    }

    /// When each owner of some slots entered a state, if times are kept and the state is active in them.
    pub(crate) fn entries(&self, slots: Range<usize>, state: &dyn State<T>) -> Option<Entries<'a>> {
        let known = self.known();
        if same(&**known.state(), state) {
            return Some(Entries { times: self.entered_at.get(slots)?, width: 1, at: 0 });
        }
        let at = known.ancestors.iter().rposition(|ancestor| same(&**ancestor, state))?;
        let width = self.depth;
        let times = self.ancestors_entered_at.get(slots.start * width..slots.end * width)?;
        Some(Entries { times, width, at })
    }

    /// Shows the stack, the history and the many timers of an owner, if it has any.
    pub(crate) fn with_rare<R>(&self, slot: usize, look: impl FnOnce(Option<&Rare<T>>) -> R) -> R {
        let rare = self.extra(slot).map(Extra::lock);
        look(rare.as_ref().and_then(|rare| rare.as_deref()).filter(|rare| rare.is_memorable()))
    }

    fn extra(&self, slot: usize) -> Option<&'a Extra<T>> {
        if self.extras.is_empty() { None } else { self.extras.get(self.tags[slot].key) }
    }

    /// What can be asked of an owner whose current state is `current`.
    pub(crate) fn view<'v>(&'v self, slot: usize, current: &'v StateRef<T>, target: &'v StateRef<T>) -> View<'v, T> {
        View {
            current,
            previous: self.previous(slot),
            target,
            ancestors: &self.known().ancestors,
            entered_at: self.entered_at(slot),
            ancestors_entered_at: self.ancestors_entered_at(slot),
        }
    }

    /// Copies an owner whose current state is `current` into an empty seat, whose room is used.
    pub(crate) fn copy(&self, slot: usize, current: &StateRef<T>, seat: &mut Seat<T>) {
        self.with_rare(slot, |rare| {
            if let Some(kept) = rare {
                let rare = seat.rare_mut();
                rare.stack.extend(kept.stack.iter().cloned());
                rare.history.extend_from_slice(&kept.history);
            }
        });
        self.load_row(slot, current, seat);
    }

    /// Loads an owner whose current state is `current` into an empty seat, whose room is used. What is beside its row is taken
    /// out.
    #[inline]
    pub(crate) fn load(&self, slot: usize, current: &StateRef<T>, seat: &mut Seat<T>) {
        if let Some(extra) = self.extra(slot) {
            let mut rare = extra.lock();
            if let Some(rare) = rare.as_mut().filter(|rare| rare.is_memorable()) {
                seat.rare_mut().swap_memory(rare, true);
            }
        }
        self.load_row(slot, current, seat);
    }

    /// Puts what an owner has beside its row back from a seat into which it was loaded, and on which nothing has happened since.
    pub(crate) fn put_back(&self, slot: usize, seat: &mut Seat<T>) {
        let (Some(extra), Some(rare)) = (self.extra(slot), &mut seat.rare) else { return };
        if let Some(kept) = &mut *extra.lock() {
            rare.swap_memory(kept, self.timers.are_beside(self.key(slot)));
        }
    }

    #[inline]
    fn load_row(&self, slot: usize, current: &StateRef<T>, seat: &mut Seat<T>) {
        seat.current = current.clone();
        seat.previous = self.previous(slot).clone();
        seat.entered_at = self.entered_at(slot);
        if !self.known().ancestors.is_empty() {
            self.load_ancestors(slot, seat);
        }
        if self.is_asleep || self.has_timers(slot) {
            self.load_waiting(slot, self.is_asleep, seat);
        }
    }

    fn load_ancestors(&self, slot: usize, seat: &mut Seat<T>) {
        let (ancestors, rare) = (&self.known().ancestors, seat.rare_mut());
        rare.ancestors.extend_from_slice(ancestors);
        rare.ancestors_entered_at.extend_from_slice(self.ancestors_entered_at(slot));
        rare.ancestors_entered_at.resize(ancestors.len(), 0.0);
    }

    /// Reads a part of each piece of data that loading an owner will read.
    pub(crate) fn look_ahead(&self, slot: usize) -> f64 {
        self.entered_at(slot) + self.timers.next(self.key(slot)).unwrap_or(0.0)
    }

    /// Loads what an owner waits for.
    pub(crate) fn load_waiting(&self, slot: usize, is_asleep: bool, seat: &mut Seat<T>) {
        let key = self.key(slot);
        let are_beside = self.has_timers(slot) && self.timers.are_beside(key);
        if are_beside && !seat.is_waiting() {
            let waiting = &mut seat.rare_mut().waiting;
            self.with_rare(slot, |rare| rare.into_iter().for_each(|rare| waiting.clone_from(&rare.waiting)));
        }
        if is_asleep {
            if !seat.is_asleep() {
                seat.sleep_until(f64::INFINITY);
            }
            seat.rare_mut().waiting.revision = self.revision;
        }
        if self.has_timers(slot) && !are_beside {
            self.timers.load(key, self.states, &mut seat.rare_mut().waiting);
        }
    }
}

impl<T: Owner> Clone for Extra<T> {
    fn clone(&self) -> Self {
        Self { previous: self.previous.clone(), rare: Mutex::new(self.lock().clone()) }
    }

    fn clone_from(&mut self, source: &Self) {
        self.previous.clone_from(&source.previous);
        clone_rare_from(self.rare_mut(), source.lock().as_deref());
    }
}
