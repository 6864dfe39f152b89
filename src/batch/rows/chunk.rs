//! Some consecutive rows of a bucket with their owners, as they are lent for a tick, and what the tick has led to.

use super::individuals::Individuals;
use super::notes::Notes;
use super::range::Rows;
use crate::batch::known::key::Key;
use crate::batch::known::panics::FirstPanic;
use crate::batch::wait::waiter::Waiter;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::{Mover, State, StateRef};

/// Some consecutive rows of a bucket.
pub(crate) struct Chunk<'a, T: Owner> {
    pub(crate) owners: &'a mut [T],
    /// In a bucket of owned states, each owner's; elsewhere empty.
    pub(crate) seats: &'a mut [Seat<T>],
    pub(crate) rows: Rows<'a, T>,
    pub(crate) global: &'a Global<T>,
    pub(crate) part: PassPart,
}

/// The state that runs beside every other.
#[derive(Clone)]
pub(crate) struct Global<T: Owner> {
    /// `StateRef::NONE` when there is none.
    pub(crate) state: StateRef<T>,
    /// Whether it is updated.
    pub(crate) is_updating: bool,
}

/// The owners that a pass is for: the `k`-th of `n` parts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PassPart {
    pub(crate) k: u32,
    pub(crate) n: u32,
}

impl PassPart {
    pub(crate) const ALL: Self = Self { k: 0, n: 1 };

    /// The parts are by key, so that an owner stays in its own wherever it moves.
    pub(crate) fn has(self, key: Key) -> bool {
        key.index() % self.n == self.k
    }
}

/// The outcome of a chunk's part in a tick: which owner moves where.
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
}
