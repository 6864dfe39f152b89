//! Where a batch keeps its owners, each in the bucket of its state, and how they move.

use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use slotmap::{DefaultKey, SlotMap, SparseSecondaryMap};

use super::columns::{ASIDE, Aside, Asides, Columns, RowSlice, Tag};
#[cfg(feature = "parallel")]
use super::pass::CHUNK;
use super::pass::{Chunk, Part, Upshot};
use super::states::{NOWHERE, States};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::slice::{Mover, Seated};
use crate::state::{Identity, State, StateRef};

pub(super) struct Store<T: Owner> {
    /// Where each key's owner is.
    places: SlotMap<DefaultKey, Place>,
    states: States<T>,
    /// The owners in each of the states, by its number; those in owned states of one type together.
    buckets: Vec<Columns<T>>,
    /// Likewise those that have come to each bucket in the tick under way.
    arrivals: Vec<Columns<T>>,
    asides: Asides<T>,
    /// `StateRef::NONE` when there is none.
    pub(super) global: StateRef<T>,
    /// Whether times are kept: since a change was made at another time than 0.
    has_clock: bool,
    /// An empty seat, for whom a verb reaches by key.
    spare: Seat<T>,
}

#[derive(Clone, Copy)]
struct Place {
    bucket: u32,
    slot: u32,
}

impl<T: Owner> Store<T> {
    pub(super) fn new() -> Self {
        Self {
            places: SlotMap::new(),
            states: States::new(),
            buckets: vec![Columns::new()],
            arrivals: vec![Columns::new()],
            asides: SparseSecondaryMap::new(),
            global: StateRef::NONE,
            has_clock: false,
            spare: Seat::empty(),
        }
    }

    pub(super) fn insert(&mut self, owner: T, mut seat: Seat<T>) -> DefaultKey {
        // It comes as an owner without a state, and moves to the one it has.
        let rows = &mut self.buckets[NOWHERE as usize];
        let place = Place { bucket: NOWHERE, slot: slot_of(rows.len()) };
        let key = self.places.insert(place);
        rows.push(owner, Tag { key, previous: NOWHERE }, self.has_clock.then_some(0.0), None);
        self.store(place, &mut seat);
        key
    }

    pub(super) fn remove(&mut self, key: DefaultKey) -> Option<(T, Seat<T>)> {
        let seat = self.row(key)?.seat(0);
        let place = self.places.remove(key)?;
        let owner = self.take_row(place);
        self.asides.remove(key);
        Some((owner, seat))
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = DefaultKey> {
        self.places.keys()
    }

    pub(super) fn owner(&self, key: DefaultKey) -> Option<&T> {
        let Place { bucket, slot } = *self.places.get(key)?;
        self.buckets[bucket as usize].owners.get(slot as usize)
    }

    pub(super) fn owner_mut(&mut self, key: DefaultKey) -> Option<&mut T> {
        let Place { bucket, slot } = *self.places.get(key)?;
        self.buckets[bucket as usize].owners.get_mut(slot as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (DefaultKey, &T)> {
        self.buckets.iter().flat_map(|rows| rows.notes.tags.iter().map(|tag| tag.key).zip(&rows.owners))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (DefaultKey, &mut T)> {
        self.buckets.iter_mut().flat_map(|rows| rows.notes.tags.iter().map(|tag| tag.key).zip(&mut rows.owners))
    }

    /// What is noted of an owner, in a slice of one row.
    pub(super) fn row(&self, key: DefaultKey) -> Option<RowSlice<'_, T>> {
        let Place { bucket, slot } = *self.places.get(key)?;
        let slot = slot as usize;
        let notes = &self.buckets[bucket as usize].notes;
        Some(RowSlice::new(notes, slot..slot + 1, bucket, &self.states, &self.asides))
    }

    /// The owned state that an owner is in, if it is in one.
    pub(super) fn own_state_mut(&mut self, key: DefaultKey) -> Option<&mut StateRef<T>> {
        let Place { bucket, slot } = *self.places.get(key)?;
        self.buckets[bucket as usize].notes.own.get_mut(slot as usize)
    }

    pub(super) fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        if let Some(index) = self.states.index_of(state) {
            return &self.buckets[index as usize].owners;
        }
        let identity = Identity::of(state);
        let Some(index) = self.states.index_of_owned(identity) else { return &[] };
        let rows = &self.buckets[index as usize];
        let slot = rows.notes.own.iter().position(|own| Identity::of(&**own) == identity);
        slot.map_or(&[], |slot| std::slice::from_ref(&rows.owners[slot]))
    }

    pub(super) fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.buckets().zip(&self.buckets).filter_map(|(index, rows)| {
            let known = self.states.get(index);
            let state = if known.is_owned { rows.notes.own.first() } else { known.state().as_option() };
            Some((state?, rows.len()))
        })
    }

    /// The numbers of the buckets that there are now.
    pub(super) fn buckets(&self) -> Range<u32> {
        NOWHERE..slot_of(self.buckets.len())
    }

    pub(super) fn rows_in(&self, bucket: u32) -> usize {
        self.buckets[bucket as usize].len()
    }

    /// Up to `len` rows of a bucket, from `start` on, for a pass over them.
    pub(super) fn chunk(&mut self, bucket: u32, start: usize, len: usize, part: Part) -> Chunk<'_, T> {
        let Columns { owners, notes } = &mut self.buckets[bucket as usize];
        let range = start..owners.len().min(start + len);
        let rows = RowSlice::new(notes, range.clone(), bucket, &self.states, &self.asides);
        Chunk { owners: &mut owners[range], rows, global: &self.global, part }
    }

