//! The rows of one bucket, as columns: the owners side by side, and what the batch notes of each beside them.

use std::mem;
use std::ops::Range;

use slotmap::{DefaultKey, SparseSecondaryMap};

use super::states::{NOWHERE, States};
use crate::owner::Owner;
use crate::seat::{Rare, Seat};
use crate::slice::Rows;
use crate::state::{State, StateRef};

/// A tick in which nobody changes touches `owners` alone.
pub(super) struct Columns<T: Owner> {
    pub(super) owners: Vec<T>,
    pub(super) notes: Notes<T>,
}

pub(super) struct Notes<T: Owner> {
    pub(super) tags: Vec<Tag>,
    /// When each owner changed to its state, in seconds. Empty until the batch has seen a clock.
    pub(super) entered_at: Vec<f64>,
    /// In a bucket of owned states, each owner's; elsewhere empty.
    pub(super) own: Vec<StateRef<T>>,
}

/// What is noted of every owner. In one column, since whoever moves an owner needs both.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub(super) key: DefaultKey,
    /// The number of the previous state, or `ASIDE`.
    pub(super) previous: u32,
}

/// In a row, instead of the previous state's number: it has none, and is kept aside.
pub(super) const ASIDE: u32 = u32::MAX;

/// What few owners have besides their row, by key.
pub(super) type Asides<T> = SparseSecondaryMap<DefaultKey, Aside<T>>;

pub(super) struct Aside<T: Owner> {
    /// The previous state, when its row says `ASIDE`.
    pub(super) previous: StateRef<T>,
    /// The stack and the history.
    pub(super) rare: Option<Box<Rare<T>>>,
}

impl<T: Owner> Columns<T> {
    pub(super) const fn new() -> Self {
        let notes = Notes { tags: Vec::new(), entered_at: Vec::new(), own: Vec::new() };
        Self { owners: Vec::new(), notes }
    }

    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Gives every row the time 0, from when on times are kept.
    pub(super) fn start_clock(&mut self) {
        self.notes.entered_at.resize(self.owners.len(), 0.0);
    }

    /// Adds a row. Its time is given if times are kept, its own state in a bucket of owned states.
    pub(super) fn push(&mut self, owner: T, tag: Tag, entered_at: Option<f64>, own: Option<StateRef<T>>) {
        self.owners.push(owner);
        self.notes.tags.push(tag);
        self.notes.entered_at.extend(entered_at);
        self.notes.own.extend(own);
    }

    /// Takes out the row at `slot`. The last row takes its place.
    pub(super) fn swap_remove(&mut self, slot: usize) -> T {
        let notes = &mut self.notes;
        notes.tags.swap_remove(slot);
        if !notes.entered_at.is_empty() {
            notes.entered_at.swap_remove(slot);
        }
        if !notes.own.is_empty() {
            notes.own.swap_remove(slot);
        }
        self.owners.swap_remove(slot)
    }

    /// Moves the row at `slot` to the end of `to`. The last row takes its place. Its time is given if times are kept. Neither
    /// bucket is of owned states.
    #[inline]
    pub(super) fn move_row(&mut self, slot: usize, to: &mut Self, previous: u32, entered_at: Option<f64>) {
        to.owners.push(self.owners.swap_remove(slot));
        let (notes, to) = (&mut self.notes, &mut to.notes);
        to.tags.push(Tag { previous, ..notes.tags.swap_remove(slot) });
        if let Some(entered_at) = entered_at {
            notes.entered_at.swap_remove(slot);
            to.entered_at.push(entered_at);
        }
    }

    /// Moves all rows of `other` to the end of this one's.
    pub(super) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            mem::swap(self, other);
        } else {
            self.owners.append(&mut other.owners);
            self.notes.tags.append(&mut other.notes.tags);
            self.notes.entered_at.append(&mut other.notes.entered_at);
            self.notes.own.append(&mut other.notes.own);
        }
    }
}

/// Some consecutive rows of a bucket, all but the owners.
pub(super) struct RowSlice<'a, T: Owner> {
    pub(super) bucket: u32,
    pub(super) states: &'a States<T>,
    asides: &'a Asides<T>,
    tags: &'a [Tag],
    pub(super) entered_at: &'a [f64],
    own: &'a [StateRef<T>],
}

impl<'a, T: Owner> RowSlice<'a, T> {
    pub(super) fn new(
        notes: &'a Notes<T>,
        range: Range<usize>,
        bucket: u32,
        states: &'a States<T>,
        asides: &'a Asides<T>,
    ) -> Self {
        Self {
            bucket,
            states,
            asides,
            tags: &notes.tags[range.clone()],
            entered_at: notes.entered_at.get(range.clone()).unwrap_or_default(),
            own: notes.own.get(range).unwrap_or_default(),
        }
    }

    pub(super) fn key(&self, slot: u32) -> DefaultKey {
        self.tags[slot as usize].key
    }

    /// The current state of an owner, or `StateRef::NONE`.
    pub(super) fn current(&self, slot: u32) -> &'a StateRef<T> {
        self.own.get(slot as usize).unwrap_or(self.states.get(self.bucket).state())
    }

    /// The previous state of an owner, or `StateRef::NONE`.
    pub(super) fn previous(&self, slot: u32) -> &'a StateRef<T> {
        let nowhere = self.states.get(NOWHERE).state();
        let Tag { key, previous } = self.tags[slot as usize];
        match previous {
            ASIDE => self.asides.get(key).map_or(nowhere, |aside| &aside.previous),
            index => self.states.get(index).state(),
        }
    }

    /// The seat of an owner, with all that is its own.
    pub(super) fn seat(&self, slot: u32) -> Seat<T> {
        let mut seat = Seat::empty();
        self.load(slot, &mut seat);
        seat
    }

    /// As [`seat`](Self::seat), in one that was another's, whose room is used.
    pub(super) fn load(&self, slot: u32, seat: &mut Seat<T>) {
        let known = self.states.get(self.bucket);
        if known.is_owned {
            seat.place(self.current(slot).clone());
        } else {
            seat.copy_path(&known.seat);
        }
        seat.previous = self.previous(slot).clone();
        seat.entered_at = self.entered_at.get(slot as usize).copied().unwrap_or_default();
        match (self.rare(slot), &mut seat.rare) {
            (Some(rare), _) => seat.rare_mut().recall(rare),
            (None, Some(others)) => others.recall(&Rare::default()),
            (None, None) => {}
        }
    }
}

impl<T: Owner> Rows<T> for RowSlice<'_, T> {
    fn index_of(&self, state: &dyn State<T>) -> Option<u32> {
        self.states.index_of(state).filter(|&index| self.states.get(index).is_flat)
    }

    fn state(&self, index: u32) -> &StateRef<T> {
        self.states.get(index).state()
    }

    fn previous(&self, slot: u32) -> &StateRef<T> {
        self.previous(slot)
    }

    fn rare(&self, slot: u32) -> Option<&Rare<T>> {
        self.asides.get(self.key(slot))?.rare.as_deref()
    }
}

impl<T: Owner + Clone> Clone for Columns<T> {
    fn clone(&self) -> Self {
        let Notes { tags, entered_at, own } = &self.notes;
        let notes = Notes { tags: tags.clone(), entered_at: entered_at.clone(), own: own.clone() };
        Self { owners: self.owners.clone(), notes }
    }
}

impl<T: Owner> Clone for Aside<T> {
    fn clone(&self) -> Self {
        Self { previous: self.previous.clone(), rare: self.rare.clone() }
    }
}
