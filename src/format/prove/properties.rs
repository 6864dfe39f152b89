//! Decides whether properties hold: whether a tick can end in a situation that breaks one.

use std::collections::{BTreeMap, BTreeSet};
use std::{mem, slice};

use super::claim::Claim;
use super::configuration::Configuration;
use super::in_time;
use super::machine::{Machine, Standing, StateTime};
use super::reach::Reached;
use super::search;
use super::solver::{ClaimAnswer, Situation};
use super::telling::said;
use super::witness::Witness;
use crate::format::outline::StateId;
use crate::format::property::{Property, PropertyRule};

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
        // Comparisons of this property that cannot be decided are recorded separately from those of the exits.
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
    let mut late = None;
    if let PropertyRule::Reach { within, .. } = &property.rule {
        late = in_time::late(machine, reached, &property.rule, within.seconds().unwrap_or(f64::NAN));
        late.as_ref()?;
    }
    let depends_on =
        |innermost: &[_], situation| late.clone().unwrap_or_else(|| depends_on(machine, innermost, situation));
    for (at, ends) in &reached.tick_ends {
        let path = machine.outline.path(*at);
        for configuration in machine.configurations_at(*at) {
            for end in ends {
                let standing = machine.at(&path, StateTime::Varies).entered(end.kept).beside(configuration);
                let claim = Claim::all([end.claim.clone(), property.rule.broken(standing)]);
                let innermost = configuration.map_or(slice::from_ref(at), Configuration::innermost);
                match machine.solve(&claim, &end.from) {
                    ClaimAnswer::Never => {}
                    ClaimAnswer::Holds(situation) => return Some(depends_on(innermost, Some(&situation))),
                    ClaimAnswer::Unknown => return Some(depends_on(innermost, None)),
                }
            }
        }
    }
    None
}

fn depends_on(machine: &Machine<'_>, innermost: &[StateId], situation: Option<&Situation>) -> String {
    let names: Vec<_> = innermost.iter().map(|id| format!("`{}`", machine.state(*id).name())).collect();
    match situation {
        Some(situation) => format!("on whether a tick can end in {}{}", names.join(" and "), said(situation)),
        None => format!("on what can happen in {}, which has too many situations", names.join(" and ")),
    }
}

impl PropertyRule {
    /// Returns the claim that the end of a tick breaks the property, or for `within`, that the time may begin to run: `from`
    /// holds, and `reach` does not.
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
