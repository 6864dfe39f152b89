//! What a few owners of a batch do in one tick: the chapters "Many owners" and "Waiting", and what other rules say of a batch.

use crate::play::{IN_A_BATCH, play};

#[test]
fn ticks() {
    play(
        IN_A_BATCH,
        r"
        # updates_come_by_slot_then_exits_by_slot_then_enters_by_target (rule 19)
        // The targets come in the order in which the batch first saw them; last come the owners that were there before.
        in A, A, B, A, A, C
        0 A.update: change C
        1 A.update: change B
        3 A.update: change C
        update => A.update 0; A.update 1; A.update 3; A.update 4; A.exit 0; A.exit 1; A.exit 3; A -> B (change) 1
            A -> C (change) 0; A -> C (change) 3; B.enter 1; C.enter 0; C.enter 3; B.update 2; C.update 5
        // Those that came are updated in the next tick.
        update => A.update 4; B.update 2; B.update 1; C.update 5; C.update 3; C.update 0

        # a_state_that_the_globals_request_enters_is_updated_in_the_same_tick (rules 4 and 20)
        // The first one finishes its tick alone.
        in A, A, A; global Always
        0 Always.update: change B
        2 A.update: change B
        update => Always.update 0; Always.update 1; Always.update 2; A.exit 0; A -> B (change) 0; B.enter 0; B.update 0
            A.update 1; A.update 2; A.exit 2; A -> B (change) 2; B.enter 2

        # states_with_a_parent_are_updated_from_the_outside_in (rules 4 and 6)
        // The first one finishes its tick alone.
        in Kitchen, Kitchen, Kitchen
        0 House.update: change Kitchen
        1 Kitchen.update: change A
        update => House.update 0; House.update 1; House.update 2; Kitchen.exit 0; Kitchen -> Kitchen (change) 0
            Kitchen.enter 0; Kitchen.update 0; Kitchen.update 1; Kitchen.update 2; Kitchen.exit 1; House.exit 1
            Kitchen -> A (change) 1; A.enter 1
        rows Kitchen => 0 2
        rows House => 

        # after_update_comes_after_the_changes_of_the_chunk_and_before_the_rows_move (rule 35)
        // First come the owners that change, by target.
        in A, A, A; end; knows A B C
        0 A.update: change C
        1 A.update: change B
        update => A.update 0; A.update 1; A.update 2; A.exit 0; A.exit 1; A -> B (change) 1; A -> C (change) 0; B.enter 1
            end in B, was A 1; C.enter 0; end in C, was A 0; end in A 2

        # in_key_order_after_update_ends_the_tick_of_each_owner (rules 19 and 35)
        in A, B, A; end
        update in key order => A.update 0; end in A 0; B.update 1; end in B 1; A.update 2; end in A 2

        # after_update_is_called_for_owners_that_are_awake (rules 26 and 35)
        in A, A, A; end
        1 A.update: sleep
        update => A.update 0; A.update 1; A.update 2; end in A 0; end in A 1; end in A 2
        update => A.update 0; A.update 2; end in A 0; end in A 2

        # a_panic_in_after_update_leaves_the_changes_of_all (rules 22 and 35)
        in A, A, A, A; end; knows A B
        1 A.update: change B
        2 A.update: change B
        1 panics after_update
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 1; A.exit 2; A -> B (change) 1
            A -> B (change) 2; B.enter 1; B.enter 2; end in B, was A 1
        where => A B B A

        # in_key_order_each_owner_has_its_whole_tick_before_the_next (rule 19)
        in A, B, A; global Always
        0 A.update: change B
        update in key order => Always.update 0; A.update 0; A.exit 0; A -> B (change) 0; B.enter 0; Always.update 1
            B.update 1; Always.update 2; A.update 2

        # exits_come_level_by_level_and_enters_by_target_level_by_level (rules 5, 6 and 19)
        // First the innermost states are left. Y, which is the outer one, is entered before Y1.
        in X1, X1, X1, X1, X1, X1; knows A X1 X2 Y1
        0 X1.update: change X2
        1 X1.update: change Y
        2 X1.update: change A
        3 X1.update: change X1
        4 X1.update: change X2
        5 X1.update: change Y
        update => X.update 0; X.update 1; X.update 2; X.update 3; X.update 4; X.update 5; X1.update 0; X1.update 1
            X1.update 2; X1.update 3; X1.update 4; X1.update 5; X1.exit 0; X1.exit 1; X1.exit 2; X1.exit 3; X1.exit 4
            X1.exit 5; X.exit 1; X.exit 2; X.exit 5; X1 -> A (change) 2; X1 -> X1 (change) 3; X1 -> X2 (change) 0
            X1 -> X2 (change) 4; X1 -> Y1 (change) 1; X1 -> Y1 (change) 5; A.enter 2; X1.enter 3; X2.enter 0
            X2.enter 4; Y.enter 1; Y.enter 5; Y1.enter 1; Y1.enter 5
        where => X/X2 Y/Y1 A X/X1 X/X2 Y/Y1

        # an_owner_that_stays_in_a_parent_keeps_its_time (rule 18)
        in X1, X1, X1, X1; knows A X1 X2 Y1
        0 X1.update: change X2
        1 X1.update: change Y
        2 X1.update: change A
        3 X1.update: change X2
        start; advance 5; update; advance 2
        0 times X X2; 1 times Y Y1; 2 times A X => 7 2 0; 2 2 1; 2 - 2
        // One goes back, and one to the state that it is in.
        0 X2.update: change X1
        3 X2.update: change X2
        update
        0 times X X1; 3 times X X2 => 7 0 0; 7 0 3

        # a_change_to_an_active_parent_leaves_and_enters_it (rule 6)
        in X1, X1; knows A X1 X2 Y1
        X1.update: change X
        update => X.update 0; X.update 1; X1.update 0; X1.update 1; X1.exit 0; X.exit 0; X1 -> X1 (change) 0; X.enter 0
            X1.enter 0; X1.exit 1; X.exit 1; X1 -> X1 (change) 1; X.enter 1; X1.enter 1
        where => X/X1 X/X1
        ",
    );
}

