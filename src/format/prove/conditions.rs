//! Conditions that hold in no situation, wherever they are asked.

use std::collections::HashSet;

use super::claim::Claim;
use super::machine::{ExitId, Machine, Standing};
use super::reading::{Asking, StateTime};
use super::solver::{ClaimAnswer, Situation, Work, solve};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::draft::When;
use crate::format::expression::Expr;
use crate::format::outline::StateId;
use crate::format::problems::mistake::Mistake;

/// Conditions that never hold.
#[derive(Default)]
pub(super) struct Impossible {
    /// The exits with such a condition.
    pub(super) exits: HashSet<ExitId>,
    /// The states whose entry condition is one.
    pub(super) states: HashSet<StateId>,
}

/// A finding: what is said of it, and where it can be seen.
pub(super) type Seen = (Mistake, Option<Witness>);

/// Looks at each condition by itself.
pub(super) fn check(
    machine: &Machine<'_>,
    stage: Option<&dyn Stage>,
    work: &mut Work,
    found: &mut Vec<Seen>,
) -> Impossible {
    let mut impossible = Impossible::default();
    for state in machine.outline.states() {
        for id in machine.exits_of(state.id()) {
            let exit = machine.exit(id);
            let Some(when @ When::Expr { expr, .. }) = exit.when.as_deref() else { continue };
            let asking = machine.anywhere(Some(id.of), exit.on());
            if never(&asking, expr, work) {
                impossible.exits.insert(id);
                if !state.is_foreign {
                    let witness = stage.and_then(|stage| condition_witness(machine, stage, id, work));
                    found.push((mistake("contradiction", when, "this condition never holds"), witness));
                }
            } else if !state.is_foreign {
                parts(&asking, expr, when, work, found);
            }
        }
        let Some(when @ When::Expr { expr, .. }) = state.enter_when.as_deref() else { continue };
        let asking = machine.anywhere(None, None);
        if never(&asking, expr, work) {
            impossible.states.insert(state.id());
            if !state.is_foreign {
                let message = format!("state `{}` can never be entered: its `enter_when` never holds", state.name);
                let witness = stage.and_then(|stage| guard_witness(machine, stage, state.id(), work));
                found.push((mistake("guard-never-holds", when, message), witness));
            }
        } else if !state.is_foreign {
            parts(&asking, expr, when, work, found);
        }
    }
    impossible
}

fn mistake(code: &'static str, when: &When, message: impl Into<String>) -> Mistake {
    let When::Expr { span, .. } = when else { return Mistake::warning(code, 0..0, message) };
    Mistake::warning(code, span.clone(), message)
        .label("holds in no situation")
        .help("two of its parts exclude each other: change one, or remove the condition")
}

fn never(asking: &Asking<'_>, expr: &Expr, work: &mut Work) -> bool {
    solve(&asking.expr(expr), &[], work) == ClaimAnswer::Never
}

/// Parts of an `or` that never hold, in a condition that may.
fn parts(asking: &Asking<'_>, expr: &Expr, when: &When, work: &mut Work, found: &mut Vec<Seen>) {
    match expr {
        Expr::Or(all) => {
            for part in all {
                if *part != Expr::Bool(false) && never(asking, part, work) {
                    let message = format!("a part of this condition never holds: `{part}`");
                    found.push((
                        mistake("contradiction", when, message).label("without that part it is the same"),
                        None,
                    ));
                } else {
                    parts(asking, part, when, work, found);
                }
            }
        }
        Expr::And(all) => all.iter().for_each(|part| parts(asking, part, when, work, found)),
        _ => {}
    }
}

/// As many parts of an `and` as hold together.
fn most(expr: &Expr, asking: &Asking<'_>, and: &Claim, work: &mut Work) -> Option<Situation> {
    let parts = if let Expr::And(parts) = expr { &parts[..] } else { std::slice::from_ref(expr) };
    let mut claims = vec![and.clone()];
    let ClaimAnswer::Holds(mut best) = solve(and, &[], work) else { return None };
    for part in parts {
        claims.push(asking.expr(part).certain());
        match solve(&Claim::all(claims.iter().cloned()), &[], work) {
            ClaimAnswer::Holds(situation) => best = situation,
            _ => {
                claims.pop();
            }
        }
    }
    Some(best)
}

/// A situation in which most of a condition holds, and its exit is not taken all the same.
fn condition_witness(machine: &Machine<'_>, stage: &dyn Stage, id: ExitId, work: &mut Work) -> Option<Witness> {
    let exit = machine.exit(id);
    let Some(When::Expr { expr, .. }) = exit.when.as_deref() else { return None };
    let from = if Some(id.of) == machine.outline.global() { machine.outline.initial() } else { id.of };
    let at = machine.innermost(from);
    let path = machine.outline.path(at);
    let time = |_: StateId| StateTime::Known(0.0);
    let standing = Standing { path: &path, time: &time };
    let asking = machine.asking(Some(id.of), exit.on(), &standing);
    let quiet = machine.in_tick(&path).into_iter().map(|id| machine.taken(id, &standing).negated().certain());
    let situation = most(expr, &asking, &Claim::all(quiet), work).unwrap_or_default();
    let row = WitnessRow::of(0.0, &situation, exit.on().filter(|_| !exit.is_done));
    let played = stage.play(Some(from), vec![row], 0.1, 0)?;
    played.changes().is_empty().then_some(played)
}

/// A situation in which an exit that leads to a state is not taken, for its entry condition does not hold.
fn guard_witness(machine: &Machine<'_>, stage: &dyn Stage, to: StateId, work: &mut Work) -> Option<Witness> {
    let outline = machine.outline;
    let states = outline.states().iter().filter(|state| Some(state.id()) != outline.global());
    let ids = states.flat_map(|state| machine.exits_of(state.id()));
    for id in ids {
        let exit = machine.exit(id);
        let path = outline.path(machine.innermost(id.of));
        let Ok(change) = machine.change(&path, id) else { continue };
        if !change.entered.contains(&to) || exit.is_done {
            continue;
        }
        let time = |_: StateId| StateTime::Known(0.0);
        let standing = Standing { path: &path, time: &time };
        let quiet = machine.in_tick(&path).into_iter().map(|id| machine.taken(id, &standing).negated());
        let claim = Claim::all(quiet.chain([machine.asked(id, &standing)])).certain();
        let ClaimAnswer::Holds(situation) = solve(&claim, &[], work) else { continue };
        let row = WitnessRow::of(0.0, &situation, exit.on());
        if let Some(played) = stage.play(Some(id.of), vec![row], 0.1, 0).filter(|played| played.changes().is_empty()) {
            return Some(played);
        }
    }
    None
}
