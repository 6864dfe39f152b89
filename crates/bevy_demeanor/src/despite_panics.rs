//! Goes on with the others if code of the game panics for one of many.

use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function with all items, even if it panics for some of them. Returns the first panic.
#[inline]
pub(crate) fn for_each_despite_panics<I>(
    mut items: impl Iterator<Item = I>,
    mut act: impl FnMut(I),
) -> Option<Box<dyn Any + Send>> {
    let mut first = None;
    while let Err(panic) = catch_unwind(AssertUnwindSafe(|| items.by_ref().for_each(&mut act))) {
        first.get_or_insert(panic);
    }
    first
}
