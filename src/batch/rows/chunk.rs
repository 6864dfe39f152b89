//! A chunk: some consecutive rows of a bucket with their owners, borrowed for a tick. Also the outcome of a chunk's tick.

use super::individuals::Individuals;
use super::notes::Notes;
use super::range::Rows;
use crate::batch::known::key::Key;
use crate::batch::known::panics::FirstPanic;
use crate::batch::wait::waiter::Waiter;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::owner::Owner;
use crate::state::{Mover, State};

/// Some consecutive rows of a bucket with their owners, for one pass.
pub(crate) struct Chunk<'a, T: Owner> {
    pub(crate) owners: &'a mut [T],
    /// The seats of the owners in a bucket with seats; empty in other buckets.
    pub(crate) seats: &'a mut [Seat<T>],
    pub(crate) rows: Rows<'a, T>,
    pub(crate) global: &'a Global<T>,
    pub(crate) part: PassPart,
}

/// The settings of a batch.
#[derive(Clone)]
pub(crate) struct Global<T: Owner> {
    pub(crate) settings: Settings<T>,
    /// Whether there is a global state that is not passive, so that it is updated.
    pub(crate) is_updating: bool,
}

/// The owners to which a pass is limited: part `k` of `n`, counted from 0.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PassPart {
    pub(crate) k: u32,
    pub(crate) n: u32,
}

impl PassPart {
    pub(crate) const ALL: Self = Self { k: 0, n: 1 };

    /// Returns whether an owner belongs to this part. This depends only on the key, so an owner stays in its part when it moves
    /// to another bucket.
    pub(crate) fn has(self, key: Key) -> bool {
        key.index() % self.n == self.k
    }
}

/// The outcome of a chunk's part in a tick or a broadcast: the owners that have changed, the waits that they have requested,
/// the notes for the journal, the first panic, and how many owners have handled a message.
pub(crate) struct ChunkOutcome<T: Owner> {
    /// The owners that have changed in bulk, sorted by slot.
    pub(crate) movers: Vec<Mover>,
    /// The time at which the movers changed, in seconds.
    pub(crate) moved_at: f64,
    /// The owners that finished their tick alone.
    pub(crate) individuals: Individuals<T>,
    /// In a bucket with seats, the slots of the owners that have changed, in ascending order.
    pub(crate) changed: Vec<usize>,
    /// Singletons that owners have requested and that the batch does not know yet.
    pub(crate) unmet: Vec<&'static dyn State<T>>,
    /// The waits that begin at the end of the tick.
    pub(crate) waiters: Vec<Waiter>,
    /// The changes, made or refused, for the journal.
    pub(crate) notes: Notes<T>,
    /// How many owners have handled the message of a broadcast.
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

    /// Returns whether the owners have done nothing but change in bulk.
    pub(crate) fn has_only_movers(&self) -> bool {
        let Self { individuals, changed, unmet, waiters, notes, panic, .. } = self;
        let is_rest_empty = unmet.is_empty() && waiters.is_empty() && notes.is_empty() && panic.is_none();
        individuals.is_empty() && changed.is_empty() && is_rest_empty
    }

    #[cfg(feature = "parallel")]
    pub(crate) fn is_empty(&self) -> bool {
        self.has_only_movers() && self.movers.is_empty() && self.handled == 0
    }

    /// Frees memory that only an unusual tick needs.
    #[cfg(feature = "parallel")]
    pub(crate) fn give_back(&mut self) {
        self.individuals.give_back();
        self.changed.shrink_to(64);
        self.waiters.shrink_to(64);
        self.notes.give_back();
    }
}
