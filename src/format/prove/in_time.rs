//! Decides properties with `within`: whether a state in which the time runs is always left in time, and does not begin again
//! in the same tick.

use std::collections::{BTreeMap, BTreeSet};
use std::{iter, slice};

use super::claim::{Claim, Quantity};
use super::configuration::Configuration;
use super::machine::{ActedOn, Machine, StateTime};
use super::reach::{Reached, has_code};
use super::solver::ClaimAnswer;
use crate::format::choose::Choose;
use crate::format::expression::Comparison;
use crate::format::leads::Leads;
use crate::format::outline::{ExitId, StateId};
use crate::format::property::PropertyRule;
use crate::span::Span;

/// The maximum number of innermost states for which the targets of exits with `"$previous"` are determined.
const MOST_WITH_BEFORE: usize = 300;

/// What can still happen before the end of the tick in which a state is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// Messages, and a whole tick.
    Tick,
    /// The turns of the states from this level on: see [`Machine::level`].
    Turns(usize),
    /// Only changes that code makes, and exits that are tried at an entry.
    Entry,
}

/// A property with `within`, and the machine for which it is to be proved.
pub(super) struct InTime<'m> {
    machine: &'m Machine<'m>,
    reached: &'m Reached,
    rule: &'m PropertyRule,
    within: f64,
    /// For each state that may be active while the time runs, why it may not be left in time. The text is empty if its exits give
    /// no reason. `None` if the state is certainly left in time.
    late: BTreeMap<StateId, Option<String>>,
    /// For each innermost state, the innermost states that may have been active before the last change. Empty if they are not
    /// known.
    before: BTreeMap<StateId, BTreeSet<StateId>>,
}

/// Returns what the property depends on. `None` if `reach` certainly holds in time.
pub(super) fn late(machine: &Machine<'_>, reached: &Reached, rule: &PropertyRule, within: f64) -> Option<String> {
    // If the time passes at once, there is no tick in which `reach` could hold.
    if within.is_nan() || Span::of(within, 0.0).has_passed(0.0) {
        return Some("on whether `reach` holds in each tick in which `from` holds".into());
    }
    if !reached.free.is_empty() {
        return Some("on the changes for which scripts and behaviors ask".into());
    }
    let mut in_time = InTime { machine, reached, rule, within, late: BTreeMap::new(), before: BTreeMap::new() };
    if machine.has_memory && !machine.outline.has_regions() && reached.innermost.len() <= MOST_WITH_BEFORE {
        in_time.find_before();
    }
    reached.tick_ends.iter().find_map(|(at, _)| {
        let path = machine.outline.path(*at);
        machine.configurations_at(*at).find_map(|configuration| {
            let standing = machine.at(&path, StateTime::Varies).beside(configuration);
            if machine.solve(&rule.broken(standing), &path) == ClaimAnswer::Never {
                return None;
            }
            in_time.late_in(configuration.map_or(slice::from_ref(at), Configuration::innermost))
        })
    })
}

