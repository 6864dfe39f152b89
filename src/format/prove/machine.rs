//! A machine from the view of the proof: which exits are tried in which order, in which situations each exit is taken, and
//! where it leads. It follows the rules of `definition/decide`, but uses only the outline.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;
use std::rc::Rc;

use super::claim::{Claim, Quantity};
use super::configuration::{Configuration, Configurations};
use super::solver::{ClaimAnswer, Situation, Work, holds, is_apart, solve};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::action::WrittenAction;
use crate::format::choose::Choose;
use crate::format::expression::Comparison;
use crate::format::leads::Leads;
use crate::format::outline::{ExitId, ExitOutline, Outline, StateId, StateOutline};
use crate::format::problems::mistake::Mistake;

/// A machine of a file, with its findings so far.
pub(super) struct Machine<'o> {
    pub(super) outline: &'o Outline,
    pub(super) states: HashMap<&'o str, StateId>,
    /// Whether a script may change the state, or write a value.
    pub(super) has_script: bool,
    /// The values that the exits and states of the machine may write.
    pub(super) acted_on: ActedOn<'o>,
    /// Whether an exit suspends states or leads back, so that a state may be entered or resumed by a change whose path is
    /// unknown.
    pub(super) has_memory: bool,
    /// Whether the proof assumes that behaviors may refuse any change to or from their states, in any situation.
    pub(super) may_refuse: bool,
    /// Which states can be active together. `None` without regions, and if this is not known.
    pub(super) configurations: Option<Configurations>,
    /// Plays the witnesses of findings. `None` if the outline cannot be run.
    pub(super) stage: Option<Box<dyn Stage>>,
    /// The limit for the number of steps. All machines of the file share it.
    pub(super) work: &'o Work,
    pub(super) undecided: &'o RefCell<Undecided>,
    pub(super) found: RefCell<Vec<Sighting>>,
}

/// The values that some exits and states may write when states change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ActedOn<'o> {
    /// Whether actions of the game run, which may write any value.
    is_any: bool,
    values: BTreeSet<&'o str>,
}

impl<'o> ActedOn<'o> {
    pub(super) fn by(actions: impl Iterator<Item = &'o WrittenAction>) -> Self {
        let mut acted_on = Self::default();
        for action in actions {
            acted_on.is_any |= !action.sets;
            acted_on.values.insert(&action.name.text);
        }
        acted_on
    }

    pub(super) fn has(&self, value: &str) -> bool {
        self.is_any || self.values.contains(value)
    }
}

/// A finding: the mistake, and the witness that shows it.
pub(super) type Sighting = (Mistake, Option<Witness>);

/// The effect of an exit on a path.
pub(super) struct PathChange {
    /// How many of the outermost states stay active.
    pub(super) kept: usize,
    /// The states that are entered, outermost first.
    pub(super) entered: Vec<StateId>,
    /// Whether the change depends on the active states in regions beside the path.
    pub(super) depends_on_regions: bool,
}

/// The reason why an exit is never taken from a path, in any situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeverTaken {
    /// The target of the exit is already active.
    AlreadyThere,
    /// The change would leave this final state, to which the exit does not belong.
    Final(StateId),
}

/// How long the states of a path have been active.
#[derive(Clone, Copy)]
pub(super) enum StateTime<'a> {
    /// Each state for any time, but no state for longer than its ancestors.
    Varies,
    /// All states for the same time.
    Together,
    /// All states for this time, in seconds.
    Known(f64),
    /// Each active state for its own time, in seconds, and the time of the game's clock.
    Each(&'a [(StateId, f64)], f64),
}

/// The path of active states, and the time in each.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub(super) machine: &'a Machine<'a>,
    pub(super) path: &'a [StateId],
    pub(super) time: StateTime<'a>,
    /// The depth of the first state that has just been entered. In this state and those inside it, the time is 0, whatever
    /// `time` says.
    pub(super) fresh: usize,
    /// The states that are active with the path, if they are known.
    beside: Option<&'a Configuration>,
    /// Whether the innermost state is being entered, so that regions may not be open yet.
    is_entering: bool,
}

