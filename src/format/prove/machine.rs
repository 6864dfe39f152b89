//! A machine as its proof sees it: which exits are tried in which order, what each of them claims of the situation, and where
//! it leads. It follows `decide`, on the outline alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::iter;

use super::claim::{Claim, Quantity};
use super::reading::{Asking, Undecided};
use super::solver::{ClaimAnswer, Situation, Work, solve};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::outline::{ExitOutline, Outline, StateId, StateOutline};
use crate::format::problems::mistake::Mistake;

/// A machine of a file, and what its proof has found so far.
pub(super) struct Machine<'o> {
    pub(super) outline: &'o Outline,
    pub(super) states: HashMap<&'o str, StateId>,
    /// Whether a behavior may refuse a change to its state or out of it, whatever the situation is.
    pub(super) may_refuse: bool,
    /// Shows what is found. `None` if the outline cannot be run.
    pub(super) stage: Option<Box<dyn Stage>>,
    /// Shared by all machines of the file.
    pub(super) work: &'o Work,
    pub(super) undecided: &'o RefCell<Undecided>,
    pub(super) found: RefCell<Vec<Seen>>,
}

/// A finding: what is said of it, and where it can be seen.
pub(super) type Seen = (Mistake, Option<Witness>);

/// An exit of a state, by its place among that state's exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ExitId {
    pub(super) of: StateId,
    pub(super) nth: usize,
}

/// What an exit would do to a path.
pub(super) struct PathChange {
    /// How many of the outermost states stay active.
    pub(super) kept: usize,
    /// The states that are entered, outermost first.
    pub(super) entered: Vec<StateId>,
}

/// Why an exit is never taken from a path, whatever the situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeverTaken {
    AlreadyThere,
    Final(StateId),
}

/// For how long the states of a path have been active.
#[derive(Clone, Copy)]
pub(super) enum StateTime {
    /// Each for any time, but no state for longer than a state around it.
    Varies,
    /// All for the same time.
    Together,
    Known(f64),
}

/// The path of active states on which something is asked, and the time in each.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub(super) machine: &'a Machine<'a>,
    pub(super) path: &'a [StateId],
    pub(super) time: StateTime,
    /// The depth from which on the states have just been entered, whatever `time` says.
    pub(super) fresh: usize,
}

impl<'o> Machine<'o> {
    pub(super) fn at<'a>(&'a self, path: &'a [StateId], time: StateTime) -> Standing<'a> {
        Standing { machine: self, path, time, fresh: path.len() }
    }

    /// Looks for a situation in which a claim holds. The times in the states of the path are in order.
    pub(super) fn solve(&self, claim: &Claim, path: &[StateId]) -> ClaimAnswer {
        solve(claim, path, self.work)
    }

    /// A situation in which a claim holds, without an order of times.
    pub(super) fn situation(&self, claim: &Claim) -> Option<Situation> {
        match self.solve(claim, &[]) {
            ClaimAnswer::Holds(situation) => Some(situation),
            _ => None,
        }
    }

    /// Plays rows from a state on, as [`Stage::play`].
    pub(super) fn play(&self, from: Option<StateId>, rows: Vec<WitnessRow>, tick: f64, ticks: u32) -> Option<Witness> {
        self.stage.as_ref()?.play(from, rows, tick, ticks)
    }

    pub(super) fn report(&self, mistake: Mistake, witness: Option<Witness>) {
        self.found.borrow_mut().push((mistake, witness));
    }

