//! What is proved of random small definitions, held against a machine that is put into every situation.
//!
//! The machine is run from each state that it can be in, with each combination of values that the conditions tell apart, each
//! message, and each of some times. So it is seen which states it comes to, which exits it takes, where it flickers, and where
//! it stays for good. That has to be what is proved.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

use demeanor::definition::{
    Definition, ExitRun, ExitRuns, Leads, Outline, Proof, PropertyAnswer, StateId, UntakenExit, Verdict, Vocabulary,
    Witness, WitnessChange,
};
use demeanor::{StateMachine, StateRef};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::cases::cases;
use crate::guard::{Guard, Told};

/// The numbers that the conditions compare with, those around them, and none.
const NUMBERS: [f64; 6] = [0.0, 1.0, 1.5, 2.0, 3.0, f64::NAN];

/// How long the machine may have been in its states, where conditions ask for 1 and 2 seconds: less, just as long, and more.
const STEPS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];

/// What a message says, where conditions ask for more than 1 and 2.
const DAMAGES: [f64; 3] = [1.0, 2.0, 3.0];

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .field("x", |guard: &Guard, _| guard.health, |guard, x| guard.health = x)
        .field("y", |guard: &Guard, _| guard.ammo, |guard, y| guard.ammo = y)
        .flag_field("a", |guard: &Guard, _| guard.is_brave, |guard, a| guard.is_brave = a)
        .action("swap", |guard: &mut Guard, _| std::mem::swap(&mut guard.health, &mut guard.ammo))
        .random(|guard: &mut Guard, _| guard.draw())
        .message("hit", |_| true)
        .message_value("hit", "damage", |told| if let Told::Hit { damage, .. } = told { *damage } else { f64::NAN })
}

/// Each change that a guard has made by an exit that names its target: from, to.
fn changes(guard: &Guard) -> impl Iterator<Item = (&str, &str)> {
    let changes = guard.trace().iter().filter_map(|line| line.strip_suffix(" (change)")?.split_once(" -> "));
    changes.map(|(from, to)| (from, to.split_once(" in ").map_or(to, |(to, _)| to)))
}

/// Whether a guard has changed its state.
fn has_moved(guard: &Guard) -> bool {
    guard.trace().iter().any(|line| line.contains(" -> ") && !line.contains("refused"))
}

/// All values that a file tells apart.
fn guards(text: &str) -> Vec<Guard> {
    let asks = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|other| other == word);
    let of = |name| if asks(name) { &NUMBERS[..] } else { &NUMBERS[..1] };
    let mut guards = Vec::new();
    for &health in of("x") {
        for &ammo in of("y") {
            for &is_brave in if asks("a") { &[false, true][..] } else { &[false] } {
                for &luck in if asks("random") { &[0, 1, 7][..] } else { &[0] } {
                    guards.push(Guard { health, ammo, is_brave, luck, ..Guard::recording_changes() });
                }
            }
        }
    }
    guards
}

/// A property: whether what it says is wrong at the end of a tick. It says that in all or none of the states something holds.
#[derive(Clone, Debug)]
struct RandomProperty {
    states: Vec<usize>,
    value: Option<(&'static str, &'static str, f64)>,
    is_always: bool,
    /// The condition that has to follow within a second.
    reach: Option<usize>,
}

impl RandomProperty {
    fn written(&self, nth: usize) -> String {
        let states = self.states.iter().map(|state| format!("in(s{state})"));
        let value =
            self.value.map(|(name, op, with)| if name == "a" { "a".into() } else { format!("{name} {op} {with}") });
        let all = states.chain(value).collect::<Vec<_>>().join(" and ");
        match self.reach {
            Some(state) => format!("p{nth} = {{ from = '{all}', reach = 'in(s{state})', within = 1 }}\n"),
            None if self.is_always => format!("p{nth} = {{ always = 'not ({all})' }}\n"),
            None => format!("p{nth} = {{ never = '{all}' }}\n"),
        }
    }

