//! The rows of one bucket, as columns: the owners side by side, and what the batch keeps of each beside them.

use std::ops::Range;

use slotmap::{DefaultKey, SlotMap, SparseSecondaryMap};

use super::states::{NOWHERE, States};
use crate::owner::Owner;
use crate::seat::{Rare, Seat};
use crate::slice::Rows;
use crate::state::{State, StateRef};

/// Where each key's owner is.
pub(super) type Places = SlotMap<DefaultKey, Place>;

#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) bucket: u32,
    pub(super) slot: u32,
}

/// What few owners have besides their row, by key.
pub(super) type Asides<T> = SparseSecondaryMap<DefaultKey, Aside<T>>;

pub(super) struct Aside<T: Owner> {
    /// The previous state, when its row says `ASIDE`.
    pub(super) previous: StateRef<T>,
    /// The stack and the history.
    pub(super) rare: Option<Box<Rare<T>>>,
}

impl<T: Owner> Clone for Aside<T> {
    fn clone(&self) -> Self {
        Self { previous: self.previous.clone(), rare: self.rare.clone() }
    }
}

/// In a row, instead of the previous state's number: it has none, and is kept aside.
pub(super) const ASIDE: u32 = u32::MAX;

/// A tick in which nobody changes touches `owners` alone.
pub(super) struct Columns<T: Owner> {
    pub(super) owners: Vec<T>,
    pub(super) keys: Vec<DefaultKey>,
    /// The number of each owner's previous state, or `ASIDE`.
    pub(super) previous: Vec<u32>,
    /// When each owner changed to its state, in seconds. Empty until the batch has seen a clock.
    pub(super) entered_at: Vec<f64>,
    /// In a bucket of owned states, each owner's; elsewhere empty.
    pub(super) own: Vec<StateRef<T>>,
}

impl<T: Owner> Columns<T> {
    pub(super) const fn new() -> Self {
        Self { owners: Vec::new(), keys: Vec::new(), previous: Vec::new(), entered_at: Vec::new(), own: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Gives every row the time 0, from when on times are kept.
    pub(super) fn start_clock(&mut self) {
        self.entered_at.resize(self.owners.len(), 0.0);
    }

    /// Moves the row at `slot` to the end of `to`. The last row takes its place.
    #[inline]
    pub(super) fn move_row(&mut self, slot: usize, to: &mut Self, previous: u32, entered_at: f64, has_clock: bool) {
        to.owners.push(self.owners.swap_remove(slot));
        to.keys.push(self.keys.swap_remove(slot));
        self.previous.swap_remove(slot);
        to.previous.push(previous);
        if has_clock {
            self.entered_at.swap_remove(slot);
            to.entered_at.push(entered_at);
        }
    }

    /// Moves all rows of `other` to the end of this one's.
    pub(super) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, other);
        } else {
            self.owners.append(&mut other.owners);
            self.keys.append(&mut other.keys);
            self.previous.append(&mut other.previous);
            self.entered_at.append(&mut other.entered_at);
            self.own.append(&mut other.own);
        }
    }

    /// The owners of some rows, and all else of those rows.
    pub(super) fn split<'a>(
        &'a mut self,
        range: Range<usize>,
        bucket: u32,
        states: &'a States<T>,
        asides: &'a Asides<T>,
    ) -> (&'a mut [T], RowSlice<'a, T>) {
        let entered_at = if self.entered_at.is_empty() { &[] } else { &self.entered_at[range.clone()] };
        let own = if self.own.is_empty() { &[] } else { &self.own[range.clone()] };
        let (keys, previous) = (&self.keys[range.clone()], &self.previous[range.clone()]);
        (&mut self.owners[range], RowSlice { bucket, states, asides, keys, previous, entered_at, own })
    }
}

/// Some consecutive rows of a bucket, all but the owners.
pub(super) struct RowSlice<'a, T: Owner> {
    pub(super) bucket: u32,
    pub(super) states: &'a States<T>,
    asides: &'a Asides<T>,
    pub(super) keys: &'a [DefaultKey],
    previous: &'a [u32],
    pub(super) entered_at: &'a [f64],
    own: &'a [StateRef<T>],
}

impl<T: Owner> RowSlice<'_, T> {
    /// The seat of an owner, with all that is its own.
    pub(super) fn seat(&self, slot: u32) -> Seat<T> {
        let known = self.states.get(self.bucket);
        let at = slot as usize;
        let mut seat = if known.is_owned { Seat::new(self.own[at].clone()) } else { known.seat.clone() };
        seat.previous = self.previous(slot).clone();
        seat.entered_at = self.entered_at.get(at).copied().unwrap_or_default();
        if let Some(rare) = self.rare(slot) {
            seat.rare_mut().recall(rare);
        }
        seat
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
        let index = self.previous[slot as usize];
        if index != ASIDE {
            return self.state(index);
        }
        let aside = self.asides.get(self.keys[slot as usize]);
        aside.map_or(self.state(NOWHERE), |aside| &aside.previous)
    }

    fn rare(&self, slot: u32) -> Option<&Rare<T>> {
        self.asides.get(self.keys[slot as usize])?.rare.as_deref()
    }
}

impl<T: Owner + Clone> Clone for Columns<T> {
    fn clone(&self) -> Self {
        Self {
            owners: self.owners.clone(),
            keys: self.keys.clone(),
            previous: self.previous.clone(),
            entered_at: self.entered_at.clone(),
            own: self.own.clone(),
        }
    }
}