#[test]
fn ticks_of_one_owner() {
    play(
        IN_A_BATCH,
        r"
        # an_owner_updated_alone_has_its_whole_tick_and_nobody_else_has_any (rules 19 and 35)
        // The second one is not updated, and the third one twice.
        in A, B, A; global Always; end
        2 A.update: change B
        2 update one; 0 update one; 2 update one => Always.update 2; A.update 2; A.exit 2; A -> B (change) 2; B.enter 2
            end in B, was A 2; Always.update 0; A.update 0; end in A 0; Always.update 2; B.update 2; end in B, was A 2
        // It has moved.
        rows B => 1 2

        # an_owner_updated_alone_sleeps_until_it_is_due_as_on_a_machine (rules 19, 25 and 26)
        in A, A
        A.update: sleep 2; after 3 change B
        update => A.update 0; A.update 1
        advance 2
        1 update one; 1 update one => A.update 1
        // The other one has not noticed that it is due.
        awake => 0
        advance 1
        1 update one => A.exit 1; A -> B (change) 1; B.enter 1; B.update 1
        update => A.exit 0; A -> B (change) 0; B.enter 0; B.update 1; B.update 0
        ",
    );
}

#[test]
fn changes_ahead() {
    play(
        IN_A_BATCH,
        r"
        # a_state_that_a_change_ahead_has_entered_is_not_entered_again_to_ensure_it (rules 11 and 24)
        in A, A; knows A B X1 X2
        0 A.update: ensure B; ahead B
        1 A.update: ensure X; ahead X2
        update => A.update 0; A.exit 0; A -> B (change) 0; B.enter 0; A.update 1; A.exit 1; A -> X2 (change) 1; X.enter 1
            X2.enter 1
        where => B X/X2

        # a_change_behind_a_change_ahead_is_to_the_state_that_was_named (rules 6 and 11)
        in A, A; knows A X1 X2
        1 A.update: change X
        update => A.update 0; A.update 1; A.exit 1; A -> X1 (change) 1; X.enter 1; X1.enter 1
        0 A.update: change X; ahead X2
        update => A.update 0; A.exit 0; A -> X2 (change) 0; X.enter 0; X2.enter 0; X2.exit 0; X.exit 0
            X2 -> X1 (change) 0; X.enter 0; X1.enter 0; X.update 1; X1.update 1
        ",
    );
}

