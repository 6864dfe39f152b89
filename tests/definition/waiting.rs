//! What waits in a file does what it would do if everybody were asked in each tick.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, Key, NextWake, State};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{self, Guard, Records, Told, parsed};

/// Tells of each callback, but has no update.
struct Quiet(usize);

/// Tells of each update, too.
struct Busy(usize);

impl State<Guard> for Quiet {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: enters {}", self.0));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: exits {}", self.0));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        guard.note(format!("{clock}: {} hears {told:?}", self.0));
        *told == Told::Noise
    }

    fn is_passive(&self) -> bool {
        true
    }
}

impl State<Guard> for Busy {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: enters {}", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.note(format!("{clock}: {} is busy", self.0));
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    let mut vocabulary = guard::vocabulary();
    for i in 0..MOST_STATES {
        vocabulary = vocabulary
            .behaviour(format!("quiet{i}"), std::sync::Arc::new(Quiet(i)))
            .behaviour(format!("busy{i}"), std::sync::Arc::new(Busy(i)));
    }
    vocabulary
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

const MOST_STATES: usize = 6;

/// A state of a random file.
#[derive(Clone, Debug)]
struct Drawn {
    /// One of the states before it.
    parent: Option<usize>,
    is_busy: bool,
    needs_courage: bool,
    /// In eighths of a second.
    every: Option<u8>,
    exits: Vec<DrawnExit>,
}

#[derive(Clone, Debug)]
struct DrawnExit {
    to: usize,
    /// In eighths of a second.
    after: Option<u8>,
    when: Option<&'static str>,
    on_alarm: bool,
    /// Only where it neither waits nor listens.
    is_always: bool,
    even_final: bool,
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let when = prop::option::weighted(0.3, prop::sample::select(vec!["hungry", "not hungry", "brave or hungry"]));
    let after = prop::option::weighted(0.85, prop_oneof![0..8_u8, 8..40_u8, 40..100_u8]);
    let says = (prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::bool::weighted(0.5));
    let exit = (0..MOST_STATES, after, when, says).prop_map(|(to, after, when, (on_alarm, is_always, even_final))| {
        let is_always = is_always && after.is_none() && !on_alarm;
        // A state of no length that always leads on could do so in a circle, which is a mistake.
        let when = if is_always { when.or(Some("hungry")) } else { when };
        DrawnExit { to, after, when, on_alarm, is_always, even_final }
    });
    let place = (any::<prop::sample::Index>(), prop::bool::weighted(0.4));
    let flags = (prop::bool::weighted(0.15), prop::bool::weighted(0.2));
    let every = prop::option::weighted(0.25, prop_oneof![1..8_u8, 8..40_u8]);
    let state = (place, flags, every, prop::collection::vec(exit, 0..3));
    prop::collection::vec(state, MOST_STATES).prop_map(|states| {
        let drawn = |(i, ((parent, is_nested), (is_busy, needs_courage), every, exits)): (usize, (_, _, _, _))| {
            let parent: Option<prop::sample::Index> = Some(parent).filter(|_| is_nested && i > 0);
            Drawn { parent: parent.map(|parent| parent.index(i)), is_busy, needs_courage, every, exits }
        };
        states.into_iter().enumerate().map(drawn).collect()
    })
}

/// The same states with the exits and times of others, as a designer changes them.
fn edited(states: &[Drawn], others: &[Drawn]) -> Vec<Drawn> {
    let edited = |(state, other): (&Drawn, &Drawn)| Drawn { parent: state.parent, ..other.clone() };
    states.iter().zip(others).map(edited).collect()
}

/// Whether no exit of those around it leaves it, unless it says so.
fn is_final(state: usize) -> bool {
    state % 3 == 2
}

/// The child to go on to, of a state that has one.
fn initial(states: &[Drawn], of: usize) -> Option<usize> {
    states.iter().position(|child| child.parent == Some(of)).filter(|_| of % 2 == 0)
}

impl DrawnExit {
    fn seconds(&self) -> Option<f64> {
        self.after.map(|after| f64::from(after) / 8.0)
    }

