//! What an owner's clock shows: the one place where it is read (rule 18).

use core::sync::atomic::{AtomicBool, Ordering};

use log::warn;

/// The time that the clock of an owner shows, in seconds, as it counts: see [`shown`]. `owner` names the type of the owner.
#[inline]
pub(crate) fn reading(seconds: f64, owner: fn() -> &'static str) -> f64 {
    if !seconds.is_finite() {
        warn_of(seconds, owner());
    }
    shown(seconds)
}

/// The time that a clock shows. A clock that shows no finite number stands at 0, and so does one that shows -0.0, which
/// compares as 0.0 and has other bits.
#[inline]
pub(crate) fn shown(seconds: f64) -> f64 {
    if seconds.is_finite() { seconds + 0.0 } else { 0.0 }
}

/// Logs once in a program that a clock shows no finite number.
#[cold]
fn warn_of(seconds: f64, owner: &str) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        warn!(target: "demeanor", "the clock of {owner} shows {seconds} s, which counts as 0 s");
    }
}