#[test]
fn changes_of_a_group() {
    play(
        IN_A_BATCH,
        r"
        # the_owners_of_a_group_are_told_that_they_have_changed_after_its_enters (rules 5, 12 and 19)
        in A, A, A, A; completion; knows B C
        0 A.update: change B
        1 A.update: change C
        2 A.update: change B
        3 A.update: change C
        2 B.enter: change C
        update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 1; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 2; A -> C (change) 1; A -> C (change) 3; B.enter 0; B.enter 2
            complete: A -> B (change) 0; complete: A -> B (change) 2; C.enter 1; C.enter 3; complete: A -> C (change) 1
            complete: A -> C (change) 3; B.exit 2; B -> C (change) 2; C.enter 2; complete: B -> C (change) 2

        # an_owner_of_a_group_whose_change_is_cut_short_is_not_told_that_it_is_complete (rules 5 and 19)
        in A, A; completion; knows B
        A.update: change B
        1 B.enter: now C is done
        update => A.update 0; A.update 1; A.exit 0; A.exit 1; A -> B (change) 0; A -> B (change) 1; B.enter 0
            B.enter 1; B.exit 1; B -> C (change) 1; C.enter 1; complete: B -> C (change) 1; complete: A -> B (change) 0
            A -> B (change), abandoned in B 1

        # an_owner_of_a_group_stays_on_the_way_and_the_others_go_on (rules 19 and 38)
        in A, A, A; completion; knows House Kitchen Stove
        A.update: change Stove
        1 House.enter: stay
        2 House.enter: now B is done
        update => A.update 0; A.update 1; A.update 2; A.exit 0; A.exit 1; A.exit 2
            A -> Stove (change) 0; A -> Stove (change) 1; A -> Stove (change) 2
            House.enter 0; House.enter 1; House.enter 2
            House.exit 2; House -> B (change) 2; B.enter 2; complete: House -> B (change) 2
            Kitchen.enter 0; Stove.enter 0; complete: A -> Stove (change) 0
            A -> Stove (change), stayed in House 1; complete: A -> House (change) 1
            A -> Stove (change), abandoned in House 2
        0 view => House/Kitchen/Stove, was A 0
        1 view => House, was A 1
        2 view => B, was House 2

        # a_handle_shows_what_its_callback_has_changed_at_once (rules 11 and 18)
        in A, A, A; knows B C
        0 A.update: now B; view; requests; time
        1 A.update: now B; view; requests; change C; view; requests; time
        2 A.update: now B; view; requests; change C; requests; now B; view; requests; time
        advance 3
        update => A.update 0; A.exit 0; A -> B (change) 0; B.enter 0; B, was A 0; none waits 0; 0 0
            A.update 1; A.exit 1; A -> B (change) 1; B.enter 1; B, was A 1; none waits 1; B, was A 1; some wait 1; 0 1
            A.update 2; A.exit 2; A -> B (change) 2; B.enter 2; B, was A 2; none waits 2; some wait 2
            B.exit 2; B -> C (change) 2; C.enter 2; C.exit 2; C -> B (change) 2; B.enter 2; B, was C 2; none waits 2; 0 2
            B.exit 1; B -> C (change) 1; C.enter 1

        # what_owners_that_leave_together_ask_for_in_exit_is_refused_with_a_warning_for_each (rule 12)
        in A, A, A; completion; knows C
        A.update: change C
        0 A.exit: change B
        1 A.exit: now D is refused
        2 A.exit: push B
        update => A.update 0; A.update 1; A.update 2; A.exit 0; A.exit 1; A.exit 2; A -> C (change) 0
            A -> C (change) 1; A -> C (change) 2; C.enter 0; C.enter 1; C.enter 2; complete: A -> C (change) 0
            complete: A -> C (change) 1; complete: A -> C (change) 2
        warnings => WARN demeanor: Elsa: change to D refused in state A: the state is being left
            WARN demeanor: Elsa: change to B refused in state A: the state is being left
            WARN demeanor: Elsa: push to B refused in state A: the state is being left

        # of_owners_that_ask_together_one_that_forces_is_not_asked_can_exit_and_one_that_ensures_its_state_stays (rules 8 and 24)
        in A, A, A; completion; knows C
        0 refusing A.can_exit
        1 refusing A.can_exit
        0 A.update: force C
        1 A.update: change C
        2 A.update: ensure A
        update => A.update 0; A.update 1; A.update 2; A -> C (change), refused by A.can_exit 1; A.exit 0
            A -> C (force) 0; C.enter 0; complete: A -> C (force) 0
        ",
    );
}

