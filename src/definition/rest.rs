//! When an owner has nothing to do until a time: until its state's turn comes (`every`), or until an exit opens (`after`).
//!
//! The turns of a state come by a timer of the state (rule 25). An owner sleeps (rule 26) where no state on its path does
//! anything in a tick, and each exit opens later or is tried at its state's turns only. An exit that was open and has not been
//! taken is asked in each tick from then on: its owner stays awake. To wake too early does no harm, for then everything is
//! asked as in a tick in which nobody sleeps; so nobody sees a difference but in the time that a tick takes.

use super::block::{Block, each};
use super::decide::Decider;
use super::graph::{DefinedState, Exit, Graph, Node};
use super::handle::entered_at_depth;
use super::opening::{Every, Opening};
use super::values::{LANES, Lanes};
use crate::clock::now;
use crate::fsm::{Fsm, View, time_or_zero};
use crate::owner::Owner;
use crate::slice::FsmSlice;
use crate::span::{next_multiple, opens_at};

/// Who has less than this to wait for an exit, in seconds, stays awake. In the slow table of the bench, to be asked costs 2 ns in
/// each tick; to be put to sleep, woken and changed costs about 900 ns, by a division of the whole.
pub(crate) const SHORTEST_REST: f64 = 2.0;

/// Whose state has its turns more often than this, in seconds, stays awake. Here those awake cost more: in each tick it is looked
/// up when their turn comes.
pub(crate) const SHORTEST_TURN: f64 = 0.25;

/// At the end of an update.
impl<T: Owner> DefinedState<T> {
    /// Sets the timer of the state's next turn, where there is none, and puts the owner to sleep if nothing is to be asked.
    pub(crate) fn wait(
        &self,
        graph: &Graph<T>,
        node: &Node<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let rest = if node.can_rest { self.rest_for(graph, fsm, cx) } else { None };
        let view = fsm.view();
        if let (Some(every), Some(depth)) = (&node.content.every, view.depth_of_defined(self)) {
            let entered_at = entered_at_depth(&view, Some(depth));
            if fsm.next_turn(depth).is_none() {
                let now = now::<T>(cx);
                fsm.take_turn_after(match every {
                    Every::Fixed(every) => opens_at(next_multiple(*every, now - entered_at), entered_at) - now,
                    Every::Varying(varying) => varying.seconds(owner, cx),
                });
            }
        }
        if let Some(seconds) = rest {
            fsm.sleep_for(seconds);
        }
    }

    /// Puts each owner of a slice to sleep that has asked for nothing, if nothing is to be asked.
    pub(crate) fn rest_each(
        &self,
        exits: &[Exit<T>],
        count: usize,
        graph: &Graph<T>,
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
    ) {
        let now = now::<T>(cx);
        for base in (0..count).step_by(LANES) {
            let length = LANES.min(count - base);
            let mut block = Block::new(self, fsm, base, length);
            let mut resting = (Lanes::MAX >> (LANES - length)) & !block.acted();
            // They all stand on one path.
            if resting == 0 || !block.is_innermost(resting.trailing_zeros() as usize) {
                continue;
            }
            // Nearly all who are awake have hardly anything to wait.
            for exit in exits {
                if let (Opening::After(after), true) = (&exit.opens, resting != 0) {
                    resting =
                        block.ask_entries(resting, |entered_at| opens_at(*after, entered_at) >= now + SHORTEST_REST);
                }
            }
            for lane in each(resting) {
                let fsm = block.at(lane);
                if let Some(seconds) = self.rest_for(graph, fsm, cx) {
                    fsm.sleep_for(seconds);
                }
            }
        }
    }
}

/// At the end of `enter` and `resume`.
impl<T: Owner> DefinedState<T> {
    /// As [`wait`](Self::wait).
    pub(crate) fn wait_once_entered(
        &self,
        graph: &Graph<T>,
        node: &Node<T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        if fsm.target().is_some_and(|target| Decider::new(self, graph).is(target)) {
            self.wait(graph, node, owner, fsm, cx);
        } else if let Some(every) = &node.content.every {
            // Where others are entered after this one, they or the first update put the owner to sleep.
            let seconds = match every {
                Every::Fixed(every) => *every,
                Every::Varying(varying) => varying.seconds(owner, cx),
            };
            fsm.take_turn_after(seconds);
        }
    }

    /// Puts the owner to sleep if nothing is to be asked. The timers go on by themselves.
    pub(crate) fn rest_once_entered(&self, graph: &Graph<T>, fsm: &mut Fsm<'_, T>, cx: &T::Context<'_>) {
        if !fsm.target().is_some_and(|target| Decider::new(self, graph).is(target)) {
            return;
        }
        if let Some(seconds) = self.rest_for(graph, fsm, cx) {
            fsm.sleep_for(seconds);
        }
    }

    /// For how many seconds nothing is to be asked of an owner in this state. `None` if something is, or soon.
    fn rest_for(&self, graph: &Graph<T>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> Option<f64> {
        let view = fsm.view();
        if !Decider::new(self, graph).is(view.current) || fsm.has_requests() {
            return None;
        }
        let now = now::<T>(cx);
        let due = self.next_due(graph, &view, fsm);
        (due >= now + SHORTEST_REST).then_some(due - now)
    }

    /// When the first exit opens that is tried in each tick: infinity is never.
    fn next_due(&self, graph: &Graph<T>, view: &View<'_, T>, fsm: &Fsm<'_, T>) -> f64 {
        let mut next = f64::INFINITY;
        let mut at = Some(self.fixed.index);
        // From this state outward, as `can_rest` has looked at them.
        for depth in (0..=view.ancestors.len()).rev() {
            let Some(node) = at.map(|index| &graph.nodes[index]) else { break };
            at = node.fixed.parent;
            if node.content.every.is_some() {
                // One around this one may have become such a state by a reload, and not have been updated since.
                if depth < view.ancestors.len() && fsm.next_turn(depth).is_none() {
                    return f64::NEG_INFINITY;
                }
                continue;
            }
            let entered_at = time_or_zero(view.entered_at(depth));
            let dues = node.content.exits.iter().map(|exit| match &exit.opens {
                Opening::AtOnce => entered_at,
                Opening::After(after) => opens_at(*after, entered_at),
                // Where it is not known, the exit is asked in each tick.
                Opening::Kept(kept) => {
                    kept.seconds(depth, fsm).map_or(f64::NEG_INFINITY, |after| opens_at(after, entered_at))
                }
            });
            next = dues.fold(next, f64::min);
        }
        next
    }
}
