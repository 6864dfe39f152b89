//! The chapter "Life of a machine": rules 1 to 3.

use crate::logged;
use crate::trace::places::open::{HOUSE, KITCHEN, STOVE};
use crate::trace::places::{A, ALWAYS, B};
use crate::trace::{Place, Stage};
use demeanor::{Owner, State, StateMachine, Step};

static ELSEWHERE: Place = Place::new("Elsewhere");

const NOTHING: [&str; 0] = [];

/// Rule 1.
#[test]
fn a_new_machine_is_in_its_initial_state_and_has_called_nothing() {
    let mut stage = Stage::new(&STOVE);
    assert_eq!(stage.view(), "House/Kitchen/Stove");
    assert!(stage.machine.previous().is_none());
    assert_eq!(stage.with(|_, _, _| {}), "");
}

/// Rule 1.
#[test]
fn starting_enters_the_path_from_the_outermost() {
    let mut stage = Stage::new(&STOVE).recording_view();
    assert_eq!(stage.start(), "House.enter (House); Kitchen.enter (House/Kitchen); Stove.enter (House/Kitchen/Stove)");
    assert_eq!(stage.view(), "House/Kitchen/Stove");
}

/// Rule 1.
#[test]
fn starting_goes_on_down_to_the_innermost_initial_child() {
    let mut stage = Stage::new(&HOUSE).recording_view();
    assert_eq!(stage.view(), "House");
    assert_eq!(stage.start(), "House.enter (House); Kitchen.enter (House/Kitchen); Stove.enter (House/Kitchen/Stove)");
    assert_eq!(stage.view(), "House/Kitchen/Stove");
    let mut stage = Stage::new(&KITCHEN);
    assert_eq!(stage.start(), "House.enter; Kitchen.enter; Stove.enter");
}

/// Rules 1 and 6.
#[test]
fn a_machine_whose_initial_child_belongs_elsewhere_is_not_started() {
    static LOST: Place = Place::new("Lost").opening_on(&STOVE);
    let mut stage = Stage::new(&LOST);
    let (trace, lines) = logged(|| stage.start());
    assert_eq!(trace, "");
    assert_eq!(
        lines,
        ["WARN demeanor: Elsa: start refused in state Lost: the state that its `initial` returns has another parent"]
    );
    assert_eq!(stage.view(), "Lost");
}

/// Rules 1 and 23.
#[test]
fn a_second_start_is_refused_with_a_warning() {
    let mut stage = Stage::new(&HOUSE);
    stage.start();
    let (trace, lines) = logged(|| stage.start());
    assert_eq!(trace, "");
    assert_eq!(lines, ["WARN demeanor: Elsa: start refused in state Stove: it has been entered already"]);
    assert_eq!(stage.view(), "House/Kitchen/Stove");
}

/// Rule 1.
#[test]
fn a_machine_that_has_entered_its_state_by_a_change_refuses_to_start() {
    let mut stage = Stage::new(&A);
    stage.change_state(&B);
    assert_eq!(stage.start(), "");
    stage.stop();
    assert_eq!(stage.start(), "", "there is no state to enter");
    stage.machine.set_current(&A);
    assert_eq!(stage.start(), "A.enter", "it has been stopped");
    assert_eq!(stage.start(), "");
}

/// Rules 1 and 18.
#[test]
fn a_started_machine_that_is_set_to_another_state_counts_as_started() {
    let mut stage = Stage::new(&A);
    stage.start();
    stage.machine.set_current(&B);
    assert_eq!(stage.start(), "");
    assert_eq!(stage.view(), "B");
}

/// Rule 1.
#[test]
fn a_machine_knows_whether_its_current_state_has_been_entered() {
    let mut stage = Stage::new(&HOUSE);
    let mut was_started = vec![stage.machine.is_started()];
    stage.start();
    was_started.push(stage.machine.is_started());
    stage.stop();
    was_started.push(stage.machine.is_started());
    stage.machine.set_current(&A);
    was_started.push(stage.machine.is_started());
    stage.change_state(&B);
    was_started.push(stage.machine.is_started());
    assert_eq!(was_started, [false, true, false, false, true]);
}

