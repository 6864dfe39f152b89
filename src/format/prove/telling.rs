//! What is said of states that lead to each other, once a machine has gone round in them.

use std::collections::BTreeSet;

use super::claim::Quantity;
use super::conditions::Seen;
use super::machine::{ExitId, Machine};
use super::solver::{ClaimAnswer, Situation, Work, solve};
use super::step::{End, MOST_CHANGES, TickStep};
use super::witness::{Stage, Witness, WitnessRow};
use crate::format::outline::StateId;
use crate::format::problems::mistake::Mistake;

/// The most states that a message names.
const MOST_NAMED: usize = 8;

/// The most steps of a circle that is played twice.
const SHORT: usize = 8;

pub(super) struct Telling<'s, 'o> {
    pub(super) machine: &'s Machine<'o>,
    pub(super) stage: &'s dyn Stage,
    pub(super) tick: f64,
    pub(super) found: &'s mut Vec<Seen>,
    /// The exits of the circles that have been told.
    pub(super) told: BTreeSet<Vec<usize>>,
    /// The exits of the circles within one tick that have been told.
    pub(super) passed: BTreeSet<ExitId>,
}

impl Telling<'_, '_> {
    /// Tells what is done without end within one tick, once a state has been entered or where a tick begins in it.
    pub(super) fn at_once(&mut self, start: StateId, step: &TickStep, work: &mut Work) {
        let mut situation = || match solve(&step.claim, &[], work) {
            ClaimAnswer::Holds(situation) => Some(situation),
            _ => None,
        };
        match step.end {
            End::Rests => {}
            End::Circle(from) => {
                let circle = &step.exits[from..];
                // From the others, it is found from the first of its states.
                if circle[0].1 == start {
                    let Some(situation) = situation() else { return };
                    self.circle(circle, &situation, 2 * circle.len(), self.tick, within_a_tick, |telling, who, when| {
                        let first = telling.machine.exit(circle[0].0);
                        Mistake::error(
                            "endless-circle",
                            first.span.clone(),
                            format!("{who} without end within one tick{when}"),
                        )
                        .label("as soon as the state is entered")
                        .help("after 64 changes the character stays where it is, with an error in the log: make the conditions exclude each other")
                    });
                    self.passed.extend(circle.iter().map(|(id, _)| *id));
                }
            }
            End::TooMany => {
                if step.exits.iter().any(|(id, _)| self.passed.contains(id)) {
                    return;
                }
                let Some(situation) = situation() else { return };
                let row = WitnessRow::of(0.0, &situation, None);
                let seen = self.stage.play(Some(start), vec![row], self.tick, 2).filter(within_a_tick);
                let Some(seen) = seen else { return };
                self.passed.extend(step.exits.iter().map(|(id, _)| *id));
                let first = self.machine.exit(step.exits[0].0);
                let mistake = Mistake::error(
                    "too-many-changes",
                    first.span.clone(),
                    format!(
                        "more than {MOST_CHANGES} states follow one another within one tick, from `{}` on{}",
                        self.machine.state(start).name(),
                        said(&situation)
                    ),
                )
                .label("the first of the exits")
                .help("after 64 changes the character stays where it is, with an error in the log: let one of the states last until the next tick");
                self.found.push((mistake, Some(seen)));
            }
        }
    }

    /// Tells a circle in which a change is made in every tick.
    pub(super) fn in_each_tick(&mut self, start: StateId, steps: &[&TickStep], situation: &Situation) {
        let circle: Vec<_> = steps.iter().flat_map(|step| step.exits.iter().copied()).collect();
        let is_long = steps.len() > SHORT;
        let ticks = if is_long { steps.len() } else { 2 * steps.len() };
        let mut tick = self.tick;
        // All of it has to be over before anything that waits opens.
        while is_long && tick > 2e-4 && tick * u32::try_from(ticks).map_or(f64::INFINITY, f64::from) > 4.0 * self.tick {
            tick /= 2.0;
        }
        let name = self.machine.state(start).name().to_owned();
        let is_seen = |seen: &Witness| in_every_tick(seen, &name);
        self.circle(&circle, situation, ticks, tick, is_seen, |telling, who, when| {
            let first = telling.machine.exit(circle[0].0);
            Mistake::warning("flicker", first.span.clone(), format!("{who} in every tick{when}"))
                .label("leads there")
                .help("make the conditions exclude each other, or let one of the states last: `after = 0.5`")
        });
    }

