//! Searches for runs that violate properties or take exits. A run is a machine that is played from its beginning, with values
//! that are chosen so that exits are taken, so each run that is found really happens.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::claim::{Claim, Quantity};
use super::configuration::Configuration;
use super::flicker::shortest;
use super::machine::{Machine, Standing, StateTime};
use super::witness::{CHANCE, StageRun, Witness, WitnessRow, WitnessValue};
use crate::format::expression::When;
use crate::format::outline::{ExitId, StateId};
use crate::format::property::{Property, PropertyRule};

/// The maximum number of ticks that are played, for all runs.
const MOST_TICKS: u32 = 50_000;

/// The maximum number of ticks for which a run waits until something changes.
const MOST_QUIET: u32 = 400;

/// The maximum number of ticks for which a run waits for the turns of states with `every`.
const MOST_TURNS: u32 = 40;

/// A deadline, in seconds, that no run reaches. It keeps an exit with `at` closed while a run waits.
const NO_DEADLINE: f64 = 1e9;

/// The random numbers that are tried in a tick that depends on one.
const CHANCES: [f64; 8] = [0.5, 0.01, 0.15, 0.3, 0.4, 0.6, 0.8, 0.97];

/// The random number while a run waits. Few exits have a greater chance, so few exits open.
const WAITING: f64 = 0.6;

/// The numbers that are tried for a value if the conditions of an exit do not determine it, for example because of a score.
const PROBES: [f64; 6] = [1.0, -1.0, 10.0, 100.0, -100.0, 0.0];

/// A goal of the search: something that a run does in its last tick.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Goal {
    /// It violates the property with this name.
    Violates(String),
    Takes(ExitId),
}

/// A run that was found.
pub(super) struct FoundRun {
    pub(super) witness: Witness,
    /// The goals that its last tick reached first.
    pub(super) goals: Vec<Goal>,
    /// The exits that it takes, in this order.
    pub(super) taken: Vec<ExitId>,
}

/// A run that has been played up to a tick.
struct Played {
    run: Box<dyn StageRun>,
    rows: Vec<WitnessRow>,
    /// The number of the next tick.
    next: u32,
    taken: Vec<ExitId>,
}

/// The active states, each with how many of the times in [`Times`] will have passed in it at the next tick. Then the same for
/// each property: `None` if it does not wait.
type Passed = (Vec<(StateId, usize)>, Vec<Option<usize>>);

struct RunSearch<'s> {
    machine: &'s Machine<'s>,
    tick: f64,
    times: &'s Times,
    /// The situations that runs have reached, each with the greatest [`Times::progress`].
    known: HashMap<Passed, f64>,
    /// The runs that have not been continued, in the order of their turns: runs that reach something new come first, then runs
    /// with fewer ticks.
    waiting: BTreeMap<(bool, u32, u32), Played>,
    left: u32,
    /// The states that runs have reached, each with the longest time in it, in seconds.
    longest: HashMap<StateId, f64>,
    wanted: &'s mut BTreeSet<Goal>,
    /// The goals that the runs so far have reached, each with the fewest ticks for it.
    reached: BTreeMap<Goal, u32>,
    /// The names of the values for which the numbers in [`PROBES`] are tried.
    numbers: Vec<String>,
}

/// The times, in seconds, with which conditions compare the times in states.
#[derive(Default)]
struct Times {
    /// All times, in ascending order.
    all: Vec<f64>,
    /// The longest time of each state.
    most: HashMap<StateId, f64>,
    /// The longest time that a property allows.
    within: f64,
}

impl Times {
    fn of(machine: &Machine<'_>) -> Self {
        let mut times = Self::default();
        for state in machine.outline.states() {
            let path = machine.outline.path(state.id());
            machine.exits_of(state.id()).for_each(|id| times.add(&machine.at(&path, StateTime::Varies).asked(id)));
        }
        for property in &*machine.outline.properties {
            let conditions = property.rule.conditions();
            conditions.for_each(|when| times.add(&machine.anywhere(None, None).when(when)));
            if let PropertyRule::Reach { within, .. } = &property.rule {
                times.all.extend(within.seconds());
                times.within = times.within.max(within.seconds().unwrap_or(0.0));
            }
        }
        times.all.sort_by(f64::total_cmp);
        times.all.dedup();
        times
    }

