//! The chapter "Faults": rules 22 and 23, for one owner.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::captured_log::log_lines;
use crate::trace::places::{A, ALWAYS, B, C, D, HOUSE, KITCHEN, STOVE};
use crate::trace::{Actor, Stage};
use demeanor::{Fsm, GameTime};

/// Rule 22.
#[test]
fn a_panic_in_update_leaves_the_old_state_and_drops_the_requests() {
    let mut stage = Stage::new(&A).panicking_in("A.update").when("A.update", |actor, fsm, _| {
        if actor.count == 0 {
            fsm.change_state(&B);
        }
        actor.count += 1;
    });
    assert_eq!(stage.catch(Stage::update), "A.update");
    assert_eq!(stage.view(), "A");
    assert_eq!(stage.update(), "A.update");
}

/// Rule 22.
#[test]
fn a_panic_in_the_globals_update_leaves_the_old_state() {
    let mut stage = Stage::new(&A).global(&ALWAYS).panicking_in("Always.update");
    assert_eq!(stage.catch(Stage::update), "Always.update");
    assert_eq!(stage.update(), "Always.update; A.update");
}

/// Rule 22.
#[test]
fn a_panic_in_an_ancestors_update_leaves_the_old_state() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.update");
    assert_eq!(stage.catch(Stage::update), "House.update; Kitchen.update");
    assert_eq!(stage.view(), "House/Kitchen/Stove");
}

/// Rule 22.
#[test]
fn a_panic_in_on_message_leaves_the_old_state_and_drops_the_requests() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.hit").when("Kitchen.hit", |actor, fsm, _| {
        if actor.count == 0 {
            fsm.change_state(&A);
        }
        actor.count += 1;
    });
    assert_eq!(stage.catch(|stage| stage.send("hit")), "Stove.hit; Kitchen.hit");
    assert_eq!(stage.view(), "House/Kitchen/Stove");
    assert_eq!(stage.send("hit"), "Stove.hit; Kitchen.hit; House.hit; not handled");
}

/// Rule 22.
#[test]
fn a_panic_in_the_globals_on_message_leaves_the_old_state() {
    let mut stage = Stage::new(&A).global(&ALWAYS).panicking_in("Always.hit").when("Always.hit", |actor, fsm, _| {
        if actor.count == 0 {
            fsm.change_state(&B);
        }
        actor.count += 1;
    });
    assert_eq!(stage.catch(|stage| stage.send("hit")), "A.hit; Always.hit");
    assert_eq!(stage.view(), "A");
    assert_eq!(stage.send("hit"), "A.hit; Always.hit; not handled");
}

/// Rule 22.
#[test]
fn a_panic_in_exit_leaves_the_old_state() {
    let mut stage = Stage::new(&A).panicking_in("A.exit");
    stage.machine.set_previous(&C);
    assert_eq!(stage.catch(|stage| stage.change_state(&B)), "A.exit");
    assert!(stage.machine.is_in_state(&A));
    assert_eq!(stage.update(), "A.update");
    assert_eq!(stage.change_state(&B), "A.exit; A -> B (change); B.enter; done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 12 and 22: the machine must not believe that an `exit` is still running.
#[test]
fn requests_are_heard_again_after_a_panic_in_exit() {
    let mut stage = Stage::new(&A).panicking_in("A.exit").when("A.update", |_, fsm, _| fsm.change_state(&B));
    assert_eq!(stage.catch(Stage::update), "A.update; A.exit");
    assert_eq!(stage.update(), "A.update; A.exit; A -> B (change); B.enter");
}

/// Rule 22.
#[test]
fn a_panic_in_an_ancestors_exit_leaves_the_old_state() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.exit");
    assert_eq!(stage.catch(|stage| stage.change_state(&A)), "Stove.exit; Kitchen.exit");
    assert!(stage.machine.is_in_state(&STOVE));
    assert_eq!(stage.machine.current().unwrap().name(), "Stove");
}

/// Rule 22.
#[test]
fn a_panic_in_a_guard_leaves_the_old_state_and_drops_the_requests() {
    for guard in ["A.can_exit", "B.can_enter"] {
        let mut stage = Stage::new(&A).panicking_in(guard).when("A.update", |actor, fsm, _| {
            if actor.count == 0 {
                fsm.change_state(&B);
                fsm.change_state(&C);
            }
            actor.count += 1;
        });
        assert_eq!(stage.catch(Stage::update), "A.update");
        assert_eq!(stage.view(), "A");
        assert_eq!(stage.update(), "A.update");
    }
}

/// Rule 22.
#[test]
fn a_panic_in_enter_leaves_the_state_whose_enter_it_was_and_drops_the_requests() {
    let mut stage = Stage::new(&A).panicking_in("B.enter").when("A.update", |_, fsm, _| {
        fsm.change_state(&B);
        fsm.change_state(&C);
    });
    assert_eq!(stage.catch(Stage::update), "A.update; A.exit; A -> B (change); B.enter");
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.update(), "B.update");
    assert_eq!(stage.stop(), "B.exit");
}

