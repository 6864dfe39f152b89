//! The chapter "Requests": rules 10 to 13.

mod captured_log;
mod trace;

use captured_log::log_lines;
use trace::{Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static C: Place = Place::new("C");
static D: Place = Place::new("D");

static HOUSE: Place = Place::new("House");
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
static HALL: Place = Place::new("Hall").inside(&HOUSE);

/// Rule 10.
#[test]
fn a_request_is_carried_out_once_the_callback_has_returned() {
    let mut stage = Stage::new(&A).recording_view().when("A.update", |actor, fsm, _| {
        fsm.change_state(&B);
        assert!(fsm.is_in_state(&A));
        assert!(fsm.previous().is_none());
        actor.note("rest of A.update");
    });
    assert_eq!(
        stage.update(),
        ["A.update (A)", "rest of A.update", "A.exit (A, was A)", "A -> B (change)", "B.enter (B, was A)"]
    );
}

/// Rule 10.
#[test]
fn two_changes_in_one_update_are_both_made_in_the_order_asked_for() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.change_state(&B);
        fsm.change_state(&C);
    });
    assert_eq!(
        stage.update(),
        ["A.update", "A.exit", "A -> B (change)", "B.enter", "B.exit", "B -> C (change)", "C.enter"]
    );
    assert_eq!(stage.view(), "C, was B");
}

/// Rule 10.
#[test]
fn every_verb_queues_in_one_line() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.push_state(&B);
        fsm.change_state(&C);
        fsm.revert_state();
        fsm.pop_state();
        fsm.resume_state(&D);
    });
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.suspend",
            "A -> B (push)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "C.exit",
            "C -> B (revert)",
            "B.enter",
            "B.exit",
            "B -> A (pop)",
            "A.resume",
            "A.exit",
            "A -> D (resume)",
            "D.enter"
        ]
    );
}

/// Rule 10.
#[test]
fn what_the_caller_asks_for_through_a_lent_handle_is_carried_out_when_it_returns_it() {
    let mut stage = Stage::new(&A);
    let asked = stage.machine.with(&mut stage.actor, &mut stage.time, |actor, fsm, _| {
        fsm.change_state(&B);
        actor.note("asked");
        fsm.is_in_state(&A)
    });
    assert!(asked);
    assert_eq!(stage.with(|_, _, _| {}), ["asked", "A.exit", "A -> B (change)", "B.enter"]);
}

/// Rules 10 and 15.
#[test]
fn a_refused_request_does_not_stop_the_ones_behind_it() {
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("A.update", |_, fsm, _| {
        fsm.revert_state();
        fsm.pop_state();
        fsm.change_state(&B);
        fsm.change_state(&C);
    });
    assert_eq!(
        stage.update(),
        ["A.update", "A -> B (change), refused by B.can_enter", "A.exit", "A -> C (change)", "C.enter"]
    );
}

/// Rule 11.
#[test]
fn a_change_now_happens_inside_the_call() {
    let mut stage = Stage::new(&A).recording_view().when("A.update", |actor, fsm, time| {
        assert!(fsm.change_state_now(actor, &B, time));
        assert!(fsm.is_in_state(&B));
        actor.note("rest of A.update");
    });
    assert_eq!(
        stage.update(),
        ["A.update (A)", "A.exit (A, was A)", "A -> B (change)", "B.enter (B, was A)", "rest of A.update"]
    );
    assert_eq!(stage.view(), "B, was A");
}

/// Rule 11.
#[test]
fn a_change_now_carries_out_earlier_requests_first() {
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        fsm.change_state(&B);
        fsm.change_state(&C);
        assert!(fsm.change_state_now(actor, &D, time));
        actor.note("rest of A.update");
        fsm.change_state(&A);
    });
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.exit",
            "A -> B (change)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "C.exit",
            "C -> D (change)",
            "D.enter",
            "rest of A.update",
            "D.exit",
            "D -> A (change)",
            "A.enter"
        ]
    );
}

/// Rules 11 and 12.
#[test]
fn a_change_now_carries_out_what_its_enter_asks_for_before_it_returns() {
    let mut stage = Stage::new(&A)
        .when("A.update", |actor, fsm, time| {
            assert!(fsm.change_state_now(actor, &B, time));
            assert!(fsm.is_in_state(&C));
            actor.note("rest of A.update");
        })
        .when("B.enter", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.exit",
            "A -> B (change)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "rest of A.update"
        ]
    );
}

