//! The chapter "Requests": rules 10 to 12, and the other requests of rule 24.

use crate::captured_log::log_lines;
use crate::logged;
use crate::trace::places::{A, B, C, D, HALL, HOUSE, KITCHEN};
use crate::trace::{Actor, Stage};

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
        "A.update (A); rest of A.update
         A.exit (A, was A); A -> B (change); B.enter (B, was A)"
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter"
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
        fsm.ensure_state(&B);
        fsm.send("hit");
        fsm.force_state(&A);
    });
    assert_eq!(
        stage.update(),
        "A.update
         A.suspend; A -> B (push); B.enter
         B.exit; B -> C (change); C.enter
         C.exit; C -> B (revert); B.enter
         B.exit; B -> A (pop); A.resume
         A.exit; A -> D (resume); D.enter
         D.exit; D -> B (change); B.enter; B.hit
         B.exit; B -> A (force); A.enter"
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
    assert_eq!(stage.with(|_, _, _| {}), "asked; A.exit; A -> B (change); B.enter");
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
        "A.update
         A -> B (change), refused by B.can_enter
         A.exit; A -> C (change); C.enter"
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
        "A.update (A)
         A.exit (A, was A); A -> B (change); B.enter (B, was A)
         rest of A.update"
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter
         C.exit; C -> D (change); D.enter
         rest of A.update
         D.exit; D -> A (change); A.enter"
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter
         rest of A.update"
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter; rest of B.enter
         rest of A.update"
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
    assert_eq!(stage.update(), "A.update; A -> B (change), refused by A.can_exit");
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
        "A.exit; A -> Kitchen (change); House.enter; rest of House.enter; Kitchen.enter
         Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; done"
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter
         C.exit; C -> D (change); D.enter"
    );
}

/// Rule 12.
#[test]
fn a_request_made_in_resume_waits_for_the_pop_under_way() {
    let mut stage = Stage::new(&KITCHEN).when("House.resume", |_, fsm, _| fsm.change_state(&HALL));
    stage.push_state(&A);
    assert_eq!(
        stage.pop_state(),
        "A.exit; A -> Kitchen (pop); House.resume; Kitchen.resume
         Kitchen.exit; Kitchen -> Hall (change); Hall.enter; done"
    );
}

/// Rules 12 and 23.
#[test]
fn a_request_made_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).when("A.exit", |_, fsm, _| fsm.change_state(&C));
    let (trace, lines) = logged(|| stage.change_state(&B));
    assert_eq!(trace, "A.exit; A -> B (change); B.enter; done");
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
    let (trace, lines) = logged(|| stage.change_state(&B));
    assert_eq!(trace, "A.exit; A -> B (change); B.enter; done");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains('A') && lines[0].contains('C'), "{lines:?}");
}

/// Rule 12.
#[test]
fn every_verb_is_refused_in_exit() {
    let mut stage = Stage::new(&A).when("B.exit", |actor, fsm, time| {
        fsm.change_state(&C);
        fsm.revert_state();
        fsm.push_state(&C);
        fsm.pop_state();
        fsm.resume_state(&C);
        fsm.ensure_state(&C);
        fsm.force_state(&C);
        fsm.send("hit");
        assert!(!fsm.send_now(actor, &"hit", time));
    });
    stage.push_state(&B);
    let (trace, lines) = logged(|| stage.change_state(&D));
    assert_eq!(trace, "B.exit; B -> D (change); D.enter; done");
    assert_eq!(lines.iter().filter(|line| line.starts_with("WARN demeanor: Elsa: ")).count(), 9, "{lines:?}");
    assert_eq!(stage.pop_state(), "D.exit; D -> A (pop); A.resume; done");
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
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter"
    );
}