    /// Whether all that it names holds.
    fn holds(&self, machine: &StateMachine<Guard>, guard: &Guard) -> bool {
        let is_in = |state: &usize| machine.active_states().any(|active| active.to_string() == format!("s{state}"));
        self.states.iter().all(is_in)
            && self.value.is_none_or(|(name, op, with)| {
                let number = if name == "x" { guard.health } else { guard.ammo };
                match (name, op) {
                    ("a", _) => guard.is_brave,
                    (_, "<") => number < with,
                    (_, ">=") => number >= with,
                    (_, ">") => number > with,
                    _ => number <= with,
                }
            })
    }
}

fn property(states: usize) -> impl Strategy<Value = RandomProperty> {
    let value =
        (prop::sample::select(vec!["x", "y", "a"]), prop::sample::select(vec!["<", ">=", ">", "<="]), 1..=2_u32);
    let value = value.prop_map(|(name, op, with)| (name, op, f64::from(with)));
    let named = prop::collection::vec(0..states, 1..=2);
    let reach = prop::option::weighted(0.2, 0..states);
    (named, prop::option::weighted(0.6, value), any::<bool>(), reach)
        .prop_map(|(states, value, is_always, reach)| RandomProperty { states, value, is_always, reach })
}

/// What has been seen of a machine.
#[derive(Debug, Default)]
struct Seen {
    /// The states that were active.
    active: BTreeSet<String>,
    /// The exits that were taken: of which state, and the how many-th.
    taken: BTreeSet<(String, usize)>,
    /// Those that may have been, where several lead to the same state.
    perhaps: BTreeSet<(String, usize)>,
    /// Groups of states that lead to each other in every tick.
    flickering: BTreeSet<BTreeSet<String>>,
    /// Innermost states that are never left once they have lasted long.
    stuck: BTreeSet<String>,
    /// The properties that were broken at the end of a tick.
    broken: BTreeSet<usize>,
    /// For each innermost state that has lasted long, whether it was left then.
    late: BTreeMap<String, bool>,
}

/// A moment of a machine: the active states, and the time in each.
type Moment = Vec<(String, u64)>;

/// The maximum number of moments of a machine with regions that are looked at. In each of them, one in seven of the values is tried.
const MOST_MOMENTS: usize = 32;

struct Simulator<'d> {
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
    fn run(definition: &'d Definition<Guard>, properties: &'d [RandomProperty], text: &str) -> Seen {
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
            Some(damage) => definition.explain_message(&Told::hit(damage), guard, fsm, clock),
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
        after.send(&mut changed, &Told::hit(damage), &mut clock);
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
                    guard.take_trace();
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

/// A condition, or none.
fn condition(deep: bool, states: usize) -> BoxedStrategy<String> {
    // In a machine with regions, what is active beside a state matters most.
    let weight = if states > 4 { 9 } else { 1 };
    let op = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let leaf = prop_oneof![
        4 => (prop::sample::select(vec!["x", "y"]), op.clone(), 1..=2).prop_map(|(v, op, n)| format!("{v} {op} {n}")),
        1 => (prop::sample::select(vec!["x", "y"]), op.clone(), 1..=2).prop_map(|(v, op, n)| format!("{v} * 2 {op} {}", 2 * n)),
        3 => Just("a".to_owned()),
        2 => (op, 1..=2).prop_map(|(op, n)| format!("time_in_state {op} {n}")),
        weight => (0..states).prop_map(|s| format!("in(s{s})")),
    ];
    if !deep {
        return leaf.boxed();
    }
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l} and {r})")),
            (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l} or {r})")),
            inner.prop_map(|inner| format!("not ({inner})")),
        ]
    })
    .boxed()
}

/// An exit, by what it says.
#[derive(Clone, Debug)]
struct RandomExit {
    to: usize,
    when: Option<String>,
    after: Option<u32>,
    /// Whether it waits for a message, that says more than this.
    on: Option<u32>,
    always: bool,
    /// Its score or weight, if its state chooses by it.
    rank: &'static str,
    cooldown: Option<u32>,
    /// How it leads there, or back.
    leads: &'static str,
    /// What it does when it is taken.
    acts: &'static str,
}