    /// One to itself without a condition would be a mistake.
    fn when(&self, of: usize) -> Option<&'static str> {
        let spins = self.to == of && self.after.unwrap_or(0) == 0;
        if spins { Some("hungry") } else { self.when }
    }
}

/// The file, with what waits in it, or with the same as conditions that are asked in each tick.
fn file(states: &[Drawn], waits: bool) -> String {
    let mut file = String::from("initial = 's0'\n");
    for (i, state) in states.iter().enumerate() {
        let behaviour = if state.is_busy { "busy" } else { "quiet" };
        writeln!(file, "[states.s{i}]\nbehaviour = '{behaviour}{i}'").unwrap();
        if let Some(parent) = state.parent {
            writeln!(file, "parent = 's{parent}'").unwrap();
        }
        if state.needs_courage {
            writeln!(file, "enter_when = 'brave'").unwrap();
        }
        if let Some(child) = initial(states, i) {
            writeln!(file, "initial = 's{child}'").unwrap();
        }
        if let Some(every) = state.every {
            writeln!(file, "every = {}", f64::from(every) / 8.0).unwrap();
        }
        // An end, which only some exits of those around it leave.
        writeln!(file, "final = {}\nexits = [", is_final(i)).unwrap();
        for exit in &state.exits {
            let (to, after) = (exit.to, exit.seconds());
            let on = if exit.on_alarm { ", on = 'alarm'" } else { "" };
            let rest = match (after, exit.when(i), waits) {
                (Some(after), Some(when), true) => format!(", after = {after}, when = '{when}'"),
                (Some(after), None, true) => format!(", after = {after}"),
                (Some(after), Some(when), false) => format!(", when = 'time_in_state >= {after} and ({when})'"),
                (Some(after), None, false) => format!(", when = 'time_in_state >= {after}'"),
                (None, Some(when), _) => format!(", when = '{when}'"),
                (None, None, _) => String::new(),
            };
            let always = if exit.is_always { ", always = true" } else { "" };
            let even_final = if exit.even_final { ", even_final = true" } else { "" };
            writeln!(file, "    {{ to = 's{to}'{on}{rest}{always}{even_final} }},").unwrap();
        }
        writeln!(file, "]").unwrap();
    }
    file
}

/// What happens between two ticks.
#[derive(Clone, Debug)]
enum Event {
    /// So many sixteenths of a second pass, and all are updated, so many times.
    Ticks(u8, u8),
    Hungry(usize, bool),
    Brave(usize, bool),
    Tell(usize, Told),
    Change(usize, usize),
    Push(usize, usize),
    Pop(usize),
    Revert(usize),
    Wake(usize),
    Reload,
}

fn event() -> impl Strategy<Value = Event> {
    let who = 0..GUARDS;
    let to = 0..MOST_STATES;
    prop_oneof![
        8 => (1..20_u8, 1..40_u8).prop_map(|(by, times)| Event::Ticks(by, times)),
        2 => (who.clone(), any::<bool>()).prop_map(|(who, is)| Event::Hungry(who, is)),
        2 => (who.clone(), any::<bool>()).prop_map(|(who, is)| Event::Brave(who, is)),
        2 => (who.clone(), prop::sample::select(vec![Told::Alarm, Told::Noise])).prop_map(|(who, told)| Event::Tell(who, told)),
        2 => (who.clone(), to.clone()).prop_map(|(who, to)| Event::Change(who, to)),
        1 => (who.clone(), to).prop_map(|(who, to)| Event::Push(who, to)),
        1 => who.clone().prop_map(Event::Pop),
        1 => who.clone().prop_map(Event::Revert),
        1 => who.prop_map(Event::Wake),
        1 => Just(Event::Reload),
    ]
}

const GUARDS: usize = 5;

