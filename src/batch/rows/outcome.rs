//! The outcome of a chunk's part in a tick: which owner moves where.

use super::individuals::Individuals;
use super::notes::Notes;
use crate::batch::known::panics::FirstPanic;
use crate::batch::wait::waiter::Waiter;
use crate::owner::Owner;
use crate::state::{Mover, State};

pub(crate) struct ChunkOutcome<T: Owner> {
    /// The owners that have changed in bulk, by ascending slot.
    pub(crate) movers: Vec<Mover>,
    /// When these have changed, in seconds.
    pub(crate) moved_at: f64,
    /// The owners that finished their tick by themselves.
    pub(crate) individuals: Individuals<T>,
    /// In a bucket of owned states, the slots of the owners that have changed, ascending.
    pub(crate) changed: Vec<usize>,
    /// Singletons that an owner has asked for, and that the batch does not know.
    pub(crate) unmet: Vec<&'static dyn State<T>>,
    /// What owners wait for from now on.
    pub(crate) waiters: Vec<Waiter>,
    /// What has happened, for the journal.
    pub(crate) notes: Notes<T>,
    /// How many owners have handled a message.
    pub(crate) handled: usize,
    pub(crate) panic: FirstPanic,
}

impl<T: Owner> ChunkOutcome<T> {
    pub(crate) const fn new() -> Self {
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
    pub(crate) fn give_back(&mut self) {
        self.individuals.give_back();
        self.changed.shrink_to(64);
        self.waiters.shrink_to(64);
        self.notes.give_back();
    }

    /// Whether nothing has happened.
    pub(crate) fn is_empty(&self) -> bool {
        self.movers.is_empty()
            && self.individuals.is_empty()
            && self.changed.is_empty()
            && self.unmet.is_empty()
            && self.waiters.is_empty()
            && self.notes.is_empty()
            && self.panic.is_none()
    }
}
