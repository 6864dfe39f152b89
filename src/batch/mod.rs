//! Many owners, sorted by state.

mod columns;
#[cfg(feature = "parallel")]
mod parallel;
mod pass;
mod states;

use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use slotmap::DefaultKey;

use self::columns::{ASIDE, Aside, Asides, Columns, Place, Places};
use self::pass::{CHUNK, Chunk, Fault, Part, Pass, Upshot};
use self::states::{NOWHERE, States};
use crate::fsm::Fsm;
use crate::machine::StateMachine;
use crate::owner::{NameOf, Owner};
use crate::seat::Seat;
use crate::slice::{Mover, Seated};
use crate::state::{State, StateRef};
use crate::transition::Request;

/// The key of an owner in a [`Batch`]. It stays the same while the owner moves, and is never given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key(DefaultKey);

/// Many owners with their machines, kept sorted by state, so that one call updates all owners of a state where they lie side
/// by side.
///
/// The states are the same as on a [`StateMachine`], and so are the callbacks of each owner, in the same order (rule 19).
/// Across owners, states come in the order in which the batch first saw them.
pub struct Batch<T: Owner> {
    places: Places,
    states: States<T>,
    /// One for each of the states, by its number.
    buckets: Vec<Bucket<T>>,
    asides: Asides<T>,
    global: StateRef<T>,
    /// Whether times are kept: since a change was made at another time than 0.
    has_clock: bool,
    pass: Pass<T>,
}

/// The owners in one state, or in owned states of one type.
struct Bucket<T: Owner> {
    rows: Columns<T>,
    /// Those that have come in the tick under way.
    arrivals: Columns<T>,
}

impl<T: Owner> Bucket<T> {
    const fn new() -> Self {
        Self { rows: Columns::new(), arrivals: Columns::new() }
    }
}

