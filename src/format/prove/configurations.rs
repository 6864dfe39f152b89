//! Finds the configurations of a machine with regions: which states can be active together. From each configuration, every exit
//! that can be taken there leads to another configuration. Anything that cannot be decided counts as possible.

use std::collections::{BTreeSet, HashSet};

use super::claim::Claim;
use super::configuration::{Configuration, Configurations};
use super::machine::{Machine, StateTime};
use super::reach::Reached;
use super::solver::ClaimAnswer;
use crate::format::outline::{ExitId, StateId};

/// The maximum number of configurations. If there are more, each region is examined alone.
const MOST_CONFIGURATIONS: usize = 4096;

impl Configurations {
    /// Finds the configurations. `reached` has the states and exits that are possible if nothing is known about other regions.
    /// `None` if there are no regions or too many configurations, or if an exit suspends states or leads back, so that any states
    /// may be resumed together.
    pub(super) fn of(machine: &Machine<'_>, reached: &Reached) -> Option<Self> {
        if !machine.outline.has_regions() || machine.has_memory {
            return None;
        }
        let entries = machine.outline.states().iter().filter(|state| state.is_entry()).map(|state| state.id());
        let free: BTreeSet<StateId> = reached.free.iter().copied().chain(entries).collect();
        let begin = [machine.outline.initial()].into_iter().chain(free.iter().copied());
        let begin: BTreeSet<_> = begin.map(|to| Configuration::new(machine.innermost_of(to))).collect();
        let (mut all, mut taken): (Vec<_>, _) = (begin.into_iter().collect(), HashSet::new());
        let mut known: HashSet<_> = all.iter().cloned().collect();
        let mut at = 0;
        while let Some(from) = all.get(at).cloned() {
            let of_exits: BTreeSet<_> = from.exits(machine).filter(|(id, _)| reached.taken.contains(id)).collect();
            let exits = of_exits.into_iter().filter(|(id, path)| from.may_take(machine, *id, path)).map(|(id, _)| id);
            let exits: Vec<_> = exits.collect();
            for to in exits.iter().map(|id| machine.exit(*id).to).chain(free.iter().copied()) {
                let after = from.after(machine, to);
                if known.insert(after.clone()) {
                    all.push(after);
                }
            }
            taken.extend(exits);
            at += 1;
            if all.len() > MOST_CONFIGURATIONS || machine.work.is_over() {
                return None;
            }
        }
        Some(Self::new(all, taken))
    }
}

impl Configuration {
    /// Returns the configuration after a change to a state (rule 32).
    pub(super) fn after(&self, machine: &Machine<'_>, to: StateId) -> Self {
        let route = machine.outline.path(to);
        let Some(around) = route.iter().rposition(|id| *id != to && self.has(machine.outline, *id)) else {
            return Self::new(machine.innermost_of(to));
        };
        let (around, first) = (route[around], route[around + 1]);
        let is_left = |path: &[StateId]| {
            let depth = path.iter().position(|id| *id == around);
            let inside = depth.and_then(|depth| path.get(depth + 1));
            inside.is_none_or(|inside| machine.state(*inside).region == machine.state(first).region) && depth.is_some()
        };
        let stays = self.innermost().iter().copied().filter(|id| !is_left(&machine.outline.path(*id)));
        let entered = machine.innermost_of(to).into_iter().filter(|id| machine.outline.is_within(*id, first));
        Self::new(stays.chain(entered).collect())
    }

    /// Returns the exits of all active states and of the global one, each with a path through its state.
    pub(super) fn exits<'m>(&'m self, machine: &'m Machine<'_>) -> impl Iterator<Item = (ExitId, Vec<StateId>)> + 'm {
        let mut seen = BTreeSet::new();
        self.innermost().iter().flat_map(move |innermost| {
            let path = machine.outline.path(*innermost);
            let new: Vec<_> = machine.exits_on(&path).filter(|id| seen.insert(*id)).collect();
            new.into_iter().map(move |id| (id, path.clone()))
        })
    }

    /// Whether an exit can be taken while these states are active.
    fn may_take(&self, machine: &Machine<'_>, id: ExitId, path: &[StateId]) -> bool {
        let is_possible = |claim: &Claim, path: &[StateId]| machine.solve(claim, path) != ClaimAnswer::Never;
        let exit = machine.exit(id);
        if is_possible(&machine.at(path, StateTime::Varies).beside(self).led(id), path) {
            return true;
        }
        // While a state is entered, regions may not be open yet.
        let depth = path.iter().position(|of| *of == id.of);
        depth.filter(|_| exit.is_always || exit.is_done).is_some_and(|depth| {
            let entering = machine.at(path, StateTime::Varies).entered(depth).up_to(depth);
            exit.is_done || is_possible(&entering.taken(id), path)
        })
    }
}
