//! Boxes whose `Drop` is only a call.
//!
//! The compiler copies the code that drops a value into each part of a program that may drop it, even if only after a panic. For
//! the data that few machines have, these copies would be a tenth of all code that is compiled for a type of owner.

use alloc::boxed::Box;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

/// A box, or none.
pub(crate) struct RareBox<X>(ManuallyDrop<Option<Box<X>>>);

impl<X> RareBox<X> {
    pub(crate) const NONE: Self = Self(ManuallyDrop::new(None));

    /// Takes the box out, and leaves none behind.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        self.0.take().into()
    }

    #[inline]
    pub(crate) fn into_option(mut self) -> Option<Box<X>> {
        self.0.take()
    }
}

impl<X> Deref for RareBox<X> {
    type Target = Option<Box<X>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<X> DerefMut for RareBox<X> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<X> From<Option<Box<X>>> for RareBox<X> {
    #[inline]
    fn from(content: Option<Box<X>>) -> Self {
        Self(ManuallyDrop::new(content))
    }
}

impl<X: Clone> Clone for RareBox<X> {
    fn clone(&self) -> Self {
        Option::clone(self).into()
    }

    fn clone_from(&mut self, source: &Self) {
        Option::clone_from(self, source);
    }
}

impl<X> Drop for RareBox<X> {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            drop_content(&mut self.0);
        }
    }
}

#[inline(never)]
fn drop_content<X>(content: &mut Option<Box<X>>) {
    *content = None;
}

/// A box that is never empty.
pub(crate) struct Boxed<X>(RareBox<X>);

impl<X> Boxed<X> {
    #[inline]
    pub(crate) fn new(content: X) -> Self {
        Self(Some(Box::new(content)).into())
    }

    #[inline(never)]
    pub(crate) fn into_inner(mut self) -> X {
        *self.0.0.take().expect(FULL)
    }
}

const FULL: &str = "only `into_inner` empties the box";

impl<X> Deref for Boxed<X> {
    type Target = X;

    #[inline]
    fn deref(&self) -> &X {
        self.0.as_deref().expect(FULL)
    }
}

impl<X> DerefMut for Boxed<X> {
    #[inline]
    fn deref_mut(&mut self) -> &mut X {
        self.0.as_deref_mut().expect(FULL)
    }
}
