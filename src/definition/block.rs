//! Up to 64 owners that stand side by side in a slice, and are asked together.

use std::ops::Range;

use smallvec::SmallVec;

use super::handle::{entered_at, toward_each};
use super::values::{LANES, Lanes, lanes};
use crate::format::expression::Comparison;
use crate::fsm::{Entries, Fsm};
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::span::Span;
use crate::state::{Mover, State, StateRef};

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

    /// The lanes of the owners that have asked for something, or been changed, in this callback.
    pub(crate) fn acted(&mut self) -> Lanes {
        self.fsm.machines().0.have_acted(self.base, self.length)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Lanes {
        Lanes::MAX >> (LANES - self.length)
    }

    /// The depth of the state in the paths of all of them, if they stand on one path.
    pub(crate) fn shared_depth(&mut self) -> Option<usize> {
        let state = self.state;
        self.fsm.machines().0.entries(self.base, self.length, state)?;
        self.depth(0)
    }

    /// The depth of the state in the path of one of them.
    pub(crate) fn depth(&mut self, lane: usize) -> Option<usize> {
        let state = self.state;
        self.at(lane).view().depth_of_defined(state)
    }

    /// Whether the state is the innermost one of one of them.
    pub(crate) fn is_innermost(&mut self, lane: usize) -> bool {
        let state = self.state;
        let view = self.at(lane).view();
        view.depth_of_defined(state) == Some(view.ancestors.len())
    }

    /// Asks each of `asked`, in order.
    #[inline]
    pub(crate) fn ask_each(&mut self, asked: Lanes, mut holds: impl FnMut(usize, &Fsm<'a, T>) -> bool) -> Lanes {
        let mut lanes = 0;
        for lane in each(asked) {
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

    /// When each of some entered the state.
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

    /// The lanes of `asked` for which `holds` returns true, given when the owner entered the state.
    #[inline]
    pub(crate) fn ask_entries(&mut self, asked: Lanes, holds: impl Fn(f64) -> bool) -> Lanes {
        let state = self.state;
        // Side by side in a batch, which saves a call for each.
        match self.fsm.machines().0.entries(self.base, self.length, state) {
            Some(Entries { times, width: 1, .. }) => lanes(times, &mut 0, |at| holds(*at)) & asked,
            Some(_) => lanes(&self.entries(asked)[..self.length], &mut 0, |at| holds(*at)) & asked,
            None => self.ask_each(asked, |_, fsm| holds(entered_at(state, fsm))),
        }
    }

    /// The lanes of `asked` whose time in the state compares so with a span.
    pub(crate) fn compare_times(&mut self, asked: Lanes, op: Comparison, span: Span) -> Lanes {
        // The comparison is chosen outside the loop.
        match op {
            Comparison::Less => self.ask_entries(asked, |at| span.is_less(at)),
            Comparison::GreaterOrEqual => self.ask_entries(asked, |at| span.has_passed(at)),
            op => self.ask_entries(asked, |at| op.holds_since(span, at)),
        }
    }

    /// Asks the guards of some of them for a change to `target`: `ask` calls its last argument with the lane of each that is
    /// refused. Returns the lanes that are not.
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

    /// The number of a state in the machines, with which to ask for changes to it.
    pub(crate) fn number_of(&mut self, to: &StateRef<T>) -> Option<u32> {
        self.fsm.machines().0.number_of(to)
    }

    /// Asks for a change of one of them, which has asked for nothing yet; `number` is that of the state in the machines.
    #[inline]
    pub(crate) fn change(&mut self, lane: usize, number: Option<u32>, to: &StateRef<T>) {
        let nth = self.base + lane;
        if !number.is_some_and(|number| self.fsm.machines().0.ask_number(nth, number)) {
            self.at(lane).change_state(to.clone());
        }
    }
}

/// The lanes in a set, in order.
pub(crate) fn each(mut lanes: Lanes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (lanes != 0).then(|| lanes.trailing_zeros() as usize);
        lanes &= lanes.wrapping_sub(1);
        lane
    })
}

/// The game's own code may panic where it is asked. A batch holds the owner responsible whose handle was taken last
/// ([rule 22](crate::docs::semantics#rule-22)): that is the one that was being asked.
impl<T: Owner> Drop for Block<'_, '_, T> {
    fn drop(&mut self) {
        self.fsm.at(self.base + self.lane);
    }
}