/// Rules 5 and 22.
#[test]
fn a_panic_in_an_ancestors_enter_leaves_that_ancestor() {
    let mut stage = Stage::new(&A).panicking_in("Kitchen.enter");
    assert_eq!(
        stage.catch(|stage| stage.change_state(&STOVE)),
        "A.exit; A -> Stove (change); House.enter; Kitchen.enter"
    );
    assert_eq!(stage.view(), "House/Kitchen, was A");
    assert_eq!(stage.change_state(&A), "Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; done");
}

/// Rules 1 and 22.
#[test]
fn a_panic_while_starting_leaves_the_state_whose_enter_it_was() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.enter");
    assert_eq!(stage.catch(Stage::start), "House.enter; Kitchen.enter");
    assert_eq!(stage.view(), "House/Kitchen");
}

/// Rules 1 and 22.
#[test]
fn a_panic_while_stopping_leaves_the_old_state() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.exit");
    assert_eq!(stage.catch(Stage::stop), "Stove.exit; Kitchen.exit");
    assert!(stage.machine.is_in_state(&STOVE));
    assert_eq!(stage.stop(), "Stove.exit; Kitchen.exit; House.exit");
    assert_eq!(stage.view(), "nowhere, was Stove");
}

/// Rules 15 and 22.
#[test]
fn a_panic_in_suspend_leaves_the_old_state_and_the_stack_as_it_was() {
    let mut stage = Stage::new(&A).panicking_in("A.suspend");
    assert_eq!(stage.catch(|stage| stage.push_state(&B)), "A.suspend");
    assert!(stage.machine.is_in_state(&A));
    assert_eq!(stage.pop_state(), "not done");
}

/// Rules 15 and 22.
#[test]
fn a_panic_in_the_exit_of_a_pop_leaves_the_old_state_and_the_stack_as_it_was() {
    let mut stage = Stage::new(&A).panicking_in("B.exit");
    stage.push_state(&B);
    assert_eq!(stage.catch(Stage::pop_state), "B.exit");
    assert!(stage.machine.is_in_state(&B));
    assert_eq!(stage.pop_state(), "B.exit; B -> A (pop); A.resume; done");
}

/// Rules 15 and 22.
#[test]
fn a_panic_in_resume_leaves_the_state_whose_resume_it_was() {
    let mut stage = Stage::new(&KITCHEN).panicking_in("House.resume");
    stage.push_state(&A);
    assert_eq!(stage.catch(Stage::pop_state), "A.exit; A -> Kitchen (pop); House.resume");
    assert_eq!(stage.view(), "House, was A");
    assert_eq!(stage.pop_state(), "not done");
}

/// Rules 11 and 22.
#[test]
fn a_panic_after_a_change_now_leaves_the_state_that_it_led_to() {
    let mut stage = Stage::new(&A).panicking_in("A.update").when("A.update", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
        fsm.change_state(&C);
    });
    assert_eq!(stage.catch(Stage::update), "A.update; A.exit; A -> B (change); B.enter");
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.update(), "B.update");
}

