//! The chapter "Time": rule 18.

use std::time::Duration;

use crate::trace::Stage;
use crate::trace::places::{A, ALWAYS, B, HALL, HOUSE, KITCHEN};
use demeanor::{GameTime, Owner, State, StateMachine};

fn time_in_state(stage: &Stage) -> Duration {
    Duration::from_secs_f64(stage.machine.time_in_state(&stage.time))
}

/// How long the machine has been in the house, its kitchen and its hall, in seconds.
fn times(stage: &Stage) -> [Option<u64>; 3] {
    [&HOUSE, &KITCHEN, &HALL].map(|place| {
        let time = stage.machine.time_in(place, &stage.time)?;
        Some(Duration::from_secs_f64(time).as_secs())
    })
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
fn start_begins_the_count() {
    let mut stage = Stage::new(&KITCHEN).when("House.enter", |actor, fsm, time| {
        actor.note(format!("{:?}", (fsm.time_in(&HOUSE, time), fsm.time_in(&KITCHEN, time))));
    });
    stage.advance(7);
    assert_eq!(stage.start(), "House.enter; (Some(0.0), None); Kitchen.enter");
    stage.advance(2);
    assert_eq!(times(&stage), [Some(2), Some(2), None]);
    stage.start();
    assert_eq!(times(&stage), [Some(2), Some(2), None], "a refused start does not touch it");
}

/// Rule 18.
#[test]
fn each_change_begins_the_count_again() {
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
    stage.resume_state(&A);
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.force_state(&B);
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.ensure_state(&A);
    assert_eq!(time_in_state(&stage), seconds(0));
    stage.advance(1);
    stage.ensure_state(&A);
    assert_eq!(time_in_state(&stage), seconds(1), "nothing was changed");
}

/// Rule 18.
#[test]
fn the_time_of_a_parent_goes_on_while_its_children_change() {
    let mut stage = Stage::new(&KITCHEN);
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.advance(3);
    assert_eq!(times(&stage), [Some(5), None, Some(3)]);
    assert_eq!(time_in_state(&stage), seconds(3), "that of current");
    stage.change_state(&KITCHEN);
    assert_eq!(times(&stage), [Some(5), Some(0), None]);
    stage.change_state(&HOUSE);
    stage.advance(1);
    assert_eq!(times(&stage), [Some(1), None, None], "it was left and entered again");
}

/// Rule 18.
#[test]
fn a_parent_that_is_entered_first_has_the_time_of_its_child() {
    let mut stage = Stage::new(&A);
    stage.advance(2);
    stage.change_state(&KITCHEN);
    stage.advance(3);
    assert_eq!(times(&stage), [Some(3), Some(3), None]);
}

/// Rule 18.
#[test]
fn a_child_entered_below_current_leaves_current_its_time() {
    let mut stage = Stage::new(&HOUSE);
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&KITCHEN);
    stage.advance(3);
    assert_eq!(times(&stage), [Some(5), Some(3), None]);
}

/// Rules 5 and 18.
#[test]
fn exits_and_guards_see_each_states_own_time() {
    let mut stage = Stage::new(&KITCHEN)
        .recording_guards()
        .asking("House.can_exit", |actor, fsm, time| {
            actor.note(format!("{:?}", (fsm.time_in(&HOUSE, time), fsm.time_in(&HALL, time))));
            true
        })
        .when("House.exit", |actor, fsm, time| {
            actor.note(format!("{:?}", (fsm.time_in(&HOUSE, time), fsm.time_in(&HALL, time))));
        });
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.advance(3);
    assert_eq!(
        stage.change_state(&A),
        "Hall.can_exit?; House.can_exit?; (Some(5.0), Some(3.0)); A.can_enter?
         Hall.exit; House.exit; (Some(5.0), Some(3.0)); Hall -> A (change); A.enter; done"
    );
}

/// Rules 15 and 18.
#[test]
fn time_stands_still_in_a_suspended_path() {
    let mut stage = Stage::new(&KITCHEN)
        .when("House.resume", |actor, fsm, time| actor.note(format!("{:?}", fsm.time_in(&HOUSE, time))))
        .when("Hall.resume", |actor, fsm, time| actor.note(format!("{:?}", fsm.time_in(&HALL, time))));
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.advance(3);
    stage.push_state(&A);
    stage.advance(100);
    assert_eq!(times(&stage), [None; 3]);
    assert_eq!(stage.pop_state(), "A.exit; A -> Hall (pop); House.resume; Some(5.0); Hall.resume; Some(3.0); done");
    stage.advance(1);
    assert_eq!(times(&stage), [Some(6), None, Some(4)]);
}

