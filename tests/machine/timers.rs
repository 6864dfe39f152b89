//! The chapter "Waiting": timers, rule 25.

use crate::captured_log::log_lines;
use crate::trace::places::{A, ALWAYS, B, C, HALL, KITCHEN};
use crate::trace::{Actor, Place, Stage, Trace, due};
use demeanor::{GameTime, NextWake, StateMachine};

/// Updates after each second: the seconds in which more happened than the update of current, each with its trace.
fn ticks(stage: &mut Stage, count: u64) -> Trace {
    let mut eventful = Trace::default();
    for _ in 0..count {
        stage.advance(1);
        let trace = stage.update();
        if trace.iter().any(|line| !line.ends_with(".update")) {
            eventful.push(format!("{} s", stage.time.total().as_secs()));
            eventful.extend_from_slice(&trace);
        }
    }
    eventful
}

/// Rule 25.
#[test]
fn a_timer_is_carried_out_at_the_beginning_of_the_tick_in_which_it_is_due() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("A.enter", |_, fsm, _| fsm.change_state_after(3.0, &B));
    stage.start();
    assert_eq!(ticks(&mut stage, 5), "3 s; A.exit; A -> B (change); B.enter; Always.update; B.update");
}

/// Rule 25.
#[test]
fn a_message_is_sent_to_oneself_after_a_while() {
    let mut stage = Stage::new(&A).handling("A").when("A.enter", |_, fsm, _| fsm.send_after(2.0, "boil"));
    stage.start();
    assert_eq!(ticks(&mut stage, 4), "2 s; A.boil; A.update");
}

/// Rule 25.
#[test]
fn timers_come_in_the_order_of_due_time_and_then_of_asking() {
    let mut stage = Stage::new(&A).handling("A").when("A.enter", |_, fsm, _| {
        fsm.send_after(3.0, "late");
        fsm.send_after(2.0, "first");
        fsm.send_after(2.0, "second");
        fsm.send_after(1.0, "early");
    });
    stage.start();
    stage.advance(5);
    assert_eq!(stage.update(), "A.early; A.first; A.second; A.late; A.update");
}

/// Rule 25: as requests made there, they are carried out before what they lead to.
#[test]
fn what_a_due_timer_leads_to_waits_behind_the_other_due_ones() {
    let mut stage = Stage::new(&A)
        .handling("A")
        .when("A.enter", |_, fsm, _| {
            fsm.send_after(1.0, "one");
            fsm.send_after(1.0, "two");
        })
        .when("A.one", |_, fsm, _| fsm.send("three"));
    stage.start();
    stage.advance(1);
    assert_eq!(stage.update(), "A.one; A.two; A.three; A.update");
}

/// Rule 25.
#[test]
fn a_timer_ends_when_its_state_is_left_and_is_not_revived() {
    let mut stage = Stage::new(&A).when("A.enter", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.change_state_after(3.0, &C);
        }
    });
    stage.start();
    stage.change_state(&B);
    stage.change_state(&A);
    assert_eq!(ticks(&mut stage, 9), "");
    // Nor does it go on when the state is changed to itself.
    let mut stage = Stage::new(&A).when("A.enter", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.change_state_after(3.0, &C);
        }
    });
    stage.start();
    stage.change_state(&A);
    assert_eq!(ticks(&mut stage, 9), "");
}

/// Rule 25.
#[test]
fn a_due_timer_whose_state_an_earlier_one_leaves_is_not_carried_out() {
    let mut stage = Stage::new(&A).when("A.enter", |_, fsm, _| {
        fsm.change_state_after(1.0, &B);
        fsm.change_state_after(2.0, &C);
    });
    stage.start();
    stage.advance(5);
    assert_eq!(stage.update(), "A.exit; A -> B (change); B.enter; B.update");
    assert_eq!(ticks(&mut stage, 3), "");
}

/// Rule 25.
#[test]
fn the_timer_of_a_parent_goes_on_while_its_children_change() {
    let mut stage = Stage::new(&KITCHEN)
        .when("House.enter", |_, fsm, _| fsm.change_state_after(3.0, &A))
        .when("Kitchen.enter", |_, fsm, _| fsm.change_state_after(2.5, &B));
    stage.start();
    stage.advance(1);
    stage.change_state(&HALL);
    assert_eq!(ticks(&mut stage, 4), "3 s; Hall.exit; House.exit; Hall -> A (change); A.enter; A.update");
}

