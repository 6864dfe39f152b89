//! The simulator: a machine that is put into every situation.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use demeanor::definition::{Definition, Outline, Verdict};
use demeanor::{StateMachine, StateRef};

use crate::guard::{Guard, Hit};
use crate::property::RandomProperty;

/// The numbers that the conditions compare with, those around them, and none.
const NUMBERS: [f64; 6] = [0.0, 1.0, 1.5, 2.0, 3.0, f64::NAN];

/// How long the machine may have been in its states, where conditions ask for 1 and 2 seconds: less, just as long, and more.
const STEPS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];

/// What a message says, where conditions ask for more than 1 and 2.
const DAMAGES: [f64; 3] = [1.0, 2.0, 3.0];

/// Each change that a guard has made by an exit that names its target: from, to.
fn changes(guard: &Guard) -> impl Iterator<Item = (&str, &str)> {
    let changes = guard.changes.iter().filter_map(|line| line.strip_suffix(" (change)")?.split_once(" -> "));
    changes.map(|(from, to)| (from, to.split_once(" in ").map_or(to, |(to, _)| to)))
}

/// Whether a guard has changed its state.
fn has_moved(guard: &Guard) -> bool {
    guard.changes.iter().any(|line| line.contains(" -> ") && !line.contains("refused"))
}

/// All values that a file tells apart.
pub(crate) fn guards(text: &str) -> Vec<Guard> {
    let asks = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|other| other == word);
    let of = |name| if asks(name) { &NUMBERS[..] } else { &NUMBERS[..1] };
    let mut guards = Vec::new();
    for &x in of("x") {
        for &y in of("y") {
            for &a in if asks("a") { &[false, true][..] } else { &[false] } {
                for &luck in if asks("random") { &[0, 1, 7][..] } else { &[0] } {
                    guards.push(Guard { x, y, a, luck, ..Guard::default() });
                }
            }
        }
    }
    guards
}

/// What has been seen of a machine.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The states that were active.
    pub(crate) active: BTreeSet<String>,
    /// The exits that were taken: of which state, and the how many-th.
    pub(crate) taken: BTreeSet<(String, usize)>,
    /// Those that may have been, where several lead to the same state.
    pub(crate) perhaps: BTreeSet<(String, usize)>,
    /// Groups of states that lead to each other in every tick.
    pub(crate) flickering: BTreeSet<BTreeSet<String>>,
    /// Innermost states that are never left once they have lasted long.
    pub(crate) stuck: BTreeSet<String>,
    /// The properties that were broken at the end of a tick.
    pub(crate) broken: BTreeSet<usize>,
    /// For each innermost state that has lasted long, whether it was left then.
    pub(crate) late: BTreeMap<String, bool>,
}

/// A moment of a machine: the active states, and the time in each.
type Moment = Vec<(String, u64)>;

/// The maximum number of moments of a machine with regions that are looked at. In each of them, one in seven of the values is tried.
const MOST_MOMENTS: usize = 32;

pub(crate) struct Simulator<'d> {
    guards: Vec<Guard>,
    sends: bool,
    definition: &'d Definition<Guard>,
    properties: &'d [RandomProperty],
    outline: Outline,
    seen: Seen,
    known: HashSet<Moment>,
    waiting: Vec<(StateMachine<Guard>, f64)>,
}

