//! The chapter "Requests": messages that a state sends to its own machine, rule 24.

use crate::logged;
use crate::trace::Stage;
use crate::trace::places::{A, ALWAYS, B, C, HALL, KITCHEN};

/// Rule 24.
#[test]
fn a_message_to_oneself_is_offered_when_its_turn_comes() {
    let mut stage =
        Stage::new(&KITCHEN).handling("Kitchen").handling("House").when("Kitchen.update", |actor, fsm, _| {
            fsm.send("hit");
            fsm.change_state(&HALL);
            fsm.send("hit");
            actor.note("rest of Kitchen.update");
        });
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update; rest of Kitchen.update
         Kitchen.hit
         Kitchen.exit; Kitchen -> Hall (change); Hall.enter; Hall.hit; House.hit"
    );
}

/// Rules 14 and 24: after each handler the whole line is carried out, so an ancestor may hear of it later.
#[test]
fn the_requests_behind_a_message_to_oneself_are_carried_out_before_the_next_is_offered_it() {
    let mut stage = Stage::new(&KITCHEN).when("Kitchen.update", |_, fsm, _| {
        fsm.send("hit");
        fsm.change_state(&HALL);
    });
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update
         Kitchen.hit
         Kitchen.exit; Kitchen -> Hall (change); Hall.enter; House.hit"
    );
}

/// Rules 10 and 24: what its handler asks for comes before the requests behind the message.
#[test]
fn what_a_handler_of_a_message_to_oneself_asks_for_joins_the_line() {
    let mut stage = Stage::new(&A)
        .handling("A")
        .when("A.update", |_, fsm, _| {
            fsm.send("hit");
            fsm.change_state(&B);
        })
        .when("A.hit", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(
        stage.update(),
        "A.update
         A.hit
         A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter"
    );
}

/// Rule 24.
#[test]
fn a_message_sent_now_is_offered_inside_the_call() {
    let mut stage = Stage::new(&KITCHEN).handling("House").when("Kitchen.update", |actor, fsm, time| {
        assert!(fsm.send_now(actor, &"hit", time));
        actor.note("rest of Kitchen.update");
    });
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update
         Kitchen.hit; House.hit
         rest of Kitchen.update"
    );
    let mut stage = Stage::new(&A).when("A.update", |actor, fsm, time| {
        assert!(!fsm.send_now(actor, &"hit", time));
    });
    assert_eq!(stage.update(), "A.update; A.hit");
}

/// Rules 11 and 24.
#[test]
fn a_message_sent_now_is_offered_after_the_requests_made_before_it() {
    let mut stage = Stage::new(&A)
        .handling("B")
        .when("A.update", |actor, fsm, time| {
            fsm.change_state(&B);
            assert!(fsm.send_now(actor, &"hit", time));
            assert!(fsm.is_in_state(&C));
            actor.note("rest of A.update");
        })
        .when("B.hit", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(
        stage.update(),
        "A.update
         A.exit; A -> B (change); B.enter; B.hit
         B.exit; B -> C (change); C.enter
         rest of A.update"
    );
}

/// Rules 12 and 24.
#[test]
fn a_message_sent_now_in_exit_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).handling("A").when("A.exit", |actor, fsm, time| {
        assert!(!fsm.send_now(actor, &"hit", time));
    });
    let (trace, lines) = logged(|| stage.change_state(&B));
    assert_eq!(trace, "A.exit; A -> B (change); B.enter; done");
    assert_eq!(
        lines,
        [
            "WARN demeanor: Elsa: message to oneself refused in state A: the state is being left",
            "DEBUG demeanor: Elsa: A -> B (change)"
        ]
    );
}

/// Rules 13 and 24.
#[test]
fn messages_to_oneself_count_toward_the_sixty_four() {
    let mut stage = Stage::new(&A).when("A.hit", |_, fsm, _| fsm.send("hit"));
    let (trace, lines) = logged(|| stage.with(|_, fsm, _| fsm.send("hit")));
    assert_eq!(trace, ["A.hit"; 64]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR demeanor: Elsa: message to oneself dropped in state A: "), "{lines:?}");
    assert_eq!(stage.send("hit"), &*("A.hit; ".repeat(65) + "not handled"));
}

/// Rules 13 and 24.
#[test]
fn a_cycle_of_messages_sent_now_ends_and_unwinds() {
    let mut stage = Stage::new(&A).when("A.hit", |actor, fsm, time| {
        fsm.send_now(actor, &"hit", time);
    });
    let (trace, lines) = logged(|| {
        stage.with(|actor, fsm, time| {
            fsm.send_now(actor, &"hit", time);
        })
    });
    assert_eq!(trace, ["A.hit"; 64]);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

/// Rules 13 and 24.
#[test]
fn a_cycle_of_changes_and_messages_ends_after_sixty_four_of_both() {
    let mut stage = Stage::new(&A)
        .handling("A")
        .when("A.enter", |_, fsm, _| fsm.send("hit"))
        .when("A.hit", |_, fsm, _| fsm.change_state(&A));
    let (trace, lines) = logged(|| stage.with(|_, fsm, _| fsm.change_state(&A)));
    assert_eq!(trace.iter().filter(|line| *line == "A.enter").count(), 32);
    assert_eq!(trace.iter().filter(|line| *line == "A.hit").count(), 32);
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 1, "{lines:?}");
}

/// Rules 14 and 24: a state left in a message within a message is not offered the outer one.
#[test]
fn a_message_within_a_message_leaves_the_outer_one_to_who_stayed() {
    let mut stage = Stage::new(&KITCHEN)
        .when("Kitchen.hit", |actor, fsm, time| {
            if actor.count == 0 {
                actor.count += 1;
                fsm.send_now(actor, &"push", time);
                actor.note("rest of Kitchen.hit");
            }
        })
        .when("Kitchen.push", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(
        stage.send("hit"),
        "Kitchen.hit; Kitchen.push
         Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; rest of Kitchen.hit; not handled"
    );
}

/// Rule 24.
#[test]
fn a_message_to_oneself_reaches_the_global_of_a_machine_in_no_state() {
    let mut stage = Stage::idle().global(&ALWAYS).handling("Always").when("Always.update", |actor, fsm, time| {
        fsm.send("hit");
        assert!(fsm.send_now(actor, &"hit", time));
    });
    assert_eq!(stage.update(), "Always.update; Always.hit; Always.hit");
}
