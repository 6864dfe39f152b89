//! Problems and findings for the page: where they are in the text, and in the picture.

use std::sync::Arc;

use demeanor::definition::{Finding, Outline, Problem, StateOutline};
use serde_json::{Value, json};

use super::offsets::Offsets;
use crate::json;

/// Returns a problem as `check --format json` writes it, with its places in UTF-16 units, and with its state and exit in the machines.
pub(super) fn problem(
    problem: &Problem,
    finding: Option<&Finding>,
    outlines: &[Outline],
    offsets: &Offsets<'_>,
) -> Value {
    let mut object = json::found(problem, finding);
    let labels = problem.labeled_spans().map(|(at, text)| json!({ "at": offsets.units(&at), "text": text }));
    object["labels"] = labels.collect();
    object["is_here"] = json!(outlines.first().is_none_or(|outline| outline.file() == problem.file()));
    let is_in_states = offsets.is_among_states(problem.span().start);
    object["places"] = if is_in_states { places(problem, outlines) } else { Vec::new() }.into();
    object
}

/// Returns the machines and the states to which a problem belongs, and its exit if it is about one. Several machines can have the
/// same state, with `like`.
fn places(problem: &Problem, outlines: &[Outline]) -> Vec<Value> {
    let at = problem.span().start;
    // A state begins with its name, and ends where the next one begins, which may be one of another machine.
    let before = outlines.iter().flat_map(|outline| {
        let own = outline.states().iter().filter(|state| state.written().0.is_none());
        own.map(move |state| (state.written().1.start, outline, state)).filter(|(start, ..)| *start <= at)
    });
    let before: Vec<_> = before.collect();
    let last = before.iter().map(|(start, ..)| *start).max();
    let here = before.iter().filter(|(start, ..)| Some(*start) == last);
    let place = |(_, outline, state): &(usize, &Outline, &Arc<StateOutline>)| {
        let exit = state.exits().iter().position(|exit| exit.span().contains(&at));
        json!({ "machine": outline.machine(), "state": state.id().index(), "exit": exit })
    };
    here.map(place).collect()
}
