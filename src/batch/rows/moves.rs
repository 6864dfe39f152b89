//! How owners move between buckets, with all their data.

use std::mem;

use super::chunk::{Chunk, ChunkOutcome, PassPart};
use super::columns::{Columns, Tag};
use super::individuals::{Individual, Individuals};
use super::range::{Extra, Extras};
use super::store::{Sleeper, Store};
use crate::batch::known::key::Key;
use crate::batch::known::key::{Place, SharedPlace};
use crate::batch::known::panics::{Discarded, FirstPanic};
use crate::batch::wait::waiter::{Until, Waiter, short};
use crate::machine::seat::Seat;
use crate::machine::waiting::{Then, Timer, Waiting};
use crate::owner::Owner;
use crate::state::{Mover, State, StateRef};

/// Inserting and removing owners.
impl<T: Owner> Store<T> {
    pub(crate) fn insert(&mut self, owner: T, seat: Seat<T>) -> Key {
        // Code of the game runs first: if it panics, no owner has been added.
        let bucket = self.bucket_or_panic(&seat);
        self.wake_before(&seat, bucket);
        let mut panic = FirstPanic::new();
        let slot = self.buckets[bucket as usize].len();
        let key = self.places.insert(SharedPlace::new(Place::new(bucket, slot)));
        self.push_row(owner, key, bucket, seat, &mut panic);
        self.discarded.drop_all(&mut panic);
        if !panic.is_none() {
            drop(self.remove(key));
            panic.resume();
        }
        key
    }

    /// Wakes the owners of a bucket that fell asleep before a reload, if an owner joins them that has fallen asleep after it. This
    /// owner does not wake.
    pub(crate) fn wake_before(&mut self, seat: &Seat<T>, bucket: u32) {
        if seat.are_all_asleep() && !seat.is_outdated() {
            self.wake_outdated(bucket);
        }
    }

    /// Makes room in a state's bucket.
    pub(crate) fn reserve(&mut self, additional: usize, state: StateRef<T>) {
        let seat = Seat::new(state);
        let bucket = self.bucket_or_panic(&seat);
        self.places.reserve(additional);
        self.buckets[bucket as usize].reserve(additional, self.has_clock);
        // The bucket may stay empty.
        self.note_if_unused(bucket);
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<(T, Seat<T>)> {
        let place = self.places.get(key)?.get();
        let mut seat = Seat::empty();
        let Chunk { seats, rows, .. } = self.chunk(place.bucket, place.slot(), 1, PassPart::ALL);
        if seats.is_empty() {
            rows.load(0, &mut seat);
        }
        self.take_seat(place, &mut seat);
        let owner = self.buckets[place.bucket as usize].take_out(place, &self.places)?;
        self.note_if_left(place.bucket);
        self.places.remove(key);
        self.forget_extra(key);
        self.timers.forget(key, &mut self.discarded);
        let mut panic = FirstPanic::new();
        self.tidy(&mut panic);
        panic.resume();
        Some((owner, seat))
    }

    fn forget_extra(&mut self, key: Key) {
        if !self.extras.is_empty() {
            empty_extra(key, &mut self.extras, &mut self.discarded);
            self.extras.remove(key);
        }
    }
}

/// Moving owners.
impl<T: Owner> Store<T> {
    /// Applies the outcome of a chunk that begins at `start`, and marks the rows that leave the bucket.
    pub(crate) fn take_up(&mut self, bucket: u32, start: usize, outcome: &mut ChunkOutcome<T>) {
        if !outcome.has_only_movers() {
            self.take_up_beside_movers(bucket, start, outcome);
        }
        self.mark(bucket, start, &outcome.movers, outcome.moved_at);
        outcome.movers.clear();
    }

