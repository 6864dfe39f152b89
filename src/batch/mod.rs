//! Many owners, sorted by state.

mod changes;
mod columns;
#[cfg(feature = "parallel")]
mod parallel;
mod pass;
mod states;
mod store;

use std::error::Error;
use std::fmt;
use std::panic::resume_unwind;

use slotmap::DefaultKey;

use self::pass::{CHUNK, Part, Pass};
use self::store::Store;
use crate::fsm::Fsm;
use crate::machine::StateMachine;
use crate::owner::{NameOf, Owner};
use crate::seat::Seat;
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
    store: Store<T>,
    pass: Pass<T>,
}

impl<T: Owner> Batch<T> {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self { store: Store::new(), pass: Pass::new() }
    }

    /// Gives all owners a state that runs beside every other. It is never entered or exited (rule 3).
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.set_global(global);
        self
    }

    /// Adds an owner in `state`, without any callback, as [`StateMachine::new`] does.
    ///
    /// # Panics
    ///
    /// When the batch has 2^32 - 2 owners, or knows as many states.
    pub fn insert(&mut self, owner: T, state: impl Into<StateRef<T>>) -> Key {
        Key(self.store.insert(owner, Seat::new(state.into())))
    }

    /// Adds an owner in `state` and runs `enter` along its path, as [`StateMachine::start`] does.
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert).
    pub fn spawn(&mut self, owner: T, state: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> Key {
        let key = self.insert(owner, state);
        self.start(key, cx);
        key
    }

    /// Adds an owner with its machine, without any callback: whatever the machine remembers, it goes on from there.
    ///
    /// # Errors
    ///
    /// When the machine's global is not the batch's. The error gives both back.
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_machine(&mut self, owner: T, machine: StateMachine<T>) -> Result<Key, ForeignGlobal<T>> {
        if machine.global() != self.global() {
            return Err(ForeignGlobal { owner, machine, batch_global: self.store.global.clone() });
        }
        Ok(Key(self.store.insert(owner, machine.into_seat())))
    }

    /// Takes out an owner with its machine, whole and without any callback. `None` for a stale key.
    pub fn remove(&mut self, key: Key) -> Option<(T, StateMachine<T>)> {
        let (owner, seat) = self.store.remove(key.0)?;
        Some((owner, StateMachine::from_seat(seat, self.store.global.clone())))
    }

    /// Takes the batch apart, by the order of keys, into its owners and their machines.
    pub fn into_machines(mut self) -> impl Iterator<Item = (Key, T, StateMachine<T>)> {
        let keys: Vec<_> = self.keys().collect();
        keys.into_iter().filter_map(move |key| self.remove(key).map(|(owner, machine)| (key, owner, machine)))
    }

    /// Runs one tick for every owner: what [`StateMachine::update`] does for one (rules 4, 19, 20).
    ///
    /// Across owners: states in the order in which the batch first saw them; inside a state by chunks, in each the updates,
    /// then the exits, then the enters. Owners that change are moved afterwards, so that none is updated twice or missed.
    ///
    /// # Panics
    ///
    /// When a callback panics, once the batch is in order: that owner keeps the state it was in, or had just come to; its
    /// own requests are dropped, those that were made before it are carried out, and the rest of the owners is left for the
    /// next tick (rule 22).
    pub fn update(&mut self, cx: &mut T::Context<'_>) {
        self.update_those(Part::ALL, cx);
    }

    /// Runs one tick for the `k`-th of `n` parts of the owners, counted from 0: the classic "think every `n` frames".
    ///
    /// An owner stays in its part wherever it moves, so that `n` calls, one for each part, update every owner exactly once.
    /// A part that there is none of is an error in the log, and nothing is updated.
    ///
    /// # Panics
    ///
    /// As [`update`](Self::update).
    ///
    /// # Examples
    ///
    /// ```
    /// # use demeanor::{Batch, Fsm, Owner, State};
    /// # #[derive(Default)]
    /// # struct Enemy { thoughts: u32 }
    /// # impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// # struct Think;
    /// # impl State<Enemy> for Think {
    /// #     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut ()) { enemy.thoughts += 1; }
    /// # }
    /// let mut batch = Batch::new();
    /// for _ in 0..100 {
    ///     batch.insert(Enemy::default(), &Think);
    /// }
    /// for frame in 0..8 {
    ///     batch.update_part(frame % 4, 4, &mut ());
    /// }
    /// assert!(batch.iter().all(|(_, enemy)| enemy.thoughts == 2));
    /// ```
    pub fn update_part(&mut self, k: usize, n: usize, cx: &mut T::Context<'_>) {
        match (u32::try_from(k), u32::try_from(n)) {
            (Ok(k), Ok(n)) if k < n => self.update_those(Part { k, n }, cx),
            _ => log::error!("a batch has no part {k} of {n}: nothing is updated"),
        }
    }

    /// Runs one tick for every owner, one whole owner after the other, in the order of their keys.
    ///
    /// The reference that [`update`](Self::update) is held against: for each owner the same callbacks in the same order,
    /// without the speed.
    ///
    /// # Panics
    ///
    /// As [`update`](Self::update).
    pub fn update_in_key_order(&mut self, cx: &mut T::Context<'_>) {
        for key in self.store.keys().collect::<Vec<_>>() {
            self.store.with_fsm(key, |owner, fsm| fsm.tick(owner, cx));
        }
    }

    fn update_those(&mut self, part: Part, cx: &mut T::Context<'_>) {
        let mut fault = None;
        'tick: for bucket in self.store.buckets() {
            // From the last chunk to the first: the row that takes a mover's place has had its turn.
            for start in (0..self.store.rows_in(bucket)).step_by(CHUNK).rev() {
                self.pass.run(&mut self.store.chunk(bucket, start, CHUNK, part), cx);
                self.store.move_rows(bucket, start, &mut self.pass.upshot);
                fault = self.pass.upshot.fault.take();
                if fault.is_some() {
                    break 'tick;
                }
            }
        }
        self.store.settle_all();
        if let Some(fault) = fault {
            resume_unwind(fault);
        }
    }
}

