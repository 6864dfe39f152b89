//! One change of an owner's state, as it is reported to the owner and to the log.

use core::fmt;

use crate::owner::Owner;
use crate::state::StateRef;

/// A change of an owner's state, made or refused, for [`Owner::on_change`] and [`Owner::after_change`].
///
/// It is displayed as `Idle -> Chase (change)`, or as `Walk -> Run in Combat (change)` if it is a change in a region.
#[non_exhaustive]
pub struct Change<'a, T: Owner> {
    /// The state that is left; `None` when there was none.
    pub from: Option<&'a StateRef<T>>,
    /// The state that is entered; `None` if a pop leads to no state.
    pub to: Option<&'a StateRef<T>>,
    /// The kind of the request.
    pub cause: Cause,
    /// Whether the change was made.
    pub outcome: Outcome<'a, T>,
    /// How many seconds [`from`](Self::from) had been active, by [`Owner::now`].
    pub time_in_state: f64,
    /// The state in one of whose [regions](crate::State::regions) the change happens; `None` for a change of the
    /// machine's own current state ([rule 32](crate::docs::semantics#rule-32)).
    pub within: Option<&'a StateRef<T>>,
}

impl<'a, T: Owner> Change<'a, T> {
    #[inline]
    pub(crate) fn taken(
        from: Option<&'a StateRef<T>>,
        to: Option<&'a StateRef<T>>,
        cause: Cause,
        time_in_state: f64,
    ) -> Self {
        Self { from, to, cause, outcome: Outcome::Taken, time_in_state, within: None }
    }

    /// Returns the same change, as a change in a region of `composite`.
    #[inline]
    pub(crate) fn within(self, composite: Option<&'a StateRef<T>>) -> Self {
        Self { within: composite, ..self }
    }

    /// Returns whether the change is made. `false` for a change that was refused, and in the report that a change has ended
    /// early.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self.outcome, Outcome::Taken)
    }
}

impl<T: Owner> fmt::Display for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", NameOf(self.from), NameOf(self.to))?;
        if let Some(composite) = self.within {
            write!(f, " in {composite}")?;
        }
        write!(f, " ({})", self.cause)?;
        match &self.outcome {
            Outcome::Taken => Ok(()),
            Outcome::Refused(refusal) => write!(f, ", refused by {refusal}"),
            Outcome::Abandoned(state) => write_end(f, End::Abandoned, state),
            Outcome::Stayed(state) => write_end(f, End::Stayed, state),
        }
    }
}

fn write_end(f: &mut fmt::Formatter<'_>, end: End, state: &dyn fmt::Display) -> fmt::Result {
    write!(f, ", {end} in {state}")
}

impl<T: Owner> fmt::Debug for Change<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The kind of request that led to a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Cause {
    /// `change_state`, a variant of it such as `change_state_after`, or `ensure_state`.
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
    /// `start`. It is recorded as a [`Step`](crate::Step), but not reported to the owner.
    Start,
    /// `stop`. It is recorded as a [`Step`](crate::Step), but not reported to the owner.
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
    /// The change is made. Each `exit` has run, and the `enter` callbacks come next. (For [`Owner::after_change`], they
    /// have run.)
    Taken,
    /// A guard refused the change; no callback has run.
    Refused(Refusal<'a, T>),
    /// The change was reported as taken, but another change within the `enter` of this state has abandoned it
    /// ([rule 38](crate::docs::semantics#rule-38)).
    Abandoned(&'a StateRef<T>),
    /// The change was reported as taken, but [`Fsm::stay`](crate::Fsm::stay) has ended it in this state, an ancestor of its
    /// target ([rule 38](crate::docs::semantics#rule-38)).
    Stayed(&'a StateRef<T>),
}

impl<T: Owner> Copy for Outcome<'_, T> {}

impl<T: Owner> Clone for Outcome<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, T: Owner> Outcome<'a, T> {
    /// Creates the outcome of a change that has ended early in `state`.
    pub(crate) fn ended(end: End, state: &'a StateRef<T>) -> Self {
        match end {
            End::Abandoned => Self::Abandoned(state),
            End::Stayed => Self::Stayed(state),
        }
    }

    /// Returns why the target was not reached or not entered completely, and the state in which the change has ended; for a
    /// refusal, the state of the guard. `None` for a change that is taken.
    pub(crate) fn shortfall(&self) -> Option<(Shortfall, &'a StateRef<T>)> {
        match *self {
            Self::Taken => None,
            Self::Refused(refusal) => {
                let (guard, state) = refusal.guard();
                Some((Shortfall::Refused(guard), state))
            }
            Self::Abandoned(state) => Some((Shortfall::Abandoned, state)),
            Self::Stayed(state) => Some((Shortfall::Stayed, state)),
        }
    }
}

/// Why a change was not completed in its target. The type takes one byte, also in an `Option`, because a journal stores it in
/// each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Shortfall {
    Refused(Guard),
    Abandoned,
    Stayed,
}

impl From<End> for Shortfall {
    fn from(end: End) -> Self {
        match end {
            End::Abandoned => Self::Abandoned,
            End::Stayed => Self::Stayed,
        }
    }
}

impl Shortfall {
    /// Returns the guard that has refused the change; or as an error, how the change has ended early.
    pub(crate) fn guard(self) -> Result<Guard, End> {
        match self {
            Self::Refused(guard) => Ok(guard),
            Self::Abandoned => Err(End::Abandoned),
            Self::Stayed => Err(End::Stayed),
        }
    }
}

/// How a [`Change`] ended early, after it had been made ([rule 38](crate::docs::semantics#rule-38)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum End {
    /// Another change within an `enter` has abandoned the change.
    Abandoned,
    /// [`Fsm::stay`](crate::Fsm::stay) has ended the change in an ancestor of its target.
    Stayed,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Abandoned => "abandoned",
            Self::Stayed => "stayed",
        })
    }
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

impl<'a, T: Owner> Refusal<'a, T> {
    /// Returns the guard and its state.
    #[must_use]
    pub fn guard(&self) -> (Guard, &'a StateRef<T>) {
        match *self {
            Self::Exit(state) => (Guard::CanExit, state),
            Self::Enter(state) => (Guard::CanEnter, state),
        }
    }
}

impl<T: Owner> fmt::Display for Refusal<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (guard, state) = self.guard();
        write!(f, "{state}.{guard}")
    }
}

/// One of the two guards of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Guard {
    /// [`State::can_exit`](crate::State::can_exit).
    CanExit,
    /// [`State::can_enter`](crate::State::can_enter).
    CanEnter,
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CanExit => "can_exit",
            Self::CanEnter => "can_enter",
        })
    }
}

/// Displays the name of a state, or that there is no state, in a log line.
pub(crate) struct NameOf<'a, T: Owner>(pub(crate) Option<&'a StateRef<T>>);

impl<T: Owner> fmt::Display for NameOf<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(state) => fmt::Display::fmt(state, f),
            None => f.write_str("(no state)"),
        }
    }
}
