//! A machine as its proof sees it: which exits are tried in which order, what each of them claims of the situation, and where
//! it leads. It follows `decide`, on the outline alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::iter;

use super::claim::{Claim, Quantity};
use super::reading::{Asking, StateTime, Undecided};
use crate::format::outline::{ExitOutline, Outline, StateId, StateOutline};

/// A machine of a file.
pub(super) struct Machine<'o> {
    pub(super) outline: &'o Outline,
    states: HashMap<&'o str, StateId>,
    pub(super) undecided: RefCell<Undecided>,
    /// Whether a behavior may refuse a change to its state or out of it, whatever the situation is.
    may_refuse: bool,
}

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

/// The path of active states on which something is asked, and the time in each.
pub(super) struct Standing<'a> {
    pub(super) path: &'a [StateId],
    pub(super) time: &'a dyn Fn(StateId) -> StateTime,
}

impl<'o> Machine<'o> {
    pub(super) fn new(outline: &'o Outline, may_refuse: bool) -> Self {
        let states = outline.states().iter().map(|state| (state.name(), state.id())).collect();
        Self { outline, states, undecided: RefCell::default(), may_refuse }
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

    /// The exits that are tried in a tick, in this order: the exits of the global state, then from the outermost state's on.
    pub(super) fn in_tick(&self, path: &[StateId]) -> Vec<ExitId> {
        let states = self.outline.global().into_iter().chain(path.iter().copied());
        states.flat_map(|of| self.exits_of(of)).filter(|id| self.exit(*id).on.is_none()).collect()
    }

    /// The exits that are tried when a state has been entered: its own with `always`, and exits for the end of a machine that ends
    /// in it.
    pub(super) fn at_entry(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<'_, 'o> {
        let always = self.exits_of(of).filter(|id| self.exit(*id).is_always);
        let done = self.state(of).ends.map(|runs| self.exits_of(runs).filter(|id| self.exit(*id).is_done));
        always.chain(done.into_iter().flatten())
    }

    /// The exits that a message is offered to, in this order: from the innermost state's on, then the exits of the global state.
    pub(super) fn for_message(&self, path: &[StateId], message: &str) -> Vec<ExitId> {
        let states = path.iter().rev().copied().chain(self.outline.global());
        let waits = |id: &ExitId| {
            let exit = self.exit(*id);
            exit.on() == Some(message) && !exit.is_done
        };
        states.flat_map(|of| self.exits_of(of)).filter(waits).collect()
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

    /// That an exit is taken where it is tried.
    pub(super) fn taken(&self, id: ExitId, at: &Standing<'_>) -> Claim {
        match self.change(at.path, id) {
            Ok(change) => {
                let claim = self.asked(id, at);
                if claim == Claim::Never { claim } else { Claim::all([claim, self.admitted(&change, at)]) }
            }
            Err(_) => Claim::Never,
        }
    }

    /// That an exit is open and its condition holds.
    pub(super) fn asked(&self, id: ExitId, at: &Standing<'_>) -> Claim {
        let exit = self.exit(id);
        let is_global = self.outline.global() == Some(id.of);
        let asker = if is_global { at.path.last().copied() } else { Some(id.of) };
        let asking = self.asking(asker, exit.on(), at);
        let after = exit.after.as_ref().map_or(Claim::Always, |after| asking.after(after));
        Claim::all([after, exit.when.as_deref().map_or(Claim::Always, |when| asking.when(when))])
    }

    /// That every state which a change leaves and enters lets it be.
    pub(super) fn admitted(&self, change: &PathChange, at: &Standing<'_>) -> Claim {
        let asking = self.asking(None, None, at);
        let guards = change.entered.iter().filter_map(|id| self.state(*id).enter_when.as_deref());
        let mut asked = at.path.iter().skip(change.kept).chain(&change.entered);
        let may_refuse = self.may_refuse && asked.any(|id| !self.state(*id).behaviors.is_empty());
        let either = may_refuse.then(|| asking.open());
        Claim::all(guards.map(|guard| asking.when(guard)).chain(either))
    }

    /// That it is the turn of a state, where that is not so in each tick.
    pub(super) fn turn(&self, of: StateId) -> Claim {
        if self.state(of).every.is_none() { Claim::Always } else { Claim::is(Quantity::Open(format!("turn of {of}"))) }
    }

    pub(super) fn asking<'a>(
        &'a self,
        asker: Option<StateId>,
        message: Option<&'a str>,
        at: &'a Standing<'_>,
    ) -> Asking<'a> {
        Asking {
            states: &self.states,
            active: Some(at.path),
            asker,
            time: at.time,
            message,
            undecided: &self.undecided,
        }
    }

    /// What a condition claims wherever it is asked, in an exit that waits for a message or in none.
    pub(super) fn anywhere<'a>(&'a self, asker: Option<StateId>, message: Option<&'a str>) -> Asking<'a> {
        let Self { states, undecided, .. } = self;
        Asking { states, active: None, asker, time: &|id| clock(0)(id), message, undecided }
    }

    /// The times in the states of a path, each pair with the one first that is never longer.
    pub(super) fn order(path: &[StateId], moment: usize) -> Vec<(Quantity, Quantity)> {
        let clock = |id: StateId| Quantity::Clock(id, moment);
        let pairs = (0..path.len()).flat_map(|inner| (0..inner).map(move |outer| (inner, outer)));
        pairs.map(|(inner, outer)| (clock(path[inner]), clock(path[outer]))).collect()
    }
}

/// The time in a state, at one of several moments, of which nothing is known but its order.
pub(super) fn clock(moment: usize) -> impl Fn(StateId) -> StateTime {
    move |id| StateTime::Varies(Quantity::Clock(id, moment))
}