    fn add(&mut self, claim: &Claim) {
        claim.times(&mut self.all);
        claim.visit(&mut |(quantity, _, with)| {
            if let Quantity::Clock(id) = quantity {
                let most = self.most.entry(*id).or_insert(0.0);
                *most = most.max(*with);
            }
        });
    }

    fn last(&self) -> f64 {
        self.all.last().copied().unwrap_or(0.0)
    }

    /// Returns how long a run has waited so far: the sum of the times in its active states and of the waits of properties, each
    /// up to the longest time that matters.
    fn progress(&self, scene: &Scene<'_>) -> f64 {
        let active = scene.active.iter().map(|(id, time)| time.min(self.most.get(id).copied().unwrap_or(0.0)));
        active.chain(scene.waited.iter().flatten().map(|waited| waited.min(self.within))).sum()
    }
}

/// The result of a search.
#[derive(Default)]
pub(super) struct Found {
    /// A shortest run for each goal that the search has reached, in the order of their lengths.
    pub(super) runs: Vec<FoundRun>,
    /// The states that runs have reached, each with the longest time in it, in seconds.
    pub(super) longest: HashMap<StateId, f64>,
    /// Whether the search was given up because there are too many runs.
    pub(super) is_cut: bool,
}

/// Searches for runs that violate the properties with the names `wanted`. Returns a shortest run for each property for which the
/// search finds one: no run of fewer ticks of this length violates the property.
pub(super) fn violations(machine: &Machine<'_>, wanted: BTreeSet<String>) -> BTreeMap<String, Witness> {
    // The run has no scripts. In the game, a script may answer differently, and may act.
    let is_script = |when: &When| matches!(when, When::Script(_));
    let mut states = machine.outline.states().iter();
    let has_scripts = states.any(|state| state.script.is_some() || state.conditions().any(is_script));
    if has_scripts || machine.may_refuse {
        return BTreeMap::new();
    }
    let mut wanted = wanted.into_iter().map(Goal::Violates).collect();
    let mut violations = BTreeMap::new();
    for run in search(machine, shortest(machine), &Times::of(machine), &mut wanted, Vec::new()).runs {
        for goal in run.goals {
            if let Goal::Violates(name) = goal {
                violations.insert(name, run.witness.clone());
            }
        }
    }
    violations
}

/// Searches for runs that take exits. If a time is too long for the shortest ticks, searches once more with longer ticks.
pub(super) fn takes(machine: &Machine<'_>, wanted: impl Iterator<Item = ExitId>) -> Found {
    let numbers = machine.stage.as_ref().map(|stage| stage.numbers()).unwrap_or_default();
    let (mut wanted, times) = (wanted.map(Goal::Takes).collect(), Times::of(machine));
    let mut tick = shortest(machine);
    let mut found = search(machine, tick, &times, &mut wanted, numbers.clone());
    let is_too_long = |tick: f64| times.last() > tick * f64::from(MOST_QUIET) * 0.9;
    if !wanted.is_empty() && is_too_long(tick) {
        while is_too_long(tick) {
            tick *= 10.0;
        }
        let more = search(machine, tick, &times, &mut wanted, numbers);
        found.runs.extend(more.runs);
        found.is_cut |= more.is_cut;
        for (id, time) in more.longest {
            let longest = found.longest.entry(id).or_default();
            *longest = longest.max(time);
        }
    }
    found
}

