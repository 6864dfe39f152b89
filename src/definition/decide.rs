//! Decides which exit is taken. This is the only place for the decision: a tick, a message and an explanation all use it.

mod choose;
mod full;

use std::iter;
use std::ops::Range;

use smallvec::SmallVec;

use super::block::{Block, each};
use super::choice::Choice;
use super::graph::{Content, DefinedState, Exit, Graph};
use super::handle::{entry_of, toward};
use super::moment::Moment;
use super::opening::Opening;
use super::record::{Record, Trial, Unrecorded};
use super::values::{LANES, Lanes};
use crate::change::Guard;
use crate::format::expression::Comparison;
use crate::format::leads::Leads;
#[cfg(feature = "script")]
use crate::format::script::budget::Usage;
use crate::fsm::{Fsm, Request, View};
use crate::machine::seat::Path;
use crate::owner::{Owner, now};
use crate::slice::FsmSlice;
use crate::span::Span;
use crate::state::StateRef;

/// Decides which exit of one state is taken, on the current graph.
pub(crate) struct Decider<'g, T: Owner> {
    pub(crate) state: &'g DefinedState<T>,
    pub(crate) graph: &'g Graph<T>,
    /// How the state chooses among exits that hold, if it does not take the first one.
    pub(crate) choice: Option<&'g Choice<T>>,
    /// When the owner entered the state, in seconds, if it is known.
    pub(crate) entered_at: Option<f64>,
    /// Whether it is known that the state is the innermost active one, that no regions are open, and that nothing has been
    /// requested.
    pub(crate) is_innermost: bool,
    /// The message that was sent, if the exits wait for one.
    pub(crate) message: Option<&'g T::Message>,
    /// The usage of the state's scripts for the owner, if it is counted.
    #[cfg(feature = "script")]
    pub(crate) usage: Option<&'g Usage>,
}

impl<'g, T: Owner> Decider<'g, T> {
    pub(crate) fn new(state: &'g DefinedState<T>, graph: &'g Graph<T>) -> Self {
        Self {
            state,
            graph,
            choice: None,
            entered_at: None,
            is_innermost: false,
            message: None,
            #[cfg(feature = "script")]
            usage: None,
        }
    }

    /// Tries exits in order. Returns the first exit whose condition holds and whose change every guard allows. The exits after it
    /// are not tried, unless the state has a choice.
    #[inline]
    pub(crate) fn decide<'e>(
        &self,
        exits: impl IntoIterator<Item = &'e Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<Taken<'e, T>> {
        match self.choice {
            Some(choice) => self.choose(choice, &mut exits.into_iter(), owner, fsm, cx, record),
            None => self.take_first(exits, owner, fsm, cx, record),
        }
    }

