//! Up to 64 owners that stand side by side in a slice, and are asked together.

use std::ops::Range;

use super::expression::Comparison;
use super::handle::time_in;
use super::values::{LANES, Lanes};
use crate::fsm::{Fsm, time_since};
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::state::State;

/// The handles of up to 64 owners.
pub(crate) struct Block<'s, 'a, T: Owner> {
    /// The state whose conditions are asked.
    pub(crate) state: &'s dyn State<T>,
    fsm: &'s mut FsmSlice<'a, T>,
    /// Where in the slice the first of them is.
    base: usize,
    /// How many they are.
    length: usize,
    /// The one that is being asked.
    lane: usize,
}

impl<'s, 'a, T: Owner> Block<'s, 'a, T> {
    pub(crate) fn new(state: &'s dyn State<T>, fsm: &'s mut FsmSlice<'a, T>, base: usize, length: usize) -> Self {
        Self { state, fsm, base, length, lane: 0 }
    }

    /// The handle of one of them.
    pub(crate) fn at(&mut self, lane: usize) -> &mut Fsm<'a, T> {
        self.lane = lane;
        self.fsm.at(self.base + lane)
    }

    /// Asks each of `asked`, in order.
    #[inline]
    pub(crate) fn ask_each(&mut self, asked: Lanes, mut holds: impl FnMut(usize, &Fsm<'a, T>) -> bool) -> Lanes {
        let mut left = asked;
        let mut lanes = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            lanes |= Lanes::from(holds(lane, self.at(lane))) << lane;
        }
        lanes
    }

    /// Asks `asked`, all at once that stand side by side.
    #[inline]
    pub(crate) fn ask_runs(&mut self, asked: Lanes, mut ask: impl FnMut(Range<usize>, &mut usize) -> Lanes) -> Lanes {
        let mut left = asked;
        let mut lanes = 0;
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            let end = start + (left >> start).trailing_ones() as usize;
            left &= !(Lanes::MAX >> (LANES - (end - start)) << start);
            self.lane = start;
            lanes |= ask(start..end, &mut self.lane) << start;
        }
        lanes
    }

    /// Those of `asked` whose time in the state compares so with `with`.
    pub(crate) fn compare_times(&mut self, asked: Lanes, op: Comparison, with: f64, cx: &T::Context<'_>) -> Lanes {
        let state = self.state;
        let mut entered_at = [0.0; LANES];
        let entered_at = &mut entered_at[..self.length];
        // Side by side in a batch, which saves a call for each.
        if self.fsm.entered_at_each(self.base, state, entered_at) {
            let now = T::now(cx);
            return self
                .ask_runs(asked, |run, lane| op.compare(&entered_at[run], with, lane, |at| time_since(*at, now)));
        }
        self.ask_each(asked, |_, fsm| op.holds(time_in(state, fsm, cx), with))
    }
}

/// The game's own code may panic where it is asked. A batch holds the owner responsible whose handle was taken last (rule 22):
/// that is the one that was being asked.
impl<T: Owner> Drop for Block<'_, '_, T> {
    fn drop(&mut self) {
        self.fsm.at(self.base + self.lane);
    }
}
