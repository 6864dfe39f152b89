//! Movers, each of which stands for an owner of a batch that requests one change, and lookups in lists of movers.
//!
//! Nothing here depends on the owner's type, so this code is compiled once for all types of owners.

#![cfg_attr(not(feature = "std"), expect(dead_code, reason = "only a batch makes movers"))]

use crate::change::Cause;

/// An owner of a chunk that requests one change, or that has already made it: the owner's slot, the kind and the target of the
/// change and, if the owner has already made the change, the previous state.
///
/// A mover is a single `u64`, so that copying it is cheap.
#[derive(Clone, Copy, Debug)]
pub struct Mover(pub(crate) u64);

/// The number of lowest bits that hold the slot.
const SLOT_BITS: u32 = 16;

impl Mover {
    /// Returns the owner's slot in the chunk.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }
}

/// The kind of request that a mover stands for, in two bits.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    Change,
    Force,
    Revert,
    /// An `ensure_state` with a state that is already active: nothing happens.
    Nothing,
}

/// The position of the lowest bit between the kind and the target. The bits there hold one more than the number of the previous
/// state, or 0 if the previous state is the bucket's state.
const PREVIOUS_SHIFT: u32 = SLOT_BITS + 2;

const PREVIOUS_MASK: u32 = (1 << (32 - PREVIOUS_SHIFT)) - 1;

impl Mover {
    #[inline]
    pub(crate) fn new(slot: usize, kind: Kind, target: u32) -> Self {
        Self(u64::from(target) << 32 | (kind as u64) << SLOT_BITS | slot as u64)
    }

    /// Returns the number of the target: the innermost state that the change enters. For [`Kind::Nothing`], it is the depth of
    /// the active state to which a change was requested.
    #[inline]
    pub(crate) fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        match self.0 >> SLOT_BITS & 3 {
            0 => Kind::Change,
            1 => Kind::Force,
            2 => Kind::Revert,
            _ => Kind::Nothing,
        }
    }

    #[inline]
    pub(crate) fn cause(self) -> Cause {
        match self.kind() {
            Kind::Change | Kind::Nothing => Cause::Change,
            Kind::Force => Cause::Force,
            Kind::Revert => Cause::Revert,
        }
    }

    /// Creates a mover for a change that an owner has already made. `previous` is the number of the owner's previous state after
    /// the change. Returns `None` if this number is too large.
    pub(crate) fn made(slot: usize, target: u32, previous: u32) -> Option<Self> {
        let mover = Self::new(slot, Kind::Change, target);
        (previous < PREVIOUS_MASK).then(|| Self(mover.0 | u64::from(previous + 1) << PREVIOUS_SHIFT))
    }

    /// Returns the number of the owner's previous state after the change. If the mover does not contain this number, it is
    /// `bucket`, the number of the bucket's state.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "few bits are left")]
    pub(crate) fn previous_or(self, bucket: u32) -> u32 {
        match (self.0 >> PREVIOUS_SHIFT) as u32 & PREVIOUS_MASK {
            0 => bucket,
            previous => previous - 1,
        }
    }

    /// Returns the position of a slot's mover in a list. All lists of movers are sorted by slot.
    #[inline]
    pub(crate) fn position(movers: &[Self], slot: usize) -> Option<usize> {
        movers.binary_search_by_key(&slot, |mover| mover.slot()).ok()
    }

    /// Returns a slot's mover from a list.
    #[inline]
    pub(crate) fn find(movers: &[Self], slot: usize) -> Option<Self> {
        Self::position(movers, slot).map(|at| movers[at])
    }

    /// Returns how many movers of a list have a lower slot than `slot`.
    pub(crate) fn count_before(movers: &[Self], slot: usize) -> usize {
        movers.partition_point(|mover| mover.slot() < slot)
    }
}