    /// Like [`decide`](Self::decide), for a state without a choice.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that what the caller knows of the decider is not found out again")]
    pub(crate) fn take_first<'e>(
        &self,
        exits: impl IntoIterator<Item = &'e Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<Taken<'e, T>> {
        let mut moment = self.moment(fsm);
        for exit in exits {
            if !self.holds(exit, owner, &mut moment, cx, record) {
                record.tried(Trial::NoCondition);
                continue;
            }
            let (trial, to) = self.try_change(exit, owner, fsm, cx, record);
            record.tried(trial);
            match trial {
                Trial::Taken => return Some(Taken { exit, to }),
                Trial::Superseded => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the result of trying an exit whose condition holds, and its target.
    #[inline(never)]
    pub(super) fn try_change(
        &self,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> (Trial, StateRef<T>) {
        if self.is_innermost && exit.is_unguarded {
            return (Trial::Taken, self.graph.state(exit.to, &self.state.shared));
        }
        if exit.leads != Leads::To || fsm.view().has_elsewhere() {
            return self.try_full_change(exit, owner, fsm, cx, record);
        }
        let change = AskedChange::of(exit, self, fsm);
        (self.pass(&change, owner, fsm, cx, record), change.to)
    }

    /// Whether an exit is open and its condition holds. Sets in `moment` when the exit opened.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "usually this is all of a decision")]
    pub(super) fn holds(
        &self,
        exit: &Exit<T>,
        owner: &mut T,
        moment: &mut Moment<'_, '_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> bool {
        let opened = match &exit.opens {
            Opening::AtOnce => Some(0.0),
            Opening::After(after) => Self::opened(exit, *after, moment.entered_at(), cx, record),
            _ => self.open(exit, owner, moment.fsm, cx, record),
        };
        let Some(opened) = opened else { return false };
        moment.opened = opened;
        exit.when.as_ref().is_none_or(|when| when.holds(owner, cx, moment, record))
    }

    /// Returns the moment at which the conditions of exits are evaluated.
    #[inline]
    pub(super) fn moment<'m, 'f>(&'m self, fsm: &'m Fsm<'f, T>) -> Moment<'m, 'f, T> {
        Moment {
            message: self.message,
            entered_at: self.entered_at,
            #[cfg(feature = "script")]
            usage: self.usage,
            ..Moment::of(self.state, fsm)
        }
    }

    /// Returns how many seconds after the entry into the state an exit opened. `None` if the exit is not open yet.
    fn open(
        &self,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<f64> {
        Self::open_since(exit, entry_of(self.state, fsm), owner, fsm, cx, record)
    }

    /// Like [`open`](Self::open), with the depth of the state and the time of its entry already known.
    #[inline]
    fn open_since(
        exit: &Exit<T>,
        (depth, entered_at): (Option<usize>, f64),
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<f64> {
        let opens = match &exit.opens {
            Opening::Cooled(cooldown) => {
                if let Some(left) = cooldown.left(fsm, now::<T>(cx)) {
                    record.closed(&cooldown.written, left);
                    return None;
                }
                &cooldown.opens
            }
            opens => opens,
        };
        let after = match opens {
            Opening::AtOnce | Opening::Cooled(_) => return Some(0.0),
            Opening::At(at) => {
                let (opens_at, now) = (at.0.read(owner, cx), now::<T>(cx));
                let is_open = Span::of(0.0, now).has_passed(opens_at);
                if !is_open {
                    record.closed(&at.1, opens_at - now);
                }
                return is_open.then_some(0.0);
            }
            Opening::After(seconds) => *seconds,
            Opening::Kept(kept) => {
                let found = depth.and_then(|depth| kept.seconds(depth, fsm));
                found.unwrap_or_else(|| kept.otherwise(owner, cx))
            }
        };
        Self::opened(exit, after, entered_at, cx, record)
    }

    /// Returns `after` if an exit that opens `after` seconds after the entry into the state is open. `None` if it is not open
    /// yet.
    #[inline]
    fn opened(
        exit: &Exit<T>,
        after: f64,
        entered_at: f64,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<f64> {
        let now = now::<T>(cx);
        let is_open = Span::of(after, now).has_passed(entered_at);
        record.waited(&exit.after, after, now - entered_at, is_open);
        is_open.then_some(after)
    }

    /// Asks the guards about a change, and returns the result.
    #[inline]
    fn pass(
        &self,
        change: &AskedChange<'_, T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
        record: &mut impl Record,
    ) -> Trial {
        if change.is_already_there {
            return Trial::AlreadyThere;
        }
        let refused = toward(change.target(), fsm, |fsm| {
            // The deciding state is asked without a look-up.
            let leaves_own = change.is_own && change.left > 0 && self.graph.has(&self.state.fixed);
            if leaves_own && !self.graph.nodes[self.state.fixed.index].content.can_exit(owner, fsm, cx) {
                return Some(Trial::CannotExit(fsm.path().count() - 1));
            }
            // Nearly always, no other state is left.
            let others = if change.left > usize::from(leaves_own) { change.left } else { 0 };
            for (up, state) in fsm.path().rev().enumerate().take(others).skip(leaves_own.into()) {
                let refused = self.refuses(state, fsm.path().count() - 1 - up, change.exit, owner, fsm, cx);
                if refused.is_some() {
                    return refused;
                }
            }
            let can_enter =
                |index: usize, record: &mut _| self.graph.nodes[index].content.can_enter(owner, fsm, cx, record);
            let shut = change.entered().iter().find(|index| !can_enter(**index, record));
            shut.map(|index| Trial::CannotEnter(*index))
        });
        if let Some(refused) = refused {
            return refused;
        }
        self.taken_or_superseded(change.is_own, fsm)
    }

    /// Returns why an exit does not lead out of an active state: the state is final, or cannot be left. `at` is its index
    /// among the active states.
    pub(super) fn refuses(
        &self,
        state: &StateRef<T>,
        at: usize,
        exit: &Exit<T>,
        owner: &T,
        fsm: &Fsm<'_, T>,
        cx: &T::Context<'_>,
    ) -> Option<Trial> {
        let content = self.content_of(state);
        if content.is_some_and(|content| self.protects(state, content, exit)) {
            return Some(Trial::Final(at));
        }
        let can_exit = match content {
            Some(content) => content.can_exit(owner, fsm, cx),
            None => state.can_exit(owner, fsm, cx),
        };
        (!can_exit).then_some(Trial::CannotExit(at))
    }

    /// Returns the result for an exit that no guard refuses. If the behavior has requested or made a change, this change takes
    /// precedence over the exits. `is_own` says whether the deciding state is the innermost one.
    #[inline]
    pub(super) fn taken_or_superseded(&self, is_own: bool, fsm: &Fsm<'_, T>) -> Trial {
        let is_left = !is_own && self.state.is_left(fsm);
        if is_left || self.graph.asks_for_change(self.state.fixed.index, fsm) {
            Trial::Superseded
        } else {
            Trial::Taken
        }
    }

    /// Whether a state that the change leaves is final, while the exit belongs to another state and does not have `even_final`.
    /// Then the change is refused. The end of a linked machine refuses only exits of this machine's own states.
    pub(super) fn protects(&self, state: &StateRef<T>, content: &Content<T>, exit: &Exit<T>) -> bool {
        content.is_final
            && !exit.even_final
            && !self.state.is(state)
            && content.ends.is_none_or(|of| self.is_inside(of))
    }

    /// Whether the deciding state is inside the state at this index.
    fn is_inside(&self, of: usize) -> bool {
        let parent = |index: &usize| self.graph.nodes[*index].fixed.parent;
        iter::successors(self.state.fixed.parent, parent).any(|index| index == of)
    }

    pub(super) fn content_of(&self, state: &StateRef<T>) -> Option<&'g Content<T>> {
        Some(&self.graph.nodes[self.graph.index_of(state)?].content)
    }
}

/// The same decision for many owners.
impl<'g, T: Owner> Decider<'g, T> {
    /// Decides for each owner of a slice, and requests the changes of the owners that take an exit, in the order of the owners.
    ///
    /// It is [`decide`](Self::decide) for each owner, compiled for a special case: each condition and each guard is evaluated
    /// for up to 64 owners before the next one. No decision reads anything that the decision of another owner writes, so the
    /// order of the owners does not matter. A table of 200 timed states takes 15 ns per owner and tick this way, and 40 ns with
    /// one machine per owner. `tests/definition/decisions.rs` compares the two.
    pub(crate) fn decide_each(
        &self,
        exits: &'g [Exit<T>],
        owners: &mut [T],
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        let mut planned = Plans::new();
        for (nth, owners) in owners.chunks_mut(LANES).enumerate() {
            let mut block = Block::new(self.state, fsm, nth * LANES, owners.len());
            self.decide_block(exits, owners, (block.all(), &mut block), &mut planned, cx);
        }
    }

    /// Decides for the owners of `asked`.
    pub(crate) fn decide_block(
        &self,
        exits: &'g [Exit<T>],
        owners: &mut [T],
        (asked, block): (Lanes, &mut Block<'_, '_, T>),
        planned: &mut Plans<'g, T>,
        cx: &mut T::Context<'_>,
    ) {
        // All owners that have not acted still have the path that they had before the callback, and this path is the same for
        // all of them.
        let acted = block.acted();
        let mut staying = asked;
        let mut leaving: Lanes = 0;
        let mut taken = [0_u16; LANES];
        for (i, exit) in exits.iter().enumerate() {
            if staying == 0 {
                break;
            }
            let open = match &exit.opens {
                Opening::AtOnce => staying,
                Opening::After(after) => {
                    block.compare_times(staying, Comparison::GreaterOrEqual, Span::of(*after, now::<T>(cx)))
                }
                Opening::Kept(_) | Opening::Cooled(_) | Opening::At(_) => {
                    let together = staying & !acted;
                    let depth = if together == 0 { None } else { block.depth(together.trailing_zeros() as usize) };
                    let entries = block.entries(together);
                    block.ask_each(staying, |lane, fsm| {
                        let (owner, record) = (&owners[lane], &mut Unrecorded);
                        let opened = if together & 1 << lane == 0 {
                            self.open(exit, owner, fsm, cx, record)
                        } else {
                            Self::open_since(exit, (depth, entries[lane]), owner, fsm, cx, record)
                        };
                        opened.is_some()
                    })
                }
            };
            let holding = match &exit.when {
                Some(when) if open != 0 => when.holding(open, owners, cx, block),
                _ => open,
            };
            if holding == 0 {
                continue;
            }
            let mut passing = 0;
            for lane in each(holding & acted) {
                let fsm = block.at(lane);
                match self.try_change(exit, &owners[lane], fsm, cx, &mut Unrecorded).0 {
                    Trial::Taken => passing |= 1 << lane,
                    Trial::Superseded => staying &= !(1 << lane),
                    _ => {}
                }
            }
            let resting = holding & !acted;
            if resting != 0 {
                let first = resting.trailing_zeros() as usize;
                let known = planned.iter().position(|(of, _)| *of == i);
                let at = known.unwrap_or_else(|| {
                    planned.truncate(planned.inline_size() - 1);
                    planned.push((i, Planned::of(exit, self, first, block)));
                    planned.len() - 1
                });
                passing |= self.passing(&planned[at].1, resting, owners, block, cx);
            }
            staying &= !passing;
            leaving |= passing;
            each(passing).for_each(|lane| taken[lane] = u16::try_from(i).unwrap_or(u16::MAX));
        }
        for lane in each(leaving) {
            let i = usize::from(taken[lane]);
            match planned.iter().find(|(of, _)| *of == i) {
                Some((_, plan)) => block.change(lane, plan.number, &plan.change.to),
                None => block.change(lane, None, &self.graph.state(exits[i].to, &self.state.shared)),
            }
        }
    }

    /// Like [`pass`](Self::pass), for the lanes of a block whose owners have no request. Returns the lanes for which the result
    /// is `Taken`.
    fn passing(
        &self,
        Planned { change, exited, .. }: &Planned<'_, T>,
        asked: Lanes,
        owners: &[T],
        block: &mut Block<'_, '_, T>,
        cx: &T::Context<'_>,
    ) -> Lanes {
        if change.is_already_there {
            return 0;
        }
        let mut passing = asked;
        for state in exited {
            let asks = match self.content_of(state) {
                Some(content) => content.behaviour.as_ref(),
                None => Some(state),
            };
            if self.content_of(state).is_some_and(|content| self.protects(state, content, change.exit)) {
                return 0;
            }
            if let Some(asks) = asks.filter(|_| passing != 0) {
                passing = block.ask_guards(passing, change.target(), |movers, fsm, refuse| {
                    asks.guard_each(Guard::CanExit, owners, movers, fsm, cx, refuse);
                });
            }
        }
        for &index in change.entered() {
            let content = &self.graph.nodes[index].content;
            if let Some(when) = &content.enter_when {
                passing = block.ask_each(passing, |lane, fsm| when.admits(&owners[lane], fsm, cx, &mut Unrecorded));
            }
            if let Some(behaviour) = content.behaviour.as_ref().filter(|_| passing != 0) {
                passing = block.ask_guards(passing, change.target(), |movers, fsm, refuse| {
                    behaviour.guard_each(Guard::CanEnter, owners, movers, fsm, cx, refuse);
                });
            }
        }
        passing
    }
}

/// The exit that is taken.
pub(crate) struct Taken<'e, T: Owner> {
    pub(crate) exit: &'e Exit<T>,
    pub(crate) to: StateRef<T>,
}

impl<T: Owner> Taken<'_, T> {
    /// Requests the change with the actions of the exit, and notes when the exit may be taken again.
    #[inline]
    pub(crate) fn request(
        self,
        decider: &Decider<'_, T>,
        owner: &mut T,
        fsm: &mut Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        if self.exit.is_plain {
            fsm.change_state(self.to);
        } else {
            self.request_more(decider, owner, fsm, cx);
        }
    }

    #[inline(never)]
    fn request_more(self, decider: &Decider<'_, T>, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        if let Opening::Cooled(cooldown) = &self.exit.opens {
            cooldown.begin(owner, fsm, cx);
        }
        let request = match self.exit.leads {
            Leads::To => Request::change(self.to),
            Leads::Back => Request::Revert,
            Leads::Push => Request::Push(self.to),
            Leads::Pop => Request::Pop,
            Leads::Resume => Request::Resume(self.to),
        };
        let state = || decider.graph.state(decider.state.fixed.index, &decider.state.shared);
        let action = self.exit.actions.as_ref().map(|actions| actions.of_change(state(), decider.message));
        fsm.ask_with(request, action);
    }
}

/// The change that an exit requests to the state that it names, while no regions are open.
struct AskedChange<'e, T: Owner> {
    exit: &'e Exit<T>,
    to: StateRef<T>,
    /// The initial descendant in which the change ends, if there is one.
    innermost: Option<StateRef<T>>,
    /// Whether the deciding state is the innermost one.
    is_own: bool,
    /// Whether the target is already active, so that no change is made. It is `false` if the exit restarts its target, leads to
    /// the deciding state itself, or belongs to the innermost state.
    is_already_there: bool,
    /// How many states the change leaves, counted from the innermost one.
    left: usize,
    /// Which states of the exit's route the change enters.
    entered: Range<usize>,
}

impl<'e, T: Owner> AskedChange<'e, T> {
    fn of(exit: &'e Exit<T>, decider: &Decider<'_, T>, fsm: &Fsm<'_, T>) -> Self {
        let Decider { state, graph, .. } = decider;
        if let ([to], View { current, ancestors: [], .. }) = (&*exit.route, fsm.view()) {
            if state.is(current) {
                // The most frequent case in tables: from the only active state to a state without parent and initial child. The
                // result is the same as below.
                let to = graph.state(*to, &state.shared);
                return Self {
                    exit,
                    to,
                    innermost: None,
                    is_own: true,
                    is_already_there: false,
                    left: 1,
                    entered: 0..1,
                };
            }
        }
        let path = fsm.path();
        let is_own = path.clone().next_back().is_some_and(|current| state.is(current));
        let is_active = |index| path.clone().any(|active| graph.index_of(active) == Some(index));
        let is_already_there = !is_own && !exit.restarts && exit.to != state.fixed.index && is_active(exit.to);
        // A change leaves and enters all states below the states that the old and the new path share (rule 6). The target
        // itself is always entered.
        let around = &exit.route[..exit.above];
        let kept =
            path.clone().zip(around).take_while(|(active, index)| graph.index_of(active) == Some(**index)).count();
        let find = |index| graph.state(index, &state.shared);
        Self {
            exit,
            to: find(exit.to),
            innermost: (exit.innermost != exit.to).then(|| find(exit.innermost)),
            is_own,
            is_already_there,
            left: path.count() - kept,
            entered: kept..exit.route.len(),
        }
    }

    /// Returns the innermost state that the change leads to.
    fn target(&self) -> &StateRef<T> {
        self.innermost.as_ref().unwrap_or(&self.to)
    }

    /// Returns the states that the change enters, outermost first.
    fn entered(&self) -> &'e [usize] {
        &self.exit.route[self.entered.clone()]
    }
}

/// The plans for some exits of a state, each with the index of the exit. The number is limited because a tick must not
/// allocate.
pub(crate) type Plans<'e, T> = SmallVec<[(usize, Planned<'e, T>); 4]>;

/// The change of an exit, computed once for many owners with the same path.
pub(crate) struct Planned<'e, T: Owner> {
    change: AskedChange<'e, T>,
    /// The states that the change leaves, innermost first.
    exited: Path<T>,
    /// The number of the target in the machines, if it has one: see [`Block::number_of`].
    number: Option<u32>,
}

impl<'e, T: Owner> Planned<'e, T> {
    /// Computes the change for the owner of a lane.
    fn of(exit: &'e Exit<T>, decider: &Decider<'_, T>, lane: usize, block: &mut Block<'_, '_, T>) -> Self {
        let fsm = block.at(lane);
        let change = AskedChange::of(exit, decider, fsm);
        let exited = fsm.path().rev().take(change.left).cloned().collect();
        let number = block.number_of(&change.to);
        Self { change, exited, number }
    }
}
