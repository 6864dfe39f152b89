//! Doubts about a machine that can be run: states that nothing leads to, states that nothing leads out of, exits behind one
//! that is always taken.

use super::expression::Expr;
use super::fault::Fault;
use super::outline::{ExitOutline, Outline, When};
use super::problem::Findings;

pub(crate) fn check(outline: &Outline, findings: &mut Findings) {
    for state in &outline.states {
        never_taken(outline, &state.exits, findings);
    }
    // A script may change to any state.
    if outline.states.iter().any(|state| state.script.is_some()) {
        return;
    }
    let reached = reached(outline);
    let mut has_children = vec![false; outline.states.len()];
    for parent in outline.states.iter().filter_map(|state| state.parent) {
        has_children[parent] = true;
    }
    let global_leads_on = outline.global.is_some_and(|global| !outline.states[global].exits.is_empty());
    for (place, state) in outline.states.iter().enumerate() {
        if Some(place) == outline.global {
            continue;
        }
        if !reached[place] {
            findings.add(state.span.clone(), Fault::Unreachable(state.name.clone()));
        }
        let is_left = global_leads_on || outline.path(place).iter().any(|&on| !outline.states[on].exits.is_empty());
        if !is_left && !state.is_final && !has_children[place] {
            findings.add(state.span.clone(), Fault::NoWayOut(state.name.clone()));
        }
    }
}

/// Which states can be active.
fn reached(outline: &Outline) -> Vec<bool> {
    let mut reached = vec![false; outline.states.len()];
    let mut waiting = vec![outline.initial];
    if let Some(global) = outline.global {
        waiting.extend(outline.states[global].exits.iter().map(|exit| exit.to));
    }
    while let Some(to) = waiting.pop() {
        let entered = outline.path(to).into_iter().chain(outline.descent(to));
        for place in entered {
            if !std::mem::replace(&mut reached[place], true) {
                waiting.extend(outline.states[place].exits.iter().map(|exit| exit.to));
            }
        }
    }
    reached
}

/// Exits tried after each update that are behind one without a condition, whose target can always be entered.
fn never_taken(outline: &Outline, exits: &[ExitOutline], findings: &mut Findings) {
    let always = |when: &Option<When>| matches!(when, None | Some(When::Expr { expr: Expr::Bool(true), .. }));
    let mut first: Option<usize> = None;
    for exit in exits.iter().filter(|exit| exit.on.is_none()) {
        if let Some(to) = first {
            findings.add(exit.span.clone(), Fault::NeverTaken { behind: outline.states[to].name.clone() });
        } else if always(&exit.when) && outline.states[exit.to].enter_when.is_none() {
            first = Some(exit.to);
        }
    }
}
