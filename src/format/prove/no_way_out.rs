//! States that a character can come to and then not leave any more: nothing opens later, whatever the values are.

use std::collections::BTreeMap;

use super::claim::{Claim, ClaimTest};
use super::conditions::Seen;
use super::machine::{Machine, Standing, clock};
use super::never::quiet;
use super::reach::Reached;
use super::reading::StateTime;
use super::solver::{ClaimAnswer, Work, solve};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::outline::{BehaviorOutline, StateId};
use crate::format::problems::mistake::Mistake;

/// A time at which all that waits has been open for long, in seconds.
const LATE: f64 = 1e15;

/// The most ticks in which it is shown that a state lasts.
const MOST_TICKS: u32 = 64;

/// Looks at all innermost states.
pub(super) fn check(
    machine: &Machine<'_>,
    stage: Option<&dyn Stage>,
    reached: &Reached,
    work: &mut Work,
    found: &mut Vec<Seen>,
) {
    for at in &reached.innermost {
        if work.is_over() {
            return;
        }
        let path = machine.outline.path(*at);
        let around = || path.iter().copied().chain(machine.outline.global()).map(|id| machine.state(id));
        // What a behavior names, it may lead to; a script, to anything.
        let unchecked = &machine.outline.unchecked.behaviors;
        let may_name = |behavior: &BehaviorOutline| {
            !behavior.named.is_empty() || behavior.params.is_some() && unchecked.contains(&behavior.name.text)
        };
        let may_lead = around().any(|state| state.script.is_some() || state.behaviors.iter().any(may_name));
        if may_lead || path.iter().any(|id| machine.state(*id).is_final) {
            continue;
        }
        let late = |_: StateId| StateTime::Known(LATE);
        let standing = Standing { path: &path, time: &late };
        let mut exits = around().flat_map(|state| machine.exits_of(state.id()));
        // An exit for the end of a machine is tried while a state is entered, not later.
        let is_stuck = exits.all(|id| {
            machine.exit(id).is_done || solve(&machine.taken(id, &standing), &[], work) == ClaimAnswer::Never
        });
        if !is_stuck {
            continue;
        }
        let said_of = machine.state(*at);
        let constants = times(machine, &path);
        let last = constants.last().copied();
        let witness = stage.and_then(|stage| lasting(machine, stage, &path, &constants, work));
        // It is always left before.
        if witness.is_none() && last.is_some() {
            continue;
        }
        let has_exits = around().any(|state| !state.exits.is_empty());
        let after = last.map(|last| format!(" after {last} s in it")).unwrap_or_default();
        let mistake = Mistake::warning(
            "no-way-out",
            said_of.name.span.clone(),
            format!("state `{}` has no way out{after}", said_of.name),
        );
        let mistake = match (has_exits, last) {
            (_, Some(_)) => mistake
                .label("then no exit opens any more")
                .help("give it an exit that can be taken later, or write `final = true` if it is meant to be the end"),
            (true, None) => mistake
                .label("none of the exits is ever taken")
                .help("change their conditions, or write `final = true` if it is meant to be the end"),
            (false, None) => mistake
                .label("nothing leads out")
                .help("give it an exit, or write `final = true` if it is meant to be the end"),
        };
        found.push((mistake, witness));
    }
}

/// The times at which something opens or closes while a path is active, in order.
fn times(machine: &Machine<'_>, path: &[StateId]) -> Vec<f64> {
    let mut times = Vec::new();
    let states = path.iter().copied().chain(machine.outline.global());
    for id in states.flat_map(|of| machine.exits_of(of)) {
        let taken = machine.taken(id, &Standing { path, time: &clock(0) });
        taken.visit(&mut |quantity, test| {
            if let (true, ClaimTest::Compared(_, with)) = (quantity.is_clock(), test) {
                times.push(with.max(0.0));
            }
        });
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Values with which a path stays active until nothing opens any more.
fn lasting(
    machine: &Machine<'_>,
    stage: &dyn Stage,
    path: &[StateId],
    constants: &[f64],
    work: &mut Work,
) -> Option<Witness> {
    let last = constants.last().copied().unwrap_or(0.0);
    let before = std::iter::once(0.0).chain(constants.iter().copied());
    let gap = before.zip(constants).map(|(before, constant)| constant - before).filter(|gap| *gap > 0.0);
    // No tick is at just such a time: an exit that is open for a moment may be missed.
    let tick = gap.fold(last.max(1.0), f64::min) * 0.37;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a number of ticks, and not below 0"
    )]
    let ticks = ((last / tick).ceil() as u32).saturating_add(2);
    if ticks > MOST_TICKS {
        // With the same values all the time, then.
        let times = constants.iter().copied().flat_map(|at| [(at - tick).max(0.0), at + tick]);
        let none = times.map(|time| {
            let known = move |_: StateId| StateTime::Known(time);
            let at = Standing { path, time: &known };
            Claim::all(machine.in_tick(path).into_iter().map(|id| machine.taken(id, &at).negated()))
        });
        let ClaimAnswer::Holds(situation) = solve(&Claim::all(none).certain(), &[], work) else { return None };
        let rows = vec![WitnessRow::of(0.0, &situation, None)];
        return stays(stage.play(path.last().copied(), rows, last / 16.3, 18)?);
    }
    let mut rows = Vec::new();
    let mut set = BTreeMap::new();
    for at in 0..=ticks {
        let time = (f64::from(at) * tick * 1e9).round() / 1e9;
        let mut row = quiet(machine, path, time, work)?;
        row.values.retain(|(name, value)| set.insert(name.clone(), *value) != Some(*value));
        if !row.values.is_empty() {
            rows.push(row);
        }
    }
    stays(stage.play(path.last().copied(), rows, tick, ticks)?)
}

fn stays(witness: Witness) -> Option<Witness> {
    witness.changes().is_empty().then_some(witness)
}
