//! Exits that are never taken, though their conditions may hold, and states that are never reached for that.

use super::claim::{Claim, Quantity};
use super::conditions::{Impossible, Seen};
use super::machine::{ExitId, Machine, NeverTaken, Standing, clock};
use super::reach::{Reached, tried};
use super::reading::StateTime;
use super::solver::{ClaimAnswer, Work, solve};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::outline::StateId;
use crate::format::problems::mistake::Mistake;

/// Why an exit is never taken.
enum Reason {
    /// Its condition does not hold where it is tried.
    Condition,
    /// What it would enter cannot be entered when its condition holds.
    Guard(StateId),
    /// It leads to where the character is.
    AlreadyThere,
    /// It would lead out of an end.
    Final(StateId),
    /// Another exit is always taken first.
    Before(ExitId),
    /// Several are, this one among them.
    Among(ExitId),
    /// Its state is only passed through.
    Passed,
}

/// What is said of an exit of an active state that is never taken, and where that can be seen.
pub(super) fn exit(
    machine: &Machine<'_>,
    stage: Option<&dyn Stage>,
    reached: &Reached,
    impossible: &Impossible,
    id: ExitId,
    work: &mut Work,
) -> Option<Seen> {
    let exit = machine.exit(id);
    // That has been said of the condition.
    if impossible.exits.contains(&id) {
        return None;
    }
    let (reason, witness) = why(machine, stage, reached, id, work);
    if let Reason::Guard(to) = reason {
        if impossible.states.contains(&to) {
            return None;
        }
    }
    let name = |id: StateId| machine.state(id).name();
    let never =
        |why: &str| Mistake::warning("never-taken", exit.span.clone(), format!("this exit is never taken: {why}"));
    let mistake = match reason {
        Reason::Condition => never(&format!("its condition does not hold while `{}` is active", name(id.of)))
            .help("change its condition, or remove the exit"),
        Reason::Guard(to) => never(&format!("`{}` cannot be entered while its condition holds", name(to)))
            .help(format!("change its condition, or the `enter_when` of `{}`", name(to))),
        Reason::AlreadyThere => never(&format!("`{}` is active already wherever it is tried", name(exit.to)))
            .help("write `restart = true` if the state is to begin again, or remove the exit"),
        Reason::Final(end) => never(&format!("`{}` is final, and the exit is not its own", name(end)))
            .help("write `even_final = true` in the exit, or remove it"),
        Reason::Before(before) | Reason::Among(before) => {
            let other = machine.exit(before);
            let of = machine.state(before.of);
            let of_other = if before.of == id.of { String::new() } else { format!(" of `{}`", of.name()) };
            let which = match reason {
                Reason::Before(_) => format!("an earlier exit{of_other}, to `{}`,", name(other.to)),
                _ => format!("an earlier exit, such as the one{of_other} to `{}`,", name(other.to)),
            };
            let second = Some(other.span.clone()).filter(|_| !of.is_foreign);
            never(&format!("{which} is taken whenever this condition holds"))
                .second(second, "this one is taken")
                .help("put it earlier, or make the conditions of the earlier exits narrower")
        }
        Reason::Passed => never(&format!("`{}` is left before it is tried", name(id.of)))
            .help("change its condition, or remove the exit"),
    };
    Some((mistake.label("never taken"), witness))
}

/// Why it is never taken: as it is where its state is active and was found first.
fn why(
    machine: &Machine<'_>,
    stage: Option<&dyn Stage>,
    reached: &Reached,
    id: ExitId,
    work: &mut Work,
) -> (Reason, Option<Witness>) {
    let active = reached.active_with(machine, id.of).iter().take(16);
    let paths: Vec<_> = active.map(|at| machine.outline.path(*at)).collect();
    let exit = machine.exit(id);
    let mut reason = Reason::Condition;
    for path in &paths {
        let change = match machine.change(path, id) {
            Ok(change) => change,
            Err(refused) => {
                if matches!(reason, Reason::Condition) {
                    reason = match refused {
                        NeverTaken::AlreadyThere => Reason::AlreadyThere,
                        NeverTaken::Final(end) => Reason::Final(end),
                    };
                }
                continue;
            }
        };
        let order = Machine::order(path, 0);
        let at = Standing { path, time: &clock(0) };
        let asked = machine.asked(id, &at);
        if solve(&asked, &order, work) == ClaimAnswer::Never {
            if matches!(reason, Reason::AlreadyThere | Reason::Final(_)) {
                reason = Reason::Condition;
            }
            continue;
        }
        let own = machine.taken(id, &at);
        if solve(&own, &order, work) == ClaimAnswer::Never {
            let entered = change.entered.iter();
            let guarded = entered.copied().find(|id| machine.state(*id).enter_when.is_some());
            reason = Reason::Guard(guarded.unwrap_or(exit.to));
            continue;
        }
        let before = match exit.on() {
            Some(message) => machine.for_message(path, message),
            None => machine.in_tick(path),
        };
        let before: Vec<_> = before.into_iter().take_while(|before| *before != id).collect();
        let mut covers = |before: &&ExitId| {
            let not = tried(machine, **before, &at).negated();
            solve(&Claim::all([own.clone(), not]), &order, work) == ClaimAnswer::Never
        };
        let covering = before.iter().find(&mut covers).copied();
        if let Some(before) = covering {
            let witness = stage.and_then(|stage| shown(machine, stage, path, id, Some(before), work));
            return (Reason::Before(before), witness);
        }
        let mut not = vec![own];
        for before in before {
            let taken = tried(machine, before, &at);
            if let ClaimAnswer::Holds(_) = solve(&Claim::all(not.iter().cloned().chain([taken.clone()])), &order, work)
            {
                let witness = stage.and_then(|stage| shown(machine, stage, path, id, Some(before), work));
                return (Reason::Among(before), witness);
            }
            not.push(taken.negated());
        }
        return (Reason::Passed, stage.and_then(|stage| shown(machine, stage, path, id, None, work)));
    }
    let witness = stage.and_then(|stage| paths.iter().find_map(|path| shown(machine, stage, path, id, None, work)));
    (reason, witness)
}

