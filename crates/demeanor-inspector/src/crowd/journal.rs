//! A crowd with the game's journal.

use std::ops::Range;

use demeanor::journal::MessageLog;
use demeanor::{Journal, MachineReport};

use super::{Count, Crowd, Data, Exit};

/// A crowd with its journal. [`Crowd::with_journal`] creates it.
pub struct WithJournal<'c, C: Crowd + ?Sized> {
    pub(super) crowd: &'c C,
    pub(super) journal: &'c Journal<C::Key>,
}

impl<C: Crowd + ?Sized> Crowd for WithJournal<'_, C> {
    type Key = C::Key;
    type Context<'a> = C::Context<'a>;

    fn journal(&self) -> Option<&Journal<C::Key>> {
        Some(self.journal)
    }

    super::delegate!(messages, exits, data);
}