    /// Applies the outcome of a chunk, except that it does not mark the movers.
    pub(crate) fn take_up_beside_movers(&mut self, bucket: u32, start: usize, outcome: &mut ChunkOutcome<T>) {
        let ChunkOutcome { individuals, changed, unmet, waiters, notes, panic, .. } = outcome;
        self.take_up_notes(notes, panic);
        self.waiters.append(waiters);
        if !individuals.is_empty() {
            self.take_up_individuals(bucket, start, individuals, panic);
        }
        if !changed.is_empty() {
            let mut seat = mem::replace(&mut self.spare, Seat::empty());
            for slot in changed.drain(..) {
                let place = Place::new(bucket, start + slot);
                self.take_seat(place, &mut seat);
                self.place(place, &mut seat, panic);
            }
            self.spare = seat;
        }
        self.meet(unmet, panic);
    }

    /// Stores the seats of a chunk's individuals. Those that have changed from one flat state to another are marked as movers.
    fn take_up_individuals(
        &mut self,
        bucket: u32,
        start: usize,
        individuals: &mut Individuals<T>,
        panic: &mut FirstPanic,
    ) {
        let (mut made, mut made_at) = (mem::take(&mut self.made), 0.0_f64);
        for Individual { slot, seat, is_touched, .. } in individuals.by_slot() {
            if !*is_touched {
                self.discarded.empty(seat);
            } else if let Some(mover) = self.plain_change(bucket, start + *slot, *slot, seat) {
                if seat.entered_at.to_bits() != made_at.to_bits() {
                    self.mark(bucket, start, &made, made_at);
                    made.clear();
                    made_at = seat.entered_at;
                }
                made.push(mover);
                self.discarded.empty(seat);
            } else {
                self.place(Place::new(bucket, start + *slot), seat, panic);
            }
        }
        self.mark(bucket, start, &made, made_at);
        made.clear();
        self.made = made;
        individuals.clear();
    }

    /// Marks the movers of a chunk that begins at `start`.
    pub(crate) fn mark(&mut self, bucket: u32, start: usize, movers: &[Mover], moved_at: f64) {
        if movers.is_empty() {
            return;
        }
        if moved_at != 0.0 {
            self.start_clock();
        }
        self.forget_beside(bucket, start, movers);
        self.buckets[bucket as usize].mark(bucket, (start, movers), moved_at, false, &self.states);
    }

    /// Removes the data beside each mover's row that its change makes obsolete: a previous state without a number, and the timers
    /// of the states that the mover leaves.
    pub(crate) fn forget_beside(&mut self, bucket: u32, start: usize, movers: &[Mover]) {
        let Self { states, buckets, extras, timers, discarded, .. } = self;
        if extras.is_empty() && timers.is_empty() {
            return;
        }
        let mut fewer = Vec::new();
        for mover in movers {
            let tag = &mut buckets[bucket as usize].tags[start + mover.slot()];
            if tag.previous().is_none() {
                forget_previous(tag.key, extras, discarded);
            }
            if !tag.has_timers() {
                continue;
            }
            let kept = states.kept(bucket, mover.target());
            if timers.are_beside(tag.key) {
                let rare = extras.get_mut(tag.key).and_then(|extra| extra.rare_mut().as_mut());
                let ended = rare.into_iter().flat_map(|rare| rare.waiting.change(kept));
                discarded.extend(ended.map(|timer| timer.then));
                fewer.push(tag.key);
            } else {
                tag.set_has_timers(timers.leave(tag.key, kept, discarded));
            }
        }
        for key in fewer {
            self.file_beside(key, |_| {});
        }
    }

    /// Moves the marked rows of a bucket to the arrivals of their new buckets.
    pub(crate) fn move_marked(&mut self, bucket: u32) {
        let Self { states, buckets, arrivals, places, has_clock, .. } = self;
        let columns = &mut buckets[bucket as usize];
        if !columns.leavers.list.is_empty() {
            columns.close_gaps(bucket, places);
            columns.hand_out(states, *has_clock, arrivals);
            self.note_if_left(bucket);
        }
    }

    /// Gives numbers to the singletons that owners have requested and that the batch does not know yet. A state in a region has
    /// no number.
    fn meet(&mut self, unmet: &mut Vec<&'static dyn State<T>>, panic: &mut FirstPanic) {
        for state in unmet.drain(..) {
            let seat = panic.catch(|| Seat::new(StateRef::from(state)));
            if let Some(seat) = seat.filter(|seat| seat.current == StateRef::from(state)) {
                self.bucket_for(&seat, panic);
            }
        }
    }

