//! Warnings about a machine that works all the same: states that nothing leads to, states that nothing leads out of, exits
//! behind one that is always taken.

use std::collections::HashSet;
use std::mem;

use super::super::findings::Findings;
use super::super::mistake::Mistake;
use super::{ExitOutline, Outline, StateOutline};

/// Warns about one machine of a file. `used` has the places of the states that any of them uses.
pub(crate) fn check(outline: &Outline, used: &HashSet<usize>, findings: &mut Findings) {
    for state in &outline.states {
        never_taken(outline, &state.exits, findings);
        nothing_to_try(state, findings);
        never_done(outline, state, findings);
    }
    // A script may change to any state.
    if outline.states.iter().any(|state| state.script.is_some()) {
        return;
    }
    let reached = reached(outline);
    for state in outline.states.iter().filter(|state| Some(state.id) != outline.global) {
        // What a machine has from another one, it may do without: it could not remove it.
        if !reached[state.id.index()] && !used.contains(&state.name.span.start) {
            let message = format!("state `{}` can never be reached", state.name);
            findings.add(
                Mistake::warning("unreachable", state.name.span.clone(), message).label("nothing leads here").help(
                    "let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it",
                ),
            );
        }
        if !is_left(outline, state) && !state.is_final && !state.is_composite() {
            let message = format!("state `{}` has no way out", state.name);
            findings.add(
                Mistake::warning("no-way-out", state.name.span.clone(), message)
                    .label("nothing leads out")
                    .help("give it an exit, or write `final = true` if it is meant to be the end"),
            );
        }
    }
}

/// The places in the text of all states that any machine of a file uses: of machines that are like one another, and that run
/// in one another, several have the same state.
pub(crate) fn used<'o>(outlines: impl IntoIterator<Item = &'o Outline>) -> HashSet<usize> {
    let mut used = HashSet::new();
    for outline in outlines {
        let reached = reached(outline);
        let states = outline.states.iter().filter(|state| reached[state.id.index()] && !state.is_foreign);
        used.extend(states.map(|state| state.name.span.start));
    }
    used
}

/// Whether it has an exit, or what is around it, or the global state.
fn is_left(outline: &Outline, state: &StateOutline) -> bool {
    outline.path(state.id).into_iter().chain(outline.global).any(|id| outline.state(id).leads_to().next().is_some())
}

/// Which states can be active.
fn reached(outline: &Outline) -> Vec<bool> {
    let mut reached = vec![false; outline.states.len()];
    let mut waiting = vec![outline.initial];
    waiting.extend(outline.states.iter().filter(|state| state.is_entry).map(|state| state.id));
    if let Some(global) = outline.global {
        waiting.extend(outline.state(global).leads_to());
    }
    while let Some(to) = waiting.pop() {
        let entered = outline.path(to).into_iter().chain(outline.descent(to));
        for id in entered {
            if !mem::replace(&mut reached[id.index()], true) {
                waiting.extend(outline.state(id).leads_to());
            }
        }
    }
    reached
}

/// Exits tried after each update that are behind one that is always taken by the time at which they open.
fn never_taken(outline: &Outline, exits: &[ExitOutline], findings: &mut Findings) {
    // The one that is taken first, when it is, in seconds, and how that is written.
    let mut taken: Option<(&StateOutline, f64, String)> = None;
    for exit in exits.iter().filter(|exit| exit.on.is_none()) {
        let target = outline.state(exit.to);
        if let Some((first, at, when)) = taken.as_ref().filter(|(_, at, _)| *at <= exit.opens_at()) {
            let message = format!("this exit is never taken: the one to `{}` before it always is{when}", first.name);
            let help = match exit.after {
                Some(_) if *at > 0.0 => "give it a shorter `after`, or give the other a `when`",
                _ => "put it before, or give the other a `when`",
            };
            findings.add(Mistake::warning("never-taken", exit.span.clone(), message).label("never taken").help(help));
            continue;
        }
        if let Some(at) = exit.is_always_from().filter(|_| target.enter_when.is_none()) {
            if taken.as_ref().is_none_or(|(_, before, _)| at < *before) {
                let when = exit.after().filter(|_| at > 0.0).map_or(String::new(), |after| format!(" after {after}"));
                taken = Some((target, at, when));
            }
        }
    }
}

/// An `every` of a state that does nothing and tries nothing.
fn nothing_to_try(state: &StateOutline, findings: &mut Findings) {
    let Some(every) = &state.every else { return };
    if state.behaviors.is_empty() && state.script.is_none() && state.exits.iter().all(|exit| exit.on.is_some()) {
        let message = format!("state `{}` has nothing to do every {every}", state.name);
        findings.add(
            Mistake::warning("nothing-to-try", every.span.clone(), message)
                .label("no behavior, and no exit that is tried")
                .help("remove it: exits that wait for a message do not wait for a turn"),
        );
    }
}

/// An exit that waits for the end of a machine that has none.
fn never_done(outline: &Outline, state: &StateOutline, findings: &mut Findings) {
    let Some(exit) = state.exits.iter().find(|exit| exit.is_done) else { return };
    if !outline.states.iter().any(|end| end.ends == Some(state.id)) {
        let machine = state.machine().unwrap_or_default();
        let message = format!("this exit is never taken: machine `{machine}` has no final state");
        findings.add(
            Mistake::warning("never-taken", exit.span.clone(), message)
                .label("waits for its end")
                .help("write `final = true` in the states in which it ends"),
        );
    }
}
