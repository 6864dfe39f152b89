//! The values that conditions read, for one owner or for many at once.
//!
//! Each closure that the game registers as a value implements [`Number`] or [`Flag`]. The compiler makes a loop over many owners
//! for each closure, into which the closure is inlined. So one virtual call is enough for up to 64 owners.

use crate::format::expression::Comparison;
use crate::owner::Owner;

/// A set of up to 64 owners. Each bit is a lane: bit `i` stands for the owner with index `i`.
pub(crate) type Lanes = u64;

/// The maximum number of owners that are tested at once.
pub(crate) const LANES: usize = 64;

/// A number that can be read from an owner.
pub(crate) trait Number<T: Owner>: Send + Sync {
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> f64;

    /// Returns the owners for whose number the comparison `op` with `with` holds. On entry, `lane` is the lane of the first
    /// owner; during the call, it is the lane of the owner that is being read.
    fn compare(&self, owners: &[T], cx: &T::Context<'_>, op: Comparison, with: f64, lane: &mut usize) -> Lanes;
}

impl<T: Owner, F> Number<T> for F
where
    F: Fn(&T, &T::Context<'_>) -> f64 + Send + Sync,
{
    #[inline]
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> f64 {
        self(owner, cx)
    }

    fn compare(&self, owners: &[T], cx: &T::Context<'_>, op: Comparison, with: f64, lane: &mut usize) -> Lanes {
        op.compare(owners, with, lane, |owner| self(owner, cx))
    }
}

impl Comparison {
    /// Returns the lanes of up to 64 items for which the comparison with `with` holds.
    #[inline]
    pub(crate) fn compare<I>(self, of: &[I], with: f64, lane: &mut usize, read: impl Fn(&I) -> f64) -> Lanes {
        // The match is outside of the loop, so that each of the first four loops makes only one comparison for each item.
        match self {
            Self::Less => lanes(of, lane, |of| read(of) < with),
            Self::LessOrEqual => lanes(of, lane, |of| read(of) <= with),
            Self::Greater => lanes(of, lane, |of| read(of) > with),
            Self::GreaterOrEqual => lanes(of, lane, |of| read(of) >= with),
            Self::Equal | Self::NotEqual => lanes(of, lane, |of| self.holds(read(of), with)),
        }
    }
}

/// A flag that can be read from an owner.
pub(crate) trait Flag<T: Owner>: Send + Sync {
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> bool;

    /// Returns the owners whose flag is true. On entry, `lane` is the lane of the first owner; during the call, it is the lane
    /// of the owner that is being read.
    fn ask(&self, owners: &[T], cx: &T::Context<'_>, lane: &mut usize) -> Lanes;
}

impl<T: Owner, F> Flag<T> for F
where
    F: Fn(&T, &T::Context<'_>) -> bool + Send + Sync,
{
    #[inline]
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        self(owner, cx)
    }

    fn ask(&self, owners: &[T], cx: &T::Context<'_>, lane: &mut usize) -> Lanes {
        lanes(owners, lane, |owner| self(owner, cx))
    }
}

/// Returns the lanes for which `holds` is true. It first writes one byte for each owner, because these writes do not depend on
/// each other, and then packs eight bytes at a time into bits. If `holds` cannot panic, no code can read `lane` during the
/// loop, so the compiler removes the writes to it.
#[inline]
pub(crate) fn lanes<I>(owners: impl IntoIterator<Item = I>, lane: &mut usize, holds: impl Fn(I) -> bool) -> Lanes {
    let mut answers = [0_u8; LANES];
    let first = *lane;
    for (i, (answer, owner)) in answers.iter_mut().zip(owners).enumerate() {
        *lane = first + i;
        *answer = u8::from(holds(owner));
    }
    let eights = answers.chunks_exact(8).rev();
    eights.fold(0, |lanes, eight| (lanes << 8) | packed(eight.try_into().unwrap_or_default()))
}

/// Packs eight answers into eight bits, the first answer into the lowest bit. The multiplication moves each byte to its own bit
/// of the highest byte.
#[inline]
fn packed(answers: [u8; 8]) -> Lanes {
    u64::from_le_bytes(answers).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::{LANES, lanes};

    #[test]
    fn each_owner_has_its_own_lane() {
        for count in [1, 7, 8, 9, 63, LANES] {
            let owners: Vec<usize> = (0..count).collect();
            for i in 0..count {
                assert_eq!(lanes(&owners, &mut 0, |owner| *owner == i), 1 << i);
            }
            assert_eq!(lanes(&owners, &mut 0, |_| true), u64::MAX >> (LANES - count));
        }
    }
}
