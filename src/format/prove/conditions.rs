//! Finds conditions that hold in no situation, whatever states are active.

use std::collections::HashSet;
use std::ops::Range;
use std::slice;

use super::claim::Claim;
use super::machine::Asking;
use super::machine::{Machine, StateTime};
use super::solver::{ClaimAnswer, Situation};
use super::witness::{Witness, WitnessRow};
use crate::format::expression::{Expr, When};
use crate::format::outline::{ExitId, StateId};
use crate::format::problems::mistake::Mistake;

/// Conditions that never hold.
#[derive(Default)]
pub(super) struct Impossible {
    /// The exits whose condition never holds.
    pub(super) exits: HashSet<ExitId>,
    /// The states whose entry condition never holds.
    pub(super) states: HashSet<StateId>,
}

/// Checks each condition on its own.
pub(super) fn check(machine: &Machine<'_>) -> Impossible {
    let mut impossible = Impossible::default();
    for state in machine.outline.states() {
        for id in machine.exits_of(state.id()) {
            let exit = machine.exit(id);
            let Some(When::Expr { expr, span, .. }) = exit.when.as_deref() else { continue };
            let asking = machine.anywhere(Some(id.of), exit.on());
            if never(&asking, expr) {
                impossible.exits.insert(id);
                if !state.is_foreign {
                    let mistake = mistake("contradiction", span, "this condition never holds");
                    machine.report(mistake, condition_witness(machine, expr, id));
                }
            } else if !state.is_foreign {
                parts(&asking, expr, span);
            }
        }
        let Some(When::Expr { expr, span, .. }) = state.enter_when.as_deref() else { continue };
        let asking = machine.anywhere(None, None);
        if never(&asking, expr) {
            impossible.states.insert(state.id());
            if !state.is_foreign {
                let message = format!("state `{}` can never be entered: its `enter_when` never holds", state.name);
                machine.report(mistake("guard-never-holds", span, message), guard_witness(machine, state.id()));
            }
        } else if !state.is_foreign {
            parts(&asking, expr, span);
        }
    }
    impossible
}

fn mistake(code: &'static str, at: &Range<usize>, message: impl Into<String>) -> Mistake {
    Mistake::warning(code, at.clone(), message)
        .label("holds in no situation")
        .help("two of its parts exclude each other: change one, or remove the condition")
}

fn never(asking: &Asking<'_>, expr: &Expr) -> bool {
    asking.machine.solve(&asking.expr(expr), &[]) == ClaimAnswer::Never
}

/// Reports parts of an `or` that never hold, in a condition that may hold.
fn parts(asking: &Asking<'_>, expr: &Expr, at: &Range<usize>) {
    match expr {
        Expr::Or(all) => {
            for part in all {
                if *part != Expr::Bool(false) && never(asking, part) {
                    let message = format!("a part of this condition never holds: `{part}`");
                    let mistake = mistake("contradiction", at, message).label("without that part it is the same");
                    asking.machine.report(mistake, None);
                } else {
                    parts(asking, part, at);
                }
            }
        }
        Expr::And(all) => all.iter().for_each(|part| parts(asking, part, at)),
        _ => {}
    }
}

/// Returns a situation in which a claim holds. If possible, the parts of an `and` hold in it, too: each part in turn is added
/// to the claim, unless the claim then holds in no situation.
fn most(expr: &Expr, asking: &Asking<'_>, claim: Claim) -> Option<Situation> {
    let parts = if let Expr::And(parts) = expr { &parts[..] } else { slice::from_ref(expr) };
    let mut best = asking.machine.situation(&claim)?;
    let mut claims = vec![claim];
    for part in parts {
        claims.push(asking.expr(part).certain());
        match asking.machine.situation(&Claim::all(claims.iter().cloned())) {
            Some(situation) => best = situation,
            None => drop(claims.pop()),
        }
    }
    Some(best)
}

/// Returns a witness in which most of a condition holds, but its exit is still not taken.
fn condition_witness(machine: &Machine<'_>, expr: &Expr, id: ExitId) -> Option<Witness> {
    machine.stage.as_ref()?;
    let exit = machine.exit(id);
    let from = if Some(id.of) == machine.outline.global() { machine.outline.initial() } else { id.of };
    let path = machine.outline.path(machine.innermost(from));
    let at = machine.at(&path, StateTime::Known(0.0));
    let asking = at.asking(Some(id.of), exit.on());
    let situation = most(expr, &asking, at.quiet().certain()).unwrap_or_default();
    let row = WitnessRow::of(0.0, &situation, exit.on().filter(|_| !exit.is_done));
    machine.play(Some(from), vec![row], 0.1, 0).filter(Witness::stays)
}

/// Returns a witness in which an exit to a state is not taken, because the state's entry condition does not hold.
fn guard_witness(machine: &Machine<'_>, to: StateId) -> Option<Witness> {
    machine.stage.as_ref()?;
    let outline = machine.outline;
    let states = outline.states().iter().filter(|state| Some(state.id()) != outline.global());
    let mut ids = states.flat_map(|state| machine.exits_of(state.id()));
    ids.find_map(|id| {
        let exit = machine.exit(id);
        let path = outline.path(machine.innermost(id.of));
        let change = machine.change(&path, id).ok()?;
        if !change.entered.contains(&to) || exit.is_done {
            return None;
        }
        let at = machine.at(&path, StateTime::Known(0.0));
        let situation = machine.situation(&Claim::all([at.quiet(), at.asked(id)]).certain())?;
        let row = WitnessRow::of(0.0, &situation, exit.on());
        machine.play(Some(id.of), vec![row], 0.1, 0).filter(Witness::stays)
    })
}