/// Rules 1 and 18.
#[test]
fn a_machine_whose_states_count_as_entered_is_not_started_again() {
    let mut stage = Stage::new(&STOVE);
    stage.advance(5);
    stage.machine.set_entered(2.0);
    assert!(stage.machine.is_started());
    assert_eq!(stage.start(), "");
    let times = stage.with(|actor, fsm, time| {
        let times = [fsm.time_in(&HOUSE, time), fsm.time_in(&KITCHEN, time), fsm.time_in(&STOVE, time)];
        actor.note(format!("{times:?}"));
    });
    assert_eq!(times, ["[Some(3.0), Some(3.0), Some(3.0)]"]);
}

/// Rules 1 and 2.
#[test]
fn a_machine_without_a_state_has_none_that_counts_as_entered() {
    let mut stage = Stage::idle();
    stage.machine.set_entered(2.0);
    assert!(!stage.machine.is_started());
    stage.machine.set_current(&A);
    assert_eq!(stage.start(), "A.enter");
}

/// Rules 1 and 22: so its callbacks run once.
#[test]
fn a_start_that_panicked_is_not_made_again() {
    let mut stage = Stage::new(&STOVE).panicking_in("Kitchen.enter");
    stage.catch(Stage::start);
    assert_eq!(stage.start(), "");
    assert_eq!(stage.view(), "House/Kitchen");
}

/// Rules 1 and 5.
#[test]
fn the_owner_is_told_of_no_change_by_start_and_stop() {
    let mut stage = Stage::new(&HOUSE).recording_completion();
    let ((started, stopped), lines) = logged(|| (stage.start(), stage.stop()));
    assert_eq!(started, "House.enter; Kitchen.enter; Stove.enter");
    assert_eq!(stopped, "Stove.exit; Kitchen.exit; House.exit");
    assert_eq!(lines, NOTHING);
}

/// Rules 1 and 12.
#[test]
fn a_request_made_while_starting_waits_until_the_whole_path_is_entered() {
    let mut stage = Stage::new(&STOVE).when("House.enter", |_, fsm, _| fsm.change_state(&A));
    assert_eq!(
        stage.start(),
        "House.enter; Kitchen.enter; Stove.enter
         Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter"
    );
}

/// Rules 1 and 5.
#[test]
fn a_change_now_while_starting_abandons_the_rest_of_the_start() {
    let mut stage = Stage::new(&STOVE).when("Kitchen.enter", |actor, fsm, time| {
        assert!(fsm.change_state_now(actor, &A, time));
        actor.note("rest of Kitchen.enter");
    });
    assert_eq!(
        stage.start(),
        "House.enter; Kitchen.enter
         Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; rest of Kitchen.enter"
    );
    assert_eq!(stage.view(), "A, was Kitchen");
}

/// Rule 1.
#[test]
fn stopping_exits_the_path_from_the_innermost_and_leaves_no_current() {
    let mut stage = Stage::new(&STOVE).recording_view();
    assert_eq!(
        stage.stop(),
        "Stove.exit (House/Kitchen/Stove, was Stove); Kitchen.exit (House/Kitchen/Stove, was Stove)
         House.exit (House/Kitchen/Stove, was Stove)"
    );
    assert!(stage.machine.current().is_none());
    assert_eq!(stage.machine.path().count(), 0);
    assert_eq!(stage.view(), "nowhere, was Stove");
}

/// Rule 1, for who has a machine's steps recorded.
#[test]
fn a_start_is_recorded_as_a_change_from_no_state_and_a_stop_as_one_to_none() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = ();
        type Message = ();
    }
    struct Closed;
    impl State<Door> for Closed {}

    let mut machine = StateMachine::new(&Closed);
    let mut steps: Vec<Step<Door>> = Vec::new();
    let mut recorded = machine.recording(Some(&mut steps));
    recorded.start(&mut Door, &mut ());
    recorded.stop(&mut Door, &mut ());
    // There is nothing to stop any more.
    recorded.stop(&mut Door, &mut ());
    let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!(
        steps,
        [
            "Changed { from: None, to: Some(Closed), cause: Start }",
            "Entered(Closed)",
            "Exited(Closed)",
            "Changed { from: Some(Closed), to: None, cause: Stop }"
        ]
    );
}

