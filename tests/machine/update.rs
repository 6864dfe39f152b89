//! The chapter "Update": rule 4.

use crate::trace::places::{A, ALWAYS, B, C, HALL, KITCHEN, STEP, STOVE, TABLE};
use crate::trace::{Actor, Place, Stage};
use demeanor::{Fsm, GameTime, State};

/// Rule 4.
#[test]
fn a_tick_updates_the_global_then_the_path_from_the_outermost() {
    let mut stage = Stage::new(&STOVE).global(&ALWAYS);
    assert_eq!(stage.update(), "Always.update; House.update; Kitchen.update; Stove.update");
    assert_eq!(stage.update(), "Always.update; House.update; Kitchen.update; Stove.update");
}

/// Rule 4.
#[test]
fn a_state_entered_by_the_global_is_updated_in_the_same_tick() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("Always.update", |_, fsm, _| {
        if !fsm.is_in_state(&B) {
            fsm.change_state(&B);
        }
    });
    assert_eq!(stage.update(), "Always.update; A.exit; A -> B (change); B.enter; B.update");
    assert_eq!(stage.update(), "Always.update; B.update");
}

/// Rule 4.
#[test]
fn a_whole_path_entered_by_the_global_is_updated_in_the_same_tick() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("Always.update", |_, fsm, _| fsm.change_state(&KITCHEN));
    assert_eq!(
        stage.update(),
        "Always.update
         A.exit; A -> Kitchen (change); House.enter; Kitchen.enter
         House.update; Kitchen.update"
    );
}

/// Rule 4.
#[test]
fn a_state_entered_by_its_predecessor_is_first_updated_in_the_next_tick() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&B));
    assert_eq!(stage.update(), "A.update; A.exit; A -> B (change); B.enter");
    assert_eq!(stage.update(), "B.update");
}

/// Rule 4.
#[test]
fn a_path_entered_by_its_predecessor_is_first_updated_in_the_next_tick() {
    let mut stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&STOVE));
    assert_eq!(
        stage.update(),
        "A.update
         A.exit; A -> Stove (change); House.enter; Kitchen.enter; Stove.enter"
    );
    assert_eq!(stage.update(), "House.update; Kitchen.update; Stove.update");
}

/// Rule 4.
#[test]
fn a_child_asked_for_by_the_innermost_state_is_first_updated_in_the_next_tick() {
    let mut stage = Stage::new(&KITCHEN).when("Kitchen.update", |_, fsm, _| {
        if !fsm.is_in_state(&STOVE) {
            fsm.change_state(&STOVE);
        }
    });
    assert_eq!(stage.update(), "House.update; Kitchen.update; Kitchen -> Stove (change); Stove.enter");
    assert_eq!(stage.update(), "House.update; Kitchen.update; Stove.update");
}

/// Rule 4.
#[test]
fn a_state_entered_by_its_ancestor_is_updated_in_the_same_tick() {
    let mut stage = Stage::new(&STOVE).when("Kitchen.update", |_, fsm, _| fsm.change_state(&TABLE));
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update
         Stove.exit; Stove -> Table (change); Table.enter
         Table.update"
    );
}

/// Rule 4.
#[test]
fn an_ancestor_that_leads_deeper_has_all_that_it_entered_updated() {
    let mut stage = Stage::new(&KITCHEN).when("House.update", |_, fsm, _| fsm.change_state(&STEP));
    assert_eq!(
        stage.update(),
        "House.update
         Kitchen.exit; Kitchen -> Step (change); Hall.enter; Stairs.enter; Step.enter
         Hall.update; Stairs.update; Step.update"
    );
}

/// Rule 4.
#[test]
fn each_depth_runs_once_a_tick_so_an_ancestor_that_leaves_ends_it() {
    let mut stage = Stage::new(&STOVE).when("House.update", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(
        stage.update(),
        "House.update
         Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter"
    );
}

/// Rule 4.
#[test]
fn each_depth_runs_on_the_path_as_it_is_by_then() {
    // Kitchen, at depth 1, leads to another path: its depths 0 and 1 have run, depth 2 has not.
    let mut stage = Stage::new(&STOVE).when("Kitchen.update", |_, fsm, _| fsm.change_state(&STEP));
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update
         Stove.exit; Kitchen.exit; Stove -> Step (change); Hall.enter; Stairs.enter; Step.enter
         Stairs.update; Step.update"
    );
}

