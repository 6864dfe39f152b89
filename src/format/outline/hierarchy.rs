//! Checks how states are nested: parents without circles, initial children that are children, and a global state without
//! nesting. Also finds exits that lead from state to state without end.

use std::collections::HashSet;

use super::{ExitOutline, Outline, StateId, StateOutline};
use crate::format::chains::Chains;
use crate::format::choose::Choose;
use crate::format::leads::Leads;
use crate::format::problems::{Findings, Mistake, Origin};

/// The maximum number of states that are nested in one another.
const DEEPEST: usize = 64;

/// Checks the hierarchy. If it finds no errors, every path is finite.
pub(crate) fn check(outline: &Outline, findings: &mut Findings) {
    parents(outline, findings);
    initial_children(outline, findings);
    if findings.errors() == 0 {
        for state in &outline.states {
            outer_exits(outline, state, findings);
        }
        without_end(outline, findings);
    }
    if let Some(global) = outline.global {
        apart(outline, global, findings);
    }
}

fn parents(outline: &Outline, findings: &mut Findings) {
    let parent_of = |i: usize| outline.states[i].parent.map(StateId::index);
    let Chains { order, circles } = Chains::follow(outline.states.len(), parent_of);
    for states in circles {
        circle(outline, &states).report(findings);
    }
    // The depth of each state. In a circle, the state that comes first in the order has depth 0.
    let mut depths: Vec<Option<usize>> = vec![None; outline.states.len()];
    for i in order {
        let depth = parent_of(i).and_then(|parent| depths[parent]).map_or(0, |depth| depth + 1);
        depths[i] = Some(depth);
        if depth == DEEPEST {
            let state = &outline.states[i];
            let message = format!("state `{}` is nested deeper than {DEEPEST} states", state.name);
            let mistake = Mistake::error("nested-too-deep", state.parent_span.clone(), message);
            findings.add(mistake.label("its parent"));
        }
    }
}

fn circle(outline: &Outline, states: &[usize]) -> Mistake {
    let mut names: Vec<_> = states.iter().map(|i| format!("`{}`", outline.states[*i].name)).collect();
    let last = names.pop().unwrap_or_default();
    let message = if names.is_empty() {
        format!("{last} is its own parent")
    } else {
        format!("{} and {last} are each other's parents", names.join(", "))
    };
    let at = outline.states[states[0]].parent_span.clone();
    Mistake::error("parent-cycle", at, message).label("closes the circle").help(if states.len() == 1 {
        "it must have another parent, or none"
    } else {
        "one of them must have another parent, or none"
    })
}

fn initial_children(outline: &Outline, findings: &mut Findings) {
    for state in &outline.states {
        let Some(child) = state.initial.map(|child| outline.state(child)) else { continue };
        if child.parent != Some(state.id) {
            let (composite, child) = (&state.name, &child.name);
            let message = format!("`{child}` is the initial state of `{composite}`, but not a child of it");
            Mistake::error("initial-not-a-child", state.initial_span.clone(), message)
                .label(format!("its parent is not `{composite}`"))
                .help(format!("give `{child}` the key `parent = \"{composite}\"`"))
                .origin(Origin::MayFollow)
                .report(findings);
        }
    }
}

fn apart(outline: &Outline, global: StateId, findings: &mut Findings) {
    let state = outline.state(global);
    if state.parent.is_some() || state.initial.is_some() || !state.regions.is_empty() || state.is_composite() {
        let message = format!("the global state `{}` is nested", state.name);
        Mistake::error("global", state.name.span.clone(), message)
            .label("runs beside every other state")
            .help("remove its `parent`, `initial` and `regions`, and take it as nobody's parent")
            .report(findings);
    }
    if let Some(every) = &state.every {
        let message = format!("the global state `{}` has an `every`, but is never entered", state.name);
        Mistake::error("global", every.span.clone(), message)
            .label("counted from its entry")
            .help("remove it: the global state is tried in each tick")
            .report(findings);
    }
    for after in state.exits.iter().filter_map(ExitOutline::after).filter(|after| after.range().is_some()) {
        let message = format!("an exit of the global state `{}` has a duration that is drawn", state.name);
        Mistake::error("global", after.span.clone(), message)
            .label("drawn when its state is entered")
            .help("the global state is never entered: write a fixed duration")
            .report(findings);
    }
    for exit in
        outline.states.iter().flat_map(|state| &state.exits).filter(|exit| exit.to == global && exit.leads.is_named())
    {
        let message = format!("state `{}` is the global state: it cannot be changed to", state.name);
        Mistake::error("global", exit.span.clone(), message)
            .label("runs beside every other state already")
            .report(findings);
    }
}

