//! Finds states that a character can reach but never leave: from some time on, no exit can be taken, whatever the values are.

use std::collections::{BTreeMap, HashSet};
use std::iter;

use super::claim::Claim;
use super::machine::{Machine, StateTime};
use super::never::quiet;
use super::reach::Reached;
use super::solver::ClaimAnswer;
use super::witness::{Witness, WitnessRow};
use crate::format::outline::ways_out::WaysOut;
use crate::format::outline::{StateId, StateOutline};
use crate::format::problems::mistake::Mistake;

/// A time, in seconds, at which all waiting times have certainly passed.
const LATE: f64 = 1e15;

/// The maximum number of ticks that are played to show that a state lasts.
const MOST_TICKS: u32 = 64;

/// Returns the states of linked machines that have a way out in this machine, as the starts of their names in the text. The
/// linked machine by itself may have no way out of them.
pub(super) fn left(machine: &Machine<'_>, reached: &Reached) -> impl Iterator<Item = usize> {
    let linked =
        reached.innermost.iter().map(|id| machine.state(*id)).filter(|state| state.is_linked && !state.is_foreign);
    let ways_out = WaysOut::of(machine.outline);
    let is_left = move |state: &&StateOutline| !is_stuck(machine, &machine.outline.path(state.id()), &ways_out);
    linked.filter(is_left).map(|state| state.name.span.start)
}

/// Checks all innermost states. A state in `left` is not reported in its own machine, because it has a way out where that
/// machine is linked.
pub(super) fn check(machine: &Machine<'_>, reached: &Reached, left: &HashSet<usize>) {
    let ways_out = WaysOut::of(machine.outline);
    for innermost in &reached.innermost {
        if machine.work.is_over() {
            return;
        }
        let path = machine.outline.path(*innermost);
        let said_of = machine.state(*innermost);
        let is_left = !said_of.is_linked && left.contains(&said_of.name.span.start);
        if is_left || !is_stuck(machine, &path, &ways_out) {
            continue;
        }
        let constants = times(machine, &path);
        let last = constants.last().copied();
        let witness = lasting(machine, &path, &constants);
        // Without a witness, the state is probably always left before its last exit closes.
        if witness.is_none() && last.is_some() {
            continue;
        }
        let has_exits = machine.exits_on(&path).next().is_some();
        let after = last.map(|last| format!(" after {last} s in it")).unwrap_or_default();
        let mistake = Mistake::warning(
            "no-way-out",
            said_of.name.span.clone(),
            format!("state `{}` has no way out{after}", said_of.name),
        );
        let (label, help) = match (has_exits, last) {
            (_, Some(_)) => ("then no exit opens any more", "give it an exit that can be taken later"),
            (true, None) => ("none of the exits is ever taken", "change their conditions"),
            (false, None) => ("nothing leads out", "give it an exit"),
        };
        let help = format!("{help}, or write `final = true` if it is meant to be the end");
        machine.report(mistake.label(label).help(help), witness);
    }
}

/// Whether a path has no final state, and from some time on, nothing leads out of it.
fn is_stuck(machine: &Machine<'_>, path: &[StateId], ways_out: &WaysOut<'_>) -> bool {
    if path.iter().any(|id| machine.state(*id).is_final) || ways_out.is_left_otherwise(path) {
        return false;
    }
    let late = machine.at(path, StateTime::Known(LATE));
    // An exit for the end of a machine is tried when a state is entered, but not later.
    machine
        .exits_on(path)
        .all(|id| machine.exit(id).is_done || machine.solve(&late.taken(id), &[]) == ClaimAnswer::Never)
}

/// Returns the times, in seconds, at which an exit opens or closes while a path is active, in order.
fn times(machine: &Machine<'_>, path: &[StateId]) -> Vec<f64> {
    let mut times = Vec::new();
    for id in machine.exits_on(path) {
        machine.at(path, StateTime::Varies).taken(id).times(&mut times);
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Returns a witness in which a path stays active until no exit opens any more.
fn lasting(machine: &Machine<'_>, path: &[StateId], constants: &[f64]) -> Option<Witness> {
    machine.stage.as_ref()?;
    let last = constants.last().copied().unwrap_or(0.0);
    let before = iter::once(0.0).chain(constants.iter().copied());
    let gap = before.zip(constants).map(|(before, constant)| constant - before).filter(|gap| *gap > 0.0);
    // Because of the factor, no tick is exactly at one of these times. So an exit that is open only for a moment may be
    // missed.
    let tick = gap.fold(last.max(1.0), f64::min) * 0.37;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a number of ticks, and not below 0"
    )]
    let ticks = ((last / tick).ceil() as u32).saturating_add(2);
    if ticks > MOST_TICKS {
        // Too many ticks, so one row with constant values is tried instead.
        let times = constants.iter().copied().flat_map(|at| [(at - tick).max(0.0), at + tick]);
        let none = Claim::all(times.map(|time| machine.at(path, StateTime::Known(time)).quiet()));
        let rows = vec![WitnessRow::of(0.0, &machine.situation(&none.certain())?, None)];
        return machine.play(path.last().copied(), rows, last / 16.3, 18).filter(Witness::stays);
    }
    let mut rows = Vec::new();
    let mut set = BTreeMap::new();
    for at in 0..=ticks {
        let time = (f64::from(at) * tick * 1e9).round() / 1e9;
        let mut row = quiet(machine, path, time)?;
        row.values.retain(|(name, value)| set.insert(name.clone(), *value) != Some(*value));
        if !row.values.is_empty() {
            rows.push(row);
        }
    }
    machine.play(path.last().copied(), rows, tick, ticks).filter(Witness::stays)
}
