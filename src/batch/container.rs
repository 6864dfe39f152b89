//! A batch as a container of owners with keys, in the vocabulary of the standard library.

use std::iter::{self, FlatMap, Flatten, FusedIterator, Repeat, Zip};
use std::ops::{Index, IndexMut};
use std::{fmt, slice, vec};

use super::Batch;
use super::known::key::Key;
use super::known::key::SharedPlace;
use super::known::panics::FirstPanic;
use super::rows::columns::{Columns, Tag, in_order};
use super::rows::store::Store;
use crate::machine::state_machine::StateMachine;
use crate::owner::Owner;
use crate::state::IntoState;

impl<T: Owner> Batch<T> {
    /// Creates an empty batch with room for the keys of `capacity` owners. The owners themselves are stored by state, and
    /// [`reserve`](Self::reserve) makes room for them in one state.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let batch = Batch::<Enemy>::with_capacity(1000);
    /// assert!(batch.is_empty());
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::of(Store::with_capacity(capacity))
    }

    /// Makes room for `additional` more owners in `state`.
    ///
    /// # Panics
    ///
    /// When the new capacity exceeds `isize::MAX` bytes.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.reserve(1000, &Idle);
    /// batch.extend((0..1000).map(|n| (Enemy(n), &Idle)));
    /// assert_eq!(batch.len(), 1000);
    /// ```
    pub fn reserve(&mut self, additional: usize, state: impl IntoState<T>) {
        self.store.reserve(additional, state.into_state());
    }

    /// Frees the unused capacity for owners and timers. The capacity for keys stays, and so do the buffers of the ticks.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::with_capacity(1000);
    /// batch.insert(Enemy(1), &Idle);
    /// batch.shrink_to_fit();
    /// assert_eq!(batch.len(), 1);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.store.buckets.iter_mut().chain(&mut self.store.arrivals).for_each(Columns::shrink_to_fit);
        self.store.timers.shrink_to_fit();
        self.store.spare_extras = Vec::new();
    }

    /// Drops all owners, without any callback. The capacity stays, except that of owners in owned states.
    ///
    /// # Panics
    ///
    /// When the `Drop` of an owner panics. The panic reaches the caller after all owners have been dropped.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy(1), &Idle);
    /// batch.clear();
    /// assert!(batch.is_empty());
    /// assert!(!batch.contains_key(bob));
    /// ```
    pub fn clear(&mut self) {
        drop(self.drain());
    }

    /// Keeps only the owners for which `keep` returns `true`, and drops the others without any callback. The owners are visited
    /// state by state, and within a state from the last to the first.
    ///
    /// # Panics
    ///
    /// When `keep` or the `Drop` of an owner panics. The owner for which `keep` panicked stays, and so do the owners that have
    /// not been visited by then.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let keys: Vec<_> = (0..4).map(|n| batch.insert(Enemy(n), &Idle)).collect();
    /// batch.retain(|_, enemy| enemy.0 % 2 == 0);
    /// assert_eq!(batch.len(), 2);
    /// assert!(batch.contains_key(keys[2]));
    /// assert!(!batch.contains_key(keys[3]));
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(Key, &mut T) -> bool) {
        for bucket in self.store.numbers() {
            // This goes from the last row to the first, because the last row takes the place of a removed row.
            for slot in (0..self.store.buckets[bucket as usize].len()).rev() {
                let columns = &mut self.store.buckets[bucket as usize];
                let key = columns.tags[slot].key;
                if !keep(key, &mut columns.owners[slot]) {
                    self.store.remove(key);
                }
            }
        }
    }

    /// Removes all owners and returns them with their machines, without any callback, in the order of their keys. When the
    /// iterator is dropped, it drops the remaining owners.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy(1), &Idle);
    /// let taken: Vec<_> = batch.drain().map(|(key, enemy, machine)| (key, enemy.0, machine.is_in_state(&Idle))).collect();
    /// assert_eq!(taken, [(bob, 1, true)]);
    /// assert!(batch.is_empty());
    /// ```
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain { keys: self.keys().collect::<Vec<_>>().into_iter(), batch: self }
    }

    /// Iterates over the keys, in ascending order.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy(1), &Idle);
    /// let elsa = batch.insert(Enemy(2), &Chase);
    /// assert_eq!(batch.keys().collect::<Vec<_>>(), [bob, elsa]);
    /// assert_eq!(batch.keys().len(), 2);
    /// ```
    pub fn keys(&self) -> Keys<'_> {
        Keys(self.store.places.keys())
    }

    /// Iterates over the owners with their keys, state by state, in the order in which they are stored.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy(1), &Idle);
    /// batch.insert(Enemy(2), &Chase);
    /// batch.insert(Enemy(3), &Idle);
    /// let numbers: Vec<_> = batch.iter().map(|(_, enemy)| enemy.0).collect();
    /// assert_eq!(numbers, [1, 3, 2]);
    /// assert_eq!(batch.iter().len(), 3);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        self.into_iter()
    }

    /// Iterates over the owners with their keys, for editing, state by state, in the order in which they are stored.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/numbered_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy(1), &Idle);
    /// for (_, enemy) in batch.iter_mut() {
    ///     enemy.0 = 0;
    /// }
    /// assert_eq!(batch[bob].0, 0);
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        self.into_iter()
    }
}

/// # Panics
///
/// For a stale key, as a map does.
impl<T: Owner> Index<Key> for Batch<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, key: Key) -> &T {
        self.get(key).expect("there is no owner of this key")
    }
}

