//! When an owner has nothing to do until a time, and is put to sleep until then (rule 26).
//!
//! That is where no state on its path does anything in a tick, and each exit opens later. An exit that was open and has not
//! been taken is asked in each tick from then on: its owner stays awake. To wake too early does no harm, for then everything is
//! asked as in a tick in which nobody sleeps; so nobody sees a difference but in the time that a tick takes.

use super::block::{Block, each};
use super::decide::Decider;
use super::graph::{DefinedState, Exit, Graph};
use super::values::{LANES, Lanes};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::span::due;

/// Who has less than this to wait, in seconds, stays awake. To be asked costs 10 ns in each tick; to be put to sleep and woken
/// costs some 300 ns.
pub(crate) const SHORTEST_REST: f64 = 0.5;

impl<T: Owner> DefinedState<T> {
    /// Puts an owner to sleep until one of its exits opens, if nothing is to be asked until then.
    pub(crate) fn rest(&self, graph: &Graph<T>, fsm: &mut Fsm<'_, T>, cx: &T::Context<'_>) {
        if fsm.has_requests() || !fsm.current().is_some_and(|current| Decider { state: self, graph }.is(current)) {
            return;
        }
        let now = T::now(cx);
        let due = self.next_due(graph, fsm);
        if due >= now + SHORTEST_REST {
            fsm.sleep_for(due - now);
        }
    }

    /// Likewise in `enter` and `resume`, if no other state is entered after this one.
    pub(crate) fn rest_once_entered(&self, graph: &Graph<T>, fsm: &mut Fsm<'_, T>, cx: &T::Context<'_>) {
        // A start has no target: there the first update comes to it.
        if fsm.target().is_some_and(|target| Decider { state: self, graph }.is(target)) {
            self.rest(graph, fsm, cx);
        }
    }

    /// Likewise each owner of a slice that has asked for nothing.
    pub(crate) fn rest_each(
        &self,
        exits: &[Exit<T>],
        count: usize,
        graph: &Graph<T>,
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
    ) {
        let now = T::now(cx);
        for base in (0..count).step_by(LANES) {
            let length = LANES.min(count - base);
            let mut block = Block::new(self, fsm, base, length);
            let mut resting = (Lanes::MAX >> (LANES - length)) & !block.acted();
            for exit in exits {
                // As nearly always, some have hardly anything to wait.
                let after = exit.after.unwrap_or(0.0);
                if resting != 0 {
                    resting = block.ask_entries(resting, |entered_at| due(after, entered_at) >= now + SHORTEST_REST);
                }
            }
            each(resting).for_each(|lane| self.rest(graph, block.at(lane), cx));
        }
    }

    /// When the first exit of the owner's states opens: infinity is never.
    fn next_due(&self, graph: &Graph<T>, fsm: &Fsm<'_, T>) -> f64 {
        let view = fsm.view();
        let mut next = f64::INFINITY;
        let mut at = Some(self.fixed.index);
        // From this state outward, as `can_rest` has looked at them.
        for depth in (0..=view.ancestors.len()).rev() {
            let Some(node) = at.map(|index| &graph.nodes[index]) else { break };
            let entered_at = view.entered_at(depth);
            let entered_at = if entered_at.is_nan() { 0.0 } else { entered_at };
            let dues = node.content.exits.iter().map(|exit| due(exit.after.unwrap_or(0.0), entered_at));
            next = dues.fold(next, f64::min);
            at = node.fixed.parent;
        }
        next
    }
}
