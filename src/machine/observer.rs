//! Observers of a machine's steps and changes, besides its owner.

use alloc::vec::Vec;

use super::seat::Seat;
use super::step::Step;
use crate::change::Change;
use crate::owner::Owner;

/// Is told of a machine's steps and changes in their order: a recording, a journal, or the cast that the machine is in.
pub(crate) trait Observer<T: Owner> {
    /// Whether it sees each exit and enter, and the start and the stop. If not, [`step`](Self::step) is not called.
    fn sees_steps(&self) -> bool {
        false
    }
    /// The machine exits or enters a state, starts or stops.
    fn step(&mut self, _step: Step<T>) {}
    /// The machine is in another state than before.
    fn moved(&mut self, _seat: &Seat<T>, _cx: &mut T::Context<'_>) {}
    /// A change was made or refused at a time, in seconds.
    fn changed(&mut self, _change: &Change<'_, T>, _now: f64, _cx: &mut T::Context<'_>) {}
}

/// A recording.
impl<T: Owner> Observer<T> for Vec<Step<T>> {
    fn sees_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step<T>) {
        self.push(step);
    }

    fn changed(&mut self, change: &Change<'_, T>, now: f64, _: &mut T::Context<'_>) {
        self.push(Step::of(change, now));
    }
}

/// Reports on a machine to the context of its callbacks.
pub(crate) struct MachineWatch<T: Owner> {
    /// Which machine it is.
    pub(crate) index: usize,
    /// See [`Observer::moved`].
    pub(crate) moved: fn(usize, &Seat<T>, &mut T::Context<'_>),
    /// See [`Observer::changed`].
    pub(crate) changed: fn(usize, &Change<'_, T>, f64, &mut T::Context<'_>),
}

impl<T: Owner> Observer<T> for MachineWatch<T> {
    fn moved(&mut self, seat: &Seat<T>, cx: &mut T::Context<'_>) {
        (self.moved)(self.index, seat, cx);
    }

    fn changed(&mut self, change: &Change<'_, T>, now: f64, cx: &mut T::Context<'_>) {
        (self.changed)(self.index, change, now, cx);
    }
}
