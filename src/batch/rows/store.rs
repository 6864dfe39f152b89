//! Where a batch keeps its owners, each in the bucket of its state.

use std::mem;
use std::ops::Range;

use slotmap::SlotMap;

use super::chunk::{Chunk, Global, PassPart};
use super::columns::Columns;
use super::journaling::Journaling;
use super::notes::{AsObserver, Notes};
use super::place::{Place, SharedPlace};
use super::range::{Extra, Extras, Rows, SharedByRows, clone_extras_from};
use super::unused::Unused;
use crate::batch::known::key::Key;
use crate::batch::known::panics::{Discarded, FirstPanic};
use crate::batch::known::states::{NOWHERE, States};
use crate::batch::wait::timers::Timers;
use crate::batch::wait::waiter::Waiter;
use crate::fsm::View;
use crate::machine::seat::Seat;
use crate::machine::single::Single;
use crate::owner::Owner;
use crate::state::{Identity, Mover, State, StateRef};

pub(crate) struct Store<T: Owner> {
    /// Where each key's owner is.
    pub(crate) places: SlotMap<Key, SharedPlace>,
    pub(crate) states: States<T>,
    /// The owners of each state, by the state's number; owners in owned states of one type are together.
    pub(crate) buckets: Vec<Columns<T>>,
    /// Likewise the owners that have come to each bucket in the tick under way.
    pub(crate) arrivals: Vec<Columns<T>>,
    pub(crate) extras: Extras<T>,
    /// Spare buckets for `clone_from`; they are empty.
    pub(crate) spare_extras: Vec<Extra<T>>,
    /// What the owners wait for.
    pub(crate) timers: Timers<T>,
    /// The owners that have fallen asleep in the tick under way, or woken without anything being due.
    pub(crate) sleepers: Vec<Sleeper>,
    /// The timers and sleeps that owners have asked for in bulk in the tick under way.
    pub(crate) waiters: Vec<Waiter>,
    /// The owners for which only waking or a change is due, with the number of the state that they change to. Empty in between.
    pub(crate) plain: Vec<(Key, Option<u32>)>,
    /// The owners for which something is due in the tick under way, and which have their tick by themselves.
    pub(crate) due: Vec<Key>,
    pub(crate) global: Global<T>,
    /// Whether times are kept: since a state was entered at another time than 0.
    pub(crate) has_clock: bool,
    pub(crate) unused: Unused,
    pub(crate) discarded: Discarded<T>,
    /// An empty seat, for an owner that is reached by key.
    pub(crate) spare: Seat<T>,
    /// What such an owner has done, for the journal.
    pub(crate) notes: Notes<T>,
    pub(crate) journaling: Option<Box<Journaling>>,
}

/// An owner that falls asleep, or wakes.
pub(crate) struct Sleeper {
    pub(crate) key: Key,
    pub(crate) is_asleep: bool,
    /// Where it is, once all have been moved.
    pub(crate) place: Option<Place>,
}

impl Sleeper {
    pub(crate) fn new(key: Key, is_asleep: bool) -> Self {
        Self { key, is_asleep, place: None }
    }

    /// Sorts by place.
    pub(crate) fn sort(sleepers: &mut [Self]) {
        sleepers.sort_unstable_by_key(|sleeper| sleeper.place);
    }
}

