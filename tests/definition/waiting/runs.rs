//! What happens to some guards on a machine from a file: each on its own, and all in a batch.

use demeanor::{Batch, Key, NextWake};
use proptest::prelude::*;

use super::definition;
use super::files::MOST_STATES;
use crate::guard::{Guard, Records, Told};
use crate::trace::log::Trace;

/// What happens between two ticks.
#[derive(Clone, Debug)]
pub(super) enum Event {
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

pub(super) fn event() -> impl Strategy<Value = Event> {
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

pub(super) const GUARDS: usize = 5;

pub(super) fn guards() -> Vec<Guard> {
    let guard =
        |i| Guard { is_hungry: i % 2 == 0, is_brave: i % 3 == 0, records: Records::TimedChanges, ..Guard::default() };
    (0..GUARDS).map(guard).collect()
}

/// Lets each guard fare on a machine of its own. What each has gone through comes first, then how many ticks were slept through.
pub(super) fn alone(files: [&str; 2], events: &[Event]) -> (Vec<Trace>, usize) {
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
pub(super) enum Way {
    InTurn,
    #[cfg(feature = "parallel")]
    Parallel,
    InKeyOrder,
}

pub(super) const WAYS: &[Way] = &[
    Way::InTurn,
    #[cfg(feature = "parallel")]
    Way::Parallel,
    Way::InKeyOrder,
];

/// The same in a batch.
pub(super) fn in_a_batch(files: [&str; 2], events: &[Event], way: Way) -> Vec<Trace> {
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
