//! Where a batch keeps its owners, each in the bucket of its state.

use std::mem;
use std::ops::Range;

use super::chunk::{Chunk, Global, PassPart};
use super::columns::Columns;
use super::individuals::run_on_seat;
use super::journaling::Journaling;
use super::notes::{Notes, as_observer};
use super::range::{Extra, Extras, Rows, SharedByRows, clone_extras_from};
use crate::batch::known::key::{Key, Place, Places, SharedPlace};
use crate::batch::known::panics::{Discarded, FirstPanic};
use crate::batch::known::states::{NOWHERE, States};
use crate::batch::wait::timers::Timers;
use crate::batch::wait::waiter::Waiter;
use crate::fsm::View;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::machine::single::Single;
use crate::owner::Owner;
use crate::state::{Identity, Mover, State, StateRef};

pub(crate) struct Store<T: Owner> {
    pub(crate) places: Places,
    pub(crate) states: States<T>,
    /// The owners of each state, by the state's number; owners in owned states of the same type share a bucket.
    pub(crate) buckets: Vec<Columns<T>>,
    /// The owners that have arrived for each bucket in the current tick, by the same numbers.
    pub(crate) arrivals: Vec<Columns<T>>,
    pub(crate) extras: Extras<T>,
    /// Empty extras, whose memory `clone_from` reuses.
    pub(crate) spare_extras: Vec<Extra<T>>,
    /// The timers of the owners, and the ends of their sleeps.
    pub(crate) timers: Timers<T>,
    /// The owners that have fallen asleep in the current tick, or have woken although nothing was due for them.
    pub(crate) sleepers: Vec<Sleeper>,
    /// The timers and sleeps that owners have requested in bulk in the current tick.
    pub(crate) waiters: Vec<Waiter>,
    /// The owners for which only waking or a change is due, with the number of their target. Used only while due owners are
    /// looked for.
    pub(crate) plain: Vec<(Key, Option<u32>)>,
    /// A buffer for owners of a chunk that have changed alone.
    pub(crate) made: Vec<Mover>,
    /// The owners that are ticked alone in the current tick, because something is due for them.
    pub(crate) due: Vec<Key>,
    pub(crate) global: Global<T>,
    /// Whether times are kept. This begins when a state is first entered at a time other than 0.
    pub(crate) has_clock: bool,
    pub(crate) discarded: Discarded<T>,
    /// An empty seat, for an owner that is reached by key.
    pub(crate) spare: Seat<T>,
    /// The changes of an owner that is reached by key, for the journal.
    pub(crate) notes: Notes<T>,
    pub(crate) journaling: Option<Box<Journaling<T>>>,
}

/// An owner that falls asleep, or wakes.
pub(crate) struct Sleeper {
    pub(crate) key: Key,
    /// The revision of its state when it fell asleep, [shortened](crate::batch::wait::waiter::short). `None` if it wakes.
    pub(crate) asleep_since: Option<u32>,
    /// Its place after all other moves of the tick.
    pub(crate) place: Option<Place>,
}

impl Sleeper {
    pub(crate) fn new(key: Key, asleep_since: Option<u32>) -> Self {
        Self { key, asleep_since, place: None }
    }

    /// Sorts by place.
    pub(crate) fn sort(sleepers: &mut [Self]) {
        sleepers.sort_unstable_by_key(|sleeper| sleeper.place);
    }
}

