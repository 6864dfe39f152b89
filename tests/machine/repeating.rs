//! The chapter "Canceling and repeating timers": rule 39.

use crate::play::{EVERYWHERE, play};

#[test]
fn repeating() {
    play(
        EVERYWHERE,
        r"
        # a_repeating_timer_sends_its_message_again_and_again (rule 39)
        in A; handling A
        A.enter: every 2 hit
        start
        ticks 7 => 2 s; A.hit; A.update; 4 s; A.hit; A.update; 6 s; A.hit; A.update
        pending => message to oneself every 2 s hit at 8 of A

        # a_repeating_timer_does_not_drift_with_the_ticks (rule 39)
        // The ticks are at 1.4, 2.8, 4.2 seconds and so on.
        in A; handling A
        A.enter: every 2 hit
        A.hit: time
        start; advance 1.4
        update => A.update
        advance 1.4
        update => A.hit; 2.8; A.update
        advance 1.4
        update => A.hit; 4.2; A.update
        advance 1.4
        update => A.update
        advance 1.4
        update => A.hit; 7; A.update
        pending => message to oneself every 2 s hit at 8 of A

        # of_the_messages_that_a_tick_has_missed_one_comes (rule 39)
        in A; handling A
        A.enter: every 2 hit
        start; advance 7
        update => A.hit; A.update
        update => A.update
        advance 1
        update => A.hit; A.update
        advance 100
        update => A.hit; A.update
        pending => message to oneself every 2 s hit at 110 of A

        # repeating_timers_keep_their_place_among_those_that_are_due_together (rules 25 and 39)
        in A; handling A
        A.enter: every 2 one; after 2 send two; every 2 three
        A.three: after 2 send four
        start
        ticks 5 => 2 s; A.one; A.two; A.three; A.update; 4 s; A.one; A.three; A.four; A.update

        # the_nth_message_of_a_repeating_timer_comes_as_that_of_a_timer_of_n_periods (rules 25 and 39)
        // Each line sets two timers for the same time: the one that is asked for first comes first.
        in A; handling A
        every 7 one; advance 4; after 10 send two
        ticks 10 => 7 s; A.one; A.update; 14 s; A.one; A.two; A.update
        in A; handling A
        after 21 send two; every 7 one; after 21 send three
        ticks 21 => 7 s; A.one; A.update; 14 s; A.one; A.update; 21 s; A.two; A.one; A.three; A.update

        # a_repeating_timer_of_no_time_sends_one_message_in_each_tick (rule 39)
        in A; handling A
        A.enter: every 0 hit
        start
        3x update => 3x A.hit, A.update
        in A; handling A
        every -1 hit => done
        log => WARN demeanor: Elsa: message to oneself every 0 s after -1 s, asked for in state A, counts as 0 s
        2x update => 2x A.hit, A.update
        in A; handling A
        every NaN hit => done
        2x update => 2x A.hit, A.update
        in A; handling A
        every inf hit => done
        pending => none
        ticks 100 =>

        # a_repeating_timer_ends_when_its_state_is_left (rules 25 and 39)
        in A; handling A
        A.enter, 1x: every 1 hit
        start
        ticks 1 => 1 s; A.hit; A.update
        change B; change A
        ticks 9 =>
        // One of the global state or from outside lasts as long as the machine.
        in A; handling A, B
        every 1 hit => done
        change B
        ticks 2 => 1 s; B.hit; B.update; 2 s; B.hit; B.update

        # a_repeating_timer_stands_still_while_another_state_is_pushed_over (rules 25 and 39)
        in A; handling A
        A.enter: every 3 hit
        start; advance 2; push C
        ticks 10 =>
        pending => none
        pop
        ticks 5 => 13 s; A.hit; A.update; 16 s; A.hit; A.update

        # each_message_of_a_repeating_timer_wakes_the_machine (rules 26 and 39)
        in A; handling A
        A.enter: every 3 hit; sleep
        A.hit: sleep
        start
        asleep => yes
        ticks 7 => 3 s; A.hit; 6 s; A.hit
        next => at 8.99999

        # a_repeating_timer_outlives_a_panic_of_its_message (rules 22 and 39)
        in A; handling A; panicking A.hit
        A.enter: every 1 hit
        start; advance 1
        panicking update => A.hit
        update => A.update
        ticks 1 => 2 s; A.hit; A.update

        # a_clock_that_goes_back_makes_a_repeating_timer_wait_longer (rules 25 and 39)
        in A; handling A
        advance 10; every 2 hit; back
        ticks 15 => 12 s; A.hit; A.update; 14 s; A.hit; A.update

        # timers_are_canceled_by_what_they_change_to (rule 39)
        in A
        A.enter: after 2 change B; after 3 change C; after 4 change B
        A.go: cancel to B
        start
        pending => change to B at 2 of A, change to C at 3 of A, change to B at 4 of A
        send go => A.go; 2 canceled; not handled
        pending => change to C at 3 of A
        send go => A.go; 0 canceled; not handled
        ticks 5 => 3 s; A.exit; A -> C (change); C.enter; C.update

        # timers_are_canceled_by_their_message (rule 39)
        in A; handling A
        A.enter: after 2 send hit; every 2 boo; after 2 send hit; after 2 change B
        A.go: cancel hit
        start; send go => A.enter; A.go; 2 canceled; handled
        ticks 3 => 2 s; A.boo; A.exit; A -> B (change); B.enter; B.update

        # a_repeating_timer_is_canceled_by_the_handler_of_its_message (rule 39)
        in A; handling A
        A.enter: every 1 hit
        A.hit: cancel hit
        start
        ticks 5 => 1 s; A.hit; 1 canceled; A.update
        pending => none
        next => every tick

        # a_timer_that_is_due_and_waits_for_its_turn_is_canceled (rule 39)
        // Of the repeating one there are two: the message that is due, and the timer that runs on.
        in A; handling A
        A.enter: after 1 send go; after 1 change B; every 1 hit
        A.go: cancel all
        start; advance 1
        update => A.go; 3 canceled; A.update
        ticks 3 =>

        # a_timer_that_the_same_callback_has_asked_for_is_canceled (rule 39)
        in A
        A.enter: after 1 change B; cancel to B
        start => A.enter; 1 canceled
        pending => none
        ticks 3 =>
        in A
        A.update: sleep; after 1 send hit; every 1 hit; change B; cancel all
        update => A.update; 2 canceled; A.exit; A -> B (change); B.enter
        pending => none

        # changes_and_messages_that_wait_in_the_queue_are_not_canceled (rules 37 and 39)
        in A; handling A
        A.update: send hit; change B; cancel all
        update => A.update; 0 canceled; A.hit; A.exit; A -> B (change); B.enter

        # all_timers_of_the_active_states_and_of_the_machine_are_canceled (rule 39)
        in Kitchen; global Always
        House.enter: after 3 change A
        Kitchen.enter: after 2 change B
        Kitchen.go: cancel all
        start; after 4 change C; send go => House.enter; Kitchen.enter; done; Kitchen.go; 3 canceled
            House.go; Always.go; not handled
        pending => none

        # a_machine_without_a_state_shows_its_timers_too (rule 39)
        in no state
        after 5 send hit; every 2 bark; change-next A => done; done; done
        pending => message to oneself hit at 5, message to oneself every 2 s bark at 2, change to A at -inf

        # the_timers_of_a_suspended_state_are_not_canceled (rule 39)
        in A
        A.enter: after 3 change B
        C.go: cancel all
        start; push C; send go => A.enter; A.suspend; A -> C (push); C.enter; done; C.go; 0 canceled; not handled
        pop
        ticks 3 => 3 s; A.exit; A -> B (change); B.enter; B.update

        # in_exit_nothing_is_canceled_and_a_warning_says_so (rules 12 and 39)
        in A
        A.exit: cancel all
        after 2 change C
        change B => A.exit; 0 canceled; A -> B (change); B.enter; done
        warnings => WARN demeanor: Elsa: access to timers refused in state A: the state is being left
        ticks 2 => 2 s; B.exit; B -> C (change); C.enter; C.update

        # timers_are_canceled_in_the_enter_of_a_state_inside_the_one_that_has_set_them (rule 39)
        in A
        House.enter: after 2 change B; after 3 change C
        Kitchen.enter: cancel to B
        change Kitchen => A.exit; A -> Kitchen (change); House.enter; Kitchen.enter; 1 canceled; done
        pending => change to C at 3 of House

        # a_callback_sees_the_timers_that_it_could_cancel (rule 39)
        in Kitchen; global Always
        House.enter: after 2 change B
        Kitchen.enter: every 3 hit; pending
        Always.update, 1x: after 5 change C; change-next A; after 1 send go; pending
        Kitchen.update: pending
        start => House.enter; Kitchen.enter
            change to B at ? of House, message to oneself every 3 s hit at ? of Kitchen
        update => Always.update; change to B at 2 of House, message to oneself every 3 s hit at 3 of Kitchen, change to C at ?, change to A at -inf of Kitchen, message to oneself go at ?
            House.update; Kitchen.update; change to B at 2 of House, message to oneself every 3 s hit at 3 of Kitchen, change to C at 5, change to A at -inf of Kitchen, message to oneself go at 1
        // Nothing has been canceled.
        pending => change to B at 2 of House, message to oneself every 3 s hit at 3 of Kitchen, change to C at 5, change to A at -inf of Kitchen, message to oneself go at 1
        in A
        A.update, 2x: pending; after 1 change B; pending
        A.exit: pending
        2x update => A.update; none; change to B at ? of A
            A.update; change to B at 1 of A; change to B at 1 of A, change to B at ? of A
        advance 1
        update => A.exit; none; A -> B (change); B.enter; B.update
        warnings => WARN demeanor: Elsa: access to timers refused in state A: the state is being left

        # a_machine_that_sleeps_stays_asleep_when_its_timer_is_canceled (rules 26 and 39)
        in A
        A.enter: after 2 change B; sleep
        start; with cancel all => A.enter; 1 canceled
        ticks 9 =>
        next => never
        ",
    );
}
