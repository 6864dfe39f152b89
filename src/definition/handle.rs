//! The parts of a machine and its handle that only definitions need: times of entry, the handle for guards, and a machine for
//! explanations.

use crate::fsm::{Fsm, Machines, View, time_or_zero};
use crate::machine::regions::{Around, Tree};
use crate::machine::seat::{Rare, Seat};
use crate::machine::settings::Settings;
use crate::machine::state_machine::StateMachine;
use crate::machine::waiting::Scope;
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
    fsm.shared_machines().entry_of(fsm.nth(), state)
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
    let mut toward = Toward { target: Some(target), seats: &[], machines: fsm.shared_machines(), first: fsm.nth() };
    act(&Fsm::new(&mut toward, 0))
}

/// Calls `act` with a handle that answers as in a callback of `state`: if the state lies in a region, for this region (rule 32).
pub(crate) fn in_region_of<T: Owner, R>(
    state: &StateRef<T>,
    fsm: &Fsm<'_, T>,
    act: impl FnOnce(&Fsm<'_, T>) -> R,
) -> R {
    let tree = if fsm.view().has_elsewhere() { fsm.shared_machines().tree(fsm.nth()) } else { None };
    let Some(seats) = tree.map(|tree| tree.way_to(state)).filter(|seats| !seats.is_empty()) else { return act(fsm) };
    let mut inside = Toward { target: None, seats: &seats, machines: fsm.shared_machines(), first: fsm.nth() };
    act(&Fsm::new(&mut inside, 0))
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
    let mut toward = Toward { target: Some(target), seats: &[], machines, first };
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

/// The machines from index `first` on, as guards see them during a change to `target`, if there is one. They can only be read. If
/// there are `seats`, the machine is seen from the last one; the others are around it.
struct Toward<'m, T: Owner> {
    target: Option<&'m StateRef<T>>,
    seats: &'m [&'m Seat<T>],
    machines: &'m (dyn Machines<T> + 'm),
    first: usize,
}

impl<T: Owner> Machines<T> for Toward<'_, T> {
    fn view(&self, nth: usize) -> View<'_, T> {
        let view = match self.seats.split_last() {
            Some((seat, around)) => View { around: Around::of(around), ..seat.view(&StateRef::NONE) },
            None => self.machines.view(self.first + nth),
        };
        View { target: self.target.unwrap_or(view.target), ..view }
    }

    fn noted(&self, nth: usize, by: Scope, key: u32) -> Option<f64> {
        match self.seats.last().filter(|_| by != Scope::Machine) {
            Some(seat) => seat.noted(by, key),
            None => self.machines.noted(self.first + nth, by, key),
        }
    }

    fn look_back(&self, nth: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        match self.seats.last() {
            Some(seat) => look(seat.rare.as_deref()),
            None => self.machines.look_back(self.first + nth, look),
        }
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

/// A machine without a global state that can only be read.
pub(crate) struct ReadSeat<'m, T: Owner>(pub(crate) &'m Seat<T>);

impl<T: Owner> Machines<T> for ReadSeat<'_, T> {
    fn view(&self, _: usize) -> View<'_, T> {
        self.0.view(&StateRef::NONE)
    }

    fn noted(&self, _: usize, by: Scope, key: u32) -> Option<f64> {
        self.0.noted(by, key)
    }

    fn look_back(&self, _: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        look(self.0.rare.as_deref());
    }

    fn global(&self) -> &StateRef<T> {
        &StateRef::NONE
    }

    fn has_requests(&self, _: usize) -> bool {
        false
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