fn guards() -> Vec<Guard> {
    let guard =
        |i| Guard { is_hungry: i % 2 == 0, is_brave: i % 3 == 0, records: Records::TimedChanges, ..Guard::default() };
    (0..GUARDS).map(guard).collect()
}

/// Lets each guard fare on a machine of its own. What each has gone through comes first, then how many ticks were slept through.
fn alone(files: [&str; 2], events: &[Event]) -> (Vec<Vec<String>>, usize) {
    let definition = definition(files[0]);
    let mut clock = 0.0;
    let mut all: Vec<_> = guards().into_iter().map(|guard| (guard, definition.machine())).collect();
    for (guard, machine) in &mut all {
        machine.start(guard, &mut clock);
    }
    let (mut slept, mut reloads) = (0, 0);
    for event in events {
        let state = |to: usize| definition.state(&format!("s{to}")).unwrap();
        let done = match *event {
            Event::Ticks(by, times) => {
                for _ in 0..times {
                    clock += f64::from(by) / 16.0;
                    for (guard, machine) in &mut all {
                        slept += usize::from(machine.next_wake() != NextWake::EveryTick);
                        machine.update(guard, &mut clock);
                    }
                }
                continue;
            }
            Event::Reload => {
                reloads += 1;
                definition.reload(files[reloads % 2]).unwrap();
                continue;
            }
            Event::Hungry(who, is) => {
                all[who].0.is_hungry = is;
                continue;
            }
            Event::Brave(who, is) => {
                all[who].0.is_brave = is;
                continue;
            }
            Event::Wake(who) => {
                all[who].1.wake();
                continue;
            }
            Event::Tell(who, told) => (who, {
                let (guard, machine) = &mut all[who];
                machine.send(guard, &told, &mut clock)
            }),
            Event::Change(who, to) => {
                let (guard, machine) = &mut all[who];
                (who, machine.change_state(guard, state(to), &mut clock))
            }
            Event::Push(who, to) => {
                let (guard, machine) = &mut all[who];
                (who, machine.push_state(guard, state(to), &mut clock))
            }
            Event::Pop(who) => {
                let (guard, machine) = &mut all[who];
                (who, machine.pop_state(guard, &mut clock))
            }
            Event::Revert(who) => {
                let (guard, machine) = &mut all[who];
                (who, machine.revert_state(guard, &mut clock))
            }
        };
        all[done.0].0.note(format!("{event:?}: {}", done.1));
    }
    (all.into_iter().map(|(mut guard, _)| guard.take_trace()).collect(), slept)
}

/// How a batch is updated.
#[derive(Clone, Copy, Debug)]
enum Way {
    InTurn,
    #[cfg(feature = "parallel")]
    Parallel,
    InKeyOrder,
}

const WAYS: &[Way] = &[
    Way::InTurn,
    #[cfg(feature = "parallel")]
    Way::Parallel,
    Way::InKeyOrder,
];