impl<T: Owner> Store<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            places: Places::with_capacity_and_key(capacity),
            states: States::new(),
            buckets: vec![Columns::new(0)],
            arrivals: vec![Columns::new(0)],
            extras: Extras::new(),
            spare_extras: Vec::new(),
            timers: Timers::new(),
            sleepers: Vec::new(),
            waiters: Vec::new(),
            plain: Vec::new(),
            made: Vec::new(),
            due: Vec::new(),
            global: Global { settings: Settings::DEFAULT, is_updating: false },
            has_clock: false,
            discarded: Discarded::new(),
            spare: Seat::empty(),
            notes: Notes::new(),
            journaling: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the numbers of all buckets.
    pub(crate) fn numbers(&self) -> Range<u32> {
        NOWHERE..Place::new(NOWHERE, self.buckets.len()).slot
    }

    pub(crate) fn owner(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get(place.slot())
    }

    pub(crate) fn owner_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get_mut(place.slot())
    }

    /// Returns the seat of an owner, if owners in its state have seats.
    pub(crate) fn seat(&self, key: Key) -> Option<&Seat<T>> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].seats.get(place.slot())
    }

    /// Returns the view of an owner's machine.
    pub(crate) fn view(&self, key: Key) -> Option<View<'_, T>> {
        let place = self.places.get(key)?.get();
        let nowhere = self.states.get(NOWHERE).state();
        if let Some(seat) = self.seat(key) {
            return Some(seat.view(nowhere));
        }
        Some(self.rows(place.bucket).view(place.slot(), nowhere))
    }

    /// Returns an owner's current state, for editing, if owners in its state have seats.
    pub(crate) fn own_state_mut(&mut self, key: Key) -> Option<&mut StateRef<T>> {
        let place = self.places.get(key)?.get();
        Some(&mut self.buckets[place.bucket as usize].seats.get_mut(place.slot())?.current)
    }

    pub(crate) fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        if let Some(index) = self.states.index_of(state) {
            return &self.buckets[index as usize].owners;
        }
        let identity = Identity::of(state);
        let Some(index) = self.states.index_of_owned(identity) else { return &[] };
        let columns = &self.buckets[index as usize];
        let slot = columns.seats.iter().position(|seat| Identity::of(&*seat.current) == identity);
        slot.map_or(&[], |slot| std::slice::from_ref(&columns.owners[slot]))
    }

    pub(crate) fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.states.order().iter().filter_map(|&index| {
            let (known, columns) = (self.states.get(index), &self.buckets[index as usize]);
            let state = match columns.seats.first() {
                Some(seat) => Some(&seat.current),
                None => known.state().as_option(),
            };
            Some((state?, columns.len()))
        })
    }

    pub(crate) fn set_global(&mut self, state: StateRef<T>) {
        self.global.is_updating = !state.is_passive();
        self.global.settings.global = state;
    }

    /// Borrows up to `len` rows of a bucket, from `start` on, for a pass.
    pub(crate) fn chunk(&mut self, bucket: u32, start: usize, len: usize, part: PassPart) -> Chunk<'_, T> {
        let Self { states, extras, timers, .. } = self;
        let (owners, seats, noted) = self.buckets[bucket as usize].split();
        let range = start..owners.len().min(start + len);
        let shared = SharedByRows { states, extras, timers, has_journal: self.journaling.is_some() };
        let rows = Rows { bucket, shared, noted: noted.narrow(&range) };
        let owners = &mut owners[range.clone()];
        Chunk { owners, seats: seats.get_mut(range).unwrap_or_default(), rows, global: &self.global, part }
    }

    /// Returns the data that all rows share.
    #[inline]
    pub(crate) fn shared(&self) -> SharedByRows<'_, T> {
        let Self { states, extras, timers, .. } = self;
        SharedByRows { states, extras, timers, has_journal: self.journaling.is_some() }
    }

    /// Returns all rows of a bucket.
    #[inline]
    pub(crate) fn rows(&self, bucket: u32) -> Rows<'_, T> {
        Rows { bucket, shared: self.shared(), noted: self.buckets[bucket as usize].noted() }
    }

    /// Returns the row at a place.
    pub(crate) fn row(&self, place: Place) -> Rows<'_, T> {
        let rows = self.rows(place.bucket);
        Rows { noted: rows.noted.narrow(&(place.slot()..place.slot() + 1)), ..rows }
    }

    /// Calls `act` with an owner and its machine. Then moves the owner to the bucket where it belongs, even if `act` panics
    /// (rule 22).
    pub(crate) fn with_single<R>(&mut self, key: Key, act: impl FnOnce(&mut T, &mut Single<'_, T>) -> R) -> Option<R> {
        let mut panic = FirstPanic::new();
        let (bucket, result) = self.lend(key, act, &mut panic)?;
        self.append_arrivals(bucket);
        self.settle_sleepers();
        self.tidy(&mut panic);
        panic.resume();
        result
    }

    /// Calls `act` for the owners of `keys`, one after the other, until it panics. `keys` must not contain a key twice.
    pub(crate) fn with_each(&mut self, keys: &[Key], mut act: impl FnMut(&mut T, &mut Single<'_, T>)) {
        let mut panic = FirstPanic::new();
        for &key in keys {
            self.lend(key, &mut act, &mut panic);
            if !panic.is_none() {
                break;
            }
            self.discarded.drop_many(&mut panic);
        }
        self.settle_all();
        self.states.pay(keys.len());
        self.tidy(&mut panic);
        panic.resume();
    }

    /// Calls `act` with an owner and its machine. If `act` has used the machine, the owner moves to the arrivals of its new
    /// bucket. Returns this bucket, and the result of `act` unless it panicked.
    fn lend<R>(
        &mut self,
        key: Key,
        act: impl FnOnce(&mut T, &mut Single<'_, T>) -> R,
        panic: &mut FirstPanic,
    ) -> Option<(u32, Option<R>)> {
        let place = self.places.get(key)?.get();
        let (bucket, slot) = (place.bucket, place.slot());
        let Self { states, buckets, extras, timers, global, spare, notes, journaling, discarded, .. } = self;
        let (owners, seats, noted) = buckets[bucket as usize].split();
        let shared = SharedByRows { states, extras, timers, has_journal: journaling.is_some() };
        let rows = Rows { bucket, shared, noted: noted.narrow(&(slot..slot + 1)) };
        let is_in_row = seats.is_empty();
        if is_in_row {
            rows.load(0, spare);
        }
        let seat = seats.get_mut(slot).unwrap_or(spare);
        let mut observer = journaling.as_ref().map(|_| notes.of_key(key));
        let owner = &mut owners[slot];
        let (result, is_touched) =
            run_on_seat(seat, &global.settings, as_observer(&mut observer), panic, |single| act(owner, single));
        if !is_touched {
            if is_in_row {
                rows.put_back(0, spare);
            }
            discarded.empty(spare);
            self.take_up_own_notes(panic);
            return Some((bucket, result));
        }
        self.take_up_own_notes(panic);
        let target = self.place_lent_seat(place, panic);
        Some((target, result))
    }

    /// Writes the noted changes of some owners to the journal.
    pub(crate) fn take_up_notes(&mut self, notes: &mut Notes<T>, panic: &mut FirstPanic) {
        if let Some(journaling) = self.journaling.as_mut().filter(|_| !notes.is_empty()) {
            journaling.take_up(notes, &self.states, &mut self.discarded, panic);
        }
    }

    /// Writes the noted changes of the owner for which `lend` called `act` to the journal.
    fn take_up_own_notes(&mut self, panic: &mut FirstPanic) {
        if !self.notes.is_empty() {
            let mut notes = mem::replace(&mut self.notes, Notes::new());
            self.take_up_notes(&mut notes, panic);
            self.notes = notes;
        }
    }

    /// Stores the seat on which `act` has run: the spare seat, or the seat in the owner's row. Returns the owner's bucket.
    fn place_lent_seat(&mut self, place: Place, panic: &mut FirstPanic) -> u32 {
        let mut seat = mem::replace(&mut self.spare, Seat::empty());
        self.take_seat(place, &mut seat);
        let target = match self.plain_change(place.bucket, place.slot(), 0, &seat) {
            Some(mover) => {
                self.mark(place.bucket, place.slot(), &[mover], seat.entered_at);
                self.discarded.empty(&mut seat);
                mover.target()
            }
            None => self.place(place, &mut seat, panic),
        };
        self.move_marked(place.bucket);
        self.spare = seat;
        target
    }

    pub(crate) fn is_asleep(&self, key: Key) -> bool {
        let place = self.places.get(key).map(SharedPlace::get);
        place.is_some_and(|place| self.buckets[place.bucket as usize].is_asleep(place.slot()))
    }

    /// Returns whether the behavior of an owner's state may have changed since the owner fell asleep.
    pub(crate) fn is_outdated(&self, key: Key) -> bool {
        let Some(place) = self.places.get(key).map(SharedPlace::get) else { return false };
        self.buckets[place.bucket as usize].revision != self.states.get(place.bucket).state().revision()
    }

    /// Returns whether an owner has anything to do in a tick at the time `now`, in seconds.
    pub(crate) fn has_turn(&self, key: Key, now: f64) -> bool {
        self.global.is_updating || !self.is_asleep(key) || self.timers.is_due(key, now)
    }

    /// Wakes all owners that sleep in a state whose revision has changed since they fell asleep.
    pub(crate) fn wake_all_outdated(&mut self) {
        let mut woken = Vec::new();
        for bucket in self.numbers() {
            if self.buckets[bucket as usize].asleep > 0 {
                self.take_outdated(bucket, &mut woken);
            }
        }
        self.wake_each(&woken);
    }

    /// Does the same as [`wake_all_outdated`](Self::wake_all_outdated) for the owners of one bucket.
    pub(crate) fn wake_outdated(&mut self, bucket: u32) {
        let mut woken = Vec::new();
        self.take_outdated(bucket, &mut woken);
        self.wake_each(&woken);
    }

    /// Adds the owners of a bucket to `woken` that sleep in a state whose revision has changed since they fell asleep. Notes the
    /// revision, which is not kept up to date while no owner of the bucket sleeps.
    pub(crate) fn take_outdated(&mut self, bucket: u32, woken: &mut Vec<Key>) {
        let columns = &mut self.buckets[bucket as usize];
        let revision = self.states.get(bucket).state().revision();
        if mem::replace(&mut columns.revision, revision) != revision {
            woken.extend(columns.tags[..columns.asleep].iter().map(|tag| tag.key));
        }
    }

    pub(crate) fn wake_each(&mut self, keys: &[Key]) {
        if !keys.is_empty() {
            self.with_each(keys, |_, single| single.is_touched |= single.seat.wake());
        }
    }

    /// Returns whether something is due for any owner in `rows`.
    pub(crate) fn has_due(&self, bucket: u32, rows: Range<usize>) -> bool {
        !self.buckets[bucket as usize].noted().narrow(&rows).due.is_empty()
    }

    /// Clears the lists of owners for which something was due.
    pub(crate) fn forget_due(&mut self) {
        if !self.due.is_empty() {
            self.due.clear();
            self.buckets.iter_mut().for_each(|columns| columns.due.clear());
        }
    }

    /// Tidies up after owners have moved: forgets states without owners, and drops the values that are no longer needed.
    pub(crate) fn tidy(&mut self, panic: &mut FirstPanic) {
        self.forget_unused();
        self.discarded.drop_all(panic);
        debug_assert!(self.is_whole(), "a batch keeps an owner where it does not belong");
    }

    /// Returns whether columns, places and timers agree, as they must between two calls. Debug builds call this function after
    /// each call for the batch. To keep this fast, only some of many buckets and rows are checked.
    fn is_whole(&self) -> bool {
        let is_at_rest = [&self.arrivals, &self.buckets].map(Vec::len) == [self.states.len(); 2]
            && self.sleepers.is_empty()
            && self.waiters.is_empty()
            && self.arrivals.iter().take(64).all(Columns::is_empty)
            && self.buckets.iter().take(64).all(|columns| columns.leavers.list.is_empty());
        let buckets = &mut self.states.order().iter().rev().take(64);
        is_at_rest && buckets.all(|&bucket| self.is_bucket_whole(bucket))
    }

    fn is_bucket_whole(&self, bucket: u32) -> bool {
        let columns = &self.buckets[bucket as usize];
        let Columns { tags, times, seats, asleep, .. } = columns;
        let len = columns.len();
        let (has_seats, depth) = (self.states.get(bucket).has_seats, self.states.get(bucket).path().count());
        let has_times = self.has_clock && !has_seats;
        let is_row_whole = |slot: usize| {
            let tag = &tags[slot];
            let key = tag.key;
            let seat = seats.get(slot);
            self.places.get(key).is_some_and(|place| place.get() == Place::new(bucket, slot))
                && (tag.has_timers() || self.timers.next(key).is_none())
                && seat.map_or_else(|| self.timers.are_of(key, depth), Seat::is_whole)
                && seat.is_none_or(|seat| seat.are_all_asleep() == columns.is_asleep(slot))
        };
        *asleep <= len
            && tags.len() == len
            && seats.len() == if has_seats { len } else { 0 }
            && times.current.len() == if has_times { len } else { 0 }
            && times.ancestors.len() == if has_times { len * times.depth } else { 0 }
            && (0..len.min(4)).chain(len.saturating_sub(4)..len).all(is_row_whole)
    }
}

impl<T: Owner + Clone> Clone for Store<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::with_capacity(0);
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        let mut panic = FirstPanic::new();
        clone_extras_from(&mut self.extras, &mut self.spare_extras, &source.extras, &mut panic);
        panic.catch(|| {
            self.places.clone_from(&source.places);
            self.states.copy_from(&source.states);
            self.buckets.clone_from(&source.buckets);
            self.arrivals.clone_from(&source.arrivals);
            self.timers.copy_from(&source.timers);
            self.global.clone_from(&source.global);
            self.has_clock = source.has_clock;
        });
        if let Some(journaling) = &mut self.journaling {
            journaling.forget_numbers();
        }
        if !panic.is_none() {
            // If only a part of a batch was copied, its keys and its owners would not agree.
            let parts = mem::replace(self, Self::with_capacity(0));
            panic.catch(|| drop(parts));
        }
        panic.resume();
    }
}