/// Rule 22. Four owners change from A to B or C, and one of them panics.
#[test]
fn panics_of_one_owner() {
    play(
        IN_A_BATCH,
        r"
        # after_a_panic_in_update_what_was_asked_for_before_is_carried_out_and_the_rest_waits
        // The batch goes on. The request of the owner that panicked is dropped.
        in A, A, A, A, B, C
        0-2 A.update, 1x: change B
        3 A.update, 1x: change C
        1 panics A.update
        panicking update => A.update 0; A.update 1; A.exit 0; A -> B (change) 0; B.enter 0
        where => B A A A B C
        update => A.update 3; A.update 1; A.update 2; A.exit 3; A.exit 2; A -> B (change) 2; A -> C (change) 3
            B.enter 2; C.enter 3; B.update 4; B.update 0; C.update 5
        where => B A B C B C

        # after_a_panic_in_a_guard_only_that_owner_stays
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        1 panics A.can_exit
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 2; C.enter 3
        where => B A B C B C
        1 view => A 1
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        1 panics B.can_enter
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 2; C.enter 3
        where => B A B C B C
        1 view => A 1

        # after_a_panic_in_exit_only_that_owner_stays
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        1 panics A.exit
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 1; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 2; C.enter 3
        where => B A B C B C

        # an_owner_whose_enter_panics_is_in_the_state_entered
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        1 panics B.enter
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 1; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 1; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 1; B.enter 2
            C.enter 3
        where => B B B C B C
        rows B => 4 0 1 2
        1 view => B, was A 1

        # what_was_asked_for_in_an_enter_that_panicked_is_dropped
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        B.enter: change Kitchen
        1 panics B.enter
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 1; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 1; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 1; B.enter 2
            C.enter 3; B.exit 0; B -> Kitchen (change) 0; House.enter 0; Kitchen.enter 0; B.exit 2
            B -> Kitchen (change) 2; House.enter 2; Kitchen.enter 2
        where => House/Kitchen B House/Kitchen C B C

        # an_owner_whose_on_change_panics_is_in_the_new_state_which_it_has_not_entered
        in A, A, A, A, B, C
        0-2 A.update: change B
        3 A.update: change C
        1 panics on_change
        panicking update => A.update 0; A.update 1; A.update 2; A.update 3; A.exit 0; A.exit 1; A.exit 2; A.exit 3
            A -> B (change) 0; A -> B (change) 1; A -> B (change) 2; A -> C (change) 3; B.enter 0; B.enter 2; C.enter 3
        where => B B B C B C

        # a_panic_by_key_leaves_all_others_alone
        in A, A, A, A, B, C
        1 panics B.enter
        panicking 1 change B => A.exit 1; A -> B (change) 1; B.enter 1
        where => A B A A B C
        rows A; rows B => 0 3 2; 4 1
        1 remove => removed from B, was A 1

        # after_a_panic_what_was_asked_for_is_carried_out_and_nobody_is_updated_any_more
        in Kitchen, Kitchen, Kitchen; completion
        House.update: change Hall
        1 panics House.update
        panicking update => House.update 0; House.update 1; Kitchen.exit 0; Kitchen -> Hall (change) 0; Hall.enter 0
            complete: Kitchen -> Hall (change) 0
        rows Hall; rows Kitchen => 0; 2 1
        ",
    );
}

