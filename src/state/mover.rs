//! An owner of a batch that asks for one change, and lists of such owners.
//!
//! Nothing here depends on the type of the owner, so it is compiled once for all of them.

#![cfg_attr(not(feature = "std"), expect(dead_code, reason = "only a batch makes movers"))]

use crate::change::Cause;

/// An owner of a chunk that asks for one change: its slot, and what else the batch notes of it.
///
/// One word, so that it is copied as one.
#[derive(Clone, Copy, Debug)]
pub struct Mover(pub(crate) u64);

/// How many of the lowest bits hold the slot.
const SLOT_BITS: u32 = 16;

impl Mover {
    /// The owner's place in the chunk.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }
}

/// What a mover asks for, in two bits.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    Change,
    Force,
    Revert,
    /// A state is to be ensured that is active: nothing is done.
    Nothing,
}

/// Between kind and target lies the number of the previous state.
const PREVIOUS_SHIFT: u32 = SLOT_BITS + 2;

const PREVIOUS_MASK: u32 = (1 << (32 - PREVIOUS_SHIFT)) - 1;

impl Mover {
    #[inline]
    pub(crate) fn new(slot: usize, kind: Kind, target: u32) -> Self {
        Self(u64::from(target) << 32 | (kind as u64) << SLOT_BITS | slot as u64)
    }

    /// The number of the state that the owner asks for.
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

    /// A change that an owner has made, whose previous state then had the number `previous`; `None` if the number is too large.
    pub(crate) fn made(slot: usize, target: u32, previous: u32) -> Option<Self> {
        let mover = Self::new(slot, Kind::Change, target);
        (previous < PREVIOUS_MASK).then(|| Self(mover.0 | u64::from(previous + 1) << PREVIOUS_SHIFT))
    }

    /// The number of the state that will be the owner's previous one: that of its bucket, unless the mover names another.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "few bits are left")]
    pub(crate) fn previous_or(self, bucket: u32) -> u32 {
        match (self.0 >> PREVIOUS_SHIFT) as u32 & PREVIOUS_MASK {
            0 => bucket,
            previous => previous - 1,
        }
    }

    /// The place of a slot's mover in a list, which is by ascending slot, as all lists of movers are.
    #[inline]
    pub(crate) fn position(movers: &[Self], slot: usize) -> Option<usize> {
        movers.binary_search_by_key(&slot, |mover| mover.slot()).ok()
    }

    /// A slot's mover in a list.
    #[inline]
    pub(crate) fn find(movers: &[Self], slot: usize) -> Option<Self> {
        Self::position(movers, slot).map(|at| movers[at])
    }

    /// How many movers of a list come before a slot.
    pub(crate) fn count_before(movers: &[Self], slot: usize) -> usize {
        movers.partition_point(|mover| mover.slot() < slot)
    }
}
