//! How owners move from bucket to bucket, with all that is noted of them.

use std::mem;

use slotmap::SlotMap;

use super::columns::{Columns, Tag};
use super::key::Key;
use super::outcome::Outcome;
use super::panics::{Discarded, FirstPanic};
use super::place::{Place, SharedPlace};
use super::rows::{Extra, Extras};
use super::store::Store;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::state::{Mover, StateRef};

/// What is noted of an owner in the bucket of its state.
struct Note<T: Owner> {
    bucket: u32,
    tag: Tag,
    entered_at: f64,
    /// In a bucket of owned states.
    own: Option<StateRef<T>>,
}

/// Owners that come and go.
impl<T: Owner> Store<T> {
    pub(super) fn insert(&mut self, owner: T, mut seat: Seat<T>) -> Key {
        let mut panic = FirstPanic::new();
        // All that runs code of the game comes first: if it panics, there is no owner.
        let bucket = self.bucket_for(&seat, &mut panic);
        panic.resume();
        let slot = self.buckets[bucket as usize].len();
        let key = self.places.insert(SharedPlace::new(Place::new(bucket, slot)));
        let note = self.note(key, bucket, &mut seat);
        self.push_row(false, owner, note, &seat);
        self.keep_extra(key, bucket, &mut seat);
        seat.empty_into(|state| self.discarded.add(state));
        self.discarded.drop_all(&mut panic);
        if !panic.is_none() {
            drop(self.remove(key));
            panic.resume();
        }
        key
    }

    /// Makes room in a state's bucket.
    pub(super) fn reserve(&mut self, additional: usize, state: StateRef<T>) {
        let mut panic = FirstPanic::new();
        let seat = Seat::new(state);
        let bucket = self.bucket_for(&seat, &mut panic);
        panic.resume();
        self.places.reserve(additional);
        self.buckets[bucket as usize].reserve(additional, self.has_clock);
        // It may be that nobody comes.
        self.note_if_unused(bucket);
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<(T, Seat<T>)> {
        let (current, rows) = self.row(key)?;
        let mut seat = Seat::empty();
        rows.load(0, current.clone(), &mut seat);
        let place = self.places.remove(key)?.get();
        let owner = self.take_row(place);
        self.forget_extra(key);
        let mut panic = FirstPanic::new();
        self.tidy(&mut panic);
        panic.resume();
        Some((owner, seat))
    }

    fn forget_extra(&mut self, key: Key) {
        if !self.extras.is_empty()
            && let Some(extra) = self.extras.remove(key)
        {
            discard(extra, &mut self.discarded);
        }
    }
}

/// Moving owners.
impl<T: Owner> Store<T> {
    /// Moves the rows of a chunk, which begins at `start`, among the arrivals of their new buckets.
    ///
    /// The last row of the bucket takes the place of one that leaves; so they leave from the last to the first.
    pub(super) fn move_rows(&mut self, bucket: u32, start: usize, outcome: &mut Outcome<T>) {
        let Outcome { movers, moved_at, seated, panic, spare, .. } = outcome;
        if !seated.is_sorted_by_key(|(slot, _)| *slot) {
            seated.sort_by_key(|(slot, _)| *slot);
        }
        while let Some((slot, mut seat)) = seated.pop() {
            let behind = movers.partition_point(|mover| mover.slot() < slot);
            self.move_in_bulk(bucket, start, &movers[behind..], *moved_at);
            movers.truncate(behind);
            self.place(Place::new(bucket, start + slot), &mut seat, panic);
            spare.push(seat);
        }
        self.move_in_bulk(bucket, start, movers, *moved_at);
        movers.clear();
    }

    fn move_in_bulk(&mut self, bucket: u32, start: usize, movers: &[Mover], moved_at: f64) {
        if movers.is_empty() {
            return;
        }
        if moved_at != 0.0 {
            self.start_clock();
        }
        let Self { places, buckets, arrivals, extras, has_clock, discarded, .. } = self;
        let columns = &mut buckets[bucket as usize];
        let moved_at = has_clock.then_some(moved_at);
        let forget = |key| forget_previous(key, extras, discarded);
        move_each((bucket, columns), (start, movers), moved_at, places, arrivals, forget);
        self.note_if_unused(bucket);
    }

    /// Takes all buckets' arrivals up into their rows.
    pub(super) fn settle_all(&mut self) {
        for bucket in self.numbers() {
            self.settle(bucket);
        }
    }

    pub(super) fn settle(&mut self, bucket: u32) {
        let arrivals = &mut self.arrivals[bucket as usize];
        if arrivals.is_empty() {
            return;
        }
        let columns = &mut self.buckets[bucket as usize];
        let first = columns.len();
        columns.append(arrivals);
        for (slot, tag) in (first..).zip(&columns.tags[first..]) {
            self.places[tag.key].set(Place::new(bucket, slot));
        }
    }

