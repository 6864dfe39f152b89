//! Loads a batch from columns of plain data. All data is checked before it is used.
//!
//! Buckets whose states have not changed are taken over as columns. If a state no longer exists, or has other ancestors now,
//! its owners are inserted one by one.

use std::mem;

use super::check::{check, check_numbers, check_rows, no_bucket};
use super::data::{BatchContent, SavedBatch, SavedBucket, SavedKey, SavedRow};
use super::keys::TakenKeys;
use crate::batch::known::key::Place;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::{MOST_STATES, NOWHERE, States};
use crate::batch::rows::columns::{Columns, Tag};
use crate::batch::rows::range::Extra;
use crate::batch::rows::store::Store;
use crate::batch::wait::timers::MOST_NUMBERS;
use crate::batch::{Batch, Key};
use crate::machine::seat::Seat;
use crate::machine::waiting::Then;
use crate::owner::Owner;
use crate::save::{Depths, How, LoadError, Reader, SavedMore, Seconds, StateBook};
use crate::state::{Identity, StateRef};

impl<T: Owner> Batch<T> {
    /// Loads a saved batch, without any callback. It continues as if it had not been saved: the same keys find the same
    /// owners, new owners get the same keys, and the order of [rule 19](crate::docs::semantics#rule-19) is the same. Set
    /// its global state again, with [`with_global`](Self::with_global).
    ///
    /// `now` is the time that its clock shows now, in seconds; use 0 if there is no clock. The times and timers are shifted
    /// by the difference between `now` and the time at which the batch was saved. If the two are equal, every time is the
    /// same to the bit.
    ///
    /// # Errors
    ///
    /// As for [`StateBook::load`].
    ///
    /// # Panics
    ///
    /// When [`parent`](crate::State::parent), or another method of a state whose result is constant, panics.
    pub fn load(saved: SavedBatch<T>, book: &StateBook<T>, now: f64) -> Result<Self, LoadError> {
        let mut content = saved.known()?;
        let states = mem::take(&mut content.states);
        let reader = Reader::new(book, states, content.clock, content.definitions, now)?;
        let store = Loading::new(reader, &content)?.load(content)?;
        Ok(Self::of(store))
    }
}

/// How a saved bucket is loaded.
enum Role<T: Owner> {
    /// Its number stands for the same state.
    Same(StateRef<T>),
    /// Its number stands for the same type of owned states.
    Type,
    /// Its owners are inserted one by one. The field is the state that was found instead.
    Other(StateRef<T>),
    /// The number is free, so there is no bucket.
    Free,
}

struct Loading<'b, T: Owner> {
    reader: Reader<'b, T>,
    store: Store<T>,
    roles: Vec<Role<T>>,
    keys: TakenKeys,
    /// Owners that are inserted one by one, at the end.
    others: Vec<(T, Key, Seat<T>)>,
    has_clock: bool,
    /// The number of timers whose actions are stored apart from the wheel. This number is limited.
    kept: usize,
    panic: FirstPanic,
}

impl<'b, T: Owner> Loading<'b, T> {
    fn new(reader: Reader<'b, T>, content: &BatchContent<T>) -> Result<Self, LoadError> {
        let mut count = content.next_keys.len();
        for (number, bucket) in content.buckets.iter().enumerate() {
            check(bucket, content.has_clock).map_err(|error| error.within(format_args!("bucket {number}")))?;
            count += bucket.owners.len();
        }
        let numbers = content.buckets.len();
        if numbers == 0 || numbers >= MOST_STATES as usize {
            return Err(LoadError::damaged("buckets", format_args!("there are {numbers}")));
        }
        // If the clock is shifted, the time 0 becomes another time, so times must be kept.
        let has_clock = content.has_clock || reader.clock.at(0.0) != 0.0;
        Ok(Self {
            reader,
            store: Store::with_capacity(0),
            roles: Vec::new(),
            keys: TakenKeys::new(count)?,
            others: Vec::new(),
            has_clock,
            kept: 0,
            panic: FirstPanic::new(),
        })
    }