/// Rule 11: Buckland's change inside `Enter`, nested as his are.
#[test]
fn changes_now_nest() {
    let mut stage = Stage::new(&A)
        .when("A.update", |actor, fsm, time| {
            fsm.change_state_now(actor, &B, time);
            actor.note("rest of A.update");
        })
        .when("B.enter", |actor, fsm, time| {
            fsm.change_state_now(actor, &C, time);
            actor.note("rest of B.enter");
        });
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.exit",
            "A -> B (change)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "rest of B.enter",
            "rest of A.update"
        ]
    );
    assert_eq!(stage.view(), "C, was B");
}

/// Rule 11.
#[test]
fn a_change_now_says_when_a_guard_refuses_it() {
    let mut stage = Stage::new(&A).refusing("A.can_exit").when("A.update", |actor, fsm, time| {
        assert!(!fsm.change_state_now(actor, &B, time));
        assert!(fsm.is_in_state(&A));
    });
    assert_eq!(stage.update(), ["A.update", "A -> B (change), refused by A.can_exit"]);
}

/// Rule 12.
#[test]
fn a_request_made_in_enter_waits_for_the_change_under_way() {
    let mut stage = Stage::new(&A).when("House.enter", |actor, fsm, _| {
        fsm.change_state(&B);
        actor.note("rest of House.enter");
    });
    assert_eq!(
        stage.change_state(&KITCHEN),
        [
            "A.exit",
            "A -> Kitchen (change)",
            "House.enter",
            "rest of House.enter",
            "Kitchen.enter",
            "Kitchen.exit",
            "House.exit",
            "Kitchen -> B (change)",
            "B.enter",
            "done"
        ]
    );
    assert_eq!(stage.view(), "B, was Kitchen");
}

/// Rules 10 and 12: one line for the whole callback.
#[test]
fn a_request_made_in_enter_comes_after_those_made_before_it() {
    let mut stage = Stage::new(&A)
        .when("A.update", |_, fsm, _| {
            fsm.change_state(&B);
            fsm.change_state(&C);
        })
        .when("B.enter", |_, fsm, _| fsm.change_state(&D));
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.exit",
            "A -> B (change)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "C.exit",
            "C -> D (change)",
            "D.enter"
        ]
    );
}

/// Rule 12.
#[test]
fn a_request_made_in_resume_waits_for_the_pop_under_way() {
    let mut stage = Stage::new(&KITCHEN).when("House.resume", |_, fsm, _| fsm.change_state(&HALL));
    stage.push_state(&A);
    assert_eq!(
        stage.pop_state(),
        [
            "A.exit",
            "A -> Kitchen (pop)",
            "House.resume",
            "Kitchen.resume",
            "Kitchen.exit",
            "Kitchen -> Hall (change)",
            "Hall.enter",
            "done"
        ]
    );
}

/// Rules 12 and 23.
#[test]
fn a_request_made_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).when("A.exit", |_, fsm, _| fsm.change_state(&C));
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.change_state(&B));
    assert_eq!(trace, ["A.exit", "A -> B (change)", "B.enter", "done"]);
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains('A') && lines[0].contains('C'), "{lines:?}");
    assert_eq!(lines[1], "DEBUG demeanor: Elsa: A -> B (change)");
}

/// Rules 12 and 23.
#[test]
fn a_change_now_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).when("A.exit", |actor, fsm, time| {
        assert!(!fsm.change_state_now(actor, &C, time));
        assert!(fsm.is_in_state(&A));
    });
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.change_state(&B));
    assert_eq!(trace, ["A.exit", "A -> B (change)", "B.enter", "done"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains('A') && lines[0].contains('C'), "{lines:?}");
}

/// Rule 12.
#[test]
fn every_verb_is_refused_in_exit() {
    let mut stage = Stage::new(&A).when("B.exit", |_, fsm, _| {
        fsm.change_state(&C);
        fsm.revert_state();
        fsm.push_state(&C);
        fsm.pop_state();
        fsm.resume_state(&C);
    });
    stage.push_state(&B);
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.change_state(&D));
    assert_eq!(trace, ["B.exit", "B -> D (change)", "D.enter", "done"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("WARN demeanor: Elsa: ")).count(), 5, "{lines:?}");
    assert_eq!(stage.pop_state(), ["D.exit", "D -> A (pop)", "A.resume", "done"]);
}

/// Rule 12.
#[test]
fn what_was_asked_for_before_the_exit_is_still_carried_out() {
    let mut stage = Stage::new(&A)
        .when("A.update", |_, fsm, _| {
            fsm.change_state(&B);
            fsm.change_state(&C);
        })
        .when("A.exit", |actor, fsm, time| {
            fsm.change_state(&D);
            assert!(!fsm.change_state_now(actor, &D, time));
        });
    assert_eq!(
        stage.update(),
        ["A.update", "A.exit", "A -> B (change)", "B.enter", "B.exit", "B -> C (change)", "C.enter"]
    );
}