impl<T: Owner> Batch<T> {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self {
            places: Places::new(),
            states: States::new(),
            buckets: vec![Bucket::new()],
            asides: Asides::new(),
            global: StateRef::NONE,
            has_clock: false,
            pass: Pass::new(),
        }
    }

    /// Gives all owners a state that runs beside every other.
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.set_global(global);
        self
    }

    /// Sets the state that runs beside every other, without any callback (rule 3).
    pub fn set_global(&mut self, global: impl Into<StateRef<T>>) {
        self.global = global.into();
    }

    /// Adds an owner in `state`, without any callback, as [`StateMachine::new`] does.
    pub fn insert(&mut self, owner: T, state: impl Into<StateRef<T>>) -> Key {
        self.insert_seat(owner, Seat::new(state.into()))
    }

    /// Adds an owner in `state` and runs `enter` along its path, as [`StateMachine::start`] does.
    pub fn spawn(&mut self, owner: T, state: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> Key {
        let key = self.insert(owner, state);
        self.start(key, cx);
        key
    }

    /// Adds an owner with its machine, without any callback.
    ///
    /// # Errors
    ///
    /// When the machine's global is not the batch's. The error gives both back.
    pub fn insert_machine(&mut self, owner: T, machine: StateMachine<T>) -> Result<Key, ForeignGlobal<T>> {
        if machine.global() != self.global.as_option() {
            return Err(ForeignGlobal { owner, machine, batch_global: self.global.clone() });
        }
        Ok(self.insert_seat(owner, machine.into_seat()))
    }

    /// Takes out an owner and its machine, whole and without any callback. `None` for a stale key.
    pub fn remove(&mut self, key: Key) -> Option<(T, StateMachine<T>)> {
        let place = self.places.remove(key.0)?;
        let (seat, _) = self.take_seat(place);
        let owner = self.take_row(place);
        self.asides.remove(key.0);
        Some((owner, StateMachine::from_seat(seat, self.global.clone())))
    }

    /// Runs one tick for every owner.
    pub fn update(&mut self, cx: &mut T::Context<'_>) {
        self.update_those(Part::ALL, cx);
    }

    /// Runs one tick for the `k`-th of `n` parts of the owners.
    pub fn update_part(&mut self, k: usize, n: usize, cx: &mut T::Context<'_>) {
        match (u32::try_from(k), u32::try_from(n)) {
            (Ok(k), Ok(n)) if k < n => self.update_those(Part { k, n }, cx),
            _ => log::error!("a batch has no part {k} of {n}: nothing is updated"),
        }
    }

    /// Runs one tick for every owner, one after the other, in the order of their keys.
    pub fn update_in_key_order(&mut self, cx: &mut T::Context<'_>) {
        for key in self.places.keys().collect::<Vec<_>>() {
            self.with_fsm(Key(key), |owner, fsm| fsm.tick(owner, cx));
        }
    }

    /// Offers a message to an owner's machine. Returns whether it was handled.
    pub fn send(&mut self, key: Key, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.send(owner, message, cx)).unwrap_or(false)
    }

    /// Offers a message to every owner's machine, in the order of their keys. Returns how many handled it.
    pub fn broadcast(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> usize {
        let keys: Vec<_> = self.places.keys().collect();
        keys.into_iter().filter(|&key| self.send(Key(key), message, cx)).count()
    }

    /// Runs `enter` along an owner's active path.
    pub fn start(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.start(owner, cx)).is_some()
    }

    /// Runs `exit` along an owner's active path.
    pub fn stop(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.stop(owner, cx)).is_some()
    }

    /// Changes an owner's state.
    pub fn change_state(&mut self, key: Key, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, Request::Change(to.into()), cx)
    }

    /// Changes to the previous state.
    pub fn revert_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, Request::Revert, cx)
    }

    /// Pushes.
    pub fn push_state(&mut self, key: Key, over: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, Request::Push(over.into()), cx)
    }

    /// Pops.
    pub fn pop_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, Request::Pop, cx)
    }

    /// Resumes.
    pub fn resume_state(&mut self, key: Key, composite: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, Request::Resume(composite.into()), cx)
    }

    /// Returns an owner.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key.0)?;
        self.buckets[place.bucket as usize].rows.owners.get(place.slot as usize)
    }

    /// Returns an owner.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get(key.0)?;
        self.buckets[place.bucket as usize].rows.owners.get_mut(place.slot as usize)
    }

    /// Returns an owner's current state.
    #[must_use]
    pub fn state_of(&self, key: Key) -> Option<&StateRef<T>> {
        let place = self.places.get(key.0)?;
        let known = self.states.get(place.bucket);
        if known.is_owned {
            self.buckets[place.bucket as usize].rows.own.get(place.slot as usize)
        } else {
            known.state().as_option()
        }
    }

    /// Returns the owners whose current state is `state`.
    #[must_use]
    pub fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        match self.states.index_of(state) {
            Some(index) => &self.buckets[index as usize].rows.owners,
            None => &[],
        }
    }

    /// Returns the number of owners.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no owners.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn execute(&mut self, key: Key, request: Request<T>, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.execute_now(request, owner, cx)).unwrap_or(false)
    }

    /// Lends an owner with its machine's handle, and moves it to where it then belongs.
    fn with_fsm<R>(&mut self, key: Key, act: impl FnOnce(&mut T, &mut Fsm<'_, T>) -> R) -> Option<R> {
        let place = *self.places.get(key.0)?;
        let slot = place.slot as usize;
        let rows = &mut self.buckets[place.bucket as usize].rows;
        let (owners, rows) = rows.split(slot..slot + 1, place.bucket, &self.states, &self.asides);
        let mut seat = rows.seat(0);
        let owner = &mut owners[0];
        let mut fsm = Fsm::new(&mut seat, &self.global);
        let result = catch_unwind(AssertUnwindSafe(|| act(owner, &mut fsm)));
        let to = self.store(place, seat);
        if to != place.bucket {
            self.settle(to);
        }
        Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    fn insert_seat(&mut self, owner: T, seat: Seat<T>) -> Key {
        // It comes as an owner without a state, and moves to the one it has.
        let rows = &mut self.buckets[NOWHERE as usize].rows;
        let slot = u32::try_from(rows.len()).expect("a batch has fewer than 2^32 owners");
        let place = Place { bucket: NOWHERE, slot };
        let key = self.places.insert(place);
        rows.owners.push(owner);
        rows.keys.push(key);
        rows.previous.push(NOWHERE);
        if self.has_clock {
            rows.entered_at.push(0.0);
        }
        let to = self.store(place, seat);
        self.settle(to);
        Key(key)
    }

    /// The seat of the row at a place, and its owner.
    fn take_seat(&mut self, place: Place) -> (Seat<T>, &mut T) {
        let slot = place.slot as usize;
        let rows = &mut self.buckets[place.bucket as usize].rows;
        let (owners, rows) = rows.split(slot..slot + 1, place.bucket, &self.states, &self.asides);
        (rows.seat(0), &mut owners[0])
    }

    /// Takes out the row at a place.
    fn take_row(&mut self, place: Place) -> T {
        let rows = &mut self.buckets[place.bucket as usize].rows;
        let slot = place.slot as usize;
        rows.keys.swap_remove(slot);
        rows.previous.swap_remove(slot);
        if self.has_clock {
            rows.entered_at.swap_remove(slot);
        }
        if slot < rows.own.len() {
            rows.own.swap_remove(slot);
        }
        let owner = rows.owners.swap_remove(slot);
        if let Some(key) = rows.keys.get(slot) {
            self.places[*key].slot = place.slot;
        }
        owner
    }

    /// Stores a row's seat. If it is in another bucket's state, the row is moved among that bucket's arrivals. Returns the
    /// bucket.
    fn store(&mut self, place: Place, seat: Seat<T>) -> u32 {
        let Place { bucket, slot } = place;
        let slot = slot as usize;
        let to = self.states.bucket_for(&seat.current);
        if self.buckets.len() < self.states.len() {
            self.buckets.push(Bucket::new());
        }
        if !self.has_clock && seat.entered_at != 0.0 {
            self.start_clock();
        }
        let key = self.buckets[bucket as usize].rows.keys[slot];
        let known = self.states.bucket_of(&seat.previous).filter(|&index| !self.states.get(index).is_owned);
        let rare = seat.rare.filter(|rare| rare.is_memorable());
        if known.is_none() || rare.is_some() {
            let previous = if known.is_none() { seat.previous } else { StateRef::NONE };
            self.asides.insert(key, Aside { previous, rare });
        } else if !self.asides.is_empty() {
            self.asides.remove(key);
        }
        let previous = known.unwrap_or(ASIDE);
        let is_owned = self.states.get(to).is_owned;
        if to == bucket {
            let rows = &mut self.buckets[to as usize].rows;
            rows.previous[slot] = previous;
            if self.has_clock {
                rows.entered_at[slot] = seat.entered_at;
            }
            if is_owned {
                rows.own[slot] = seat.current;
            }
        } else {
            let owner = self.take_row(place);
            let arrivals = &mut self.buckets[to as usize].arrivals;
            arrivals.owners.push(owner);
            arrivals.keys.push(key);
            arrivals.previous.push(previous);
            if self.has_clock {
                arrivals.entered_at.push(seat.entered_at);
            }
            if is_owned {
                arrivals.own.push(seat.current);
            }
        }
        to
    }

    fn start_clock(&mut self) {
        self.has_clock = true;
        for bucket in &mut self.buckets {
            bucket.rows.start_clock();
            bucket.arrivals.start_clock();
        }
    }

    fn update_those(&mut self, part: Part, cx: &mut T::Context<'_>) {
        let mut fault = None;
        for index in (NOWHERE..).take(self.buckets.len()) {
            // From the last chunk to the first: the row that takes a mover's place has had its turn.
            let chunks = (0..self.buckets[index as usize].rows.len()).step_by(CHUNK).rev();
            for start in chunks {
                let rows = &mut self.buckets[index as usize].rows;
                let range = start..rows.len().min(start + CHUNK);
                let (owners, rows) = rows.split(range, index, &self.states, &self.asides);
                self.pass.run(&mut Chunk { owners, rows, global: &self.global, part }, cx);
                fault = self.settle_chunk(index, start);
                if fault.is_some() {
                    break;
                }
            }
            if fault.is_some() {
                break;
            }
        }
        self.settle_all();
        if let Some(fault) = fault {
            resume_unwind(fault);
        }
    }

    fn settle_chunk(&mut self, bucket: u32, start: usize) -> Option<Fault> {
        let mut upshot = self.pass.take_upshot();
        self.move_rows(bucket, start, &mut upshot);
        let fault = upshot.fault.take();
        self.pass.put_upshot(upshot);
        fault
    }

    /// Moves the rows of a chunk that begins at `start` among the arrivals of their new buckets, from the last to the first.
    fn move_rows(&mut self, bucket: u32, start: usize, upshot: &mut Upshot<T>) {
        if !upshot.movers.is_empty() && upshot.moved_at != 0.0 && !self.has_clock {
            self.start_clock();
        }
        upshot.seated.sort_by_key(|seated| seated.slot);
        while let Some(Seated { slot, seat, .. }) = upshot.seated.pop() {
            let behind = upshot.movers.partition_point(|mover| mover.slot < slot);
            self.move_in_bulk(bucket, start, &upshot.movers[behind..], upshot.moved_at);
            upshot.movers.truncate(behind);
            #[expect(clippy::cast_possible_truncation, reason = "a bucket has fewer than 2^32 rows")]
            self.store(Place { bucket, slot: start as u32 + slot }, seat);
        }
        self.move_in_bulk(bucket, start, &upshot.movers, upshot.moved_at);
        upshot.movers.clear();
    }

    fn move_in_bulk(&mut self, bucket: u32, start: usize, movers: &[Mover], moved_at: f64) {
        let mut rows = mem::replace(&mut self.buckets[bucket as usize].rows, Columns::new());
        for mover in movers.iter().rev() {
            let slot = start + mover.slot as usize;
            if rows.previous[slot] == ASIDE {
                self.forget_previous(rows.keys[slot]);
            }
            if mover.target == bucket {
                rows.previous[slot] = bucket;
                if self.has_clock {
                    rows.entered_at[slot] = moved_at;
                }
                continue;
            }
            let to = &mut self.buckets[mover.target as usize].arrivals;
            rows.move_row(slot, to, bucket, moved_at, self.has_clock);
            if let Some(key) = rows.keys.get(slot) {
                self.places[*key].slot = slot as u32;
            }
        }
        self.buckets[bucket as usize].rows = rows;
    }

    /// Forgets the previous state that is kept aside for an owner.
    #[cold]
    fn forget_previous(&mut self, key: DefaultKey) {
        if let Some(aside) = self.asides.get_mut(key) {
            aside.previous = StateRef::NONE;
            if aside.rare.is_none() {
                self.asides.remove(key);
            }
        }
    }

    fn settle_all(&mut self) {
        for index in (NOWHERE..).take(self.buckets.len()) {
            self.settle(index);
        }
    }

    /// Takes a bucket's arrivals up into its rows.
    fn settle(&mut self, index: u32) {
        let Bucket { rows, arrivals } = &mut self.buckets[index as usize];
        if arrivals.is_empty() {
            return;
        }
        let first = rows.len();
        rows.append(arrivals);
        for (slot, key) in (first as u32..).zip(&rows.keys[first..]) {
            self.places[*key] = Place { bucket: index, slot };
        }
    }
}

/// Why a machine could not be put into a batch: its global is another. Gives owner and machine back.
pub struct ForeignGlobal<T: Owner> {
    /// The owner.
    pub owner: T,
    /// Its machine.
    pub machine: StateMachine<T>,
    batch_global: StateRef<T>,
}

impl<T: Owner> fmt::Display for ForeignGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch_global = NameOf(self.batch_global.as_option());
        write!(f, "the machine's global is {}, the batch's is {batch_global}", NameOf(self.machine.global()))
    }
}

impl<T: Owner> fmt::Debug for ForeignGlobal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Owner> Error for ForeignGlobal<T> {}

impl<T: Owner> Default for Batch<T> {
    fn default() -> Self {
        Self::new()
    }
}