    fn load(mut self, content: BatchContent<T>) -> Result<Store<T>, LoadError> {
        self.load_states(&content)?;
        // Every credit above the number of owners has the same effect.
        let unused_credit = u32::try_from(content.unused_credit).unwrap_or(u32::MAX) as usize;
        self.store.states.unused.candidates = content.unused;
        self.store.states.unused.credit = unused_credit;
        self.store.has_clock = self.has_clock;
        let mut rows = Vec::new();
        for (number, mut bucket) in (0..).zip(content.buckets) {
            rows.push(mem::take(&mut bucket.rows));
            let has_seats = !bucket.seats.is_empty() || self.store.states.get(number).has_seats;
            let loaded = match &self.roles[number as usize] {
                Role::Same(state) if !has_seats => {
                    let state = state.clone();
                    self.load_same(number, &state, bucket)
                }
                _ => self.load_seats(number, bucket, &rows[number as usize]),
            };
            loaded.map_err(|error| error.within(format_args!("bucket {number}")))?;
        }
        self.load_keys(&content.next_keys)?;
        for (number, rows) in (0..).zip(rows) {
            self.load_rows(number, &rows).map_err(|error| error.within(format_args!("bucket {number}")))?;
        }
        // This fails if a name is unknown, before these owners get their states.
        self.reader.finish()?;
        for (owner, key, seat) in mem::take(&mut self.others) {
            self.insert(owner, key, seat);
        }
        let Self { mut store, mut panic, .. } = self;
        store.discarded.drop_all(&mut panic);
        panic.resume();
        Ok(store)
    }
}

/// Reading states.
impl<T: Owner> Loading<'_, T> {
    /// Finds out what each number stands for, and the order of the numbers.
    fn load_states(&mut self, content: &BatchContent<T>) -> Result<(), LoadError> {
        let BatchContent { buckets, order, free, unused, .. } = content;
        check_numbers(buckets, order, free)?;
        if let Some(number) = unused.iter().find(|number| **number as usize >= buckets.len()) {
            return Err(LoadError::damaged("unused", format_args!("there is no bucket {number}")));
        }
        let mut needed: Vec<_> = buckets.iter().map(|bucket| !bucket.owners.is_empty()).collect();
        for previous in buckets.iter().flat_map(|bucket| &bucket.previous).filter_map(|number| number.checked_sub(1)) {
            *needed.get_mut(previous as usize).ok_or_else(|| no_bucket("previous", previous))? = true;
        }
        self.store.states = States::restored(buckets.len());
        self.store.buckets.clear();
        self.store.arrivals.clear();
        let mut dropped = Vec::new();
        for (number, (bucket, is_needed)) in (0..).zip(buckets.iter().zip(needed)) {
            let role = self.role(number, bucket, is_needed);
            let role = role.map_err(|error| error.within(format_args!("bucket {number}")))?;
            let depth = if let Role::Same(_) = role { self.store.states.get(number).ancestors.len() } else { 0 };
            self.store.buckets.push(Columns::new(depth));
            self.store.arrivals.push(Columns::new(depth));
            if matches!(role, Role::Other(_) | Role::Free) && bucket.state != 0 {
                dropped.push(number);
            }
            self.roles.push(role);
        }
        let order = order.iter().copied().filter(|number| dropped.binary_search(number).is_err()).collect();
        dropped.extend(free);
        self.store.states.set_order(order, dropped);
        Ok(())
    }

    fn role(&mut self, number: u32, bucket: &SavedBucket<T>, is_needed: bool) -> Result<Role<T>, LoadError> {
        if bucket.state == 0 {
            if number == NOWHERE && !bucket.is_of_owned {
                return Ok(Role::Same(StateRef::NONE));
            }
            if is_needed {
                return Err(LoadError::damaged("state", "an owner is in it, and it is no state"));
            }
            return Ok(Role::Free);
        }
        if number == NOWHERE {
            return Err(LoadError::damaged("state", "it is the bucket of no state"));
        }
        if bucket.is_of_owned {
            let of = self.reader.book.type_of_name(self.reader.name(bucket.state)?);
            let is_same = of.is_some_and(|of| self.store.states.restore_type(number, of));
            return Ok(if is_same { Role::Type } else { Role::Other(StateRef::NONE) });
        }
        if !is_needed && !self.reader.is_known(bucket.state) {
            return Ok(Role::Free);
        }
        let found = self.reader.state(bucket.state)?;
        let seat = Seat::new(found.state.clone());
        let before = self.reader.ancestors(bucket.ancestors.iter().copied(), seat.ancestors(), found.how)?;
        let is_same = found.how == How::Named
            && !found.state.is_owned()
            && seat.current == found.state
            && before == seat.ancestors()
            && self.store.states.restore(number, &found.state, seat.ancestors(), &mut self.panic);
        Ok(if is_same { Role::Same(found.state) } else { Role::Other(found.state) })
    }
}

