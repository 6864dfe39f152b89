//! Explains why exits are never taken although their conditions may hold, and why states are never reached because of this.

use super::claim::{Claim, Quantity};
use super::conditions::Impossible;
use super::machine::{Machine, NeverTaken, Sighting, StateTime};
use super::reach::Reached;
use super::solver::ClaimAnswer;
use super::witness::{Witness, WitnessRow};
use crate::format::outline::{ExitId, StateId};
use crate::format::problems::mistake::Mistake;

/// Why an exit is never taken.
enum Reason {
    /// Its condition does not hold where the exit is tried.
    Condition,
    /// While its condition holds, this state, which the exit would enter, cannot be entered.
    Guard(StateId),
    /// The change itself is never possible, in any situation. There may be paths on which the condition does not hold either.
    Change(NeverTaken),
    /// Another exit is always taken first.
    Before(ExitId),
    /// One of several other exits is always taken first. This is one of them.
    Among(ExitId),
    /// Its state is always left before the exit is tried.
    Passed,
}

/// Returns the finding for an exit that is never taken, although its state can be active.
pub(super) fn exit(machine: &Machine<'_>, reached: &Reached, impossible: &Impossible, id: ExitId) -> Option<Sighting> {
    let exit = machine.exit(id);
    // A condition that never holds has already been reported.
    if impossible.exits.contains(&id) {
        return None;
    }
    let (reason, witness) = why(machine, reached, id);
    let name = |id: StateId| machine.state(id).name();
    let never =
        |why: &str| Mistake::warning("never-taken", exit.span.clone(), format!("this exit is never taken: {why}"));
    let mistake = match reason {
        Reason::Condition => never(&format!("its condition does not hold while `{}` is active", name(id.of)))
            .help("change its condition, or remove the exit"),
        Reason::Guard(to) if impossible.states.contains(&to) => return None,
        Reason::Guard(to) => never(&format!("`{}` cannot be entered while its condition holds", name(to)))
            .help(format!("change its condition, or the `enter_when` of `{}`", name(to))),
        Reason::Change(NeverTaken::AlreadyThere) => {
            never(&format!("`{}` is active already wherever it would be taken", name(exit.to)))
                .help("write `restart = true` if the state is to begin again, or remove the exit")
        }
        Reason::Change(NeverTaken::Final(end)) => {
            never(&format!("`{}` is final, and the exit is not its own", name(end)))
                .help("write `even_final = true` in the exit, or remove it")
        }
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

/// Returns why an exit is never taken, and a witness. It looks at the first 16 paths on which the exit is tried, until one of
/// them explains it.
fn why(machine: &Machine<'_>, reached: &Reached, id: ExitId) -> (Reason, Option<Witness>) {
    let active = reached.active_with(machine, id.of).iter().take(16);
    let paths: Vec<_> = active.map(|at| machine.outline.path(*at)).collect();
    let mut reason = Reason::Condition;
    for path in &paths {
        let change = match machine.change(path, id) {
            Ok(change) => change,
            Err(refused) => {
                // A final state is a reason on any path, but `AlreadyThere` is a reason only if it applies on all paths.
                if matches!(reason, Reason::Condition | Reason::Change(NeverTaken::AlreadyThere)) {
                    reason = Reason::Change(refused);
                }
                continue;
            }
        };
        let is_never = |claim: &Claim| machine.solve(claim, path) == ClaimAnswer::Never;
        let at = machine.at(path, StateTime::Varies);
        if is_never(&at.asked(id)) {
            continue;
        }
        let own = at.taken(id);
        if is_never(&own) {
            let mut entered = change.entered.iter().copied();
            let guarded = entered.find(|id| machine.state(*id).enter_when.is_some());
            reason = Reason::Guard(guarded.unwrap_or(machine.exit(id).to));
            continue;
        }
        let before = machine.before(id, path);
        let covers = |before: &&ExitId| is_never(&Claim::all([own.clone(), at.taken_before(**before, id).negated()]));
        if let Some(before) = before.iter().find(covers) {
            return (Reason::Before(*before), shown(machine, path, id, Some(*before)));
        }
        let mut not = own;
        for before in before {
            let taken = at.taken_before(before, id);
            if let ClaimAnswer::Holds(_) = machine.solve(&Claim::all([not.clone(), taken.clone()]), path) {
                return (Reason::Among(before), shown(machine, path, id, Some(before)));
            }
            not = Claim::all([not, taken.negated()]);
        }
        // With regions, the condition may require states in other regions that are never active together with the path.
        let reason = if machine.outline.has_regions() { Reason::Condition } else { Reason::Passed };
        return (reason, shown(machine, path, id, None));
    }
    (reason, paths.iter().find_map(|path| shown(machine, path, id, None)))
}

/// Returns a witness in which an exit is not taken: if possible, its condition holds while the exit `before` is taken.
fn shown(machine: &Machine<'_>, path: &[StateId], id: ExitId, before: Option<ExitId>) -> Option<Witness> {
    machine.stage.as_ref()?;
    let exit = machine.exit(id);
    let at = machine.at(path, StateTime::Together);
    let asked = at.asked(id);
    let first = before.map_or(Claim::ALWAYS, |before| {
        let earlier = machine.before(id, path).into_iter().take_while(|other| *other != before);
        Claim::all([at.none_taken(earlier), at.taken(before)])
    });
    // First with the condition of the exit, then without it.
    let claims = [Claim::all([asked, first.clone()]).certain(), first.certain()];
    let situation = claims.iter().find_map(|claim| machine.situation(claim))?;
    let time = situation.get(&Quantity::Together).copied().unwrap_or(0.0);
    let mut rows = vec![WitnessRow::of(time.max(0.0), &situation, exit.on().filter(|_| !exit.is_done))];
    let (tick, ticks) = if time > 0.0 { (time, 1) } else { (0.1, 0) };
    if ticks > 0 {
        rows.insert(0, quiet(machine, path, 0.0)?);
    }
    let to = before.map(|before| machine.state(machine.innermost(machine.exit(before).to)).name());
    let leads_there = |witness: &Witness| to.is_none_or(|to| witness.changes().iter().any(|change| change.to == to));
    machine.play(path.last().copied(), rows, tick, ticks).filter(leads_there)
}

/// Returns values with which no exit is taken when all states of a path have been active for `time` seconds.
pub(super) fn quiet(machine: &Machine<'_>, path: &[StateId], time: f64) -> Option<WitnessRow> {
    let situation = machine.situation(&machine.at(path, StateTime::Known(time)).quiet().certain())?;
    Some(WitnessRow::of(time, &situation, None))
}

/// Returns the finding for a state that is never reached. If an exit leads to the state, the witness shows that this exit is
/// not taken.
pub(super) fn state(machine: &Machine<'_>, reached: &Reached, id: StateId) -> Sighting {
    let said_of = machine.state(id);
    let message = format!("state `{}` can never be reached", said_of.name);
    let leads = |exit: &ExitId| {
        let to = machine.exit(*exit).to;
        machine.outline.is_within(to, id)
            || machine.outline.is_within(id, to) && machine.outline.descent(to).contains(&id)
    };
    let active = machine.outline.states().iter().filter(|state| reached.is_active(state.id()));
    let of = active.map(|state| state.id()).chain(machine.outline.global());
    let exit = of.flat_map(|of| machine.exits_of(of)).find(leads);
    let mistake = Mistake::warning("unreachable", said_of.name.span.clone(), message);
    let Some(exit) = exit else {
        let witness = machine.play(None, Vec::new(), 0.1, 0);
        let mut inactive = machine.outline.states().iter().filter(|state| !reached.is_active(state.id()));
        if inactive.any(|state| state.id() != id && machine.exits_of(state.id()).any(|exit| leads(&exit))) {
            let mistake = mistake.label("only states that are never reached lead here");
            return (mistake.help("let those be reached, or let another exit lead to it"), witness);
        }
        let help = "let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it";
        return (mistake.label("nothing leads here").help(help), witness);
    };
    let (_, witness) = why(machine, reached, exit);
    let of = machine.state(exit.of);
    let second = Some(machine.exit(exit).span.clone()).filter(|_| !of.is_foreign);
    let mistake = mistake
        .label("in no situation")
        .second(second, "this exit is never taken")
        .help("change the conditions on the way, or write `entry = true` if the game's code changes to it");
    (mistake, witness)
}