/// The same in a batch.
fn in_a_batch(files: [&str; 2], events: &[Event], way: Way) -> Vec<Vec<String>> {
    let definition = definition(files[0]);
    let mut clock = 0.0;
    let mut batch = Batch::new();
    let keys: Vec<Key> =
        guards().into_iter().map(|guard| batch.spawn(guard, definition.initial(), &mut clock)).collect();
    let mut reloads = 0;
    for event in events {
        let state = |to: usize| definition.state(&format!("s{to}")).unwrap();
        let done = match *event {
            Event::Ticks(by, times) => {
                for _ in 0..times {
                    clock += f64::from(by) / 16.0;
                    match way {
                        Way::InTurn => batch.update(&mut clock),
                        #[cfg(feature = "parallel")]
                        Way::Parallel => drop(batch.par_update(|_| clock)),
                        Way::InKeyOrder => batch.update_in_key_order(&mut clock),
                    }
                }
                continue;
            }
            Event::Reload => {
                reloads += 1;
                definition.reload(files[reloads % 2]).unwrap();
                continue;
            }
            Event::Hungry(who, is) => {
                batch.get_mut(keys[who]).unwrap().is_hungry = is;
                continue;
            }
            Event::Brave(who, is) => {
                batch.get_mut(keys[who]).unwrap().is_brave = is;
                continue;
            }
            Event::Wake(who) => {
                batch.wake(keys[who]);
                continue;
            }
            Event::Tell(who, told) => (who, batch.send(keys[who], &told, &mut clock)),
            Event::Change(who, to) => (who, batch.change_state(keys[who], state(to), &mut clock)),
            Event::Push(who, to) => (who, batch.push_state(keys[who], state(to), &mut clock)),
            Event::Pop(who) => (who, batch.pop_state(keys[who], &mut clock)),
            Event::Revert(who) => (who, batch.revert_state(keys[who], &mut clock)),
        };
        batch.get_mut(keys[done.0]).unwrap().note(format!("{event:?}: {}", done.1));
    }
    keys.iter().map(|key| batch.remove(*key).unwrap().0.take_trace()).collect()
}

/// A guard as an interpreter would have it that looks at the clock in each tick.
struct Interpreted<'s> {
    states: &'s [Drawn],
    guard: Guard,
    /// The active states, outermost first.
    path: Vec<Active>,
}

#[derive(Clone, Copy)]
struct Active {
    state: usize,
    entered_at: f64,
    /// When it has its next turn.
    turn: f64,
    is_turn: bool,
}

impl<'s> Interpreted<'s> {
    fn new(states: &'s [Drawn], guard: Guard) -> Self {
        let mut own = Self { states, guard, path: Vec::new() };
        own.enter(0, &own.route(0), 0.0);
        own
    }

    /// The states from the outermost one down to a state, and to where that leads by itself.
    fn route(&self, to: usize) -> Vec<usize> {
        let mut route: Vec<_> = std::iter::successors(Some(to), |at| self.states[*at].parent).collect();
        route.reverse();
        route.extend(std::iter::successors(initial(self.states, to), |at| initial(self.states, *at)));
        route
    }

    fn enter(&mut self, kept: usize, route: &[usize], now: f64) {
        for &state in &route[kept..] {
            let every = self.states[state].every.map(|every| f64::from(every) / 8.0);
            let turn = every.map_or(f64::NAN, |every| now + every);
            self.path.push(Active { state, entered_at: now, turn, is_turn: false });
            self.guard.note(format!("{now}: enters {state}"));
        }
    }

    fn change(&mut self, to: usize, now: f64) {
        let (route, kept) = (self.route(to), self.kept(to));
        let from = self.path.last().unwrap().state;
        for left in self.path.split_off(kept).into_iter().rev() {
            if !self.states[left.state].is_busy {
                self.guard.note(format!("{now}: exits {}", left.state));
            }
        }
        self.guard.note(format!("{now}: s{from} -> s{} (change)", route.last().unwrap()));
        self.enter(kept, &route, now);
    }

    /// Takes the first exit that is open to the active state at a depth.
    fn try_exits(&mut self, depth: usize, on_alarm: bool, now: f64) -> bool {
        let Active { state, entered_at, .. } = self.path[depth];
        let is_innermost = depth + 1 == self.path.len();
        let exit = self.states[state].exits.iter().find(|exit| {
            let holds = match exit.when(state) {
                None => true,
                Some("hungry") => self.guard.is_hungry,
                Some("not hungry") => !self.guard.is_hungry,
                Some(_) => self.guard.is_hungry || self.guard.is_brave,
            };
            let is_there = !is_innermost && exit.to != state && self.path.iter().any(|active| active.state == exit.to);
            let is_open = exit.seconds().is_none_or(|after| now - entered_at >= after);
            let is_protected = !exit.even_final && self.leaves_an_end(exit.to, state);
            let may = !is_there && !is_protected && self.refusing(exit.to).is_none();
            exit.on_alarm == on_alarm && holds && is_open && may
        });
        let to = exit.map(|exit| exit.to);
        if let Some(to) = to {
            self.change(to, now);
        }
        to.is_some()
    }

