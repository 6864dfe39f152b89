//! The chapter "Messages": rule 14.

use crate::trace::Stage;
use crate::trace::places::{A, ALWAYS, B, HALL, KITCHEN, STOVE, TABLE};

/// Rule 14.
#[test]
fn a_message_is_offered_to_current_then_outward_then_to_the_global() {
    let mut stage = Stage::new(&STOVE).global(&ALWAYS);
    assert_eq!(stage.send("stew"), "Stove.stew; Kitchen.stew; House.stew; Always.stew; not handled");
}

/// Rule 14.
#[test]
fn a_message_goes_no_further_than_who_handles_it() {
    let stage = Stage::new(&STOVE).global(&ALWAYS);
    let mut stage = stage.handling("Always");
    assert_eq!(stage.send("stew"), "Stove.stew; Kitchen.stew; House.stew; Always.stew; handled");
    let mut stage = stage.handling("Kitchen");
    assert_eq!(stage.send("stew"), "Stove.stew; Kitchen.stew; handled");
    let mut stage = stage.handling("Stove");
    assert_eq!(stage.send("stew"), "Stove.stew; handled");
}

/// Rule 14.
#[test]
fn a_handlers_requests_are_carried_out_when_it_returns_true() {
    let mut stage = Stage::new(&STOVE).handling("Stove").when("Stove.stew", |actor, fsm, _| {
        fsm.change_state(&TABLE);
        actor.note("rest of Stove.stew");
    });
    assert_eq!(
        stage.send("stew"),
        "Stove.stew; rest of Stove.stew
         Stove.exit; Stove -> Table (change); Table.enter; handled"
    );
}

/// Rule 14.
#[test]
fn a_handlers_requests_are_carried_out_when_it_returns_false_before_the_next_is_offered_it() {
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |_, fsm, _| fsm.change_state(&TABLE));
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Stove -> Table (change); Table.enter; Kitchen.stew; House.stew; not handled"
    );
}

/// Rule 14.
#[test]
fn states_left_meanwhile_are_not_offered_the_message() {
    let mut stage = Stage::new(&STOVE).global(&ALWAYS).when("Stove.stew", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter; Always.stew; not handled"
    );
}

/// Rule 14.
#[test]
fn ancestors_that_stay_active_are_still_offered_the_message() {
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |_, fsm, _| fsm.change_state(&HALL));
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Kitchen.exit; Stove -> Hall (change); Hall.enter; House.stew; not handled"
    );
}

/// Rule 14.
#[test]
fn a_state_that_was_left_and_entered_again_is_not_offered_the_message() {
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |_, fsm, _| {
        fsm.change_state(&HALL);
        fsm.change_state(&STOVE);
    });
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Kitchen.exit; Stove -> Hall (change); Hall.enter
         Hall.exit; Hall -> Stove (change); Kitchen.enter; Stove.enter; House.stew; not handled"
    );
}

/// Rules 7 and 14.
#[test]
fn a_change_to_itself_leaves_the_ancestors_their_turn() {
    let mut stage = Stage::new(&TABLE).when("Table.stew", |_, fsm, _| fsm.change_state(&TABLE));
    assert_eq!(
        stage.send("stew"),
        "Table.stew
         Table.exit; Table -> Table (change); Table.enter; Kitchen.stew; House.stew; not handled"
    );
}

/// Rules 11 and 14.
#[test]
fn a_change_now_in_a_handler_counts_as_well() {
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        actor.note("rest of Stove.stew");
    });
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Kitchen.exit; House.exit; Stove -> B (change); B.enter; rest of Stove.stew; not handled"
    );
}

/// Rules 14 and 15.
#[test]
fn a_suspended_path_is_not_offered_the_rest_of_a_message() {
    let mut stage = Stage::new(&TABLE).when("Table.stew", |_, fsm, _| fsm.push_state(&A));
    assert_eq!(
        stage.send("stew"),
        "Table.stew
         Table.suspend; Kitchen.suspend; House.suspend; Table -> A (push); A.enter; not handled"
    );
    // Nor is it offered the message when it is resumed before the message's turn.
    let mut stage = Stage::new(&TABLE).when("Table.stew", |_, fsm, _| {
        fsm.push_state(&A);
        fsm.pop_state();
    });
    let trace = stage.send("stew");
    assert_eq!(trace[trace.len() - 4..], ["House.resume", "Kitchen.resume", "Table.resume", "not handled"]);
    assert_eq!(stage.view(), "House/Kitchen/Table, was A");
}

/// Rules 14 and 24.
#[test]
fn a_forced_change_and_an_ensured_one_take_the_states_left_their_turn() {
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |_, fsm, _| fsm.force_state(&HALL));
    assert_eq!(
        stage.send("stew"),
        "Stove.stew
         Stove.exit; Kitchen.exit; Stove -> Hall (force); Hall.enter; House.stew; not handled"
    );
    let mut stage = Stage::new(&STOVE).when("Stove.stew", |_, fsm, _| fsm.ensure_state(&KITCHEN));
    assert_eq!(stage.send("stew"), "Stove.stew; Kitchen.stew; House.stew; not handled");
}

/// Rules 14 and 24.
#[test]
fn a_message_to_oneself_in_a_handler_comes_before_the_next_is_offered_the_first() {
    let mut stage = Stage::new(&TABLE).when("Table.stew", |_, fsm, _| fsm.send("salt"));
    assert_eq!(
        stage.send("stew"),
        "Table.stew; Table.salt; Kitchen.salt; House.salt; Kitchen.stew; House.stew; not handled"
    );
}

/// Rules 8 and 14.
#[test]
fn a_refused_change_takes_no_state_its_turn() {
    let mut stage =
        Stage::new(&TABLE).refusing("Kitchen.can_exit").when("Table.stew", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(
        stage.send("stew"),
        "Table.stew
         Table -> A (change), refused by Kitchen.can_exit
         Kitchen.stew; House.stew; not handled"
    );
}

/// Rule 14.
#[test]
fn a_change_that_the_global_asks_for_in_a_message_is_made() {
    let mut stage =
        Stage::new(&A).global(&ALWAYS).handling("Always").when("Always.stew", |_, fsm, _| fsm.change_state(&B));
    assert_eq!(stage.send("stew"), "A.stew; Always.stew; A.exit; A -> B (change); B.enter; handled");
}