fn exit(states: usize) -> impl Strategy<Value = RandomExit> {
    let when = prop::option::weighted(0.85, condition(true, states));
    let on = prop::option::weighted(0.2, 0..=2_u32);
    let rank = prop::sample::select(vec!["1", "2", "x", "y - 1", "x / y"]);
    let cooldown = prop::option::weighted(0.1, 1..=2_u32);
    let after = prop::option::weighted(0.2, 1..=2_u32);
    let leads = prop_oneof![
        15 => Just("to"),
        1 => prop::sample::select(vec!["push", "resume", "pop = true", "to = '$previous'"]),
    ];
    let acts = prop_oneof![
        9 => Just(""),
        1 => prop::sample::select(vec![
            ", set = { x = 'x + 1' }",
            ", set = { x = 3, y = 'x' }",
            ", set = { a = true }",
            ", set = { a = false, y = 1 }",
            ", do = 'swap'",
        ]),
    ];
    (0..states.max(5), when, after, on, prop::bool::weighted(0.15), rank, cooldown, leads, acts).prop_map(
        |(to, when, after, on, always, rank, cooldown, leads, acts)| RandomExit {
            to,
            when,
            after: after.filter(|_| !always),
            always: always && on.is_none(),
            on,
            rank,
            cooldown,
            leads,
            acts,
        },
    )
}

/// A file with a few states, of which some may be nested, some have entry conditions, and one may be final.
fn file() -> impl Strategy<Value = String> {
    files(2..=4)
}

/// A file with a state whose children lie in two regions, of which one may have regions itself.
fn file_with_regions() -> impl Strategy<Value = String> {
    files(6..=8)
}