    /// Stores what a row's seat has come to, and empties the seat. If that is in another bucket, the row is moved among its
    /// arrivals. Returns the bucket.
    pub(super) fn place(&mut self, from: Place, seat: &mut Seat<T>, panic: &mut FirstPanic) -> u32 {
        let key = self.buckets[from.bucket as usize].tags[from.slot()].key;
        let bucket = self.bucket_for(seat, panic);
        let note = self.note(key, bucket, seat);
        if bucket == from.bucket {
            let Self { buckets, discarded, has_clock, .. } = self;
            let columns = &mut buckets[bucket as usize];
            let slot = from.slot();
            columns.tags[slot] = note.tag;
            if *has_clock {
                columns.times.set(slot, note.entered_at, ancestors_entered_at(seat));
            }
            if let Some(own) = note.own {
                discarded.add(mem::replace(&mut columns.own[slot], own));
            }
        } else {
            let owner = self.take_row(from);
            self.push_row(true, owner, note, seat);
        }
        self.keep_extra(key, bucket, seat);
        seat.empty_into(|state| self.discarded.add(state));
        bucket
    }

    /// The bucket of a seat's current state, which there is from now on.
    fn bucket_for(&mut self, seat: &Seat<T>, panic: &mut FirstPanic) -> u32 {
        let bucket = self.states.bucket_for(&seat.current, seat.ancestors(), panic);
        let depth = self.states.get(bucket).ancestors.len();
        if self.buckets.len() < self.states.len() {
            self.buckets.push(Columns::new(depth));
            self.arrivals.push(Columns::new(depth));
        } else if self.buckets[bucket as usize].times.depth != depth {
            // The number was another state's.
            self.buckets[bucket as usize].times.depth = depth;
            self.arrivals[bucket as usize].times.depth = depth;
        }
        bucket
    }

    /// What is to be noted of an owner. Its owned state is taken off the seat.
    fn note(&mut self, key: Key, bucket: u32, seat: &mut Seat<T>) -> Note<T> {
        let has_times = seat.entered_at != 0.0 && seat.is_entered();
        if has_times || ancestors_entered_at(seat).iter().any(|&at| at != 0.0 && !at.is_nan()) {
            self.start_clock();
        }
        let is_owned = self.states.get(bucket).is_owned;
        let previous = self.states.bucket_of(&seat.previous).filter(|&index| !self.states.get(index).is_owned);
        if previous.is_some() {
            self.discarded.add(mem::replace(&mut seat.previous, StateRef::NONE));
        }
        Note {
            bucket,
            tag: Tag::new(key, previous, seat.is_entered()),
            entered_at: if seat.is_entered() { seat.entered_at } else { 0.0 },
            own: is_owned.then(|| mem::replace(&mut seat.current, StateRef::NONE)),
        }
    }

    /// Keeps what is left of a seat and has no column. The seat gets the room of what was kept before.
    fn keep_extra(&mut self, key: Key, bucket: u32, seat: &mut Seat<T>) {
        let keeps_previous = !seat.previous.is_none();
        let is_owned = self.states.get(bucket).is_owned;
        let keeps_rare = seat.rare.as_ref().is_some_and(|rare| {
            // Of an owned state, the states around it are its own, too.
            rare.is_memorable() || is_owned && !rare.ancestors.is_empty()
        });
        let kept = if self.extras.is_empty() { None } else { self.extras.remove(key) };
        if !keeps_previous && !keeps_rare {
            if let Some(kept) = kept {
                discard(kept, &mut self.discarded);
            }
            return;
        }
        let Extra { previous, mut rare } = kept.unwrap_or(Extra { previous: StateRef::NONE, rare: None });
        self.discarded.add(previous);
        if let Some(rare) = &mut rare {
            rare.empty_into(|state| self.discarded.add(state));
        }
        let previous = if keeps_previous { mem::replace(&mut seat.previous, StateRef::NONE) } else { StateRef::NONE };
        if keeps_rare {
            mem::swap(&mut rare, &mut seat.rare);
        } else if seat.rare.is_none() {
            seat.rare = rare.take();
        } else {
            rare = None;
        }
        self.extras.insert(key, Extra { previous, rare });
    }

    /// Adds a row to a bucket, or to its arrivals. The seat still has the times of the ancestors.
    fn push_row(&mut self, among_arrivals: bool, owner: T, note: Note<T>, seat: &Seat<T>) {
        let bucket = note.bucket as usize;
        let columns = if among_arrivals { &mut self.arrivals[bucket] } else { &mut self.buckets[bucket] };
        columns.owners.push(owner);
        columns.tags.push(note.tag);
        if self.has_clock {
            columns.times.push(note.entered_at, ancestors_entered_at(seat));
        }
        columns.own.extend(note.own);
    }

