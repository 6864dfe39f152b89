//! The chapter "Time": rule 18.

mod trace;

use std::time::Duration;

use demeanor::{GameTime, Owner, State, StateMachine};
use trace::{Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static ALWAYS: Place = Place::new("Always");
static HOUSE: Place = Place::new("House");
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
static HALL: Place = Place::new("Hall").inside(&HOUSE);

fn time_in_state(stage: &Stage) -> Duration {
    Duration::from_secs_f64(stage.machine.time_in_state(&stage.time))
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Rule 18.
#[test]
fn before_the_first_change_time_in_state_counts_from_zero() {
    let mut stage = Stage::new(&A);
    stage.advance(7);
    assert_eq!(time_in_state(&stage), seconds(7));
}

/// Rule 18.
#[test]
fn each_change_begins_the_count_anew() {
    let mut stage = Stage::new(&A);
    stage.advance(7);
    stage.change_state(&B);
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(2);
    stage.advance(3);
    assert_eq!(time_in_state(&stage), seconds(5));
    stage.revert_state();
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.push_state(&B);
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.pop_state();
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.resume_state(&B);
    assert_eq!(time_in_state(&stage), seconds(0));
}

/// Rules 7 and 18.
#[test]
fn a_change_to_the_current_state_begins_the_count_anew() {
    let mut stage = Stage::new(&A);
    stage.advance(7);
    stage.change_state(&A);
    stage.advance(1);
    assert_eq!(time_in_state(&stage), seconds(1));
}

/// Rules 8 and 18.
#[test]
fn a_refused_change_does_not_touch_the_count() {
    let mut stage = Stage::new(&A).refusing("B.can_enter");
    stage.advance(7);
    stage.change_state(&B);
    stage.pop_state();
    stage.revert_state();
    assert_eq!(time_in_state(&stage), seconds(7));
}

/// Rule 18.
#[test]
fn a_change_below_a_common_ancestor_begins_the_count_anew() {
    let mut stage = Stage::new(&KITCHEN);
    stage.advance(7);
    stage.change_state(&HALL);
    stage.advance(1);
    assert_eq!(time_in_state(&stage), seconds(1));
}

/// Rule 18.
#[test]
fn a_callback_can_ask_how_long_it_has_been_in_its_state() {
    let mut stage = Stage::new(&A)
        .global(&ALWAYS)
        .when("Always.update", |actor, fsm, time| actor.note(fsm.time_in_state(time).to_string()))
        .when("A.update", |_, fsm, time| {
            if fsm.time_in_state(time) >= 2.0 {
                fsm.change_state(&B);
            }
        })
        .when("B.enter", |actor, fsm, time| actor.note(fsm.time_in_state(time).to_string()));
    stage.advance(1);
    assert_eq!(stage.update(), ["Always.update", "1", "A.update"]);
    stage.advance(1);
    assert_eq!(stage.update(), ["Always.update", "2", "A.update", "A.exit", "A -> B (change)", "B.enter", "0"]);
    stage.advance(1);
    assert_eq!(stage.update(), ["Always.update", "1", "B.update"]);
}

/// Rules 5 and 18.
#[test]
fn an_exit_still_sees_the_time_of_the_state_it_leaves() {
    let mut stage = Stage::new(&A).when("A.exit", |actor, fsm, time| actor.note(fsm.time_in_state(time).to_string()));
    stage.advance(7);
    assert_eq!(stage.change_state(&B), ["A.exit", "7", "A -> B (change)", "B.enter", "done"]);
}

/// Rule 18.
#[test]
fn an_owner_without_a_clock_is_always_at_zero() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = ();
        type Message = ();
    }
    struct Open;
    struct Closed;
    impl State<Door> for Open {}
    impl State<Door> for Closed {}

    let mut machine = StateMachine::new(&Open);
    machine.change_state(&mut Door, &Closed, &mut ());
    assert_eq!(Duration::from_secs_f64(machine.time_in_state(&())), Duration::ZERO);
}

/// Rule 18.
#[test]
fn game_time_knows_the_last_tick_and_the_whole_game() {
    let mut time = GameTime::new();
    time.advance(Duration::from_millis(16));
    time.advance(Duration::from_millis(17));
    assert_eq!((time.elapsed(), time.total()), (Duration::from_millis(17), Duration::from_millis(33)));
    time.advance(Duration::MAX);
    assert_eq!(time.total(), Duration::MAX);
}
