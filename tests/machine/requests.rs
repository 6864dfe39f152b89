//! The chapter "Requests": rules 10 to 12, and the other requests of rule 24.

use crate::play::{EVERYWHERE, play};

#[test]
fn requests() {
    play(
        EVERYWHERE,
        r"
        # a_request_is_carried_out_once_the_callback_has_returned (rule 10)
        in A; view
        A.update: change B; view; note rest of A.update
        update => A.update (A); A; rest of A.update; A.exit (A, was A); A -> B (change); B.enter (B, was A)

        # two_changes_in_one_update_are_both_made_in_the_order_asked_for (rule 10)
        in A
        A.update: change B; change C
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter
        view => C, was B

        # every_verb_queues_in_one_line (rule 10)
        in A
        A.update: push B; change C; revert; pop; resume D; ensure B; send hit; force A
        update => A.update
            A.suspend; A -> B (push); B.enter
            B.exit; B -> C (change); C.enter
            C.exit; C -> B (revert); B.enter
            B.exit; B -> A (pop); A.resume
            A.exit; A -> D (resume); D.enter
            D.exit; D -> B (change); B.enter; B.hit
            B.exit; B -> A (force); A.enter

        # what_the_caller_asks_for_through_a_lent_handle_is_carried_out_when_it_returns_it (rule 10)
        in A
        with change B; note asked; in A => asked; A.exit; A -> B (change); B.enter

        # a_refused_request_does_not_stop_the_ones_behind_it (rules 10 and 15)
        in A; refusing B.can_enter
        A.update: revert; pop; change B; change C
        update => A.update; A -> B (change), refused by B.can_enter; A.exit; A -> C (change); C.enter

        # a_change_now_happens_inside_the_call (rule 11)
        in A; view
        A.update: now B is done; in B; note rest of A.update
        update => A.update (A); A.exit (A, was A); A -> B (change); B.enter (B, was A); rest of A.update
        view => B, was A

        # a_change_now_carries_out_earlier_requests_first (rule 11)
        in A
        A.update: change B; change C; now D is done; note rest of A.update; change A
        update => A.update
            A.exit; A -> B (change); B.enter
            B.exit; B -> C (change); C.enter
            C.exit; C -> D (change); D.enter
            rest of A.update
            D.exit; D -> A (change); A.enter

        # a_change_now_carries_out_what_its_enter_asks_for_before_it_returns (rules 11 and 12)
        in A
        A.update: now B is done; in C; note rest of A.update
        B.enter: change C
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; rest of A.update

        # changes_now_nest (rule 11)
        // Buckland's change inside `Enter`: the calls are nested as in his code.
        in A
        A.update: now B; note rest of A.update
        B.enter: now C; note rest of B.enter
        update => A.update
            A.exit; A -> B (change); B.enter
            B.exit; B -> C (change); C.enter; rest of B.enter
            A -> B (change), abandoned in B; rest of A.update
        view => C, was B

        # a_push_and_a_pop_happen_inside_the_call (rules 11 and 15)
        in A
        A.update: pop-now is refused; change B; push-now C is done; in C; note rest of A.update
        C.enter: note C is entered
        update => A.update
            A.exit; A -> B (change); B.enter
            B.suspend; B -> C (push); C.enter; C is entered; rest of A.update
        C.update: change D; pop-now is done; in B; note rest of C.update
        update => C.update
            C.exit; C -> D (change); D.enter
            D.exit; D -> B (pop); B.resume; rest of C.update
        // In `exit` they are refused, as all changes are.
        in A
        A.exit: push-now C is refused; pop-now is refused
        change B => A.exit; A -> B (change); B.enter; done

        # a_change_now_says_when_a_guard_refuses_it (rule 11)
        in A; refusing A.can_exit
        A.update: now B is refused; in A
        update => A.update; A -> B (change), refused by A.can_exit

        # a_request_made_in_enter_waits_for_the_change_under_way (rule 12)
        in A
        House.enter: change B; note rest of House.enter
        change Kitchen => A.exit; A -> Kitchen (change); House.enter; rest of House.enter; Kitchen.enter
            Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; done
        view => B, was Kitchen

        # a_request_made_in_enter_comes_after_those_made_before_it (rules 10 and 12)
        // All requests of a callback are in one queue.
        in A
        A.update: change B; change C
        B.enter: change D
        update => A.update
            A.exit; A -> B (change); B.enter
            B.exit; B -> C (change); C.enter
            C.exit; C -> D (change); D.enter

        # a_request_made_in_resume_waits_for_the_pop_under_way (rule 12)
        in Kitchen
        House.resume: change Hall
        push A
        pop => A.exit; A -> Kitchen (pop); House.resume; Kitchen.resume
            Kitchen.exit; Kitchen -> Hall (change); Hall.enter; done

        # a_request_made_in_exit_is_refused_with_a_warning (rules 12 and 23)
        in A
        A.exit: change C
        change B => A.exit; A -> B (change); B.enter; done
        view => B, was A
        log => WARN demeanor: Elsa: change to C refused in state A: the state is being left
            DEBUG demeanor: Elsa: A -> B (change)

        # a_change_now_in_exit_is_refused_with_a_warning (rules 12 and 23)
        in A
        A.exit: now C is refused; in A
        change B => A.exit; A -> B (change); B.enter; done
        log => WARN demeanor: Elsa: change to C refused in state A: the state is being left
            DEBUG demeanor: Elsa: A -> B (change)

        # every_verb_is_refused_in_exit (rule 12)
        in A
        B.exit: change C; revert; push C; pop; resume C; ensure C; force C; send hit; hear hit is refused
        push B; log
        change D => B.exit; B -> D (change); D.enter; done
        warnings => WARN demeanor: Elsa: message to oneself refused in state B: the state is being left
            WARN demeanor: Elsa: change to C refused in state B: the state is being left
            WARN demeanor: Elsa: revert refused in state B: the state is being left
            WARN demeanor: Elsa: push to C refused in state B: the state is being left
            WARN demeanor: Elsa: pop refused in state B: the state is being left
            WARN demeanor: Elsa: resume to C refused in state B: the state is being left
            WARN demeanor: Elsa: ensure of C refused in state B: the state is being left
            WARN demeanor: Elsa: force to C refused in state B: the state is being left
            WARN demeanor: Elsa: message to oneself refused in state B: the state is being left
        pop => D.exit; D -> A (pop); A.resume; done

        # what_was_asked_for_before_the_exit_is_still_carried_out (rule 12)
        in A
        A.update: change B; change C
        A.exit: change D; now D is refused
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter

        # a_request_made_in_suspend_is_refused (rules 12 and 15)
        in A
        A.suspend: change C; now D is refused
        push B => A.suspend; A -> B (push); B.enter; done
        view => B, was A

        # ensuring_a_state_changes_to_it_once (rule 24)
        in A; guards
        B.enter: ensure B
        ensure B => A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter; done
        ensure B => done
        view => B, was A

        # ensuring_a_state_that_is_active_does_nothing (rule 24)
        // Nothing is refused or logged, and the previous state stays the same.
        in Kitchen; guards; refusing Kitchen.can_exit
        ensure Kitchen => done
        ensure House => done
        with ensure House =>
        log =>
        view => House/Kitchen

        # whether_an_ensured_state_is_active_is_seen_when_the_requests_turn_comes (rules 10 and 24)
        in A
        A.update: change B; ensure A; ensure A
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> A (change); A.enter

        # an_ensured_state_may_be_refused_as_in_any_change (rules 8 and 24)
        in A; refusing B.can_enter
        ensure B => A -> B (change), refused by B.can_enter; not done
        in A; refusing A.can_exit
        ensure B => A -> B (change), refused by A.can_exit; not done

        # ensuring_a_state_that_is_active_is_no_change_to_count (rules 13 and 24)
        in A
        A.update: 100x ensure A; 64x change B; ensure B
        update => A.update; A.exit; A -> B (change); B.enter; 63x B.exit, B -> B (change), B.enter
        warnings =>

        # a_forced_change_asks_no_can_exit_and_each_can_enter (rule 24)
        in Kitchen; guards; refusing Kitchen.can_exit; refusing House.can_exit
        change A => Kitchen.can_exit?; Kitchen -> A (change), refused by Kitchen.can_exit; not done
        force A => A.can_enter?; Kitchen.exit; House.exit; Kitchen -> A (force); A.enter; done
        force Hall => House.can_enter?; Hall.can_enter?; A.exit; A -> Hall (force); House.enter; Hall.enter; done

        # a_forced_change_may_still_be_refused_by_the_state_entered (rules 8 and 24)
        in A; refusing A.can_exit; refusing B.can_enter
        force B => A -> B (force), refused by B.can_enter; not done
        view => A

        # a_forced_change_to_the_current_state_leaves_and_enters_it (rules 7 and 24)
        in A; refusing A.can_exit
        force A => A.exit; A -> A (force); A.enter; done

        # a_callback_can_ask_whether_requests_wait (rule 24)
        in A
        A.update: requests; change B; requests; change C
        A.exit: requests
        B.enter: requests
        C.enter: requests
        update => A.update
            none waits; some wait
            A.exit; some wait; A -> B (change); B.enter; some wait
            B.exit; B -> C (change); C.enter; none waits

        # what_is_asked_for_in_an_exit_never_waits (rules 12 and 24)
        in Kitchen
        Kitchen.exit: change C; requests
        House.exit: requests
        change A => Kitchen.exit; none waits; House.exit; none waits; Kitchen -> A (change); A.enter; done

        # after_a_change_now_no_request_waits (rules 11 and 24)
        in A
        A.update: change B; now C; requests
        update => A.update; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; none waits
        ",
    );
}
