//! Goes on with the others if code of the game panics for one of many, and leaves behind what the others need.

use core::any::Any;
use core::mem;
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

/// A value that code of the game works with. If this code panics, a function is called with the value. This costs nothing
/// unless there is a panic.
pub(crate) struct OnPanic<V, F: FnMut(&mut V)> {
    pub(crate) value: V,
    act: F,
}

impl<V, F: FnMut(&mut V)> OnPanic<V, F> {
    #[inline]
    pub(crate) fn new(value: V, act: F) -> Self {
        Self { value, act }
    }

    /// The code has returned.
    #[inline]
    pub(crate) fn disarm(self) {
        mem::forget(self);
    }
}

impl<V, F: FnMut(&mut V)> Drop for OnPanic<V, F> {
    fn drop(&mut self) {
        (self.act)(&mut self.value);
    }
}