    /// Starts the waits that owners have requested in bulk.
    fn settle_waiters(&mut self) {
        let mut waiters = mem::take(&mut self.waiters);
        for waiter in waiters.drain(..) {
            let Waiter { key, at, until, revision, .. } = waiter;
            let Some(place) = self.places.get(key).map(SharedPlace::get) else { continue };
            let columns = &mut self.buckets[place.bucket as usize];
            if at < f64::INFINITY || until.is_note() {
                columns.tags[place.slot()].set_has_timers(true);
                self.wait(waiter);
            }
            if until == Until::Awake {
                self.sleepers.push(Sleeper::new(key, Some(revision)));
            }
        }
        self.waiters = waiters;
    }

    /// Starts a wait that an owner has requested in bulk.
    fn wait(&mut self, waiter: Waiter) {
        let Waiter { key, at, until, scope, .. } = waiter;
        if !self.timers.are_beside(key) && self.timers.has_room(key) {
            return self.timers.wait(waiter, &mut self.discarded);
        }
        let then = until.then(&self.states);
        self.file_beside(key, |waiting| match then {
            Some(then) => waiting.set(Timer { due: at, scope, then }),
            None => waiting.sleep_until(at),
        });
    }

    /// Changes the waits of an owner whose timers are beside its row, or for which the wheel has no room. Then files the timers
    /// where they belong.
    fn file_beside(&mut self, key: Key, change: impl FnOnce(&mut Waiting<T>)) {
        let Self { timers, states, extras, discarded, .. } = self;
        let Some(entry) = extras.entry(key) else { return };
        let extra = entry.or_insert_with(|| Extra::of(StateRef::NONE));
        let waiting = &mut extra.rare_mut().get_or_insert_default().waiting;
        if !timers.are_beside(key) {
            timers.load(key, states, waiting);
        }
        change(waiting);
        timers.file(key, waiting, states, discarded);
    }

    /// Appends the arrivals of each bucket to its rows, and moves the rows of the owners that have fallen asleep or woken.
    pub(crate) fn settle_all(&mut self) {
        self.append_all();
        self.settle_sleepers();
    }

    /// Appends the arrivals of each bucket to its rows.
    pub(crate) fn append_all(&mut self) {
        for bucket in self.numbers() {
            self.append_arrivals(bucket);
        }
    }

    /// Starts the waits of the tick, and moves the rows of the owners that have fallen asleep or woken.
    pub(crate) fn settle_sleepers(&mut self) {
        self.settle_waiters();
        let mut sleepers = mem::take(&mut self.sleepers);
        // Sorting by place makes the order of the rows the same on any number of threads. It also means that hardly any row has to
        // be moved when its owner falls asleep.
        for Sleeper { key, place, .. } in &mut sleepers {
            *place = self.places.get(*key).map(SharedPlace::get);
        }
        Sleeper::sort(&mut sleepers);
        let (mut others, mut woken) = (Vec::new(), Vec::new());
        for Sleeper { key, asleep_since, place } in sleepers.drain(..) {
            let Some(Place { bucket, .. }) = place else { continue };
            if self.buckets[bucket as usize].asleep == 0 {
                self.take_outdated(bucket, &mut woken);
            }
            let joins = asleep_since == Some(short(self.buckets[bucket as usize].revision));
            self.set_asleep(key, joins);
            if let (Some(since), false) = (asleep_since, joins) {
                others.push((key, bucket, since));
            }
        }
        self.sleepers = sleepers;
        // These have not fallen asleep at the same revision as those that are asleep in their bucket.
        for (key, bucket, since) in others {
            self.take_outdated(bucket, &mut woken);
            self.set_asleep(key, true);
            woken.extend((since != short(self.buckets[bucket as usize].revision)).then_some(key));
        }
        self.wake_each(&woken);
    }

