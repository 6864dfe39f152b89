//! What an owner waits for, and how its wait ends.

use crate::batch::known::key::Key;
use crate::batch::known::states::States;
use crate::machine::waiting::{Note, Scope, Then};
use crate::owner::Owner;

/// How a wait ends.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Until {
    /// The owner sleeps, and wakes.
    Awake,
    /// It changes to the singleton of a number.
    Change(u32),
    /// Not by itself: the state that asks keeps a number.
    Note(Note),
    /// It is not waited for after all.
    Never,
}

impl Until {
    /// What is kept, if a number is.
    pub(crate) fn note(self) -> Option<Note> {
        if let Self::Note(note) = self { Some(note) } else { None }
    }

    /// What a timer asks for then. `None` for a sleep.
    pub(crate) fn then<T: Owner>(self, states: &States<T>) -> Option<Then<T>> {
        match self {
            Self::Change(number) => Some(Then::Change(states.get(number).state().clone())),
            Self::Note(note) => Some(Then::Note(note)),
            Self::Awake | Self::Never => None,
        }
    }

    /// Whether it is set although it is never due.
    pub(crate) fn is_note(self) -> bool {
        matches!(self, Self::Note(_))
    }
}

/// What an owner waits for once the tick is over.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    pub(crate) key: Key,
    /// When that is, in seconds.
    pub(crate) at: f64,
    pub(crate) until: Until,
    /// Of the state that waits.
    pub(crate) scope: Scope,
}
