//! What conditions can ask: which state is active and for how long, calculations, chances per second, and messages' fields.
#![cfg(feature = "definition")]

use demeanor::Batch;
use demeanor::definition::Definition;

use crate::guard::{Guard, parsed, vocabulary};
use crate::troop::Alike;

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

/// Where a guard is after each tick.
#[track_caller]
fn states(definition: &Definition<Guard>, guard: &Guard, tick: f64, count: u32) -> Vec<String> {
    let mut guards = Alike::start(definition, guard);
    (1..=count).map(|nth| guards.update(f64::from(nth) * tick)).collect()
}

#[test]
fn times_in_calculations_are_compared_as_times_are() {
    for (when, ticks) in [
        ("time_in(a) >= 0.5", 15),
        ("time_in_state * 1000 >= 500", 15),
        ("500 <= 1000 * time_in_state", 15),
        ("time_in_state - 0.5 > 0", 16),
        ("0.25 + 0.25 < time_in_state", 16),
        ("min(time_in(a), 9) == 0.5", 15),
    ] {
        let definition =
            definition(&format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', when = '{when}' }}]\n[states.b]\n"));
        // A clock that adds up rounded ticks.
        let (mut guard, mut machine, mut clock) = (Guard::default(), definition.machine(), 1000.0);
        machine.start(&mut guard, &mut clock);
        let mut passed = 0;
        while machine.current().unwrap().name() == "a" && passed < 100 {
            passed += 1;
            clock += 1.0 / 30.0;
            machine.update(&mut guard, &mut clock);
        }
        assert_eq!(passed, ticks, "{when}");
    }
}

/// Of 4000 guards, the share that has left after two seconds.
#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn share_left(file: &str, tick: f64) -> f64 {
    let definition = definition(file);
    let mut batch = Batch::new();
    let initial = definition.initial();
    for luck in 0..4000_u32 {
        batch.spawn(Guard::with_luck(luck.wrapping_mul(2_654_435_761)), initial.clone(), &mut 0.0);
    }
    let mut clock = 0.0;
    while clock < 2.0 - tick / 2.0 {
        clock += tick;
        batch.update(&mut clock);
    }
    let stayed = batch.owners_in(&*initial).len();
    1.0 - stayed as f64 / 4000.0
}

#[test]
fn a_chance_per_second_is_the_same_at_every_tick_rate() {
    // Of those who are there, half leave in each second: after two, a quarter is left.
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', when = 'chance_per_second(0.5)' }]\n[states.b]\n";
    for tick in [0.02, 0.1, 0.5, 2.0] {
        let left = share_left(file, tick);
        assert!((left - 0.75).abs() < 0.03, "{left} in ticks of {tick} s");
    }
    // Tried at its turns only.
    let file = format!("{file}[states.a]\nevery = 0.7\n").replace("states.a.exits", "exits");
    let file = file.replace("exits = [{ to = 'b', when = 'chance_per_second(0.5)' }]\n", "");
    let file = format!("{file}exits = [{{ to = 'b', when = 'chance_per_second(0.5)' }}]\n");
    let left = share_left(&file, 0.1);
    assert!((left - (1.0 - 0.5_f64.powf(1.4))).abs() < 0.03, "{left} at turns of 0.7 s");
}

#[test]
fn the_time_of_a_chance_per_second_begins_when_the_exit_opens() {
    // Open for half a second of the two.
    let file =
        "initial = 'a'\nstates.a.exits = [{ to = 'b', after = 1.5, when = 'chance_per_second(0.5)' }]\n[states.b]\n";
    for tick in [0.02, 0.25] {
        let left = share_left(file, tick);
        assert!((left - (1.0 - 0.5_f64.sqrt())).abs() < 0.03, "{left} in ticks of {tick} s");
    }
}

#[test]
fn a_chance_per_second_is_the_same_alone_and_among_many_and_in_the_global_state() {
    let file = "initial = 'a'\nglobal = 'g'\nstates.g.exits = [{ to = 'c', when = 'chance_per_second(0.2)' }]\n\
                states.a.exits = [{ to = 'b', when = 'chance_per_second(0.3)' }, { to = 'c', when = 'chance_per_second(0.1)' }]\n\
                states.b.exits = [{ to = 'a', when = 'chance_per_second(0.9)' }]\nstates.c.exits = [{ to = 'a', after = 0.5 }]";
    let definition = definition(file);
    let mut seen = std::collections::BTreeSet::new();
    for luck in 0..10 {
        seen.extend(states(&definition, &Guard::with_luck(luck), 0.1, 100));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}