/// Rules 12 and 15.
#[test]
fn a_request_made_in_suspend_is_refused() {
    let mut stage = Stage::new(&A).when("A.suspend", |actor, fsm, time| {
        fsm.change_state(&C);
        assert!(!fsm.change_state_now(actor, &D, time));
    });
    assert_eq!(stage.push_state(&B), ["A.suspend", "A -> B (push)", "B.enter", "done"]);
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 13 and 23.
#[test]
fn a_cycle_ends_after_exactly_sixty_four_changes() {
    let mut stage = Stage::new(&C)
        .when("C.update", |_, fsm, _| fsm.change_state(&A))
        .when("A.enter", |_, fsm, _| fsm.change_state(&B))
        .when("B.enter", |_, fsm, _| fsm.change_state(&A));
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.update());
    let changes = trace.iter().filter(|line| line.ends_with("(change)")).count();
    assert_eq!(changes, 64);
    // C -> A, then 63 more: the machine stays where the last of them led.
    assert_eq!(trace.last().unwrap(), "B.enter");
    assert_eq!(stage.view(), "B, was A");

    let errors: Vec<_> = lines.iter().filter(|line| line.starts_with("ERROR")).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("ERROR demeanor: Elsa: "), "{errors:?}");
    assert!(errors[0].contains("64"), "{errors:?}");
    let named = errors[0].rsplit("Elsa: ").next().unwrap();
    assert!(named.contains('A') && named.contains('B'), "{errors:?}");
    assert!(!named.contains('C'), "C is no part of the cycle: {errors:?}");
}

/// Rule 13.
#[test]
fn sixty_four_changes_for_one_callback_are_no_cycle() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| (0..64).for_each(|_| fsm.change_state(&B)));
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.update());
    assert_eq!(trace.iter().filter(|line| line.ends_with("(change)")).count(), 64);
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 0);
}

/// Rule 13.
#[test]
fn the_sixty_fifth_change_and_all_behind_it_are_dropped() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        (0..64).for_each(|_| fsm.change_state(&B));
        fsm.change_state(&C);
        fsm.change_state(&D);
    });
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.update());
    assert_eq!(trace.iter().filter(|line| line.ends_with("(change)")).count(), 64);
    assert_eq!(stage.view(), "B, was B");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 1);
    assert_eq!(stage.update(), ["B.update"]);
}

/// Rule 13.
#[test]
fn a_cycle_of_changes_now_ends_and_unwinds() {
    let mut stage = Stage::new(&A)
        .when("A.update", |actor, fsm, time| {
            assert!(fsm.change_state_now(actor, &B, time));
        })
        .when("A.enter", |actor, fsm, time| {
            fsm.change_state_now(actor, &B, time);
        })
        .when("B.enter", |actor, fsm, time| {
            fsm.change_state_now(actor, &A, time);
        });
    let mut trace = Vec::new();
    let lines = log_lines(|| trace = stage.update());
    assert_eq!(trace.iter().filter(|line| line.ends_with("(change)")).count(), 64);
    assert_eq!(stage.view(), "A, was B");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR demeanor: Elsa: ")).count(), 1, "{lines:?}");
}

/// Rule 13.
#[test]
fn refused_requests_are_not_counted() {
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("A.update", |_, fsm, _| {
        (0..100).for_each(|_| fsm.change_state(&B));
        (0..100).for_each(|_| fsm.pop_state());
        fsm.change_state(&C);
    });
    stage.update();
    assert_eq!(stage.view(), "C, was A");
}

/// Rule 13.
#[test]
fn each_callback_of_a_tick_has_a_count_of_its_own() {
    let mut stage = Stage::new(&KITCHEN)
        .when("House.update", |_, fsm, _| (0..64).for_each(|_| fsm.change_state(&HALL)))
        .when("Hall.update", |_, fsm, _| (0..64).for_each(|_| fsm.change_state(&HALL)));
    let trace = stage.update();
    assert_eq!(trace.iter().filter(|line| line.ends_with("(change)")).count(), 128);
}

/// Rule 13.
#[test]
fn a_machine_goes_on_after_a_cycle() {
    let mut stage =
        Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&A)).when("A.enter", |actor, fsm, _| {
            actor.count += 1;
            if actor.count <= 70 {
                fsm.change_state(&A);
            }
        });
    stage.update();
    assert_eq!(stage.actor.count, 64);
    stage.update();
    assert_eq!(stage.actor.count, 71);
    assert_eq!(stage.change_state(&B), ["A.exit", "A -> B (change)", "B.enter", "done"]);
}