    /// Whether a change leaves a final state that is not the one whose exit it is.
    fn leaves_an_end(&self, to: usize, of: usize) -> bool {
        self.path[self.kept(to)..].iter().any(|active| active.state != of && is_final(active.state))
    }

    /// How many active states a change leaves alone.
    fn kept(&self, to: usize) -> usize {
        let route = self.route(to);
        let around = route.iter().take_while(|state| **state != to);
        self.path.iter().zip(around).take_while(|(active, state)| active.state == **state).count()
    }

    /// The first state that a change would enter and that refuses.
    fn refusing(&self, to: usize) -> Option<usize> {
        let refuses = |state: &usize| self.states[*state].needs_courage && !self.guard.is_brave;
        self.route(to).into_iter().skip(self.kept(to)).find(refuses)
    }

    fn tick(&mut self, now: f64) {
        for active in &mut self.path {
            active.is_turn = now >= active.turn;
            if let (true, Some(every)) = (active.is_turn, self.states[active.state].every) {
                let every = f64::from(every) / 8.0;
                active.turn = active.entered_at + (((now - active.entered_at) / every).floor() + 1.0) * every;
            }
        }
        let mut depth = 0;
        while depth < self.path.len() {
            let was_innermost = depth + 1 == self.path.len();
            let Active { state, is_turn, .. } = self.path[depth];
            if is_turn || self.states[state].every.is_none() {
                if self.states[state].is_busy {
                    self.guard.note(format!("{now}: {state} is busy"));
                }
                self.try_exits(depth, false, now);
            }
            if was_innermost {
                break;
            }
            depth += 1;
        }
    }

    fn told(&mut self, told: Told, now: f64) -> bool {
        for depth in (0..self.path.len()).rev() {
            let state = self.path[depth].state;
            let mut is_handled = false;
            if !self.states[state].is_busy {
                self.guard.note(format!("{now}: {state} hears {told:?}"));
                is_handled = told == Told::Noise;
            }
            if told == Told::Alarm && self.try_exits(depth, true, now) || is_handled {
                return true;
            }
        }
        false
    }
}