impl InTime<'_> {
    /// Returns why none of the states that are active with these innermost ones is certainly left in time. `None` if one is.
    fn late_in(&mut self, innermost: &[StateId]) -> Option<String> {
        let machine = self.machine;
        let mut known = None;
        for of in innermost.iter().flat_map(|at| machine.outline.path(*at)) {
            if !self.late.contains_key(&of) {
                let late = self.late_of(of);
                self.late.insert(of, late);
            }
            match self.late[&of].as_ref() {
                None => return None,
                Some(why) => known = known.or(Some(why.clone()).filter(|why| !why.is_empty())),
            }
        }
        let names: Vec<_> = innermost.iter().map(|id| format!("`{}`", machine.state(*id).name())).collect();
        let alone = if machine.outline.has_regions() && machine.configurations.is_none() {
            ", and on the states in other regions, because each region was looked at alone"
        } else {
            ""
        };
        let why =
            known.unwrap_or_else(|| format!("on whether {} is left within {} s", names.join(" or "), self.within));
        Some(format!("{why}{alone}"))
    }

    /// Returns why a state may not be left in time, or may begin again in the tick in which it is left.
    fn late_of(&self, of: StateId) -> Option<String> {
        let Self { machine, reached, .. } = *self;
        let depth = machine.outline.path(of).len() - 1;
        let inside = reached.active_with(machine, of);
        for at in inside {
            let path = machine.outline.path(*at);
            let runs_code = path.iter().copied().chain(machine.outline.global()).any(|id| has_code(machine.state(id)));
            let is_innermost = *at == of;
            // Code may put the machine to sleep in a tick in which the global state is updated, and may send messages between the
            // turns of the states.
            if runs_code && (machine.outline.global().is_some() || !is_innermost) {
                return Some(String::new());
            }
            let acts = reached.has_code || machine.acted_on != ActedOn::default();
            // Values may be written between the turns, and before the end of the tick.
            let is_timed = runs_code || acts && (!is_innermost || machine.is_in_region(&path));
            let Some(stays) = self.stays(&path, depth, is_timed) else { return Some(String::new()) };
            let lasts = Claim::compared(Quantity::Clock(of), Comparison::GreaterOrEqual, self.within);
            let unmet = is_innermost.then(|| self.rule.unmet(machine.at(&path, StateTime::Varies)));
            let claim = Claim::all([stays, lasts].into_iter().chain(unmet));
            if machine.solve(&claim, &path) != ClaimAnswer::Never {
                return Some(self.leads_back_in(&path[..=depth]).unwrap_or_default());
            }
        }
        self.begins_again(of, depth)
    }

    /// Returns the claim that a tick that begins on a path does not leave the state at a depth. `None` if an exit
    /// that does not leave the state may be taken before others.
    fn stays(&self, path: &[StateId], depth: usize, is_timed: bool) -> Option<Claim> {
        let machine = self.machine;
        let mut stays = Vec::new();
        for id in machine.in_tick(path).into_iter().filter(|id| Machine::level(path, id.of) <= depth + 1) {
            if !self.reached.taken.contains(&id) || machine.change(path, id).is_err() {
                continue;
            }
            if self.targets(id, path).into_iter().any(|to| self.kept(id, path, to) > depth) {
                return None;
            }
            let at = machine.at(path, StateTime::Varies);
            let taken = if self.surely_leads(id, path) { at.open(id) } else { at.tried(id) };
            stays.push(if is_timed { taken.timed() } else { taken }.negated());
        }
        Some(Claim::all(stays))
    }

    /// Returns what decides whether a tick in which a state is left ends in this state again, or in another state in which
    /// `reach` does not hold. `None` if this certainly does not happen.
    fn begins_again(&self, of: StateId, depth: usize) -> Option<String> {
        let Self { machine, reached, .. } = *self;
        let outline = machine.outline;
        let mut waiting: Vec<_> = reached.active_with(machine, of).iter().map(|at| (*at, Left::Tick, false)).collect();
        let mut known: BTreeSet<_> = waiting.iter().copied().collect();
        // The game may change to these states between two ticks.
        for entry in outline.states().iter().filter(|state| state.is_entry()) {
            let is_kept = |at: &StateId| machine.route(&outline.path(*at), entry.id()).kept > depth;
            let leaves = !reached.active_with(machine, of).iter().all(is_kept);
            for to in machine.innermost_of(entry.id()).into_iter().filter(|_| leaves) {
                if self.is_unmet(to) {
                    return Some(format!("on when the game's code changes to `{}`", entry.name()));
                }
                if known.insert((to, Left::Tick, true)) {
                    waiting.push((to, Left::Tick, true));
                }
            }
        }
        while let Some((at, left, has_left)) = waiting.pop() {
            let path = outline.path(at);
            let beside = outline.states().iter().map(|state| state.id()).filter(|id| machine.may_be_beside(&path, *id));
            let exits = machine.exits_on(&path).chain(beside.flat_map(|of| machine.exits_of(of)));
            for id in exits.filter(|id| reached.taken.contains(id)) {
                let exit = machine.exit(id);
                let is_at_entry = exit.is_always || exit.is_done;
                let is_message = exit.on.is_some() && !exit.is_done;
                let is_on = path.contains(&id.of) || outline.global() == Some(id.of);
                let may_be = match left {
                    _ if is_at_entry => true,
                    _ if is_message && reached.has_code => true,
                    Left::Tick => true,
                    Left::Turns(level) => !is_message && (!is_on || Machine::level(&path, id.of) >= level),
                    Left::Entry => false,
                };
                if !may_be || !is_at_entry && is_on && machine.change(&path, id).is_err() {
                    continue;
                }
                for to in self.targets(id, &path) {
                    if machine.may_be_beside(&path, to) || !has_left && self.kept(id, &path, to) > depth {
                        continue;
                    }
                    if self.is_unmet(to) {
                        return Some(self.leads_back(id));
                    }
                    let is_last = path.last() == Some(&id.of) && !machine.is_in_region(&path);
                    let next = match left {
                        // The turn that comes next is the same as before.
                        _ if is_message || is_at_entry => left,
                        Left::Entry => left,
                        _ if is_last => Left::Entry,
                        Left::Tick if !is_on => Left::Turns(0),
                        Left::Turns(_) if !is_on => left,
                        _ => Left::Turns(Machine::level(&path, id.of) + 1),
                    };
                    let leads_on = outline.path(to).iter().any(|id| machine.at_entry(*id).next().is_some());
                    let goes_on = next != Left::Entry || leads_on || reached.has_code;
                    if goes_on && known.insert((to, next, true)) {
                        waiting.push((to, next, true));
                    }
                }
            }
        }
        None
    }

    fn is_unmet(&self, at: StateId) -> bool {
        let path = self.machine.outline.path(at);
        let unmet = self.rule.unmet(self.machine.at(&path, StateTime::Varies));
        self.machine.solve(&unmet, &path) != ClaimAnswer::Never
    }

    /// Returns the innermost states to which an exit may lead from a path.
    fn targets(&self, id: ExitId, path: &[StateId]) -> Vec<StateId> {
        let Self { machine, reached, .. } = *self;
        let exit = machine.exit(id);
        match exit.leads {
            Leads::To | Leads::Push => machine.innermost_of(exit.to),
            Leads::Resume => reached.active_with(machine, exit.to).to_vec(),
            Leads::Back | Leads::Pop if machine.outline.has_regions() => reached.innermost.clone(),
            Leads::Back => match path.last() {
                Some(at) if !self.before.is_empty() => self.before.get(at).into_iter().flatten().copied().collect(),
                _ => reached.innermost.clone(),
            },
            Leads::Pop => self.suspended(),
        }
    }

    /// Returns the innermost states that a push may suspend.
    fn suspended(&self) -> Vec<StateId> {
        let Self { machine, reached, .. } = *self;
        let pushes = reached.taken.iter().filter(|id| machine.exit(**id).leads == Leads::Push);
        let suspended: BTreeSet<_> = pushes.flat_map(|id| reached.active_with(machine, id.of)).copied().collect();
        suspended.into_iter().collect()
    }

    /// Finds, for each innermost state, the innermost states that may have been active before the last change.
    fn find_before(&mut self) {
        let Self { machine, reached, .. } = *self;
        let taken = || reached.taken.iter().filter(|id| machine.exit(**id).leads != Leads::Back);
        let mut waiting: Vec<(StateId, StateId)> = Vec::new();
        for id in taken() {
            for to in self.targets(*id, &[]) {
                waiting.extend(reached.active_with(machine, id.of).iter().map(|from| (*from, to)));
            }
        }
        let begun = reached.innermost.iter().filter(|at| self.is_begun(**at));
        waiting.extend(begun.flat_map(|to| reached.innermost.iter().map(|from| (*from, *to))));
        let back: BTreeSet<_> = reached.taken.iter().filter(|id| machine.exit(**id).leads == Leads::Back).collect();
        let back: BTreeSet<_> = back.into_iter().flat_map(|id| reached.active_with(machine, id.of)).collect();
        while let Some((from, to)) = waiting.pop() {
            let is_new = self.before.entry(to).or_default().insert(from);
            if is_new && back.contains(&to) {
                waiting.push((to, from));
            }
        }
    }

    /// Whether a machine may begin in a state, or the game's code may change to it.
    fn is_begun(&self, at: StateId) -> bool {
        let outline = self.machine.outline;
        let entries = outline.states().iter().filter(|state| state.is_entry()).map(|state| state.id());
        entries.chain(iter::once(outline.initial())).any(|to| self.machine.innermost_of(to).contains(&at))
    }

    /// Returns how many of the outermost states of a path stay active if an exit leads to the innermost state `to`.
    fn kept(&self, id: ExitId, path: &[StateId], to: StateId) -> usize {
        let exit = self.machine.exit(id);
        match exit.leads {
            Leads::Push | Leads::Pop => 0,
            Leads::Back => self.machine.route(path, to).kept,
            Leads::To | Leads::Resume => self.machine.route(path, exit.to).kept,
        }
    }

    /// Whether an exit that leads back certainly changes the state as soon as it is open.
    fn surely_leads(&self, id: ExitId, path: &[StateId]) -> bool {
        let Self { machine, reached, .. } = *self;
        let (exit, of) = (machine.exit(id), machine.state(id.of));
        let is_asked = of.choose != Choose::First || exit.cooldown.is_some() || of.every.is_some();
        if is_asked || machine.may_ask(id.of) || machine.outline.has_regions() || exit.leads == Leads::Push {
            return false;
        }
        let outer = path[0];
        let is_inside = |at: &StateId| reached.active_with(machine, outer).contains(at);
        let targets = self.targets(id, path);
        let is_there = match exit.leads {
            Leads::To | Leads::Push => false,
            Leads::Resume => true,
            Leads::Back => {
                !path.last().is_some_and(|at| self.is_begun(*at)) && !targets.iter().any(|to| path.contains(to))
            }
            // If only pushes and pops lead into these states, there is a suspended state to which the pop can lead back.
            Leads::Pop => {
                let mut inside = reached.active_with(machine, outer).iter();
                let leads_in = |way: &ExitId| {
                    let is_own = machine.outline.path(way.of).first() == Some(&outer);
                    !is_own && self.targets(*way, &[]).iter().any(is_inside)
                };
                let is_push = |way: &ExitId| matches!(machine.exit(*way).leads, Leads::Push | Leads::Pop);
                !inside.any(|at| self.is_begun(*at)) && reached.taken.iter().filter(|way| leads_in(way)).all(is_push)
            }
        };
        let is_final = |id_of: &StateId| *id_of != id.of && machine.state(*id_of).is_final;
        let entered = || targets.iter().flat_map(|to| machine.outline.path(*to));
        let refuses = |id: StateId| machine.may_refuse && !machine.state(id).behaviors.is_empty();
        let may_refuse = |id: StateId| refuses(id) || machine.state(id).enter_when.is_some();
        let is_refused = path.iter().any(|id| refuses(*id) || is_final(id)) || entered().any(may_refuse);
        is_there && !is_refused
    }

    /// Returns what a property depends on if an exit leads to a state in which `reach` does not hold.
    fn leads_back(&self, id: ExitId) -> String {
        let name = |id: StateId| self.machine.state(id).name();
        let exit = self.machine.exit(id);
        match (exit.leads, exit.on()) {
            (Leads::Back | Leads::Pop, _) => format!("on the state to which an exit of `{}` leads back", name(id.of)),
            (_, Some(on)) if !exit.is_done => {
                format!(
                    "on whether a message `{on}` leads from `{}` to `{}` before a tick ends",
                    name(id.of),
                    name(exit.to)
                )
            }
            _ => format!("on whether an exit leads from `{}` to `{}` before a tick ends", name(id.of), name(exit.to)),
        }
    }

    /// Returns what a property depends on if an exit that leads back may not change the state although it is open.
    fn leads_back_in(&self, path: &[StateId]) -> Option<String> {
        let machine = self.machine;
        let leads_back = |id: &ExitId| machine.exit(*id).leads != Leads::To && !self.surely_leads(*id, path);
        let id = machine.in_tick(path).into_iter().find(leads_back)?;
        Some(format!("on whether an exit of `{}` can lead back", machine.state(id.of).name()))
    }
}
