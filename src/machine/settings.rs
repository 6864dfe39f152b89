//! The settings of a machine, or of all machines of a batch: the global state and the limit of rule 13.

use crate::owner::Owner;
use crate::state::StateRef;

/// The most changes and messages to oneself that one callback may lead to, unless a game sets another limit (rule 13).
///
/// A queue of 1000 orders, each of which is a message and makes two changes, does not reach this limit. A cycle of changes
/// between singletons reaches it within a quarter of a millisecond, not counting the time of the callbacks.
pub(crate) const MOST_CHANGES: u32 = 4000;

/// The settings of a machine. They are stored apart from the seat, and a machine with the default settings does not store them.
pub(crate) struct Settings<T: Owner> {
    /// The global state; `StateRef::NONE` when there is none.
    pub(crate) global: StateRef<T>,
    /// The most changes and messages to oneself that one callback may lead to.
    limit: u32,
}

impl<T: Owner> Settings<T> {
    pub(crate) const DEFAULT: Self = Self { global: StateRef::NONE, limit: MOST_CHANGES };

    pub(crate) const DEFAULTS: &'static Self = &Self::DEFAULT;

    /// Returns whether a machine needs no settings of its own.
    pub(crate) fn are_default(&self) -> bool {
        self.global.is_none() && self.limit == MOST_CHANGES
    }

    #[inline]
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets the limit. 0 counts as 1. The number has to leave room for the highest bit of `Single::count`.
    pub(crate) fn set_limit(&mut self, changes: u32) {
        self.limit = changes.clamp(1, u32::MAX >> 2);
    }
}

impl<T: Owner> Clone for Settings<T> {
    fn clone(&self) -> Self {
        Self { global: self.global.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.global.clone_from(&source.global);
        self.limit = source.limit;
    }
}