impl<'o> Machine<'o> {
    pub(super) fn at<'a>(&'a self, path: &'a [StateId], time: StateTime<'a>) -> Standing<'a> {
        Standing { machine: self, path, time, fresh: path.len(), beside: None, is_entering: false }
    }

    /// Searches for a situation in which a claim holds. In this situation, no state of `path` has been active for longer than
    /// its ancestors.
    pub(super) fn solve(&self, claim: &Claim, path: &[StateId]) -> ClaimAnswer {
        let ranges = &self.outline.ranges;
        if ranges.is_empty() {
            return solve(claim, path, self.work);
        }
        let mut limits = BTreeMap::new();
        claim.visit(&mut |(quantity, ..)| {
            if let Quantity::Number(value) = quantity {
                // Exits and states of the file may set a value outside of its range.
                let is_written = self.acted_on.values.contains(&**value) || self.outline.is_written(value);
                limits.extend(ranges.get(&**value).filter(|_| !is_written).map(|range| (value, range)));
            }
        });
        // A value that is not a number is neither below its range nor above it.
        let within = limits.into_iter().flat_map(|(value, (least, most))| {
            [(Comparison::Less, least), (Comparison::Greater, most)]
                .map(|(op, limit)| Claim::compared(Quantity::Number(value.clone()), op, *limit).negated())
        });
        solve(&Claim::all(iter::once(claim.clone()).chain(within)), path, self.work)
    }

    /// Returns a situation in which a claim holds. In this situation, a state may have been active for longer than its
    /// ancestors.
    pub(super) fn situation(&self, claim: &Claim) -> Option<Situation> {
        match self.solve(claim, &[]) {
            ClaimAnswer::Holds(situation) => Some(situation),
            _ => None,
        }
    }

    /// Returns a situation in which the claims `others` and `more` hold. `known` is a situation in which `others` hold.
    pub(super) fn further(
        &self,
        known: &Rc<Situation>,
        others: &[Rc<Claim>],
        more: &[Rc<Claim>],
    ) -> Option<Rc<Situation>> {
        let all = |claims: &[Rc<Claim>]| Claim::all(claims.iter().map(|claim| Claim::clone(claim)));
        if !self.work.spend(more.iter().map(|claim| claim.size()).sum()) {
            return None;
        }
        if more.iter().all(|claim| holds(claim, known) == Some(true)) {
            return Some(Rc::clone(known));
        }
        if !more.iter().all(|claim| is_apart(claim, known)) {
            return self.situation(&all(&[others, more].concat())).map(Rc::new);
        }
        self.extended(known, &all(more)).map(Rc::new)
    }

    /// Extends a situation with values for which a claim holds. The claim has no quantities in common with the situation.
    pub(super) fn extended(&self, known: &Situation, claim: &Claim) -> Option<Situation> {
        let mut situation = self.situation(claim)?;
        situation.extend(known.iter().map(|(quantity, number)| (quantity.clone(), *number)));
        Some(situation)
    }

    /// Plays rows on a machine that begins in a state: see [`Stage::play`].
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

    /// Returns the innermost state in which a change to the state `id` ends.
    pub(super) fn innermost(&self, id: StateId) -> StateId {
        iter::successors(Some(id), |id| self.state(*id).initial).last().unwrap_or(id)
    }

    /// Whether the script of a state may ask for a change.
    pub(super) fn may_ask(&self, of: StateId) -> bool {
        self.outline.script_may_lead(self.state(of))
    }

    /// Returns all exits of a state.
    pub(super) fn exits_of(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<> {
        (0..self.state(of).exits.len()).map(move |nth| ExitId { of, nth })
    }

    /// Returns the exits of a state that are also tried when it is entered.
    pub(super) fn always_of(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<'_, 'o> {
        self.exits_of(of).filter(|id| self.exit(*id).is_always)
    }

    /// Returns the exits of the global state, followed by those of the path from the outermost state inward.
    pub(super) fn exits_on(&self, path: &[StateId]) -> impl Iterator<Item = ExitId> {
        self.outline.global().into_iter().chain(path.iter().copied()).flat_map(|of| self.exits_of(of))
    }

    /// Returns the exits that are tried in a tick, in this order.
    pub(super) fn in_tick(&self, path: &[StateId]) -> Vec<ExitId> {
        self.exits_on(path).filter(|id| self.exit(*id).on.is_none()).collect()
    }

    /// Returns the exits that are tried when a state has been entered: its own exits with `always`, and, if a linked machine
    /// ends in this state, the exits that wait for this end.
    pub(super) fn at_entry(&self, of: StateId) -> impl Iterator<Item = ExitId> + use<'_, 'o> {
        let done = self.state(of).ends.map(|runs| self.exits_of(runs).filter(|id| self.exit(*id).is_done));
        self.always_of(of).chain(done.into_iter().flatten())
    }

    /// Returns the exits that are tried before the exit `id`. For an exit with a message, these are the exits to which the
    /// message is offered first, from the innermost state outward, and then to the global state.
    pub(super) fn before(&self, id: ExitId, path: &[StateId]) -> Vec<ExitId> {
        let mut tried = match self.exit(id).on() {
            // Between the states of a path in a region, other regions have their turns, and may write values.
            _ if self.is_in_region(path) => {
                self.exits_of(id.of).filter(|same| self.exit(*same).on() == self.exit(id).on()).collect()
            }
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

    /// Whether a behavior may write values after the exit `earlier` has been tried, and before the exit `id` is tried.
    pub(super) fn may_write_between(&self, path: &[StateId], earlier: ExitId, id: ExitId) -> bool {
        if earlier.of == id.of {
            return false;
        }
        let (from, to) = (Self::level(path, earlier.of), Self::level(path, id.of));
        // A message comes to the inner states first, and to the global state last.
        let mut levels = if from < to { from + 1..to + 1 } else { to..from };
        levels.any(|level| match level.checked_sub(1) {
            Some(depth) => self.acts(&path[depth..=depth]),
            None => self.acts(&self.outline.global()),
        })
    }

    /// Whether one of these states has a behavior, which may write values when the state is entered, updated or left.
    pub(super) fn acts<'s>(&self, states: impl IntoIterator<Item = &'s StateId>) -> bool {
        states.into_iter().any(|id| !self.state(*id).behaviors.is_empty())
    }

    /// Returns the level at which exits of a state are tried in a tick: 0 for the global state, then 1 for the outermost state,
    /// and so on.
    pub(super) fn level(path: &[StateId], of: StateId) -> usize {
        path.iter().position(|active| *active == of).map_or(0, |depth| depth + 1)
    }

    /// Returns the effect of an exit on a path, or why it is never taken there. While the state of the exit is being entered,
    /// `path` ends with this state.
    pub(super) fn change(&self, path: &[StateId], id: ExitId) -> Result<PathChange, NeverTaken> {
        let exit = self.exit(id);
        let is_own = path.last() == Some(&id.of);
        if !is_own && !exit.restarts && exit.to != id.of && path.contains(&exit.to) {
            return Err(NeverTaken::AlreadyThere);
        }
        let unknown = || PathChange { kept: path.len(), entered: Vec::new(), depends_on_regions: false };
        let change = match exit.leads {
            Leads::To => self.route(path, exit.to),
            // It is unknown how many states are left.
            Leads::Back | Leads::Resume => return Ok(unknown()),
            // A push or a pop in a region keeps the states around the region active.
            Leads::Push | Leads::Pop if self.is_in_region(path) => return Ok(unknown()),
            Leads::Push => PathChange { kept: 0, ..self.route(&[], exit.to) },
            Leads::Pop => PathChange { kept: 0, ..unknown() },
        };
        let is_inside = |of: StateId| id.of != of && self.outline.is_within(id.of, of);
        let is_end = |at: &&StateId| self.state(**at).is_final && self.state(**at).ends.is_none_or(is_inside);
        if !(exit.even_final || exit.is_done) {
            if let Some(end) = path[change.kept..].iter().rev().filter(|active| **active != id.of).find(is_end) {
                return Err(NeverTaken::Final(*end));
            }
        }
        Ok(change)
    }

    /// Returns the effect that a change to the state `to` has on a path.
    pub(super) fn route(&self, path: &[StateId], to: StateId) -> PathChange {
        let route = self.outline.path(to);
        let kept = path.iter().zip(&route[..route.len() - 1]).take_while(|(active, around)| active == around).count();
        let is_entered = |id: &StateId| kept == 0 || self.outline.is_within(*id, route[kept]);
        let entered = self.outline.entered(to).into_iter().filter(is_entered).collect();
        let has_regions = |id: &StateId| !self.state(*id).regions.is_empty();
        let is_beside = path[..kept].last().is_some_and(has_regions)
            && path.get(kept).is_some_and(|active| self.state(*active).region != self.state(route[kept]).region);
        // A change in another region leaves nothing on the path. A change that leaves other regions may be refused there.
        let depends_on_regions = is_beside || path[kept..].iter().any(has_regions);
        PathChange { kept: if is_beside { path.len() } else { kept }, entered, depends_on_regions }
    }

    /// Returns the innermost states in which a machine is after a change to a state: one in each region.
    pub(super) fn innermost_of(&self, to: StateId) -> Vec<StateId> {
        let entered = self.outline.entered(to);
        let has_inner = |id: &StateId| entered.iter().any(|inner| self.state(*inner).parent == Some(*id));
        entered.iter().copied().filter(|id| !has_inner(id)).collect()
    }

    /// Whether the innermost state of a path lies in a region.
    pub(super) fn is_in_region(&self, path: &[StateId]) -> bool {
        path.iter().any(|id| !self.state(*id).regions.is_empty())
    }

    /// Whether a state in another region may be active together with a path.
    pub(super) fn may_be_beside(&self, path: &[StateId], id: StateId) -> bool {
        let other = self.outline.path(id);
        let shared = path.iter().zip(&other).take_while(|(active, around)| active == around).count();
        let has_regions = path[..shared].last().is_some_and(|id| !self.state(*id).regions.is_empty());
        has_regions
            && other.get(shared).is_some_and(|beside| {
                path.get(shared).is_none_or(|active| self.state(*active).region != self.state(*beside).region)
            })
    }

    /// Returns the configurations of which a state is the first innermost one, so that each configuration is returned for only
    /// one state. Returns one unknown configuration if they are not known.
    pub(super) fn configurations_at(&self, at: StateId) -> impl Iterator<Item = Option<&Configuration>> {
        let all = self.configurations.as_ref().map(|known| &known.all);
        let with = all.into_iter().flatten().filter(move |known| known.innermost().first() == Some(&at));
        with.map(Some).chain(all.is_none().then_some(None))
    }

    /// Returns an `Asking` for conditions that are evaluated while any states may be active. `message` is the message that the
    /// exit waits for.
    pub(super) fn anywhere<'a>(&'a self, asker: Option<StateId>, message: Option<&'a str>) -> Asking<'a> {
        Asking { machine: self, at: None, asker, message }
    }
}

impl<'a> Standing<'a> {
    /// Returns the same path with the same times, except that the states from this depth on have just been entered.
    pub(super) fn entered(self, fresh: usize) -> Self {
        Self { fresh, ..self }
    }

    /// Returns the outer part of the path: the state at this depth is the innermost one, and is being entered.
    pub(super) fn up_to(self, depth: usize) -> Self {
        Self { path: &self.path[..=depth], is_entering: true, ..self }
    }

    /// Returns the same path while the states of a configuration are active, if it is known.
    pub(super) fn beside(self, configuration: impl Into<Option<&'a Configuration>>) -> Self {
        Self { beside: configuration.into(), ..self }
    }

    /// Whether a state in another region is active. `None` if it may be active or not.
    pub(super) fn is_beside(&self, id: StateId) -> Option<bool> {
        let known = match self.beside {
            Some(configuration) => Some(configuration.has(self.machine.outline, id)),
            None => self.machine.configurations.as_ref()?.is_beside(self.machine.outline, *self.path.last()?, id),
        };
        known.filter(|is_active| !(self.is_entering && *is_active))
    }

    /// Returns the time in a state in seconds, or the quantity if the time varies.
    pub(super) fn time_in(&self, id: StateId) -> Result<f64, Quantity> {
        match self.time {
            _ if self.path.iter().skip(self.fresh).any(|fresh| *fresh == id) => Ok(0.0),
            StateTime::Known(seconds) => Ok(seconds),
            StateTime::Each(times, _) => {
                Ok(times.iter().find(|(of, _)| *of == id).map_or(0.0, |(_, seconds)| *seconds))
            }
            StateTime::Together => Err(Quantity::Together),
            StateTime::Varies => Err(Quantity::Clock(id)),
        }
    }

    /// Returns the claim that an exit is taken when it is tried. It is not tried if the script of its state has asked for a
    /// change.
    pub(super) fn taken(&self, id: ExitId) -> Claim {
        let Ok(change) = self.machine.change(self.path, id) else { return Claim::NEVER };
        let claim = self.asked(id);
        if claim == Claim::NEVER {
            return claim;
        }
        let beside = change.depends_on_regions.then(|| self.asking(None, None).beside());
        let may_ask = self.machine.may_ask(id.of);
        let silent = may_ask.then(|| Claim::is(Quantity::Open(format!("script of {}", id.of).into())));
        Claim::all([claim, self.admitted(&change)].into_iter().chain(beside).chain(silent))
    }

    /// Returns the claim that an exit is taken, and that no earlier exit of the same state with the same `on` is taken.
    pub(super) fn led(&self, way: ExitId) -> Claim {
        let machine = self.machine;
        let same = machine.exits_of(way.of).take_while(|same| *same != way);
        let same = same.filter(|same| machine.exit(*same).on() == machine.exit(way).on());
        Claim::all([self.none_taken(same), self.taken(way)])
    }

    /// Returns the claim that an exit is taken in a tick. An exit of a state with `every` is not tried in each tick.
    pub(super) fn tried(&self, id: ExitId) -> Claim {
        let waits = self.machine.state(id.of).every.is_some();
        let turn = waits.then(|| Claim::is(Quantity::Open(format!("turn of {}", id.of).into())));
        Claim::all(turn.into_iter().chain([self.taken(id)]))
    }

    /// Returns the claim that the exit `earlier` is taken before the exit `id` is tried, whatever values behaviors write in
    /// between.
    pub(super) fn taken_before(&self, earlier: ExitId, id: ExitId) -> Claim {
        let is_in_tick = self.machine.exit(id).on.is_none();
        let taken = if is_in_tick { self.tried(earlier) } else { self.taken(earlier) };
        if self.machine.may_write_between(self.path, earlier, id) { taken.timed() } else { taken }
    }

    /// Returns the claim that none of these exits is taken when it is tried.
    pub(super) fn none_taken(&self, ids: impl IntoIterator<Item = ExitId>) -> Claim {
        Claim::all(ids.into_iter().map(|id| self.taken(id).negated()))
    }

    /// Returns the claim that none of these exits is taken in a tick.
    pub(super) fn none_tried(&self, ids: impl IntoIterator<Item = ExitId>) -> Claim {
        Claim::all(ids.into_iter().map(|id| self.tried(id).negated()))
    }

    /// Returns the claim that no exit is taken in a tick in which each state has its turn.
    pub(super) fn quiet(&self) -> Claim {
        self.none_taken(self.machine.in_tick(self.path))
    }

    /// Returns the claim that an exit has waited long enough, its condition holds, and its state chooses it.
    pub(super) fn asked(&self, id: ExitId) -> Claim {
        let exit = self.machine.exit(id);
        // Whether the exit is chosen, and where it leads back to, depends on the other exits and on the past.
        let is_chosen = self.machine.state(id.of).choose != Choose::First || exit.cooldown.is_some();
        let is_chosen = is_chosen || exit.leads != Leads::To;
        let chosen = is_chosen.then(|| self.asking(None, None).undecided(|undecided| undecided.has_choices = true));
        Claim::all([self.open(id)].into_iter().chain(chosen))
    }

    /// Returns the claim that an exit has waited long enough, and its condition holds.
    pub(super) fn open(&self, id: ExitId) -> Claim {
        let exit = self.machine.exit(id);
        let is_global = self.machine.outline.global() == Some(id.of);
        let has_regions = |id: &&StateId| !self.machine.state(**id).regions.is_empty();
        let current = || self.path.iter().find(has_regions).or(self.path.last()).copied();
        let asker = if is_global { current() } else { Some(id.of) };
        let asking = self.asking(asker, exit.on());
        let after = exit.after.as_ref().map_or(Claim::ALWAYS, |after| asking.after(after));
        let when = exit.when.as_deref().map_or(Claim::ALWAYS, |when| asking.when(when));
        let deadline = exit.at().map(|at| match self.time {
            StateTime::Each(_, now) => Claim::compared(Quantity::Number(at.into()), Comparison::LessOrEqual, now),
            _ => asking.undecided(|undecided| undecided.has_choices = true),
        });
        Claim::all([after, when].into_iter().chain(deadline))
    }

    /// Returns the claim that every state that a change leaves or enters allows the change.
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

/// Parts of conditions that could not be decided.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a kind of part that may be met")]
pub(super) struct Undecided {
    /// Comparisons of two quantities that both vary.
    pub(super) comparisons: BTreeSet<String>,
    pub(super) has_chances: bool,
    /// Exits that are chosen by a score or a weight, that have a cooldown, or that lead back.
    pub(super) has_choices: bool,
    pub(super) has_scripts: bool,
    pub(super) has_actions: bool,
    pub(super) has_durations: bool,
    /// Conditions on states in other regions.
    pub(super) has_regions: bool,
    /// How many parts could not be decided so far. Each has its own number.
    pub(super) count: usize,
}

/// The inputs of a condition besides the values: the active states, the state that asks, and the message.
pub(super) struct Asking<'a> {
    pub(super) machine: &'a Machine<'a>,
    /// The active states. `None` if any states may be active.
    pub(super) at: Option<Standing<'a>>,
    /// The state to which `time_in_state` refers.
    pub(super) asker: Option<StateId>,
    /// The message that has been sent.
    pub(super) message: Option<&'a str>,
}
