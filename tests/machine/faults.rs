//! The chapter "Faults": rules 22 and 23, for one owner.

use crate::play::{EVERYWHERE, play};

#[test]
fn panics_and_the_log() {
    play(
        EVERYWHERE,
        r"
        # a_panic_in_update_leaves_the_old_state_and_drops_the_requests (rule 22)
        in A; panicking A.update
        A.update, 1x: change B
        panicking update => A.update
        view => A
        update => A.update

        # a_panic_in_the_globals_update_leaves_the_old_state (rule 22)
        in A; global Always; panicking Always.update
        panicking update => Always.update
        update => Always.update; A.update

        # a_panic_in_an_ancestors_update_leaves_the_old_state (rule 22)
        in Stove; panicking Kitchen.update
        panicking update => House.update; Kitchen.update
        view => House/Kitchen/Stove

        # a_panic_in_on_message_leaves_the_old_state_and_drops_the_requests (rule 22)
        in Stove; panicking Kitchen.hit
        Kitchen.hit, 1x: change A
        panicking send hit => Stove.hit; Kitchen.hit
        view => House/Kitchen/Stove
        send hit => Stove.hit; Kitchen.hit; House.hit; not handled

        # a_panic_in_the_globals_on_message_leaves_the_old_state (rule 22)
        in A; global Always; panicking Always.hit
        Always.hit, 1x: change B
        panicking send hit => A.hit; Always.hit
        view => A
        send hit => A.hit; Always.hit; not handled

        # a_panic_in_exit_leaves_the_old_state (rule 22)
        in A; panicking A.exit
        previous C
        panicking change B => A.exit
        view => A, was A
        update => A.update
        change B => A.exit; A -> B (change); B.enter; done
        view => B, was A

        # requests_are_heard_again_after_a_panic_in_exit (rules 12 and 22)
        // The machine must not assume that an `exit` is still running.
        in A; panicking A.exit
        A.update: change B
        panicking update => A.update; A.exit
        update => A.update; A.exit; A -> B (change); B.enter

        # a_panic_in_an_ancestors_exit_leaves_the_old_state (rule 22)
        in Stove; panicking Kitchen.exit
        panicking change A => Stove.exit; Kitchen.exit
        view => House/Kitchen/Stove, was Stove

        # a_panic_in_a_guard_leaves_the_old_state_and_drops_the_requests (rule 22)
        in A; panicking A.can_exit
        A.update, 1x: change B; change C
        panicking update => A.update
        view => A
        update => A.update
        in A; panicking B.can_enter
        A.update, 1x: change B; change C
        panicking update => A.update
        view => A
        update => A.update

        # a_panic_in_enter_leaves_the_state_whose_enter_it_was_and_drops_the_requests (rule 22)
        in A; panicking B.enter
        A.update: change B; change C
        panicking update => A.update; A.exit; A -> B (change); B.enter
        view => B, was A
        update => B.update
        stop => B.exit

        # a_panic_in_an_ancestors_enter_leaves_that_ancestor (rules 5 and 22)
        in A; panicking Kitchen.enter
        panicking change Stove => A.exit; A -> Stove (change); House.enter; Kitchen.enter
        view => House/Kitchen, was A
        change A => Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; done

        # a_panic_while_starting_leaves_the_state_whose_enter_it_was (rules 1 and 22)
        in Stove; panicking Kitchen.enter
        panicking start => House.enter; Kitchen.enter
        view => House/Kitchen

        # a_panic_while_stopping_leaves_the_old_state (rules 1 and 22)
        in Stove; panicking Kitchen.exit
        panicking stop => Stove.exit; Kitchen.exit
        view => House/Kitchen/Stove, was Stove
        stop => Stove.exit; Kitchen.exit; House.exit
        view => nowhere, was Stove

        # a_panic_in_suspend_leaves_the_old_state_and_the_stack_as_it_was (rules 15 and 22)
        in A; panicking A.suspend
        panicking push B => A.suspend
        view => A, was A
        pop => not done

        # a_panic_in_the_exit_of_a_pop_leaves_the_old_state_and_the_stack_as_it_was (rules 15 and 22)
        in A; panicking B.exit
        push B
        panicking pop => B.exit
        view => B, was B
        pop => B.exit; B -> A (pop); A.resume; done

        # a_panic_in_resume_leaves_the_state_whose_resume_it_was (rules 15 and 22)
        in Kitchen; panicking House.resume
        push A
        panicking pop => A.exit; A -> Kitchen (pop); House.resume
        view => House, was A
        pop => not done

        # a_panic_after_a_change_now_leaves_the_state_that_it_led_to (rules 11 and 22)
        in A; panicking A.update
        A.update: now B; change C
        panicking update => A.update; A.exit; A -> B (change); B.enter
        view => B, was A
        update => B.update

        # a_panic_in_on_change_leaves_the_machine_fit_for_use (rule 22)
        // `on_change` is called after the swap, for the new state.
        in A; panicking on_change
        panicking change B => A.exit; A -> B (change)
        view => B, was A
        change C => B.exit; B -> C (change); C.enter; done

        # a_panic_in_after_change_leaves_the_new_state_and_drops_the_requests (rules 5 and 22)
        in A; panicking after_change
        B.enter: change C
        panicking change B => A.exit; A -> B (change); B.enter
        view => B, was A
        update => B.update

        # a_panic_in_who_hears_a_message_to_oneself_drops_the_requests (rules 22 and 24)
        in A; panicking A.hit
        A.update, 1x: send hit; change B
        panicking update => A.update; A.hit
        update => A.update

        # a_callback_that_catches_the_panic_of_its_change_now_goes_on_where_that_left_it (rules 11 and 22)
        in A; panicking A.can_exit
        A.update: catch now B
        update => A.update; caught
        view => A
        in A; panicking B.can_enter
        A.update: catch now B
        update => A.update; caught
        view => A
        in A; panicking A.exit
        A.update: catch now B
        update => A.update; A.exit; caught
        view => A, was A
        in A; panicking on_change
        A.update: catch now B
        update => A.update; A.exit; A -> B (change); caught
        view => B, was A
        in A; panicking B.enter
        A.update: catch now B
        update => A.update; A.exit; A -> B (change); B.enter; caught
        view => B, was A
        in A; panicking after_change
        A.update: catch now B
        update => A.update; A.exit; A -> B (change); B.enter; caught
        view => B, was A

        # what_a_callback_asks_for_after_it_has_caught_a_panic_is_carried_out (rules 12 and 22)
        in A; panicking A.can_exit
        A.update: catch now B; push C
        update => A.update; caught; A.suspend; A -> C (push); C.enter
        in A; panicking B.can_enter
        A.update: catch now B; push C
        update => A.update; caught; A.suspend; A -> C (push); C.enter
        in A; panicking A.exit
        A.update: catch now B; push C; push D
        update => A.update; A.exit; caught; A.suspend; A -> C (push); C.enter; C.suspend; C -> D (push); D.enter

        # what_was_asked_for_in_an_exit_whose_panic_was_caught_is_dropped (rules 12 and 22)
        in A; panicking A.exit
        A.update: catch now B
        A.exit: change C
        update => A.update; A.exit; caught
        view => A, was A

        # a_panic_in_what_borrows_the_machine_drops_its_requests (rule 22)
        in A; panicking A.enter
        panicking with change B; change A; change C =>
            A.exit; A -> B (change); B.enter; B.exit; B -> A (change); A.enter
        view => A, was B
        with nothing =>

        # every_change_is_logged_with_the_owners_label_and_the_states_names (rule 23)
        in no state
        change A; change Stove; push B; pop; revert; resume House
        log => DEBUG demeanor: Elsa: (no state) -> A (change)
            DEBUG demeanor: Elsa: A -> Stove (change)
            DEBUG demeanor: Elsa: Stove -> B (push)
            DEBUG demeanor: Elsa: B -> Stove (pop)
            DEBUG demeanor: Elsa: Stove -> B (revert)
            DEBUG demeanor: Elsa: B -> House (resume)

        # a_refusal_by_misuse_is_a_warning_that_names_the_owner_and_the_states (rule 23)
        in A
        A.exit: push D
        revert; pop; change B
        log => WARN demeanor: Elsa: revert refused in state A: there is no previous state
            WARN demeanor: Elsa: pop refused in state A: the stack is empty
            WARN demeanor: Elsa: push to D refused in state A: the state is being left
            DEBUG demeanor: Elsa: A -> B (change)

        # a_cycle_is_an_error_that_names_the_states_of_the_cycle (rule 23)
        in D
        limit 64
        D.update: change A
        A.enter: change B
        B.enter: change C
        C.enter: change A
        update => D.update; D.exit; D -> A (change); A.enter
            21x A.exit, A -> B (change), B.enter, B.exit, B -> C (change), C.enter, C.exit, C -> A (change), A.enter
        warnings =>
            ERROR demeanor: Elsa: change to B dropped in state A: one callback has led to 64 changes and messages to itself, most recently: change to B, change to C, change to A

        # the_error_of_a_second_cycle_does_not_name_the_states_of_the_first (rules 13 and 23)
        in A
        limit 64
        A.enter: change B
        B.enter: change A
        C.enter: change D
        D.enter: change C
        change A
        warnings =>
            ERROR demeanor: Elsa: change to A dropped in state B: one callback has led to 64 changes and messages to itself, most recently: change to A, change to B
        change C
        warnings =>
            ERROR demeanor: Elsa: change to C dropped in state D: one callback has led to 64 changes and messages to itself, most recently: change to C, change to D
        ",
    );
}