    /// All chunks, in the order of a tick: bucket by bucket, from the last chunk to the first; with where each begins.
    #[cfg(feature = "parallel")]
    pub(super) fn chunks(&mut self) -> Vec<(u32, usize, Chunk<'_, T>)> {
        let Self { states, asides, global, .. } = self;
        let mut chunks = Vec::new();
        for (bucket, Columns { owners, notes }) in (NOWHERE..).zip(&mut self.buckets) {
            let first = chunks.len();
            let mut start = 0;
            for owners in owners.chunks_mut(CHUNK) {
                let end = start + owners.len();
                let rows = RowSlice::new(notes, start..end, bucket, states, asides);
                chunks.push((bucket, start, Chunk { owners, rows, global, part: Part::ALL }));
                start = end;
            }
            chunks[first..].reverse();
        }
        chunks
    }

    /// Lends an owner with its machine's handle, and moves it to where it then belongs, even if `act` panics (rule 22).
    pub(super) fn with_fsm<R>(&mut self, key: DefaultKey, act: impl FnOnce(&mut T, &mut Fsm<'_, T>) -> R) -> Option<R> {
        let place = *self.places.get(key)?;
        let mut seat = mem::replace(&mut self.spare, Seat::empty());
        let chunk = self.chunk(place.bucket, place.slot as usize, 1, Part::ALL);
        chunk.rows.load(0, &mut seat);
        let mut fsm = Fsm::new(&mut seat, chunk.global);
        let result = catch_unwind(AssertUnwindSafe(|| act(&mut chunk.owners[0], &mut fsm)));
        self.store(place, &mut seat);
        self.spare = seat;
        Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// Moving owners.
impl<T: Owner> Store<T> {
    /// Moves the rows of a chunk, which begins at `start`, among the arrivals of their new buckets.
    ///
    /// The last row of the bucket takes the place of one that leaves; so they leave from the last to the first.
    pub(super) fn move_rows(&mut self, bucket: u32, start: usize, upshot: &mut Upshot<T>) {
        if !upshot.seated.is_empty() {
            upshot.seated.sort_by_key(|seated| seated.slot);
            while let Some(Seated { slot, mut seat, .. }) = upshot.seated.pop() {
                let behind = upshot.movers.partition_point(|mover| mover.slot() < slot);
                self.move_in_bulk(bucket, start, &upshot.movers[behind..], upshot.moved_at);
                upshot.movers.truncate(behind);
                self.place(Place { bucket, slot: slot_of(start) + slot }, &mut seat);
                upshot.spare.push(seat);
            }
        }
        self.move_in_bulk(bucket, start, &upshot.movers, upshot.moved_at);
        upshot.movers.clear();
    }

    fn move_in_bulk(&mut self, bucket: u32, start: usize, movers: &[Mover], moved_at: f64) {
        if movers.is_empty() {
            return;
        }
        if moved_at != 0.0 {
            self.start_clock();
        }
        let Self { places, buckets, arrivals, asides, has_clock, .. } = self;
        let rows = &mut buckets[bucket as usize];
        let moved_at = has_clock.then_some(moved_at);
        // Two loops, of which the second is so short that the look-ups it waits for are under way together; over a few movers
        // at a time, so that the rows are still in the cache.
        for movers in movers.rchunks(64) {
            for mover in movers.iter().rev() {
                let slot = start + mover.slot() as usize;
                let tag = &mut rows.notes.tags[slot];
                if tag.previous == ASIDE {
                    forget_previous(tag.key, asides);
                }
                if mover.target() == bucket {
                    tag.previous = bucket;
                    if let Some(moved_at) = moved_at {
                        rows.notes.entered_at[slot] = moved_at;
                    }
                } else {
                    rows.move_row(slot, &mut arrivals[mover.target() as usize], bucket, moved_at);
                }
            }
            for mover in movers {
                let slot = start + mover.slot() as usize;
                let Some(filler) = rows.notes.tags.get(slot) else { break };
                places[filler.key].slot = slot_of(slot);
            }
        }
    }

    /// Takes all buckets' arrivals up into their rows.
    pub(super) fn settle_all(&mut self) {
        for bucket in self.buckets() {
            self.settle(bucket);
        }
    }

    fn settle(&mut self, bucket: u32) {
        let arrivals = &mut self.arrivals[bucket as usize];
        if arrivals.is_empty() {
            return;
        }
        let rows = &mut self.buckets[bucket as usize];
        let first = rows.len();
        rows.append(arrivals);
        for (slot, tag) in (slot_of(first)..).zip(&rows.notes.tags[first..]) {
            self.places[tag.key] = Place { bucket, slot };
        }
    }

    /// Stores what a row's seat has come to, and moves the row at once if that is in another bucket.
    fn store(&mut self, place: Place, seat: &mut Seat<T>) {
        let bucket = self.place(place, seat);
        self.settle(bucket);
    }

    /// Stores what a row's seat has come to, and empties the seat. If that is in another bucket, the row is moved among its
    /// arrivals. Returns the bucket.
    fn place(&mut self, from: Place, seat: &mut Seat<T>) -> u32 {
        let slot = from.slot as usize;
        let bucket = self.states.bucket_for(&seat.current);
        if self.buckets.len() < self.states.len() {
            self.buckets.push(Columns::new());
            self.arrivals.push(Columns::new());
        }
        if seat.entered_at != 0.0 {
            self.start_clock();
        }
        let key = self.buckets[from.bucket as usize].notes.tags[slot].key;
        let previous = self.states.bucket_of(&seat.previous).filter(|&index| !self.states.get(index).is_owned);
        let kept = if self.asides.is_empty() { None } else { self.asides.remove(key) };
        let is_memorable = seat.rare.as_ref().is_some_and(|rare| rare.is_memorable());
        if previous.is_none() || is_memorable {
            let previous = if previous.is_none() { seat.previous.clone() } else { StateRef::NONE };
            // The seat gets the room of what was kept before.
            let rare =
                if is_memorable { mem::replace(&mut seat.rare, kept.and_then(|aside| aside.rare)) } else { None };
            self.asides.insert(key, Aside { previous, rare });
        }
        let tag = Tag { key, previous: previous.unwrap_or(ASIDE) };
        let entered_at = self.has_clock.then_some(seat.entered_at);
        let own = self.states.get(bucket).is_owned.then(|| seat.current.clone());
        seat.clear();
        if bucket == from.bucket {
            let notes = &mut self.buckets[bucket as usize].notes;
            notes.tags[slot] = tag;
            if let Some(entered_at) = entered_at {
                notes.entered_at[slot] = entered_at;
            }
            if let Some(own) = own {
                notes.own[slot] = own;
            }
        } else {
            let owner = self.take_row(from);
            self.arrivals[bucket as usize].push(owner, tag, entered_at, own);
        }
        bucket
    }

    /// Takes out the row at a place. The last of the bucket takes its place. Owned states that nobody is in any more leave
    /// nothing behind.
    fn take_row(&mut self, place: Place) -> T {
        let rows = &mut self.buckets[place.bucket as usize];
        let owner = rows.swap_remove(place.slot as usize);
        if let Some(filler) = rows.notes.tags.get(place.slot as usize) {
            self.places[filler.key].slot = place.slot;
        }
        if rows.is_empty() && self.states.get(place.bucket).is_owned {
            *rows = Columns::new();
            let arrivals = &mut self.arrivals[place.bucket as usize];
            if arrivals.is_empty() {
                *arrivals = Columns::new();
            }
        }
        owner
    }

    /// Keeps times from now on. All before were 0.
    fn start_clock(&mut self) {
        if self.has_clock {
            return;
        }
        self.has_clock = true;
        for rows in self.buckets.iter_mut().chain(&mut self.arrivals) {
            rows.start_clock();
        }
    }
}

/// Forgets the previous state that is kept aside for an owner.
#[cold]
fn forget_previous<T: Owner>(key: DefaultKey, asides: &mut Asides<T>) {
    if let Some(aside) = asides.get_mut(key) {
        aside.previous = StateRef::NONE;
        if aside.rare.is_none() {
            asides.remove(key);
        }
    }
}

/// A number of rows, or of buckets, as a place counts them.
///
/// # Panics
///
/// From 2^32 on; a batch has no room for so many keys.
#[inline]
fn slot_of(count: usize) -> u32 {
    u32::try_from(count).expect("a batch has fewer than 2^32 owners")
}

impl<T: Owner + Clone> Clone for Store<T> {
    fn clone(&self) -> Self {
        Self {
            places: self.places.clone(),
            states: self.states.clone(),
            buckets: self.buckets.clone(),
            arrivals: self.arrivals.clone(),
            asides: self.asides.clone(),
            global: self.global.clone(),
            has_clock: self.has_clock,
            spare: Seat::empty(),
        }
    }
}
