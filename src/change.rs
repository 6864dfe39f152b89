//! One change of an owner's state, as the owner and the log are told of it.

use core::fmt;

use crate::owner::Owner;
use crate::state::StateRef;

/// One change of an owner's state, as [`Owner::on_change`] is told of it.
///
/// Displayed as `Idle -> Chase (change)`.
#[non_exhaustive]
pub struct Change<'a, T: Owner> {
    /// The state that is left; `None` when there was none.
    pub from: Option<&'a StateRef<T>>,
    /// The state that is entered; `None` when a pop leads back to having none.
    pub to: Option<&'a StateRef<T>>,
    /// What asked for it.
    pub cause: Cause,
    /// Whether it was made.
    pub outcome: Outcome<'a, T>,
    /// For how many seconds [`from`](Self::from) had been active, by [`Owner::now`].
    pub time_in_state: f64,
}

impl<'a, T: Owner> Change<'a, T> {
    #[inline]
    pub(crate) fn taken(
        from: Option<&'a StateRef<T>>,
        to: Option<&'a StateRef<T>>,
        cause: Cause,
        time_in_state: f64,
    ) -> Self {
        Self { from, to, cause, outcome: Outcome::Taken, time_in_state }
    }

    /// Returns whether the change was made.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self.outcome, Outcome::Taken)
    }
}

impl<T: Owner> fmt::Display for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} ({})", NameOf(self.from), NameOf(self.to), self.cause)?;
        match &self.outcome {
            Outcome::Taken => Ok(()),
            Outcome::Refused(refusal) => write!(f, ", refused by {refusal}"),
        }
    }
}

impl<T: Owner> fmt::Debug for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Who sees each change of a machine besides its owner, made or refused, in the order in which they happen.
pub(crate) trait Witness<T: Owner> {
    /// `now` is when it happened, in seconds.
    fn see(&mut self, change: &Change<'_, T>, now: f64);
}

/// What asked for a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Cause {
    /// `change_state`, `change_state_now` or `ensure_state`.
    Change,
    /// `force_state`.
    Force,
    /// `revert_state`.
    Revert,
    /// `push_state`.
    Push,
    /// `pop_state`.
    Pop,
    /// `resume_state`.
    Resume,
    /// `start`. It is recorded as a [`Step`](crate::Step); the owner is not told.
    Start,
    /// `stop`. It is recorded as a [`Step`](crate::Step); the owner is not told.
    Stop,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "change",
            Self::Force => "force",
            Self::Revert => "revert",
            Self::Push => "push",
            Self::Pop => "pop",
            Self::Resume => "resume",
            Self::Start => "start",
            Self::Stop => "stop",
        })
    }
}

/// Whether a [`Change`] was made.
#[non_exhaustive]
pub enum Outcome<'a, T: Owner> {
    /// It was made; the states' `exit` have run, their `enter` are about to.
    Taken,
    /// A guard refused it; no callback has run.
    Refused(Refusal<'a, T>),
}

/// The guard that refused a [`Change`].
#[non_exhaustive]
pub enum Refusal<'a, T: Owner> {
    /// `can_exit` of this state.
    Exit(&'a StateRef<T>),
    /// `can_enter` of this state.
    Enter(&'a StateRef<T>),
}

impl<T: Owner> Clone for Refusal<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Owner> Copy for Refusal<'_, T> {}

impl<T: Owner> fmt::Display for Refusal<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(state) => write!(f, "{state}.can_exit"),
            Self::Enter(state) => write!(f, "{state}.can_enter"),
        }
    }
}

/// A state's name where there may be none, for log lines.
pub(crate) struct NameOf<'a, T: Owner>(pub(crate) Option<&'a StateRef<T>>);

impl<T: Owner> fmt::Display for NameOf<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(state) => fmt::Display::fmt(state, f),
            None => f.write_str("(no state)"),
        }
    }
}
