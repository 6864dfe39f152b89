//! The published cases on parallel states, as rows: those of SCXML (W3C, implementation report, by number) that speak of states,
//! transitions, history and events, and those of HFSM2 on orthogonal regions (by name). Where a row differs from the case, its name
//! says so, and the rule is the one that decides.

use crate::play::{ALONE, play};

/// SCXML's cases on the content of transitions and of `initial`, on data, on `invoke`, and on formats have no counterpart here.
/// A machine has no final states, so 372, 416, 417 and 570 (`done.state`) are one row.
#[test]
fn cases_of_scxml_on_parallel_states() {
    play(
        ALONE,
        r"
        # scxml_364_without_a_given_child_the_initial_ones_are_entered (rule 32)
        in A
        change Fight => A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter; done

        # scxml_364_413_576_differ_a_change_has_one_target_and_a_second_request_leads_to_another (rule 32)
        in A
        Fight.enter: change Fall; change Shoot
        change Fight => A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter
            Walk.exit; Walk -> Fall in Fight (change); Jump.enter; Fall.enter
            Ready.exit; Ready -> Shoot in Fight (change); Shoot.enter; Draw.enter; Hold.enter; done
        in Fall
        start => Fight.enter; Jump.enter; Fall.enter; Ready.enter

        # scxml_372_416_417_570_differ_the_state_around_asks_whether_its_regions_are_done (rule 32)
        in Fight
        Run.enter: send done
        Fight.done: change A
        start
        change Run => Walk.exit; Walk -> Run in Fight (change); Run.enter; Run.done; Ready.done; Fight.done
            Ready.exit; Run.exit; Fight.exit; Fight -> A (change); A.enter; done

        # scxml_387_579_without_a_history_the_initial_states_are_entered (rule 16)
        in A
        resume Ship => A.exit; A -> Ship (resume); Ship.enter; Sail.enter; Cook.enter; done

        # scxml_388_580_history_brings_back_what_was_active_in_all_regions_and_is_no_state (rule 16)
        in Ship
        start
        change Anchor; change Serve; change A
        resume Ship => A.exit; A -> Ship (resume); Ship.enter; Anchor.enter; Serve.enter; done
        active => Ship Anchor Serve

        # scxml_388_differs_history_is_deep (rule 16)
        in Ship
        start
        change Anchor; change A; change Ship
        active => Ship Sail Cook

        # scxml_403a_a_state_that_handles_an_event_keeps_it_from_those_around_it (rule 14)
        in Loose; handling Loose
        start
        send boo => Walk.boo; Loose.boo; Hold.boo; handled

        # scxml_403b_the_state_around_the_regions_gets_an_event_once (rule 32)
        in Fight
        Fight.boo: change A
        start
        send boo => Walk.boo; Ready.boo; Fight.boo; Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; not handled

        # scxml_403c_of_two_transitions_that_exclude_each_other_the_first_region_has_its_own (rule 32)
        in Fight
        Walk.boo: change A
        Ready.boo: change B
        start
        send boo => Walk.boo; Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; not handled
        in Fight
        Walk.boo: change Run
        Ready.boo: change Shoot
        start
        send boo => Walk.boo; Walk.exit; Walk -> Run in Fight (change); Run.enter
            Ready.boo; Ready.exit; Ready -> Shoot in Fight (change); Shoot.enter; Draw.enter; Hold.enter; Fight.boo; not handled

        # scxml_404_405_406_407_exits_in_reverse_order_then_the_transition_then_enters_in_order (rule 32)
        in Loose
        start
        change Fight => Hold.exit; Loose.exit; Shoot.exit; Walk.exit; Fight.exit; Fight -> Fight (change)
            Fight.enter; Walk.enter; Ready.enter; done

        # scxml_409_differs_states_count_as_active_until_all_of_them_have_exited (rule 5)
        in Fight
        Fight.exit: in Walk
        Walk.exit: in Ready
        start
        change A => Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; done

        # scxml_411_a_state_is_active_when_its_enter_runs_and_those_inside_are_not (rule 32)
        in A
        Fight.enter: active
        Walk.enter: active
        change Fight => A.exit; A -> Fight (change); Fight.enter; Fight; Walk.enter; Fight Walk; Ready.enter; done

        # scxml_419_differs_requests_and_messages_to_oneself_are_one_queue (rule 10)
        in Fight
        Run.enter: send boo; change Walk
        start
        change Run => Walk.exit; Walk -> Run in Fight (change); Run.enter; Run.boo; Ready.boo; Fight.boo
            Run.exit; Run -> Walk in Fight (change); Walk.enter; done

        # scxml_421_423_what_a_state_sends_itself_comes_before_the_next_event_and_events_that_no_state_handles_are_dropped (rule 24)
        in Fight
        Walk.boo: send bah
        start
        send boo; send buh => Walk.boo; Walk.bah; Ready.bah; Fight.bah; Ready.boo; Fight.boo; not handled
            Walk.buh; Ready.buh; Fight.buh; not handled

        # scxml_503_an_event_that_is_handled_without_a_target_leaves_no_state (rule 14)
        in Fight; handling Fight
        start
        send boo => Walk.boo; Ready.boo; Fight.boo; handled

        # scxml_504_533_differ_a_change_to_a_state_inside_leaves_only_its_region (rule 32)
        in Fight
        Fight.boo: change Run
        start
        send boo => Walk.boo; Ready.boo; Fight.boo; Walk.exit; Walk -> Run in Fight (change); Run.enter; not handled

        # scxml_505_a_change_to_a_state_inside_does_not_leave_the_state_around_it (rule 6)
        in Rise
        start
        change Fall => Rise.exit; Rise -> Fall in Fight (change); Fall.enter; done

        # scxml_506_a_change_to_the_state_itself_leaves_and_enters_it (rule 7)
        in Rise
        start
        change Jump => Rise.exit; Jump.exit; Rise -> Rise in Fight (change); Jump.enter; Rise.enter; done
        ",
    );
}

