//! The places of owners: the bucket and the slot of each owner's row.

use std::sync::atomic::{AtomicU32, Ordering};

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
/// A relaxed load or store is an ordinary one on the usual processors. A reader has waited for the threads, which orders
/// the two.
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

/// Allows serde to create a key map from versions alone. The places are set afterwards.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SharedPlace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self::new(Place { bucket: 0, slot: 0 }))
    }
}
