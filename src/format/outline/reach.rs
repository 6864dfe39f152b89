//! Warns about parts of a machine that are probably mistakes, although the machine works: for example, states that no exit
//! leads to or out of, and exits that are never taken.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::effects::CodeTargets;
use super::ways_out::WaysOut;
use super::{ExitOutline, Outline, StateId, StateOutline};
use crate::format::choose::Choose;
use crate::format::duration::Duration;
use crate::format::leads::Leads;
use crate::format::problems::{Findings, Mistake};

/// Warns about one machine of a file.
pub(crate) fn check(outline: &Outline, in_file: &StatesInFile, findings: &mut Findings) {
    for state in &outline.states {
        never_taken(outline, state, findings);
        same_condition(outline, state, findings);
        no_end(state, findings);
        nothing_to_try(state, findings);
        never_done(outline, state, findings);
    }
    let mut reached = reached(outline);
    no_initial(outline, &mut reached, findings);
    let ways_out = WaysOut::of(outline);
    for state in outline.without_global().map(|id| outline.state(id)) {
        // A machine cannot remove the states that it gets from another machine, so it may leave them unused.
        if !reached[state.id.index()] && !in_file.used.contains(&state.name.span.start) {
            let message = format!("state `{}` can never be reached", state.name);
            Mistake::warning("unreachable", state.name.span.clone(), message)
                .label("nothing leads here")
                .help("let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it")
                .report(findings);
        }
        // A state of this file that is linked is reported in its own machine.
        let is_reported = state.is_linked && !state.is_foreign;
        let is_left = is_reported || ways_out.is_left(state) || in_file.left.contains(&state.name.span.start);
        if !is_left && !state.is_final && !state.is_composite() {
            let message = format!("state `{}` has no way out", state.name);
            Mistake::warning("no-way-out", state.name.span.clone(), message)
                .label("nothing leads out")
                .help("give it an exit, or write `final = true` if it is meant to be the end")
                .report(findings);
        }
    }
}

/// Some states of all machines of a file, as the starts of their names in the text. A state in the text belongs to several
/// machines if one machine is like another, or if a state runs a machine.
#[derive(Default)]
pub(crate) struct StatesInFile {
    /// The states that can be active in at least one machine.
    used: HashSet<usize>,
    /// The states of linked machines that are left where the machine runs, for example by an exit of the state that runs it.
    left: HashSet<usize>,
}

impl StatesInFile {
    pub(crate) fn of<'o>(outlines: impl IntoIterator<Item = &'o Outline>) -> Self {
        let mut all = Self::default();
        for outline in outlines {
            let (reached, ways_out) = (reached(outline), WaysOut::of(outline));
            let states = || outline.states.iter().filter(|state| reached[state.id.index()] && !state.is_foreign);
            let start = |state: &Arc<StateOutline>| state.name.span.start;
            all.used.extend(states().map(start));
            all.left.extend(states().filter(|state| state.is_linked && ways_out.is_left(state)).map(start));
        }
        all
    }
}

/// Returns, for each state by id, whether it can be active. Conditions count as possible.
fn reached(outline: &Outline) -> Vec<bool> {
    let mut reached = vec![false; outline.states.len()];
    let mut waiting = vec![outline.initial];
    waiting.extend(outline.states.iter().filter(|state| state.is_entry).map(|state| state.id));
    let mut code = CodeTargets::of(outline);
    let mut leave = |id: StateId, waiting: &mut Vec<StateId>| {
        let state = outline.state(id);
        waiting.extend(state.exits.iter().map(|exit| exit.to));
        waiting.extend(code.find(state));
    };
    outline.global.into_iter().for_each(|global| leave(global, &mut waiting));
    while let Some(to) = waiting.pop() {
        for id in outline.entered(to) {
            if !mem::replace(&mut reached[id.index()], true) {
                leave(id, &mut waiting);
            }
        }
    }
    reached
}

