//! The chapter "Waiting": sleep, rule 26.

use crate::play::{EVERYWHERE, play};

#[test]
fn sleep() {
    play(
        EVERYWHERE,
        r"
        # a_state_that_sleeps_is_not_updated (rule 26)
        in Kitchen
        Kitchen.update: sleep
        update => House.update; Kitchen.update
        3x update =>
        // States inside it are not updated in this tick either.
        in Kitchen
        House.update: sleep
        update => House.update
        update =>

        # an_outer_state_that_sleeps_for_no_time_leaves_out_the_states_inside_it_for_one_tick (rule 26)
        in Kitchen
        House.update, 2x: sleep 0
        2x update => 2x House.update
        update => House.update; Kitchen.update
        in A; global Always
        Always.update, 2x: sleep 0
        2x update => 2x Always.update
        update => Always.update; A.update

        # the_global_of_a_sleeper_is_updated_and_can_change_it (rule 26)
        in A; global Always
        A.update: sleep
        update => Always.update; A.update
        update => Always.update
        Always.update, 1x: change B
        update => Always.update; A.exit; A -> B (change); B.enter; B.update
        update => Always.update; B.update
        // The global state can put the machine to sleep, too.
        in A; global Always
        Always.update: sleep
        update => Always.update
        update => Always.update

        # a_sleeper_wakes_by_itself_after_a_while (rule 26)
        in A
        A.update: sleep 3
        advance 1; update => A.update
        advance 1; update =>
        advance 1; update =>
        advance 1; update => A.update
        advance 1; update; advance 1; update =>
        advance 1; update => A.update
        advance 1; update; advance 1; update =>
        advance 1; update => A.update

        # a_timer_that_comes_due_wakes_its_owner_even_if_it_is_refused (rule 26)
        in A; refusing B.can_enter
        A.enter: after 2 change B; sleep
        start
        next => at 1.999997
        advance 1
        update =>
        advance 1
        update => A -> B (change), refused by B.can_enter; A.update
        update => A.update

        # every_change_wakes (rule 26)
        in A
        sleep; asleep; change B; asleep => yes; A.exit; A -> B (change); B.enter; done; no
        sleep; asleep; force A; asleep => yes; B.exit; B -> A (force); A.enter; done; no
        sleep; asleep; push B; asleep => yes; A.suspend; A -> B (push); B.enter; done; no
        sleep; asleep; ensure A; asleep => yes; B.exit; B -> A (change); A.enter; done; no
        sleep; asleep; current B; asleep => yes; no
        sleep; asleep; change B; asleep => yes; B.exit; B -> B (change); B.enter; done; no
        // A refused change does not wake the machine, and neither does `ensure` for an active state.
        in A; refusing B.can_enter
        sleep; change B; asleep => A -> B (change), refused by B.can_enter; not done; yes
        ensure A; asleep => done; yes

        # a_message_wakes_if_a_state_handles_it (rule 26)
        in A
        sleep; send rain
        asleep => yes
        in A; handling A
        sleep
        send knock => A.knock; handled
        asleep => no
        in A; global Always; handling Always
        sleep; send knock
        update => Always.update; A.update
        // The handler may put the machine back to sleep.
        in A; handling A
        A.knock: sleep
        sleep; send knock
        asleep => yes

        # the_game_wakes_a_sleeper (rule 26)
        // At the second `wake` the machine is already awake.
        in A
        sleep; wake; wake => done; not done
        update => A.update

        # a_change_that_the_callback_asks_for_makes_its_sleep_void (rule 26)
        in A
        A.update: sleep; change B
        update; asleep; update => A.update; A.exit; A -> B (change); B.enter; no; B.update
        in A
        A.update: change B; sleep
        update; asleep; update => A.update; A.exit; A -> B (change); B.enter; no; B.update
        in A
        A.update: sleep; now B
        update; asleep; update => A.update; A.exit; A -> B (change); B.enter; no; B.update
        // A refused change does not cancel the sleep.
        in A; refusing B.can_enter
        A.update: sleep; change B
        update; asleep => A.update; A -> B (change), refused by B.can_enter; yes

        # sleep_asked_for_behind_a_change_now_is_that_of_the_new_state (rules 11 and 26)
        in A
        A.update: now B; sleep
        update
        asleep => yes
        // A change that is refused within the call does not cancel it either.
        in A; refusing B.can_enter
        A.update: sleep; now B
        update
        asleep => yes

        # of_several_requests_to_sleep_the_last_one_counts (rule 26)
        in A
        A.update: sleep; sleep 3
        update
        next => at 2.999996

        # a_callback_that_panics_does_not_fall_asleep_later (rules 22 and 26)
        in A; panicking A.update
        A.update, 1x: sleep
        panicking update => A.update
        refusing B.can_enter
        A.update: change B
        update; asleep => A.update; A -> B (change), refused by B.can_enter; no

        # a_cycle_drops_the_request_to_sleep (rules 13 and 26)
        in A
        limit 64
        A.update: sleep; send again
        A.again: send again
        update; asleep => A.update; 64x A.again; no

        # a_request_to_sleep_does_not_count_toward_the_limit (rules 13 and 26)
        in A; handling A
        limit 64
        A.update: sleep; 64x send knock
        update; asleep => A.update; 64x A.knock; yes

        # a_state_may_sleep_from_its_enter_on (rule 26)
        in A
        B.enter: sleep
        change B; asleep => A.exit; A -> B (change); B.enter; done; yes
        in A
        A.update: change B
        B.enter: sleep
        update; update => A.update; A.exit; A -> B (change); B.enter
        in Kitchen
        House.enter: sleep
        start; asleep => House.enter; Kitchen.enter; yes

        # sleep_in_exit_is_refused_with_a_warning (rules 12 and 26)
        in A
        A.exit: sleep
        change B; asleep => A.exit; A -> B (change); B.enter; done; no
        warnings => WARN demeanor: Elsa: sleep refused in state A: the state is being left

        # a_sleeper_that_was_pushed_over_is_awake_afterwards (rule 26)
        // A suspended path is awake when it is resumed.
        in A
        sleep; push C
        update => C.update
        pop
        update => A.update

        # a_sleep_without_an_end_is_said_and_is_never_over (rule 26)
        in A
        A.update: sleep
        10x update => A.update
        log => DEBUG demeanor: Elsa: sleeps in state A until a message or `wake`
        next => never
        // A sleep of 0 s is over in the next tick.
        in A
        sleep -1
        log => WARN demeanor: Elsa: sleep after -1 s, asked for in state A, counts as 0 s
        update => A.update
        in A
        sleep NaN
        log => WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
        update => A.update
        in A
        sleep 0
        log =>
        update => A.update
        ",
    );
}