    /// Tells a circle, if a machine goes round in it.
    fn circle(
        &mut self,
        circle: &[(ExitId, StateId)],
        situation: &Situation,
        ticks: usize,
        tick: f64,
        is_seen: impl Fn(&Witness) -> bool,
        mistake: impl FnOnce(&Self, &str, &str) -> Mistake,
    ) {
        let mut key: Vec<_> = circle.iter().map(|(id, _)| self.machine.exit(*id).span.start).collect();
        key.sort_unstable();
        key.dedup();
        if self.told.contains(&key) {
            return;
        }
        let start = circle[0].1;
        let row = WitnessRow::of(0.0, situation, None);
        let ticks = u32::try_from(ticks + 2).unwrap_or(u32::MAX);
        let seen = self.stage.play(Some(start), vec![row], tick, ticks).filter(is_seen);
        let Some(seen) = seen else { return };
        self.told.insert(key);
        let mut states = Vec::new();
        for (_, from) in circle {
            if !states.contains(from) {
                states.push(*from);
            }
        }
        let name = |id: &StateId| format!("`{}`", self.machine.state(*id).name());
        let who = match &states[..] {
            [] => return,
            [one] => format!("state {} leads to itself", name(one)),
            some if some.len() > MOST_NAMED => {
                let names: Vec<_> = some[..MOST_NAMED].iter().map(name).collect();
                format!("states {} and {} more lead to each other", names.join(", "), some.len() - MOST_NAMED)
            }
            [some @ .., last] => {
                let names: Vec<_> = some.iter().map(name).collect();
                format!("states {} and {} lead to each other", names.join(", "), name(last))
            }
        };
        let is_foreign = |id: ExitId| self.machine.state(id.of).is_foreign;
        let second = circle.get(1).map(|(id, _)| *id).filter(|id| !is_foreign(*id));
        let second = second.map(|id| self.machine.exit(id).span.clone());
        let mistake = mistake(self, &who, &said(situation)).second(second, "leads on");
        self.found.push((mistake, Some(seen)));
    }
}

/// A situation in words.
fn said(situation: &Situation) -> String {
    let said: Vec<_> = situation
        .iter()
        .filter_map(|(quantity, number)| match quantity {
            Quantity::Number(name) => Some(format!("`{name} = {number}`")),
            Quantity::Flag(name) => Some(format!("`{name} = {}`", *number != 0.0)),
            _ => None,
        })
        .collect();
    match &said[..] {
        [] => String::new(),
        said if said.len() <= 6 => format!(", with {}", said.join(", ")),
        said => format!(", with {} and {} more", said[..6].join(", "), said.len() - 6),
    }
}

/// Whether changes are made until the limit, within one tick.
fn within_a_tick(seen: &Witness) -> bool {
    let changes = seen.changes();
    #[expect(clippy::float_cmp, reason = "it is the same tick")]
    changes.windows(64).any(|changes| changes[0].time == changes[63].time)
}

/// Whether a change is made in every tick but the first, in which no time has passed, and the first state comes back.
fn in_every_tick(seen: &Witness, start: &str) -> bool {
    #[expect(clippy::float_cmp, reason = "it is the same tick")]
    let changes_at = |tick: u32| seen.changes().iter().any(|change| change.time == f64::from(tick) * seen.tick());
    let comes_back = seen.changes().iter().filter(|change| change.from == start).count() >= 2;
    comes_back && (1..=seen.ticks).all(changes_at)
}
