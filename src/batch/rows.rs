//! Some consecutive rows of a bucket, all but the owners: what is noted of each.

use std::ops::Range;

use rustc_hash::FxBuildHasher;
use slotmap::SparseSecondaryMap;

use super::columns::{Tag, Times};
use super::key::Key;
use super::states::{Known, NOWHERE, States};
use crate::fsm::{NEVER, View};
use crate::owner::Owner;
use crate::seat::{Rare, Seat};
use crate::state::StateRef;

/// What few owners have besides their row, by key.
pub(super) type Extras<T> = SparseSecondaryMap<Key, Extra<T>, FxBuildHasher>;

pub(super) struct Extra<T: Owner> {
    /// The previous state, when the row has no number for it.
    pub(super) previous: StateRef<T>,
    /// The stack and the history; and of an owned state, the states around it.
    pub(super) rare: Option<Box<Rare<T>>>,
}

pub(super) struct Rows<'a, T: Owner> {
    pub(super) bucket: u32,
    pub(super) states: &'a States<T>,
    extras: &'a Extras<T>,
    tags: &'a [Tag],
    /// When each owner's current state was entered; empty where no times are kept.
    entered_at: &'a [f64],
    ancestors_entered_at: &'a [f64],
    depth: usize,
}

impl<'a, T: Owner> Rows<'a, T> {
    pub(super) fn new(
        (tags, times): (&'a [Tag], &'a Times),
        range: Range<usize>,
        bucket: u32,
        states: &'a States<T>,
        extras: &'a Extras<T>,
    ) -> Self {
        let depth = times.depth;
        Self {
            bucket,
            states,
            extras,
            tags: &tags[range.clone()],
            entered_at: times.current.get(range.clone()).unwrap_or_default(),
            ancestors_entered_at: times.ancestors.get(range.start * depth..range.end * depth).unwrap_or_default(),
            depth,
        }
    }

    #[inline]
    pub(super) fn key(&self, slot: usize) -> Key {
        self.tags[slot].key
    }

    #[cfg(feature = "parallel")]
    pub(super) fn tags(&self) -> &'a [Tag] {
        self.tags
    }

    pub(super) fn known(&self) -> &'a Known<T> {
        self.states.get(self.bucket)
    }

    /// The number of the previous state of an owner, if it has one that has a number.
    pub(super) fn previous_index(&self, slot: usize) -> Option<u32> {
        self.tags[slot].previous().filter(|&index| index != NOWHERE)
    }

    /// The previous state of an owner, or `StateRef::NONE`.
    pub(super) fn previous(&self, slot: usize) -> &'a StateRef<T> {
        let nowhere = self.states.get(NOWHERE).state();
        let tag = self.tags[slot];
        match tag.previous() {
            Some(index) => self.states.get(index).state(),
            None => self.extras.get(tag.key).map_or(nowhere, |extra| &extra.previous),
        }
    }

    pub(super) fn entered_at(&self, slot: usize) -> f64 {
        if self.tags[slot].is_entered() { self.entered_at.get(slot).copied().unwrap_or(0.0) } else { NEVER }
    }

    fn ancestors_entered_at(&self, slot: usize) -> &'a [f64] {
        self.ancestors_entered_at.get(slot * self.depth..(slot + 1) * self.depth).unwrap_or_default()
    }

    fn rare(&self, slot: usize) -> Option<&'a Rare<T>> {
        if self.extras.is_empty() {
            return None;
        }
        self.extras.get(self.tags[slot].key)?.rare.as_deref()
    }

    /// The states around the current one of an owner.
    pub(super) fn ancestors(&self, slot: usize) -> &'a [StateRef<T>] {
        let known = self.known();
        if known.is_owned { self.rare(slot).map_or(&[], |rare| &rare.ancestors) } else { &known.ancestors }
    }

    /// What can be asked of an owner whose current state is `current`.
    pub(super) fn view<'v>(&'v self, slot: usize, current: &'v StateRef<T>, target: &'v StateRef<T>) -> View<'v, T> {
        let ancestors_entered_at = if self.known().is_owned {
            self.rare(slot).map_or(&[][..], |rare| &rare.ancestors_entered_at)
        } else {
            self.ancestors_entered_at(slot)
        };
        View {
            current,
            previous: self.previous(slot),
            target,
            ancestors: self.ancestors(slot),
            entered_at: self.entered_at(slot),
            ancestors_entered_at,
        }
    }

    /// Loads an owner whose current state is `current` into an empty seat, whose room is used.
    pub(super) fn load(&self, slot: usize, current: StateRef<T>, seat: &mut Seat<T>) {
        seat.current = current;
        seat.previous = self.previous(slot).clone();
        seat.entered_at = self.entered_at(slot);
        let known = self.known();
        if !known.ancestors.is_empty() {
            let rare = seat.rare_mut();
            rare.ancestors.extend_from_slice(&known.ancestors);
            rare.ancestors_entered_at.extend_from_slice(self.ancestors_entered_at(slot));
            rare.ancestors_entered_at.resize(known.ancestors.len(), 0.0);
        }
        if let Some(kept) = self.rare(slot) {
            let rare = seat.rare_mut();
            if known.is_owned {
                rare.ancestors.extend_from_slice(&kept.ancestors);
                rare.ancestors_entered_at.extend_from_slice(&kept.ancestors_entered_at);
            }
            rare.stack.clone_from(&kept.stack);
            rare.history.clone_from(&kept.history);
        }
    }
}

impl<T: Owner> Clone for Extra<T> {
    fn clone(&self) -> Self {
        Self { previous: self.previous.clone(), rare: self.rare.clone() }
    }
}
