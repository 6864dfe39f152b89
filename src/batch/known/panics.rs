//! Panics of a game's code, kept until the batch is consistent again (rule 22).

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::machine::seat::{Rare, Seat};
use crate::machine::waiting::Then;
use crate::owner::Owner;

/// The first panic of an operation. Two threads never use it at the same time. The lock only makes this type `Sync`, so that
/// threads can share a batch.
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Mutex<Box<dyn Any + Send>>>);

impl FirstPanic {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Runs code of the game, and returns its result. If the code panics, keeps the panic and returns `None`.
    #[inline]
    pub(crate) fn catch<R>(&mut self, act: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(act)) {
            Ok(result) => Some(result),
            Err(panic) => {
                self.keep(panic);
                None
            }
        }
    }

    fn keep(&mut self, panic: Box<dyn Any + Send>) {
        if self.0.is_none() {
            self.0 = Some(Mutex::new(panic));
        } else {
            discard(panic);
        }
    }

    /// Takes over another operation's panic. If this operation already has one, the other panic is dropped.
    pub(crate) fn keep_other(&mut self, other: &mut Self) {
        if let Some(panic) = other.0.take() {
            self.keep(panic.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Resumes the panic, if there is one.
    pub(crate) fn resume(&mut self) {
        if let Some(panic) = self.0.take() {
            resume_unwind(panic.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Drops the payload of a panic. The payload's `Drop` may itself panic.
fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // Dropping this payload could panic again, and so on without end.
        mem::forget(another);
    }
}

/// States and messages that are dropped later, when no row is in the middle of a move, because their `Drop` is code of the
/// game.
pub(crate) struct Discarded<T: Owner>(Vec<Then<T>>);

/// The number of values for which the memory is kept.
const MOST_KEPT: usize = 16 * 1024;

impl<T: Owner> Discarded<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a value that is no longer needed. A singleton is dropped at once, because dropping it does nothing.
    #[inline]
    pub(crate) fn add(&mut self, dropped: impl Into<Then<T>>) {
        let dropped = dropped.into();
        if dropped.is_held() {
            self.0.push(dropped);
        }
    }

    /// Takes all states and messages out of a seat. The seat keeps its memory.
    pub(crate) fn empty(&mut self, seat: &mut Seat<T>) {
        seat.empty_into(|held| self.add(held));
    }

    /// Does the same as [`empty`](Self::empty) for the rare data of a seat.
    pub(crate) fn empty_rare(&mut self, rare: &mut Rare<T>) {
        rare.empty_into(&mut |held| self.add(held));
    }

    pub(crate) fn extend(&mut self, dropped: impl IntoIterator<Item = impl Into<Then<T>>>) {
        dropped.into_iter().for_each(|state| self.add(state));
    }

    /// Does the same as [`drop_all`](Self::drop_all), but only if there are many values.
    pub(crate) fn drop_many(&mut self, panic: &mut FirstPanic) {
        if self.0.len() > MOST_KEPT / 2 {
            self.drop_all(panic);
        }
    }

    /// Drops all values one by one, and keeps the first panic.
    pub(crate) fn drop_all(&mut self, panic: &mut FirstPanic) {
        if self.0.is_empty() {
            return;
        }
        for dropped in self.0.drain(..) {
            panic.catch(|| drop(dropped));
        }
        self.0.shrink_to(MOST_KEPT);
    }
}
