//! What a chunk's part in a tick comes to: who moves where.

use super::individuals::Individuals;
use super::notes::Notes;
use super::panics::FirstPanic;
use super::waits::Waiter;
use crate::owner::Owner;
use crate::state::{Mover, State};

pub(super) struct Outcome<T: Owner> {
    /// The owners that have changed in bulk, by ascending slot.
    pub(super) movers: Vec<Mover>,
    /// When they did, in seconds.
    pub(super) moved_at: f64,
    /// The owners that finished their tick by themselves.
    pub(super) individuals: Individuals<T>,
    /// In a bucket of owned states, the slots of the owners that have changed, ascending.
    pub(super) changed: Vec<usize>,
    /// Singletons that an owner has asked for, and that the batch does not know.
    pub(super) unmet: Vec<&'static dyn State<T>>,
    /// What owners wait for from now on.
    pub(super) waiters: Vec<Waiter>,
    /// What has happened, for the journal.
    pub(super) notes: Notes<T>,
    /// How many owners have handled a message.
    pub(super) handled: usize,
    pub(super) panic: FirstPanic,
}

impl<T: Owner> Outcome<T> {
    pub(super) const fn new() -> Self {
        Self {
            movers: Vec::new(),
            moved_at: 0.0,
            individuals: Individuals::new(),
            changed: Vec::new(),
            unmet: Vec::new(),
            waiters: Vec::new(),
            notes: Notes::new(),
            handled: 0,
            panic: FirstPanic::new(),
        }
    }

    /// Gives back room that one unusual tick has left.
    #[cfg(feature = "parallel")]
    pub(super) fn give_back(&mut self) {
        self.individuals.give_back();
        self.changed.shrink_to(64);
        self.waiters.shrink_to(64);
        self.notes.give_back();
    }

    /// Whether nothing has come of it.
    pub(super) fn is_empty(&self) -> bool {
        self.movers.is_empty()
            && self.individuals.is_empty()
            && self.changed.is_empty()
            && self.unmet.is_empty()
            && self.waiters.is_empty()
            && self.notes.is_empty()
            && self.panic.is_none()
    }
}
