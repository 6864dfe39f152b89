//! Reports circles of states, after a machine has shown that they happen.

use std::collections::BTreeSet;

use super::machine::Machine;
use super::solver::Situation;
use super::step::TickStep;
use super::witness::{Witness, WitnessRow};
use crate::format::outline::{ExitId, StateId};
use crate::format::problems::mistake::Mistake;

/// The maximum number of states that a message names.
const MOST_NAMED: usize = 8;

/// The maximum number of ticks in a circle that is played twice.
const SHORT: usize = 8;

pub(super) struct Telling<'s> {
    pub(super) machine: &'s Machine<'s>,
    pub(super) tick: f64,
    /// For each reported circle, the positions of its exits in the file.
    pub(super) told: BTreeSet<BTreeSet<usize>>,
}

impl Telling<'_> {
    /// Reports an endless circle within one tick that begins when `start` has just been entered.
    pub(super) fn at_once(&mut self, start: StateId, step: &TickStep) {
        let Some(from) = step.circle else { return };
        let circle = &step.exits[from..];
        // A circle is reported only when the search starts from its first state.
        if circle[0].1 != start {
            return;
        }
        let Some(situation) = self.machine.situation(&step.claim) else { return };
        let is_seen = |_: &Witness, times: &[f64]| within_a_tick(times, circle.len());
        let Some(seen) = self.go_round(circle, &situation, 2 * circle.len(), self.tick, is_seen) else { return };
        let message = format!("{} without end within one tick{}", self.lead_around(circle), said(&situation));
        let mistake = Mistake::error("endless-circle", self.machine.exit(circle[0].0).span.clone(), message)
            .label("as soon as the state is entered")
            .help("the character changes until the machine takes this for a cycle, with an error in the log: make the conditions exclude each other");
        self.tell(circle, mistake, seen);
    }

    /// Reports a circle of states in which the machine makes a change in every tick.
    pub(super) fn in_each_tick(&mut self, start: StateId, steps: &[&TickStep], situation: &Situation) {
        let circle: Vec<_> = steps.iter().flat_map(|step| step.exits.iter().copied()).collect();
        let is_long = steps.len() > SHORT;
        let ticks = if is_long { steps.len() } else { 2 * steps.len() };
        let mut tick = self.tick;
        // The whole run must end before any waiting exit opens.
        while is_long && tick > 2e-4 && tick * u32::try_from(ticks).map_or(f64::INFINITY, f64::from) > 4.0 * self.tick {
            tick /= 2.0;
        }
        let name = self.machine.state(start).name();
        let is_seen = |seen: &Witness, times: &[f64]| in_every_tick(seen, times, name);
        let Some(seen) = self.go_round(&circle, situation, ticks, tick, is_seen) else { return };
        let message = format!("{} in every tick{}", self.lead_around(&circle), said(situation));
        let mistake = Mistake::warning("flicker", self.machine.exit(circle[0].0).span.clone(), message)
            .label("leads there")
            .help("make the conditions exclude each other, or let one of the states last: `after = 0.5`");
        self.tell(&circle, mistake, seen);
    }

    /// Plays a circle on a machine. Returns what the machine did. `None` if it did not follow the circle, or if the circle has
    /// already been reported. `is_seen` decides whether the machine followed the circle, from the times at which it left
    /// states of the circle.
    fn go_round(
        &mut self,
        circle: &[(ExitId, StateId)],
        situation: &Situation,
        ticks: usize,
        tick: f64,
        is_seen: impl Fn(&Witness, &[f64]) -> bool,
    ) -> Option<Witness> {
        let key: BTreeSet<_> = circle.iter().map(|(id, _)| self.machine.exit(*id).span.start).collect();
        if self.told.contains(&key) {
            return None;
        }
        let row = WitnessRow::of(0.0, situation, None);
        let ticks = u32::try_from(ticks + 2).unwrap_or(u32::MAX);
        let seen = self.machine.play(Some(circle[0].1), vec![row], tick, ticks)?;
        // Changes in other regions do not count.
        let is_of_circle = |name: &str| circle.iter().any(|(_, from)| self.machine.state(*from).name() == name);
        let changes = seen.changes().iter().filter(|change| is_of_circle(&change.from));
        let times: Vec<_> = changes.map(|change| change.time).collect();
        is_seen(&seen, &times).then(|| {
            self.told.insert(key);
            seen
        })
    }

    /// Returns a text that says that the states of a circle lead to each other.
    fn lead_around(&self, circle: &[(ExitId, StateId)]) -> String {
        let mut names = Vec::new();
        for (_, from) in circle {
            let name = format!("`{}`", self.machine.state(*from).name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match &names[..] {
            [one] => format!("state {one} leads to itself"),
            names if names.len() > MOST_NAMED => {
                let (first, more) = names.split_at(MOST_NAMED);
                format!("states {} and {} more lead to each other", first.join(", "), more.len())
            }
            [names @ .., last] => format!("states {} and {last} lead to each other", names.join(", ")),
            [] => String::new(),
        }
    }

    /// Reports a circle, with its second exit as the second place.
    fn tell(&self, circle: &[(ExitId, StateId)], mistake: Mistake, seen: Witness) {
        let second = circle.get(1).filter(|(id, _)| !self.machine.state(id.of).is_foreign);
        let second = second.map(|(id, _)| self.machine.exit(*id).span.clone());
        self.machine.report(mistake.second(second, "leads on"), Some(seen));
    }
}

/// Returns a situation as text.
pub(super) fn said(situation: &Situation) -> String {
    let values = WitnessRow::of(0.0, situation, None).values;
    let said: Vec<_> = values.iter().map(|(name, value)| format!("`{name} = {value}`")).collect();
    match &said[..] {
        [] => String::new(),
        said if said.len() <= 6 => format!(", with {}", said.join(", ")),
        said => format!(", with {} and {} more", said[..6].join(", "), said.len() - 6),
    }
}

/// Whether the machine went round a circle of `changes` changes twice within one tick, from the times of these changes.
fn within_a_tick(times: &[f64], changes: usize) -> bool {
    #[expect(clippy::float_cmp, reason = "it is the same tick")]
    times.windows(2 * changes).any(|around| around[0] == around[2 * changes - 1])
}

/// Whether a change of the circle was made in every tick, and the machine came back to the first state. The first tick does not
/// count, because no time has passed in it.
fn in_every_tick(seen: &Witness, times: &[f64], start: &str) -> bool {
    let comes_back = seen.changes().iter().filter(|change| change.from == start).count() >= 2;
    comes_back && (1..=seen.ticks).all(|tick| times.contains(&(f64::from(tick) * seen.tick())))
}