impl<'d> Simulator<'d> {
    pub(crate) fn run(definition: &'d Definition<Guard>, properties: &'d [RandomProperty], text: &str) -> Seen {
        let mut simulator = Self {
            guards: guards(text),
            sends: text.contains("hit"),
            definition,
            properties,
            outline: definition.outline(),
            seen: Seen::default(),
            known: HashSet::new(),
            waiting: Vec::new(),
        };
        for guard in simulator.guards.clone() {
            let (mut machine, mut guard, mut clock) = (definition.machine().with_limit(64), guard, 0.0);
            machine.start(&mut guard, &mut clock);
            simulator.note(&machine, clock, &guard);
        }
        let mut late: BTreeMap<String, bool> = BTreeMap::new();
        let sends = simulator.sends;
        let has_regions = simulator.outline.states().iter().any(|state| state.regions().len() > 0);
        while let Some((machine, now)) = simulator.waiting.pop() {
            let looked_at = simulator.known.len() - simulator.waiting.len();
            if has_regions && looked_at > MOST_MOMENTS {
                break;
            }
            let (first, every) = if has_regions { (looked_at % 7, 7) } else { (0, 1) };
            let guards: Vec<_> = simulator
                .guards
                .iter()
                .cycle()
                .skip(first)
                .step_by(every)
                .take(simulator.guards.len().div_ceil(every))
                .cloned()
                .collect();
            let active: Vec<_> = machine.active_states().cloned().collect();
            let innermost = active.iter().filter(|of| !active.iter().any(|inner| inner.parent().as_ref() == Some(*of)));
            let is_late = |state: &StateRef<Guard>| {
                let mut path = std::iter::successors(Some(state.clone()), |state| state.parent());
                path.all(|state| machine.time_in(&*state, &now).is_some_and(|time| time >= 4.0))
            };
            let innermost: Vec<_> = innermost.filter(|state| is_late(state)).collect();
            let mut is_left = vec![false; innermost.len()];
            for step in STEPS {
                for guard in guards.clone() {
                    let mut after = vec![simulator.tick(&machine, now + step, &guard)];
                    for damage in DAMAGES.into_iter().filter(|_| sends) {
                        after.push(simulator.send(&machine, now + step, &guard, damage));
                    }
                    for (is_left, state) in is_left.iter_mut().zip(&innermost) {
                        let clock = now + step;
                        let stays = |after: &StateMachine<Guard>| after.time_in(&***state, &clock) >= Some(4.0);
                        *is_left |= !after.iter().all(stays);
                    }
                }
            }
            for (state, is_left) in innermost.iter().zip(is_left) {
                *late.entry(state.to_string()).or_default() |= is_left;
            }
        }
        if !text.contains("regions") {
            simulator.flicker();
        }
        let stuck = late.iter().filter(|(_, is_left)| !**is_left).map(|(name, _)| name.clone()).collect();
        (simulator.seen.stuck, simulator.seen.late) = (stuck, late);
        simulator.seen
    }

    /// Which exits would be taken, as the definition itself says.
    fn explained(&mut self, machine: &StateMachine<Guard>, clock: f64, guard: &Guard, damage: Option<f64>) {
        let (mut machine, mut guard, mut clock) = (machine.clone(), guard.clone(), clock);
        let definition = self.definition;
        let reports = machine.with(&mut guard, &mut clock, |guard, fsm, clock| match damage {
            None => definition.explain_with(guard, fsm, clock),
            Some(damage) => definition.explain_message(&Hit(damage), guard, fsm, clock),
        });
        let mut nth: BTreeMap<(String, bool), usize> = BTreeMap::new();
        for report in reports {
            let is_message = report.on.is_some();
            let state = self.outline.states().iter().find(|state| state.name() == report.of).unwrap();
            let count = nth.entry((report.of.clone(), is_message)).or_default();
            let exits = state.exits().iter().enumerate().filter(|(_, exit)| exit.on().is_some() == is_message);
            let (at, _) = { exits }.nth(*count).unwrap();
            *count += 1;
            if is_message == damage.is_some() && report.verdict == Verdict::Taken {
                self.seen.taken.insert((report.of, at));
            }
        }
    }

    fn tick(&mut self, machine: &StateMachine<Guard>, mut clock: f64, guard: &Guard) -> StateMachine<Guard> {
        let (mut after, mut changed) = (machine.clone(), guard.clone());
        after.update(&mut changed, &mut clock);
        self.note(&after, clock, &changed);
        self.check(&after, clock, &changed);
        if has_moved(&changed) {
            self.explained(machine, clock, guard, None);
        }
        after
    }

    fn send(
        &mut self,
        machine: &StateMachine<Guard>,
        mut clock: f64,
        guard: &Guard,
        damage: f64,
    ) -> StateMachine<Guard> {
        let (mut after, mut changed) = (machine.clone(), guard.clone());
        after.send(&mut changed, &Hit(damage), &mut clock);
        self.note(&after, clock, &changed);
        if has_moved(&changed) {
            self.explained(machine, clock, guard, Some(damage));
        }
        after
    }