/// Reports keys of an exit that are only useful for a parent, for the global state, or beside final states or other regions, and
/// restarts without a condition.
fn outer_exits(outline: &Outline, state: &StateOutline, findings: &mut Findings) {
    let is_outer = state.is_composite() || outline.global == Some(state.id);
    for exit in &state.exits {
        // In other regions, the target may be active already, or a final state that is left.
        let is_alone = || !is_outer && outline.is_in_same_regions(state.id, exit.to);
        let has_no_effect = [
            ("restart", exit.restarts && is_alone()),
            ("even_final", exit.even_final && is_alone() && !outline.is_in_end(state.id)),
        ];
        for (key, _) in has_no_effect.into_iter().filter(|(_, has_none)| *has_none) {
            let message = format!("`{key}` says nothing in an exit of `{}`, which has no states in it", state.name);
            Mistake::warning("no-effect", exit.span.clone(), message)
                .label("an exit of the state itself")
                .help("it is for exits of parents and of the global state: remove it")
                .report(findings);
        }
        let target = outline.state(exit.to);
        if exit.leads == Leads::Resume && !target.keeps_history {
            let message = format!("`resume` begins `{}` anew: it keeps no history", target.name);
            Mistake::warning("no-effect", exit.span.clone(), message)
                .label("as `to`")
                .help(format!("write `history = true` in `{}`, or `to` instead of `resume`", target.name))
                .report(findings);
        }
        // An exit to the state itself has already been reported.
        let leads_within =
            outline.global == Some(state.id) || exit.to != state.id && outline.is_within(exit.to, state.id);
        let is_in_each_tick = state.every.is_none() && state.choose == Choose::First;
        let is_entered = |id: StateId| {
            let entered = outline.state(id);
            entered.enter_when.is_none() && (exit.even_final || !entered.is_final)
        };
        let is_spinning = exit.restarts && leads_within && exit.is_always_from() == Some(0.0);
        if is_spinning && is_in_each_tick && outline.descent(exit.to).into_iter().all(is_entered) {
            let message = format!("`{}` would be entered again in every tick", outline.state(exit.to).name);
            Mistake::error("spins", exit.span.clone(), message)
                .label("restarts, with no condition")
                .help("give the exit a `when`, or remove `restart`")
                .report(findings);
        }
    }
}

/// The maximum number of changes to which one callback may lead, unless a game sets another one (rule 13).
const MOST_CHANGES: usize = 4000;

/// Finds states that are left as soon as they are entered, if their exits form a circle, or a chain with more changes than one
/// callback may lead to.
fn without_end(outline: &Outline, findings: &mut Findings) {
    let leads: Vec<_> = outline.states.iter().map(|state| leads_on(outline, state)).collect();
    let chains = Chains::follow(leads.len(), |i| leads[i].map(|exit| exit.to.index()));
    for exit in chains.circles.iter().filter_map(|circle| leads[*circle.last()?]) {
        let name = &outline.state(exit.to).name;
        let message = format!("state `{name}` is left as soon as it is entered, and entered again");
        Mistake::error("spins", exit.span.clone(), message)
            .label("closes the circle")
            .help("one exit of the circle needs a `when` that does not always hold")
            .report(findings);
    }
    if chains.circles.is_empty() {
        too_many_changes(outline, &leads, &chains, findings);
    }
}

/// Returns the exit that every owner takes as soon as it has entered the state: an exit with `always`, or an exit for the end
/// of a machine that ends in this state. `None` if there is none, or if an earlier exit with a condition may lead elsewhere.
fn leads_on<'o>(outline: &'o Outline, state: &StateOutline) -> Option<&'o ExitOutline> {
    let tried = outline.descent(state.id).into_iter().flat_map(|id| {
        let entered = outline.state(id);
        let done = entered.ends.map(|runs| outline.state(runs));
        let done = done.into_iter().flat_map(move |runs| runs.exits.iter().map(move |exit| (id, runs, exit)));
        let always = entered.exits.iter().filter(|exit| exit.is_always).map(move |exit| (id, entered, exit));
        always.chain(done.filter(|(.., exit)| exit.is_done))
    });
    let mut first: Option<StateId> = None;
    for (entered, of, exit) in tried {
        if of.choose != Choose::First || *first.get_or_insert(exit.to) != exit.to {
            return None;
        }
        let is_open = || outline.descent(exit.to).iter().all(|to| outline.state(*to).enter_when.is_none());
        // An exit to another region is not taken while its target is active there. A machine with regions ends when all its
        // regions have ended.
        let are_same = outline.is_in_same_regions(of.id, exit.to) && outline.is_in_same_regions(entered, of.id);
        let may_leave = exit.even_final || exit.is_done || !outline.is_in_end(of.id);
        if exit.leads_at_once() && are_same && may_leave && is_open() {
            return Some(exit);
        }
    }
    None
}

/// Reports chains of states that are left as soon as they are entered, if a chain is longer than the limit of rule 13. Without
/// circles, each chain has an end.
fn too_many_changes(outline: &Outline, leads: &[Option<&ExitOutline>], chains: &Chains, findings: &mut Findings) {
    // For each state, how many changes follow when it is entered, and the state in which they end.
    let mut follow: Vec<(usize, StateId)> = outline.states.iter().map(|state| (0, state.id)).collect();
    for &i in &chains.order {
        if let Some(exit) = leads[i] {
            let (count, end) = follow[exit.to.index()];
            follow[i] = (count + 1, end);
        }
    }
    // If an exit leads to the first state of a chain, this change counts, too. Only the first states are checked, because their
    // chains are the longest.
    let mut is_entered_by_exit = vec![false; leads.len()];
    let mut is_first = vec![true; leads.len()];
    for state in &outline.states {
        state.leads_to().for_each(|to| is_entered_by_exit[to.index()] = true);
        if let Some(exit) = leads[state.id.index()] {
            is_first[exit.to.index()] = false;
        }
    }
    let mut reported_ends = HashSet::new();
    for state in outline.states.iter().filter(|state| is_first[state.id.index()]) {
        let Some(exit) = leads[state.id.index()] else { continue };
        let (count, end) = follow[state.id.index()];
        // If several chains have the same end, one of them is reported.
        if count + usize::from(is_entered_by_exit[state.id.index()]) <= MOST_CHANGES || !reported_ends.insert(end) {
            continue;
        }
        let second = outline.state(exit.to);
        let message = format!(
            "more than {MOST_CHANGES} states follow one another within one tick: `{}`, `{}` and so on, to `{}`",
            state.name,
            second.name,
            outline.state(end).name
        );
        Mistake::error("too-many-changes", exit.span.clone(), message).label("the first of these exits").help(format!(
                "after {MOST_CHANGES} changes a character stays where it is: let one of the states last, without `always`"
            )).report(findings);
    }
}
