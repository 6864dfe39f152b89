//! The chapter "Requests": how many changes one callback may lead to, rule 13.

use crate::logged;
use crate::trace::Stage;
use crate::trace::places::{A, B, C, D, HALL, KITCHEN};

/// Rules 13 and 23.
#[test]
fn a_cycle_ends_after_exactly_sixty_four_changes() {
    let mut stage = Stage::new(&C)
        .when("C.update", |_, fsm, _| fsm.change_state(&A))
        .when("A.enter", |_, fsm, _| fsm.change_state(&B))
        .when("B.enter", |_, fsm, _| fsm.change_state(&A));
    let (trace, lines) = logged(|| stage.update());
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
    let (trace, lines) = logged(|| stage.update());
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
    let (trace, lines) = logged(|| stage.update());
    assert_eq!(trace.iter().filter(|line| line.ends_with("(change)")).count(), 64);
    assert_eq!(stage.view(), "B, was B");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ERROR")).count(), 1);
    assert_eq!(stage.update(), "B.update");
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
    let (trace, lines) = logged(|| stage.update());
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
    assert_eq!(stage.change_state(&B), "A.exit; A -> B (change); B.enter; done");
}