    /// Which properties are broken at the end of a tick, or a second later.
    fn check(&mut self, machine: &StateMachine<Guard>, clock: f64, guard: &Guard) {
        for (nth, property) in self.properties.iter().enumerate().filter(|(_, property)| property.holds(machine, guard))
        {
            let has_reached = |machine: &StateMachine<Guard>, to| {
                machine.active_states().any(|state| state.to_string() == format!("s{to}"))
            };
            let is_broken = property.reach.is_none_or(|to| {
                !has_reached(machine, to)
                    && self.guards.iter().step_by(5).any(|guard| {
                        let (mut later, mut guard, mut clock) = (machine.clone(), guard.clone(), clock + 1.0);
                        later.update(&mut guard, &mut clock);
                        !has_reached(&later, to)
                    })
            });
            if is_broken {
                self.seen.broken.insert(nth);
            }
        }
    }

    /// Where a machine is now, and what has led there.
    fn note(&mut self, machine: &StateMachine<Guard>, clock: f64, guard: &Guard) {
        // A change to where only one exit leads tells which that was, also where several were made in one tick.
        for (from, to) in changes(guard) {
            for name in [from, to] {
                let id = self.outline.states().iter().find(|state| state.name() == name).unwrap().id();
                let path = self.outline.path(id);
                self.seen.active.extend(path.into_iter().map(|id| self.outline.state(id).name().to_owned()));
            }
            self.attribute(from, to);
        }
        let time = |state: &StateRef<Guard>| machine.time_in(&**state, &clock).unwrap_or(0.0).min(4.0).to_bits();
        let moment = machine.active_states().map(|state| (state.to_string(), time(state))).collect();
        self.seen.active.extend(machine.active_states().map(ToString::to_string));
        if self.known.insert(moment) {
            self.waiting.push((machine.clone(), clock));
        }
    }

    fn attribute(&mut self, from: &str, to: &str) {
        let id = |name: &str| self.outline.states().iter().find(|state| state.name() == name).unwrap().id();
        // An exit may lead to a state in another region than its own.
        let anywhere = self.outline.states().iter().map(|state| state.id());
        let has_regions = self.outline.states().iter().any(|state| state.regions().len() > 0);
        let around = self.outline.path(id(from)).into_iter().chain(self.outline.global());
        let around: Vec<_> = if has_regions { anywhere.collect() } else { around.collect() };
        let around = around.into_iter();
        let mut exits = around.flat_map(|of| (0..self.outline.state(of).exits().len()).map(move |nth| (of, nth)));
        let leads = |(of, nth): &(_, usize)| {
            let target = self.outline.state(*of).exits()[*nth].target();
            if has_regions {
                return self.outline.entered(target).contains(&id(to));
            }
            self.outline.descent(target).last() == Some(&id(to))
        };
        let leading = exits.by_ref().filter(leads);
        let mut leading: Vec<_> = leading.map(|(of, nth)| (self.outline.state(of).name().to_owned(), nth)).collect();
        if leading.len() == 1 {
            self.seen.taken.extend(leading.pop());
        } else {
            self.seen.perhaps.extend(leading);
        }
    }

    /// From each state as it has just been entered, with each of the values, whether it flickers.
    fn flicker(&mut self) {
        let names: Vec<String> = self.seen.active.iter().cloned().collect();
        for name in names {
            let state = self.definition.state(&name).unwrap();
            if state.initial().is_some() {
                continue;
            }
            for guard in self.guards.clone() {
                let (mut guard, mut clock) = (guard, 0.0);
                let mut machine = StateMachine::new(state.clone()).with_limit(64);
                if let Some(global) = self.definition.global() {
                    machine = machine.with_global(global);
                }
                machine.start(&mut guard, &mut clock);
                let mut each = true;
                let mut states = BTreeSet::new();
                for tick in 0..12 {
                    clock += 0.05;
                    guard.changes.clear();
                    machine.update(&mut guard, &mut clock);
                    each &= changes(&guard).next().is_some();
                    // Once it has come to where it goes round.
                    if tick >= 4 {
                        states.extend(changes(&guard).map(|(from, _)| from.to_owned()));
                    }
                }
                if each && states.len() > 1 {
                    self.seen.flickering.insert(states);
                }
            }
        }
    }
}
