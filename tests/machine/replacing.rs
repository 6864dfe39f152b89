//! The chapter "Replacing requests": rule 37, and the requests of rules 11 and 24 that go ahead of those that wait.

use crate::play::{EVERYWHERE, play};

#[test]
fn replacing() {
    play(
        EVERYWHERE,
        r"
        # of_several_replacements_the_last_one_counts (rule 37)
        in A
        A.update: replace B; replace C; note rest of A.update
        update => A.update; rest of A.update; A.exit; A -> C (change); C.enter
        view => C, was A

        # a_replacement_alone_is_a_change (rule 37)
        in A; guards
        A.update: replace B
        update => A.update; A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter

        # a_replacement_takes_the_place_of_every_kind_of_change (rule 37)
        in A
        A.update: change B; revert; push C; pop; resume D; ensure B; force D; replace C; requests
        update => A.update; some wait; A.exit; A -> C (change); C.enter

        # what_is_asked_for_after_a_replacement_comes_behind_it (rules 10 and 37)
        in A
        A.update: change B; replace C; change D
        update => A.update; A.exit; A -> C (change); C.enter; C.exit; C -> D (change); D.enter

        # messages_and_timers_and_sleep_stay_when_a_change_is_replaced (rule 37)
        in A; handling A; refusing B.can_enter
        A.update: send hit; change C; after 2 send late; sleep; replace B
        update => A.update; A.hit; A -> B (change), refused by B.can_enter
        update =>
        advance 2
        update => A.late; A.update; A.hit; A -> B (change), refused by B.can_enter

        # a_handler_replaces_what_its_caller_asked_for (rules 24 and 37)
        in A; handling A
        A.update: replace B; hear-ahead hit is done; note rest of A.update
        A.hit: replace C
        update => A.update; A.hit; A.exit; A -> C (change); C.enter; rest of A.update

        # what_is_ensured_waits_behind_what_is_ahead (rules 11 and 24)
        in A; handling A
        A.update: ensure A; requests; hear-ahead hit is done; ahead B is done
        A.hit: requests
        update => A.update; some wait; A.hit; some wait; A.exit; A -> B (change); B.enter

        # a_state_that_is_ensured_and_then_left_ahead_is_entered_again (rules 11 and 24)
        in Stove
        Stove.update, 1x: ensure House; ahead A is done
        update => House.update; Kitchen.update; Stove.update; Stove.exit; Kitchen.exit; House.exit; Stove -> A (change)
            A.enter; A.exit; A -> House (change); House.enter

        # a_parent_handles_what_goes_ahead_of_the_requests_that_wait (rules 24 and 37)
        in Stove; handling House
        Stove.update: change A; hear-ahead hit is done; note rest of Stove.update
        Stove.hit: note declines
        House.hit: replace B
        update => House.update; Kitchen.update; Stove.update; Stove.hit; declines; Kitchen.hit; House.hit
            Stove.exit; Kitchen.exit; House.exit; Stove -> B (change); B.enter; rest of Stove.update

        # what_goes_ahead_and_is_declined_lets_the_requests_be_carried_out_afterwards (rule 24)
        in Stove
        Stove.update: change A; hear-ahead hit is refused
        Kitchen.hit: change C
        update => House.update; Kitchen.update; Stove.update; Stove.hit; Kitchen.hit; House.hit
            Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter; A.exit; A -> C (change); C.enter

        # a_replacement_in_enter_replaces_what_was_asked_for_before (rules 12 and 37)
        in A
        A.update: change B; change C; send hit
        B.enter: replace D
        update => A.update; A.exit; A -> B (change); B.enter; B.hit; B.exit; B -> D (change); D.enter

        # in_exit_nothing_is_replaced_and_nothing_cleared (rules 12 and 37)
        in A
        A.update: change B; change C
        A.exit: replace D; clear
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter

        # a_replacement_in_exit_is_refused_with_a_warning (rules 12, 23 and 37)
        in A
        A.exit: replace C
        change B => A.exit; A -> B (change); B.enter; done
        warnings => WARN demeanor: Elsa: change to C refused in state A: the state is being left

        # a_change_that_is_due_is_not_replaced (rules 25 and 37)
        in A; handling A
        A.update: after 1 send hit; after 1 change B; nothing
        A.hit: replace C
        update; advance 1
        update => A.hit; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; C.update

        # all_that_waits_can_be_cleared (rule 37)
        in A
        A.update: change B; send hit; sleep; after 1 change C; clear; requests
        update => A.update; none waits
        advance 1
        update => A.update; none waits

        # a_request_of_a_region_is_cleared_too (rules 32 and 37)
        in A; global Always
        Always.update, 1x: now Fight is done; clear
        Ready.enter: sleep
        update => Always.update; A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter; Fight.update; Walk.update; Ready.update
        Always.update, 1x: sleep 0
        update => Always.update; Walk.update; Ready.update
        update => Always.update; Fight.update; Walk.update; Ready.update

        # a_region_does_not_fall_asleep_after_a_panic (rules 22, 26 and 32)
        in A; global Always; panicking Always.update
        Always.update, 1x: now Fight is done
        Ready.enter: sleep
        panicking update => Always.update; A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter
        Always.update, 1x: sleep 0
        update => Always.update; Walk.update; Ready.update
        update => Always.update; Fight.update; Walk.update; Ready.update

        # running_timers_are_not_cleared (rules 25 and 37)
        in A
        A.enter: after 2 change B
        A.update: clear
        start
        update => A.update
        advance 2
        update => A.exit; A -> B (change); B.enter; B.update

        # a_change_ahead_is_made_before_the_requests_that_wait (rule 11)
        in A
        A.update: change B; ahead C is done; note rest of A.update
        C.enter: change D
        update => A.update
            A.exit; A -> C (change); C.enter
            C.exit; C -> B (change); B.enter
            B.exit; B -> D (change); D.enter
            rest of A.update

        # a_message_ahead_is_heard_by_the_state_that_asked_for_the_change (rule 24)
        in A; handling A
        A.update: change B; hear-ahead hit is done; note rest of A.update
        A.hit: send boo
        update => A.update; A.hit; A.exit; A -> B (change); B.enter; B.boo; rest of A.update
        ",
    );
}
