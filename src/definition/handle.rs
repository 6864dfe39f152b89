//! What definitions ask of the machine's handle, beyond what a state may ask of it.

use crate::fsm::{Fsm, Machines, Request, View};
use crate::machine::StateMachine;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::state::{State, StateRef};

/// How long the owner has been in `state`; where that is the global state, which is never entered, in the innermost one.
#[inline]
pub(crate) fn time_in<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> f64 {
    fsm.time_in(state, cx).unwrap_or_else(|| fsm.time_in_state(cx))
}

/// Lends a handle that answers as it will in the guards of a change to `target` (rule 8).
#[inline]
pub(crate) fn toward<T: Owner, R>(target: &StateRef<T>, fsm: &Fsm<'_, T>, act: impl FnOnce(&Fsm<'_, T>) -> R) -> R {
    act(&Fsm::new(&mut Toward { target, fsm, none: StateRef::NONE }, 0))
}

struct Toward<'m, 'a, T: Owner> {
    target: &'m StateRef<T>,
    fsm: &'m Fsm<'a, T>,
    none: StateRef<T>,
}

/// Who is lent the handle only reads: there is nothing to be asked for.
impl<T: Owner> Machines<T> for Toward<'_, '_, T> {
    fn ask_singleton(&mut self, _: usize, _: &'static dyn State<T>) {}

    fn ask(&mut self, _: usize, _: Request<T>) {}

    fn execute_now(&mut self, _: usize, _: &Request<T>, _: &mut T, _: &mut T::Context<'_>) -> bool {
        false
    }

    fn send_now(&mut self, _: usize, _: &mut T, _: &T::Message, _: &mut T::Context<'_>) -> bool {
        false
    }

    fn view(&self, _: usize) -> View<'_, T> {
        View { target: self.target, ..self.fsm.view() }
    }

    fn global(&self) -> &StateRef<T> {
        self.fsm.global().unwrap_or(&self.none)
    }

    fn has_requests(&self, _: usize) -> bool {
        self.fsm.has_requests()
    }
}

/// A machine that is in `state`, and has been there and around it for so many seconds.
pub(crate) fn machine_in<T: Owner>(
    state: &StateRef<T>,
    global: Option<StateRef<T>>,
    seconds: f64,
    cx: &T::Context<'_>,
) -> StateMachine<T> {
    let mut seat = Seat::empty();
    seat.entered_at = T::now(cx) - seconds;
    seat.place(state.clone());
    StateMachine::from_seat(seat, global.unwrap_or(StateRef::NONE))
}