/// Rule 22: `on_change` is called after the swap, for the new state.
#[test]
fn a_panic_in_on_change_leaves_the_machine_fit_for_use() {
    let mut stage = Stage::new(&A).panicking_in("on_change");
    assert_eq!(stage.catch(|stage| stage.change_state(&B)), "A.exit; A -> B (change)");
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.change_state(&C), "B.exit; B -> C (change); C.enter; done");
}

/// Rules 5 and 22.
#[test]
fn a_panic_in_after_change_leaves_the_new_state_and_drops_the_requests() {
    let mut stage = Stage::new(&A).panicking_in("after_change").when("B.enter", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(stage.catch(|stage| stage.change_state(&B)), "A.exit; A -> B (change); B.enter");
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.update(), "B.update");
}

/// Rules 22 and 24.
#[test]
fn a_panic_in_who_hears_a_message_to_oneself_drops_the_requests() {
    let mut stage = Stage::new(&A).panicking_in("A.hit").when("A.update", |actor, fsm, _| {
        if actor.count == 0 {
            fsm.send("hit");
            fsm.change_state(&B);
        }
        actor.count += 1;
    });
    assert_eq!(stage.catch(Stage::update), "A.update; A.hit");
    assert_eq!(stage.update(), "A.update");
}

/// Changes to B and catches what panics meanwhile.
fn change_and_catch(actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
    let caught = catch_unwind(AssertUnwindSafe(|| fsm.change_state_now(actor, &B, time)));
    actor.note(if caught.is_err() { "caught" } else { "nothing to catch" });
}

/// Rules 11 and 22.
#[test]
fn a_callback_that_catches_the_panic_of_its_change_now_goes_on_where_that_left_it() {
    for (callback, expected, view) in [
        ("A.can_exit", "A.update; caught", "A"),
        ("B.can_enter", "A.update; caught", "A"),
        ("A.exit", "A.update; A.exit; caught", "A, was A"),
        ("on_change", "A.update; A.exit; A -> B (change); caught", "B, was A"),
        ("B.enter", "A.update; A.exit; A -> B (change); B.enter; caught", "B, was A"),
        ("after_change", "A.update; A.exit; A -> B (change); B.enter; caught", "B, was A"),
    ] {
        let mut stage = Stage::new(&A).panicking_in(callback).when("A.update", change_and_catch);
        assert_eq!(stage.update(), expected, "{callback}");
        assert_eq!(stage.view(), view, "{callback}");
    }
}

/// Rules 12 and 22.
#[test]
fn what_a_callback_asks_for_after_it_has_caught_a_panic_is_carried_out() {
    for callback in ["A.can_exit", "B.can_enter"] {
        let mut stage = Stage::new(&A).panicking_in(callback).when("A.update", |actor, fsm, time| {
            change_and_catch(actor, fsm, time);
            fsm.push_state(&C);
        });
        assert_eq!(stage.update(), "A.update; caught; A.suspend; A -> C (push); C.enter", "{callback}");
    }
    let mut stage = Stage::new(&A).panicking_in("A.exit").when("A.update", |actor, fsm, time| {
        change_and_catch(actor, fsm, time);
        fsm.push_state(&C);
        fsm.push_state(&D);
    });
    assert_eq!(
        stage.update(),
        "A.update; A.exit; caught
         A.suspend; A -> C (push); C.enter
         C.suspend; C -> D (push); D.enter"
    );
}