fn search(machine: &Machine<'_>, tick: f64, times: &Times, wanted: &mut BTreeSet<Goal>, numbers: Vec<String>) -> Found {
    let Some(stage) = machine.stage.as_ref().filter(|_| !wanted.is_empty()) else { return Found::default() };
    let mut runs = Vec::new();
    let (known, waiting, reached, longest) = (HashMap::new(), BTreeMap::new(), BTreeMap::new(), HashMap::new());
    let mut search =
        RunSearch { machine, tick, times, known, waiting, left: MOST_TICKS, longest, wanted, reached, numbers };
    search.go_on(&Played { run: stage.begin(), rows: Vec::new(), next: 0, taken: Vec::new() });
    while let Some((_, played)) = search.waiting.pop_first() {
        let goals: Vec<_> = played.goals().filter(|goal| search.wanted.remove(goal)).collect();
        if !goals.is_empty() {
            let run = machine.play(None, played.rows.clone(), tick, played.next - 1);
            runs.extend(run.map(|witness| FoundRun { witness, goals, taken: played.taken.clone() }));
        }
        if search.wanted.is_empty() || machine.work.is_over() || search.left == 0 {
            break;
        }
        search.go_on(&played);
    }
    let is_cut = machine.work.is_over() || search.left == 0;
    Found { runs, longest: search.longest, is_cut }
}

impl RunSearch<'_> {
    /// Continues a run in all ways: with changes, and by waiting until a time has passed.
    fn go_on(&mut self, played: &Played) {
        let scene = Scene::of(self, played);
        self.stay(played, &scene);
        let mut tried: Vec<WitnessRow> = Vec::new();
        for (row, exit) in scene.rows(self.wanted) {
            if !tried.contains(&row) {
                tried.push(row.clone());
                self.attempt(played, &row);
            }
            let goal = exit.map(Goal::Takes).filter(|goal| self.wanted.contains(goal));
            let names = self.numbers.clone();
            let probes = names.iter().flat_map(|name| PROBES.map(|number| (name, number)));
            for (name, number) in goal.iter().flat_map(|_| probes.clone()) {
                if goal.as_ref().is_some_and(|goal| self.reached.contains_key(goal)) || self.left == 0 {
                    break;
                }
                let mut row = row.clone();
                row.values.retain(|(of, _)| of != name);
                row.values.push((name.clone(), WitnessValue::Number(number)));
                self.attempt(played, &row);
            }
        }
    }

    /// Continues a run by waiting until a time has passed.
    fn stay(&mut self, played: &Played, scene: &Scene<'_>) {
        let mut quiet = scene.row(&scene.quiet(), None);
        let before = self.passed(scene);
        let mut next = played.fork();
        for _ in 0..MOST_QUIET {
            let Some(row) = quiet.filter(|_| self.left > 0) else { return };
            let Some(waited) = self.wait(&next, row) else { return };
            next = waited;
            let scene = Scene::of(self, &next);
            if self.passed(&scene) != before || self.reaches_goal(&next) || played.next == 0 {
                return self.keep(next);
            }
            let last = self.times.last();
            let mut times = scene.active.iter().map(|(_, time)| *time).chain(scene.waited.iter().copied().flatten());
            if times.all(|time| time > last) {
                return;
            }
            quiet = scene.row(&scene.quiet(), None);
        }
    }

    /// Plays a tick in which the run waits, with one random number if the tick depends on one.
    fn wait(&mut self, played: &Played, mut row: WitnessRow) -> Option<Played> {
        let mut next = played.fork();
        if self.tick(&mut next, row.clone()) {
            return Some(next);
        }
        row.values.push((CHANCE.into(), WitnessValue::Number(WAITING)));
        next = played.fork();
        self.tick(&mut next, row).then_some(next)
    }

    /// Plays a tick, with several random numbers if it depends on one, and waits for the turns of states with `every`. Keeps the
    /// runs that this leads to.
    fn attempt(&mut self, played: &Played, row: &WitnessRow) {
        let mut next = played.fork();
        let is_certain = self.tick(&mut next, row.clone());
        let chances = if is_certain { &[][..] } else { &CHANCES };
        for chance in chances {
            let mut row = row.clone();
            row.values.push((CHANCE.into(), WitnessValue::Number(*chance)));
            let mut next = played.fork();
            if self.tick(&mut next, row) {
                self.keep(next);
            }
        }
        if !is_certain {
            return;
        }
        self.keep(next.fork());
        let machine = self.machine;
        let most = if row.message.is_none() && next.run.taken().is_empty() { MOST_TURNS } else { 0 };
        for _ in 0..most {
            let mut active = next.run.active().into_iter();
            if !active.any(|(id, _)| machine.state(id).every.is_some()) {
                return;
            }
            if !self.tick(&mut next, WitnessRow { time: 0.0, values: Vec::new(), message: None }) {
                return;
            }
            if !next.run.taken().is_empty() {
                return self.keep(next);
            }
        }
    }

    /// Plays a tick. Returns whether its result is certain, see [`StageRun::tick`]. If it is not, the run cannot be continued.
    fn tick(&mut self, played: &mut Played, mut row: WitnessRow) -> bool {
        let time = f64::from(played.next) * self.tick;
        row.time = (time * 1e9).round() / 1e9;
        // A value stays the same until a row or the file sets it.
        row.values.retain(|(name, value)| played.run.value(name) != Some(value.number()));
        self.left = self.left.saturating_sub(1);
        let is_certain = played.run.tick(&row, time);
        played.next += 1;
        for (id, time) in played.run.active() {
            let longest = self.longest.entry(id).or_default();
            *longest = longest.max(time);
        }
        played.taken.extend(played.run.taken());
        let set = |name: &str| played.rows.iter().rev().flat_map(|row| &row.values).find(|(of, _)| of == name);
        row.values.retain(|(name, chance)| name != CHANCE || set(name).is_none_or(|(_, before)| before != chance));
        if !(row.values.is_empty() && row.message.is_none()) {
            played.rows.push(row);
        }
        is_certain
    }

    fn keep(&mut self, played: Played) {
        let scene = Scene::of(self, &played);
        let progress = self.times.progress(&scene);
        let known = self.known.entry(self.passed(&scene));
        let is_new = matches!(known, Entry::Vacant(_));
        let longest = known.or_insert(progress);
        let is_longer = progress > *longest + 1e-9;
        *longest = longest.max(progress);
        let is_first = is_new || self.reaches_goal(&played);
        if is_first || is_longer {
            for goal in played.goals() {
                let least = self.reached.entry(goal).or_insert(played.next);
                *least = played.next.min(*least);
            }
            // At least one tick is played for each run, so the last part of the key is unique.
            self.waiting.insert((!is_first, played.next, MOST_TICKS - self.left), played);
        }
    }

    /// Whether the last tick of a run reaches a goal that no run with as few ticks has reached.
    fn reaches_goal(&self, played: &Played) -> bool {
        let is_first = |goal: &Goal| self.reached.get(goal).is_none_or(|least| played.next < *least);
        played.goals().any(|goal| self.wanted.contains(&goal) && is_first(&goal))
    }

    fn passed(&self, scene: &Scene<'_>) -> Passed {
        let count = |time: f64| self.times.all.iter().filter(|passed| **passed <= time).count();
        // A condition may require that more than a time has passed, or exactly this time.
        let passed = |time: f64| count(time + 1e-9) + count(time - 1e-9);
        let active = scene.active.iter().map(|(id, time)| (*id, passed(*time)));
        (active.collect(), scene.waited.iter().map(|waited| waited.map(passed)).collect())
    }
}