/// What a [`StateMachine`] does, by key. For a stale key nothing is done.
impl<T: Owner> Batch<T> {
    /// Sets the state that runs beside every other, without any callback (rule 3).
    pub fn set_global(&mut self, global: impl Into<StateRef<T>>) {
        self.store.global = global.into();
    }

    /// Runs `enter` along an owner's active path, outermost first. Returns whether there is such an owner. See
    /// [`StateMachine::start`].
    pub fn start(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.start(owner, cx)).is_some()
    }

    /// Runs `exit` along an owner's active path, innermost first, and leaves it without a state. Returns whether there is
    /// such an owner. See [`StateMachine::stop`].
    pub fn stop(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.stop(owner, cx)).is_some()
    }

    /// Offers a message to an owner's machine. Returns whether it was handled. See [`StateMachine::send`].
    pub fn send(&mut self, key: Key, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.send(owner, message, cx)).unwrap_or(false)
    }

    /// Offers a message to every owner's machine, in the order of their keys. Returns how many handled it.
    pub fn broadcast(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> usize {
        let keys: Vec<_> = self.keys().collect();
        keys.into_iter().filter(|&key| self.send(key, message, cx)).count()
    }

    /// Changes an owner's state. Returns whether the change was made. See [`StateMachine::change_state`].
    pub fn change_state(&mut self, key: Key, to: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Change(to.into()), cx)
    }

    /// Changes an owner to its previous state. Returns whether the change was made. See [`StateMachine::revert_state`].
    pub fn revert_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Revert, cx)
    }

    /// Suspends an owner's state and enters `over`. Returns whether it was done. See [`StateMachine::push_state`].
    pub fn push_state(&mut self, key: Key, over: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Push(over.into()), cx)
    }

    /// Leaves an owner's state and resumes what it was pushed over. Returns whether it was done. See
    /// [`StateMachine::pop_state`].
    pub fn pop_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Pop, cx)
    }

    /// Changes an owner to where it left `composite`. Returns whether the change was made. See
    /// [`StateMachine::resume_state`].
    pub fn resume_state(&mut self, key: Key, composite: impl Into<StateRef<T>>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Resume(composite.into()), cx)
    }

    /// Lends an owner and its machine to `act` as a callback has them, carries out what it asks for, and returns what it
    /// returns. `None` for a stale key. See [`StateMachine::with`].
    pub fn with<R>(
        &mut self,
        key: Key,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        self.store.with_fsm(key.0, |owner, fsm| {
            let result = act(owner, fsm, cx);
            fsm.settle(owner, cx);
            result
        })
    }

    /// Sets an owner's current state without any callback. Returns whether there is such an owner.
    pub fn set_current(&mut self, key: Key, current: impl Into<StateRef<T>>) -> bool {
        self.store.with_fsm(key.0, |_, fsm| fsm.seat.place(current.into())).is_some()
    }

    /// Sets an owner's previous state without any callback. Returns whether there is such an owner.
    pub fn set_previous(&mut self, key: Key, previous: impl Into<StateRef<T>>) -> bool {
        self.store.with_fsm(key.0, |_, fsm| fsm.seat.previous = previous.into()).is_some()
    }

    /// Returns an owner's current state for editing, if it is an owned one of type `S`. See
    /// [`StateMachine::current_mut`].
    pub fn current_mut<S: State<T>>(&mut self, key: Key) -> Option<&mut S> {
        self.store.own_state_mut(key.0)?.owned_mut()
    }

    fn execute(&mut self, key: Key, request: &Request<T>, cx: &mut T::Context<'_>) -> bool {
        self.with(key, cx, |owner, fsm, cx| fsm.execute_now(request, owner, cx)).unwrap_or(false)
    }
}