fn files(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = String> {
    let (has_regions, most) = (*count.end() > 4, *count.end());
    let exits = move || prop::collection::vec(exit(most), 0..=3);
    let condition = move || condition(true, most).prop_filter("no time", |text| !text.contains("time"));
    let guard = move || prop::option::weighted(0.2, condition());
    let choose = || prop::option::weighted(0.15, prop::sample::select(vec!["best", "random"]));
    let state = move || (exits(), guard(), prop::bool::weighted(0.1), choose());
    let states = prop::collection::vec(state(), count);
    (states, prop::option::weighted(0.3, exits()), prop::bool::weighted(0.4)).prop_map(
        move |(states, global, nested)| {
            let count = states.len();
            let is_nested = nested && count >= 3 && !has_regions;
            let mut file = String::from("initial = 's0'\n");
            let written = |exits: &[RandomExit], is_global: bool, choose: Option<&str>| {
                let mut all = choose.map(|choose| format!("choose = '{choose}'\n")).unwrap_or_default() + "exits = [\n";
                for exit in exits {
                    let mut text = match exit.leads {
                        way @ ("to" | "push" | "resume") => format!("  {{ {way} = 's{}'", exit.to % count),
                        back => format!("  {{ {back}"),
                    };
                    if let Some(after) = exit.after {
                        write!(text, ", after = {after}").unwrap();
                    }
                    let mut when = exit.when.clone();
                    if let Some(choose) = choose {
                        let key = if choose == "best" { "score" } else { "weight" };
                        write!(text, ", {key} = '{}'", exit.rank).unwrap();
                    }
                    if let Some(cooldown) = exit.cooldown {
                        write!(text, ", cooldown = {cooldown}").unwrap();
                    }
                    text.push_str(exit.acts);
                    if let Some(damage) = &exit.on {
                        text.push_str(", on = 'hit'");
                        if *damage > 0 {
                            let asked = format!("message.damage > {damage}");
                            when = Some(when.map_or(asked.clone(), |when| format!("{asked} and {when}")));
                        }
                    } else if exit.always && !is_global {
                        text.push_str(", always = true");
                    }
                    if let Some(when) = when {
                        // States that there are not are not asked for.
                        let when = (count..8).fold(when, |when, s| when.replace(&format!("in(s{s})"), "a"));
                        write!(text, ", when = '{when}'").unwrap();
                    }
                    all.push_str(&text);
                    all.push_str(" },\n");
                }
                all + "]\n"
            };
            if let Some(global) = &global {
                file.push_str("global = 'g'\n[states.g]\n");
                file.push_str(&written(global, true, None));
            }
            for (at, (exits, guard, is_final, choose)) in states.iter().enumerate() {
                writeln!(file, "[states.s{at}]").unwrap();
                if is_nested && at == 1 {
                    file.push_str("initial = 's2'\nhistory = true\n");
                }
                if is_nested && at == 2 {
                    file.push_str("parent = 's1'\n");
                }
                match at {
                    1 if has_regions => file.push_str("regions = ['s2', 's3']\n"),
                    // The eighth state makes the seventh one a state with two regions in the second region.
                    6 if has_regions && count == 8 => {
                        file.push_str("parent = 's1'\nregion = 1\nregions = ['s7', 's5']\n");
                    }
                    5 if has_regions && count == 8 => file.push_str("parent = 's6'\nregion = 1\n"),
                    7 if has_regions => file.push_str("parent = 's6'\n"),
                    2..=6 if has_regions => writeln!(file, "parent = 's1'\nregion = {}", at % 2).unwrap(),
                    _ => {}
                }
                if let Some(guard) = guard {
                    let guard = (count..8).fold(guard.clone(), |when, s| when.replace(&format!("in(s{s})"), "a"));
                    writeln!(file, "enter_when = '{guard}'").unwrap();
                }
                if *is_final {
                    file.push_str("final = true\n");
                }
                file.push_str(&written(exits, false, *choose));
            }
            file
        },
    )
}

/// What is proved, to be compared.
#[derive(Debug, Default)]
struct Proved {
    unreachable: BTreeSet<String>,
    never: BTreeSet<(String, usize)>,
    flickering: Vec<BTreeSet<String>>,
    /// Those that lead to each other without end within one tick, which is said instead.
    endless: Vec<BTreeSet<String>>,
    stuck: BTreeSet<String>,
    /// States whose entry condition never holds.
    shut: BTreeSet<String>,
    /// Whether each of the properties holds.
    answers: Vec<PropertyAnswer>,
}

fn proved(text: &str, outline: &Outline) -> Proved {
    let proof = Proof::of(std::slice::from_ref(outline));
    assert_eq!(proof.unlisted(), 0);
    let mut proved = Proved {
        answers: proof.properties().iter().map(|property| property.answer().clone()).collect(),
        ..Proved::default()
    };
    for finding in proof.findings() {
        let problem = finding.problem();
        let at = problem.span();
        // The state and the exit that it is said of.
        let exit = outline.states().iter().find_map(|state| {
            let nth = state.exits().iter().position(|exit| exit.span().start <= at.start && at.end <= exit.span().end);
            nth.map(|nth| (state.name().to_owned(), nth))
        });
        let state = text[at.clone()].to_owned();
        match problem.code_name() {
            "unreachable" => drop(proved.unreachable.insert(state)),
            "no-way-out" => drop(proved.stuck.insert(state)),
            "never-taken" => drop(proved.never.insert(exit.unwrap())),
            "contradiction" if problem.to_string() == "this condition never holds" => {
                proved.never.insert(exit.unwrap());
            }
            "flicker" => {
                let witness = finding.witness().expect("it has been seen");
                proved.flickering.push(witness.changes().iter().map(|change| change.from.clone()).collect());
            }
            "guard-never-holds" => drop(proved.shut.insert(problem.to_string().split('`').nth(1).unwrap().to_owned())),
            "endless-circle" => {
                let witness = finding.witness().expect("it has been seen");
                proved.endless.push(witness.changes().iter().map(|change| change.from.clone()).collect());
            }
            "contradiction" | "property-fails" => {}
            code => panic!("{code}"),
        }
    }
    proved
}

/// Plays a run of the proof on the definition itself. `at_end` is called after each tick.
fn play(
    definition: &Definition<Guard>,
    run: &Witness,
    mut guard: Guard,
    mut at_end: impl FnMut(&StateMachine<Guard>, &Guard, f64),
) -> Guard {
    let mut machine = definition.machine();
    let mut rows = run.rows().iter().peekable();
    for tick in 0.. {
        let mut clock = f64::from(tick) * run.tick();
        if clock > run.seconds() + 1e-6 {
            break;
        }
        while let Some(row) = rows.next_if(|row| row.time <= clock + 1e-9) {
            for (name, value) in &row.values {
                match name.as_str() {
                    "x" => guard.health = value.number(),
                    "y" => guard.ammo = value.number(),
                    "chance" => guard.fixed_luck = Some(value.number()),
                    _ => guard.is_brave = value.number() != 0.0,
                }
            }
            if !machine.is_started() {
                machine.start(&mut guard, &mut clock);
            }
            if let Some((_, fields)) = &row.message {
                let damage = fields.first().map_or(0.0, |(_, damage)| damage.number());
                machine.send(&mut guard, &Told::hit(damage), &mut clock);
            }
        }
        if !machine.is_started() {
            machine.start(&mut guard, &mut clock);
        }
        machine.update(&mut guard, &mut clock);
        at_end(&machine, &guard, clock);
    }
    guard
}

/// Whether a property is broken at the end of a run.
fn is_broken_in(definition: &Definition<Guard>, run: &Witness, property: &RandomProperty) -> bool {
    let mut since = None;
    let mut is_broken = false;
    play(definition, run, Guard::default(), |machine, guard, clock| {
        is_broken = property.holds(machine, guard);
        if let Some(to) = property.reach {
            let is_there = machine.active_states().any(|state| state.to_string() == format!("s{to}"));
            since = if is_there { None } else { since.or(is_broken.then_some(clock)) };
            is_broken = since.is_some_and(|since| clock - since >= 1.0 - 1e-4);
        }
    });
    is_broken
}

/// A file with properties, and the properties.
fn with_properties((text, mut properties): (String, Vec<RandomProperty>)) -> (String, Vec<RandomProperty>) {
    let count = text.matches("[states.s").count();
    for property in &mut properties {
        property.states.iter_mut().chain(&mut property.reach).for_each(|state| *state %= count);
    }
    let written: String = properties.iter().enumerate().map(|(nth, property)| property.written(nth)).collect();
    (text.replacen("[states.", &format!("[properties]\n{written}[states."), 1), properties)
}

fn properties() -> impl Strategy<Value = Vec<RandomProperty>> {
    prop::collection::vec(property(8), 2..=4)
}

/// Compares what is proved of a file with what is seen.
fn compare(text: &str, properties: &[RandomProperty]) {
    let words = vocabulary().export();
    let Ok(outline) = Outline::parse("random.toml", text, Some(&words)) else { return };
    let definition = Definition::parse(text, &vocabulary()).unwrap();
    let proved = proved(text, &outline);
    let seen = Simulator::run(&definition, properties, text);

    let states = outline.states().iter().filter(|state| Some(state.id()) != outline.global());
    let unreached: BTreeSet<String> =
        states.map(|state| state.name().to_owned()).filter(|name| !seen.active.contains(name)).collect();
    assert!(proved.unreachable.is_subset(&unreached), "{:?} are reached", &proved.unreachable - &unreached);
    for never in &proved.never {
        assert!(!seen.taken.contains(never), "{never:?} is taken");
    }
    for (nth, (property, answer)) in properties.iter().zip(&proved.answers).enumerate() {
        match answer {
            PropertyAnswer::Holds => assert!(!seen.broken.contains(&nth), "{property:?} does not hold"),
            // An action of the game does nothing in the run.
            PropertyAnswer::Fails(_) if text.contains("do =") => {}
            PropertyAnswer::Fails(run) => assert!(is_broken_in(&definition, run, property), "{property:?} {run:?}"),
            _ => {}
        }
    }
    if text.contains("regions") {
        for stuck in &proved.stuck {
            assert_ne!(seen.late.get(stuck), Some(&true), "{stuck} can be left");
        }
        return;
    }
    // Very near to where the answer to `x * 2 >= 4` changes, it is not decided, so that it is not known to be that of `x >= 2`. What
    // follows from that is not seen with the numbers here.
    // Neither is decided which exit is chosen or where one leads back, nor what is not seen here because a cooldown is on.
    let undecided = ["*", "choose", "cooldown", "push", "pop", "resume", "$previous"];
    if undecided.iter().any(|word| text.contains(word)) {
        return;
    }
    for flickering in &proved.flickering {
        assert!(seen.flickering.iter().any(|seen| !seen.is_disjoint(flickering)), "{flickering:?} do not flicker");
    }
    for stuck in &proved.stuck {
        assert!(seen.stuck.contains(stuck), "{stuck} can be left");
    }

    // Nor what a value is in the rest of a tick in which it was written.
    if text.contains("set =") || text.contains("do =") {
        return;
    }
    assert_eq!(proved.unreachable, unreached, "unreachable");
    for seen in &seen.flickering {
        let is_proved = proved.flickering.iter().chain(&proved.endless).any(|proved| !proved.is_disjoint(seen));
        assert!(is_proved, "{seen:?} flicker");
    }
    let is_final = |name: &String| {
        let id = outline.states().iter().find(|state| state.name() == name).unwrap().id();
        outline.path(id).into_iter().any(|id| outline.state(id).is_final())
    };
    // Where an exit is taken whatever the values are, nobody lasts but by a long tick.
    let can_last = |name: &String| {
        let state = definition.state(name).unwrap();
        let is_quiet = |time: f64, guard: &Guard| {
            let reports = definition.explain(&state, &mut guard.clone(), time, &mut time.clone());
            reports.iter().all(|report| report.on.is_some() || report.verdict != Verdict::Taken)
        };
        [0.0, 0.5, 1.5, 2.5].into_iter().all(|time| guards(text).iter().any(|guard| is_quiet(time, guard)))
    };
    for stuck in seen.stuck.iter().filter(|name| !is_final(name) && can_last(name)) {
        assert!(proved.stuck.contains(stuck), "{stuck} cannot be left");
    }
    // Where exits with `always` may lead in a circle, it is not proved that nobody stays there.
    if text.matches("always").count() > 1 || text.contains("'s0', always") {
        return;
    }
    // Of states that are active, all exits that nobody has seen taken are said to be never taken.
    for state in outline.states() {
        let is_active = seen.active.contains(state.name()) || Some(state.id()) == outline.global();
        for nth in (0..state.exits().len()).filter(|_| is_active) {
            let exit = (state.name().to_owned(), nth);
            if !seen.taken.contains(&exit) && !seen.perhaps.contains(&exit) {
                let to = state.exits()[nth].target();
                let mut entered = outline.path(to).into_iter().chain(outline.descent(to));
                let is_shut = entered.any(|id| proved.shut.contains(outline.state(id).name()));
                assert!(is_shut || proved.never.contains(&exit), "{exit:?} is never taken");
            }
        }
    }
}

/// Compares the runs that take the exits of a file with what the definition itself does in them, and the exits that they cannot take
/// with what is seen.
fn compare_runs(text: &str) {
    let words = vocabulary().export();
    let Ok(outline) = Outline::parse("random.toml", text, Some(&words)) else { return };
    let definition = Definition::parse(text, &vocabulary()).unwrap();
    let runs = ExitRuns::of(&outline);
    let name = |(of, nth): (StateId, usize)| (outline.state(of).name().to_owned(), nth);
    let mut listed: Vec<_> =
        runs.runs().iter().flat_map(ExitRun::exits).chain(runs.untaken().iter().map(UntakenExit::exit)).collect();
    listed.sort();
    let states = outline.states().iter();
    let all: Vec<_> = states.flat_map(|state| (0..state.exits().len()).map(|nth| (state.id(), nth))).collect();
    assert_eq!(listed, all, "each exit is listed once");
    // An action of the game does nothing in the runs.
    if !text.contains("do =") {
        for run in runs.runs() {
            let guard = play(&definition, run.witness(), Guard::recording_changes(), |_, _, _| {});
            let made = guard.trace().iter().filter(|line| line.contains(" -> ") && !line.contains("refused"));
            let made: Vec<_> = made.filter_map(|line| line.split(" (").next()?.split(" in ").next()).collect();
            let said: Vec<_> =
                run.witness().changes().iter().map(|change| format!("{} -> {}", change.from, change.to)).collect();
            assert_eq!(made, said, "{run:?}");
            for (of, nth) in run.exits() {
                let to = outline.state(of).exits()[nth].target();
                let leads_back = outline.state(of).exits()[nth].leads() != Leads::To;
                let entered = outline.entered(to);
                let is_made = |change: &WitnessChange| entered.iter().any(|id| outline.state(*id).name() == change.to);
                let has_regions = text.contains("regions");
                assert!(
                    leads_back || has_regions || run.witness().changes().iter().any(is_made),
                    "{:?}",
                    name((of, nth))
                );
            }
        }
    }
    let seen = Simulator::run(&definition, &[], text);
    for never in runs.untaken().iter().filter(|exit| exit.never().is_some()) {
        assert!(!seen.taken.contains(&name(never.exit())), "{:?} is taken", name(never.exit()));
    }
}

fn config(usual: u32, rng_seed: RngSeed) -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 60, rng_seed, ..cases(usual) }
}