/// Rules 19, 22, 25 and 26. Who is in A sleeps, and changes to B two seconds after its enter; who is in B changes to A.
#[test]
fn waiting() {
    play(
        IN_A_BATCH,
        r"
        # changes_that_are_due_are_made_together_before_anybody_is_updated
        // Who wakes lies in front of those awake.
        in A, A, A, C; knows A B
        A.enter: after 2 change B; sleep; requests
        B.update: change A
        C.update: sleep 9; sleep 1
        0-2 start; advance 1
        update => C.update 3
        advance 1
        update => A.exit 2; A.exit 1; A.exit 0; A -> B (change) 2; A -> B (change) 1; A -> B (change) 0; B.enter 2
            B.enter 1; B.enter 0; B.update 2; B.update 1; B.update 0; B.exit 2; B.exit 1; B.exit 0; B -> A (change) 2
            B -> A (change) 1; B -> A (change) 0; A.enter 2; some wait 2; A.enter 1; some wait 1; A.enter 0
            some wait 0; C.update 3
        awake => 0
        next => at 3.999997 0; at 3.999997 1; at 3.999997 2; at 2.999998 3

        # an_owner_that_is_refused_a_change_that_is_due_is_awake_and_updated
        // The timer is used up.
        in A, A
        A.enter: after 2 change B; sleep
        B.update: change A
        1 refusing A.can_exit
        start; advance 2
        update => A -> B (change), refused by A.can_exit 1; A.exit 0; A -> B (change) 0; B.enter 0; A.update 1
            B.update 0; B.exit 0; B -> A (change) 0; A.enter 0
        1 next => every tick 1
        advance 1
        update => A.update 1

        # after_a_panic_in_a_change_that_is_due_the_others_have_changed_and_nobody_is_updated
        // Owner 4 is in a state that comes after the one in which the panic happens.
        in A, A, A, C, D
        A.enter: after 2 change B; sleep
        B.update: change A
        C.update: sleep 1
        D.enter: after 2 change B
        0-2 start; 4 start; 1 panics A.exit; advance 2
        panicking update => A.exit 2; A.exit 1; A.exit 0; A -> B (change) 2; A -> B (change) 0; B.enter 2; B.enter 0
            D.exit 4; D -> B (change) 4; B.enter 4
        update => A.update 1; C.update 3; B.update 2; B.update 0; B.update 4; B.exit 2; B.exit 0; B.exit 4
            B -> A (change) 2; B -> A (change) 0; B -> A (change) 4; A.enter 2; A.enter 0; A.enter 4
        in A, A, A, C, D
        A.enter: after 2 change B; sleep
        B.update: change A
        C.update: sleep 1
        D.enter: after 2 change B
        0-2 start; 4 start; 1 panics B.enter; advance 2
        panicking update => A.exit 2; A.exit 1; A.exit 0; A -> B (change) 2; A -> B (change) 1; A -> B (change) 0
            B.enter 2; B.enter 1; B.enter 0; D.exit 4; D -> B (change) 4; B.enter 4
        update => C.update 3; B.update 2; B.update 1; B.update 0; B.update 4; B.exit 2; B.exit 1; B.exit 0; B.exit 4
            B -> A (change) 2; B -> A (change) 1; B -> A (change) 0; B -> A (change) 4; A.enter 2; A.enter 1; A.enter 0
            A.enter 4

        # a_panic_drops_what_the_callback_has_asked_to_wait_for
        in C, C
        C.update: sleep 9; sleep 1
        1 panics C.update
        advance 1
        panicking update => C.update 0; C.update 1
        next => at 1.9999980000000002 0; every tick 1

        # a_panic_in_after_change_drops_what_enter_has_asked_to_wait_for
        in B, B
        A.enter: after 2 change B; sleep
        B.update: change A
        1 panics after_change
        panicking update => B.update 0; B.update 1; B.exit 0; B -> A (change) 0; A.enter 0; B.exit 1; B -> A (change) 1
            A.enter 1
        where => A A
        next => at 1.999997 0; every tick 1

        # of_two_requests_to_sleep_the_last_counts
        in C, C
        C.update: sleep 9; sleep 1
        advance 1; update; awake => C.update 0; C.update 1; 0
        0 next => at 1.9999980000000002 0
        advance 1
        update => C.update 1; C.update 0
        // Nor does the first one count where it is the shorter one.
        in C, C
        C.update: sleep 1; sleep 9
        advance 1; update => C.update 0; C.update 1
        0 next => at 9.99999 0
        advance 1
        update =>

        # a_change_asked_for_after_sleep_ends_the_sleep_and_the_timer
        in B, B
        A.enter: after 2 change B; sleep
        1 A.enter: change C
        B.update: change A
        C.update: sleep 9; sleep 1
        start; advance 1
        update => B.update 0; B.update 1; B.exit 0; B -> A (change) 0; A.enter 0; B.exit 1; B -> A (change) 1
            A.enter 1; A.exit 1; A -> C (change) 1; C.enter 1
        where; next => A C; at 2.999997 0; every tick 1
        advance 2
        update => A.exit 0; A -> B (change) 0; B.enter 0; B.update 0; B.exit 0; B -> A (change) 0; A.enter 0
            C.update 1
        ",
    );
}

