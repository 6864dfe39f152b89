//! The owners of a batch, state by state, so that a game can do work of its own on all owners of a state.

use std::{fmt, iter};

use super::Batch;
use super::known::key::Key;
use super::rows::columns::{Columns, Tag, in_order};
use super::rows::store::Store;
use crate::change::NameOf;
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> Batch<T> {
    /// Iterates over the owners state by state, for editing: each [`Bucket`] has a state and, as one slice, all owners in this
    /// state. So a game can do work of its own that depends on the state, without a copy of the state in each owner. No callback
    /// runs, and editing an owner does not wake its machine.
    ///
    /// Each owner is in exactly one bucket, even while it sleeps. The buckets come in the order of [`iter`](Self::iter), and so
    /// do the owners in each of them. States without owners are skipped. An owner in an owned state has a bucket to itself,
    /// because the state is its own. Owners without a state, whose machine is idle or has been stopped, are in one bucket, which
    /// has no state.
    ///
    /// The call allocates room for one pointer per state, and a bucket allocates nothing. To only read the owners of one state,
    /// use [`owners_in`](Self::owners_in).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy(1), &Idle);
    /// let elsa = batch.insert(Enemy(2), &Chase);
    /// let joe = batch.insert(Enemy(3), &Idle);
    /// let mut seen = Vec::new();
    /// for mut bucket in batch.buckets_mut() {
    ///     let bonus = if bucket.state().is_some_and(|state| state.is::<Chase>()) { 100 } else { 10 };
    ///     for (key, enemy) in bucket.keys().zip(bucket.owners_mut()) {
    ///         enemy.0 += bonus;
    ///         seen.push((key, enemy.0));
    ///     }
    /// }
    /// assert_eq!(seen, [(bob, 11), (joe, 13), (elsa, 102)]);
    /// ```
    ///
    /// Different threads can edit different buckets at the same time:
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch: Batch<Enemy> = (0..100).map(|number| (Enemy(number), &Idle)).collect();
    /// batch.extend((0..100).map(|number| (Enemy(number), &Chase)));
    /// std::thread::scope(|scope| {
    ///     for mut bucket in batch.buckets_mut() {
    ///         scope.spawn(move || bucket.owners_mut().iter_mut().for_each(|enemy| enemy.0 = 0));
    ///     }
    /// });
    /// assert!(batch.iter().all(|(_, enemy)| enemy.0 == 0));
    /// ```
    pub fn buckets_mut(&mut self) -> impl Iterator<Item = Bucket<'_, T>> {
        let Store { buckets, states, .. } = &mut self.store;
        let states = &*states;
        in_order(buckets, states.order()).flat_map(|(number, Columns { owners, tags, seats, .. })| {
            let known = states.get(number);
            // The owners in owned states share a bucket here, although each of them has a state to itself.
            let len = if known.is_owned() { 1 } else { owners.len().max(1) };
            let seats = seats.iter().map(Some).chain(iter::repeat(None));
            tags.chunks(len).zip(owners.chunks_mut(len)).zip(seats).map(|((tags, owners), seat)| match seat {
                Some(seat) => Bucket { ancestors: seat.ancestors(), current: &seat.current, tags, owners },
                None => Bucket { ancestors: &known.ancestors, current: known.state(), tags, owners },
            })
        })
    }
}

/// The owners of a [`Batch`] whose current state is the same, with their keys. [`Batch::buckets_mut`] returns it.
///
/// It is `Send` if the owners are, so that several threads can work on the buckets of one batch.
pub struct Bucket<'a, T: Owner> {
    /// The ancestors of the current state, outermost first.
    ancestors: &'a [StateRef<T>],
    current: &'a StateRef<T>,
    tags: &'a [Tag],
    owners: &'a mut [T],
}

impl<'a, T: Owner> Bucket<'a, T> {
    /// Returns the current state of these owners. `None` if they have no state.
    #[must_use]
    pub fn state(&self) -> Option<&'a StateRef<T>> {
        self.current.as_option()
    }

    /// Returns the active states of these owners, from the outermost ancestor down to the current state.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State, StateRef};
    ///
    /// struct Enemy { fear: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Idle;
    /// struct Combat;
    /// struct Aim;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Combat {}
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> {
    ///         Some((&Combat).into())
    ///     }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { fear: 0 }, &Aim);
    /// let joe = batch.insert(Enemy { fear: 0 }, &Idle);
    /// for mut bucket in batch.buckets_mut().filter(|bucket| bucket.path().any(|state| state.is::<Combat>())) {
    ///     bucket.owners_mut().iter_mut().for_each(|enemy| enemy.fear += 1);
    /// }
    /// assert_eq!((batch[bob].fear, batch[joe].fear), (1, 0));
    /// ```
    #[must_use]
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &'a StateRef<T>> + Clone + use<'a, T> {
        self.ancestors.iter().chain(self.state())
    }

    /// Returns the keys of these owners, in the order of the owners. The iterator does not borrow the bucket, so that the owners
    /// can be edited beside it.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = Key> + ExactSizeIterator + Clone + use<'a, T> {
        self.tags.iter().map(|tag| tag.key)
    }

    /// Returns the owners. There is at least one.
    #[must_use]
    pub fn owners(&self) -> &[T] {
        self.owners
    }

    /// Returns the owners, for editing. Do not swap owners: a key refers to the position of its owner.
    #[must_use]
    pub fn owners_mut(&mut self) -> &mut [T] {
        self.owners
    }
}

impl<T: Owner> fmt::Debug for Bucket<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = format_args!("{}", NameOf(self.state())).to_string();
        f.debug_struct("Bucket").field("state", &state).field("len", &self.tags.len()).finish_non_exhaustive()
    }
}