    /// Takes out the row at a place. The last of the bucket takes its place.
    fn take_row(&mut self, place: Place) -> T {
        let Self { buckets, arrivals, places, discarded, states, .. } = self;
        let columns = &mut buckets[place.bucket as usize];
        let owner = columns.swap_remove(place.slot(), discarded);
        if let Some(filler) = columns.tags.get(place.slot()) {
            places[filler.key].set(place);
        }
        if columns.is_empty() && states.get(place.bucket).is_owned {
            // A type's owned states come and go: the room would be kept for each type that there ever was.
            *columns = Columns::new(0);
            let arrivals = &mut arrivals[place.bucket as usize];
            if arrivals.is_empty() {
                *arrivals = Columns::new(0);
            }
        }
        self.note_if_unused(place.bucket);
        owner
    }

    /// Keeps times from now on. All before were 0.
    pub(super) fn start_clock(&mut self) {
        if self.has_clock {
            return;
        }
        self.has_clock = true;
        for columns in self.buckets.iter_mut().chain(&mut self.arrivals) {
            columns.start_clock();
        }
    }
}

/// States that nobody is in.
impl<T: Owner> Store<T> {
    #[inline]
    pub(super) fn note_if_unused(&mut self, bucket: u32) {
        if self.buckets[bucket as usize].is_empty() && self.states.get(bucket).is_transient {
            self.unused.add(bucket);
        }
    }

    /// Forgets the shared states that nobody is in or comes from.
    pub(super) fn forget_unused(&mut self) {
        if !self.unused.is_time(self.places.len()) {
            return;
        }
        let Self { states, buckets, arrivals, unused, discarded, .. } = self;
        let mut is_unused = vec![false; states.len()];
        for &bucket in &unused.candidates {
            let index = bucket as usize;
            is_unused[index] =
                states.get(bucket).is_transient && buckets[index].is_empty() && arrivals[index].is_empty();
        }
        let in_use = buckets.iter().flat_map(|columns| &columns.tags).filter_map(|tag| tag.previous());
        let mut comes_from = Vec::new();
        for previous in in_use {
            if mem::replace(&mut is_unused[previous as usize], false) {
                comes_from.push(previous);
            }
        }
        unused.candidates.clear();
        unused.candidates.extend(comes_from);
        discarded.extend(states.forget(|index| is_unused[index as usize]));
        for (index, _) in is_unused.iter().enumerate().filter(|(_, is_unused)| **is_unused) {
            buckets[index] = Columns::new(0);
            arrivals[index] = Columns::new(0);
        }
    }
}

/// The rows that have come to each bucket, by its number.
pub(super) trait Arrivals<T: Owner> {
    fn of(&mut self, bucket: u32) -> &mut Columns<T>;
}

impl<T: Owner> Arrivals<T> for Vec<Columns<T>> {
    #[inline]
    fn of(&mut self, bucket: u32) -> &mut Columns<T> {
        &mut self[bucket as usize]
    }
}

/// Moves the rows of movers, of a chunk that begins at `start`, among the arrivals. `forget` is called for those whose
/// previous state is kept beside their row.
#[inline]
pub(super) fn move_each<T: Owner>(
    (bucket, columns): (u32, &mut Columns<T>),
    (start, movers): (usize, &[Mover]),
    moved_at: Option<f64>,
    places: &SlotMap<Key, SharedPlace>,
    arrivals: &mut impl Arrivals<T>,
    mut forget: impl FnMut(Key),
) {
    // Two loops, of which the second is so short that the look-ups it waits for are under way together; over a few movers
    // at a time, so that the rows are still in the cache.
    for movers in movers.rchunks(64) {
        for mover in movers.iter().rev() {
            let slot = start + mover.slot();
            let tag = &mut columns.tags[slot];
            if tag.previous().is_none() {
                forget(tag.key);
            }
            let moved = Tag::new(tag.key, Some(bucket), true);
            if mover.target() == bucket {
                *tag = moved;
                if let Some(moved_at) = moved_at {
                    columns.times.current[slot] = moved_at;
                }
            } else {
                columns.move_row(slot, arrivals.of(mover.target()), moved, moved_at);
            }
        }
        for mover in movers {
            let slot = start + mover.slot();
            let Some(filler) = columns.tags.get(slot) else { break };
            places[filler.key].set(Place::new(bucket, slot));
        }
    }
}

fn ancestors_entered_at<T: Owner>(seat: &Seat<T>) -> &[f64] {
    seat.rare.as_ref().map_or(&[], |rare| &rare.ancestors_entered_at)
}

fn discard<T: Owner>(extra: Extra<T>, discarded: &mut Discarded<T>) {
    discarded.add(extra.previous);
    if let Some(mut rare) = extra.rare {
        rare.empty_into(|state| discarded.add(state));
    }
}

/// Forgets the previous state that is kept for an owner beside its row.
#[cold]
fn forget_previous<T: Owner>(key: Key, extras: &mut Extras<T>, discarded: &mut Discarded<T>) {
    if let Some(extra) = extras.get_mut(key) {
        discarded.add(mem::replace(&mut extra.previous, StateRef::NONE));
        if extra.rare.is_none() {
            extras.remove(key);
        }
    }
}
