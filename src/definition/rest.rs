//! Determines for how long an owner has nothing to do: until the next turn of its state (`every`), or until an exit opens
//! (`after`).
//!
//! A state notes for each owner when its next turn comes, in seconds since the entry into the state. An owner sleeps (rule 26)
//! if no state on its path does anything in a tick, and if each exit opens at least [`SHORTEST_REST`] later or is tried only at
//! turns. An exit that is open and not taken is tried in each tick, so its owner stays awake. If an owner wakes too early,
//! everything is evaluated as if it had not slept. So sleep changes only how long a tick takes.

use super::block::{Block, each};
use super::graph::{DefinedState, Here, SHORTEST_REST};
use super::handle::entered_at_depth;
use super::opening::{Interval, Opening};
use super::values::{LANES, Lanes, lanes};
use crate::fsm::{Fsm, time_or_zero};
use crate::machine::single::Single;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::save::SavedNote;
use crate::slice::FsmSlice;
use crate::span::{Span, next_multiple, opens_at};

/// The next turn of a state with `every`.
#[derive(Clone, Copy)]
pub(crate) struct EveryTurn {
    entered_at: f64,
    /// When the turn comes, in seconds since the entry into the state.
    after: f64,
}

impl EveryTurn {
    #[inline]
    pub(crate) fn has_come(self, now: f64) -> bool {
        Span::of(self.after, now).has_passed(self.entered_at)
    }

    #[inline]
    fn is_ahead(self, now: f64) -> bool {
        Span::of(self.after, now).is_less(self.entered_at)
    }

    /// Returns the number of seconds until the turn comes.
    pub(crate) fn comes_in(self, now: f64) -> f64 {
        self.after - (now - self.entered_at)
    }
}

impl<T: Owner> DefinedState<T> {
    /// Returns the next turn of the state, if one is noted for the owner.
    #[inline]
    pub(crate) fn turn(&self, fsm: &Fsm<'_, T>) -> Option<EveryTurn> {
        let view = fsm.view();
        let depth = view.depth_of_defined(self)?;
        let after = fsm.noted(Scope::state(depth), SavedNote::Turn.key())?;
        Some(EveryTurn { entered_at: entered_at_depth(&view, Some(depth)), after })
    }

    /// Returns the owners of a block that have their turn now, and the owners for which no turn is noted.
    #[inline]
    pub(crate) fn turns(&self, block: &mut Block<'_, '_, T>, now: f64) -> (Lanes, Lanes) {
        let all = block.all();
        let Some(depth) = block.shared_depth() else {
            let unnoted = block.ask_each(all, |_, fsm| self.turn(fsm).is_none());
            let due = block.ask_each(all, |_, fsm| self.turn(fsm).is_some_and(|turn| turn.has_come(now)));
            return (due, unnoted);
        };
        let (entries, notes) = (block.entries(all), block.notes(depth, SavedNote::Turn.key()));
        let turn = |(&entered_at, &after)| EveryTurn { entered_at, after };
        // A turn that is not noted is NaN, so it does not lie ahead.
        let stirring = all & !lanes(entries.iter().zip(&notes).map(turn), &mut 0, |turn| turn.is_ahead(now));
        let unnoted = each(stirring).filter(|lane| notes[*lane].is_nan()).fold(0, |unnoted, lane| unnoted | 1 << lane);
        (stirring & !unnoted, unnoted)
    }

    /// Notes the next turns of the owners in `asked`, and puts each of them to sleep if nothing must be evaluated for it soon.
    pub(crate) fn wait_each(
        &self,
        at: Here<'_, T>,
        asked: Lanes,
        owners: &mut [T],
        block: &mut Block<'_, '_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let mut left = asked;
        if let (Some(Interval::Fixed(every)), false) = (&at.node.content.every, at.node.can_rest) {
            let (now, entries) = (now::<T>(cx), block.entries(asked));
            let mut turns = [f64::NAN; LANES];
            each(asked).for_each(|lane| turns[lane] = next_multiple(*every, now - entries[lane]));
            left = block.replace_notes(asked, SavedNote::Turn.key(), &turns);
        }
        for lane in each(left) {
            self.wait(at, None, &mut owners[lane], block.at(lane), cx);
        }
    }
}

/// What a state does at the end of an update: it notes its next turn, and puts owners to sleep.
impl<T: Owner> DefinedState<T> {
    /// Notes when the next turn of the state comes. If `turn` is given, it is this turn, and it is already noted. Puts the owner
    /// to sleep if nothing must be evaluated soon.
    pub(crate) fn wait(
        &self,
        at: Here<'_, T>,
        turn: Option<EveryTurn>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let node = at.node;
        let noted = turn.map(|turn| turn.after);
        let next = match &node.content.every {
            Some(every) if noted.is_none() => {
                let view = fsm.view();
                view.depth_of_defined(self).map(|depth| {
                    let passed = now::<T>(cx) - entered_at_depth(&view, Some(depth));
                    match every {
                        Interval::Fixed(every) => next_multiple(*every, passed),
                        varying => passed + Self::varying_turn(varying, owner, fsm, cx),
                    }
                })
            }
            _ => noted,
        };
        let rest = if node.can_rest { self.rest_for(at, next, fsm, cx) } else { None };
        if let Some(number) = next {
            if noted.is_none() {
                fsm.note(SavedNote::Turn.key(), number);
            }
            self.be_quiet(at, number, fsm);
        }
        if let Some(seconds) = rest {
            fsm.sleep_for(seconds);
        }
    }