impl Played {
    fn fork(&self) -> Self {
        Self { run: self.run.fork(), rows: self.rows.clone(), next: self.next, taken: self.taken.clone() }
    }

    fn goals(&self) -> impl Iterator<Item = Goal> {
        let takes = self.run.taken().into_iter().map(Goal::Takes);
        self.run.violated().iter().cloned().map(Goal::Violates).chain(takes)
    }
}

/// The situation of a run in its next tick.
struct Scene<'m> {
    machine: &'m Machine<'m>,
    /// The active states, each with the time in it at the next tick, in seconds.
    active: Vec<(StateId, f64)>,
    /// For each property that waits, for how long it has waited at the next tick.
    waited: Vec<Option<f64>>,
    configuration: Configuration,
    /// The exits of the active states, each with a path through its state.
    exits: Vec<(ExitId, Vec<StateId>)>,
    /// The time of the next tick, in seconds.
    now: f64,
}

impl<'m> Scene<'m> {
    fn of(search: &RunSearch<'m>, played: &Played) -> Self {
        let machine = search.machine;
        let mut active = played.run.active();
        for (_, time) in &mut active {
            *time += search.tick;
        }
        if played.next == 0 {
            let entered = machine.outline.entered(machine.outline.initial());
            active = entered.into_iter().map(|id| (id, 0.0)).collect();
        }
        let has_inner = |id: &StateId| active.iter().any(|(inner, _)| machine.state(*inner).parent == Some(*id));
        let innermost = active.iter().map(|(id, _)| *id).filter(|id| !has_inner(id));
        let configuration = Configuration::new(innermost.collect());
        let exits = configuration.exits(machine).collect();
        let waited = played.run.waited().into_iter().map(|waited| waited.map(|time| time + search.tick)).collect();
        Self { machine, active, waited, configuration, exits, now: f64::from(played.next) * search.tick }
    }

