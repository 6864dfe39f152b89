//! Observers of a machine's steps and changes, other than its owner.

use alloc::vec::Vec;

use super::regions::Tree;
use super::step::Step;
use crate::change::Change;
use crate::owner::Owner;

/// An observer of a machine's steps and changes, in their order: a recording, a journal, or the cast that contains the
/// machine.
pub(crate) trait Observer<T: Owner> {
    /// Returns whether the observer needs each exit and enter, and each start and stop. If not, [`step`](Self::step) is not
    /// called.
    fn sees_steps(&self) -> bool {
        false
    }
    /// Called when the machine exits or enters a state, starts or stops.
    fn step(&mut self, _step: Step<T>) {}
    /// Called when the machine's active states have changed.
    fn moved(&mut self, _seats: &Tree<'_, T>, _cx: &mut T::Context<'_>) {}
    /// Called when a change was made or refused, before the owner is told of it. `now` is in seconds.
    fn changed(&mut self, _change: &Change<'_, T>, _now: f64, _cx: &mut T::Context<'_>) {}
}

/// A recording of all steps.
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

/// An observer that reports a machine's changes to the context of its callbacks.
pub(crate) struct MachineWatch<T: Owner> {
    /// The index of the machine's member in its cast.
    pub(crate) index: usize,
    /// See [`Observer::moved`]. The first argument is the index.
    pub(crate) moved: fn(usize, &Tree<'_, T>, &mut T::Context<'_>),
    /// See [`Observer::changed`]. The first argument is the index.
    pub(crate) changed: fn(usize, &Change<'_, T>, f64, &mut T::Context<'_>),
}

impl<T: Owner> Observer<T> for MachineWatch<T> {
    fn moved(&mut self, seats: &Tree<'_, T>, cx: &mut T::Context<'_>) {
        (self.moved)(self.index, seats, cx);
    }

    fn changed(&mut self, change: &Change<'_, T>, now: f64, cx: &mut T::Context<'_>) {
        (self.changed)(self.index, change, now, cx);
    }
}