/// Rules 15, 19, 25 and 26: as the game asks for it.
#[test]
fn sleep_and_timers() {
    play(
        IN_A_BATCH,
        r"
        # the_many_timers_of_a_state_end_when_its_owners_leave_it_together (rule 25)
        in A, A; knows B
        A.enter: 40x after 5 boo
        A.update: from 1 change B
        start; advance 1; update
        where; next => B B; every tick 0; every tick 1
        advance 9
        update => B.update 0; B.update 1

        # owners_that_sleep_are_not_touched_and_lie_apart (rule 26)
        // An owner that is removed and inserted again is still asleep.
        in A, A, A, A
        0 sleep; 2 sleep; awake; rows A => 2; 0 2 1 3
        update => A.update 1; A.update 3
        0 wake; 0 wake; 1 wake; awake => done 0; not done 0; not done 1; 3
        2 reinsert; 2 next; 2 asleep; awake => never 2; yes 2; 3
        2 change B; awake => A.exit 2; A -> B (change) 2; B.enter 2; done 2; 4
        update => A.update 3; A.update 0; A.update 1; B.update 2

        # the_global_is_updated_for_owners_that_sleep_unless_it_is_passive (rule 26)
        in A, A; global Always
        sleep; update => Always.update 0; Always.update 1
        1 Always.update, 1x: change B
        update => Always.update 0; Always.update 1; A.exit 1; A -> B (change) 1; B.enter 1; B.update 1
        awake => 1
        global Statue
        update => B.update 1

        # a_clock_that_jumps_by_a_day_carries_out_each_owners_timers_in_their_order (rule 25)
        in A, A; handling A
        after 86000 send late; after 3 send early; after 3 send next; after 86399 change B; advance 86400
        update => A.early 0; A.next 0; A.late 0; A.exit 0; A -> B (change) 0; B.enter 0; B.update 0; A.early 1
            A.next 1; A.late 1; A.exit 1; A -> B (change) 1; B.enter 1; B.update 1
        next => every tick 0; every tick 1

        # a_timer_is_carried_out_in_the_part_of_its_owner (rules 19 and 25)
        // The owners of the other parts sleep on.
        in A, A, A, A, A, A; knows B
        A.enter: after 2 change B; sleep
        start; advance 2
        update part 0 3; awake => A.exit 5; A.exit 2; A -> B (change) 5; A -> B (change) 2; B.enter 5; B.enter 2
            B.update 5; B.update 2; 2
        update part 1 3; awake => A.exit 3; A.exit 0; A -> B (change) 3; A -> B (change) 0; B.enter 3; B.enter 0
            B.update 3; B.update 0; 4
        update part 2 3; awake => A.exit 4; A.exit 1; A -> B (change) 4; A -> B (change) 1; B.enter 4; B.enter 1
            B.update 4; B.update 1; 6

        # what_happens_to_an_owner_before_its_tick_happens_to_its_due_timer (rule 25)
        // The timer of owner 0 goes with its machine, and that of owner 2 with its state.
        in A, A, A, A
        A.enter: after 2 change B; sleep
        start; advance 2; 0 reinsert; 1 change C; 2 push C
        update => A.exit 3; A.exit 0; A -> B (change) 3; A -> B (change) 0; B.enter 3; B.enter 0; B.update 3; B.update 0
            C.update 1; C.update 2
        2 pop
        update => A.exit 2; A -> B (change) 2; B.enter 2; B.update 3; B.update 0; B.update 2; C.update 1

        # owners_for_whom_something_is_due_come_before_the_others_of_their_chunk (rules 19 and 25)
        in A, A, A, A, A
        3 after 1 send boo; 1 after 1 send boo; advance 1
        update => A.boo 1; A.update 1; A.boo 3; A.update 3; A.update 0; A.update 2; A.update 4

        # a_timer_on_the_stack_of_a_machine_that_is_inserted_goes_on_when_its_state_is_resumed (rules 15 and 25)
        in A, D
        A.enter, 1x: after 5 change B
        0 start; advance 2; 0 push C; 0 reinsert; advance 100
        update => D.update 1; C.update 0
        0 pop; 0 sleep
        0 next => at 104.999994 0
        advance 3
        update => A.exit 0; A -> B (change) 0; B.enter 0; D.update 1; B.update 0
        ",
    );
}

