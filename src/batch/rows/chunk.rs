//! Some consecutive rows of a bucket with their owners, as they are lent for a tick.

use super::range::Rows;
use crate::batch::known::key::Key;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::StateRef;

/// Some consecutive rows of a bucket.
pub(crate) struct Chunk<'a, T: Owner> {
    pub(crate) owners: &'a mut [T],
    /// In a bucket of owned states, each owner's; elsewhere empty.
    pub(crate) seats: &'a mut [Seat<T>],
    pub(crate) rows: Rows<'a, T>,
    /// The slots of the owners for which something is due, ascending.
    pub(crate) due: &'a [u32],
    /// The slot of the first row in the bucket, which is 0 in the chunk.
    pub(crate) start: usize,
    pub(crate) global: &'a Global<T>,
    pub(crate) part: PassPart,
}

/// The state that runs beside every other.
pub(crate) struct Global<T: Owner> {
    /// `StateRef::NONE` when there is none.
    pub(crate) state: StateRef<T>,
    /// Whether it is updated.
    pub(crate) is_updating: bool,
}

impl<T: Owner> Clone for Global<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), is_updating: self.is_updating }
    }
}

/// The owners that a pass is for: the `k`-th of `n` parts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PassPart {
    pub(crate) k: u32,
    pub(crate) n: u32,
}

impl PassPart {
    pub(crate) const ALL: Self = Self { k: 0, n: 1 };

    /// The parts are by key, so that an owner stays in its own wherever it moves.
    pub(crate) fn has(self, key: Key) -> bool {
        key.index() % self.n == self.k
    }
}