    /// Moves an owner's row to the sleeping part of its bucket, or to the awake part.
    pub(crate) fn set_asleep(&mut self, key: Key, is_asleep: bool) {
        if let Some(place) = self.places.get(key).map(SharedPlace::get) {
            let columns = &mut self.buckets[place.bucket as usize];
            columns.set_asleep(place, is_asleep, &self.places);
            columns.finish_exchanges();
        }
    }

    pub(crate) fn append_arrivals(&mut self, bucket: u32) {
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

    /// Exchanges `seat` with the seat in an owner's row, if the row has one.
    pub(crate) fn take_seat(&mut self, place: Place, seat: &mut Seat<T>) {
        if let Some(own) = self.buckets[place.bucket as usize].seats.get_mut(place.slot()) {
            mem::swap(own, seat);
        }
    }

    /// Stores the data of an owner's seat, and empties the seat. If the current state belongs to another bucket, marks the row.
    /// Returns the bucket of the current state.
    pub(crate) fn place(&mut self, from: Place, seat: &mut Seat<T>, panic: &mut FirstPanic) -> u32 {
        let columns = &self.buckets[from.bucket as usize];
        let (key, was_asleep) = (columns.tags[from.slot()].key, columns.is_asleep(from.slot()));
        let bucket = self.bucket_for(seat, panic);
        let asleep_since = seat.asleep_since().filter(|_| seat.are_all_asleep()).map(short);
        let has_seats = self.states.get(bucket).has_seats;
        let tag = self.tag(key, has_seats, seat, panic);
        let Self { states, buckets, has_clock, .. } = self;
        let columns = &mut buckets[from.bucket as usize];
        // An owner that falls asleep again after a reload counts as one that was awake: it does not wake with those that slept on.
        let sleeps_on = asleep_since.is_none_or(|since| since == short(columns.revision));
        let was_asleep = was_asleep && bucket == from.bucket && sleeps_on;
        if bucket == from.bucket {
            columns.tags[from.slot()] = tag;
            if has_seats {
                mem::swap(&mut columns.seats[from.slot()], seat);
            } else if *has_clock {
                columns.times.set(from.slot(), seat.entered_at, ancestors_entered_at(seat));
            }
        } else {
            columns.mark_with((from.slot(), tag), (bucket, states), seat, *has_clock);
        }
        if !has_seats {
            self.keep_extra(key, seat);
        } else if bucket != from.bucket {
            self.forget_extra(key);
        }
        self.discarded.empty(seat);
        if asleep_since.is_some() != was_asleep {
            self.sleepers.push(Sleeper::new(key, asleep_since));
        }
        bucket
    }

    /// If an owner has changed from the flat state of its bucket to another flat state, returns this change as a mover. `row` is
    /// the slot in the bucket, and `slot` the one in the chunk.
    pub(crate) fn plain_change(&mut self, bucket: u32, row: usize, slot: usize, seat: &Seat<T>) -> Option<Mover> {
        let Self { states, buckets, .. } = self;
        let columns = &buckets[bucket as usize];
        let is_plain = !columns.is_asleep(row) && !columns.tags[row].has_timers();
        seat.lone().filter(|_| is_plain && states.get(bucket).is_flat() && seat.is_entered())?;
        let target = states.number_of(&seat.current).filter(|&target| states.get(target).is_flat())?;
        Mover::made(slot, target, states.number_of(&seat.previous)?)
    }

    /// Returns the bucket of a seat's current state, and creates it if there is none yet.
    pub(crate) fn bucket_for(&mut self, seat: &Seat<T>, panic: &mut FirstPanic) -> u32 {
        let bucket = self.states.bucket_for(&seat.current, seat.ancestors(), panic);
        let depth = self.states.get(bucket).ancestors.len();
        if self.buckets.len() < self.states.len() {
            self.buckets.push(Columns::new(depth));
            self.arrivals.push(Columns::new(depth));
        } else if self.buckets[bucket as usize].times.depth != depth {
            // The number belonged to another state before.
            self.buckets[bucket as usize].times.depth = depth;
            self.arrivals[bucket as usize].times.depth = depth;
        }
        bucket
    }

    /// Does the same as [`bucket_for`](Self::bucket_for) for a state that may be new. If a method of the state panics, the
    /// state stays unknown, and the panic continues.
    fn bucket_or_panic(&mut self, seat: &Seat<T>) -> u32 {
        let mut panic = FirstPanic::new();
        let bucket = self.bucket_for(seat, &mut panic);
        if !panic.is_none() {
            // Only a method of a new state can have panicked, because no method of a known state is called.
            self.states.forget(&|index| index == bucket, &mut self.discarded);
            self.discarded.drop_all(&mut panic);
            panic.resume();
        }
        bucket
    }

    /// Creates the tag of an owner. Unless its bucket has seats, removes from the seat what the tag and the wheel store: a
    /// previous state that has a number, and a few waits.
    #[inline]
    fn tag(&mut self, key: Key, has_seats: bool, seat: &mut Seat<T>, panic: &mut FirstPanic) -> Tag {
        if has_seats {
            return self.tag_beside_seat(key, seat);
        }
        let is_timed = |at: f64| at != 0.0 && !at.is_nan();
        if is_timed(seat.entered_at) || ancestors_entered_at(seat).iter().copied().any(is_timed) {
            self.start_clock();
        }
        let previous = self.states.number_of(&seat.previous);
        if previous.is_some() {
            self.discarded.add(mem::replace(&mut seat.previous, StateRef::NONE));
        }
        let mut tag = Tag::new(key, previous, seat.is_entered());
        tag.set_has_timers(self.file_timers(key, seat, panic));
        tag
    }

    /// Creates the tag of an owner in a bucket with seats. The seat keeps all other data.
    pub(crate) fn tag_beside_seat(&mut self, key: Key, seat: &Seat<T>) -> Tag {
        let mut tag = Tag::new(key, None, false);
        tag.set_has_timers(self.timers.file_look(key, seat.next_due(), &mut self.discarded));
        tag
    }

    /// Moves an owner's waits from its seat to the wheel. If there are many timers, they stay in the seat. Returns whether the
    /// owner may have timers, or wakes by itself.
    pub(crate) fn file_timers(&mut self, key: Key, seat: &mut Seat<T>, panic: &mut FirstPanic) -> bool {
        let Some(rare) = seat.rare.as_mut().filter(|rare| rare.waiting.is_waiting()) else {
            self.timers.forget(key, &mut self.discarded);
            return false;
        };
        // This gives a number to each singleton to which a timer changes.
        if !rare.waiting.timers.is_many() {
            let targets = rare.waiting.timers.iter().filter_map(|timer| {
                let Then::Change(to) = &timer.then else { return None };
                to.as_singleton()
            });
            let mut unmet: Vec<_> = targets.filter(|to| self.states.index_of(*to).is_none()).collect();
            self.meet(&mut unmet, panic);
        }
        let Self { timers, states, discarded, .. } = self;
        timers.file(key, &mut rare.waiting, states, discarded)
    }

    /// Stores, beside the owner's row, the data of a seat for which there is no column.
    pub(crate) fn keep_extra(&mut self, key: Key, seat: &mut Seat<T>) {
        let keeps_rare = seat.rare.as_ref().is_some_and(|rare| rare.is_memorable());
        let Self { extras, discarded, .. } = self;
        if seat.previous.is_none() && !keeps_rare {
            return empty_extra(key, extras, discarded);
        }
        let Some(entry) = extras.entry(key) else { return };
        let extra = entry.or_insert_with(|| Extra::of(StateRef::NONE));
        // The seat gets the memory of the data that was kept before.
        mem::swap(&mut extra.previous, &mut seat.previous);
        if keeps_rare {
            let rare = seat.rare_mut();
            let with_timers = rare.waiting.timers.is_many();
            rare.swap_memory(extra.rare_mut().get_or_insert_default(), with_timers);
        } else if let Some(rare) = extra.rare_mut() {
            discarded.empty_rare(rare);
        }
    }

    /// Adds a row to a bucket.
    pub(crate) fn push_row(&mut self, owner: T, key: Key, bucket: u32, mut seat: Seat<T>, panic: &mut FirstPanic) {
        if seat.is_outdated() {
            seat.wake();
        }
        let (has_seats, is_asleep) = (self.states.get(bucket).has_seats, seat.are_all_asleep());
        let tag = self.tag(key, has_seats, &mut seat, panic);
        let columns = &mut self.buckets[bucket as usize];
        columns.owners.push(owner);
        columns.tags.push(tag);
        if has_seats {
            columns.seats.push(mem::replace(&mut seat, Seat::empty()));
            self.forget_extra(key);
        } else {
            if self.has_clock {
                columns.times.push(seat.entered_at, ancestors_entered_at(&seat));
            }
            self.keep_extra(key, &mut seat);
        }
        self.discarded.empty(&mut seat);
        self.set_asleep(key, is_asleep);
    }

    /// Frees memory of a bucket that rows have left, and notes the bucket's state if it may be unused.
    pub(crate) fn note_if_left(&mut self, bucket: u32) {
        let (columns, arrivals) = (&mut self.buckets[bucket as usize], &mut self.arrivals[bucket as usize]);
        if columns.is_empty() && self.states.get(bucket).is_owned() {
            // Owned states come and go. Without this, the batch would keep memory for every type of owned states that there
            // ever was.
            columns.give_back();
            if arrivals.is_empty() {
                arrivals.give_back();
            }
        }
        self.note_if_unused(bucket);
    }

    /// Starts to keep times. All times so far were 0.
    pub(crate) fn start_clock(&mut self) {
        if self.has_clock {
            return;
        }
        self.has_clock = true;
        for columns in self.buckets.iter_mut().chain(&mut self.arrivals) {
            columns.start_clock();
        }
    }
}

/// States without owners.
impl<T: Owner> Store<T> {
    #[inline]
    pub(crate) fn note_if_unused(&mut self, bucket: u32) {
        if self.buckets[bucket as usize].is_empty() {
            self.states.note_empty(bucket);
        }
    }