/// Values with which an exit can be seen not to be taken: while its condition holds, if it can, and one before it is taken.
fn shown(
    machine: &Machine<'_>,
    stage: &dyn Stage,
    path: &[StateId],
    id: ExitId,
    before: Option<ExitId>,
    work: &mut Work,
) -> Option<Witness> {
    let exit = machine.exit(id);
    let together = |_: StateId| StateTime::Varies(Quantity::Together(0));
    let at = Standing { path, time: &together };
    let asked = machine.asked(id, &at);
    let first = before.map_or(Claim::Always, |before| {
        let tried_before = match exit.on() {
            Some(message) => machine.for_message(path, message),
            None => machine.in_tick(path),
        };
        let not = tried_before.into_iter().take_while(|other| *other != before);
        Claim::all(not.map(|other| machine.taken(other, &at).negated()).chain([machine.taken(before, &at)]))
    });
    // With the condition, or else as it is.
    let claims = [Claim::all([asked, first.clone()]).certain(), first.certain()];
    let situation = claims.iter().find_map(|claim| match solve(claim, &[], work) {
        ClaimAnswer::Holds(situation) => Some(situation),
        _ => None,
    })?;
    let time = situation.get(&Quantity::Together(0)).copied().unwrap_or(0.0);
    let message = exit.on().filter(|_| !exit.is_done);
    let from = path.last().copied();
    let leads_there = |witness: &Witness| match before {
        Some(before) => {
            let to = machine.state(machine.innermost(machine.exit(before).to)).name();
            witness.changes().iter().any(|change| change.to == to)
        }
        None => true,
    };
    if time <= 0.0 {
        let rows = vec![WitnessRow::of(0.0, &situation, message)];
        return stage.play(from, rows, 0.1, 0).filter(leads_there);
    }
    let rows = vec![quiet(machine, path, 0.0, work)?, WitnessRow::of(time, &situation, message)];
    stage.play(from, rows, time, 1).filter(leads_there)
}

/// Values with which no exit is taken, a number of seconds after all states of a path have been entered.
pub(super) fn quiet(
    machine: &Machine<'_>,
    path: &[StateId],
    time: f64,
    work: &mut Work,
) -> Option<super::witness::WitnessRow> {
    let known = |_: StateId| StateTime::Known(time);
    let at = Standing { path, time: &known };
    let none = Claim::all(machine.in_tick(path).into_iter().map(|id| machine.taken(id, &at).negated())).certain();
    match solve(&none, &[], work) {
        ClaimAnswer::Holds(situation) => Some(WitnessRow::of(time, &situation, None)),
        _ => None,
    }
}

/// What is said of a state that is never reached, and where that can be seen: where an exit that leads to it is not taken.
pub(super) fn state(
    machine: &Machine<'_>,
    stage: Option<&dyn Stage>,
    reached: &Reached,
    id: StateId,
    work: &mut Work,
) -> Seen {
    let said_of = machine.state(id);
    let message = format!("state `{}` can never be reached", said_of.name);
    let leads = |exit: &ExitId| {
        let to = machine.exit(*exit).to;
        machine.outline.path(to).contains(&id) || machine.outline.descent(to).contains(&id)
    };
    let active = machine.outline.states().iter().filter(|state| reached.is_active[state.id().index()]);
    let of = active.map(|state| state.id()).chain(machine.outline.global());
    let exit = of.flat_map(|of| machine.exits_of(of)).find(leads);
    let mistake = Mistake::warning("unreachable", said_of.name.span.clone(), message);
    let Some(exit) = exit else {
        let witness = stage.and_then(|stage| stage.play(None, Vec::new(), 0.1, 0));
        let mut inactive = machine.outline.states().iter().filter(|state| !reached.is_active[state.id().index()]);
        if inactive.any(|state| state.id() != id && machine.exits_of(state.id()).any(|exit| leads(&exit))) {
            let mistake = mistake.label("only states that are never reached lead here");
            return (mistake.help("let those be reached, or let another exit lead to it"), witness);
        }
        let help = "let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it";
        return (mistake.label("nothing leads here").help(help), witness);
    };
    let (_, witness) = why(machine, stage, reached, exit, work);
    let of = machine.state(exit.of);
    let second = Some(machine.exit(exit).span.clone()).filter(|_| !of.is_foreign);
    let mistake = mistake
        .label("in no situation")
        .second(second, "this exit is never taken")
        .help("change the conditions on the way, or write `entry = true` if the game's code changes to it");
    (mistake, witness)
}