/// Rules 1 and 12.
#[test]
fn what_is_asked_for_while_stopping_is_refused() {
    let mut stage = Stage::new(&A).when("A.exit", |actor, fsm, time| {
        fsm.change_state(&B);
        assert!(!fsm.change_state_now(actor, &B, time));
    });
    assert_eq!(stage.stop(), "A.exit");
    assert_eq!(stage.view(), "nowhere, was A");
    assert_eq!(stage.update(), "");
}

/// Rule 1.
#[test]
fn stopping_clears_the_stack() {
    let mut stage = Stage::new(&A);
    stage.push_state(&B);
    assert_eq!(stage.stop(), "B.exit");
    assert_eq!(stage.pop_state(), "not done");
    assert_eq!(stage.view(), "nowhere, was B");
}

/// Rule 1.
#[test]
fn stopping_when_stopped_does_nothing() {
    let mut stage = Stage::new(&A);
    stage.stop();
    assert_eq!(stage.stop(), "");
    assert_eq!(stage.view(), "nowhere, was A");
}

/// Rule 1.
#[test]
fn a_change_from_no_state_only_enters_and_keeps_previous() {
    let mut stage = Stage::new(&A).recording_view();
    stage.stop();
    assert_eq!(
        stage.change_state(&STOVE),
        "(no state) -> Stove (change)
         House.enter (House, was A); Kitchen.enter (House/Kitchen, was A); Stove.enter (House/Kitchen/Stove, was A)
         done"
    );
    assert_eq!(stage.view(), "House/Kitchen/Stove, was A");
}

/// Rules 1 and 9.
#[test]
fn a_stopped_machine_reverts_to_the_state_it_left() {
    let mut stage = Stage::new(&A);
    stage.stop();
    assert_eq!(stage.revert_state(), "(no state) -> A (revert); A.enter; done");
    assert_eq!(stage.view(), "A, was A");
}

/// Rules 1 and 15.
#[test]
fn starting_and_stopping_ask_no_guard() {
    let mut stage = Stage::new(&A).recording_guards().refusing("A.can_enter").refusing("A.can_exit");
    assert_eq!(stage.start(), "A.enter");
    assert_eq!(stage.stop(), "A.exit");
}

/// Rule 2.
#[test]
fn an_idle_machine_updates_its_global_only() {
    let mut stage = Stage::idle().global(&ALWAYS);
    assert_eq!(stage.start(), "");
    assert_eq!(stage.update(), "Always.update");
    assert_eq!(stage.view(), "nowhere");
}

/// Rule 2.
#[test]
fn an_idle_machine_offers_messages_to_its_global_only() {
    let mut stage = Stage::idle().global(&ALWAYS);
    assert_eq!(stage.send("hit"), "Always.hit; not handled");
    let mut stage = stage.handling("Always");
    assert_eq!(stage.send("hit"), "Always.hit; handled");
}

/// Rule 2.
#[test]
fn nothing_panics_in_a_machine_without_any_state() {
    let mut stage = Stage::with_machine(StateMachine::default());
    assert_eq!(stage.start(), "");
    assert_eq!(stage.update(), "");
    assert_eq!(stage.send("hit"), "not handled");
    assert_eq!(stage.revert_state(), "not done");
    assert_eq!(stage.pop_state(), "not done");
    assert_eq!(stage.stop(), "");
    assert!(stage.machine.current().is_none());
    assert!(stage.machine.previous().is_none());
    assert!(stage.machine.global().is_none());
    assert!(!stage.machine.is_in_state(&A));
    assert!(!stage.machine.is_in::<Place>());
    assert!(stage.machine.current_mut::<Place>().is_none());
    assert_eq!(
        stage.with(|actor, fsm, _| {
            assert!(fsm.current().is_none());
            assert!(fsm.previous().is_none());
            assert!(fsm.global().is_none());
            assert_eq!(fsm.path().count(), 0);
            actor.note("looked");
        }),
        "looked"
    );
    assert_eq!(stage.change_state(&A), "(no state) -> A (change); A.enter; done");
    assert_eq!(stage.view(), "A");
}