/// Rules 15 and 18.
#[test]
fn each_of_several_suspended_paths_keeps_its_own_time() {
    let mut stage = Stage::new(&A);
    stage.advance(7);
    stage.start();
    stage.advance(1);
    stage.push_state(&B);
    stage.advance(2);
    stage.push_state(&A);
    stage.advance(4);
    stage.pop_state();
    stage.advance(8);
    assert_eq!(time_in_state(&stage), seconds(10));
    stage.pop_state();
    stage.advance(16);
    assert_eq!(time_in_state(&stage), seconds(17));
}

/// Rules 15 and 18: it counts from 0, up to the push.
#[test]
fn a_state_that_is_suspended_without_having_been_entered_has_a_time_as_well() {
    let mut stage = Stage::new(&A);
    stage.advance(3);
    stage.push_state(&B);
    stage.advance(4);
    stage.pop_state();
    stage.advance(1);
    assert_eq!(time_in_state(&stage), seconds(4));
}

/// Rule 18.
#[test]
fn setting_current_leaves_the_times_as_they_are() {
    let mut stage = Stage::new(&KITCHEN);
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.advance(3);
    stage.machine.set_current(&KITCHEN);
    assert_eq!(times(&stage), [Some(5), Some(3), None]);
    stage.machine.set_current(&A);
    assert_eq!(time_in_state(&stage), seconds(3));
}

/// Rule 18.
#[test]
fn states_that_setting_current_makes_active_have_the_time_of_current() {
    let mut stage = Stage::new(&A);
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.machine.set_current(&KITCHEN);
    assert_eq!(times(&stage), [Some(2), Some(2), None]);
    stage.change_state(&HALL);
    stage.advance(3);
    assert_eq!(times(&stage), [Some(5), None, Some(3)]);
}

/// Rules 1 and 18.
#[test]
fn a_stopped_machine_counts_from_zero_again() {
    let mut stage = Stage::new(&KITCHEN);
    stage.start();
    stage.advance(7);
    stage.stop();
    assert_eq!(times(&stage), [None; 3]);
    assert_eq!(time_in_state(&stage), seconds(7));
}

/// Rule 18.
#[test]
fn a_clone_has_the_times_of_its_original() {
    let mut stage = Stage::new(&KITCHEN);
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.machine = stage.machine.clone();
    assert_eq!(times(&stage), [Some(2), None, Some(0)]);
    stage.push_state(&A);
    stage.advance(3);
    stage.machine = stage.machine.clone();
    assert_eq!(time_in_state(&stage), seconds(3));
    stage.pop_state();
    assert_eq!(times(&stage), [Some(2), None, Some(0)]);
}

/// Rule 18.
#[test]
fn a_clock_that_shows_no_number_stands_at_zero() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = f64;
        type Message = ();

        fn now(clock: &f64) -> f64 {
            *clock
        }
    }
    struct Open;
    struct Closed;
    impl State<Door> for Open {}
    impl State<Door> for Closed {}

    let mut broken = f64::NAN;
    let mut machine = StateMachine::new(&Open);
    machine.start(&mut Door, &mut broken);
    assert_eq!(machine.time_in(&Open, &2.0), Some(2.0));
    machine.start(&mut Door, &mut 3.0);
    assert_eq!(machine.time_in(&Open, &3.0), Some(3.0), "it has been entered");
    machine.push_state(&mut Door, &Closed, &mut broken);
    machine.pop_state(&mut Door, &mut 4.0);
    assert_eq!(machine.time_in(&Open, &5.0), Some(1.0));
}

/// Rules 7 and 18.
#[test]
fn a_change_to_the_current_state_begins_the_count_again() {
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
fn a_change_below_a_common_ancestor_begins_the_count_again() {
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
    assert_eq!(stage.update(), "Always.update; 1; A.update");
    stage.advance(1);
    assert_eq!(stage.update(), "Always.update; 2; A.update; A.exit; A -> B (change); B.enter; 0");
    stage.advance(1);
    assert_eq!(stage.update(), "Always.update; 1; B.update");
}

/// Rules 5 and 18.
#[test]
fn an_exit_still_sees_the_time_of_the_state_it_leaves() {
    let mut stage = Stage::new(&A).when("A.exit", |actor, fsm, time| actor.note(fsm.time_in_state(time).to_string()));
    stage.advance(7);
    assert_eq!(stage.change_state(&B), "A.exit; 7; A -> B (change); B.enter; done");
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