proptest! {
    #![proptest_config(config(8, RngSeed::Fixed(7)))]

    #[test]
    fn runs_that_take_the_exits_of_a_machine_go_as_they_say(text in prop_oneof![3 => file(), 1 => file_with_regions()]) {
        compare_runs(&text);
    }
}

proptest! {
    #![proptest_config(config(16, RngSeed::Fixed(2)))]

    #[test]
    fn what_is_proved_of_a_small_machine_is_what_it_does(text in file()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(12, RngSeed::Fixed(3)))]

    #[test]
    fn what_is_proved_of_a_machine_with_regions_is_what_it_does(text in file_with_regions()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn what_is_proved_of_any_machine_with_regions_is_what_it_does(text in file_with_regions()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn what_is_proved_of_any_small_machine_is_what_it_does(text in file()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(32, RngSeed::Fixed(5)))]

    #[test]
    fn properties_of_a_small_machine_hold_or_fail_as_is_proved(file in (file(), properties()).prop_map(with_properties)) {
        compare(&file.0, &file.1);
    }
}

proptest! {
    #![proptest_config(config(16, RngSeed::Fixed(6)))]

    #[test]
    fn properties_of_a_machine_with_regions_hold_or_fail_as_is_proved(
        file in (file_with_regions(), properties()).prop_map(with_properties),
    ) {
        compare(&file.0, &file.1);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn properties_of_any_machine_hold_or_fail_as_is_proved(
        file in (prop_oneof![file(), file_with_regions()], properties()).prop_map(with_properties),
    ) {
        compare(&file.0, &file.1);
    }
}

#[test]
fn values_that_a_machine_sets_when_it_starts_are_not_those_of_the_first_row() {
    compare_runs(
        "
        initial = 's0'
        states.s0.exits = [{ to = 's1', always = true }]
        states.s2 = { parent = 's1', enter_when = 'y >= 2' }
        [states.s1]
        initial = 's2'
        choose = 'random'
        exits = [
            { to = 's1', always = true, weight = 1, when = 'not a', set = { y = 'x', x = 3 } },
            { to = 's1', always = true, weight = 2, when = 'y > 1' },
        ]
        ",
    );
}
