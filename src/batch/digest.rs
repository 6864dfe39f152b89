//! A digest of the contents of a batch, to check whether two batches are the same.

use std::hash::Hasher;

use slotmap::Key as _;

use super::{Batch, Key};
use crate::digest::{DigestHasher, name_digest, path_digest};
use crate::machine::seat::Seat;
use crate::machine::waiting::Waiting;
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> Batch<T> {
    /// Returns a digest of all owners and their machines. Two batches have the same digest if all data that counts is the same.
    /// If any data that counts differs, their digests differ, except with a chance of 1 in 2^64.
    ///
    /// `owner` adds the data of an owner to the hash, usually by [`Hash`](std::hash::Hash). For each key, the batch adds the
    /// names of the active states, of the previous state, of the states on the stack and of the states that history remembers;
    /// whether and when the active states were entered; the times on the stack; the timers, and which state ends each of them; and
    /// whether the owner is asleep and until when. Two states with the same name count as the same state. The data of owned
    /// states, the messages of timers and the global state do not count.
    ///
    /// The digest depends neither on addresses, nor on the order of rows, nor on the platform, as long as it is little-endian.
    /// So the two sides of a network game can compare their digests. The digest may change with a new version of this crate.
    /// `owner` is called once for each owner, in the order of [`iter`](Self::iter).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    /// use std::hash::Hash;
    ///
    /// #[derive(Clone, Hash)]
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { health: 10 }, &Idle);
    /// let digest = |batch: &Batch<Enemy>| batch.digest(|enemy, hasher| enemy.hash(hasher));
    ///
    /// let mut twin = batch.clone();
    /// assert_eq!(digest(&batch), digest(&twin));
    ///
    /// twin.change_state(bob, &Chase, &mut ());
    /// assert_ne!(digest(&batch), digest(&twin));
    /// ```
    #[must_use]
    pub fn digest(&self, owner: impl FnMut(&T, &mut DigestHasher)) -> u64 {
        self.sum_up(|key, hasher| hasher.write_u64(key.data().as_ffi()), owner)
    }

    /// Returns a digest of all owners and their machines without their keys. If owners are split over several batches, the
    /// wrapping sum of the batches' digests does not depend on how they are split.
    ///
    /// The same data counts as in [`digest`](Self::digest), except for the keys. `owner` should add data that tells one owner
    /// from another, such as the number of a character in the game.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    /// use std::hash::Hash;
    ///
    /// #[derive(Hash)]
    /// struct Enemy { id: u64 }
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let batch = |ids: std::ops::Range<u64>| ids.map(|id| (Enemy { id }, &Idle)).collect::<Batch<Enemy>>();
    /// let digest = |batch: &Batch<Enemy>| batch.digest_without_keys(|enemy, hasher| enemy.hash(hasher));
    ///
    /// let parts = [batch(7..10), batch(0..7)];
    /// let sum = parts.iter().map(digest).fold(0, u64::wrapping_add);
    /// assert_eq!(sum, digest(&batch(0..10)));
    /// ```
    #[must_use]
    pub fn digest_without_keys(&self, owner: impl FnMut(&T, &mut DigestHasher)) -> u64 {
        self.sum_up(|_, _| {}, owner)
    }

    fn sum_up(&self, identify: impl Fn(Key, &mut DigestHasher), mut owner: impl FnMut(&T, &mut DigestHasher)) -> u64 {
        let store = &self.store;
        let names = NameDigests::of(self);
        let nowhere = &StateRef::NONE;
        let nothing = Waiting::new();
        let mut loaded = Seat::empty();
        let mut sum = store.len() as u64;
        for &bucket in store.states.order() {
            let columns = &store.buckets[bucket as usize];
            let rows = store.rows(bucket);
            for (slot, one) in columns.owners.iter().enumerate() {
                let mut hasher = DigestHasher::new();
                identify(rows.key(slot), &mut hasher);
                if let Some(seat) = columns.seats.get(slot) {
                    hasher.write_seat(seat);
                } else {
                    hasher.write_u64(names.paths[bucket as usize]);
                    hasher.write_u64(match rows.previous_number(slot) {
                        Some(previous) => names.states[previous as usize],
                        None => name_digest(rows.previous(slot)),
                    });
                    hasher.write_view(&rows.view(slot, nowhere));
                    rows.with_rare(slot, |rare| hasher.write_rare(rare));
                    rows.load_waiting(slot, columns.is_asleep(slot), &mut loaded);
                    hasher.write_waiting(loaded.rare.as_ref().map_or(&nothing, |rare| &rare.waiting));
                    loaded = Seat::empty();
                }
                owner(one, &mut hasher);
                // A sum does not depend on the order of rows.
                sum = sum.wrapping_add(hasher.finish());
            }
        }
        sum
    }
}

/// For each known state, by number: the digest of its name, and the digest of the names on its path.
struct NameDigests {
    states: Vec<u64>,
    paths: Vec<u64>,
}

impl NameDigests {
    fn of<T: Owner>(batch: &Batch<T>) -> Self {
        let states = &batch.store.states;
        let known = || batch.store.numbers().map(|number| states.get(number));
        Self {
            states: known().map(|known| name_digest(known.state())).collect(),
            paths: known().map(|known| path_digest(&known.ancestors, known.state())).collect(),
        }
    }
}