/// Rule 25.
#[test]
fn a_timer_of_the_global_or_from_outside_lasts_as_long_as_the_machine() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("Always.update", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.change_state_after(3.0, &B);
        }
    });
    stage.update();
    stage.change_state(&C);
    assert_eq!(ticks(&mut stage, 5), "3 s; C.exit; C -> B (change); B.enter; Always.update; B.update");

    let mut stage = Stage::new(&A);
    assert!(stage.machine.change_state_after(&mut stage.actor, 3.0, &B, &mut stage.time));
    stage.change_state(&C);
    assert_eq!(ticks(&mut stage, 5), "3 s; C.exit; C -> B (change); B.enter; B.update");
}

/// Rule 25.
#[test]
fn a_timer_stands_still_while_another_state_is_pushed_over() {
    let mut stage = Stage::new(&A).when("A.enter", |_, fsm, _| fsm.change_state_after(3.0, &B));
    stage.start();
    stage.advance(2);
    stage.push_state(&C);
    assert_eq!(ticks(&mut stage, 10), "");
    stage.pop_state();
    assert_eq!(ticks(&mut stage, 3), "13 s; A.exit; A -> B (change); B.enter; B.update");
}

/// Rule 25: also one that the state asks for in the same breath.
#[test]
fn a_timer_asked_for_behind_a_push_stands_still_with_its_state() {
    let mut stage = Stage::new(&A).when("A.go", |_, fsm, _| {
        fsm.push_state(&C);
        fsm.change_state_after(1.0, &B);
    });
    stage.send("go");
    assert_eq!(ticks(&mut stage, 3), "");
    stage.pop_state();
    assert_eq!(ticks(&mut stage, 3), "4 s; A.exit; A -> B (change); B.enter; B.update");
}

/// Rule 25: seconds that are no time, infinite ones, and a state that has been left, are what they are without the push.
#[test]
fn what_is_asked_for_behind_a_push_is_a_timer_only_if_it_would_be_one_without() {
    for (seconds, comes) in [(f64::NAN, true), (-5.0, true), (f64::INFINITY, false)] {
        let mut stage = Stage::new(&A).when("A.go", |_, fsm, _| fsm.push_state(&C));
        stage = match seconds {
            f64::INFINITY => stage.when("A.go", |_, fsm, _| fsm.change_state_after(f64::INFINITY, &B)),
            -5.0 => stage.when("A.go", |_, fsm, _| fsm.change_state_after(-5.0, &B)),
            _ => stage.when("A.go", |_, fsm, _| fsm.change_state_after(f64::NAN, &B)),
        };
        stage.send("go");
        assert_eq!(ticks(&mut stage, 3), "");
        stage.pop_state();
        stage.machine.sleep();
        assert_eq!(stage.machine.next_wake(), if comes { NextWake::At(3.0) } else { NextWake::Never });
        stage.update();
        assert_eq!(stage.machine.is_in_state(&B), comes);
    }
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        fsm.push_state(&C);
        fsm.change_state_after(1.0, &A);
    });
    stage.update();
    assert_eq!(stage.pop_state().last().map(String::as_str), Some("done"));
    assert_eq!(ticks(&mut stage, 3), "");
    assert!(stage.machine.is_in_state(&B));
}

/// Rule 25.
#[test]
fn a_timer_that_has_stood_still_comes_behind_those_that_ran() {
    let mut stage = Stage::new(&A).handling("A").when("A.go", |_, fsm, _| fsm.send_after(3.0, "of A"));
    stage.send("go");
    stage.push_state(&C);
    stage.machine.send_after(&mut stage.actor, 3.0, "of the machine", &mut stage.time);
    stage.pop_state();
    stage.advance(3);
    assert_eq!(stage.update(), "A.of the machine; A.of A; A.update");
}