/// Rules 2 and 4.
#[test]
fn a_state_that_the_global_of_an_idle_machine_asks_for_is_updated_in_the_same_tick() {
    let mut stage = Stage::idle().global(&ALWAYS).when("Always.update", |_, fsm, _| {
        if fsm.current().is_none() {
            fsm.change_state(&A);
        }
    });
    assert_eq!(stage.update(), "Always.update; (no state) -> A (change); A.enter; A.update");
}

/// Rule 3.
#[test]
fn the_global_is_never_entered_or_exited() {
    let mut stage = Stage::new(&A).global(&ALWAYS);
    assert_eq!(stage.start(), "A.enter");
    assert_eq!(stage.change_state(&B), "A.exit; A -> B (change); B.enter; done");
    assert_eq!(stage.push_state(&A), "B.suspend; B -> A (push); A.enter; done");
    assert_eq!(stage.pop_state(), "A.exit; A -> B (pop); B.resume; done");
    assert_eq!(stage.stop(), "B.exit");
}

/// Rule 3.
#[test]
fn setting_the_global_calls_nothing() {
    let mut stage = Stage::new(&A).global(&ALWAYS);
    stage.machine.set_global(&ELSEWHERE);
    assert_eq!(stage.update(), "Elsewhere.update; A.update");
    assert_eq!(stage.machine.global().unwrap().name(), "Elsewhere");
}

/// Rule 3.
#[test]
fn the_global_is_asked_no_guard_and_is_on_no_path() {
    let mut stage = Stage::new(&A).global(&ALWAYS).recording_guards();
    assert_eq!(stage.change_state(&B), "A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter; done");
    assert!(!stage.machine.is_in_state(&ALWAYS));
    assert_eq!(stage.view(), "B, was A");
}

/// Rule 1: `set_current` and `set_previous` are Buckland's, and call nothing.
#[test]
fn setting_current_and_previous_calls_nothing() {
    let mut stage = Stage::idle();
    stage.machine.set_current(&STOVE);
    assert_eq!(stage.view(), "House/Kitchen/Stove");
    stage.machine.set_previous(&B);
    assert_eq!(stage.view(), "House/Kitchen/Stove, was B");
    stage.machine.set_current(&A);
    assert_eq!(stage.view(), "A, was B");
    assert_eq!(stage.update(), "A.update");
    assert_eq!(stage.revert_state(), "A.exit; A -> B (revert); B.enter; done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rule 1: a snapshot is gone back to without a callback.
#[test]
fn a_clone_is_in_the_same_state_and_goes_its_own_way() {
    let mut stage = Stage::new(&A).global(&ALWAYS);
    stage.push_state(&B);
    let snapshot = stage.machine.clone();
    stage.pop_state();
    stage.change_state(&STOVE);
    assert_eq!(stage.view(), "House/Kitchen/Stove, was A");

    stage.machine = snapshot;
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.update(), "Always.update; B.update");
    assert_eq!(stage.pop_state(), "B.exit; B -> A (pop); A.resume; done");
    assert_eq!(stage.pop_state(), "not done");
}

/// Rule 1.
#[test]
fn a_start_reads_the_clock_once_and_a_stop_does_not_unless_the_steps_are_recorded() {
    use std::cell::Cell;

    struct Watchman;
    impl Owner for Watchman {
        type Context<'a> = Cell<u32>;
        type Message = ();

        fn now(reads: &Cell<u32>) -> f64 {
            reads.set(reads.get() + 1);
            0.0
        }
    }
    struct Walk;
    impl State<Watchman> for Walk {}

    let mut reads = Cell::new(0);
    let mut machine = StateMachine::new(&Walk);
    machine.start(&mut Watchman, &mut reads);
    assert_eq!(reads.get(), 1);
    machine.stop(&mut Watchman, &mut reads);
    assert_eq!(reads.get(), 1);
    machine.recording(Some(&mut Vec::new())).change_state(&mut Watchman, &Walk, &mut reads);
    let mut steps = Vec::new();
    machine.recording(Some(&mut steps)).stop(&mut Watchman, &mut reads);
    assert_eq!((reads.get(), steps.len()), (3, 2));
}
