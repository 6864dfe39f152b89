//! A wait of an owner, and how it ends.

use crate::batch::known::key::Key;
use crate::batch::known::states::States;
use crate::machine::waiting::{Note, Scope, Then};
use crate::owner::Owner;

/// How a wait ends.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Until {
    /// The owner sleeps, and wakes when the wait ends.
    Awake,
    /// The owner changes to the singleton with this number.
    Change(u32),
    /// The wait does not end by itself: it stores a number for the state that has requested it.
    Note(Note),
    /// The wait has been withdrawn.
    Never,
}

impl Until {
    /// Returns the note, if the wait stores a number.
    pub(crate) fn note(self) -> Option<Note> {
        if let Self::Note(note) = self { Some(note) } else { None }
    }

    /// Returns the action of the timer. `None` for a sleep or a withdrawn wait.
    pub(crate) fn then<T: Owner>(self, states: &States<T>) -> Option<Then<T>> {
        match self {
            Self::Change(number) => Some(Then::Change(states.get(number).state().clone())),
            Self::Note(note) => Some(Then::Note(note)),
            Self::Awake | Self::Never => None,
        }
    }

    /// Returns whether the wait is stored even if it is never due.
    pub(crate) fn is_note(self) -> bool {
        matches!(self, Self::Note(_))
    }
}

/// A wait that begins at the end of the tick.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    pub(crate) key: Key,
    /// When the wait ends, in seconds.
    pub(crate) at: f64,
    pub(crate) until: Until,
    /// The scope of the state that has requested the wait.
    pub(crate) scope: Scope,
    /// The revision of the owner's state at the request, for a sleep.
    pub(crate) revision: u32,
}

/// Returns the part of a revision that a wait has room for. It is enough to see that the revision has changed.
#[expect(clippy::cast_possible_truncation, reason = "the rest is left out")]
pub(crate) fn short(revision: usize) -> u32 {
    revision as u32
}
