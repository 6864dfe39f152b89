//! What waits in a file does what it would do if everybody were asked in each tick.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Change, Fsm, Key, NextWake, Owner, State};
use proptest::prelude::*;

#[derive(Clone, Debug, Default)]
struct Guard {
    is_hungry: bool,
    is_brave: bool,
    trace: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Alarm,
    Noise,
}

impl Owner for Guard {
    /// The time in seconds.
    type Context<'a> = f64;
    type Message = Told;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, clock: &mut f64) {
        self.trace.push(format!("{clock}: {change}"));
    }
}

/// Tells of each callback, but has no update.
struct Quiet(usize);

/// Tells of each update, too.
struct Busy(usize);

impl State<Guard> for Quiet {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.trace.push(format!("{clock}: enters {}", self.0));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.trace.push(format!("{clock}: exits {}", self.0));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        guard.trace.push(format!("{clock}: {} hears {told:?}", self.0));
        *told == Told::Noise
    }

    fn is_passive(&self) -> bool {
        true
    }
}

impl State<Guard> for Busy {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.trace.push(format!("{clock}: enters {}", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, clock: &mut f64) {
        guard.trace.push(format!("{clock}: {} is busy", self.0));
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    let mut vocabulary = Vocabulary::new()
        .flag("hungry", |guard: &Guard, _| guard.is_hungry)
        .flag("brave", |guard: &Guard, _| guard.is_brave)
        .message("alarm", |told| *told == Told::Alarm);
    for i in 0..MOST_STATES {
        vocabulary = vocabulary
            .behaviour(format!("quiet{i}"), std::sync::Arc::new(Quiet(i)))
            .behaviour(format!("busy{i}"), std::sync::Arc::new(Busy(i)));
    }
    vocabulary
}

fn definition(file: &str) -> Definition<Guard> {
    Definition::parse(file, &vocabulary()).unwrap_or_else(|problems| panic!("{problems}\n{file}"))
}

const MOST_STATES: usize = 6;

/// A state of a random file.
#[derive(Clone, Debug)]
struct Drawn {
    /// One of the states before it.
    parent: Option<usize>,
    is_busy: bool,
    needs_courage: bool,
    exits: Vec<DrawnExit>,
}

#[derive(Clone, Debug)]
struct DrawnExit {
    to: usize,
    /// In eighths of a second.
    after: Option<u8>,
    when: Option<&'static str>,
    on_alarm: bool,
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let when = prop::option::weighted(0.3, prop::sample::select(vec!["hungry", "not hungry", "brave or hungry"]));
    let after = prop::option::weighted(0.85, prop_oneof![0..8_u8, 8..40_u8, 40..100_u8]);
    let exit = (0..MOST_STATES, after, when, prop::bool::weighted(0.2)).prop_map(|(to, after, when, on_alarm)| DrawnExit {
        to,
        after,
        when,
        on_alarm,
    });
    let state = (any::<prop::sample::Index>(), prop::bool::weighted(0.4), prop::bool::weighted(0.15), prop::bool::weighted(0.2))
        .prop_flat_map(move |(parent, is_nested, is_busy, needs_courage)| {
            prop::collection::vec(exit.clone(), 0..3)
                .prop_map(move |exits| (parent, is_nested, is_busy, needs_courage, exits))
        });
    prop::collection::vec(state, MOST_STATES).prop_map(|states| {
        let drawn = |(i, (parent, is_nested, is_busy, needs_courage, exits)): (usize, (prop::sample::Index, bool, bool, bool, Vec<DrawnExit>))| Drawn {
            parent: (is_nested && i > 0).then(|| parent.index(i.max(1))),
            is_busy,
            needs_courage,
            exits,
        };
        states.into_iter().enumerate().map(drawn).collect()
    })
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
        if let (true, Some(child)) = (i % 2 == 0, states.iter().position(|child| child.parent == Some(i))) {
            writeln!(file, "initial = 's{child}'").unwrap();
        }
        writeln!(file, "exits = [").unwrap();
        for exit in &state.exits {
            let seconds = exit.after.map(|after| f64::from(after) / 8.0);
            // One to itself without a condition would be a mistake.
            let when = if exit.to == i && seconds.is_none_or(|seconds| seconds == 0.0) { Some("hungry") } else { exit.when };
            let on = if exit.on_alarm { ", on = 'alarm'" } else { "" };
            match (seconds, when, waits) {
                (Some(after), Some(when), true) => write!(file, "{{ to = 's{}', after = {after}, when = '{when}'{on} }}, ", exit.to),
                (Some(after), None, true) => write!(file, "{{ to = 's{}', after = {after}{on} }}, ", exit.to),
                (Some(after), Some(when), false) => {
                    write!(file, "{{ to = 's{}', when = 'time_in_state >= {after} and ({when})'{on} }}, ", exit.to)
                }
                (Some(after), None, false) => {
                    write!(file, "{{ to = 's{}', when = 'time_in_state >= {after}'{on} }}, ", exit.to)
                }
                (None, Some(when), _) => write!(file, "{{ to = 's{}', when = '{when}'{on} }}, ", exit.to),
                (None, None, _) => write!(file, "{{ to = 's{}'{on} }}, ", exit.to),
            }
            .unwrap();
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
    (0..GUARDS).map(|i| Guard { is_hungry: i % 2 == 0, is_brave: i % 3 == 0, trace: Vec::new() }).collect()
}

/// Lets each guard fare on a machine of its own. What each has gone through comes first, then how many ticks were slept through.
fn alone(files: [&str; 2], events: &[Event]) -> (Vec<Vec<String>>, usize) {
    let definition = definition(files[0]);
    let mut clock = 0.0;
    let mut all: Vec<_> = guards().into_iter().map(|guard| (guard, definition.machine())).collect();
    all.iter_mut().for_each(|(guard, machine)| machine.start(guard, &mut clock));
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
        all[done.0].0.trace.push(format!("{event:?}: {}", done.1));
    }
    (all.into_iter().map(|(guard, _)| guard.trace).collect(), slept)
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
        batch.get_mut(keys[done.0]).unwrap().trace.push(format!("{event:?}: {}", done.1));
    }
    keys.iter().map(|key| batch.remove(*key).unwrap().0.trace).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exits_that_wait_are_taken_as_if_the_time_were_asked_for_in_each_tick(
        states in drawn(),
        other in drawn(),
        events in prop::collection::vec(event(), 1..30),
    ) {
        let waits = [file(&states, true), file(&other, true)];
        let polls = [file(&states, false), file(&other, false)];
        let (expected, _) = alone([&polls[0], &polls[1]], &events);
        prop_assert_eq!(&alone([&waits[0], &waits[1]], &events).0, &expected);
        for way in WAYS {
            prop_assert_eq!(&in_a_batch([&waits[0], &waits[1]], &events, *way), &expected, "{:?}", way);
        }
    }
}
