//! The inputs of a condition besides the owner: the active states of the machine, the times in these states, and the message.

use std::ptr;
use std::sync::Arc;

use super::graph::{DefinedState, Fixed};
use super::handle::entered_at;
#[cfg(feature = "script")]
use crate::format::script::budget::Usage;
use crate::fsm::{Fsm, time_since};
use crate::machine::waiting::Scope;
use crate::owner::Owner;
use crate::save::SavedNote;
use crate::state::{State, StateRef};

/// The moment at which a condition is evaluated.
pub(crate) struct Moment<'m, 'f, T: Owner> {
    /// The state whose exit has the condition. `None` for an `enter_when`.
    pub(crate) state: Option<&'m dyn State<T>>,
    pub(crate) fsm: &'m Fsm<'f, T>,
    /// When the owner entered the state, in seconds, if it is known.
    pub(crate) entered_at: Option<f64>,
    /// The message that was sent, if the exit waits for one.
    pub(crate) message: Option<&'m T::Message>,
    /// How many seconds after the entry into its state the exit opened.
    pub(crate) opened: f64,
    /// How much the state's scripts have used for the owner, if it is counted.
    #[cfg(feature = "script")]
    pub(crate) usage: Option<&'m Usage>,
}

impl<T: Owner> Clone for Moment<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Owner> Copy for Moment<'_, '_, T> {}

impl<'m, 'f, T: Owner> Moment<'m, 'f, T> {
    /// Creates the moment at which the condition of an exit of `state` is evaluated.
    #[inline]
    pub(crate) fn of(state: &'m dyn State<T>, fsm: &'m Fsm<'f, T>) -> Self {
        Self { state: Some(state), ..Self::before_entry(fsm) }
    }

    /// Creates the moment at which an `enter_when` is evaluated.
    #[inline]
    pub(crate) fn before_entry(fsm: &'m Fsm<'f, T>) -> Self {
        Self {
            state: None,
            fsm,
            entered_at: None,
            message: None,
            opened: 0.0,
            #[cfg(feature = "script")]
            usage: None,
        }
    }

    /// Returns when the owner entered the state whose exit has the condition. 0 for an `enter_when`.
    #[inline]
    pub(crate) fn entered_at(&self) -> f64 {
        self.entered_at.unwrap_or_else(|| self.state.map_or(0.0, |state| entered_at(state, self.fsm)))
    }

    /// Whether a state is active.
    pub(crate) fn is_in(&self, state: &Fixed<T>) -> bool {
        self.fsm.path().any(|active| is(active, state))
            || self.fsm.view().has_elsewhere() && self.fsm.active_states().any(|active| is(active, state))
    }

    /// Returns for how many seconds a state has been active. NaN if it is not active.
    pub(crate) fn time_in(&self, state: &Fixed<T>, now: f64) -> f64 {
        let view = self.fsm.view();
        if view.has_elsewhere() {
            let found = self.fsm.active_states().find(|active| is(active, state));
            return found.and_then(|active| view.time_in(&**active, now)).unwrap_or(f64::NAN);
        }
        let Some(depth) = self.fsm.path().position(|active| is(active, state)) else { return f64::NAN };
        time_since(view.entered_at(depth), now)
    }

    /// Returns the number of seconds since the exits of the state were last tried, or since this exit opened if it opened later.
    pub(crate) fn since_tried(&self, now: f64) -> f64 {
        let Some(state) = self.state else { return 0.0 };
        let seconds = match self.fsm.view().depth_of_defined(state) {
            Some(depth) => {
                let tried = self.fsm.noted(Scope::state(depth), SavedNote::Tried.key()).unwrap_or(0.0);
                now - self.entered_at() - tried.max(self.opened)
            }
            // The global state is never entered. So its note is a time of the clock, and not the time since an entry.
            None => self.fsm.noted(Scope::Machine, SavedNote::Tried.key()).map_or(0.0, |tried| now - tried),
        };
        seconds.max(0.0)
    }
}

/// Returns the number that is noted for a state whose exits have just been tried, in seconds: see [`Moment::since_tried`].
pub(crate) fn tried_at<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>, now: f64) -> f64 {
    if fsm.view().depth_of_defined(state).is_some() { now - entered_at(state, fsm) } else { now }
}

fn is<T: Owner>(active: &StateRef<T>, state: &Fixed<T>) -> bool {
    active.downcast_ref::<DefinedState<T>>().is_some_and(|active| ptr::eq(Arc::as_ptr(&active.fixed), state))
}
