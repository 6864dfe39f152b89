//! Problems and findings for the page: where they are in the text, and in the picture.

use demeanor::definition::{Finding, Outline, Problem};
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
    let outlines = outlines.iter().filter(|_| is_in_states);
    object["places"] = outlines.filter_map(|outline| place(problem, outline)).collect();
    object
}

/// Returns the machine and the state to which a problem belongs, and its exit if it is about one.
fn place(problem: &Problem, outline: &Outline) -> Option<Value> {
    let at = problem.span().start;
    let own = || outline.states().iter().filter(|state| state.written().0.is_none());
    let in_exit = own().find_map(|state| {
        let exit = state.exits().iter().position(|exit| exit.span().contains(&at));
        exit.map(|exit| (state.id(), Some(exit)))
    });
    // A state begins with its name, and ends where the next one begins.
    let before = || own().filter(|state| state.written().1.start <= at);
    let in_state = || before().max_by_key(|state| state.written().1.start).map(|state| (state.id(), None));
    let (state, exit) = in_exit.or_else(in_state)?;
    Some(json!({ "machine": outline.machine(), "state": state.index(), "exit": exit }))
}
