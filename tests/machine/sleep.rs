//! The chapter "Waiting": sleep, rule 26.

use crate::captured_log::log_lines;
use crate::trace::places::{A, ALWAYS, B, C, KITCHEN};
use crate::trace::{Act, Stage, due};
use demeanor::NextWake;

/// A stage in state A, asleep.
fn asleep() -> Stage {
    let mut stage = Stage::new(&A);
    stage.machine.sleep();
    stage
}

fn is_asleep(stage: &Stage) -> bool {
    stage.machine.next_wake() != NextWake::EveryTick
}

/// Rule 26.
#[test]
fn a_state_that_sleeps_is_not_updated() {
    let mut stage = Stage::new(&KITCHEN).when("Kitchen.update", |_, fsm, _| fsm.sleep());
    assert_eq!(stage.update(), "House.update; Kitchen.update");
    for _ in 0..3 {
        assert!(stage.update().is_empty());
    }
    // Neither are those inside it, in the same tick.
    let mut stage = Stage::new(&KITCHEN).when("House.update", |_, fsm, _| fsm.sleep());
    assert_eq!(stage.update(), "House.update");
    assert!(stage.update().is_empty());
}

/// Rule 26.
#[test]
fn the_global_of_a_sleeper_is_updated_and_can_change_it() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("A.update", |_, fsm, _| fsm.sleep());
    assert_eq!(stage.update(), "Always.update; A.update");
    assert_eq!(stage.update(), "Always.update");
    stage = stage.when("Always.update", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.change_state(&B);
        }
    });
    assert_eq!(stage.update(), "Always.update; A.exit; A -> B (change); B.enter; B.update");
    assert_eq!(stage.update(), "Always.update; B.update");
    // The global can send it to sleep, too.
    let mut stage = Stage::new(&A).global(&ALWAYS).when("Always.update", |_, fsm, _| fsm.sleep());
    assert_eq!(stage.update(), "Always.update");
    assert_eq!(stage.update(), "Always.update");
}

/// Rule 26.
#[test]
fn a_sleeper_wakes_by_itself_after_a_while() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.sleep_for(3.0));
    let updated: Vec<_> = (0..10)
        .filter(|_| {
            stage.advance(1);
            !stage.update().is_empty()
        })
        .collect();
    assert_eq!(updated, [0, 3, 6, 9]);
}

/// Rule 26.
#[test]
fn a_timer_that_comes_due_wakes_its_owner_even_if_it_is_refused() {
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("A.enter", |_, fsm, _| {
        fsm.change_state_after(2.0, &B);
        fsm.sleep();
    });
    stage.start();
    assert_eq!(stage.machine.next_wake(), NextWake::At(due(2.0, 0.0)));
    stage.advance(1);
    assert!(stage.update().is_empty());
    stage.advance(1);
    assert_eq!(stage.update(), "A -> B (change), refused by B.can_enter; A.update");
    assert_eq!(stage.update(), "A.update");
}

/// Rule 26.
#[test]
fn every_change_wakes() {
    type Verb = fn(&mut Stage);
    let verbs: [Verb; 6] = [
        |stage| drop(stage.change_state(&B)),
        |stage| drop(stage.force_state(&B)),
        |stage| drop(stage.push_state(&B)),
        |stage| drop(stage.ensure_state(&B)),
        |stage| stage.machine.set_current(&B),
        |stage| drop(stage.change_state(&A)),
    ];
    for verb in verbs {
        let mut stage = asleep();
        assert!(is_asleep(&stage));
        verb(&mut stage);
        assert!(!is_asleep(&stage));
    }
    let mut stage = asleep().refusing("B.can_enter");
    stage.change_state(&B);
    assert!(is_asleep(&stage), "what is refused is no change");
    stage.ensure_state(&A);
    assert!(is_asleep(&stage), "nor is what is ensured already");
}

/// Rule 26.
#[test]
fn a_message_wakes_if_a_state_handles_it() {
    let mut stage = asleep();
    stage.send("rain");
    assert!(is_asleep(&stage));
    let mut stage = asleep().handling("A");
    assert_eq!(stage.send("knock"), "A.knock; handled");
    assert!(!is_asleep(&stage));
    let mut stage = asleep().global(&ALWAYS).handling("Always");
    stage.send("knock");
    assert_eq!(stage.update(), "Always.update; A.update");
    // The handler may go back to sleep.
    let mut stage = asleep().handling("A").when("A.knock", |_, fsm, _| fsm.sleep());
    stage.send("knock");
    assert!(is_asleep(&stage));
}

/// Rule 26.
#[test]
fn the_game_wakes_a_sleeper() {
    let mut stage = asleep();
    assert!(stage.machine.wake());
    assert!(!stage.machine.wake(), "it is awake already");
    assert_eq!(stage.update(), "A.update");
}

