//! A machine's steps as they are recorded, for code that keeps something else in step with it: an engine's components, a
//! recording, a network.

use core::fmt;

use crate::change::{Cause, Change, Guard, Outcome};
use crate::owner::Owner;
use crate::state::StateRef;

/// One step of a machine, in the order in which the steps happen.
///
/// A change has these steps: the exits, innermost first, then the change itself, then the enters, outermost first. If a
/// change is abandoned in the middle ([rule 5](crate::docs::semantics#rule-5)), the enters that have not run are not there.
/// A start is a change from no state, and a stop is a change to no state.
#[non_exhaustive]
pub enum Step<T: Owner> {
    /// The state was exited or suspended: its callback is about to run.
    Exited(StateRef<T>),
    /// Current was changed, as [`Owner::on_change`] is told; or the machine was started or stopped, which it is not.
    #[non_exhaustive]
    Changed {
        /// The state that was left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The state to be entered; `None` when a pop leads back to having none.
        to: Option<StateRef<T>>,
        /// What asked for it.
        cause: Cause,
        /// When it was made, in seconds, by [`Owner::now`].
        time: f64,
        /// For how many seconds `from` had been active.
        time_in_state: f64,
    },
    /// A guard has refused a change, as [`Owner::on_change`] is told.
    #[non_exhaustive]
    Refused {
        /// The state that was to be left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The state that was to be entered; `None` when a pop would have led back to having none.
        to: Option<StateRef<T>>,
        /// What asked for it.
        cause: Cause,
        /// The guard that refused it, and whose that is.
        by: (Guard, StateRef<T>),
        /// When it was refused, in seconds, by [`Owner::now`].
        time: f64,
        /// For how many seconds `from` had been active.
        time_in_state: f64,
    },
    /// The state was entered or resumed: its callback is about to run.
    Entered(StateRef<T>),
}

impl<T: Owner> Step<T> {
    /// The step of a change that was made or refused at a time, in seconds.
    pub(crate) fn of(change: &Change<'_, T>, time: f64) -> Self {
        let &Change { from, to, cause, ref outcome, time_in_state } = change;
        let (from, to) = (from.cloned(), to.cloned());
        match outcome {
            Outcome::Taken => Self::Changed { from, to, cause, time, time_in_state },
            Outcome::Refused(refusal) => {
                let (guard, state) = refusal.guard();
                Self::Refused { from, to, cause, by: (guard, state.clone()), time, time_in_state }
            }
        }
    }
}

impl<T: Owner> Clone for Step<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Exited(state) => Self::Exited(state.clone()),
            Self::Changed { from, to, cause, time, time_in_state } => Self::Changed {
                from: from.clone(),
                to: to.clone(),
                cause: *cause,
                time: *time,
                time_in_state: *time_in_state,
            },
            Self::Refused { from, to, cause, by, time, time_in_state } => Self::Refused {
                from: from.clone(),
                to: to.clone(),
                cause: *cause,
                by: by.clone(),
                time: *time,
                time_in_state: *time_in_state,
            },
            Self::Entered(state) => Self::Entered(state.clone()),
        }
    }
}

impl<T: Owner> fmt::Debug for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(state) => f.debug_tuple("Exited").field(state).finish(),
            Self::Changed { from, to, cause, .. } => {
                f.debug_struct("Changed").field("from", from).field("to", to).field("cause", cause).finish()
            }
            Self::Refused { from, to, cause, by, .. } => {
                let mut refused = f.debug_struct("Refused");
                refused.field("from", from).field("to", to).field("cause", cause).field("by", by).finish()
            }
            Self::Entered(state) => f.debug_tuple("Entered").field(state).finish(),
        }
    }
}
