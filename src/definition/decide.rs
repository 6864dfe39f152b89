//! Which exit is taken: the one place where that is decided, for a tick, for a message, and to explain it.

use super::block::Block;
use super::graph::{DefinedState, Exit, Graph};
use super::handle::{self, time_in};
use super::record::{Record, Trial, Unrecorded};
use super::values::{LANES, Lanes};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::state::{Identity, StateRef};

/// Who decides: a state, on the graph as it is now.
pub(crate) struct Decider<'g, T: Owner> {
    pub(crate) state: &'g DefinedState<T>,
    pub(crate) graph: &'g Graph<T>,
}

impl<'g, T: Owner> Decider<'g, T> {
    /// Tries exits in order. Returns the one that is taken: the first whose condition holds and whose change every guard
    /// allows. Those after it are not tried.
    #[inline]
    pub(crate) fn decide(
        &self,
        exits: impl IntoIterator<Item = &'g Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<&'g Exit<T>> {
        for exit in exits {
            let holds = match &exit.when {
                Some(when) => when.holds(owner, cx, |cx| time_in(self.state, fsm, cx), record),
                None => true,
            };
            let trial = if holds { self.pass(exit, owner, fsm, cx, record) } else { Trial::NoCondition };
            record.tried(trial);
            match trial {
                Trial::Taken => return Some(exit),
                Trial::Superseded => return None,
                _ => {}
            }
        }
        None
    }

    /// Decides for up to 64 owners, the first of them the `base`-th of the slice, and calls `take` for each that takes an
    /// exit, in the order of the owners.
    ///
    /// It is [`decide`](Self::decide) on each of them, compiled for a special case: each condition is put to all that are
    /// still asked, before the next exit is tried. A decision reads nothing that another owner's decision writes, so
    /// that the order among owners does not matter. `tests/definition_decisions.rs` compares the two.
    pub(crate) fn decide_in_bulk(
        &self,
        exits: &'g [Exit<T>],
        owners: &mut [T],
        base: usize,
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
        mut take: impl FnMut(&'g Exit<T>, &mut Fsm<'_, T>),
    ) {
        let mut block = Block::new(self.state, fsm, base);
        let mut staying: Lanes = Lanes::MAX >> (LANES - owners.len());
        let mut leaving: Lanes = 0;
        let mut taken = [0_u16; LANES];
        for (i, exit) in exits.iter().enumerate() {
            if staying == 0 {
                break;
            }
            let mut holding = match &exit.when {
                Some(when) => when.holding(staying, owners, cx, &mut block),
                None => staying,
            };
            while holding != 0 {
                let lane = holding.trailing_zeros() as usize;
                holding &= holding - 1;
                match self.pass(exit, &owners[lane], block.at(lane), cx, &mut Unrecorded) {
                    Trial::Taken => {
                        staying &= !(1 << lane);
                        leaving |= 1 << lane;
                        taken[lane] = u16::try_from(i).unwrap_or(u16::MAX);
                    }
                    Trial::Superseded => staying &= !(1 << lane),
                    _ => {}
                }
            }
        }
        while leaving != 0 {
            let lane = leaving.trailing_zeros() as usize;
            leaving &= leaving - 1;
            take(&exits[usize::from(taken[lane])], block.at(lane));
        }
    }

    /// What comes of an exit whose condition holds.
    fn pass(
        &self,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Trial {
        let is_own = self.is(fsm.current());
        if !is_own && exit.to != self.state.fixed.index && self.is_active(exit.to, fsm) {
            return Trial::AlreadyThere;
        }
        // What a change leaves and enters: all below the states that the old path and the new one share (rule 6). The target
        // itself is always entered.
        let around = &exit.route[..exit.above];
        let kept = fsm.path().zip(around).take_while(|(active, index)| self.graph.index_of(active) == Some(**index));
        let kept = kept.count();
        let depth = fsm.path().count();
        for (up, state) in fsm.path().rev().take(depth - kept).enumerate() {
            if !self.can_exit(state, owner, fsm, cx) {
                return Trial::CannotExit { depth: depth - 1 - up };
            }
        }
        for &index in &exit.route[kept..] {
            if !self.graph.nodes[index].content.can_enter(owner, fsm, cx, record) {
                return Trial::CannotEnter { index };
            }
        }
        // Where the behaviour has asked for a change, or made one, the machine is no longer the exits' business.
        let is_left = !is_own && !self.is(fsm.global()) && !fsm.is_in_state(self.state);
        if is_left || fsm.has_requests() { Trial::Superseded } else { Trial::Taken }
    }

    fn can_exit(&self, state: &StateRef<T>, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        match self.graph.index_of(state) {
            Some(index) => self.graph.nodes[index].content.can_exit(owner, fsm, cx),
            None => handle::can_exit(&**state, owner, fsm, cx),
        }
    }

    /// Whether the state at an index of the graph is active.
    fn is_active(&self, index: usize, fsm: &Fsm<'_, T>) -> bool {
        fsm.path().any(|active| self.graph.index_of(active) == Some(index))
    }

    fn is(&self, state: Option<&StateRef<T>>) -> bool {
        state.is_some_and(|state| Identity::of(&**state) == Identity::of(self.state))
    }
}
