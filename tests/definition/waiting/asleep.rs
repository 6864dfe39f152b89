//! When who waits is asleep, and when it wakes.

use std::sync::{Arc, OnceLock};

use demeanor::definition::Definition;
use demeanor::{Batch, Fsm, NextWake, State, StateMachine};

use super::{definition, vocabulary};
use crate::guard::{Guard, Told, parsed};

/// A file with one state that lasts for so long.
fn lasting(seconds: f64) -> String {
    format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', after = {seconds} }}]\nstates.b.final = true")
}

#[test]
fn an_owner_that_sleeps_looks_at_the_file_in_the_first_tick_after_a_reload() {
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
    let opens = seconds - 2.0 * (1e-6 + 1e-6 * seconds);
    // Sleep has its own tolerance (rule 18).
    opens - (1e-6 + 1e-6 * opens)
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
fn an_owner_that_waits_for_a_condition_behind_a_time_stays_awake_from_then_on() {
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
    type Act = fn(&mut StateMachine<Guard>, &Definition<Guard>);
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

/// Checks that a machine and an owner of a batch fall asleep in the same of 60 ticks. Returns for how many ticks the machine slept.
fn slept_alike(definition: &Definition<Guard>, tick: f64) -> usize {
    let (mut guard, mut machine, mut batch) = (Guard::default(), definition.machine(), Batch::new());
    machine.start(&mut guard, &mut 0.0);
    batch.spawn(Guard::default(), definition.initial(), &mut 0.0);
    let mut slept = 0;
    for nth in 0..60 {
        let now = f64::from(nth) * tick;
        machine.update(&mut guard, &mut { now });
        batch.update(&mut { now });
        assert_eq!(machine.is_asleep(), batch.awake() == 0, "at {now}");
        slept += usize::from(machine.is_asleep());
    }
    slept
}

/// A machine leaves out ticks that have nothing to do. The tick that puts its owner to sleep is none of them.
#[test]
fn a_machine_falls_asleep_in_the_same_tick_as_an_owner_of_a_batch() {
    for file in [
        "states.a = { every = 0.6, exits = [{ to = 'a', after = '0.5 s .. 0.55 s' }] }",
        "states.a = { regions = ['b'], exits = [{ to = 'a', on = 'noise' }] }
         states.b = { parent = 'a', exits = [{ to = 'a', after = 3 }] }",
    ] {
        let slept = slept_alike(&definition(&format!("initial = 'a'\n{file}\n")), 0.1);
        assert!(slept > 30, "{slept}: {file}");
    }
}

/// Cancels its timer in every other update, and sets it in the others.
struct Cancels;

impl State<Guard> for Cancels {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        if fsm.cancel(|_| true) == 0 {
            fsm.send_after(100.0, Told::Noise);
        }
    }
}

/// The parent's next turn is stored before the child's behavior acts.
#[test]
fn an_owner_whose_parent_has_a_turn_falls_asleep_in_the_same_tick_on_a_machine_and_in_a_batch() {
    let vocabulary = vocabulary().behaviour("cancels", &Cancels);
    // The cooldown is the first number that is stored: a number that is stored later is stored elsewhere.
    let file = "initial = 'c'
        states.c.exits = [{ to = 'a', after = 0.5, cooldown = 5 }]
        states.a = { every = 0.5, initial = 'b', exits = [{ to = 'c', when = 'hungry' }] }
        states.b = { parent = 'a', every = 1, behavior = 'cancels' }";
    let slept = slept_alike(&parsed(file, &vocabulary), 0.25);
    assert!(slept > 20, "{slept}");
}

/// Sleeps from a noise on.
struct Drowsy;

impl State<Guard> for Drowsy {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note("update");
    }

    fn on_message(&self, _: &mut Guard, _: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        fsm.sleep();
        true
    }
}

