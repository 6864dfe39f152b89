//! Which exit is taken: the one place where that is decided, for a tick, for a message, and to explain it.

use super::block::Block;
use super::graph::{DefinedState, Exit, Graph};
use super::handle::{time_in, toward};
use super::record::{Record, Trial, Unrecorded};
use super::values::{LANES, Lanes};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::state::{StateRef, same};

/// Who decides: a state, on the graph as it is now.
pub(crate) struct Decider<'g, T: Owner> {
    pub(crate) state: &'g DefinedState<T>,
    pub(crate) graph: &'g Graph<T>,
}

impl<T: Owner> Decider<'_, T> {
    /// Tries exits in order. Returns where the one leads that is taken: the first whose condition holds and whose change every
    /// guard allows. Those after it are not tried.
    #[inline]
    pub(crate) fn decide<'e>(
        &self,
        exits: impl IntoIterator<Item = &'e Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<StateRef<T>> {
        for exit in exits {
            let holds = match &exit.when {
                Some(when) => when.holds(owner, cx, |cx| time_in(self.state, fsm, cx), record),
                None => true,
            };
            if !holds {
                record.tried(Trial::NoCondition);
                continue;
            }
            let change = Change::of(exit, self);
            let trial = self.pass(&change, owner, fsm, cx, record);
            record.tried(trial);
            match trial {
                Trial::Taken => return Some(change.to),
                Trial::Superseded => return None,
                _ => {}
            }
        }
        None
    }

    /// Decides for up to 64 owners, the first of them the `base`-th of the slice, and calls `take` for each that takes an
    /// exit, in the order of the owners, with where it leads.
    ///
    /// It is [`decide`](Self::decide) on each of them, compiled for a special case: each condition is put to all that are
    /// still asked, before the next exit is tried. A decision reads nothing that another owner's decision writes, so
    /// that the order among owners does not matter. `tests/definition_decisions.rs` compares the two.
    pub(crate) fn decide_in_bulk(
        &self,
        exits: &[Exit<T>],
        owners: &mut [T],
        base: usize,
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
        mut take: impl FnMut(StateRef<T>, &mut Fsm<'_, T>),
    ) {
        let mut block = Block::new(self.state, fsm, base, owners.len());
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
            if holding == 0 {
                continue;
            }
            let change = Change::of(exit, self);
            while holding != 0 {
                let lane = holding.trailing_zeros() as usize;
                holding &= holding - 1;
                match self.pass(&change, &owners[lane], block.at(lane), cx, &mut Unrecorded) {
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
            let exit = &exits[usize::from(taken[lane])];
            take(self.graph.state(exit.to, &self.state.shared), block.at(lane));
        }
    }

    /// What comes of an exit whose condition holds.
    fn pass(
        &self,
        change: &Change<'_, T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Trial {
        let Change { exit, .. } = change;
        let path = fsm.path();
        let is_own = path.clone().next_back().is_some_and(|current| self.is(current));
        let is_active = |index| path.clone().any(|active| self.graph.index_of(active) == Some(index));
        if !is_own && exit.to != self.state.fixed.index && is_active(exit.to) {
            return Trial::AlreadyThere;
        }
        // What a change leaves and enters: all below the states that the old path and the new one share (rule 6). The target
        // itself is always entered.
        let around = &exit.route[..exit.above];
        let kept = path.clone().zip(around).take_while(|(active, index)| self.graph.index_of(active) == Some(**index));
        let kept = kept.count();
        let depth = path.clone().count();
        let refused = toward(change.target(), fsm, |fsm| {
            for (up, state) in path.clone().rev().take(depth - kept).enumerate() {
                if !self.can_exit(state, owner, fsm, cx) {
                    return Some(Trial::CannotExit { depth: depth - 1 - up });
                }
            }
            let can_enter =
                |index: usize, record: &mut _| self.graph.nodes[index].content.can_enter(owner, fsm, cx, record);
            let shut = exit.route[kept..].iter().find(|index| !can_enter(**index, record));
            shut.map(|index| Trial::CannotEnter { index: *index })
        });
        if let Some(refused) = refused {
            return refused;
        }
        // Where the behaviour has asked for a change, or made one, the machine is no longer the exits' business.
        let is_left = !is_own && !fsm.global().is_some_and(|global| self.is(global)) && !fsm.is_in_state(self.state);
        if is_left || fsm.has_requests() { Trial::Superseded } else { Trial::Taken }
    }

    fn can_exit(&self, state: &StateRef<T>, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        match self.graph.index_of(state) {
            Some(index) => self.graph.nodes[index].content.can_exit(owner, fsm, cx),
            None => state.can_exit(owner, fsm, cx),
        }
    }

    fn is(&self, state: &StateRef<T>) -> bool {
        same(&**state, self.state)
    }
}

/// The change that an exit asks for.
struct Change<'e, T: Owner> {
    exit: &'e Exit<T>,
    to: StateRef<T>,
    /// Where it ends, if that is an initial descendant.
    innermost: Option<StateRef<T>>,
}

impl<'e, T: Owner> Change<'e, T> {
    fn of(exit: &'e Exit<T>, decider: &Decider<'_, T>) -> Self {
        let state = |index| decider.graph.state(index, &decider.state.shared);
        let innermost = exit.route.last().filter(|innermost| **innermost != exit.to);
        Self { exit, to: state(exit.to), innermost: innermost.map(|innermost| state(*innermost)) }
    }

    /// The innermost state that it leads to.
    fn target(&self) -> &StateRef<T> {
        self.innermost.as_ref().unwrap_or(&self.to)
    }
}