impl<T: Owner> Store<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            places: SlotMap::with_capacity_and_key(capacity),
            states: States::new(),
            buckets: vec![Columns::new(0)],
            arrivals: vec![Columns::new(0)],
            extras: Extras::new(),
            spare_extras: Vec::new(),
            timers: Timers::new(),
            sleepers: Vec::new(),
            waiters: Vec::new(),
            plain: Vec::new(),
            due: Vec::new(),
            global: Global { state: StateRef::NONE, is_updating: false },
            has_clock: false,
            unused: Unused::new(),
            discarded: Discarded::new(),
            spare: Seat::empty(),
            notes: Notes::new(),
            journaling: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn owner(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get(place.slot())
    }

    pub(crate) fn owner_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get(key)?.get();
        self.buckets[place.bucket as usize].owners.get_mut(place.slot())
    }

    /// What can be asked of an owner.
    pub(crate) fn view(&self, key: Key) -> Option<View<'_, T>> {
        let place = self.places.get(key)?.get();
        let columns = &self.buckets[place.bucket as usize];
        let nowhere = self.states.get(NOWHERE).state();
        if let Some(seat) = columns.seats.get(place.slot()) {
            return Some(seat.view(nowhere));
        }
        let known = self.states.get(place.bucket);
        let range = place.slot()..place.slot() + 1;
        let rows = Rows::new(columns.noted(), range, place.bucket, self.shared());
        Some(View {
            current: known.state(),
            previous: rows.previous(0),
            target: nowhere,
            ancestors: &known.ancestors,
            entered_at: rows.entered_at(0),
            ancestors_entered_at: rows.ancestors_entered_at(0),
        })
    }

    /// The owned state that an owner is in, if it is in one.
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
        let is_updating = !state.is_passive();
        let replaced = mem::replace(&mut self.global, Global { state, is_updating });
        drop(replaced);
    }

    /// Up to `len` rows of a bucket, from `start` on, for a pass over them.
    pub(crate) fn chunk(&mut self, bucket: u32, start: usize, len: usize, part: PassPart) -> Chunk<'_, T> {
        let Self { states, extras, timers, .. } = self;
        let (owners, seats, noted) = self.buckets[bucket as usize].split();
        let range = start..owners.len().min(start + len);
        let shared = SharedByRows { states, extras, timers, has_journal: self.journaling.is_some() };
        let rows = Rows::new(noted, range.clone(), bucket, shared);
        Chunk {
            due: noted.due_in(&range),
            start,
            owners: &mut owners[range.clone()],
            seats: seats.get_mut(range).unwrap_or_default(),
            rows,
            global: &self.global,
            part,
        }
    }

    /// What is kept for all rows together.
    pub(crate) fn shared(&self) -> SharedByRows<'_, T> {
        let has_journal = self.journaling.is_some();
        SharedByRows { states: &self.states, extras: &self.extras, timers: &self.timers, has_journal }
    }

    /// Lends an owner with its machine, and moves it to where it then belongs, even if `act` panics (rule 22).
    pub(crate) fn with_single<R>(&mut self, key: Key, act: impl FnOnce(&mut T, &mut Single<'_, T>) -> R) -> Option<R> {
        let mut panic = FirstPanic::new();
        let (bucket, result) = self.lend(key, act, &mut panic)?;
        self.settle(bucket);
        self.settle_sleepers();
        self.tidy(&mut panic);
        panic.resume();
        result
    }

    /// Lends the owners of some keys one after the other, up to one that panics. No key may come twice.
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
        self.unused.pay(keys.len());
        self.tidy(&mut panic);
        panic.resume();
    }

    /// Lends an owner with its machine, and moves it among the arrivals of the bucket where it then belongs. Returns that
    /// bucket, and what `act` has returned unless it panicked.
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
        let seat = seats.get_mut(slot).unwrap_or_else(|| {
            let has_journal = journaling.is_some();
            let shared = SharedByRows { states, extras, timers, has_journal };
            let rows = Rows::new(noted, slot..slot + 1, bucket, shared);
            rows.load(0, rows.known().state(), spare);
            spare
        });
        let mut single = Single::new(seat, &global.state);
        let mut observer = journaling.as_ref().map(|_| notes.of_key(key));
        single.observer = observer.as_observer();
        let result = panic.catch(|| act(&mut owners[slot], &mut single));
        let is_touched = single.is_touched;
        if result.is_none() {
            // What it has asked for is dropped with it.
            panic.catch(|| drop(single));
        } else {
            // All requests are carried out, so nothing is left to drop. The compiler cannot know, and would look.
            mem::forget(single);
        }
        if !is_touched {
            if let Some(columns) = buckets.get(bucket as usize).filter(|columns| columns.seats.is_empty()) {
                let shared = SharedByRows { states, extras, timers, has_journal: journaling.is_some() };
                let rows = Rows::new(columns.noted(), slot..slot + 1, bucket, shared);
                rows.put_back(0, spare);
            }
            discarded.empty(spare);
            self.take_up_own_notes(panic);
            return Some((bucket, result));
        }
        self.take_up_own_notes(panic);
        let target = self.place_spare(place, panic);
        Some((target, result))
    }

    /// Takes what has been noted of some owners up in the journal.
    pub(crate) fn take_up_notes(&mut self, notes: &mut Notes<T>, panic: &mut FirstPanic) {
        if let Some(journaling) = self.journaling.as_mut().filter(|_| !notes.is_empty()) {
            journaling.take_up(notes, &self.states, &mut self.discarded, panic);
        }
    }

    /// Takes up the notes about an owner that was reached by key.
    fn take_up_own_notes(&mut self, panic: &mut FirstPanic) {
        if !self.notes.is_empty() {
            let mut notes = mem::replace(&mut self.notes, Notes::new());
            self.take_up_notes(&mut notes, panic);
            self.notes = notes;
        }
    }

    /// Stores the seat of an owner that was lent: the spare one, or that of its owned state. Returns the owner's bucket.
    fn place_spare(&mut self, place: Place, panic: &mut FirstPanic) -> u32 {
        if let Some(mover) = self.plain_change(place) {
            self.mark(place.bucket, place.slot(), &[mover], self.spare.entered_at);
            self.move_marked(place.bucket);
            let Self { spare, discarded, .. } = self;
            discarded.empty(spare);
            return mover.target();
        }
        let mut seat = mem::replace(&mut self.spare, Seat::empty());
        self.take_seat(place, &mut seat);
        let target = self.place(place, &mut seat, panic);
        self.move_marked(place.bucket);
        self.spare = seat;
        target
    }

    /// The change that an owner has made on the spare seat, as a mover, if it has gone from one flat singleton to another.
    fn plain_change(&mut self, place: Place) -> Option<Mover> {
        let Self { states, spare, buckets, .. } = self;
        let columns = &buckets[place.bucket as usize];
        let is_plain = !columns.is_asleep(place.slot()) && !columns.tags[place.slot()].has_timers();
        spare.lone().filter(|_| is_plain && states.get(place.bucket).is_flat() && spare.is_entered())?;
        let target = states.number_of(&spare.current).filter(|&target| states.get(target).is_flat())?;
        Mover::made(0, target, states.number_of(&spare.previous)?)
    }

    pub(crate) fn is_asleep(&self, key: Key) -> bool {
        let place = self.places.get(key).map(SharedPlace::get);
        place.is_some_and(|place| self.buckets[place.bucket as usize].is_asleep(place.slot()))
    }

    /// Whether a reload has changed what an owner's state does since the owner may have fallen asleep.
    pub(crate) fn is_outdated(&self, key: Key) -> bool {
        let Some(place) = self.places.get(key).map(SharedPlace::get) else { return false };
        self.buckets[place.bucket as usize].revision != self.states.get(place.bucket).state().revision()
    }

    /// Wakes the owners that sleep in a state whose revision has changed since they fell asleep.
    pub(crate) fn wake_outdated(&mut self) {
        let mut woken = Vec::new();
        for bucket in self.numbers() {
            let columns = &mut self.buckets[bucket as usize];
            if columns.asleep > 0 {
                let revision = self.states.get(bucket).state().revision();
                if mem::replace(&mut columns.revision, revision) != revision {
                    woken.extend(columns.tags[..columns.asleep].iter().map(|tag| tag.key));
                }
            }
        }
        if !woken.is_empty() {
            self.with_each(&woken, |_, single| single.is_touched |= single.seat.wake());
        }
    }

    /// Whether something is due for any of some owners.
    pub(crate) fn has_due(&self, bucket: u32, rows: Range<usize>) -> bool {
        !self.buckets[bucket as usize].noted().due_in(&rows).is_empty()
    }

    /// Tidies up after owners have moved: forgets states without owners, and drops what is no longer needed.
    pub(crate) fn tidy(&mut self, panic: &mut FirstPanic) {
        self.forget_unused();
        self.discarded.drop_all(panic);
        debug_assert!(self.is_whole(), "a batch keeps an owner where it does not belong");
    }

    /// Whether columns, places and timers agree, as they do between two calls. Debug builds ask this after each call, so that of
    /// many buckets and rows only some are looked at.
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
        let (is_owned, depth) = (self.states.get(bucket).is_owned, self.states.get(bucket).path().count());
        let has_times = self.has_clock && !is_owned;
        let is_row_whole = |slot: usize| {
            let tag = &tags[slot];
            let key = tag.key;
            let seat = seats.get(slot);
            self.places.get(key).is_some_and(|place| place.get() == Place::new(bucket, slot))
                && (tag.has_timers() || self.timers.next(key).is_none())
                && seat.map_or_else(|| self.timers.are_of(key, depth), Seat::is_whole)
                && seat.is_none_or(|seat| seat.is_asleep() == columns.is_asleep(slot))
        };
        *asleep <= len
            && tags.len() == len
            && seats.len() == if is_owned { len } else { 0 }
            && times.current.len() == if has_times { len } else { 0 }
            && times.ancestors.len() == if has_times { len * times.depth } else { 0 }
            && (0..len.min(4)).chain(len.saturating_sub(4)..len).all(is_row_whole)
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
            spare_extras: Vec::with_capacity(self.extras.len()),
            timers: self.timers.clone(),
            sleepers: Vec::new(),
            waiters: Vec::new(),
            plain: Vec::new(),
            due: Vec::new(),
            global: self.global.clone(),
            has_clock: self.has_clock,
            unused: self.unused.clone(),
            discarded: Discarded::new(),
            spare: Seat::empty(),
            notes: Notes::new(),
            journaling: None,
        }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut panic = FirstPanic::new();
        clone_extras_from(&mut self.extras, &mut self.spare_extras, &source.extras, &mut panic);
        panic.catch(|| {
            self.places.clone_from(&source.places);
            self.states.clone_from(&source.states);
            self.buckets.clone_from(&source.buckets);
            self.arrivals.clone_from(&source.arrivals);
            self.timers.clone_from(&source.timers);
            self.global.clone_from(&source.global);
            self.has_clock = source.has_clock;
            self.unused.clone_from(&source.unused);
        });
        if let Some(journaling) = &mut self.journaling {
            journaling.forget_numbers();
        }
        if !panic.is_none() {
            // In a batch of which only a part was copied, keys and owners would not agree.
            let parts = mem::replace(self, Self::with_capacity(0));
            panic.catch(|| drop(parts));
        }
        panic.resume();
    }
}

/// The numbers of all buckets.
impl<T: Owner> Store<T> {
    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        NOWHERE..Place::new(NOWHERE, self.buckets.len()).slot
    }
}