/// What the interpreter makes of those events that it knows.
fn interpreted(states: &[Drawn], events: &[Event]) -> Vec<Vec<String>> {
    let mut clock = 0.0;
    let mut all: Vec<_> = guards().into_iter().map(|guard| Interpreted::new(states, guard)).collect();
    for event in events {
        match *event {
            Event::Ticks(by, times) => {
                for _ in 0..times {
                    clock += f64::from(by) / 16.0;
                    for own in &mut all {
                        own.tick(clock);
                    }
                }
            }
            Event::Hungry(who, is) => all[who].guard.is_hungry = is,
            Event::Brave(who, is) => all[who].guard.is_brave = is,
            Event::Tell(who, told) => {
                let is_done = all[who].told(told, clock);
                all[who].guard.note(format!("{event:?}: {is_done}"));
            }
            Event::Change(who, to) => {
                let is_done = all[who].refusing(to).is_none();
                match all[who].refusing(to) {
                    None => all[who].change(to, clock),
                    Some(by) => {
                        let (from, route) = (all[who].path.last().unwrap().state, all[who].route(to));
                        let target = route.last().unwrap();
                        let line = format!("{clock}: s{from} -> s{target} (change), refused by s{by}.can_enter");
                        all[who].guard.note(line);
                    }
                }
                all[who].guard.note(format!("{event:?}: {is_done}"));
            }
            _ => {}
        }
    }
    all.into_iter().map(|own| own.guard.log.lines).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn exits_that_wait_are_taken_as_if_the_time_were_asked_for_in_each_tick(
        states in drawn(),
        other in drawn(),
        is_nested_as_before in any::<bool>(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        let other = if is_nested_as_before { edited(&states, &other) } else { other };
        let waits = [file(&states, true), file(&other, true)];
        let polls = [file(&states, false), file(&other, false)];
        let (expected, _) = alone([&polls[0], &polls[1]], &events);
        prop_assert_eq!(&alone([&waits[0], &waits[1]], &events).0, &expected);
        for way in WAYS {
            prop_assert_eq!(&in_a_batch([&waits[0], &waits[1]], &events, *way), &expected, "{:?}", way);
        }
    }

    #[test]
    fn states_from_a_file_do_what_an_interpreter_does(
        mut states in drawn(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        // The interpreter knows nothing of states of no length.
        states.iter_mut().flat_map(|state| &mut state.exits).for_each(|exit| exit.is_always = false);
        let is_known = |event: &Event| {
            matches!(event, Event::Ticks(..) | Event::Hungry(..) | Event::Brave(..) | Event::Tell(..) | Event::Change(..) | Event::Wake(_))
        };
        let events: Vec<_> = events.into_iter().filter(is_known).collect();
        let text = file(&states, true);
        let expected = interpreted(&states, &events);
        prop_assert_eq!(&alone([&text, &text], &events).0, &expected, "{}", text);
        for way in WAYS {
            prop_assert_eq!(&in_a_batch([&text, &text], &events, *way), &expected, "{:?}", way);
        }
    }
}

/// The random runs are worth something only if somebody sleeps in them.
#[test]
fn in_the_runs_many_ticks_are_slept_through() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut slept, mut ticks) = (0, 0);
    for _ in 0..60 {
        let (states, events) =
            (drawn(), prop::collection::vec(event(), 1..30)).new_tree(&mut runner).unwrap().current();
        let text = file(&states, true);
        slept += alone([&text, &text], &events).1;
        let times = |event: &Event| if let Event::Ticks(_, times) = event { GUARDS * usize::from(*times) } else { 0 };
        ticks += events.iter().map(times).sum::<usize>();
    }
    assert!(slept * 4 > ticks && slept < ticks, "{slept} of {ticks}");
}

/// A file with one state that lasts for so long.
fn lasting(seconds: f64) -> String {
    format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', after = {seconds} }}]\nstates.b.final = true")
}

#[test]
fn who_sleeps_looks_at_the_file_in_the_first_tick_after_a_reload() {
    let definition = definition(&lasting(100.0));
    let mut guard = Guard::default();
    let mut machine = definition.machine();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.next_wake(), NextWake::At(definition_due(100.0)));
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..200).map(|_| batch.spawn(Guard::default(), definition.initial(), &mut 0.0)).collect();
    batch.update(&mut 0.0);
    assert_eq!(batch.awake(), 0);
    // Taken out of the batch, and put into another one, it is no different.
    let (mut removed, mut taken) = batch.remove(keys[0]).unwrap();
    let mut other = Batch::new();
    let (moved, asleep) = batch.remove(keys[1]).unwrap();

    definition.reload(&lasting(2.0)).unwrap();
    assert_eq!((machine.next_wake(), batch.next_wake(keys[2])), (NextWake::EveryTick, Some(NextWake::EveryTick)));
    let moved = other.insert_machine(moved, asleep).unwrap();
    let (mut late, mut taken_late) = batch.remove(keys[3]).unwrap();
    machine.update(&mut guard, &mut 3.0);
    taken.update(&mut removed, &mut 3.0);
    taken_late.update(&mut late, &mut 3.0);
    batch.update(&mut 3.0);
    other.update(&mut 3.0);
    let b = definition.state("b");
    assert_eq!([machine.current(), taken.current(), taken_late.current()], [b.as_ref(); 3]);
    assert!(keys[4..].iter().all(|key| batch.state_of(*key) == b.as_ref()));
    assert_eq!(other.state_of(moved), b.as_ref());
}