/// Whether an exit of the state `of` is taken whenever its condition holds: it leads to the state that it names, in the same
/// regions, it has no `at` and no cooldown, no final state holds it, no state that it may enter has an `enter_when`, and its target
/// is neither `of` nor an ancestor of `of`. False for exits of the global state and of a state with children, because then the target or a final state
/// may already be active. Behaviors may still refuse the change.
fn is_taken_if_it_holds(outline: &Outline, of: &StateOutline, exit: &ExitOutline) -> bool {
    let mut entered = outline.entered(exit.to).into_iter();
    of.children.is_empty()
        && exit.cooldown.is_none()
        && exit.at.is_none()
        && exit.leads == Leads::To
        && outline.global != Some(of.id)
        && outline.is_in_same_regions(of.id, exit.to)
        && (exit.even_final || !outline.is_in_end(of.id))
        && !outline.is_within(of.id, exit.to)
        && entered.all(|id| outline.state(id).enter_when.is_none())
}

/// Whether `before` is certainly taken before `exit` opens, if the condition of `before` holds. A random waiting time of
/// `before` counts with its maximum. If a value of the game determines this time, the order is unknown, and the result is
/// false. When a state is entered, exits with `always` are tried before exits without.
fn comes_first(before: &ExitOutline, exit: &ExitOutline) -> bool {
    let from = before.after.as_ref().map_or(Some(0.0), Duration::most);
    (before.is_always || !exit.is_always) && from.is_some_and(|from| from <= exit.opens_at())
}

/// Finds exits without a message that are never taken, because an earlier exit is always taken by the time they open.
fn never_taken(outline: &Outline, of: &StateOutline, findings: &mut Findings) {
    // The exit that is certainly taken first, and when it is taken, in seconds after the state is entered.
    let mut taken: Option<(&ExitOutline, f64)> = None;
    for exit in of.exits.iter().filter(|exit| exit.on.is_none() && of.choose == Choose::First) {
        if let Some((first, at)) = taken.filter(|(first, _)| comes_first(first, exit)) {
            let when = first.after().filter(|_| at > 0.0).map_or(String::new(), |after| format!(" after {after}"));
            let to = outline.state(first.to).name();
            let message = format!("this exit is never taken: an earlier exit, to `{to}`, is always taken{when}");
            let help = match exit.after {
                Some(_) if at > 0.0 => "give it a shorter `after`, or give the earlier exit a `when`",
                _ => "put it earlier, or give the earlier exit a `when`",
            };
            findings.add(Mistake::warning("never-taken", exit.span.clone(), message).label("never taken").help(help));
            continue;
        }
        let from = exit.is_always_from().filter(|_| is_taken_if_it_holds(outline, of, exit));
        if let Some(at) = from.filter(|at| taken.is_none_or(|(_, before)| *at < before)) {
            taken = Some((exit, at));
        }
    }
}

/// Finds states that are not reached because their parent has no `initial`. Marks all descendants of this parent as reached.
fn no_initial(outline: &Outline, reached: &mut [bool], findings: &mut Findings) {
    for state in &outline.states {
        let is_cause = state.initial.is_none() && state.regions.is_empty() && reached[state.id.index()];
        let Some(first) = state.children.iter().find(|child| is_cause && !reached[child.index()]) else { continue };
        // If some of them are still not reached when the parent has an `initial`, they are reported then.
        let mut within = state.children.clone();
        while let Some(id) = within.pop() {
            reached[id.index()] = true;
            within.extend(&outline.state(id).children);
        }
        let child = outline.state(*first);
        let message =
            format!("state `{}` has states in it, but no `initial`: an exit to it leads to none of them", state.name);
        Mistake::warning("no-initial", state.name.span.clone(), message)
            .label("which of its states does it begin with?")
            .second(Some(child.name.span.clone()), "this one is in it")
            .help(format!(
                "write `initial = \"{}\"`, or `entry = true` in those that the game's code changes to",
                child.name
            ))
            .report(findings);
    }
}

