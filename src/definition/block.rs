//! Up to 64 owners that are adjacent in a slice and whose conditions are evaluated together.

use std::ops::Range;

use smallvec::SmallVec;

use super::handle::{entered_at, toward_each};
use super::values::{LANES, Lanes, lanes};
use crate::format::expression::Comparison;
use crate::fsm::{Entries, Fsm};
use crate::machine::waiting::Scope;
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::span::Span;
use crate::state::{Mover, State, StateRef};

/// The handles of up to 64 owners.
pub(crate) struct Block<'s, 'a, T: Owner> {
    /// The state whose conditions are evaluated.
    pub(crate) state: &'s dyn State<T>,
    fsm: &'s mut FsmSlice<'a, T>,
    /// The index of the first owner in the slice.
    base: usize,
    /// The number of owners.
    length: usize,
    /// The owner whose condition is being evaluated.
    lane: usize,
}

impl<'s, 'a, T: Owner> Block<'s, 'a, T> {
    pub(crate) fn new(state: &'s dyn State<T>, fsm: &'s mut FsmSlice<'a, T>, base: usize, length: usize) -> Self {
        Self { state, fsm, base, length, lane: 0 }
    }

    /// Returns the handle of one owner.
    pub(crate) fn at(&mut self, lane: usize) -> &mut Fsm<'a, T> {
        self.lane = lane;
        self.fsm.at(self.base + lane)
    }

    /// Returns the lanes of the owners that may have made a request or changed state in this callback.
    pub(crate) fn acted(&mut self) -> Lanes {
        self.fsm.machines().0.have_acted(self.base, self.length)
    }

    /// Returns the lanes of all owners.
    pub(crate) fn all(&self) -> Lanes {
        Lanes::MAX >> (LANES - self.length)
    }

    /// Returns the depth of the state in the paths of all owners. `None` if they may have different paths.
    pub(crate) fn shared_depth(&mut self) -> Option<usize> {
        let state = self.state;
        self.fsm.machines().0.entries(self.base, self.length, state)?;
        self.depth(0)
    }

    /// Returns the depth of the state in the path of one owner.
    pub(crate) fn depth(&mut self, lane: usize) -> Option<usize> {
        let state = self.state;
        self.at(lane).view().depth_of_defined(state)
    }

    /// Whether the state is the innermost active state of one owner.
    pub(crate) fn is_innermost(&mut self, lane: usize) -> bool {
        let state = self.state;
        let view = self.at(lane).view();
        view.depth_of_defined(state) == Some(view.ancestors.len())
    }

    /// Calls `holds` for each lane of `asked`, in order, and returns the lanes for which it is true.
    #[inline]
    pub(crate) fn ask_each(&mut self, asked: Lanes, mut holds: impl FnMut(usize, &Fsm<'a, T>) -> bool) -> Lanes {
        let mut lanes = 0;
        for lane in each(asked) {
            lanes |= Lanes::from(holds(lane, self.at(lane))) << lane;
        }
        lanes
    }

    /// Calls `ask` once for each run of adjacent lanes of `asked`, and returns the lanes for which the calls answer yes. `ask`
    /// gets the lanes of the run, and sets its second argument to the lane of each owner while it reads this owner. The lanes
    /// that it returns are counted from the beginning of the run.
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

    /// Returns when each owner of `asked` entered the state.
    pub(crate) fn entries(&mut self, asked: Lanes) -> [f64; LANES] {
        let state = self.state;
        let mut column = [0.0; LANES];
        if let Some(Entries { times, width, at }) = self.fsm.machines().0.entries(self.base, self.length, state) {
            column.iter_mut().zip(times.iter().skip(at).step_by(width)).for_each(|(to, time)| *to = *time);
        } else {
            each(asked).for_each(|lane| column[lane] = entered_at(state, self.at(lane)));
        }
        column
    }

    /// Returns the numbers that the state at `depth` has stored for the owners under `key`. NaN for an owner without one.
    pub(crate) fn notes(&mut self, depth: usize, key: u32) -> [f64; LANES] {
        let mut column = [f64::NAN; LANES];
        self.fsm.machines().0.note_each(self.base, Scope::state(depth), key, &mut column[..self.length]);
        column
    }

    /// Replaces the numbers that the state has stored for the owners of `asked` under `key`. Returns the lanes of the owners
    /// whose number cannot be replaced here.
    pub(crate) fn replace_notes(&mut self, asked: Lanes, key: u32, numbers: &[f64; LANES]) -> Lanes {
        self.fsm.machines().0.replace_notes(self.base, asked, key, numbers)
    }

    /// Returns the lanes of `asked` for which `holds` is true. `holds` gets the time at which the owner entered the state.
    #[inline]
    pub(crate) fn ask_entries(&mut self, asked: Lanes, holds: impl Fn(f64) -> bool) -> Lanes {
        let state = self.state;
        // In a batch, the entry times are adjacent, so one loop replaces a call for each owner.
        match self.fsm.machines().0.entries(self.base, self.length, state) {
            Some(Entries { times, width: 1, .. }) => lanes(times, &mut 0, |at| holds(*at)) & asked,
            Some(_) => lanes(&self.entries(asked)[..self.length], &mut 0, |at| holds(*at)) & asked,
            None => self.ask_each(asked, |_, fsm| holds(entered_at(state, fsm))),
        }
    }

    /// Returns the lanes of `asked` for which the comparison of the time in the state with `span` holds.
    pub(crate) fn compare_times(&mut self, asked: Lanes, op: Comparison, span: Span) -> Lanes {
        // The two most frequent comparisons have loops of their own, so that these loops have no `match` inside.
        match op {
            Comparison::Less => self.ask_entries(asked, |at| span.is_less(at)),
            Comparison::GreaterOrEqual => self.ask_entries(asked, |at| span.has_passed(at)),
            op => self.ask_entries(asked, |at| op.holds_since(span, at)),
        }
    }

    /// Calls the guards of the owners in `asked` for a change to `target`. `ask` calls its last argument with the lane of each
    /// owner whose guard refuses. Returns the lanes of the other owners.
    #[inline]
    pub(crate) fn ask_guards(
        &mut self,
        asked: Lanes,
        target: &StateRef<T>,
        ask: impl FnOnce(&[Mover], &mut FsmSlice<'_, T>, &mut dyn FnMut(usize)),
    ) -> Lanes {
        let movers: SmallVec<[Mover; LANES]> = each(asked).map(|lane| Mover(lane as u64)).collect();
        let mut refused: Lanes = 0;
        let mut refuse = |lane: usize| refused |= 1 << lane;
        let (machines, _) = self.fsm.machines();
        toward_each(target, machines, self.base, &mut self.lane, |fsm| ask(&movers, fsm, &mut refuse));
        asked & !refused
    }

    /// Returns the number of a state in the machines. [`change`](Self::change) takes this number.
    pub(crate) fn number_of(&mut self, to: &StateRef<T>) -> Option<u32> {
        self.fsm.machines().0.number_of(to)
    }

    /// Requests a change for one owner that has no request yet. `number` is the number of `to` in the machines.
    #[inline]
    pub(crate) fn change(&mut self, lane: usize, number: Option<u32>, to: &StateRef<T>) {
        let nth = self.base + lane;
        if !number.is_some_and(|number| self.fsm.machines().0.ask_number(nth, number)) {
            self.at(lane).change_state(to.clone());
        }
    }
}

/// Returns the lanes in a set, in order.
pub(crate) fn each(mut lanes: Lanes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (lanes != 0).then(|| lanes.trailing_zeros() as usize);
        lanes &= lanes.wrapping_sub(1);
        lane
    })
}

/// Code of the game may panic while a condition is evaluated. A batch holds the owner responsible whose handle was taken last
/// ([rule 22](crate::docs::semantics#rule-22)), so this takes the handle of the owner whose condition was being evaluated.
impl<T: Owner> Drop for Block<'_, '_, T> {
    fn drop(&mut self) {
        self.fsm.at(self.base + self.lane);
    }
}