/// # Panics
///
/// For a stale key, as a map does.
impl<T: Owner> IndexMut<Key> for Batch<T> {
    #[track_caller]
    fn index_mut(&mut self, key: Key) -> &mut T {
        self.get_mut(key).expect("there is no owner of this key")
    }
}

/// Adds owners, each in a state, without any callback.
impl<T: Owner, S: IntoState<T>> Extend<(T, S)> for Batch<T> {
    fn extend<I: IntoIterator<Item = (T, S)>>(&mut self, owners: I) {
        for (owner, state) in owners {
            self.insert(owner, state);
        }
    }
}

impl<T: Owner, S: IntoState<T>> FromIterator<(T, S)> for Batch<T> {
    fn from_iter<I: IntoIterator<Item = (T, S)>>(owners: I) -> Self {
        let mut batch = Self::new();
        batch.extend(owners);
        batch
    }
}

impl<'a, T: Owner> IntoIterator for &'a Batch<T> {
    type Item = (Key, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        Iter::new(&self.store)
    }
}

impl<'a, T: Owner> IntoIterator for &'a mut Batch<T> {
    type Item = (Key, &'a mut T);
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        let store = &mut self.store;
        let len = store.len();
        let buckets = in_order(&mut store.buckets, store.states.order());
        let rows = buckets.map(|(_, Columns { tags, owners, .. })| tags.iter().zip(owners)).collect::<Vec<_>>();
        IterMut { len, rows: rows.into_iter().flatten() }
    }
}

/// An iterator over the keys of a batch, returned by [`Batch::keys`].
#[derive(Clone)]
pub struct Keys<'a>(slotmap::basic::Keys<'a, Key, SharedPlace>);

impl Iterator for Keys<'_> {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Keys<'_> {}
impl FusedIterator for Keys<'_> {}

impl fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// An iterator over the owners of a batch with their keys, returned by [`Batch::iter`].
pub struct Iter<'a, T: Owner> {
    len: usize,
    rows: FlatMap<Buckets<'a, T>, BucketRows<'a, T>, RowsOf<'a, T>>,
}

type Buckets<'a, T> = Zip<slice::Iter<'a, u32>, Repeat<&'a [Columns<T>]>>;
type BucketRows<'a, T> = Zip<slice::Iter<'a, Tag>, slice::Iter<'a, T>>;
type RowsOf<'a, T> = fn((&u32, &'a [Columns<T>])) -> BucketRows<'a, T>;

impl<'a, T: Owner> Iter<'a, T> {
    fn new(store: &'a Store<T>) -> Self {
        let rows_of: RowsOf<'a, T> = |(&bucket, buckets)| {
            let Columns { tags, owners, .. } = &buckets[bucket as usize];
            tags.iter().zip(owners)
        };
        let buckets = store.states.order().iter().zip(iter::repeat(&store.buckets[..]));
        Self { len: store.len(), rows: buckets.flat_map(rows_of) }
    }
}

impl<'a, T: Owner> Iterator for Iter<'a, T> {
    type Item = (Key, &'a T);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, owner) = self.rows.next()?;
        self.len -= 1;
        Some((tag.key, owner))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    /// Runs one loop for each bucket. In contrast, `next` checks before each row whether the bucket has ended. A key that the
    /// closure does not use is not read.
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut visit: F) -> B {
        self.rows.fold(init, |so_far, (tag, owner)| visit(so_far, (tag.key, owner)))
    }
}

impl<T: Owner> ExactSizeIterator for Iter<'_, T> {}
impl<T: Owner> FusedIterator for Iter<'_, T> {}

impl<T: Owner> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { len: self.len, rows: self.rows.clone() }
    }
}

impl<T: Owner + fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

/// A mutable iterator over the owners of a batch with their keys, returned by [`Batch::iter_mut`].
pub struct IterMut<'a, T: Owner> {
    len: usize,
    rows: Flatten<vec::IntoIter<Zip<slice::Iter<'a, Tag>, slice::IterMut<'a, T>>>>,
}

impl<'a, T: Owner> Iterator for IterMut<'a, T> {
    type Item = (Key, &'a mut T);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, owner) = self.rows.next()?;
        self.len -= 1;
        Some((tag.key, owner))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T: Owner> ExactSizeIterator for IterMut<'_, T> {}
impl<T: Owner> FusedIterator for IterMut<'_, T> {}

impl<T: Owner> fmt::Debug for IterMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("len", &self.len).finish_non_exhaustive()
    }
}

/// An iterator that removes all owners from a batch, returned by [`Batch::drain`].
pub struct Drain<'a, T: Owner> {
    keys: vec::IntoIter<Key>,
    batch: &'a mut Batch<T>,
}

impl<T: Owner> Iterator for Drain<'_, T> {
    type Item = (Key, T, StateMachine<T>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        let (owner, machine) = self.batch.remove(key)?;
        Some((key, owner, machine))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl<T: Owner> ExactSizeIterator for Drain<'_, T> {}
impl<T: Owner> FusedIterator for Drain<'_, T> {}

/// Drops the remaining owners one by one, so that all of them are dropped even if the `Drop` of one owner panics.
impl<T: Owner> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        let mut panic = FirstPanic::new();
        while self.keys.len() > 0 {
            panic.catch(|| drop(self.next()));
        }
        if !std::thread::panicking() {
            panic.resume();
        }
    }
}

impl<T: Owner> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("keys", &self.keys.as_slice()).finish_non_exhaustive()
    }
}