/// Rule 26.
#[test]
fn a_change_that_the_callback_asks_for_makes_its_sleep_void() {
    let in_update: [Act; 3] = [
        |_, fsm, _| {
            fsm.sleep();
            fsm.change_state(&B);
        },
        |_, fsm, _| {
            fsm.change_state(&B);
            fsm.sleep();
        },
        |actor, fsm, time| {
            fsm.sleep();
            fsm.change_state_now(actor, &B, time);
        },
    ];
    for act in in_update {
        let mut stage = Stage::new(&A).when("A.update", act);
        stage.update();
        assert!(!is_asleep(&stage));
        assert_eq!(stage.update(), "B.update");
    }
    // A refused one does not.
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("A.update", |_, fsm, _| {
        fsm.sleep();
        fsm.change_state(&B);
    });
    stage.update();
    assert!(is_asleep(&stage));
}

/// Rules 11 and 26.
#[test]
fn sleep_asked_for_behind_a_change_now_is_that_of_the_new_state() {
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        fsm.sleep();
    });
    stage.update();
    assert!(is_asleep(&stage));
    // One that is refused within the call makes no difference.
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("A.update", |actor, fsm, time| {
        fsm.sleep();
        fsm.change_state_now(actor, &B, time);
    });
    stage.update();
    assert!(is_asleep(&stage));
}

/// Rule 26.
#[test]
fn of_several_requests_to_sleep_the_last_one_counts() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.sleep();
        fsm.sleep_for(3.0);
    });
    stage.update();
    assert_eq!(stage.machine.next_wake(), NextWake::At(due(3.0, 0.0)));
}

/// Rules 22 and 26.
#[test]
fn a_callback_that_panics_does_not_fall_asleep_later() {
    let mut stage = Stage::new(&A).panicking_in("A.update").when("A.update", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.sleep();
        }
    });
    assert_eq!(stage.catch(Stage::update), "A.update");
    stage = stage.refusing("B.can_enter").when("A.update", |_, fsm, _| fsm.change_state(&B));
    stage.update();
    assert!(!is_asleep(&stage));
}

/// Rules 13 and 26.
#[test]
fn a_cycle_drops_the_request_to_sleep() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.sleep();
        fsm.send("again");
    });
    stage = stage.when("A.again", |_, fsm, _| fsm.send("again"));
    assert_eq!(stage.update().len(), 65, "the update, and 64 messages");
    assert!(!is_asleep(&stage));
}

/// Rules 13 and 26.
#[test]
fn a_request_to_sleep_is_none_of_the_sixty_four() {
    let mut stage = Stage::new(&A).handling("A").when("A.update", |_, fsm, _| {
        fsm.sleep();
        (0..64).for_each(|_| fsm.send("knock"));
    });
    assert_eq!(stage.update().len(), 65, "the update, and 64 messages");
    assert!(is_asleep(&stage));
}

/// Rule 26.
#[test]
fn a_state_may_sleep_from_its_enter_on() {
    let mut stage = Stage::new(&A).when("B.enter", |_, fsm, _| fsm.sleep());
    stage.change_state(&B);
    assert!(is_asleep(&stage));
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&B));
    stage = stage.when("B.enter", |_, fsm, _| fsm.sleep());
    stage.update();
    assert!(stage.update().is_empty());
    let mut stage = Stage::new(&KITCHEN).when("House.enter", |_, fsm, _| fsm.sleep());
    stage.start();
    assert!(is_asleep(&stage));
}

/// Rules 12 and 26.
#[test]
fn sleep_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).when("A.exit", |_, fsm, _| fsm.sleep());
    let lines = log_lines(|| drop(stage.change_state(&B)));
    assert!(
        lines.contains(&"WARN demeanor: Elsa: sleep refused in state A: the state is being left".to_owned()),
        "{lines:?}"
    );
    assert!(!is_asleep(&stage));
}

/// Rule 26: a path that another state was pushed over is awake when it is resumed.
#[test]
fn a_sleeper_that_was_pushed_over_is_awake_afterwards() {
    let mut stage = asleep();
    stage.push_state(&C);
    assert_eq!(stage.update(), "C.update");
    stage.pop_state();
    assert_eq!(stage.update(), "A.update");
}

/// Rule 26.
#[test]
fn a_sleep_without_an_end_is_said_and_is_never_over() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.sleep());
    let lines = log_lines(|| (0..10).for_each(|_| drop(stage.update())));
    assert_eq!(lines, ["DEBUG demeanor: Elsa: sleeps in state A until a message or `wake`"]);
    assert_eq!(stage.machine.next_wake(), NextWake::Never);
    for seconds in [-1.0, f64::NAN, 0.0] {
        let mut stage = Stage::new(&A);
        let lines = log_lines(|| stage.machine.sleep_for(&stage.actor, seconds, &stage.time));
        let warning = format!("WARN demeanor: Elsa: sleep after {seconds} s, asked for in state A, counts as 0 s");
        assert_eq!(lines, if seconds == 0.0 { vec![] } else { vec![warning] });
        assert_eq!(stage.update(), "A.update", "no time is over in the next tick");
    }
}
