//! What a condition may ask besides the owner: where the machine is, for how long, and what the message says.

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

/// The moment at which a condition is asked.
pub(crate) struct Moment<'m, 'f, T: Owner> {
    /// The state whose exit asks. `None` where a state asks whether it can be entered.
    pub(crate) state: Option<&'m dyn State<T>>,
    pub(crate) fsm: &'m Fsm<'f, T>,
    /// What has been sent, where the exit waits for that.
    pub(crate) message: Option<&'m T::Message>,
    /// How many seconds after its state's entry the exit opened.
    pub(crate) opened: f64,
    /// What the scripts of the state have used for the owner, where that is counted.
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
    #[inline]
    pub(crate) fn of(state: &'m dyn State<T>, fsm: &'m Fsm<'f, T>) -> Self {
        Self { state: Some(state), ..Self::before_entry(fsm) }
    }

    /// At which a state is asked whether it can be entered.
    #[inline]
    pub(crate) fn before_entry(fsm: &'m Fsm<'f, T>) -> Self {
        Self {
            state: None,
            fsm,
            message: None,
            opened: 0.0,
            #[cfg(feature = "script")]
            usage: None,
        }
    }

    /// When the owner entered the state whose exit asks.
    #[inline]
    pub(crate) fn entered_at(&self) -> f64 {
        self.state.map_or(0.0, |state| entered_at(state, self.fsm))
    }

    /// Whether a state is active.
    pub(crate) fn is_in(&self, state: &Fixed<T>) -> bool {
        self.fsm.path().any(|active| is(active, state))
    }

    /// For how many seconds a state has been active. No number if it is not.
    pub(crate) fn time_in(&self, state: &Fixed<T>, now: f64) -> f64 {
        let view = self.fsm.view();
        let Some(depth) = self.fsm.path().position(|active| is(active, state)) else { return f64::NAN };
        time_since(view.entered_at(depth), now)
    }

    /// How many seconds have passed since the exits of the state were last tried, in which this one was open.
    pub(crate) fn since_tried(&self, now: f64) -> f64 {
        let Some(state) = self.state else { return 0.0 };
        let seconds = match self.fsm.view().depth_of_defined(state) {
            Some(depth) => {
                let tried = self.fsm.noted(Scope::state(depth), SavedNote::Tried.key()).unwrap_or(0.0);
                now - self.entered_at() - tried.max(self.opened)
            }
            // The global state, which is never entered, counts by the clock.
            None => self.fsm.noted(Scope::Machine, SavedNote::Tried.key()).map_or(0.0, |tried| now - tried),
        };
        seconds.max(0.0)
    }
}

/// What is noted of a state whose exits have just been tried: see [`Moment::since_tried`].
pub(crate) fn tried_at<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>, now: f64) -> f64 {
    if fsm.view().depth_of_defined(state).is_some() { now - entered_at(state, fsm) } else { now }
}

fn is<T: Owner>(active: &StateRef<T>, state: &Fixed<T>) -> bool {
    active.downcast_ref::<DefinedState<T>>().is_some_and(|active| ptr::eq(Arc::as_ptr(&active.fixed), state))
}
