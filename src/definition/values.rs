//! What conditions read, one owner at a time or many at once.
//!
//! A closure registered as a value implements [`Number`] or [`Flag`]. Each gets its own copy of the loop over many owners,
//! with its reading inlined: one virtual call for up to 64 owners.

use super::expression::Comparison;
use crate::owner::Owner;

/// Which of up to 64 owners: bit `i` is the `i`-th.
pub(crate) type Lanes = u64;

/// The most owners that are asked at once.
pub(crate) const LANES: usize = 64;

/// A number that an owner has.
pub(crate) trait Number<T: Owner>: Send + Sync {
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> f64;

    /// The owners whose number compares so with `with`.
    fn compare(&self, owners: &[T], cx: &T::Context<'_>, op: Comparison, with: f64) -> Lanes;
}

impl<T: Owner, F> Number<T> for F
where
    F: Fn(&T, &T::Context<'_>) -> f64 + Send + Sync,
{
    #[inline]
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> f64 {
        self(owner, cx)
    }

    fn compare(&self, owners: &[T], cx: &T::Context<'_>, op: Comparison, with: f64) -> Lanes {
        // The comparison is chosen outside the loop.
        match op {
            Comparison::Less => lanes(owners, |owner| self(owner, cx) < with),
            Comparison::LessOrEqual => lanes(owners, |owner| self(owner, cx) <= with),
            Comparison::Greater => lanes(owners, |owner| self(owner, cx) > with),
            Comparison::GreaterOrEqual => lanes(owners, |owner| self(owner, cx) >= with),
            Comparison::Equal | Comparison::NotEqual => lanes(owners, |owner| op.holds(self(owner, cx), with)),
        }
    }
}

/// Something that is true or false of an owner.
pub(crate) trait Flag<T: Owner>: Send + Sync {
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> bool;

    /// The owners of which it is true.
    fn ask(&self, owners: &[T], cx: &T::Context<'_>) -> Lanes;
}

impl<T: Owner, F> Flag<T> for F
where
    F: Fn(&T, &T::Context<'_>) -> bool + Send + Sync,
{
    #[inline]
    fn read(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        self(owner, cx)
    }

    fn ask(&self, owners: &[T], cx: &T::Context<'_>) -> Lanes {
        lanes(owners, |owner| self(owner, cx))
    }
}

#[inline]
fn lanes<T>(owners: &[T], holds: impl Fn(&T) -> bool) -> Lanes {
    let mut lanes = 0;
    for (i, owner) in owners.iter().enumerate().take(LANES) {
        lanes |= Lanes::from(holds(owner)) << i;
    }
    lanes
}
