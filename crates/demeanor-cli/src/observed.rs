//! Flows that are read from files: what was seen of machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use demeanor::Flow;
use demeanor::definition::Outline;

use crate::shown::listed;

/// Reads flows, and adds them up.
pub(crate) fn merged(paths: &[PathBuf]) -> Result<Flow, String> {
    let mut merged = Flow::new();
    for path in paths {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let flow = serde_json::from_str(&text);
        merged.merge(&flow.map_err(|error| format!("{} is not a flow: {error}", path.display()))?);
    }
    Ok(merged)
}

/// The part of a flow that is of one machine of a file, and what is to be said of the rest.
///
/// A game counts all its machines in one flow, if it likes. What has to do with a state that only other machines of the file
/// have is left out; what no machine has stays, and is reported.
pub(crate) fn of_machine(flow: &Flow, outline: &Outline, all: &[Outline]) -> (Flow, Vec<String>) {
    let names = |outline: &Outline| outline.states().iter().map(|state| state.name().to_owned()).collect();
    let own: BTreeSet<String> = names(outline);
    let mut others: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for other in all.iter().filter(|other| other.machine() != outline.machine()) {
        let machine = other.machine().unwrap_or("the first machine");
        let names: BTreeSet<String> = names(other);
        for name in names {
            others.entry(name).or_default().insert(machine);
        }
    }
    let seen = flow.states();
    let left_out: BTreeSet<&str> =
        seen.iter().copied().filter(|name| !own.contains(*name) && others.contains_key(*name)).collect();
    let mut notes = Vec::new();
    if !left_out.is_empty() {
        notes.push(format!("left out, because only other machines of the file have them: {}", listed(&left_out)));
        // Only if several machines were seen, it is a question whose states they are.
        let shared: Vec<_> = seen.iter().filter(|name| own.contains(**name) && others.contains_key(**name)).collect();
        if !shared.is_empty() {
            notes.push(format!("counted here, though other machines have states of the same name: {}", listed(shared)));
        }
    }
    (flow.of_states(|name| !left_out.contains(name)), notes)
}
