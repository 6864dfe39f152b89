//! The states that a batch has seen, each known by a number: that of its bucket.

use std::any::TypeId;
use std::collections::HashMap;

use crate::owner::Owner;
use crate::seat::Seat;
use crate::state::{Identity, State, StateRef};

/// The number of "no state".
pub(super) const NOWHERE: u32 = 0;

pub(super) struct States<T: Owner> {
    list: Vec<Known<T>>,
    by_identity: HashMap<Identity, u32>,
    by_owned_type: HashMap<TypeId, u32>,
}

/// A state, or a type of owned states, that owners have been in.
pub(super) struct Known<T: Owner> {
    /// A seat in this state: current and its ancestors. Without current for "no state", and for a type of owned states,
    /// whose owners have a state each.
    pub(super) seat: Seat<T>,
    pub(super) is_owned: bool,
    /// Whether it has neither a parent nor an initial child, so that its owners can change in bulk.
    pub(super) is_flat: bool,
    /// The depths of its path at which a state updates the owners, outermost first: none where all are passive.
    pub(super) updating: Vec<usize>,
}

impl<T: Owner> Known<T> {
    fn new(seat: Seat<T>, is_owned: bool) -> Self {
        let current = &seat.current;
        let is_flat = !is_owned && current.parent().is_none() && current.initial().is_none();
        let updating =
            (0..).zip(seat.path()).filter(|(_, state)| !state.is_passive()).map(|(depth, _)| depth).collect();
        Self { seat, is_owned, is_flat, updating }
    }

    pub(super) fn state(&self) -> &StateRef<T> {
        &self.seat.current
    }
}

impl<T: Owner> States<T> {
    pub(super) fn new() -> Self {
        let nowhere = Known::new(Seat::new(StateRef::NONE), false);
        Self { list: vec![nowhere], by_identity: HashMap::new(), by_owned_type: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, index: u32) -> &Known<T> {
        &self.list[index as usize]
    }

    /// As [`get`](Self::get), for a number of which that is not certain.
    pub(super) fn find(&self, index: u32) -> Option<&Known<T>> {
        self.list.get(index as usize)
    }

    /// The number of a singleton or shared state.
    pub(super) fn index_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<u32> {
        self.by_identity.get(&Identity::of(state)).copied()
    }

    /// The number of an owned state's bucket.
    pub(super) fn index_of_owned(&self, identity: Identity) -> Option<u32> {
        self.by_owned_type.get(&identity.type_id).copied()
    }

    /// The number of a state's bucket: its own, or for an owned state that of its type.
    pub(super) fn bucket_of(&self, state: &StateRef<T>) -> Option<u32> {
        if state.is_none() {
            Some(NOWHERE)
        } else if state.is_owned() {
            self.index_of_owned(Identity::of(&**state))
        } else {
            self.index_of(&**state)
        }
    }

    /// The number of a state's bucket, which becomes known if it was not.
    ///
    /// # Panics
    ///
    /// When 2^32 - 2 states are known already.
    pub(super) fn bucket_for(&mut self, state: &StateRef<T>) -> u32 {
        if let Some(index) = self.bucket_of(state) {
            return index;
        }
        let index = u32::try_from(self.list.len()).ok().filter(|&index| index < u32::MAX);
        let index = index.expect("a batch knows fewer than 2^32 - 1 states");
        let identity = Identity::of(&**state);
        if state.is_owned() {
            self.list.push(Known::new(Seat::new(StateRef::NONE), true));
            self.by_owned_type.insert(identity.type_id, index);
        } else {
            self.list.push(Known::new(Seat::new(state.clone()), false));
            self.by_identity.insert(identity, index);
        }
        index
    }
}

impl<T: Owner> Clone for States<T> {
    fn clone(&self) -> Self {
        Self {
            list: self.list.clone(),
            by_identity: self.by_identity.clone(),
            by_owned_type: self.by_owned_type.clone(),
        }
    }
}

impl<T: Owner> Clone for Known<T> {
    fn clone(&self) -> Self {
        Self {
            seat: self.seat.clone(),
            is_owned: self.is_owned,
            is_flat: self.is_flat,
            updating: self.updating.clone(),
        }
    }
}