    pub(super) fn state(&self, id: StateId) -> &'o StateOutline {
        self.outline.state(id)
    }

    pub(super) fn exit(&self, id: ExitId) -> &'o ExitOutline {
        &self.state(id.of).exits[id.nth]
    }

    /// The innermost state that a change to a state ends in.
    pub(super) fn innermost(&self, id: StateId) -> StateId {
        iter::successors(Some(id), |id| self.state(*id).initial).last().unwrap_or(id)
    }

    /// All exits of a state.
    pub(super) fn exits_of(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<> {
        (0..self.state(of).exits.len()).map(move |nth| ExitId { of, nth })
    }

    /// The exits of a state that are also tried as it is entered.
    pub(super) fn always_of(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<'_, 'o> {
        self.exits_of(of).filter(|id| self.exit(*id).is_always)
    }

    /// The exits of the global state, then from the outermost state's on.
    pub(super) fn exits_on(&self, path: &[StateId]) -> impl Iterator<Item = ExitId> {
        self.outline.global().into_iter().chain(path.iter().copied()).flat_map(|of| self.exits_of(of))
    }

    /// The exits that are tried in a tick, in this order.
    pub(super) fn in_tick(&self, path: &[StateId]) -> Vec<ExitId> {
        self.exits_on(path).filter(|id| self.exit(*id).on.is_none()).collect()
    }

    /// The exits that are tried when a state has been entered: its own with `always`, and exits for the end of a machine that ends
    /// in it.
    pub(super) fn at_entry(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<'_, 'o> {
        let done = self.state(of).ends.map(|runs| self.exits_of(runs).filter(|id| self.exit(*id).is_done));
        self.always_of(of).chain(done.into_iter().flatten())
    }

    /// The exits that are tried before one of them: in a tick, or where its message is offered, which is from the innermost
    /// state's on, and then to the exits of the global state.
    pub(super) fn before(&self, id: ExitId, path: &[StateId]) -> Vec<ExitId> {
        let mut tried = match self.exit(id).on() {
            None => self.in_tick(path),
            message => {
                let states = path.iter().rev().copied().chain(self.outline.global());
                let waits = |id: &ExitId| self.exit(*id).on() == message && !self.exit(*id).is_done;
                states.flat_map(|of| self.exits_of(of)).filter(waits).collect()
            }
        };
        tried.truncate(tried.iter().position(|other| *other == id).unwrap_or(tried.len()));
        tried
    }

    /// Where an exit is tried on a path: 0 for the global state, then from the outermost state on.
    pub(super) fn level(path: &[StateId], of: StateId) -> usize {
        path.iter().position(|active| *active == of).map_or(0, |depth| depth + 1)
    }

    /// What an exit would do to a path; `path` ends in the exit's own state while that is being entered.
    pub(super) fn change(&self, path: &[StateId], id: ExitId) -> Result<PathChange, NeverTaken> {
        let exit = self.exit(id);
        let is_own = path.last() == Some(&id.of);
        if !is_own && !exit.restarts && exit.to != id.of && path.contains(&exit.to) {
            return Err(NeverTaken::AlreadyThere);
        }
        let change = self.route(path, exit.to);
        let is_end = |id: &&StateId| self.state(**id).is_final;
        if !(exit.even_final || exit.is_done) {
            if let Some(end) = path[change.kept..].iter().rev().filter(|active| **active != id.of).find(is_end) {
                return Err(NeverTaken::Final(*end));
            }
        }
        Ok(change)
    }

    /// What a change to a state does to a path.
    pub(super) fn route(&self, path: &[StateId], to: StateId) -> PathChange {
        let mut route = self.outline.path(to);
        let around = route.len() - 1;
        route.extend(self.outline.descent(to).into_iter().skip(1));
        let kept = path.iter().zip(&route[..around]).take_while(|(active, around)| active == around).count();
        PathChange { kept, entered: route.split_off(kept) }
    }

    /// What a condition claims wherever it is asked, in an exit that waits for a message or in none.
    pub(super) fn anywhere<'a>(&'a self, asker: Option<StateId>, message: Option<&'a str>) -> Asking<'a> {
        Asking { machine: self, at: None, asker, message }
    }
}

impl<'a> Standing<'a> {
    /// The same, where the states from a depth on have just been entered.
    pub(super) fn entered(self, fresh: usize) -> Self {
        Self { fresh, ..self }
    }

    /// The same, while the state at a depth is the innermost one.
    pub(super) fn up_to(self, depth: usize) -> Self {
        Self { path: &self.path[..=depth], ..self }
    }

    /// The time in a state: how many seconds that is, or the quantity where it varies.
    pub(super) fn time_in(&self, id: StateId) -> Result<f64, Quantity> {
        match self.time {
            _ if self.path.iter().skip(self.fresh).any(|fresh| *fresh == id) => Ok(0.0),
            StateTime::Known(seconds) => Ok(seconds),
            StateTime::Together => Err(Quantity::Together),
            StateTime::Varies => Err(Quantity::Clock(id)),
        }
    }

    /// That an exit is taken where it is tried.
    pub(super) fn taken(&self, id: ExitId) -> Claim {
        let Ok(change) = self.machine.change(self.path, id) else { return Claim::NEVER };
        let claim = self.asked(id);
        if claim == Claim::NEVER { claim } else { Claim::all([claim, self.admitted(&change)]) }
    }

    /// That an exit is taken in a tick when its turn comes. An exit of a state with `every` does not have a turn in each tick.
    pub(super) fn tried(&self, id: ExitId) -> Claim {
        let waits = self.machine.state(id.of).every.is_some();
        let turn = waits.then(|| Claim::is(Quantity::Open(format!("turn of {}", id.of))));
        Claim::all(turn.into_iter().chain([self.taken(id)]))
    }

    /// That none of these exits is taken where it is tried.
    pub(super) fn none_taken(&self, ids: impl IntoIterator<Item = ExitId>) -> Claim {
        Claim::all(ids.into_iter().map(|id| self.taken(id).negated()))
    }

    /// That none of these exits is taken in a tick when its turn comes.
    pub(super) fn none_tried(&self, ids: impl IntoIterator<Item = ExitId>) -> Claim {
        Claim::all(ids.into_iter().map(|id| self.tried(id).negated()))
    }

    /// That no exit is taken in a tick, where each state has its turn.
    pub(super) fn quiet(&self) -> Claim {
        self.none_taken(self.machine.in_tick(self.path))
    }

    /// That an exit is open and its condition holds.
    pub(super) fn asked(&self, id: ExitId) -> Claim {
        let exit = self.machine.exit(id);
        let is_global = self.machine.outline.global() == Some(id.of);
        let asker = if is_global { self.path.last().copied() } else { Some(id.of) };
        let asking = self.asking(asker, exit.on());
        let after = exit.after.as_ref().map_or(Claim::ALWAYS, |after| asking.after(after));
        Claim::all([after, exit.when.as_deref().map_or(Claim::ALWAYS, |when| asking.when(when))])
    }

    /// That every state which a change leaves or enters allows it.
    pub(super) fn admitted(&self, change: &PathChange) -> Claim {
        let machine = self.machine;
        let asking = self.asking(None, None);
        let guards = change.entered.iter().filter_map(|id| machine.state(*id).enter_when.as_deref());
        let mut asked = self.path.iter().skip(change.kept).chain(&change.entered);
        let may_refuse = machine.may_refuse && asked.any(|id| !machine.state(*id).behaviors.is_empty());
        let either = may_refuse.then(|| asking.open());
        Claim::all(guards.map(|guard| asking.when(guard)).chain(either))
    }

    pub(super) fn asking(&self, asker: Option<StateId>, message: Option<&'a str>) -> Asking<'a> {
        Asking { at: Some(*self), ..self.machine.anywhere(asker, message) }
    }
}
