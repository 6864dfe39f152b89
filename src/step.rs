//! A machine's steps as they are recorded, for whoever keeps something else in step with it: an engine's components, a
//! recording, a network.

use core::fmt;

use crate::change::Cause;
use crate::owner::Owner;
use crate::state::StateRef;

/// One step of a machine, as it happened.
///
/// A change writes down the exits, innermost first, then itself, then the enters, outermost first; those of a change
/// abandoned half-way (rule 5) are not there. Starting is a change from no state,
/// and stopping one to none.
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
        /// Which request asked for it.
        cause: Cause,
    },
    /// The state was entered or resumed: its callback is about to run.
    Entered(StateRef<T>),
}

impl<T: Owner> Clone for Step<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Exited(state) => Self::Exited(state.clone()),
            Self::Changed { from, to, cause } => Self::Changed { from: from.clone(), to: to.clone(), cause: *cause },
            Self::Entered(state) => Self::Entered(state.clone()),
        }
    }
}

impl<T: Owner> fmt::Debug for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(state) => f.debug_tuple("Exited").field(state).finish(),
            Self::Changed { from, to, cause } => {
                f.debug_struct("Changed").field("from", from).field("to", to).field("cause", cause).finish()
            }
            Self::Entered(state) => f.debug_tuple("Entered").field(state).finish(),
        }
    }
}