    /// Forgets the shared states that are no owner's current or previous state, if it is time to look for them.
    pub(crate) fn forget_unused(&mut self) {
        if !self.states.may_look_through(self.places.len()) {
            return;
        }
        let Self { states, buckets, arrivals, journaling, discarded, .. } = self;
        if let Some(journaling) = journaling {
            journaling.forget_numbers();
        }
        states.mark_unused(|number| buckets[number as usize].is_empty() && arrivals[number as usize].is_empty());
        for columns in buckets.iter() {
            for tag in &columns.tags {
                if let Some(previous) = tag.previous() {
                    states.unused.note_previous(previous);
                }
            }
        }
        for number in states.forget_unused(discarded) {
            buckets[number as usize].give_back();
            arrivals[number as usize].give_back();
        }
    }
}

fn ancestors_entered_at<T: Owner>(seat: &Seat<T>) -> &[f64] {
    seat.rare.as_ref().map_or(&[], |rare| &rare.ancestors_entered_at)
}

/// Forgets an owner's previous state that is stored beside its row.
#[cold]
fn forget_previous<T: Owner>(key: Key, extras: &mut Extras<T>, discarded: &mut Discarded<T>) {
    if let Some(extra) = extras.get_mut(key) {
        discarded.add(mem::replace(&mut extra.previous, StateRef::NONE));
        if extra.rare_mut().is_none() {
            extras.remove(key);
        }
    }
}

/// Forgets all data of an owner beside its row. An owner that has had a stack or a history keeps the memory for it, as a
/// machine does.
fn empty_extra<T: Owner>(key: Key, extras: &mut Extras<T>, discarded: &mut Discarded<T>) {
    if extras.is_empty() {
        return;
    }
    if let Some(rare) = extras.get_mut(key).and_then(|extra| extra.rare_mut().as_mut()) {
        discarded.empty_rare(rare);
    }
    forget_previous(key, extras, discarded);
}
