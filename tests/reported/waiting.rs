//! Faults of waiting.

use std::time::Duration;

use demeanor::{Batch, Fsm, GameTime, NextWake, State, StateMachine};

use crate::trace::{Act, Actor, Place, Stage, due};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static C: Place = Place::new("C");

/// What an actor that does something in an update of A waits for after it, on a machine and in a batch, which must agree.
/// Others do the same.
fn waits_after_update(act: Act) -> NextWake {
    let mut stage = Stage::new(&A).when("A.update", act);
    stage.start();
    stage.update();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..3)
        .map(|_| {
            let actor = Stage::new(&A).when("A.update", act).actor;
            batch.spawn(actor, &A, &mut stage.time)
        })
        .collect();
    // The batch is to know where they go.
    batch.insert(Actor::default(), &B);
    batch.update(&mut stage.time);
    // Not to be updated, so that it can be seen what else they wait for.
    stage.machine.sleep();
    let next = stage.machine.next_wake();
    for key in keys {
        batch.sleep(key);
        assert_eq!(batch.next_wake(key), Some(next));
    }
    next
}

/// In a batch, it ran in the new state.
#[test]
fn a_timer_asked_for_behind_a_change_now_ends_at_once_in_a_batch() {
    let next = waits_after_update(|actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        fsm.change_state_after(1.0, &A);
    });
    assert_eq!(next, NextWake::Never);
}

/// In a batch, it ended at once: a message sent now was taken for a change.
#[test]
fn a_timer_asked_for_behind_a_message_sent_now_runs_in_a_batch() {
    let next = waits_after_update(|actor, fsm, time| {
        fsm.send_now(actor, &"hello", time);
        fsm.change_state_after(1.0, &B);
    });
    assert_eq!(next, NextWake::At(due(1.0, 0.0)));
}

/// In a batch, it stayed awake: nothing was left to be carried out.
#[test]
fn sleep_asked_for_before_a_change_now_that_is_refused_is_not_lost_in_a_batch() {
    let mut stage = Stage::new(&A);
    let mut batch = Batch::new();
    let act: Act = |actor, fsm, time| {
        fsm.sleep();
        assert!(!fsm.change_state_now(actor, &B, time));
    };
    let key = batch.insert(Stage::new(&A).refusing("A.can_exit").when("A.update", act).actor, &A);
    batch.insert(Actor::default(), &B);
    batch.update(&mut stage.time);
    assert_eq!(batch.next_wake(key), Some(NextWake::Never));
    stage = stage.refusing("A.can_exit").when("A.update", act);
    stage.update();
    assert_eq!(stage.machine.next_wake(), NextWake::Never);
}

/// Nothing was wrong there; only random programs would have seen it.
#[test]
fn the_timers_of_owners_that_change_together_end_and_those_from_outside_go_on() {
    let mut stage = Stage::new(&A);
    let mut batch = Batch::new();
    let act: Act = |_, fsm, _| fsm.change_state_after(1.0, &A);
    let keys: Vec<_> = (0..3)
        .map(|_| {
            let script = Stage::new(&A).when("A.enter", act).when("A.update", |_, fsm, _| fsm.change_state(&B));
            batch.spawn(script.actor, &A, &mut stage.time)
        })
        .collect();
    batch.insert(Actor::default(), &B);
    batch.change_state_after(keys[1], 5.0, &C, &mut stage.time);
    batch.update(&mut stage.time);
    let next = keys.iter().map(|key| {
        batch.sleep(*key);
        batch.next_wake(*key).expect("it is there")
    });
    assert_eq!(next.collect::<Vec<_>>(), [NextWake::Never, NextWake::At(due(5.0, 0.0)), NextWake::Never]);
    stage.advance(5);
    batch.update(&mut stage.time);
    assert!(batch.is_in_state(keys[1], &C) && batch.is_in_state(keys[0], &B));
}

/// In a batch, it was carried out in the tick in which it was set: the owner had come to those in owned states before they were
/// updated.
#[test]
fn a_timer_without_a_length_that_is_set_in_a_change_that_was_due_is_carried_out_in_the_next_tick_in_a_batch() {
    struct Fuse;
    /// Of each owner's own.
    #[derive(Clone)]
    struct Spark(f64);

    impl State<Actor> for Fuse {
        fn enter(&self, _: &mut Actor, fsm: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            fsm.change_state(Box::new(Spark(0.0)));
        }
    }

    impl State<Actor> for Spark {
        fn enter(&self, _: &mut Actor, fsm: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            fsm.change_state_after(self.0, &A);
        }
    }

    let mut time = GameTime::new();
    let mut machine = StateMachine::new(&B);
    let mut alone = Actor::default();
    let mut batch = Batch::new();
    let key = batch.spawn(Actor::default(), &B, &mut time);
    machine.start(&mut alone, &mut time);
    batch.change_state_after(key, 1.0, &Fuse, &mut time);
    machine.change_state_after(&mut alone, 1.0, &Fuse, &mut time);
    time.advance(Duration::from_secs(1));
    for is_in_spark in [true, false] {
        batch.update(&mut time);
        machine.update(&mut alone, &mut time);
        assert_eq!((batch.is_in::<Spark>(key), machine.is_in::<Spark>()), (is_in_spark, is_in_spark));
    }
}

/// Each call went over all timers of the owner: twenty thousand took 12 seconds, where a machine took 3 milliseconds. These would take
/// an hour.
#[test]
fn a_hundred_thousand_timers_are_set_for_one_owner_of_a_batch() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let key = batch.spawn(Actor::default(), &A, &mut time);
    for seconds in 0..100_000 {
        assert!(batch.change_state_after(key, 1.0 + f64::from(seconds), &B, &mut time));
    }
    batch.sleep(key);
    assert_eq!(batch.next_wake(key), Some(NextWake::At(due(1.0, 0.0))));
}