/// When a machine wakes for what is to come after so many seconds: a little before.
fn definition_due(seconds: f64) -> f64 {
    seconds - 2.0 * (1e-6 + 1e-6 * seconds)
}

#[test]
fn a_reload_that_says_the_same_lets_everybody_sleep_on_after_one_look() {
    let definition = definition(&lasting(100.0));
    let mut batch = Batch::new();
    for _ in 0..200 {
        batch.spawn(Guard::default(), definition.initial(), &mut 0.0);
    }
    batch.update(&mut 0.0);
    definition.reload(&lasting(100.0)).unwrap();
    batch.update(&mut 1.0);
    assert_eq!(batch.awake(), 0);
    batch.update(&mut 99.0);
    assert_eq!(batch.awake(), 0);
    batch.update(&mut 100.0);
    assert!(batch.keys().all(|key| batch.state_of(key) == definition.state("b").as_ref()));
}

/// An exit whose condition does not hold when it opens is asked in each tick from then on.
#[test]
fn who_waits_for_a_condition_behind_a_time_stays_awake_from_then_on() {
    let definition =
        definition("initial = 'a'\nstates.a.exits = [{ to = 'b', after = 5, when = 'hungry' }]\nstates.b.final = true");
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    let mut wakes = Vec::new();
    for second in 0..8 {
        guard.is_hungry = second == 7;
        machine.update(&mut guard, &mut f64::from(second));
        wakes.push((machine.current().unwrap().to_string(), machine.next_wake()));
    }
    let asleep = || ("a".to_owned(), NextWake::At(definition_due(5.0)));
    let awake = || ("a".to_owned(), NextWake::EveryTick);
    let end = ("b".to_owned(), NextWake::Never);
    assert_eq!(wakes, [asleep(), asleep(), asleep(), asleep(), asleep(), awake(), awake(), end]);
}

/// A file with one state that lasts for so long, and asks for it.
fn asking(seconds: f64) -> String {
    format!(
        "initial = 'a'\nstates.a.exits = [{{ to = 'b', when = 'time_in_state >= {seconds}' }}]\nstates.b.final = true"
    )
}

/// Ticks that have nothing to do are cut short, until something is done to the machine from outside.
#[test]
fn what_is_done_to_a_machine_that_waits_counts_in_the_next_tick() {
    type Act = fn(&mut demeanor::StateMachine<Guard>, &Definition<Guard>);
    let acts: [(&str, Act, &str); 6] = [
        ("nothing", |_, _| {}, "a"),
        ("another time of entry", |machine, _| machine.set_entered(-100.0), "b"),
        ("another state", |machine, definition| machine.set_current(definition.state("b").unwrap()), "b"),
        ("another file", |_, definition| definition.reload(&asking(2.0)).unwrap(), "b"),
        ("a file that sleeps", |_, definition| definition.reload(&lasting(2.0)).unwrap(), "b"),
        ("a copy in its place", |machine, _| *machine = machine.clone(), "a"),
    ];
    for text in [asking(100.0), lasting(100.0)] {
        for (what, act, state) in acts {
            let definition = definition(&text);
            let (mut guard, mut machine) = (Guard::default(), definition.machine());
            machine.start(&mut guard, &mut 0.0);
            for second in 1..4 {
                machine.update(&mut guard, &mut f64::from(second));
            }
            act(&mut machine, &definition);
            if machine.is_asleep() {
                machine.wake();
            }
            machine.update(&mut guard, &mut 4.0);
            assert_eq!(machine.current().unwrap().name(), state, "{what}, {text}");
            // A clock that has been set back makes nothing come sooner, or later.
            machine.update(&mut guard, &mut 1.0);
            machine.update(&mut guard, &mut 99.0);
            assert_eq!(machine.current().unwrap().name(), state, "{what}, {text}");
            machine.update(&mut guard, &mut 100.0);
            assert_eq!(machine.current().unwrap().name(), "b", "{what}, {text}");
        }
    }
}