#[test]
fn an_owner_that_falls_asleep_after_a_reload_is_not_woken_with_those_that_slept_before() {
    let file = |seconds| {
        format!(
            "initial = 'a'\nstates.a = {{ behavior = 'drowsy', exits = [{{ to = 'b', after = {seconds} }}] }}\n\
             states.b.final = true\n"
        )
    };
    let definition = parsed(&file(50), &vocabulary().behavior("drowsy", &Drowsy));
    let mut batch = Batch::new();
    let [before, again, after, beside] =
        [(); 4].map(|()| batch.spawn(Guard::default(), definition.initial(), &mut 0.0));
    batch.send_each([(before, Told::Noise), (again, Told::Noise)], &mut 0.0);
    let mut machine = batch.clone().remove(after).unwrap().1;
    let mut guard = Guard::default();
    definition.reload(&file(60)).unwrap();
    machine.send(&mut guard, &Told::Noise, &mut 0.0);
    let mut joined = batch.clone();
    let guest = joined.insert_machine(guard.clone(), machine.clone()).unwrap();
    joined.update(&mut 1.0);
    assert_eq!([before, guest].map(|key| joined[key].trace().len()), [1, 0]);
    batch.send_each([again, after, beside].map(|key| (key, Told::Noise)), &mut 0.0);
    machine.update(&mut guard, &mut 1.0);
    batch.update(&mut 1.0);
    let of = [before, again, after, beside].map(|key| batch[key].trace().len());
    assert_eq!((guard.trace().len(), of), (0, [1, 0, 0, 0]));
}

/// A file in which calm guards fall asleep in `a`, and alert ones in `c`. Both end after so many seconds.
fn calm_or_alert(seconds: u32) -> String {
    format!(
        "initial = 'first'\nstates.first.exits = [{{ to = 'c', when = 'enemy_visible' }}, {{ to = 'a' }}]\n\
         states.a.exits = [{{ to = 'b', after = {seconds} }}]\nstates.b.final = true\n\
         states.c = {{ enter = 'reload', exits = [{{ to = 'b', after = {seconds} }}] }}\n"
    )
}

/// The file with ends after 50 seconds. A guard that enters `c` reloads it, with ends after one second.
fn reloaded_in_a_tick() -> Definition<Guard> {
    let own = Arc::new(OnceLock::<Definition<Guard>>::new());
    let reloaded = Arc::clone(&own);
    let reload = move |_: &mut Guard, _: &mut f64| reloaded.get().unwrap().reload(&calm_or_alert(1)).unwrap();
    let definition = parsed(&calm_or_alert(50), &vocabulary().action("reload", reload));
    own.get_or_init(|| definition.clone());
    definition
}

#[test]
fn owners_that_fall_asleep_in_a_tick_before_its_reload_or_in_it_wake() {
    let guards = [false, true, false].map(|enemy_visible| Guard { enemy_visible, ..Guard::default() });
    let definition = reloaded_in_a_tick();
    let mut machines = guards.clone().map(|guard| (guard, definition.machine()));
    for now in 0..4 {
        for (guard, machine) in &mut machines {
            machine.update(guard, &mut f64::from(now));
        }
    }
    let b = definition.state("b");
    assert!(machines.iter().all(|(_, machine)| machine.current() == b.as_ref()), "{machines:?}");

    for (is_in_key_order, reloads) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let definition = reloaded_in_a_tick();
        // No owner sleeps yet, so this reload wakes none.
        (0..reloads).for_each(|_| definition.reload(&calm_or_alert(50)).unwrap());
        let mut batch = definition.batch();
        let keys = guards.clone().map(|guard| batch.spawn(guard, definition.initial(), &mut 0.0));
        for now in 0..4 {
            if is_in_key_order {
                batch.update_in_key_order(&mut f64::from(now));
            } else {
                batch.update(&mut f64::from(now));
            }
        }
        let states = keys.map(|key| batch.state_of(key).unwrap().name().into_owned());
        assert_eq!(states, ["b"; 3], "in key order: {is_in_key_order}, reloads before: {reloads}");
    }
}
