//! The keys of a batch, and the places in the buckets to which they lead.

use std::sync::atomic::{AtomicU32, Ordering};

use slotmap::{Key as _, KeyData, SlotMap};

slotmap::new_key_type! {
    /// The key of an owner in a [`Batch`](crate::Batch). It stays the same when the owner changes state.
    ///
    /// It is a [slotmap](https://docs.rs/slotmap/1) key. So a game can store its own data for each owner in slotmap's
    /// `SecondaryMap<Key, _>`. The key of a removed owner finds nothing. A new owner gets the same key only after the key's index
    /// has been used 2^31 times. Use a key only with the batch that has returned it: another batch may have an owner with the
    /// same key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// use slotmap::SecondaryMap;
    ///
    /// let mut batch = Batch::new();
    /// let first = batch.insert(Enemy, &Idle);
    /// let mut names = SecondaryMap::new();
    /// names.insert(first, "Bob");
    /// assert_eq!(names[first], "Bob");
    ///
    /// batch.remove(first);
    /// let second = batch.insert(Enemy, &Idle);
    /// assert!(!batch.contains_key(first));
    /// assert!(batch.contains_key(second));
    /// ```
    pub struct Key;
}

impl Key {
    pub(crate) fn new(index: u32, version: u32) -> Self {
        KeyData::from_ffi(u64::from(version) << 32 | u64::from(index)).into()
    }

    /// Returns the index of the key. No two owners have the same index at the same time.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of a key is its index")]
    pub(crate) fn index(self) -> u32 {
        self.data().as_ffi() as u32
    }
    /// Returns the version, which tells the key from earlier keys with the same index.
    pub(crate) fn version(self) -> u32 {
        (self.data().as_ffi() >> 32) as u32
    }
}

/// For each key, the place of its owner's row.
pub(crate) type Places = SlotMap<Key, SharedPlace>;

/// The bucket and the slot of an owner's row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) bucket: u32,
    pub(crate) slot: u32,
}

impl Place {
    /// # Panics
    ///
    /// When `slot` is 2^32 or more. This cannot happen, because a batch has fewer keys.
    #[inline]
    pub(crate) fn new(bucket: u32, slot: usize) -> Self {
        Self { bucket, slot: u32::try_from(slot).expect("a batch has fewer than 2^32 owners") }
    }

    pub(crate) fn slot(self) -> usize {
        self.slot as usize
    }
}

/// A place that threads can write through a shared reference: each thread writes the places of the owners that it moves.
///
/// On the usual processors, a relaxed load or store is an ordinary one. Relaxed order is enough, because the batch waits for the
/// threads that write places before it reads any place.
pub(crate) struct SharedPlace {
    bucket: AtomicU32,
    slot: AtomicU32,
}

impl SharedPlace {
    #[inline]
    pub(crate) fn new(place: Place) -> Self {
        Self { bucket: AtomicU32::new(place.bucket), slot: AtomicU32::new(place.slot) }
    }

    #[inline]
    pub(crate) fn get(&self) -> Place {
        Place { bucket: self.bucket.load(Ordering::Relaxed), slot: self.slot.load(Ordering::Relaxed) }
    }

    #[inline]
    pub(crate) fn set(&self, place: Place) {
        self.bucket.store(place.bucket, Ordering::Relaxed);
        self.slot.store(place.slot, Ordering::Relaxed);
    }
}

impl Clone for SharedPlace {
    // slotmap calls this for each owner. Without inlining, these calls took a third of the time of copying the places.
    #[inline]
    fn clone(&self) -> Self {
        Self::new(self.get())
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        *self = source.clone();
    }
}

/// Allows serde to create `Places` from the versions of the keys alone. The places are set afterwards.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SharedPlace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self::new(Place { bucket: 0, slot: 0 }))
    }
}
