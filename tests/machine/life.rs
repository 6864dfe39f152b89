//! The chapter "Life of a machine": rules 1 to 3.

use crate::play::{EVERYWHERE, play};
use crate::trace::places::open::{HOUSE, KITCHEN, STOVE};
use crate::trace::places::{A, ALWAYS, B};
use crate::trace::{Actor, Place, Stage};
use demeanor::{Owner, State, StateMachine, Step};

#[test]
fn the_life_of_a_machine() {
    play(
        EVERYWHERE,
        r"
        # a_new_machine_is_in_its_initial_state_and_has_called_nothing (rule 1)
        in Stove; open
        view => House/Kitchen/Stove
        with nothing =>

        # starting_enters_the_path_from_the_outermost (rule 1)
        in Stove; open; view
        start => House.enter (House); Kitchen.enter (House/Kitchen); Stove.enter (House/Kitchen/Stove)
        view => House/Kitchen/Stove

        # starting_goes_on_down_to_the_innermost_initial_child (rule 1)
        in House; open; view
        view => House
        start => House.enter (House); Kitchen.enter (House/Kitchen); Stove.enter (House/Kitchen/Stove)
        view => House/Kitchen/Stove
        in Kitchen; open
        start => House.enter; Kitchen.enter; Stove.enter

        # a_machine_whose_initial_child_belongs_elsewhere_is_not_started (rules 1 and 6)
        in Lost
        start =>
        log => WARN demeanor: Elsa: start refused in state Lost: Stove, the `initial` state of Lost, has another parent
        view => Lost

        # a_second_start_is_refused_with_a_warning (rules 1 and 23)
        in House; open
        start
        start =>
        log => WARN demeanor: Elsa: start refused in state Stove: it has been entered already
        view => House/Kitchen/Stove

        # a_machine_that_has_entered_its_state_by_a_change_refuses_to_start (rule 1)
        in A
        change B
        start =>
        stop
        // There is no state to enter.
        start =>
        current A
        // The machine was stopped.
        start => A.enter
        start =>

        # a_started_machine_that_is_set_to_another_state_counts_as_started (rules 1 and 18)
        in A
        start; current B
        start =>
        view => B

        # a_start_that_panicked_is_not_made_again (rules 1 and 22)
        // So its callbacks run only once.
        in Stove; open; panicking Kitchen.enter
        panicking start
        start =>
        view => House/Kitchen

        # the_owner_is_told_of_no_change_by_start_and_stop (rules 1 and 5)
        in House; open; completion
        start => House.enter; Kitchen.enter; Stove.enter
        stop => Stove.exit; Kitchen.exit; House.exit
        log =>

        # a_request_made_while_starting_waits_until_the_whole_path_is_entered (rules 1 and 12)
        in Stove; open
        House.enter: change A
        start => House.enter; Kitchen.enter; Stove.enter
            Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter

        # a_change_now_while_starting_abandons_the_rest_of_the_start (rules 1 and 5)
        in Stove; open
        Kitchen.enter: now A is done; note rest of Kitchen.enter
        start => House.enter; Kitchen.enter
            Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; rest of Kitchen.enter
        view => A, was Kitchen

        # stopping_exits_the_path_from_the_innermost_and_leaves_no_current (rule 1)
        in Stove; open; view
        stop => Stove.exit (House/Kitchen/Stove, was Stove); Kitchen.exit (House/Kitchen/Stove, was Stove)
            House.exit (House/Kitchen/Stove, was Stove)
        view => nowhere, was Stove

        # what_is_asked_for_while_stopping_is_refused (rules 1 and 12)
        in A
        A.exit: change B; now B is refused
        stop => A.exit
        view => nowhere, was A
        update =>

        # stopping_clears_the_stack (rule 1)
        in A
        push B
        stop => B.exit
        pop => not done
        view => nowhere, was B

        # stopping_when_stopped_does_nothing (rule 1)
        in A
        stop
        stop =>
        view => nowhere, was A

        # a_change_from_no_state_only_enters_and_keeps_previous (rule 1)
        in A; open; view
        stop
        change Stove => (no state) -> Stove (change)
            House.enter (House, was A); Kitchen.enter (House/Kitchen, was A); Stove.enter (House/Kitchen/Stove, was A)
            done
        view => House/Kitchen/Stove, was A

        # a_stopped_machine_reverts_to_the_state_it_left (rules 1 and 9)
        in A
        stop
        revert => (no state) -> A (revert); A.enter; done
        view => A, was A

        # starting_and_stopping_ask_no_guard (rules 1 and 15)
        in A; guards; refusing A.can_enter; refusing A.can_exit
        start => A.enter
        stop => A.exit

        # an_idle_machine_updates_its_global_only (rule 2)
        in no state; global Always
        start =>
        update => Always.update
        view => nowhere

        # an_idle_machine_offers_messages_to_its_global_only (rule 2)
        in no state; global Always
        send hit => Always.hit; not handled
        handling Always
        send hit => Always.hit; handled

        # a_state_that_the_global_of_an_idle_machine_asks_for_is_updated_in_the_same_tick (rules 2 and 4)
        in no state; global Always
        Always.update, 1x: change A
        update => Always.update; (no state) -> A (change); A.enter; A.update

        # the_global_is_never_entered_or_exited (rule 3)
        in A; global Always
        start => A.enter
        change B => A.exit; A -> B (change); B.enter; done
        push A => B.suspend; B -> A (push); A.enter; done
        pop => A.exit; A -> B (pop); B.resume; done
        stop => B.exit

        # the_global_is_asked_no_guard_and_is_on_no_path (rule 3)
        in A; global Always; guards
        change B => A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter; done
        view => B, was A

        # setting_the_global_calls_nothing (rule 3)
        in A; global Always
        global D =>
        update => D.update; A.update

        # setting_current_and_previous_calls_nothing (rule 1)
        // `set_current` and `set_previous` are Buckland's methods. They call nothing.
        in no state; open
        current Stove
        view => House/Kitchen/Stove
        previous B
        view => House/Kitchen/Stove, was B
        current A
        view => A, was B
        update => A.update
        revert => A.exit; A -> B (revert); B.enter; done
        view => B, was A
        ",
    );
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

/// Rule 1, for code that records the steps of a machine.
#[test]
fn a_start_is_recorded_as_a_change_from_no_state_and_a_stop_as_one_to_none() {
    let Stage { mut actor, mut machine, mut time } = Stage::new(&A);
    let mut steps: Vec<Step<Actor>> = Vec::new();
    let mut recorded = machine.recording(Some(&mut steps));
    recorded.start(&mut actor, &mut time);
    recorded.stop(&mut actor, &mut time);
    // There is no state left to stop.
    recorded.stop(&mut actor, &mut time);
    let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!(
        steps,
        [
            "Changed { from: None, to: Some(A), cause: Start }",
            "Entered(A)",
            "Exited(A)",
            "Changed { from: Some(A), to: None, cause: Stop }"
        ]
    );
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

/// Rule 1: going back to a snapshot runs no callback.
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