/// Rules 12 and 22.
#[test]
fn what_was_asked_for_in_an_exit_whose_panic_was_caught_is_dropped() {
    let mut stage = Stage::new(&A)
        .panicking_in("A.exit")
        .when("A.update", change_and_catch)
        .when("A.exit", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(stage.update(), "A.update; A.exit; caught");
    assert_eq!(stage.view(), "A, was A");
}

/// Rule 22.
#[test]
fn a_panic_in_what_borrows_the_machine_drops_its_requests() {
    let mut stage = Stage::new(&A).panicking_in("A.enter");
    assert_eq!(
        stage.catch(|stage| stage.with(|_, fsm, _| {
            fsm.change_state(&B);
            fsm.change_state(&A);
            fsm.change_state(&C);
        })),
        "A.exit; A -> B (change); B.enter; B.exit; B -> A (change); A.enter"
    );
    assert_eq!(stage.view(), "A, was B");
    assert_eq!(stage.with(|_, _, _| {}), "");
}

/// Rule 23.
#[test]
fn every_change_is_logged_with_the_owners_label_and_the_states_names() {
    let mut stage = Stage::idle();
    let lines = log_lines(|| {
        stage.change_state(&A);
        stage.change_state(&STOVE);
        stage.push_state(&B);
        stage.pop_state();
        stage.revert_state();
        stage.resume_state(&HOUSE);
    });
    assert_eq!(
        lines,
        [
            "DEBUG demeanor: Elsa: (no state) -> A (change)",
            "DEBUG demeanor: Elsa: A -> Stove (change)",
            "DEBUG demeanor: Elsa: Stove -> B (push)",
            "DEBUG demeanor: Elsa: B -> Stove (pop)",
            "DEBUG demeanor: Elsa: Stove -> B (revert)",
            "DEBUG demeanor: Elsa: B -> House (resume)"
        ]
    );
}

/// Rule 23.
#[test]
fn a_refusal_by_misuse_is_a_warning_that_names_the_owner_and_the_states() {
    let mut stage = Stage::new(&A).when("A.exit", |_, fsm, _| fsm.push_state(&D));
    let lines = log_lines(|| {
        stage.revert_state();
        stage.pop_state();
        stage.change_state(&B);
    });
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, names) in lines.iter().zip([&["A", "revert"], &["A", "pop"], &["A", "D"]]) {
        assert!(line.starts_with("WARN demeanor: Elsa: "), "{line}");
        assert!(names.iter().all(|name| line.contains(name)), "{line}");
    }
}

/// Rule 23.
#[test]
fn a_cycle_is_an_error_that_names_the_states_of_the_cycle() {
    let mut stage = Stage::new(&D)
        .when("D.update", |_, fsm, _| fsm.change_state(&A))
        .when("A.enter", |_, fsm, _| fsm.change_state(&B))
        .when("B.enter", |_, fsm, _| fsm.change_state(&C))
        .when("C.enter", |_, fsm, _| fsm.change_state(&A));
    let lines = log_lines(|| {
        stage.update();
    });
    let (errors, changes): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.starts_with("ERROR"));
    assert_eq!(changes.len(), 64);
    assert_eq!(errors.len(), 1, "{errors:?}");
    let told = errors[0].strip_prefix("ERROR demeanor: Elsa: ").expect("the owner's label comes first");
    for name in ["A", "B", "C"] {
        assert!(told.split(|c: char| !c.is_alphanumeric()).any(|word| word == name), "{told}");
    }
    assert!(!told.split(|c: char| !c.is_alphanumeric()).any(|word| word == "D"), "{told}");
}

/// Rules 13 and 23.
#[test]
fn the_error_of_a_second_cycle_does_not_name_the_states_of_the_first() {
    let mut stage = Stage::new(&A)
        .when("A.enter", |_, fsm, _| fsm.change_state(&B))
        .when("B.enter", |_, fsm, _| fsm.change_state(&A))
        .when("C.enter", |_, fsm, _| fsm.change_state(&D))
        .when("D.enter", |_, fsm, _| fsm.change_state(&C));
    stage.change_state(&A);
    let lines = log_lines(|| {
        stage.change_state(&C);
    });
    let errors: Vec<_> = lines.iter().filter(|line| line.starts_with("ERROR")).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let words: Vec<_> = errors[0].split(|c: char| !c.is_alphanumeric()).collect();
    assert!(words.contains(&"C") && words.contains(&"D"), "{errors:?}");
    assert!(!words.contains(&"A") && !words.contains(&"B"), "{errors:?}");
}
