//! One machine written twice, in a file and by hand: over random runs both make the same callbacks and changes, alone and in
//! a batch.
#![cfg(feature = "definition")]

mod acts;
mod by_file;
mod by_hand;

use demeanor::definition::Definition;
use demeanor::{StateMachine, StateRef};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, Told};
use crate::trace::log::Trace;
use crate::troop::{Request, Troop, Way};

/// The names of the states, and those written by hand.
fn states_by_hand() -> [(&'static str, StateRef<Guard>); 8] {
    [
        ("wander", (&by_hand::Wander).into()),
        ("fight", (&by_hand::Fight).into()),
        ("aim", (&by_hand::Aim).into()),
        ("shoot", (&by_hand::Shoot).into()),
        ("reload", (&by_hand::Reload).into()),
        ("run to cover", (&by_hand::RunToCover).into()),
        ("rest", (&by_hand::Rest).into()),
        ("dead", (&by_hand::Dead).into()),
    ]
}

/// What happens to the guards between two ticks.
#[derive(Clone, Debug)]
enum Event {
    /// So many eighths of a second pass, and all are updated.
    Tick(u8),
    Health(usize, i8),
    Ammo(usize, u8),
    Sees(usize, bool),
    Tell(usize, Told),
    TellAll(Told),
    /// Verbs from outside.
    Change(usize, usize),
    Push(usize, usize),
    Pop(usize),
    Revert(usize),
    Resume(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let who = 0..90_usize;
    let told = prop_oneof![(1..40_u8).prop_map(|damage| Told::hit(damage.into())), Just(Told::Alarm)];
    prop_oneof![
        8 => (0..12_u8).prop_map(Event::Tick),
        2 => (who.clone(), -5..100_i8).prop_map(|(who, health)| Event::Health(who, health)),
        2 => (who.clone(), 0..6_u8).prop_map(|(who, ammo)| Event::Ammo(who, ammo)),
        3 => (who.clone(), any::<bool>()).prop_map(|(who, sees)| Event::Sees(who, sees)),
        2 => (who.clone(), told.clone()).prop_map(|(who, told)| Event::Tell(who, told)),
        1 => told.prop_map(Event::TellAll),
        1 => (who.clone(), 0..8_usize).prop_map(|(who, state)| Event::Change(who, state)),
        1 => (who.clone(), 0..8_usize).prop_map(|(who, state)| Event::Push(who, state)),
        1 => who.clone().prop_map(Event::Pop),
        1 => who.clone().prop_map(Event::Revert),
        1 => who.prop_map(Event::Resume),
    ]
}

fn run() -> impl Strategy<Value = (Vec<Guard>, Vec<Event>)> {
    let guard = (5..100_i8, 0..6_u8, any::<bool>(), any::<u32>());
    let guard = guard.prop_map(|(health, ammo, enemy_visible, luck)| Guard {
        health: health.into(),
        ammo: ammo.into(),
        enemy_visible,
        luck,
        ..Guard::recording_changes()
    });
    (prop::collection::vec(guard, 1..90), prop::collection::vec(event(), 1..50))
}

/// What happened to a guard, and what came of it.
fn outcome(mut guard: Guard, machine: &StateMachine<Guard>) -> Trace {
    let path: Vec<_> = machine.path().map(ToString::to_string).collect();
    guard.note(format!("in {}: health {}, ammo {}, luck {}", path.join("/"), guard.health, guard.ammo, guard.luck));
    guard.take_trace()
}

/// A machine, by its states: those of the outside verbs, the initial and the global one.
struct Machine {
    states: Vec<StateRef<Guard>>,
    initial: StateRef<Guard>,
    global: StateRef<Guard>,
}

impl Machine {
    fn by_hand() -> Self {
        let states = states_by_hand().map(|(_, state)| state).to_vec();
        Self { initial: states[0].clone(), global: (&by_hand::Always).into(), states }
    }

    fn by_file(definition: &Definition<Guard>) -> Self {
        let states = states_by_hand().map(|(name, _)| definition.state(name).unwrap()).to_vec();
        Self { initial: definition.initial(), global: definition.global().unwrap(), states }
    }

    /// Lets events happen to guards. Returns what became of them.
    fn run(&self, way: Way, guards: &[Guard], events: &[Event]) -> Vec<Trace> {
        let mut troop = Troop::start(way, guards, &self.initial, Some(self.global.clone()));
        let (mut clock, count) = (0.0, troop.len());
        let state = |nth: usize| self.states[nth].clone();
        for event in events {
            let (who, request) = match *event {
                Event::Tick(eighths) => {
                    clock += f64::from(eighths) / 8.0;
                    troop.update(clock);
                    continue;
                }
                Event::Health(who, health) => {
                    troop.guard(who % count).health = health.into();
                    continue;
                }
                Event::Ammo(who, ammo) => {
                    troop.guard(who % count).ammo = ammo.into();
                    continue;
                }
                Event::Sees(who, sees) => {
                    troop.guard(who % count).enemy_visible = sees;
                    continue;
                }
                Event::TellAll(told) => {
                    troop.tell_all(told, clock);
                    continue;
                }
                Event::Tell(who, told) => (who, Request::Send(told)),
                Event::Change(who, to) => (who, Request::Change(state(to))),
                Event::Push(who, over) => (who, Request::Push(state(over))),
                Event::Pop(who) => (who, Request::Pop),
                Event::Revert(who) => (who, Request::Revert),
                Event::Resume(who) => (who, Request::Resume(state(1))),
            };
            let is_done = troop.ask(who % count, request, clock);
            troop.guard(who % count).note(format!("{event:?}: {is_done}"));
        }
        if way != Way::Alone {
            let in_buckets: usize = self.states.iter().map(|state| troop.count_in(state)).sum();
            assert_eq!(in_buckets, count, "each state has one bucket");
        }
        troop.end().into_iter().map(|(guard, machine)| outcome(guard, &machine)).collect()
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn a_machine_from_a_file_does_what_the_same_one_by_hand_does((guards, events) in run()) {
        let definition = by_file::definition();
        let (file, hand) = (Machine::by_file(&definition), Machine::by_hand());
        let expected = hand.run(Way::Alone, &guards, &events);
        prop_assert_eq!(&file.run(Way::Alone, &guards, &events), &expected);
        prop_assert_eq!(&hand.run(Way::InTurn, &guards, &events), &expected);
        prop_assert_eq!(&file.run(Way::InTurn, &guards, &events), &expected);
    }
}

/// The random runs are worth something only if they come through it all.
#[test]
fn the_runs_take_every_exit() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..60 {
        let (guards, events) = run().new_tree(&mut runner).unwrap().current();
        for line in Machine::by_hand().run(Way::Alone, &guards, &events).into_iter().flatten() {
            seen.insert(line);
        }
    }
    for change in [
        "wander -> aim (change)",
        "wander -> rest (change)",
        "wander -> shoot (change)",
        "aim -> shoot (change)",
        "shoot -> reload (change)",
        "shoot -> aim (change)",
        "reload -> shoot (change)",
        "aim -> wander (change)",
        "shoot -> run to cover (change)",
        "wander -> run to cover (change)",
        "run to cover -> rest (change)",
        "run to cover -> aim (change)",
        "run to cover -> wander (change)",
        "rest -> wander (change)",
        "aim -> dead (change)",
        "rest -> aim (resume), refused by fight.can_enter",
        "dead -> shoot (resume)",
    ] {
        assert!(seen.contains(change), "no run has: {change}");
    }
}
