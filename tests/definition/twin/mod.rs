//! One machine written twice, in a file and by hand: over random runs both make the same callbacks and changes, alone and in
//! a batch.
#![cfg(feature = "definition")]

mod acts;
mod by_file;
mod by_hand;

use demeanor::definition::Definition;
use demeanor::{Batch, StateMachine, StateRef};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, Told};
use crate::trace::log::Trace;

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

    /// Each guard with a machine of its own. Returns what became of them.
    fn alone(&self, guards: &[Guard], events: &[Event]) -> Vec<Trace> {
        let mut clock = 0.0;
        let mut all: Vec<_> = guards
            .iter()
            .map(|guard| {
                let mut guard = guard.clone();
                let mut machine = StateMachine::new(self.initial.clone()).with_global(self.global.clone());
                machine.start(&mut guard, &mut clock);
                (guard, machine)
            })
            .collect();
        let count = all.len();
        for event in events {
            let mut verb = |who: usize, act: &dyn Fn(&mut StateMachine<Guard>, &mut Guard, &mut f64) -> bool| {
                let (guard, machine) = &mut all[who % count];
                let is_done = act(machine, guard, &mut clock);
                guard.note(format!("{event:?}: {is_done}"));
            };
            match event {
                Event::Tick(eighths) => {
                    clock += f64::from(*eighths) / 8.0;
                    for (guard, machine) in &mut all {
                        machine.update(guard, &mut clock);
                    }
                }
                Event::Health(who, health) => all[who % count].0.health = (*health).into(),
                Event::Ammo(who, ammo) => all[who % count].0.ammo = (*ammo).into(),
                Event::Sees(who, sees) => all[who % count].0.enemy_visible = *sees,
                Event::Tell(who, told) => verb(*who, &|machine, guard, clock| machine.send(guard, told, clock)),
                Event::TellAll(told) => {
                    for (guard, machine) in &mut all {
                        machine.send(guard, told, &mut clock);
                    }
                }
                Event::Change(who, to) => {
                    verb(*who, &|machine, guard, clock| machine.change_state(guard, self.states[*to].clone(), clock));
                }
                Event::Push(who, over) => {
                    verb(*who, &|machine, guard, clock| machine.push_state(guard, self.states[*over].clone(), clock));
                }
                Event::Pop(who) => verb(*who, &StateMachine::pop_state),
                Event::Revert(who) => verb(*who, &StateMachine::revert_state),
                Event::Resume(who) => {
                    verb(*who, &|machine, guard, clock| machine.resume_state(guard, self.states[1].clone(), clock));
                }
            }
        }
        all.into_iter().map(|(guard, machine)| outcome(guard, &machine)).collect()
    }

    /// All of them in a batch. Returns what became of them.
    fn in_a_batch(&self, guards: &[Guard], events: &[Event]) -> Vec<Trace> {
        let mut clock = 0.0;
        let mut batch = Batch::new().with_global(self.global.clone());
        let keys: Vec<_> =
            guards.iter().map(|guard| batch.spawn(guard.clone(), self.initial.clone(), &mut clock)).collect();
        for event in events {
            let key = |who: usize| keys[who % keys.len()];
            let done = match event {
                Event::Tick(eighths) => {
                    clock += f64::from(*eighths) / 8.0;
                    batch.update(&mut clock);
                    continue;
                }
                Event::Health(who, health) => {
                    batch.get_mut(key(*who)).unwrap().health = (*health).into();
                    continue;
                }
                Event::Ammo(who, ammo) => {
                    batch.get_mut(key(*who)).unwrap().ammo = (*ammo).into();
                    continue;
                }
                Event::Sees(who, sees) => {
                    batch.get_mut(key(*who)).unwrap().enemy_visible = *sees;
                    continue;
                }
                Event::TellAll(told) => {
                    batch.broadcast(told, &mut clock);
                    continue;
                }
                Event::Tell(who, told) => (who, batch.send(key(*who), told, &mut clock)),
                Event::Change(who, to) => (who, batch.change_state(key(*who), self.states[*to].clone(), &mut clock)),
                Event::Push(who, over) => (who, batch.push_state(key(*who), self.states[*over].clone(), &mut clock)),
                Event::Pop(who) => (who, batch.pop_state(key(*who), &mut clock)),
                Event::Revert(who) => (who, batch.revert_state(key(*who), &mut clock)),
                Event::Resume(who) => (who, batch.resume_state(key(*who), self.states[1].clone(), &mut clock)),
            };
            let (who, is_done) = done;
            batch.get_mut(key(*who)).unwrap().note(format!("{event:?}: {is_done}"));
        }
        let outcome = |key| {
            let (guard, machine) = batch.remove(key).unwrap();
            outcome(guard, &machine)
        };
        keys.into_iter().map(outcome).collect()
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn a_machine_from_a_file_does_what_the_same_one_by_hand_does((guards, events) in run()) {
        let definition = by_file::definition();
        let (file, hand) = (Machine::by_file(&definition), Machine::by_hand());
        let expected = hand.alone(&guards, &events);
        prop_assert_eq!(&file.alone(&guards, &events), &expected);
        prop_assert_eq!(&hand.in_a_batch(&guards, &events), &expected);
        prop_assert_eq!(&file.in_a_batch(&guards, &events), &expected);
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
        for line in Machine::by_hand().alone(&guards, &events).into_iter().flatten() {
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
