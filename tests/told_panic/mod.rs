//! Panics that are meant to be, and that others are told apart from.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const EXPECTED: &str = "told to panic";

/// Panics without calling the panic hook, because the panic is expected.
pub(crate) fn panic_as_told() -> ! {
    resume_unwind(Box::new(EXPECTED))
}

/// An expected panic has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

pub(crate) fn caught<R>(act: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| {
        if payload.downcast_ref() != Some(&EXPECTED) {
            resume_unwind(payload);
        }
        Panicked
    })
}
