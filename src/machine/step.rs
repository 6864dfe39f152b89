//! The recorded steps of a machine, for code that keeps other data in step with it: an engine's components, a recording, a
//! network.

use core::fmt;

use crate::change::{Cause, Change, End, Guard};
use crate::owner::Owner;
use crate::state::StateRef;

/// One step of a machine. The steps are recorded in the order in which they happen.
///
/// A change has these steps: the exits, innermost first, then the change itself, then the enters, outermost first. If a
/// change ends early ([rule 38](crate::docs::semantics#rule-38)), the enters that have not run are not recorded, and an `Ended`
/// step reports the early end. A start is recorded as a change from no state, and a stop as a change to no state.
#[non_exhaustive]
pub enum Step<T: Owner> {
    /// The state was exited or suspended: its callback is about to run.
    Exited(StateRef<T>),
    /// The current state was changed, and [`Owner::on_change`] is called; or the machine was started or stopped, for which
    /// `on_change` is not called.
    #[non_exhaustive]
    Changed {
        /// The state that was left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The innermost state to enter; `None` for a stop, and when a pop leads to no state.
        to: Option<StateRef<T>>,
        /// What requested the change.
        cause: Cause,
        /// When the change was made, in seconds, by [`Owner::now`].
        time: f64,
        /// How many seconds `from` had been active.
        time_in_state: f64,
        /// The state in one of whose regions this happened; `None` outside of regions.
        within: Option<StateRef<T>>,
    },
    /// A guard has refused a change, and [`Owner::on_change`] is called.
    #[non_exhaustive]
    Refused {
        /// The state that would have been left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The innermost state that would have been entered; `None` when a pop would have led to no state.
        to: Option<StateRef<T>>,
        /// What requested the change.
        cause: Cause,
        /// The guard that refused it, and the state that this guard belongs to.
        by: (Guard, StateRef<T>),
        /// When the change was refused, in seconds, by [`Owner::now`].
        time: f64,
        /// How many seconds `from` had been active.
        time_in_state: f64,
        /// The state in one of whose regions this happened; `None` outside of regions.
        within: Option<StateRef<T>>,
    },
    /// A change that was recorded as [`Changed`](Self::Changed) has ended early, and [`Owner::on_change`] is called.
    #[non_exhaustive]
    Ended {
        /// The state that was left; `None` when there was none.
        from: Option<StateRef<T>>,
        /// The target of the change.
        to: Option<StateRef<T>>,
        /// What requested the change.
        cause: Cause,
        /// How it has ended.
        end: End,
        /// The state in whose `enter` it has ended.
        state: StateRef<T>,
        /// When this was reported, in seconds, by [`Owner::now`].
        time: f64,
        /// How many seconds `from` had been active.
        time_in_state: f64,
        /// The state in one of whose regions this happened; `None` outside of regions.
        within: Option<StateRef<T>>,
    },
    /// The state was entered or resumed: its callback is about to run.
    Entered(StateRef<T>),
}

impl<T: Owner> Step<T> {
    /// Creates the step of a change that was made, was refused or has ended early at `time`, in seconds.
    pub(crate) fn of(change: &Change<'_, T>, time: f64) -> Self {
        let &Change { from, to, cause, ref outcome, time_in_state, within } = change;
        let (from, to, within) = (from.cloned(), to.cloned(), within.cloned());
        let Some((shortfall, state)) = outcome.shortfall() else {
            return Self::Changed { from, to, cause, time, time_in_state, within };
        };
        let state = state.clone();
        match shortfall.guard() {
            Ok(guard) => Self::Refused { from, to, cause, by: (guard, state), time, time_in_state, within },
            Err(end) => Self::Ended { from, to, cause, end, state, time, time_in_state, within },
        }
    }
}

impl<T: Owner> Clone for Step<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Exited(state) => Self::Exited(state.clone()),
            Self::Changed { from, to, cause, time, time_in_state, within } => Self::Changed {
                from: from.clone(),
                to: to.clone(),
                cause: *cause,
                time: *time,
                time_in_state: *time_in_state,
                within: within.clone(),
            },
            Self::Refused { from, to, cause, by, time, time_in_state, within } => Self::Refused {
                from: from.clone(),
                to: to.clone(),
                cause: *cause,
                by: by.clone(),
                time: *time,
                time_in_state: *time_in_state,
                within: within.clone(),
            },
            Self::Ended { from, to, cause, end, state, time, time_in_state, within } => Self::Ended {
                from: from.clone(),
                to: to.clone(),
                cause: *cause,
                end: *end,
                state: state.clone(),
                time: *time,
                time_in_state: *time_in_state,
                within: within.clone(),
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
            Self::Ended { from, to, cause, end, state, .. } => {
                let mut ended = f.debug_struct("Ended");
                ended.field("from", from).field("to", to).field("cause", cause).field("end", end);
                ended.field("state", state).finish()
            }
            Self::Entered(state) => f.debug_tuple("Entered").field(state).finish(),
        }
    }
}