/// Rule 25.
#[test]
fn the_timers_of_a_path_that_is_resumed_keep_their_order_behind_those_that_ran_and_before_those_set_meanwhile() {
    let mut stage = Stage::new(&KITCHEN)
        .handling("Kitchen")
        .when("Kitchen.enter", |_, fsm, _| fsm.send_after(3.0, "of the kitchen"))
        .when("House.update", |_, fsm, _| fsm.send_after(3.0, "of the house"))
        .when("Kitchen.update", |_, fsm, _| fsm.send_after(3.0, "of the kitchen, too"))
        .when("House.resume", |actor, fsm, time| {
            fsm.send_after(3.0, "of the resume");
            fsm.send_now(actor, &"hello", time);
        });
    stage.start();
    stage.update();
    stage.push_state(&C);
    stage.machine.send_after(&mut stage.actor, 3.0, "of the machine", &mut stage.time);
    stage.pop_state();
    stage.advance(3);
    assert_eq!(
        stage.update(),
        [
            "Kitchen.of the machine",
            "Kitchen.of the kitchen",
            "Kitchen.of the house",
            "Kitchen.of the kitchen, too",
            "Kitchen.of the resume",
            "House.update",
            "Kitchen.update"
        ]
    );
}

/// Rule 25.
#[test]
fn a_clock_that_goes_back_makes_a_timer_wait_longer() {
    let mut stage = Stage::new(&A);
    stage.advance(10);
    stage.machine.change_state_after(&mut stage.actor, 2.0, &B, &mut stage.time);
    stage.time = GameTime::new();
    assert_eq!(ticks(&mut stage, 20), "12 s; A.exit; A -> B (change); B.enter; B.update");
}

/// Rules 1 and 25.
#[test]
fn starting_and_stopping_end_the_timers_of_states() {
    let mut stage = Stage::new(&A).when("A.go", |_, fsm, _| {
        fsm.change_state_after(1.0, &B);
        fsm.sleep();
    });
    stage.send("go");
    stage.start();
    assert_eq!(stage.machine.next_wake(), NextWake::EveryTick);
    assert_eq!(ticks(&mut stage, 3), "");
    stage.send("go");
    stage.machine.change_state_after(&mut stage.actor, 2.0, &C, &mut stage.time);
    stage.stop();
    // That of the machine goes on.
    assert_eq!(stage.machine.next_wake(), NextWake::At(due(2.0, 3.0)));
    assert_eq!(ticks(&mut stage, 3), "5 s; (no state) -> C (change); C.enter; C.update");
}

/// Rules 22 and 25.
#[test]
fn a_panic_drops_the_other_due_timers_with_the_requests() {
    let mut stage = Stage::new(&A).panicking_in("A.two");
    for word in ["one", "two", "three"] {
        stage.machine.send_after(&mut stage.actor, 1.0, word, &mut stage.time);
    }
    stage.machine.send_after(&mut stage.actor, 2.0, "four", &mut stage.time);
    stage.advance(1);
    assert_eq!(stage.catch(Stage::update), "A.one; A.two");
    assert_eq!(stage.update(), "A.update");
    stage.advance(1);
    assert_eq!(stage.update(), "A.four; A.update");
}

/// Rule 25.
#[test]
fn guards_are_asked_when_a_timer_is_due_and_one_that_is_refused_is_used_up() {
    let mut stage = Stage::new(&A)
        .recording_guards()
        .refusing("B.can_enter")
        .when("A.enter", |_, fsm, _| fsm.change_state_after(2.0, &B));
    assert_eq!(stage.start(), "A.enter");
    assert_eq!(
        ticks(&mut stage, 5),
        "2 s; A.can_exit?; B.can_enter?; A -> B (change), refused by B.can_enter; A.update"
    );
}

/// Rule 25.
#[test]
fn a_timer_asked_for_by_a_state_that_has_been_left_ends_at_once() {
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        fsm.change_state_after(1.0, &C);
    });
    stage.update();
    assert_eq!(ticks(&mut stage, 3), "");
    // Also behind the change, in one line.
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.change_state(&B);
        fsm.change_state_after(1.0, &C);
    });
    stage.update();
    assert_eq!(ticks(&mut stage, 3), "");
}