    /// Returns the seconds from one turn to the next.
    fn varying_turn(varying: &Interval<T>, owner: &mut T, fsm: &Fsm<'_, T>, cx: &mut T::Context<'_>) -> f64 {
        let seconds = varying.seconds(owner, cx);
        Single::seconds(seconds, &"turn", owner, fsm.view().current.as_option())
    }

    /// Puts to sleep each owner of a slice that has made no request and has not changed, if nothing must be evaluated for it
    /// soon.
    pub(crate) fn rest_each(&self, at: Here<'_, T>, count: usize, fsm: &mut FsmSlice<'_, T>, cx: &T::Context<'_>) {
        let now = now::<T>(cx);
        // The exits of a state with `every` are tried only at its turns.
        let exits = if at.node.content.every.is_some() { &[] } else { &*at.node.content.exits };
        for base in (0..count).step_by(LANES) {
            let length = LANES.min(count - base);
            let mut block = Block::new(self, fsm, base, length);
            let mut resting = block.all() & !block.acted();
            // All owners that have not acted have the same path, so it is enough to look at one of them.
            if resting == 0 || !block.is_innermost(resting.trailing_zeros() as usize) {
                continue;
            }
            // Nearly all owners that are awake have only a short time to wait. This loop removes them from the lanes, which costs
            // less than a call of `rest` for each.
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

/// What a state does at the end of `enter` and `resume`.
impl<T: Owner> DefinedState<T> {
    /// Like [`wait`](Self::wait), but at the end of `enter`.
    pub(crate) fn wait_once_entered(
        &self,
        at: Here<'_, T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        if self.is_innermost_target(fsm) {
            self.wait(at, None, owner, fsm, cx);
        } else if let Some(every) = &at.node.content.every {
            // Other states are entered after this one. The innermost of them, or the first update, puts the owner to sleep.
            let number = match every {
                Interval::Fixed(every) => *every,
                varying => Self::varying_turn(varying, owner, fsm, cx),
            };
            fsm.note(SavedNote::Turn.key(), number);
            self.be_quiet(at, number, fsm);
        }
    }

    /// Declares that the state has nothing to do for `seconds` after its entry. A state that puts owners to sleep does not, because
    /// each tick may be the one that does so.
    pub(crate) fn be_quiet(&self, at: Here<'_, T>, seconds: f64, fsm: &mut Fsm<'_, T>) {
        if !(at.node.can_rest && self.is(fsm.view().current)) {
            fsm.be_quiet(seconds, at.graph.version);
        }
    }

    /// Whether no other state is entered after this one. A state with regions does not sleep before they have had their ticks.
    pub(crate) fn is_innermost_target(&self, fsm: &Fsm<'_, T>) -> bool {
        self.fixed.regions.is_empty() && fsm.target().is_some_and(|target| self.is(target))
    }

    /// Puts the owner to sleep if nothing must be evaluated soon.
    pub(crate) fn rest(&self, at: Here<'_, T>, fsm: &mut Fsm<'_, T>, cx: &T::Context<'_>) {
        let turn = self.turn(fsm).map(|turn| turn.after);
        if let Some(seconds) = self.rest_for(at, turn, fsm, cx) {
            fsm.sleep_for(seconds);
        }
    }

    /// Returns for how many seconds nothing must be evaluated for an owner in this state. The state's next turn comes after
    /// `turn` seconds in the state. `None` if something must be evaluated now or soon.
    fn rest_for(&self, at: Here<'_, T>, turn: Option<f64>, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> Option<f64> {
        let view = fsm.view();
        // A callback may have reloaded the file meanwhile.
        let is_outdated = at.graph.version != self.shared.version();
        if !self.is(view.current) || fsm.has_requests() || is_outdated {
            return None;
        }
        // The times of the clock, in seconds, at which the first of the exits that are tried in each tick opens, and at which the
        // first turn comes.
        let (mut next_exit, mut next_turn) = (f64::INFINITY, f64::INFINITY);
        let mut index = Some(self.fixed.index);
        // From this state outward: `can_rest` is true only if all of these states can rest.
        for depth in (0..=view.ancestors.len()).rev() {
            let Some(node) = index.map(|index| &at.graph.nodes[index]) else { break };
            index = node.fixed.parent;
            let entered_at = time_or_zero(view.entered_at(depth));
            if node.content.every.is_some() {
                // No turn is noted if a reload has given the state an `every` and the state has not been updated since.
                let is_own = depth == view.ancestors.len();
                let turn = if is_own { turn } else { fsm.noted(Scope::state(depth), SavedNote::Turn.key()) };
                next_turn = next_turn.min(opens_at(turn?, entered_at));
                continue;
            }
            let due = |opens: &Opening<T>| match opens {
                Opening::AtOnce | Opening::Cooled(_) => entered_at,
                // The value may change, so the exit is tried in each tick.
                Opening::At(_) => f64::NEG_INFINITY,
                Opening::After(after) => opens_at(*after, entered_at),
                // An exit without a noted time is tried in each tick.
                Opening::Kept(kept) => {
                    kept.seconds(depth, fsm).map_or(f64::NEG_INFINITY, |after| opens_at(after, entered_at))
                }
            };
            let dues = node.content.exits.iter().map(|exit| match &exit.opens {
                Opening::Cooled(cooldown) => due(&cooldown.opens).max(cooldown.ends(fsm)),
                opens => due(opens),
            });
            next_exit = dues.fold(next_exit, f64::min);
        }
        let now = now::<T>(cx);
        let due = next_exit.min(next_turn);
        (next_exit >= now + SHORTEST_REST && due > now).then_some(due - now)
    }
}
