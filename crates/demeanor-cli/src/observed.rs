//! Flows, the recorded changes of machines, which are read from files.

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

/// Returns the part of a flow that belongs to one machine of a file, and messages about the rest.
///
/// A game may count all its machines in one flow. Changes of states that only other machines of the file have are left out;
/// changes of states that no machine has are kept, and reported.
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
        // The flow has states of other machines, so a state with one of these names may belong to them.
        let shared: Vec<_> = seen.iter().filter(|name| own.contains(**name) && others.contains_key(**name)).collect();
        if !shared.is_empty() {
            notes.push(format!("counted here, though other machines have states of the same name: {}", listed(shared)));
        }
    }
    (flow.of_states(|name| !left_out.contains(name)), notes)
}
