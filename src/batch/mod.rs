//! Many owners, sorted by state.

mod columns;
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

    /// Gives all owners a state that runs beside every other.
    #[must_use]
    pub fn with_global(mut self, global: impl Into<StateRef<T>>) -> Self {
        self.set_global(global);
        self
    }

    /// Sets the state that runs beside every other, without any callback (rule 3).
    pub fn set_global(&mut self, global: impl Into<StateRef<T>>) {
        self.store.global = global.into();
    }

    /// Adds an owner in `state`, without any callback, as [`StateMachine::new`] does.
    pub fn insert(&mut self, owner: T, state: impl Into<StateRef<T>>) -> Key {
        Key(self.store.insert(owner, Seat::new(state.into())))
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
        if machine.global() != self.store.global.as_option() {
            return Err(ForeignGlobal { owner, machine, batch_global: self.store.global.clone() });
        }
        Ok(Key(self.store.insert(owner, machine.into_seat())))
    }

    /// Takes out an owner and its machine, whole and without any callback. `None` for a stale key.
    pub fn remove(&mut self, key: Key) -> Option<(T, StateMachine<T>)> {
        let (owner, seat) = self.store.remove(key.0)?;
        Some((owner, StateMachine::from_seat(seat, self.store.global.clone())))
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
        for key in self.store.keys().collect::<Vec<_>>() {
            self.with_fsm(Key(key), |owner, fsm| fsm.tick(owner, cx));
        }
    }

    /// Offers a message to an owner's machine. Returns whether it was handled.
    pub fn send(&mut self, key: Key, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.send(owner, message, cx)).unwrap_or(false)
    }

    /// Offers a message to every owner's machine, in the order of their keys. Returns how many handled it.
    pub fn broadcast(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> usize {
        let keys: Vec<_> = self.store.keys().collect();
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
        self.store.owner(key.0)
    }

    /// Returns an owner.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.store.owner_mut(key.0)
    }

    /// Returns an owner's current state.
    #[must_use]
    pub fn state_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.state_of(key.0)?.as_option()
    }

    /// Returns the owners whose current state is `state`.
    #[must_use]
    pub fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        self.store.owners_in(state)
    }

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

    fn execute(&mut self, key: Key, request: Request<T>, cx: &mut T::Context<'_>) -> bool {
        self.with_fsm(key, |owner, fsm| fsm.execute_now(request, owner, cx)).unwrap_or(false)
    }

    /// Lends an owner with its machine's handle, and moves it to where it then belongs.
    fn with_fsm<R>(&mut self, key: Key, act: impl FnOnce(&mut T, &mut Fsm<'_, T>) -> R) -> Option<R> {
        self.store.with_fsm(key.0, act)
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
