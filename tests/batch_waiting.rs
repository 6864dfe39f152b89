//! The chapter "Waiting" in a batch: rules 25 and 26 for many owners.
#![cfg(feature = "std")]

mod trace;

use demeanor::{Batch, GameTime, Key, NextWake};
use std::time::Duration;
use trace::{Actor, Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static ALWAYS: Place = Place::new("Always");
static PASSIVE: Place = Place::new("Passive").passive();

fn advance(time: &mut GameTime, seconds: u64) {
    time.advance(Duration::from_secs(seconds));
}

fn trace(batch: &mut Batch<Actor>, key: Key) -> Vec<String> {
    batch.get_mut(key).expect("it is there").take_trace()
}

/// Rule 26.
#[test]
fn those_who_sleep_are_not_touched_and_lie_apart() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..10).map(|_| batch.insert(Actor::default(), &A)).collect();
    for key in keys.iter().step_by(2) {
        assert!(batch.sleep(*key));
    }
    assert_eq!((batch.len(), batch.awake(), batch.owners_in(&A).len()), (10, 5, 10));
    batch.update(&mut time);
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(trace(&mut batch, *key).len(), number % 2);
    }
    assert!(batch.wake(keys[0]));
    assert!(!batch.wake(keys[0]));
    assert!(!batch.wake(keys[1]));
    assert_eq!(batch.awake(), 6);
    // They can be removed, and changed.
    let (_, machine) = batch.remove(keys[2]).expect("it is there");
    assert_eq!(machine.next_wake(), NextWake::Never);
    let again = batch.insert_machine(Actor::default(), machine).expect("neither has a global");
    assert_eq!(batch.next_wake(again), Some(NextWake::Never));
    assert!(batch.change_state(keys[4], &B, &mut time));
    assert_eq!(batch.awake(), 7);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, keys[4]).last().map(String::as_str), Some("B.update"));
}

/// Rule 25.
#[test]
fn timers_come_due_in_a_batch_as_on_a_machine() {
    let script = |stage: Stage| {
        stage
            .handling("A")
            .when("A.enter", |_, fsm, _| {
                fsm.change_state_after(3.0, &B);
                fsm.send_after(2.0, "beep");
                fsm.sleep();
            })
            .when("B.enter", |_, fsm, _| {
                fsm.change_state_after(2.0, &A);
            })
    };
    let mut stage = script(Stage::new(&A));
    let mut batch = Batch::new();
    let mut time = GameTime::new();
    let expected = stage.start();
    let key = batch.spawn(script(Stage::new(&A)).actor, &A, &mut time);
    assert_eq!(trace(&mut batch, key), expected);
    assert_eq!(batch.awake(), 0);
    for second in 1..30 {
        stage.advance(1);
        advance(&mut time, 1);
        batch.update(&mut time);
        assert_eq!(trace(&mut batch, key), stage.update(), "second {second}");
        assert_eq!(batch.next_wake(key), Some(stage.machine.next_wake()), "second {second}");
    }
}

/// Rule 26.
#[test]
fn the_global_is_updated_for_those_who_sleep_unless_it_is_passive() {
    let mut time = GameTime::new();
    let mut batch = Batch::new().with_global(&ALWAYS);
    let key = batch.insert(Actor::default(), &A);
    batch.sleep(key);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, key), ["Always.update"]);
    let wakes = Stage::new(&A).when("Always.update", |_, fsm, _| fsm.change_state(&B)).actor;
    let woken = batch.insert(wakes, &A);
    batch.sleep(woken);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, woken), ["Always.update", "A.exit", "A -> B (change)", "B.enter", "B.update"]);
    assert_eq!(batch.awake(), 1);
    batch.set_global(&PASSIVE);
    trace(&mut batch, key);
    batch.update(&mut time);
    assert!(trace(&mut batch, key).is_empty());
}