/// HFSM2 asks the guards of leaving from the outside inward and leaves the regions in their order; here both are the reverse.
#[test]
fn cases_of_hfsm2_on_orthogonal_regions() {
    play(
        ALONE,
        r"
        # hfsm2_orthogonal_root_all_regions_are_entered_in_their_order (rule 32)
        in Loose
        start => Fight.enter; Walk.enter; Shoot.enter; Loose.enter; Hold.enter
        active => Fight Walk Shoot Loose Hold

        # hfsm2_orthogonal_root_differs_a_start_asks_no_guards (rule 8)
        in Fight; guards
        start => Fight.enter; Walk.enter; Ready.enter

        # hfsm2_orthogonal_root_differs_regions_are_left_in_reverse_order (rule 32)
        in Loose
        start
        stop => Hold.exit; Loose.exit; Shoot.exit; Walk.exit; Fight.exit

        # hfsm2_resumable_o_all_guards_are_asked_before_anything_is_left_or_entered (rule 32)
        in A; guards
        change Fight => A.can_exit?; Fight.can_enter?; Walk.can_enter?; Ready.can_enter?
            A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter; done

        # hfsm2_resumable_o_differs_guards_of_leaving_are_asked_from_the_inside_outward (rule 8)
        in Fight; guards
        start
        change A => Ready.can_exit?; Walk.can_exit?; Fight.can_exit?; A.can_enter?
            Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; done

        # hfsm2_resumable_o_differs_what_was_left_is_resumed_only_where_this_is_requested (rule 16)
        in Ship
        start
        change Anchor; change A
        change Ship => A.exit; A -> Ship (change); Ship.enter; Sail.enter; Cook.enter; done
        change Anchor; change A
        resume Ship => A.exit; A -> Ship (resume); Ship.enter; Anchor.enter; Cook.enter; done

        # hfsm2_resumable_o_all_regions_are_updated_after_the_state_around_them (rule 32)
        in Loose
        start
        update => Fight.update; Walk.update; Shoot.update; Loose.update; Hold.update
        ",
    );
}
