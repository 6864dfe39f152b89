//! Creates many owners on all cores, and adds them in one state.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelExtend};

use crate::batch::Batch;
use crate::batch::known::key::{Place, SharedPlace};
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::states::NOWHERE;
use crate::batch::rows::columns::Tag;
use crate::batch::rows::store::Store;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::{IntoState, StateRef};

/// The largest number of owners in a batch: one less than slotmap has keys for.
const MOST_OWNERS: usize = u32::MAX as usize - 1;

impl<T: Owner> Batch<T> {
    /// Adds owners in `state`, without any callback, as [`insert`](Self::insert) does for each. The owners are created on the
    /// threads of rayon's current pool. In the batch, the owners have the order of the iterator.
    ///
    /// # Panics
    ///
    /// As for [`insert`](Self::insert), and when `owners` panics. None of the owners is then in the batch.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// struct Enemy(usize);
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// use rayon::iter::{IntoParallelIterator, ParallelIterator};
    ///
    /// let mut batch = Batch::new();
    /// batch.par_extend((0..10_000).into_par_iter().map(Enemy), &Idle);
    /// assert_eq!(batch.owners_in(&Idle).len(), 10_000);
    /// assert_eq!(batch.owners_in(&Idle)[4711].0, 4711);
    /// ```
    pub fn par_extend<I>(&mut self, owners: I, state: impl IntoState<T>)
    where
        T: Send,
        I: IntoParallelIterator<Item = T>,
        I::Iter: IndexedParallelIterator,
    {
        let (owners, state) = (owners.into_par_iter(), state.into_state());
        // What the batch knows of a state counts, also if a method of the state panicked when the batch first saw it.
        let known = self.store.states.bucket_of(&state).map(|bucket| self.store.states.get(bucket).has_seats);
        if known.unwrap_or_else(|| state.is_owned() || state.has_regions()) {
            // In such a bucket, each owner has a seat.
            let mut made = Vec::new();
            made.par_extend(owners);
            for owner in made {
                self.insert(owner, state.clone());
            }
        } else {
            self.store.insert_all(owners, state);
        }
    }
}

impl<T: Owner + Send> Store<T> {
    fn insert_all(&mut self, owners: impl IndexedParallelIterator<Item = T>, state: StateRef<T>) {
        assert!(owners.len() <= MOST_OWNERS - self.places.len(), "a batch has fewer than 2^32 owners");
        let mut panic = FirstPanic::new();
        let mut seat = Seat::new(state);
        let bucket = self.bucket_for(&seat, &mut panic);
        let columns = &mut self.buckets[bucket as usize];
        let first = columns.len();
        if panic.is_none() {
            panic.catch(|| columns.owners.par_extend(owners));
        }
        self.places.reserve(columns.len() - first);
        columns.tags.reserve(columns.len() - first);
        for slot in first..columns.len() {
            let key = self.places.insert(SharedPlace::new(Place::new(bucket, slot)));
            columns.tags.push(Tag::new(key, Some(NOWHERE), false));
        }
        if self.has_clock {
            columns.start_clock();
        }
        self.note_if_unused(bucket);
        self.discarded.empty(&mut seat);
        self.tidy(&mut panic);
        panic.resume();
    }
}
