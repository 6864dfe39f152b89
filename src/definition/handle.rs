//! What definitions ask of the machine's handle.

use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::seat::Seat;
use crate::slice::FsmSlice;
use crate::state::{State, StateRef};

/// How long the owner has been in `state`; where that is the global state, which is never entered, in the innermost one.
#[inline]
pub(crate) fn time_in<T: Owner>(state: &dyn State<T>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> f64 {
    let _ = state;
    fsm.time_in_state(cx)
}

/// When the owners from the `i`-th on entered `state`, side by side; `None` where each has to be asked.
#[inline]
pub(crate) fn entered_at<'a, T: Owner>(
    state: &dyn State<T>,
    fsm: &mut FsmSlice<'a, T>,
    i: usize,
    base: usize,
) -> Option<&'a [f64]> {
    let _ = state;
    let row = fsm.at(i).row.as_ref()?;
    let is_as_in_the_column = row.book.seated.is_empty();
    row.entered_at.get(row.slots.start as usize + base..).filter(|column| is_as_in_the_column && !column.is_empty())
}

#[inline]
pub(crate) fn can_enter<T: Owner>(state: &dyn State<T>, owner: &T, _: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
    state.can_enter(owner, cx)
}

#[inline]
pub(crate) fn can_exit<T: Owner>(state: &dyn State<T>, owner: &T, _: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
    state.can_exit(owner, cx)
}

/// Lends the handle of a machine that is in `state`, and has been there and around it for so many seconds.
pub(crate) fn look<T: Owner, R>(
    state: &StateRef<T>,
    global: &StateRef<T>,
    seconds: f64,
    cx: &mut T::Context<'_>,
    act: impl FnOnce(&Fsm<'_, T>, &mut T::Context<'_>) -> R,
) -> R {
    let mut seat = Seat::new(state.clone());
    seat.entered_at = T::now(cx) - seconds;
    act(&Fsm::new(&mut seat, global), cx)
}

/// Lends a handle that sees nothing.
pub(crate) fn blind<T: Owner, R>(act: impl FnOnce(&Fsm<'_, T>) -> R) -> R {
    act(&Fsm::new(&mut Seat::empty(), &StateRef::NONE))
}
