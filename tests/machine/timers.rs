//! The chapter "Waiting": timers, rule 25.

use crate::play::{ALONE, EVERYWHERE, play};
use crate::trace::Stage;
use crate::trace::places::{A, B, C};

#[test]
fn timers() {
    play(
        EVERYWHERE,
        r"
        # a_timer_is_carried_out_at_the_beginning_of_the_tick_in_which_it_is_due (rule 25)
        in A; global Always
        A.enter: after 3 change B
        start
        ticks 5 => 3 s; A.exit; A -> B (change); B.enter; Always.update; B.update

        # a_message_is_sent_to_oneself_after_a_while (rule 25)
        in A; handling A
        A.enter: after 2 send boil
        start
        ticks 4 => 2 s; A.boil; A.update

        # timers_come_in_the_order_of_due_time_and_then_of_asking (rule 25)
        in A; handling A
        A.enter: after 3 send late; after 2 send first; after 2 send second; after 1 send early
        start; advance 5
        update => A.early; A.first; A.second; A.late; A.update

        # what_a_due_timer_leads_to_waits_behind_the_other_due_ones (rule 25)
        // They are carried out before the requests that they lead to, like requests of one callback.
        in A; handling A
        A.enter: after 1 send one; after 1 send two
        A.one: send three
        start; advance 1
        update => A.one; A.two; A.three; A.update

        # a_timer_ends_when_its_state_is_left_and_is_not_revived (rule 25)
        in A
        A.enter, 1x: after 3 change C
        start; change B; change A
        ticks 9 =>
        // It does not continue when the state is changed to itself either.
        in A
        A.enter, 1x: after 3 change C
        start; change A
        ticks 9 =>

        # a_due_timer_whose_state_an_earlier_one_leaves_is_not_carried_out (rule 25)
        in A
        A.enter: after 1 change B; after 2 change C
        start; advance 5
        update => A.exit; A -> B (change); B.enter; B.update
        ticks 3 =>

        # the_timer_of_a_parent_goes_on_while_its_children_change (rule 25)
        in Kitchen
        House.enter: after 3 change A
        Kitchen.enter: after 2.5 change B
        start; advance 1; change Hall
        ticks 4 => 3 s; Hall.exit; House.exit; Hall -> A (change); A.enter; A.update

        # a_timer_of_the_global_or_from_outside_lasts_as_long_as_the_machine (rule 25)
        in A; global Always
        Always.update, 1x: after 3 change B
        update; change C
        ticks 5 => 3 s; C.exit; C -> B (change); B.enter; Always.update; B.update
        in A
        after 3 change B => done
        change C
        ticks 5 => 3 s; C.exit; C -> B (change); B.enter; B.update

        # a_timer_stands_still_while_another_state_is_pushed_over (rule 25)
        in A
        A.enter: after 3 change B
        start; advance 2; push C
        ticks 10 =>
        pop
        ticks 3 => 13 s; A.exit; A -> B (change); B.enter; B.update

        # a_state_that_is_pushed_for_a_while_is_popped_by_its_timer (rule 25)
        in A
        B.enter: after 2 pop
        start; push B
        ticks 3 => 2 s; B.exit; B -> A (pop); A.resume; A.update

        # a_timer_that_pops_ends_when_its_state_is_left (rule 25)
        in A
        B.enter: after 2 pop
        start; push C; push B; pop
        ticks 3 =>

        # a_timer_asked_for_behind_a_push_stands_still_with_its_state (rule 25)
        // This includes a timer that the state sets in the same callback.
        in A
        A.go: push C; after 1 change B
        send go
        ticks 3 =>
        pop
        ticks 3 => 4 s; A.exit; A -> B (change); B.enter; B.update

        # a_timer_that_has_stood_still_comes_behind_those_that_ran (rule 25)
        in A; handling A
        A.go: after 3 send of A
        send go; push C; after 3 send of the machine; pop; advance 3
        update => A.of the machine; A.of A; A.update

        # the_timers_of_a_path_that_is_resumed_keep_their_order_behind_those_that_ran_and_before_those_set_meanwhile (rule 25)
        in Kitchen; handling Kitchen
        Kitchen.enter: after 3 send of the kitchen
        House.update: after 3 send of the house
        Kitchen.update: after 3 send of the kitchen, too
        House.resume: after 3 send of the resume; hear hello
        start; update; push C; after 3 send of the machine; pop; advance 3
        update => Kitchen.of the machine; Kitchen.of the kitchen; Kitchen.of the house; Kitchen.of the kitchen, too
            Kitchen.of the resume; House.update; Kitchen.update

        # a_clock_that_goes_back_makes_a_timer_wait_longer (rule 25)
        in A
        advance 10; after 2 change B; back
        ticks 20 => 12 s; A.exit; A -> B (change); B.enter; B.update

        # starting_and_stopping_end_the_timers_of_states (rules 1 and 25)
        in A
        A.go: after 1 change B; sleep
        send go; start
        next => every tick
        ticks 3 =>
        send go; after 2 change C; stop
        // The timer of the machine continues.
        next => at 4.9999970000000005
        ticks 3 => 5 s; (no state) -> C (change); C.enter; C.update

        # a_panic_drops_the_other_due_timers_with_the_requests (rules 22 and 25)
        in A; panicking A.two
        after 1 send one; after 1 send two; after 1 send three; after 2 send four; advance 1
        panicking update => A.one; A.two
        update => A.update
        advance 1
        update => A.four; A.update

        # guards_are_asked_when_a_timer_is_due_and_one_that_is_refused_is_used_up (rule 25)
        in A; guards; refusing B.can_enter
        A.enter: after 2 change B
        start => A.enter
        ticks 5 => 2 s; A.can_exit?; B.can_enter?; A -> B (change), refused by B.can_enter; A.update

        # a_timer_asked_for_by_a_state_that_has_been_left_ends_at_once (rule 25)
        in A
        A.update: now B; after 1 change C
        update
        ticks 3 =>
        // This includes a timer set after the change, in the same callback.
        in A
        A.update: change B; after 1 change C
        update
        ticks 3 =>

        # a_timer_asked_for_in_exit_is_refused_with_a_warning (rules 12 and 25)
        in A
        A.exit: after 1 change C
        change B
        warnings => WARN demeanor: Elsa: change to C after 1 s refused in state A: the state is being left
        ticks 3 =>

        # a_timer_of_no_time_that_sets_another_does_so_once_in_a_tick (rule 25)
        in A
        A.enter: after 0 change A
        start
        3x update => 3x A.exit, A -> A (change), A.enter, A.update


        # what_is_asked_for_behind_a_push_is_a_timer_only_if_it_would_be_one_without (rule 25)
        // Invalid seconds, infinite seconds and a state that has been left have the same effect as without the push.
        in A
        A.go: push C; after NaN change B
        send go
        ticks 3 =>
        pop; sleep
        next => at 3
        update; view => A.exit; A -> B (change); B.enter; B.update; B, was A
        in A
        A.go: push C; after -5 change B
        send go
        ticks 3 =>
        pop; sleep
        next => at 3
        update; view => A.exit; A -> B (change); B.enter; B.update; B, was A
        in A
        A.go: push C; after inf change B
        send go
        ticks 3 =>
        pop; sleep
        next => never
        update; view => A, was C
        in A
        A.update: now B; push C; after 1 change A
        update; pop
        ticks 3 =>
        view => B, was C

        # seconds_that_are_no_time_are_none_and_infinite_ones_never_end (rule 25)
        // None of these timers is due before the next tick.
        in A
        after 0 change B => done
        log =>
        update => A.exit; A -> B (change); B.enter; B.update
        in A
        after -1 change B => done
        log => WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
        update => A.exit; A -> B (change); B.enter; B.update
        in A
        after NaN change B => done
        log => WARN demeanor: Elsa: change to B after NaN s, asked for in state A, counts as 0 s
        update => A.exit; A -> B (change); B.enter; B.update
        in A
        after -inf change B => done
        log => WARN demeanor: Elsa: change to B after -inf s, asked for in state A, counts as 0 s
        update => A.exit; A -> B (change); B.enter; B.update
        in A
        after inf change B => done
        ticks 100 =>

        # a_clock_that_jumps_carries_out_all_timers_in_their_order_within_the_limit (rules 13 and 25)
        in A; handling A
        limit 64
        30x after 60 send late; 30x after 1 send early; advance 86400
        update => 30x A.early; 30x A.late; A.update
        100x after 1 send beep; advance 86400
        update => 64x A.beep; A.update
        next => every tick

        # a_machine_says_when_it_next_has_something_to_do (rules 25 and 26)
        in Statue
        next => never
        after 7 change A; after 5 change A
        next => at 4.999994
        global Always
        next => every tick
        in no state
        next => never
        ",
    );
    play(
        ALONE,
        r"
        # a_clock_that_never_advances_is_said_once (rule 25)
        in A
        A.enter: after 1 change B
        start
        1000x update => 1000x A.update
        log => DEBUG demeanor: Elsa: waits for a time, but its clock stands still at 0 s
        ",
    );
}

/// Rule 25.
#[test]
fn a_clone_of_a_machine_has_timers_of_its_own() {
    let mut stage = Stage::new(&A);
    stage.machine.send_after(&mut stage.actor, 1.0, "beep", &mut stage.time);
    stage.machine.change_state_after(&mut stage.actor, 2.0, &B, &mut stage.time);
    let mut other = Stage::with_machine(stage.machine.clone());
    stage.change_state(&C);
    other.advance(3);
    assert_eq!(other.update(), "A.beep; A.exit; A -> B (change); B.enter; B.update");
    stage.advance(3);
    assert_eq!(stage.update(), "C.beep; C.exit; C -> B (change); B.enter; B.update");
}
