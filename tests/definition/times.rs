//! What `time_in_state` is in the exits of a state, of one around it, and of the global state.
#![cfg(feature = "definition")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use demeanor::Batch;
use demeanor::definition::Vocabulary;

use crate::alone_and_many::AloneAndMany;
use crate::guard::{Guard, parsed};

/// The states that a guard is in after each second, alone; a batch must have it there, too.
#[track_caller]
fn seconds(file: &str, count: u8) -> Vec<String> {
    let definition = parsed(file, &Vocabulary::new());
    let mut guards = AloneAndMany::start(&definition, &Guard::default());
    (1..=count).map(|second| guards.update(f64::from(second))).collect()
}

#[test]
fn in_a_state_s_own_exits_it_is_the_time_since_that_state_was_entered() {
    let file = "
        initial = 'a'
        states.a.exits = [{ to = 'b', when = 'time_in_state >= 2' }]
        states.b.exits = [{ to = 'a', when = 'time_in_state >= 1' }]
    ";
    assert_eq!(seconds(file, 6), ["a", "b", "a", "a", "b", "a"]);
}

/// Rule 18: a parent's time goes on while its children change.
#[test]
fn in_a_parent_s_exits_it_is_the_time_since_the_parent_was_entered() {
    let file = "
        initial = 'fight'
        [states.fight]
        initial = 'aim'
        exits = [{ to = 'rest', when = 'time_in_state > 4' }]
        [states.aim]
        parent = 'fight'
        exits = [{ to = 'shoot', when = 'time_in_state >= 1' }]
        [states.shoot]
        parent = 'fight'
        exits = [{ to = 'aim', when = 'time_in_state >= 1' }]
        [states.rest]
        final = true
    ";
    assert_eq!(seconds(file, 6), ["shoot", "aim", "shoot", "aim", "rest", "rest"]);
}

#[test]
fn in_the_global_state_s_exits_it_is_the_time_in_the_innermost_state() {
    let file = "
        initial = 'a'
        global = 'always'
        [states.always]
        exits = [{ to = 'bored', when = 'time_in_state > 2' }]
        [states.a]
        exits = [{ to = 'b', when = 'time_in_state >= 2' }]
        [states.b]
        [states.bored]
        final = true
    ";
    assert_eq!(seconds(file, 6), ["a", "b", "b", "b", "bored", "bored"]);
}

/// What is explained has each state's own time, too.
#[test]
fn each_state_is_explained_with_its_own_time() {
    let file = "
        initial = 'aim'
        [states.fight]
        exits = [{ to = 'rest', when = 'time_in_state > 40' }]
        [states.aim]
        parent = 'fight'
        exits = [{ to = 'shoot', when = 'time_in_state > 20' }]
        [states.shoot]
        parent = 'fight'
        exits = [{ to = 'aim', when = 'time_in_state > 20' }]
        [states.rest]
        final = true
    ";
    let definition = parsed(file, &Vocabulary::new());
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    assert!(machine.change_state(&mut guard, definition.state("shoot").unwrap(), &mut 10.0));
    let reports = machine.with(&mut guard, &mut 15.0, |guard, fsm, clock| definition.explain_with(guard, fsm, clock));
    assert_eq!(
        reports.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "to rest: no: time_in_state > 40 (time_in_state = 15) does not hold",
            "to aim: no: time_in_state > 20 (time_in_state = 5) does not hold",
        ]
    );
}

/// How often each guard is asked in each of five seconds, while it never says yes.
#[track_caller]
fn asked(exits: &str) -> Vec<u32> {
    // By their luck, one alone and many in a batch.
    let counts: Arc<Vec<AtomicU32>> = Arc::new((0..=100).map(|_| AtomicU32::new(0)).collect());
    let count = Arc::clone(&counts);
    let vocabulary = Vocabulary::new().flag("ready", move |guard: &Guard, _| {
        count[guard.luck as usize].fetch_add(1, Ordering::Relaxed);
        false
    });
    let definition = parsed(&format!("initial = 'a'\nstates.a.exits = [{exits}]\nstates.b.final = true"), &vocabulary);
    let (mut guard, mut machine, mut batch) = (Guard::with_luck(0), definition.machine(), Batch::new());
    machine.start(&mut guard, &mut 0.0);
    for luck in 1..=100 {
        batch.spawn(Guard::with_luck(luck), definition.initial(), &mut 0.0);
    }
    let second = |second: u8| {
        machine.update(&mut guard, &mut f64::from(second));
        batch.update(&mut f64::from(second));
        let asked: Vec<_> = counts.iter().map(|count| count.swap(0, Ordering::Relaxed)).collect();
        assert!(asked.iter().all(|count| *count == asked[0]), "after {second} s: {asked:?}");
        asked[0]
    };
    (1..=5).map(second).collect()
}

#[test]
fn what_stands_behind_a_time_is_asked_from_then_on_and_what_stands_before_it_in_each_tick() {
    assert_eq!(asked("{ to = 'b', when = 'time_in_state >= 3 and ready' }"), [0, 0, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state > 3 and ready' }"), [0, 0, 0, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'not (time_in_state < 3) and ready' }"), [0, 0, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state <= 3 and ready' }"), [1, 1, 1, 0, 0]);
    assert_eq!(asked("{ to = 'b', when = 'ready and time_in_state >= 3' }"), [1, 1, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state >= 3 or ready' }"), [1, 1, 0, 0, 0]);
    assert_eq!(asked("{ to = 'b', after = 1.5, when = 'ready' }"), [0, 1, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', after = 1.5, when = 'time_in_state >= 4 and ready' }"), [0, 0, 0, 1, 1]);
    let two = "{ to = 'b', when = 'time_in_state >= 4 and ready' }, { to = 'a', after = 1.5, when = 'ready' }";
    assert_eq!(asked(two), [0, 1, 1, 2, 2]);
}