    fn at<'a>(&'a self, path: &'a [StateId]) -> Standing<'a> {
        self.machine.at(path, StateTime::Each(&self.active, self.now)).beside(&self.configuration)
    }

    /// Returns the claim that no exit is taken.
    fn quiet(&self) -> Claim {
        let in_tick = self.exits.iter().filter(|(id, _)| self.machine.exit(*id).on.is_none());
        Claim::all(in_tick.map(|(id, path)| self.at(path).taken(*id).negated()))
    }

    fn row(&self, claim: &Claim, message: Option<&str>) -> Option<WitnessRow> {
        let mut row = WitnessRow::of(0.0, &self.machine.situation(claim)?, message);
        let is_deadline = |name: &String| self.exits.iter().any(|(id, _)| self.machine.exit(*id).at() == Some(name));
        for (_, value) in row.values.iter_mut().filter(|(name, _)| is_deadline(name)) {
            // There are only two deadlines, so the run need not set a new one in each tick.
            *value = WitnessValue::Number(if value.number() > self.now { NO_DEADLINE } else { 0.0 });
        }
        Some(row)
    }

    /// Returns rows with which exits are taken or the wanted properties break, each with the exit that is taken.
    fn rows(&self, wanted: &BTreeSet<Goal>) -> Vec<(WitnessRow, Option<ExitId>)> {
        let machine = self.machine;
        let is_wanted = |property: &&Property| wanted.contains(&Goal::Violates(property.name.text.clone()));
        let wanted: Vec<_> = machine.outline.properties.iter().filter(is_wanted).collect();
        let broken =
            |at: Standing<'_>| -> Vec<Claim> { wanted.iter().map(|property| property.rule.broken(at)).collect() };
        let first = |configuration: &Configuration| {
            configuration.innermost().first().map(|id| machine.outline.path(*id)).unwrap_or_default()
        };
        let mut claims = Vec::new();
        for broken in broken(self.at(&first(&self.configuration))) {
            claims.push((Claim::all([self.quiet(), broken.clone()]), None, None));
            claims.push((broken, None, None));
        }
        for (id, path) in &self.exits {
            let exit = machine.exit(*id);
            let on = exit.on().filter(|_| !exit.is_done);
            let taken = self.at(path).led(*id);
            let after = self.configuration.after(machine, exit.to);
            let to = first(&after);
            let entered = machine.at(&to, StateTime::Known(0.0)).beside(&after);
            claims.extend(broken(entered).into_iter().map(|broken| (Claim::all([taken.clone(), broken]), on, None)));
            if on.is_some() {
                // The tick goes on after the message.
                let exits = after.exits(machine).filter(|(id, _)| machine.exit(*id).on.is_none());
                let stays =
                    exits.map(|(id, path)| machine.at(&path, StateTime::Known(0.0)).beside(&after).taken(id).negated());
                claims.push((Claim::all([taken.clone()].into_iter().chain(stays)), on, Some(*id)));
            }
            claims.push((taken, on, Some(*id)));
        }
        // Of two runs with the same length, the one without a message is kept.
        claims.sort_by_key(|(_, on, _)| on.is_some());
        claims.into_iter().filter_map(|(claim, on, exit)| Some((self.row(&claim, on)?, exit))).collect()
    }
}
