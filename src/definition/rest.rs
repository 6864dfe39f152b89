//! When an owner has nothing to do until a time: until its state's turn comes (`every`), or until an exit opens (`after`).
//!
//! A state notes of an owner after how many seconds in the state its next turn comes. An owner sleeps (rule 26) where no state on
//! its path does anything in a tick, and each exit opens later or is tried at its state's turns only. An exit that was open and has
//! not been taken is asked in each tick from then on: its owner stays awake. To wake too early does no harm, for then everything
//! is asked as in a tick in which no owner sleeps. So sleep makes a difference only in the time that a tick takes.

use super::block::{Block, each};
use super::graph::{DefinedState, Here, SHORTEST_REST};
use super::handle::{entered_at, entered_at_depth};
use super::opening::{Interval, Opening};
use super::values::{LANES, Lanes};
use crate::fsm::{Fsm, time_or_zero};
use crate::machine::single::Single;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::save::SavedNote;
use crate::slice::FsmSlice;
use crate::span::{Span, next_multiple, opens_at};

/// The next turn of a state with `every`.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    entered_at: f64,
    /// After how many seconds in the state it comes.
    after: f64,
}

impl Turn {
    #[inline]
    pub(crate) fn has_come(self, now: f64) -> bool {
        Span::of(self.after, now).has_passed(self.entered_at)
    }

    /// In how many seconds it comes.
    pub(crate) fn comes_in(self, now: f64) -> f64 {
        self.after - (now - self.entered_at)
    }
}

impl<T: Owner> DefinedState<T> {
    /// The state's next turn, if it is noted of the owner.
    #[inline]
    pub(crate) fn turn(&self, fsm: &Fsm<'_, T>) -> Option<Turn> {
        let view = fsm.view();
        let depth = view.depth_of_defined(self)?;
        let after = fsm.noted(Scope::state(depth), SavedNote::Turn.key())?;
        Some(Turn { entered_at: entered_at_depth(&view, Some(depth)), after })
    }

    /// The owners of a block whose turn it is, or of which no turn is noted.
    pub(crate) fn turns(&self, block: &mut Block<'_, '_, T>, now: f64) -> Lanes {
        let all = block.all();
        let Some(depth) = block.shared_depth() else {
            return block.ask_each(all, |_, fsm| self.turn(fsm).is_none_or(|turn| turn.has_come(now)));
        };
        let entries = block.entries(all);
        block.ask_each(all, |lane, fsm| {
            let after = fsm.noted(Scope::state(depth), SavedNote::Turn.key());
            after.is_none_or(|after| Turn { entered_at: entries[lane], after }.has_come(now))
        })
    }
}

/// At the end of an update.
impl<T: Owner> DefinedState<T> {
    /// Notes when the state's next turn comes, if `turn` does not say so. Puts the owner to sleep if nothing is to be asked.
    pub(crate) fn wait(
        &self,
        at: Here<'_, T>,
        turn: Option<Turn>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let node = at.node;
        let noted = turn.map(|turn| turn.after);
        let next = match &node.content.every {
            Some(every) if noted.is_none() && fsm.is_in_state(self) => {
                let passed = now::<T>(cx) - entered_at(self, fsm);
                Some(match every {
                    Interval::Fixed(every) => next_multiple(*every, passed),
                    varying => passed + Self::varying_turn(varying, owner, fsm, cx),
                })
            }
            _ => noted,
        };
        let rest = if node.can_rest { self.rest_for(at, next, fsm, cx) } else { None };
        if let Some(number) = next.filter(|_| noted.is_none()) {
            fsm.note(SavedNote::Turn.key(), number);
        }
        if let Some(seconds) = rest {
            fsm.sleep_for(seconds);
        }
    }

    /// The seconds from one turn to the next.
    fn varying_turn(varying: &Interval<T>, owner: &mut T, fsm: &Fsm<'_, T>, cx: &mut T::Context<'_>) -> f64 {
        let seconds = varying.seconds(owner, cx);
        Single::seconds(seconds, &"turn", owner, fsm.view().current.as_option())
    }

