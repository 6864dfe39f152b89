//! What happens to some guards on a machine from a file.

use demeanor::NextWake;
use proptest::prelude::*;

use super::definition;
use super::files::MOST_STATES;
use crate::guard::{Guard, Records, Told};
use crate::trace::log::Trace;
use crate::troop::{Request, Troop, Way};

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

/// Lets the guards fare in a way. What each has gone through comes first, then how many ticks were slept through.
pub(super) fn run(way: Way, files: [&str; 2], events: &[Event]) -> (Vec<Trace>, usize) {
    let definition = definition(files[0]);
    let mut troop = Troop::start(way, &guards(), &definition.initial(), None);
    let (mut clock, mut slept, mut reloads) = (0.0, 0, 0);
    for event in events {
        let state = |to: usize| definition.state(&format!("s{to}")).unwrap();
        let (who, request) = match *event {
            Event::Ticks(by, times) => {
                for _ in 0..times {
                    clock += f64::from(by) / 16.0;
                    slept += (0..GUARDS).filter(|who| troop.next_wake(*who) != NextWake::EveryTick).count();
                    troop.update(clock);
                }
                continue;
            }
            Event::Reload => {
                reloads += 1;
                definition.reload(files[reloads % 2]).unwrap();
                continue;
            }
            Event::Hungry(who, is) => {
                troop.guard(who).is_hungry = is;
                continue;
            }
            Event::Brave(who, is) => {
                troop.guard(who).is_brave = is;
                continue;
            }
            Event::Wake(who) => {
                troop.wake(who);
                continue;
            }
            Event::Tell(who, told) => (who, Request::Send(told)),
            Event::Change(who, to) => (who, Request::Change(state(to))),
            Event::Push(who, to) => (who, Request::Push(state(to))),
            Event::Pop(who) => (who, Request::Pop),
            Event::Revert(who) => (who, Request::Revert),
        };
        let is_done = troop.ask(who, request, clock);
        troop.guard(who).note(format!("{event:?}: {is_done}"));
    }
    (troop.end().into_iter().map(|(mut guard, _)| guard.take_trace()).collect(), slept)
}
