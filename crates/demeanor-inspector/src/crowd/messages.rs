//! A crowd with the log of its messages.

use std::ops::Range;

use demeanor::journal::MessageLog;
use demeanor::{Journal, MachineReport};

use super::{Count, Crowd, Data, Exit};

/// A crowd with the log of its messages. [`Crowd::with_messages`] creates it.
pub struct WithMessages<'c, C: Crowd + ?Sized> {
    pub(super) crowd: &'c C,
    pub(super) messages: &'c MessageLog<C::Key>,
}

impl<C: Crowd + ?Sized> Crowd for WithMessages<'_, C> {
    type Key = C::Key;
    type Context<'a> = C::Context<'a>;

    super::delegate!(journal, exits, data);

    fn messages(&self) -> Option<&MessageLog<C::Key>> {
        Some(self.messages)
    }
}
