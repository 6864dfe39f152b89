//! The chapter "Time": rule 18.

use std::time::Duration;

use crate::play::{EVERYWHERE, play};
use crate::trace::Stage;
use crate::trace::places::{A, HALL, HOUSE, KITCHEN};
use demeanor::{GameTime, Owner, State, StateMachine};

#[test]
fn the_times_of_states() {
    play(
        EVERYWHERE,
        r"
        # before_the_first_change_time_in_state_counts_from_zero (rule 18)
        in A
        advance 7
        time => 7

        # start_begins_the_count (rule 18)
        // A refused start does not change it.
        in Kitchen
        House.enter: times House Kitchen
        advance 7
        start => House.enter; 0 -; Kitchen.enter
        advance 2
        times House Kitchen Hall => 2 2 -
        start
        times House Kitchen Hall => 2 2 -

        # each_change_begins_the_count_again (rule 18)
        in A
        advance 7; change B
        time => 0
        advance 2; advance 3
        time => 5
        revert
        time => 0
        advance 1; push B
        time => 0
        advance 1; resume A
        time => 0
        advance 1; force B
        time => 0
        advance 1; ensure A
        time => 0
        advance 1; ensure A
        time => 1

        # the_time_of_a_parent_goes_on_while_its_children_change (rule 18)
        in Kitchen
        advance 7; start; advance 2; change Hall; advance 3
        times House Kitchen Hall => 5 - 3
        time => 3
        change Kitchen
        times House Kitchen Hall => 5 0 -
        change House; advance 1
        times House Kitchen Hall => 1 - -

        # a_parent_that_is_entered_first_has_the_time_of_its_child (rule 18)
        in A
        advance 2; change Kitchen; advance 3
        times House Kitchen Hall => 3 3 -

        # a_child_entered_below_current_leaves_current_its_time (rule 18)
        in House
        advance 7; start; advance 2; change Kitchen; advance 3
        times House Kitchen Hall => 5 3 -

        # time_stands_still_in_a_suspended_path (rules 15 and 18)
        in Kitchen
        House.resume: times House
        Hall.resume: times Hall
        advance 7; start; advance 2; change Hall; advance 3; push A; advance 100
        times House Kitchen Hall => - - -
        pop => A.exit; A -> Hall (pop); House.resume; 5; Hall.resume; 3; done
        advance 1
        times House Kitchen Hall => 6 - 4

        # each_of_several_suspended_paths_keeps_its_own_time (rules 15 and 18)
        in A
        advance 7; start; advance 1; push B; advance 2; push A; advance 4; pop; advance 8
        time => 10
        pop; advance 16
        time => 17

        # a_state_that_is_suspended_without_having_been_entered_has_a_time_as_well (rules 15 and 18)
        // The time counts from 0, up to the push.
        in A
        advance 3; push B; advance 4; pop; advance 1
        time => 4

        # setting_current_leaves_the_times_as_they_are (rule 18)
        in Kitchen
        advance 7; start; advance 2; change Hall; advance 3; current Kitchen
        times House Kitchen Hall => 5 3 -
        current A
        time => 3

        # states_that_setting_current_makes_active_have_the_time_of_current (rule 18)
        in A
        advance 7; start; advance 2; current Kitchen
        times House Kitchen Hall => 2 2 -
        change Hall; advance 3
        times House Kitchen Hall => 5 - 3

        # a_stopped_machine_counts_from_zero_again (rules 1 and 18)
        in Kitchen
        start; advance 7; stop
        times House Kitchen Hall => - - -
        time => 7

        # a_clone_has_the_times_of_its_original (rule 18)
        in Kitchen
        advance 7; start; advance 2; change Hall; clone
        times House Kitchen Hall => 2 - 0
        push A; advance 3; clone
        time => 3
        pop
        times House Kitchen Hall => 2 - 0

        # a_change_to_the_current_state_begins_the_count_again (rules 7 and 18)
        in A
        advance 7; change A; advance 1
        time => 1

        # a_refused_change_does_not_touch_the_count (rules 8 and 18)
        in A; refusing B.can_enter
        advance 7; change B; pop; revert
        time => 7

        # a_change_below_a_common_ancestor_begins_the_count_again (rule 18)
        in Kitchen
        advance 7; change Hall; advance 1
        time => 1

        # a_callback_can_ask_how_long_it_has_been_in_its_state (rule 18)
        in A; global Always
        Always.update: time
        A.update: from 2 change B
        B.enter: time
        advance 1
        update => Always.update; 1; A.update
        advance 1
        update => Always.update; 2; A.update; A.exit; A -> B (change); B.enter; 0
        advance 1
        update => Always.update; 1; B.update

        # an_exit_still_sees_the_time_of_the_state_it_leaves (rules 5 and 18)
        in A
        A.exit: time
        advance 7
        change B => A.exit; 7; A -> B (change); B.enter; done
        ",
    );
}

/// Rules 5 and 18.
#[test]
fn exits_and_guards_see_each_states_own_time() {
    let mut stage = Stage::new(&KITCHEN)
        .recording_guards()
        .asking("House.can_exit", |actor, fsm, time| {
            actor.note(format!("{:?}", (fsm.time_in(&HOUSE, time), fsm.time_in(&HALL, time))));
            true
        })
        .when("House.exit", |actor, fsm, time| {
            actor.note(format!("{:?}", (fsm.time_in(&HOUSE, time), fsm.time_in(&HALL, time))));
        });
    stage.advance(7);
    stage.start();
    stage.advance(2);
    stage.change_state(&HALL);
    stage.advance(3);
    assert_eq!(
        stage.change_state(&A),
        "Hall.can_exit?; House.can_exit?; (Some(5.0), Some(3.0)); A.can_enter?
         Hall.exit; House.exit; (Some(5.0), Some(3.0)); Hall -> A (change); A.enter; done"
    );
}

/// Rule 18.
#[test]
fn a_clock_that_shows_no_number_stands_at_zero() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = f64;
        type Message = ();

        fn now(clock: &f64) -> f64 {
            *clock
        }
    }
    struct Open;
    struct Closed;
    impl State<Door> for Open {}
    impl State<Door> for Closed {}

    let mut broken = f64::NAN;
    let mut machine = StateMachine::new(&Open);
    machine.start(&mut Door, &mut broken);
    assert_eq!(machine.time_in(&Open, &2.0), Some(2.0));
    machine.start(&mut Door, &mut 3.0);
    assert_eq!(machine.time_in(&Open, &3.0), Some(3.0), "it has been entered");
    machine.push_state(&mut Door, &Closed, &mut broken);
    machine.pop_state(&mut Door, &mut 4.0);
    assert_eq!(machine.time_in(&Open, &5.0), Some(1.0));
}

/// Rule 18.
#[test]
fn an_owner_without_a_clock_is_always_at_zero() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = ();
        type Message = ();
    }
    struct Open;
    struct Closed;
    impl State<Door> for Open {}
    impl State<Door> for Closed {}

    let mut machine = StateMachine::new(&Open);
    machine.change_state(&mut Door, &Closed, &mut ());
    assert_eq!(Duration::from_secs_f64(machine.time_in_state(&())), Duration::ZERO);
}

/// Rule 18.
#[test]
fn game_time_knows_the_last_tick_and_the_whole_game() {
    let mut time = GameTime::new();
    time.advance(Duration::from_millis(16));
    time.advance(Duration::from_millis(17));
    assert_eq!((time.elapsed(), time.total()), (Duration::from_millis(17), Duration::from_millis(33)));
    time.advance(Duration::MAX);
    assert_eq!(time.total(), Duration::MAX);
}
