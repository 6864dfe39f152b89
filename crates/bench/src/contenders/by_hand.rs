//! Loops written by hand for this one workload: the owners are sorted by state, with one loop for each state.

use std::mem;

use super::matching::enter;
use crate::contender::Contender;
use crate::workload::{Behaviour, Chase, Context, Flee, Idle, Name, Owner, Rest, Think, Wander, checksum};

const STATES: usize = Name::ALL.len();

/// The fastest possible batch: it stores only the data that a batch needs to find an owner by key after owners have moved, and
/// to return an owner to its previous state.
pub(crate) struct Keyed<const PAD: usize> {
    buckets: [Rows<PAD>; STATES],
    /// The owners that have changed to each state. They join its bucket after the tick.
    arrivals: [Rows<PAD>; STATES],
    /// The place of the owner with each key.
    places: Vec<Place>,
}

struct Rows<const PAD: usize> {
    owners: Vec<Owner<PAD>>,
    keys: Vec<u32>,
    previous: Vec<Name>,
}

struct Place {
    state: Name,
    index: u32,
}

impl<const PAD: usize> Keyed<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut keyed = Self { buckets: Default::default(), arrivals: Default::default(), places: Vec::new() };
        for n in 0..owners {
            let mut owner = Owner::new(n);
            owner.enter::<Idle>();
            keyed.buckets[Name::Idle as usize].push(owner, n as u32, Name::Idle);
            keyed.places.push(Place { state: Name::Idle, index: n as u32 });
        }
        Box::new(keyed)
    }

    fn update<B: Behaviour>(&mut self, cx: &Context) {
        let mut rows = mem::take(&mut self.buckets[B::NAME as usize]);
        // Backward: the owner that fills a gap has already been updated, and if all owners leave, there are no gaps.
        for i in (0..rows.owners.len()).rev() {
            let owner = &mut rows.owners[i];
            let Some(to) = owner.update::<B>(cx) else { continue };
            owner.exit::<B>();
            enter(owner, to);
            let key = rows.keys.swap_remove(i);
            rows.previous.swap_remove(i);
            self.arrivals[to as usize].push(rows.owners.swap_remove(i), key, B::NAME);
            if let Some(&moved) = rows.keys.get(i) {
                self.places[moved as usize].index = i as u32;
            }
        }
        self.buckets[B::NAME as usize] = rows;
    }

    fn settle(&mut self) {
        for ((rows, arrivals), state) in self.buckets.iter_mut().zip(&mut self.arrivals).zip(Name::ALL) {
            let first = rows.keys.len() as u32;
            for (index, &key) in (first..).zip(&arrivals.keys) {
                self.places[key as usize] = Place { state, index };
            }
            rows.append(arrivals);
        }
    }

    /// Returns whether every key leads to its owner's place.
    fn is_sound(&self) -> bool {
        self.places
            .iter()
            .zip(0..)
            .all(|(place, key)| self.buckets[place.state as usize].keys.get(place.index as usize) == Some(&key))
    }
}

impl<const PAD: usize> Rows<PAD> {
    fn push(&mut self, owner: Owner<PAD>, key: u32, previous: Name) {
        self.owners.push(owner);
        self.keys.push(key);
        self.previous.push(previous);
    }

    fn append(&mut self, arrivals: &mut Self) {
        if self.keys.is_empty() {
            mem::swap(self, arrivals);
        } else {
            self.owners.append(&mut arrivals.owners);
            self.keys.append(&mut arrivals.keys);
            self.previous.append(&mut arrivals.previous);
        }
    }
}

impl<const PAD: usize> Default for Rows<PAD> {
    fn default() -> Self {
        Self { owners: Vec::new(), keys: Vec::new(), previous: Vec::new() }
    }
}

impl<const PAD: usize> Contender for Keyed<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.update::<Idle>(cx);
        self.update::<Think>(cx);
        self.update::<Wander>(cx);
        self.update::<Chase>(cx);
        self.update::<Flee>(cx);
        self.update::<Rest>(cx);
        self.settle();
    }

    fn checksum(&self) -> u64 {
        assert!(self.is_sound(), "a key has lost its owner");
        checksum(self.buckets.iter().flat_map(|rows| &rows.owners))
    }
}

/// A lower bound: no keys and no previous states, so that no owner can be found again.
pub(crate) struct Bare<const PAD: usize> {
    buckets: [Vec<Owner<PAD>>; STATES],
    arrivals: [Vec<Owner<PAD>>; STATES],
}

impl<const PAD: usize> Bare<PAD> {
    pub(crate) fn boxed(owners: usize) -> Box<dyn Contender> {
        let mut bare = Self { buckets: Default::default(), arrivals: Default::default() };
        for n in 0..owners {
            let mut owner = Owner::new(n);
            owner.enter::<Idle>();
            bare.buckets[Name::Idle as usize].push(owner);
        }
        Box::new(bare)
    }

    fn update<B: Behaviour>(&mut self, cx: &Context) {
        let mut owners = mem::take(&mut self.buckets[B::NAME as usize]);
        for i in (0..owners.len()).rev() {
            let owner = &mut owners[i];
            if let Some(to) = owner.update::<B>(cx) {
                owner.exit::<B>();
                enter(owner, to);
                self.arrivals[to as usize].push(owners.swap_remove(i));
            }
        }
        self.buckets[B::NAME as usize] = owners;
    }

    fn settle(&mut self) {
        for (owners, arrivals) in self.buckets.iter_mut().zip(&mut self.arrivals) {
            if owners.is_empty() {
                mem::swap(owners, arrivals);
            } else {
                owners.append(arrivals);
            }
        }
    }
}

impl<const PAD: usize> Contender for Bare<PAD> {
    fn tick(&mut self, cx: &Context) {
        self.update::<Idle>(cx);
        self.update::<Think>(cx);
        self.update::<Wander>(cx);
        self.update::<Chase>(cx);
        self.update::<Flee>(cx);
        self.update::<Rest>(cx);
        self.settle();
    }

    fn checksum(&self) -> u64 {
        checksum(self.buckets.iter().flatten())
    }
}