    /// Puts each owner of a slice to sleep that has asked for nothing, if nothing is to be asked.
    pub(crate) fn rest_each(&self, at: Here<'_, T>, count: usize, fsm: &mut FsmSlice<'_, T>, cx: &T::Context<'_>) {
        let now = now::<T>(cx);
        // The exits of a state with `every` are tried at its turns only.
        let exits = if at.node.content.every.is_some() { &[] } else { &*at.node.content.exits };
        for base in (0..count).step_by(LANES) {
            let length = LANES.min(count - base);
            let mut block = Block::new(self, fsm, base, length);
            let mut resting = block.all() & !block.acted();
            // They all stand on one path.
            if resting == 0 || !block.is_innermost(resting.trailing_zeros() as usize) {
                continue;
            }
            // Nearly all owners that are awake have little to wait.
            for exit in exits {
                if let (Opening::After(after), true) = (&exit.opens, resting != 0) {
                    resting =
                        block.ask_entries(resting, |entered_at| opens_at(*after, entered_at) >= now + SHORTEST_REST);
                }
            }
            for lane in each(resting) {
                self.rest(at, block.at(lane), cx);
            }
        }
    }
}

/// At the end of `enter` and `resume`.
impl<T: Owner> DefinedState<T> {
    /// As [`wait`](Self::wait).
    pub(crate) fn wait_once_entered(
        &self,
        at: Here<'_, T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        if fsm.target().is_some_and(|target| self.is(target)) {
            self.wait(at, None, owner, fsm, cx);
        } else if let Some(every) = &at.node.content.every {
            // Where others are entered after this one, they or the first update put the owner to sleep.
            let number = match every {
                Interval::Fixed(every) => *every,
                varying => Self::varying_turn(varying, owner, fsm, cx),
            };
            fsm.note(SavedNote::Turn.key(), number);
        }
    }

    /// Puts the owner to sleep if nothing is to be asked.
    pub(crate) fn rest(&self, at: Here<'_, T>, fsm: &mut Fsm<'_, T>, cx: &T::Context<'_>) {
        let turn = self.turn(fsm).map(|turn| turn.after);
        if let Some(seconds) = self.rest_for(at, turn, fsm, cx) {
            fsm.sleep_for(seconds);
        }
    }

    /// For how many seconds nothing is to be asked of an owner in this state, whose next turn comes after `turn` seconds in it.
    /// `None` if something is to be asked now, or soon.
    fn rest_for(&self, at: Here<'_, T>, turn: Option<f64>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> Option<f64> {
        let view = fsm.view();
        if !self.is(view.current) || fsm.has_requests() {
            return None;
        }
        // The first exit that is tried in each tick, and the first turn of a state with `every`, in seconds by the clock.
        let (mut next_exit, mut next_turn) = (f64::INFINITY, f64::INFINITY);
        let mut index = Some(self.fixed.index);
        // From this state outward, as `can_rest` has looked at them.
        for depth in (0..=view.ancestors.len()).rev() {
            let Some(node) = index.map(|index| &at.graph.nodes[index]) else { break };
            index = node.fixed.parent;
            let entered_at = time_or_zero(view.entered_at(depth));
            if node.content.every.is_some() {
                // A state may have become such a state by a reload, and not have been updated since.
                let is_own = depth == view.ancestors.len();
                let turn = if is_own { turn } else { fsm.noted(Scope::state(depth), SavedNote::Turn.key()) };
                next_turn = next_turn.min(opens_at(turn?, entered_at));
                continue;
            }
            let dues = node.content.exits.iter().map(|exit| match &exit.opens {
                Opening::AtOnce => entered_at,
                Opening::After(after) => opens_at(*after, entered_at),
                // Where it is not known, the exit is asked in each tick.
                Opening::Kept(kept) => {
                    kept.seconds(depth, fsm).map_or(f64::NEG_INFINITY, |after| opens_at(after, entered_at))
                }
            });
            next_exit = dues.fold(next_exit, f64::min);
        }
        let now = now::<T>(cx);
        let due = next_exit.min(next_turn);
        (next_exit >= now + SHORTEST_REST && due > now).then_some(due - now)
    }
}