/// Finds exits of a final state.
fn no_end(state: &StateOutline, findings: &mut Findings) {
    let Some(exit) = state.exits.first().filter(|_| state.is_final && !state.is_foreign) else { return };
    let message = format!("state `{}` is final, but has an exit of its own", state.name);
    Mistake::warning("final-exit", exit.span.clone(), message)
        .label("leads out of the end")
        .help("remove the exit, or `final = true`")
        .report(findings);
}

/// Finds exits that are never taken because an earlier exit for the same message has the same condition, or has none.
fn same_condition<'o>(outline: &Outline, of: &'o StateOutline, findings: &mut Findings) {
    // For each message and condition, the first exit that is taken whenever the condition holds. An exit without a condition
    // covers all later exits for the same message.
    let mut taken: HashMap<(Option<&str>, Option<String>), &ExitOutline> = HashMap::new();
    let mut before = |exit: &'o ExitOutline| {
        let condition = match exit.when.as_deref() {
            Some(when) if !when.is_always() => when.constant()?,
            _ => String::new(),
        };
        let key = (exit.on(), Some(condition).filter(|condition| !condition.is_empty()));
        let covers = |before: &&&ExitOutline| comes_first(before, exit);
        // For exits without a message, `never_taken` looks for an earlier exit without a condition.
        let always = exit.on().and_then(|_| taken.get(&(exit.on(), None)));
        let same = taken.get(&key).filter(|_| key.1.is_some());
        let before = always.filter(&covers).or(same.filter(&covers)).copied();
        if before.is_none() && is_taken_if_it_holds(outline, of, exit) {
            taken.entry(key).or_insert(exit);
        }
        before
    };
    let exits: Vec<_> =
        of.exits.iter().filter(|_| of.choose == Choose::First).map(|exit| (exit, before(exit))).collect();
    // An exit for several messages is taken if it is taken for one of them.
    for parts in exits.chunk_by(|_, (next, _)| next.is_same) {
        let (exit, Some(before)) = parts[0] else { continue };
        if parts.iter().any(|(_, before)| before.is_none()) {
            continue;
        }
        let to = outline.state(before.to).name();
        let (why, help) = if before.when.is_some() {
            ("has the same condition", "remove one of them, or give it another `when`")
        } else {
            ("is always taken", "put it earlier, or give the earlier exit a `when`")
        };
        let message = format!("this exit is never taken: an earlier exit, to `{to}`, {why}");
        Mistake::warning("never-taken", exit.span.clone(), message)
            .label("never taken")
            .second(Some(before.span.clone()), "this one is taken")
            .help(help)
            .report(findings);
    }
}

/// Finds an `every` in a state with no behavior, no script, and no exit that is tried in a tick.
fn nothing_to_try(state: &StateOutline, findings: &mut Findings) {
    let Some(every) = &state.every else { return };
    if state.behaviors.is_empty() && state.script.is_none() && state.exits.iter().all(|exit| exit.on.is_some()) {
        let message = format!("state `{}` has nothing to do every {every}", state.name);
        Mistake::warning("nothing-to-try", every.span.clone(), message)
            .label("no behavior, and no exit that is tried")
            .help("remove it: exits that wait for a message do not wait for a turn")
            .report(findings);
    }
}

/// Finds an exit that waits for the end of a machine that has no final state.
fn never_done(outline: &Outline, state: &StateOutline, findings: &mut Findings) {
    let Some(exit) = state.exits.iter().find(|exit| exit.is_done) else { return };
    if !outline.states.iter().any(|end| end.ends == Some(state.id)) {
        let machine = state.machine().unwrap_or_default();
        let message = format!("this exit is never taken: machine `{machine}` has no final state");
        Mistake::warning("never-taken", exit.span.clone(), message)
            .label("waits for its end")
            .help("write `final = true` in the states in which it ends")
            .report(findings);
    }
}
