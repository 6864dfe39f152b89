//! Panics of a game's code, kept until the batch is in order again (rule 22).

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::machine::seat::{Rare, Seat};
use crate::machine::waiting::Then;
use crate::owner::Owner;

/// The first panic of an operation. Behind a lock, though never shared, so that threads may share a batch.
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Mutex<Box<dyn Any + Send>>>);

impl FirstPanic {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Runs code of the game, and returns its result unless it panics.
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

    /// Keeps another operation's panic, if this one has none yet.
    pub(crate) fn keep_other(&mut self, other: &mut Self) {
        if let Some(panic) = other.0.take() {
            self.keep(panic.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Lets the panic go on, if there is one.
    pub(crate) fn resume(&mut self) {
        if let Some(panic) = self.0.take() {
            resume_unwind(panic.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Drops the payload of a panic, which may itself panic.
fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // To drop that one, too, could go on without an end.
        mem::forget(another);
    }
}

/// States and messages that are to be dropped once nothing is in the middle of a move: their `Drop` is code of the game.
pub(crate) struct Discarded<T: Owner>(Vec<Then<T>>);

/// For how many of them the room is kept.
const MOST_KEPT: usize = 16 * 1024;

impl<T: Owner> Discarded<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes what is no longer needed. Dropping a singleton does nothing, so it is dropped here.
    #[inline]
    pub(crate) fn add(&mut self, dropped: impl Into<Then<T>>) {
        let dropped = dropped.into();
        if dropped.is_held() {
            self.0.push(dropped);
        }
    }

    /// Takes all that a seat holds, and leaves it its room.
    pub(crate) fn empty(&mut self, seat: &mut Seat<T>) {
        seat.empty_into(|held| self.add(held));
    }

    /// As [`empty`](Self::empty), of what is rare.
    pub(crate) fn empty_rare(&mut self, rare: &mut Rare<T>) {
        rare.empty_into(&mut |held| self.add(held));
    }

    pub(crate) fn extend(&mut self, dropped: impl IntoIterator<Item = impl Into<Then<T>>>) {
        dropped.into_iter().for_each(|state| self.add(state));
    }

    /// As [`drop_all`](Self::drop_all), once there are many.
    pub(crate) fn drop_many(&mut self, panic: &mut FirstPanic) {
        if self.0.len() > MOST_KEPT / 2 {
            self.drop_all(panic);
        }
    }

    /// Drops them, each by itself.
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