/// Rule 4.
#[test]
fn the_tick_ends_with_the_state_that_was_innermost_when_its_update_began() {
    let mut stage = Stage::new(&KITCHEN).when("Kitchen.update", |actor, fsm, time| {
        fsm.change_state_now(actor, &STEP, time);
        actor.note("rest of Kitchen.update");
    });
    assert_eq!(
        stage.update(),
        "House.update; Kitchen.update
         Kitchen.exit; Kitchen -> Step (change); Hall.enter; Stairs.enter; Step.enter
         rest of Kitchen.update"
    );
}

/// Rule 4.
#[test]
fn requests_are_carried_out_before_the_next_callback() {
    let mut stage = Stage::new(&STOVE)
        .global(&ALWAYS)
        .when("Always.update", |_, fsm, _| fsm.change_state(&TABLE))
        .when("House.update", |_, fsm, _| fsm.change_state(&HALL))
        .when("Hall.update", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(
        stage.update(),
        "Always.update
         Stove.exit; Stove -> Table (change); Table.enter
         House.update
         Table.exit; Kitchen.exit; Table -> Hall (change); Hall.enter
         Hall.update
         Hall.exit; House.exit; Hall -> C (change); C.enter"
    );
}

/// Rule 4.
#[test]
fn a_passive_state_is_not_updated() {
    static STATUE: Place = Place::new("Statue").passive();
    let mut stage = Stage::new(&STATUE).when("Statue.update", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(stage.start(), "Statue.enter");
    assert_eq!(stage.update(), "");
    assert_eq!(stage.send("hit"), "Statue.hit; not handled");
    assert_eq!(stage.change_state(&A), "Statue.exit; Statue -> A (change); A.enter; done");
    assert_eq!(stage.update(), "A.update");
}

/// Rule 4.
#[test]
fn a_passive_global_is_not_updated_and_hears_messages() {
    static EARS: Place = Place::new("Ears").passive();
    let mut stage = Stage::new(&STOVE).global(&EARS);
    assert_eq!(stage.update(), "House.update; Kitchen.update; Stove.update");
    assert_eq!(stage.send("hit"), "Stove.hit; Kitchen.hit; House.hit; Ears.hit; not handled");
}

/// Rule 4: the depth of a passive state counts, so that the tick ends where it would.
#[test]
fn passive_states_on_a_path_are_passed_over() {
    static YARD: Place = Place::new("Yard").passive();
    static SHED: Place = Place::new("Shed").inside(&YARD);
    static BENCH: Place = Place::new("Bench").inside(&SHED).passive();
    let mut stage = Stage::new(&BENCH).when("Shed.update", |_, fsm, _| fsm.change_state(&TABLE));
    assert_eq!(
        stage.update(),
        "Shed.update
         Bench.exit; Shed.exit; Yard.exit; Bench -> Table (change); House.enter; Kitchen.enter; Table.enter
         Table.update"
    );
}

/// Rule 4.
#[test]
fn a_passive_state_that_is_owned_or_shared_is_not_updated_either() {
    #[derive(Clone)]
    struct Frozen(&'static str);
    impl State<Actor> for Frozen {
        fn update(&self, actor: &mut Actor, _: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            actor.note(self.0);
        }

        fn is_passive(&self) -> bool {
            true
        }
    }
    assert_eq!(Stage::new(Box::new(Frozen("owned"))).update(), "");
    assert_eq!(Stage::new(std::sync::Arc::new(Frozen("shared"))).update(), "");
}

/// Rules 4 and 15.
#[test]
fn a_state_pushed_by_the_global_is_updated_and_the_suspended_one_is_not() {
    let mut stage = Stage::new(&A).global(&ALWAYS).when("Always.update", |actor, fsm, _| {
        if actor.count == 0 {
            fsm.push_state(&B);
        }
        actor.count += 1;
    });
    assert_eq!(stage.update(), "Always.update; A.suspend; A -> B (push); B.enter; B.update");
    assert_eq!(stage.update(), "Always.update; B.update");
}