/// Reading a batch.
impl<T: Owner> Batch<T> {
    /// Returns the number of owners.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether there are no owners.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is an owner of this key.
    #[must_use]
    pub fn contains(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Returns an owner. `None` for a stale key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        self.store.owner(key.0)
    }

    /// Returns an owner. `None` for a stale key.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.store.owner_mut(key.0)
    }

    /// Returns the keys, in their own order.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.store.keys().map(Key)
    }

    /// Returns the owners with their keys, sorted by state as they are stored.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.store.iter().map(|(key, owner)| (Key(key), owner))
    }

    /// Returns the owners with their keys, sorted by state as they are stored.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        self.store.iter_mut().map(|(key, owner)| (Key(key), owner))
    }

    /// Returns the state that runs beside every other.
    #[must_use]
    pub fn global(&self) -> Option<&StateRef<T>> {
        self.store.global.as_option()
    }

    /// Returns an owner's current state. `None` for a stale key, or when it has none.
    #[must_use]
    pub fn state_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.row(key.0)?.current(0).as_option()
    }

    /// Returns the state that an owner's current was before the last change. `None` for a stale key, or when there was none.
    #[must_use]
    pub fn previous_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.row(key.0)?.previous(0).as_option()
    }

    /// Returns whether `state` is active for an owner: its current, or an ancestor of it. `false` for a stale key.
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, key: Key, state: &S) -> bool {
        self.store.row(key.0).is_some_and(|row| row.seat(0).is_in_state(state))
    }

    /// Returns whether any state of type `S` is active for an owner. `false` for a stale key.
    #[must_use]
    pub fn is_in<S: State<T>>(&self, key: Key) -> bool {
        self.store.row(key.0).is_some_and(|row| row.seat(0).is_in::<S>())
    }

    /// Returns how long ago an owner's last change was, in seconds by [`Owner::now`]; before the first change, the time by
    /// that clock (rule 18). `None` for a stale key.
    #[must_use]
    pub fn time_in_state(&self, key: Key, cx: &T::Context<'_>) -> Option<f64> {
        Some(T::now(cx) - self.store.row(key.0)?.seat(0).entered_at)
    }

    /// Returns the owners whose current state is `state`, side by side: for instanced drawing, for instance.
    ///
    /// An owned state has one owner.
    #[must_use]
    pub fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        self.store.owners_in(state)
    }

    /// Returns how many owners are in each state, in the order in which the batch first saw the states.
    ///
    /// Owned states of one type count as one, by the first of them; and are left out, like owners without a state, when there
    /// is nobody.
    pub fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.store.census()
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

impl<T: Owner + Clone> Clone for Batch<T> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), pass: Pass::new() }
    }
}

impl<T: Owner> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.census()).finish()
    }
}

impl<T: Owner> Default for Batch<T> {
    fn default() -> Self {
        Self::new()
    }
}
