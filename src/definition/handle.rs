//! What only definitions need from a machine and its handle: times of entry, the handle for guards, and a machine for
//! explanations.

use crate::fsm::{Fsm, Machines, Order, Request, View, time_or_zero};
use crate::machine::regions::Tree;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::machine::state_machine::StateMachine;
use crate::machine::waiting::Pending;
use crate::owner::{Owner, now};
use crate::slice::FsmSlice;
use crate::state::{State, StateRef};

/// Returns when the owner entered `state`, a state from a file. The global state is never entered. For it, the result is the time
/// at which the owner entered the innermost active state.
#[inline]
pub(crate) fn entered_at<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>) -> f64 {
    entry_of(state, fsm).1
}

/// Like [`entered_at`], with the depth of `state`, if it lies on the path of the handle.
#[inline]
pub(crate) fn entry_of<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>) -> (Option<usize>, f64) {
    let view = fsm.view();
    let depth = view.depth_of_defined(state);
    if depth.is_none() && view.has_elsewhere() {
        return (None, time_or_zero(view.entry_elsewhere(state).unwrap_or(view.entered_at)));
    }
    (depth, entered_at_depth(&view, depth))
}

/// Returns when the owner entered the active state at a depth, or the innermost one if `depth` is `None`.
#[inline]
pub(crate) fn entered_at_depth<T: Owner>(view: &View<'_, T>, depth: Option<usize>) -> f64 {
    time_or_zero(view.entered_at(depth.unwrap_or(view.ancestors.len())))
}

/// Calls `act` with a handle that gives the answers that guards get during a change to `target`
/// ([rule 8](crate::docs::semantics#rule-8)).
#[inline]
pub(crate) fn toward<T: Owner, R>(target: &StateRef<T>, fsm: &Fsm<'_, T>, act: impl FnOnce(&Fsm<'_, T>) -> R) -> R {
    let mut toward = Toward { target, machines: fsm.shared_machines(), first: fsm.nth() };
    act(&Fsm::new(&mut toward, 0))
}

/// Like [`toward`], for all owners from index `first` on. When `act` returns or panics, `last` is set to the index of the owner
/// whose handle was taken last, counted from `first`.
pub(crate) fn toward_each<T: Owner, R>(
    target: &StateRef<T>,
    machines: &dyn Machines<T>,
    first: usize,
    last: &mut usize,
    act: impl FnOnce(&mut FsmSlice<'_, T>) -> R,
) -> R {
    let mut toward = Toward { target, machines, first };
    let mut lent = LentSlice { slice: FsmSlice::new(&mut toward, &[]), last };
    act(&mut lent.slice)
}

/// A slice of handles. When it is dropped, it writes to `last` which handle was taken last.
struct LentSlice<'l, 'a, T: Owner> {
    slice: FsmSlice<'a, T>,
    last: &'l mut usize,
}

impl<T: Owner> Drop for LentSlice<'_, '_, T> {
    fn drop(&mut self) {
        *self.last = self.slice.last();
    }
}

/// The machines from index `first` on, as guards see them during a change to `target`.
struct Toward<'m, T: Owner> {
    target: &'m StateRef<T>,
    machines: &'m (dyn Machines<T> + 'm),
    first: usize,
}

/// These machines can only be read: requests are ignored.
impl<T: Owner> Machines<T> for Toward<'_, T> {
    fn ask_singleton(&mut self, _: usize, _: &'static dyn State<T>) {}

    fn ask(&mut self, _: usize, _: Request<T>) {}

    fn withdraw_changes(&mut self, _: usize) {}

    fn withdraw_all(&mut self, _: usize) {}

    fn cancel(&mut self, _: usize, _: &mut dyn FnMut(&Pending<T>) -> bool) -> usize {
        0
    }

    fn execute_now(&mut self, _: usize, _: Order, _: &Request<T>, _: &mut T, _: &mut T::Context<'_>) -> bool {
        false
    }

    fn send_now(&mut self, _: usize, _: Order, _: &mut T, _: &T::Message, _: &mut T::Context<'_>) -> bool {
        false
    }

    fn view(&self, nth: usize) -> View<'_, T> {
        View { target: self.target, ..self.machines.view(self.first + nth) }
    }

    fn tree(&self, nth: usize) -> Option<Tree<'_, T>> {
        self.machines.tree(self.first + nth)
    }

    fn global(&self) -> &StateRef<T> {
        self.machines.global()
    }

    fn has_requests(&self, nth: usize) -> bool {
        self.machines.has_requests(self.first + nth)
    }
}

/// Returns a machine that has been in `state` and its ancestors for the given number of seconds.
pub(crate) fn machine_in<T: Owner>(
    state: &StateRef<T>,
    global: Option<StateRef<T>>,
    seconds: f64,
    cx: &T::Context<'_>,
) -> StateMachine<T> {
    let mut seat = Seat::empty();
    seat.entered_at = now::<T>(cx) - seconds;
    seat.place(state);
    let machine = StateMachine::from_seat(seat, Settings::DEFAULT);
    match global {
        Some(global) => machine.with_global(global),
        None => machine,
    }
}