/// Rules 12 and 25.
#[test]
fn a_timer_asked_for_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).when("A.exit", |_, fsm, _| fsm.change_state_after(1.0, &C));
    let lines = log_lines(|| drop(stage.change_state(&B)));
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("WARN")).collect::<Vec<_>>(),
        ["WARN demeanor: Elsa: change to C after 1 s refused in state A: the state is being left"]
    );
    assert_eq!(ticks(&mut stage, 3), "");
}

/// Rule 25.
#[test]
fn seconds_that_are_no_time_are_none_and_infinite_ones_never_end() {
    for seconds in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let mut stage = Stage::new(&A);
        let lines = log_lines(|| _ = stage.machine.change_state_after(&mut stage.actor, seconds, &B, &mut stage.time));
        let warning =
            format!("WARN demeanor: Elsa: change to B after {seconds} s, asked for in state A, counts as 0 s");
        assert_eq!(lines, if seconds == 0.0 { vec![] } else { vec![warning] });
        assert!(stage.machine.is_in_state(&A), "not before the next tick");
        stage.update();
        assert!(stage.machine.is_in_state(&B));
    }
    let mut stage = Stage::new(&A);
    stage.machine.change_state_after(&mut stage.actor, f64::INFINITY, &B, &mut stage.time);
    assert_eq!(ticks(&mut stage, 100), "");
}

/// Rule 25.
#[test]
fn a_timer_of_no_time_that_sets_another_does_so_once_in_a_tick() {
    let mut stage = Stage::new(&A).when("A.enter", |_, fsm, _| fsm.change_state_after(0.0, &A));
    stage.start();
    for _ in 0..3 {
        assert_eq!(stage.update(), "A.exit; A -> A (change); A.enter; A.update");
    }
}

/// Rule 25.
#[test]
fn a_clock_that_never_advances_is_said_once() {
    let mut stage = Stage::new(&A).when("A.enter", |_, fsm, _| fsm.change_state_after(1.0, &B));
    stage.start();
    let lines = log_lines(|| (0..1000).for_each(|_| drop(stage.update())));
    assert_eq!(lines, ["DEBUG demeanor: Elsa: waits for a time, but its clock stands still at 0 s"]);
}

/// Rule 13 and 25.
#[test]
fn a_clock_that_jumps_carries_out_all_timers_in_their_order_within_the_limit() {
    let mut stage = Stage::new(&A).handling("A");
    for nth in 0..60 {
        stage.machine.send_after(&mut stage.actor, f64::from(60 - nth), "beep", &mut stage.time);
    }
    stage.advance(86_400);
    assert_eq!(stage.update().len(), 61);
    for _ in 0..100 {
        stage.machine.send_after(&mut stage.actor, 1.0, "beep", &mut stage.time);
    }
    stage.advance(86_400);
    assert_eq!(stage.update().len(), 65, "64, and the update");
    assert_eq!(stage.machine.next_wake(), NextWake::EveryTick);
}

/// Rule 25.
#[test]
fn a_clone_of_a_machine_has_timers_of_its_own() {
    let mut stage = Stage::new(&A);
    stage.machine.send_after(&mut stage.actor, 1.0, "beep", &mut stage.time);
    stage.machine.change_state_after(&mut stage.actor, 2.0, &B, &mut stage.time);
    let mut other = Stage::with_machine(stage.machine.clone());
    stage.change_state(&C);
    other.advance(3);
    assert_eq!(other.update(), "A.beep; A.exit; A -> B (change); B.enter; B.update");
    stage.advance(3);
    assert_eq!(stage.update(), "C.beep; C.exit; C -> B (change); B.enter; B.update");
}

#[test]
fn a_machine_says_when_it_next_has_something_to_do() {
    static PASSIVE: Place = Place::new("Passive").passive();
    let mut stage = Stage::new(&PASSIVE);
    assert_eq!(stage.machine.next_wake(), NextWake::Never);
    stage.machine.change_state_after(&mut stage.actor, 7.0, &A, &mut stage.time);
    stage.machine.change_state_after(&mut stage.actor, 5.0, &A, &mut stage.time);
    assert_eq!(stage.machine.next_wake(), NextWake::At(due(5.0, 0.0)));
    stage.machine.set_global(&ALWAYS);
    assert_eq!(stage.machine.next_wake(), NextWake::EveryTick);
    assert_eq!(StateMachine::<Actor>::idle().next_wake(), NextWake::Never);
}
