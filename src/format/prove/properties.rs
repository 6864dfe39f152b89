//! Decides whether properties hold: whether a tick can end in a situation that breaks one.

use std::collections::{BTreeMap, BTreeSet};
use std::{mem, slice};

use super::claim::{Claim, Quantity};
use super::configurations::Configuration;
use super::machine::{Machine, Standing, StateTime};
use super::reach::Reached;
use super::search;
use super::solver::{ClaimAnswer, Situation};
use super::telling::said;
use super::witness::Witness;
use crate::format::expression::Comparison;
use crate::format::outline::StateId;
use crate::format::property::{Property, PropertyRule};
use crate::span::Span;

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PropertyAnswer {
    /// The property holds in all runs.
    Holds,
    /// This run breaks the property.
    Fails(Witness),
    /// Neither a proof nor a run that breaks the property was found. The text says what this depends on.
    NotDecided(String),
}

/// Decides about the properties of a machine, in the order of the file.
pub(super) fn decide(machine: &Machine<'_>, reached: &Reached) -> Vec<PropertyAnswer> {
    let open = |property: &Property| {
        // The comparisons of this property that cannot be decided are told apart from those of the exits.
        let known = mem::take(&mut machine.undecided.borrow_mut().comparisons);
        let breaking = breaking(machine, reached, property);
        let undecided = &mut machine.undecided.borrow_mut().comparisons;
        let own = mem::replace(undecided, known);
        let texts: Vec<_> = own.iter().map(|text| format!("`{text}`")).collect();
        undecided.extend(own);
        let and = if texts.is_empty() { String::new() } else { format!(", and on {}", texts.join(", ")) };
        (property.name.text.clone(), breaking.map(|on| format!("{on}{and}")))
    };
    let open: BTreeMap<_, _> = machine.outline.properties.iter().map(open).collect();
    let wanted: BTreeSet<_> = open.iter().filter(|(_, open)| open.is_some()).map(|(name, _)| name.clone()).collect();
    let mut found = search::violations(machine, wanted);
    let answer = |property: &Property| match open.get(&property.name.text) {
        Some(Some(open)) => match found.remove(&property.name.text) {
            Some(run) => PropertyAnswer::Fails(run),
            None => PropertyAnswer::NotDecided(open.clone()),
        },
        _ => PropertyAnswer::Holds,
    };
    machine.outline.properties.iter().map(answer).collect()
}

/// Returns what a property depends on: the first situation that was found in which a tick may end and break it. `None` if it
/// certainly holds.
fn breaking(machine: &Machine<'_>, reached: &Reached, property: &Property) -> Option<String> {
    if let PropertyRule::Reach { within, .. } = &property.rule {
        if within.seconds().is_some_and(|within| is_in_time(machine, reached, &property.rule, within)) {
            return None;
        }
    }
    for (at, ends) in &reached.tick_ends {
        let path = machine.outline.path(*at);
        let all = machine.configurations.as_ref().map(|known| &known.all);
        // A configuration is looked at with the first of its innermost states.
        let with = all.into_iter().flatten().filter(|configuration| configuration.innermost().first() == Some(at));
        let with = with.map(Some).chain(all.is_none().then_some(None));
        for configuration in with {
            for end in ends {
                let standing = machine.at(&path, StateTime::Varies).entered(end.kept);
                let standing = configuration.map_or(standing, |configuration| standing.beside(configuration));
                let claim = Claim::all([end.claim.clone(), property.rule.broken(standing)]);
                let innermost = configuration.map_or(slice::from_ref(at), Configuration::innermost);
                match machine.solve(&claim, &end.from) {
                    ClaimAnswer::Never => {}
                    ClaimAnswer::Holds(situation) => return Some(depends_on(machine, innermost, Some(&situation))),
                    ClaimAnswer::Unknown => return Some(depends_on(machine, innermost, None)),
                }
            }
        }
    }
    None
}