/// Rules 12 and 15.
#[test]
fn a_request_made_in_suspend_is_refused() {
    let mut stage = Stage::new(&A).when("A.suspend", |actor, fsm, time| {
        fsm.change_state(&C);
        assert!(!fsm.change_state_now(actor, &D, time));
    });
    assert_eq!(stage.push_state(&B), "A.suspend; A -> B (push); B.enter; done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rule 24.
#[test]
fn ensuring_a_state_changes_to_it_once() {
    let mut stage = Stage::new(&A).recording_guards().when("B.enter", |_, fsm, _| fsm.ensure_state(&B));
    assert_eq!(stage.ensure_state(&B), "A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter; done");
    assert_eq!(stage.ensure_state(&B), "done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rule 24: nothing is refused, nothing logged, previous stays.
#[test]
fn ensuring_a_state_that_is_active_does_nothing() {
    let mut stage = Stage::new(&KITCHEN).recording_guards().refusing("Kitchen.can_exit");
    let lines = log_lines(|| {
        assert_eq!(stage.ensure_state(&KITCHEN), "done");
        assert_eq!(stage.ensure_state(&HOUSE), "done");
        assert_eq!(stage.with(|_, fsm, _| fsm.ensure_state(&HOUSE)), "");
    });
    assert_eq!(lines, [] as [&str; 0]);
    assert_eq!(stage.view(), "House/Kitchen");
}

/// Rules 10 and 24.
#[test]
fn whether_an_ensured_state_is_active_is_seen_when_the_requests_turn_comes() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        fsm.change_state(&B);
        fsm.ensure_state(&A);
        fsm.ensure_state(&A);
    });
    assert_eq!(
        stage.update(),
        "A.update
         A.exit; A -> B (change); B.enter
         B.exit; B -> A (change); A.enter"
    );
}

/// Rules 8 and 24.
#[test]
fn an_ensured_state_may_be_refused_as_in_any_change() {
    let mut stage = Stage::new(&A).refusing("B.can_enter");
    assert_eq!(stage.ensure_state(&B), "A -> B (change), refused by B.can_enter; not done");
    let mut stage = Stage::new(&A).refusing("A.can_exit");
    assert_eq!(stage.ensure_state(&B), "A -> B (change), refused by A.can_exit; not done");
}

/// Rules 13 and 24.
#[test]
fn ensuring_a_state_that_is_active_is_no_change_to_count() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| {
        (0..100).for_each(|_| fsm.ensure_state(&A));
        (0..64).for_each(|_| fsm.change_state(&B));
        fsm.ensure_state(&B);
    });
    let lines = log_lines(|| {
        stage.update();
    });
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 0, "{lines:?}");
}

/// Rule 24.
#[test]
fn a_forced_change_asks_no_can_exit_and_each_can_enter() {
    let mut stage = Stage::new(&KITCHEN).recording_guards().refusing("Kitchen.can_exit").refusing("House.can_exit");
    assert_eq!(stage.change_state(&A)[1], "Kitchen -> A (change), refused by Kitchen.can_exit");
    assert_eq!(stage.force_state(&A), "A.can_enter?; Kitchen.exit; House.exit; Kitchen -> A (force); A.enter; done");
    assert_eq!(
        stage.force_state(&HALL),
        "House.can_enter?; Hall.can_enter?; A.exit; A -> Hall (force); House.enter; Hall.enter; done"
    );
}

/// Rules 8 and 24.
#[test]
fn a_forced_change_may_still_be_refused_by_who_is_entered() {
    let mut stage = Stage::new(&A).refusing("A.can_exit").refusing("B.can_enter");
    assert_eq!(stage.force_state(&B), "A -> B (force), refused by B.can_enter; not done");
    assert_eq!(stage.view(), "A");
}

/// Rules 7 and 24.
#[test]
fn a_forced_change_to_the_current_state_leaves_and_enters_it() {
    let mut stage = Stage::new(&A).refusing("A.can_exit");
    assert_eq!(stage.force_state(&A), "A.exit; A -> A (force); A.enter; done");
}

/// Notes whether requests wait.
fn note_requests(actor: &Actor, fsm: &demeanor::Fsm<'_, Actor>) {
    actor.note(if fsm.has_requests() { "some wait" } else { "none waits" });
}

/// Rule 24.
#[test]
fn a_callback_can_ask_whether_requests_wait() {
    let mut stage = Stage::new(&A)
        .when("A.update", |actor, fsm, _| {
            note_requests(actor, fsm);
            fsm.change_state(&B);
            note_requests(actor, fsm);
            fsm.change_state(&C);
        })
        .when("A.exit", |actor, fsm, _| note_requests(actor, fsm))
        .when("B.enter", |actor, fsm, _| note_requests(actor, fsm))
        .when("C.enter", |actor, fsm, _| note_requests(actor, fsm));
    assert_eq!(
        stage.update(),
        "A.update
         none waits; some wait
         A.exit; some wait; A -> B (change); B.enter; some wait
         B.exit; B -> C (change); C.enter; none waits"
    );
}

/// Rules 12 and 24.
#[test]
fn what_is_asked_for_in_an_exit_never_waits() {
    let mut stage = Stage::new(&KITCHEN)
        .when("Kitchen.exit", |actor, fsm, _| {
            fsm.change_state(&C);
            note_requests(actor, fsm);
        })
        .when("House.exit", |actor, fsm, _| note_requests(actor, fsm));
    assert_eq!(
        stage.change_state(&A),
        "Kitchen.exit; none waits; House.exit; none waits; Kitchen -> A (change); A.enter; done"
    );
}

/// Rules 11 and 24.
#[test]
fn after_a_change_now_no_request_waits() {
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        fsm.change_state(&B);
        fsm.change_state_now(actor, &C, time);
        note_requests(actor, fsm);
    });
    assert_eq!(stage.update().last().unwrap(), "none waits");
}
