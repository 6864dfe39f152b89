//! Where a batch keeps its owners, each in the bucket of its state.

use std::mem;

use slotmap::SlotMap;

use super::columns::Columns;
use super::key::Key;
use super::panics::{Discarded, FirstPanic};
use super::pass::{Chunk, Global, Part};
use super::place::{Place, SharedPlace};
use super::rows::{Extras, Rows};
use super::states::{NOWHERE, States};
use super::unused::Unused;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::single::Single;
use crate::state::{Identity, State, StateRef};

pub(super) struct Store<T: Owner> {
    /// Where each key's owner is.
    pub(super) places: SlotMap<Key, SharedPlace>,
    pub(super) states: States<T>,
    /// The owners in each of the states, by its number; those in owned states of one type together.
    pub(super) buckets: Vec<Columns<T>>,
    /// Likewise those that have come to each bucket in the tick under way.
    pub(super) arrivals: Vec<Columns<T>>,
    pub(super) extras: Extras<T>,
    pub(super) global: Global<T>,
    /// Whether times are kept: since a state was entered at another time than 0.
    pub(super) has_clock: bool,
    pub(super) unused: Unused,
    pub(super) discarded: Discarded<T>,
    /// An empty seat, for an owner that is reached by key.
    spare: Seat<T>,
}

impl<T: Owner> Store<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            places: SlotMap::with_capacity_and_key(capacity),
            states: States::new(),
            buckets: vec![Columns::new(0)],
            arrivals: vec![Columns::new(0)],
            extras: Extras::default(),
            global: Global { state: StateRef::NONE, is_updating: false },
            has_clock: false,
            unused: Unused::new(),
            discarded: Discarded::new(),
            spare: Seat::empty(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn owner(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get(place.slot())
    }

    pub(super) fn owner_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get_mut(place.slot())
    }

    /// An owner's current state, or `StateRef::NONE`, and what else is noted of it, in rows of one.
    pub(super) fn row(&self, key: Key) -> Option<(&StateRef<T>, Rows<'_, T>)> {
        let place = self.places.get(key)?.get();
        let columns = &self.buckets[place.bucket as usize];
        let current = columns.own.get(place.slot()).unwrap_or(self.states.get(place.bucket).state());
        let range = place.slot()..place.slot() + 1;
        Some((current, Rows::new((&columns.tags, &columns.times), range, place.bucket, &self.states, &self.extras)))
    }

    /// The owned state that an owner is in, if it is in one.
    pub(super) fn own_state_mut(&mut self, key: Key) -> Option<&mut StateRef<T>> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].own.get_mut(place.slot())
    }

    pub(super) fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        if let Some(index) = self.states.index_of(state) {
            return &self.buckets[index as usize].owners;
        }
        let identity = Identity::of(state);
        let Some(index) = self.states.index_of_owned(identity) else { return &[] };
        let columns = &self.buckets[index as usize];
        let slot = columns.own.iter().position(|own| Identity::of(&**own) == identity);
        slot.map_or(&[], |slot| std::slice::from_ref(&columns.owners[slot]))
    }

    pub(super) fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.states.order().iter().filter_map(|&index| {
            let (known, columns) = (self.states.get(index), &self.buckets[index as usize]);
            let state = if known.is_owned { columns.own.first() } else { known.state().as_option() };
            Some((state?, columns.len()))
        })
    }

    pub(super) fn set_global(&mut self, state: StateRef<T>) {
        let is_updating = !state.is_passive();
        let replaced = mem::replace(&mut self.global, Global { state, is_updating });
        drop(replaced);
    }

    /// Up to `len` rows of a bucket, from `start` on, for a pass over them.
    pub(super) fn chunk(&mut self, bucket: u32, start: usize, len: usize, part: Part) -> Chunk<'_, T> {
        let Columns { owners, tags, times, own } = &mut self.buckets[bucket as usize];
        let range = start..owners.len().min(start + len);
        let rows = Rows::new((tags, times), range.clone(), bucket, &self.states, &self.extras);
        Chunk {
            owners: &mut owners[range.clone()],
            own: own.get_mut(range).unwrap_or_default(),
            rows,
            global: &self.global,
            part,
        }
    }

    /// Lends an owner with its machine, and moves it to where it then belongs, even if `act` panics (rule 22).
    pub(super) fn with_single<R>(&mut self, key: Key, act: impl FnOnce(&mut T, &mut Single<'_, T>) -> R) -> Option<R> {
        let place = self.places.get(key)?.get();
        let mut panic = FirstPanic::new();
        let mut seat = mem::replace(&mut self.spare, Seat::empty());
        let current = self.states.get(place.bucket).state().clone();
        let Chunk { owners, own, rows, global, .. } = self.chunk(place.bucket, place.slot(), 1, Part::ALL);
        // An owned state is taken out, so that nobody else refers to it while it runs.
        let current = own.first_mut().map_or(current, |own| mem::replace(own, StateRef::NONE));
        rows.load(0, current, &mut seat);
        let mut single = Single::new(&mut seat, &global.state);
        let result = panic.catch(|| act(&mut owners[0], &mut single));
        panic.catch(|| drop(single));
        let bucket = self.place(place, &mut seat, &mut panic);
        self.settle(bucket);
        self.spare = seat;
        self.tidy(&mut panic);
        panic.resume();
        result
    }

    /// What is left to do after owners have moved: forgets states that nobody needs, and drops what is no longer needed.
    pub(super) fn tidy(&mut self, panic: &mut FirstPanic) {
        self.forget_unused();
        self.discarded.drop_all(panic);
    }
}

impl<T: Owner + Clone> Clone for Store<T> {
    fn clone(&self) -> Self {
        Self {
            places: self.places.clone(),
            states: self.states.clone(),
            buckets: self.buckets.clone(),
            arrivals: self.arrivals.clone(),
            extras: self.extras.clone(),
            global: self.global.clone(),
            has_clock: self.has_clock,
            unused: self.unused.clone(),
            discarded: Discarded::new(),
            spare: Seat::empty(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.places.clone_from(&source.places);
        self.states.clone_from(&source.states);
        self.buckets.clone_from(&source.buckets);
        self.arrivals.clone_from(&source.arrivals);
        self.extras.clone_from(&source.extras);
        self.global.clone_from(&source.global);
        self.has_clock = source.has_clock;
        self.unused.clone_from(&source.unused);
    }
}

/// The numbers of all buckets.
impl<T: Owner> Store<T> {
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        NOWHERE..Place::new(NOWHERE, self.buckets.len()).slot
    }
}