/// Reading owners.
impl<T: Owner> Loading<'_, T> {
    /// Takes over the owners of a state as columns.
    fn load_same(&mut self, number: u32, state: &StateRef<T>, bucket: SavedBucket<T>) -> Result<(), LoadError> {
        let mut columns = Columns::new(bucket.ancestors.len());
        columns.tags.reserve(bucket.owners.len());
        let keys = bucket.indices.iter().zip(&bucket.versions);
        for ((key, previous), is_entered) in keys.zip(&bucket.previous).zip(&bucket.is_entered) {
            let key = self.keys.take(*key.0, *key.1)?;
            let previous = self.previous(key, previous.checked_sub(1))?;
            columns.tags.push(Tag::new(key, previous, *is_entered));
        }
        if self.has_clock {
            let depth = columns.times.depth;
            let SavedBucket { is_entered, entered_at, ancestors_entered_at, .. } = &bucket;
            columns.times.current = self.times(entered_at, is_entered, 1);
            columns.times.ancestors = self.times(ancestors_entered_at, is_entered, depth);
        }
        columns.owners = bucket.owners;
        columns.asleep = bucket.asleep as usize;
        columns.revision = self.reader.revision(state, bucket.is_outdated);
        self.store.buckets[number as usize] = columns;
        Ok(())
    }

    /// Converts saved times to the current clock. Each row has `width` times. If no times were kept, all times were 0. The time
    /// of a state that has not been entered is not shifted.
    fn times(&self, times: &[Seconds], is_entered: &[bool], width: usize) -> Vec<f64> {
        let clock = self.reader.clock;
        let at = |row: usize, at: f64| if is_entered[row] { clock.at(at) } else { at };
        if times.is_empty() {
            return (0..is_entered.len() * width).map(|nth| at(nth / width, 0.0)).collect();
        }
        times.iter().enumerate().map(|(nth, time)| at(nth / width, time.0)).collect()
    }

    /// Converts the saved number of a row's previous state. If the state has no number now, this method stores the state beside
    /// the row, and returns `None`. If the row has no saved number, the state is in `rows`, and the result is `None`, too.
    fn previous(&mut self, key: Key, number: Option<u32>) -> Result<Option<u32>, LoadError> {
        let Some(number) = number else { return Ok(None) };
        match &self.roles[number as usize] {
            Role::Same(_) => Ok(Some(number)),
            Role::Other(state) => {
                self.store.extras.insert(key, Extra::of(state.clone()));
                Ok(None)
            }
            Role::Type | Role::Free => Err(no_bucket("previous", number)),
        }
    }

    /// Reads the seat of each owner of a bucket. Owners in owned states of the bucket's type, or in the bucket's state with
    /// regions, stay in it; the others are inserted one by one.
    fn load_seats(&mut self, number: u32, bucket: SavedBucket<T>, rows: &[SavedRow]) -> Result<(), LoadError> {
        let of = self.store.states.owned_type(number);
        if of.is_none() {
            check_rows(rows, bucket.owners.len())?;
        }
        let mut rows = rows.iter().peekable();
        let (owners, mut columns) = bucket.take_owners::<T>();
        let mut seats = mem::take(&mut columns.seats).into_iter();
        for (row, owner) in owners.into_iter().enumerate() {
            let key = self.keys.take(columns.indices[row], columns.versions[row])?;
            let is_asleep = row < columns.asleep as usize;
            let saved = match seats.next() {
                Some(seat) => seat,
                None => columns.seat(row, rows.next_if(|of_row| of_row.row as usize == row)),
            };
            let mut seat = self.reader.seat(&saved).map_err(|error| error.within(format_args!("row {row}")))?;
            self.count_kept(&seat)?;
            if let Some(number) = columns.previous.get(row).and_then(|number| number.checked_sub(1)) {
                seat.previous = match &self.roles[number as usize] {
                    Role::Same(state) | Role::Other(state) => state.clone(),
                    Role::Type | Role::Free => return Err(no_bucket("previous", number)),
                };
            }
            let own_type = seat.current.is_owned().then(|| Identity::of(&*seat.current).type_id);
            let known = self.store.states.get(number);
            let stays = known.has_seats && own_type == of && (of.is_some() || *known.state() == seat.current);
            // Sleeping owners must come first, so an owner that is out of order is inserted separately.
            if !stays || seat.are_all_asleep() != is_asleep {
                self.others.push((owner, key, seat));
                continue;
            }
            let (revision, is_outdated) = (known.state().revision(), seat.is_outdated());
            let tag = self.store.tag_beside_seat(key, &seat);
            let columns = &mut self.store.buckets[number as usize];
            if is_outdated || columns.asleep == 0 {
                columns.revision = revision.wrapping_sub(usize::from(is_outdated));
            }
            columns.asleep += usize::from(is_asleep);
            columns.owners.push(owner);
            columns.tags.push(tag);
            columns.seats.push(seat);
        }
        Ok(())
    }

    /// Counts the timers of a seat whose actions are stored apart from the wheel, and fails if there are too many.
    fn count_kept(&mut self, seat: &Seat<T>) -> Result<(), LoadError> {
        let Some(rare) = seat.rare.as_ref().filter(|rare| !rare.waiting.timers.is_many()) else { return Ok(()) };
        let has_number = |then: &Then<T>| matches!(then, Then::Change(to) if to.as_singleton().is_some());
        self.kept += rare.waiting.timers.iter().filter(|timer| !has_number(&timer.then)).count();
        if self.kept >= MOST_NUMBERS as usize {
            return Err(LoadError::damaged(
                "timers",
                "there are too many for messages and states that are no singletons",
            ));
        }
        Ok(())
    }

    /// Creates the keys, and sets the places of their owners.
    fn load_keys(&mut self, next_keys: &[SavedKey]) -> Result<(), LoadError> {
        for key in next_keys {
            self.keys.take(key.index, key.version)?;
        }
        self.store.places = mem::take(&mut self.keys).into_places(next_keys)?;
        for (bucket, columns) in (0..).zip(&self.store.buckets) {
            for (slot, tag) in columns.tags.iter().enumerate() {
                self.store.places[tag.key].set(Place::new(bucket, slot));
            }
        }
        Ok(())
    }

    /// Loads the additional data of some rows, if the bucket was taken over as columns.
    fn load_rows(&mut self, number: u32, rows: &[SavedRow]) -> Result<(), LoadError> {
        let Role::Same(state) = &self.roles[number as usize] else { return Ok(()) };
        if self.store.states.get(number).has_seats {
            return Ok(());
        }
        let columns = &self.store.buckets[number as usize];
        check_rows(rows, columns.len())?;
        let state = state.clone();
        let depths = Depths::unchanged(if state.is_none() { 0 } else { columns.times.depth + 1 });
        for SavedRow { row, previous, more } in rows {
            let slot = *row as usize;
            let mut seat = Seat::empty();
            let read = self.read_row(&mut seat, (number, slot), more, &depths, *previous);
            read.map_err(|error| error.within(format_args!("row {row}")))?;
            self.count_kept(&seat)?;
            let columns = &self.store.buckets[number as usize];
            let tag = columns.tags[slot];
            if tag.previous().is_some() {
                seat.previous = StateRef::NONE;
            } else if seat.previous.is_none() {
                // The previous state may have no bucket any more, and is then kept beside the row.
                let kept = self.store.extras.get_mut(tag.key);
                seat.previous = kept.map_or(StateRef::NONE, |kept| mem::replace(&mut kept.previous, StateRef::NONE));
            }
            let has_timers = self.store.file_timers(tag.key, &mut seat, &mut self.panic);
            self.store.buckets[number as usize].tags[slot].set_has_timers(has_timers);
            self.store.keep_extra(tag.key, &mut seat);
        }
        Ok(())
    }

    fn read_row(
        &mut self,
        seat: &mut Seat<T>,
        (bucket, slot): (u32, usize),
        more: &SavedMore,
        depths: &Depths,
        previous: u32,
    ) -> Result<(), LoadError> {
        let columns = &self.store.buckets[bucket as usize];
        seat.previous = self.reader.state(previous)?.state;
        self.reader.more(more, depths, &|depth| columns.times.at(slot, depth), seat)?;
        let wakes_at = self.reader.wakes_at(more)?;
        if columns.is_asleep(slot) && wakes_at < f64::INFINITY {
            seat.rare_mut().waiting.sleep_until(wakes_at);
        }
        Ok(())
    }

    /// Inserts an owner under its key.
    fn insert(&mut self, owner: T, key: Key, seat: Seat<T>) {
        let Self { store, panic, .. } = self;
        let bucket = store.bucket_for(&seat, panic);
        let slot = store.buckets[bucket as usize].len();
        store.places[key].set(Place::new(bucket, slot));
        store.wake_before(&seat, bucket);
        store.push_row(owner, key, bucket, seat, panic);
    }
}