/// Rules 25 and 26.
#[test]
fn what_the_log_says_of_waiting() {
    play(
        IN_A_BATCH,
        r"
        # a_sleep_that_a_timer_ends_is_not_said_to_have_no_end (rule 26)
        in B, B; knows A
        A.enter: after 2 change B; sleep
        B.update: change A
        update
        where; awake => A A; 0
        log => DEBUG demeanor: Elsa: B -> A (change)
            DEBUG demeanor: Elsa: B -> A (change)

        # a_sleep_without_an_end_is_said_of_owners_that_come_from_a_state_with_timers (rule 26)
        // The timers of the state that was left do not count. Alone, then together: to a state that it has not met, a batch changes
        // an owner in another way.
        in A, D
        A.enter: after 10 change C
        A.update: change B
        B.enter: sleep
        start; advance 1; update
        log => DEBUG demeanor: Elsa: A -> B (change)
            DEBUG demeanor: Elsa: sleeps in state B until a message or `wake`
        in A, A; knows B
        A.enter: after 10 change C
        A.update: change B
        B.enter: sleep
        start; advance 1; update
        log => DEBUG demeanor: Elsa: A -> B (change)
            DEBUG demeanor: Elsa: A -> B (change)
            DEBUG demeanor: Elsa: sleeps in state B until a message or `wake`
            DEBUG demeanor: Elsa: sleeps in state B until a message or `wake`

        # seconds_that_are_no_time_are_said_of_each_owner_with_its_state (rules 25 and 26)
        // Alone, one by one, and together.
        in A, D
        0 A.update: after -1 change B; sleep nan
        update
        warnings => WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
        in A, A
        A.update: after -1 change B; sleep nan
        update
        warnings => WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
        in A, A; knows B
        A.update: after -1 change B; sleep nan
        update
        warnings => WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: change to B after -1 s, asked for in state A, counts as 0 s
            WARN demeanor: Elsa: sleep after NaN s, asked for in state A, counts as 0 s
        ",
    );
}