/// Whether a state in which `from` holds without `reach` is certainly left in time, and `reach` holds at the end of the next tick.
fn is_in_time(machine: &Machine<'_>, reached: &Reached, rule: &PropertyRule, within: f64) -> bool {
    let is_free = !reached.free.is_empty() || machine.outline.states().iter().any(|state| state.is_entry());
    // A time that has passed at once leaves no tick in which `reach` could hold.
    let is_at_once = within.is_nan() || Span::of(within, 0.0).has_passed(0.0);
    if is_free || machine.has_memory || machine.outline.has_regions() || is_at_once {
        return false;
    }
    let may = |at: StateId, claim: &dyn Fn(Standing<'_>) -> Claim| {
        let path = machine.outline.path(at);
        machine.solve(&claim(machine.at(&path, StateTime::Varies)), &path) != ClaimAnswer::Never
    };
    let mut ends = reached.tick_ends.iter();
    ends.all(|(at, ends)| {
        let stays = |standing: Standing<'_>| {
            let lasts = Claim::compared(Quantity::Clock(*at), Comparison::GreaterOrEqual, within);
            // The first way in which a tick can end is the one without a change.
            Claim::all([ends[0].claim.clone(), rule.unmet(standing), lasts])
        };
        !may(*at, &|standing| rule.broken(standing)) || !may(*at, &stays) && leaves_for(machine, reached, rule, *at)
    })
}

/// Whether `reach` holds at the end of the tick in which a state is left, or of the next one if a message leads out of it.
fn leaves_for(machine: &Machine<'_>, reached: &Reached, rule: &PropertyRule, from: StateId) -> bool {
    let mut known = BTreeSet::new();
    // Each with whether the states inside are still to be updated.
    let mut waiting = vec![(from, true)];
    while let Some((from, is_updated)) = waiting.pop() {
        let path = machine.outline.path(from);
        for id in machine.exits_on(&path).filter(|id| reached.taken.contains(id)) {
            let exit = machine.exit(id);
            let is_message = exit.on.is_some() && reached.has_code;
            if !is_updated && !is_message && !exit.is_always && !exit.is_done {
                continue;
            }
            let to = machine.innermost(exit.to);
            let entered = machine.outline.path(to);
            if machine.solve(&rule.unmet(machine.at(&entered, StateTime::Varies)), &entered) != ClaimAnswer::Never {
                return false;
            }
            let is_updated = is_updated && (exit.on.is_some() || path.last() != Some(&id.of));
            let leads_on = entered.iter().any(|id| machine.at_entry(*id).next().is_some());
            if (is_updated || leads_on || reached.has_code) && known.insert((to, is_updated)) {
                waiting.push((to, is_updated));
            }
        }
    }
    true
}

fn depends_on(machine: &Machine<'_>, innermost: &[StateId], situation: Option<&Situation>) -> String {
    let names: Vec<_> = innermost.iter().map(|id| format!("`{}`", machine.state(*id).name())).collect();
    match situation {
        Some(situation) => format!("on whether a tick can end in {}{}", names.join(" and "), said(situation)),
        None => format!("on what can happen in {}, which has too many situations", names.join(" and ")),
    }
}

impl PropertyRule {
    /// Returns the claim that the end of a tick breaks the property, or for `within`, that it may begin to.
    pub(super) fn broken(&self, at: Standing<'_>) -> Claim {
        let asking = at.asking(None, None);
        match self {
            Self::Never(when) => asking.when(when),
            Self::Always(when) => asking.when(when).negated(),
            Self::Reach { from, .. } => Claim::all([asking.when(from), self.unmet(at)]),
        }
    }

    /// Returns the claim that the end of a tick breaks the property, or for `within`, that `reach` does not hold.
    pub(super) fn unmet(&self, at: Standing<'_>) -> Claim {
        match self {
            Self::Reach { reach, .. } => at.asking(None, None).when(reach).negated(),
            rule => rule.broken(at),
        }
    }
}
