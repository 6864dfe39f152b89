//! What an owner's clock shows: the one place where it is read (rule 18).

use crate::owner::Owner;

/// The time by the owner's clock, in seconds.
#[inline]
pub(crate) fn now<T: Owner>(cx: &T::Context<'_>) -> f64 {
    shown(T::now(cx))
}

/// The time that a clock shows. A clock that shows no finite number stands at 0, and so does one that shows -0.0, which
/// compares as 0.0 and has other bits.
#[inline]
pub(crate) fn shown(seconds: f64) -> f64 {
    if seconds.is_finite() { seconds + 0.0 } else { 0.0 }
}
