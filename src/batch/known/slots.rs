//! The number of slots in a chunk, and a set of slots.

use crate::state::Mover;

/// The largest number of owners in a chunk. All owners of a chunk are updated before any of them changes. The number is high
/// enough to pay for the virtual calls, and low enough that an owner is still in the cache when it changes.
pub(crate) const CHUNK: usize = 2048;

#[derive(Default)]
pub(crate) struct Slots {
    words: [u64; CHUNK / 64],
    has_any: bool,
}

impl Slots {
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_any
    }

    pub(crate) fn clear(&mut self) {
        if self.has_any {
            *self = Self::default();
        }
    }

    pub(crate) fn insert(&mut self, slot: usize) {
        self.words[slot / 64] |= 1 << (slot % 64);
        self.has_any = true;
    }

    #[inline]
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.words.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }
    /// Removes the movers whose slots are in this set from a list.
    pub(crate) fn remove_from(&self, movers: &mut Vec<Mover>) {
        movers.retain(|mover| !self.contains(mover.slot()));
    }
}
