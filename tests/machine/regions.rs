//! The chapter "Regions": rule 32.

use crate::play::{EVERYWHERE, play};

#[test]
fn regions_are_opened_and_closed() {
    play(
        EVERYWHERE,
        r"
        # regions_are_opened_in_their_order_after_the_enter_of_their_state (rule 32)
        in A
        start => A.enter
        change Fight => A.exit; A -> Fight (change); Fight.enter; Walk.enter; Ready.enter; done
        active; view => Fight Walk Ready; Fight, was A
        in Fight
        start => Fight.enter; Walk.enter; Ready.enter
        active => Fight Walk Ready

        # regions_are_closed_in_reverse_order_before_the_exit_of_their_state (rule 32)
        in Fight
        start
        change A => Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; done
        active; view => A; A, was Fight
        in Fight
        start
        stop => Ready.exit; Walk.exit; Fight.exit
        active; view => ; nowhere, was Fight

        # a_target_in_a_region_opens_its_region_and_the_others_on_their_initial_states (rule 32)
        in A
        change Fall => A.exit; A -> Fight (change); Fight.enter; Jump.enter; Fall.enter; Ready.enter; done
        active => Fight Jump Fall Ready
        in Fall
        start => Fight.enter; Jump.enter; Fall.enter; Ready.enter

        # a_change_in_a_region_leaves_the_other_regions_alone (rule 32)
        in Fight
        start
        change Run => Walk.exit; Walk -> Run in Fight (change); Run.enter; done
        change Jump => Run.exit; Run -> Rise in Fight (change); Jump.enter; Rise.enter; done
        change Fall => Rise.exit; Rise -> Fall in Fight (change); Fall.enter; done
        active; view => Fight Jump Fall Ready; Fight

        # regions_lie_in_regions (rule 32)
        in Fight
        start
        change Shoot => Ready.exit; Ready -> Shoot in Fight (change); Shoot.enter; Draw.enter; Hold.enter; done
        active => Fight Walk Shoot Draw Hold
        change Loose => Draw.exit; Draw -> Loose in Shoot (change); Loose.enter; done
        change Ready => Hold.exit; Loose.exit; Shoot.exit; Shoot -> Ready in Fight (change); Ready.enter; done
        change Loose => Ready.exit; Ready -> Shoot in Fight (change); Shoot.enter; Loose.enter; Hold.enter; done
        change A => Hold.exit; Loose.exit; Shoot.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; done

        # a_change_to_a_state_with_open_regions_leaves_and_enters_it (rule 32)
        in Fight
        start
        change Run
        change Fight => Ready.exit; Run.exit; Fight.exit; Fight -> Fight (change)
            Fight.enter; Walk.enter; Ready.enter; done

        # guards_of_regions_are_asked_in_the_order_of_leaving_and_entering (rule 32)
        in Fight; guards
        start
        change A => Ready.can_exit?; Walk.can_exit?; Fight.can_exit?; A.can_enter?
            Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; done
        change Loose => A.can_exit?; Fight.can_enter?; Walk.can_enter?; Shoot.can_enter?; Loose.can_enter?; Hold.can_enter?
            A.exit; A -> Fight (change); Fight.enter; Walk.enter; Shoot.enter; Loose.enter; Hold.enter; done
        in Fight; refusing Walk.can_exit
        start
        change A => Fight -> A (change), refused by Walk.can_exit; not done
        change Run => Walk -> Run in Fight (change), refused by Walk.can_exit; not done
        force A => Ready.exit; Walk.exit; Fight.exit; Fight -> A (force); A.enter; done
        in A; refusing Ready.can_enter
        change Fight => A -> Fight (change), refused by Ready.can_enter; not done
        active => A

        # mistakes_in_regions_are_refused_with_a_line_that_says_which (rule 32)
        in A
        change Both; change Stray; change Mixed; change Beyond => not done; not done; not done; not done
        log => WARN demeanor: Elsa: change to Both refused in state A: Both has an `initial` state and `regions`
            WARN demeanor: Elsa: change to Stray refused in state A: Walk, which begins region 0 of Stray, has another parent or another `region`
            WARN demeanor: Elsa: change to Mixed refused in state A: OfMixed, which begins region 1 of Mixed, has another parent or another `region`
            WARN demeanor: Elsa: change to Beyond refused in state A: the `region` of Beyond is 2, but Fight has 2 regions
        in Fight
        start; change Beyond => Fight.enter; Walk.enter; Ready.enter; not done

        # stay_opens_no_regions (rule 32)
        in A
        Fight.enter: stay
        change Fight => A.exit; A -> Fight (change); Fight.enter; A -> Fight (change), stayed in Fight; done
        active => Fight
        change Run => (no state) -> Run in Fight (change); Run.enter; done
        active => Fight Run
        in A
        Fight.resume: stay
        change Fight; push B
        pop => B.exit; B -> Fight (pop); Fight.resume; B -> Fight (pop), stayed in Fight; done
        active => Fight

        # stay_in_one_region_leaves_the_target_to_the_others (rule 32)
        in A; target
        Jump.enter: stay
        change Jump => A.exit [to Fight]; A -> Fight (change); Fight.enter [to Fight]; Jump.enter [to Fight]
            Ready.enter [to Fight]; done
        active => Fight Jump Ready
        ",
    );
}

#[test]
fn regions_live() {
    play(
        EVERYWHERE,
        r"
        # regions_are_updated_after_their_state_in_their_order (rule 32)
        in Fight; global Always; end
        start
        update => Always.update; Fight.update; Walk.update; Ready.update; end in Fight
        change Loose
        update => Always.update; Fight.update; Walk.update; Shoot.update; Loose.update; Hold.update; end in Fight

        # regions_are_updated_beside_a_global_state_and_a_timer (rule 32)
        in Fight; global Always
        Fight.enter: after 9 change A
        start
        advance 1; update => Always.update; Fight.update; Walk.update; Ready.update

        # a_region_that_an_earlier_one_has_changed_is_updated_in_its_new_state (rule 32)
        in Fight
        Walk.update: change Shoot
        start
        update => Fight.update; Walk.update; Ready.exit; Ready -> Shoot in Fight (change); Shoot.enter; Draw.enter; Hold.enter
            Shoot.update; Draw.update; Hold.update
        in Fight
        Ready.update: change Run
        start
        update => Fight.update; Walk.update; Ready.update; Walk.exit; Walk -> Run in Fight (change); Run.enter

        # a_change_that_leaves_the_state_ends_the_ticks_of_its_regions (rule 32)
        in Fight
        Walk.update: change A
        start
        update => Fight.update; Walk.update; Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter
        in Fight
        Walk.update: now Fight; note rest
        start
        update => Fight.update; Walk.update; Ready.exit; Walk.exit; Fight.exit; Fight -> Fight (change)
            Fight.enter; Walk.enter; Ready.enter; rest
        active => Fight Walk Ready

        # regions_are_updated_while_a_timer_of_the_machine_runs (rule 32)
        in Fight
        Fight.enter: after 9 send boo
        start
        2x update => Fight.update; Walk.update; Ready.update; Fight.update; Walk.update; Ready.update

        # a_state_that_changes_itself_has_its_regions_updated_in_the_next_tick (rule 32)
        in Fight
        Fight.update, 1x: change Fight
        start
        update => Fight.update; Ready.exit; Walk.exit; Fight.exit; Fight -> Fight (change); Fight.enter; Walk.enter; Ready.enter
        in Fight
        Fight.update, 1x: change Run
        start
        update => Fight.update; Walk.exit; Walk -> Run in Fight (change); Run.enter; Run.update; Ready.update

        # a_message_is_offered_to_each_region_then_outward_if_none_has_handled_it (rule 32)
        in Loose; global Always
        start
        send boo => Walk.boo; Loose.boo; Hold.boo; Shoot.boo; Fight.boo; Always.boo; not handled
        in Loose; global Always; handling Walk
        start
        send boo => Walk.boo; Loose.boo; Hold.boo; Shoot.boo; handled
        in Loose; global Always; handling Loose
        start
        send boo => Walk.boo; Loose.boo; Hold.boo; handled
        in Fight
        Walk.boo: change A
        start
        send boo => Walk.boo; Ready.exit; Walk.exit; Fight.exit; Fight -> A (change); A.enter; not handled
        in Fight
        Fight.update: send boo
        Walk.boo: send bah
        start
        update => Fight.update; Walk.boo; Walk.bah; Ready.bah; Fight.bah; Ready.boo; Fight.boo; Walk.update; Ready.update

        # each_region_has_its_own_previous_state_and_stack (rule 32)
        in Fight
        Run.boo: revert
        Ready.boo: push Shoot
        Shoot.bah: pop
        start
        change Run
        send boo => Run.boo; Run.exit; Run -> Walk in Fight (revert); Walk.enter
            Ready.boo; Ready.suspend; Ready -> Shoot in Fight (push); Shoot.enter; Draw.enter; Hold.enter; Fight.boo; not handled
        active => Fight Walk Shoot Draw Hold
        send bah => Walk.bah; Draw.bah; Hold.bah; Shoot.bah; Hold.exit; Draw.exit; Shoot.exit; Shoot -> Ready in Fight (pop)
            Ready.resume; Fight.bah; not handled

        # from_outside_and_in_the_composite_the_machine_has_previous_state_and_stack (rule 32)
        in A
        change Fight
        change Run
        push B => Ready.suspend; Run.suspend; Fight.suspend; Fight -> B (push); B.enter; done
        pop => B.exit; B -> Fight (pop); Fight.resume; Run.resume; Ready.resume; done
        active; view => Fight Run Ready; Fight, was B
        revert => Ready.exit; Run.exit; Fight.exit; Fight -> B (revert); B.enter; done

        # a_push_in_a_region_of_a_state_that_lies_elsewhere_is_refused_with_a_warning (rule 32)
        in Fight
        Walk.update: push A
        start
        update => Fight.update; Walk.update; Ready.update
        log => WARN demeanor: Elsa: push to A refused in state Walk: it lies outside of the region in which it was requested

        # history_brings_back_what_was_active_in_every_region (rule 32)
        in Ship
        start
        change Anchor; change Serve; change A
        resume Ship => A.exit; A -> Ship (resume); Ship.enter; Anchor.enter; Serve.enter; done
        resume Ship => Serve.exit; Anchor.exit; Ship.exit; Ship -> Ship (resume); Ship.enter; Anchor.enter; Serve.enter; done
        change A; change Ship
        active => Ship Sail Cook

        # each_region_waits_and_sleeps_by_itself (rule 32)
        in Fight
        Walk.enter: after 2 change Run
        Ready.enter: sleep
        start
        update => Fight.update; Walk.update
        advance 1; update => Fight.update; Walk.update
        advance 1; update => Fight.update; Walk.exit; Walk -> Run in Fight (change); Run.enter; Run.update
        times Fight Run Ready => 2 0 2
        send boo => Run.boo; Ready.boo; Fight.boo; not handled
        handling Ready
        send boo => Run.boo; Ready.boo; handled
        update => Fight.update; Run.update; Ready.update

        # a_callback_that_panics_does_not_fall_asleep_with_a_region_later (rules 22, 26 and 32)
        in Fight; panicking Fight.update
        Fight.update, 1x: sleep
        Walk.update: sleep
        start
        panicking update => Fight.update
        update; update => Fight.update; Walk.update; Ready.update; Fight.update; Ready.update
        in Fight; panicking Ready.exit
        Fight.update, 1x: change A; sleep
        Walk.update: sleep
        start
        panicking update => Fight.update; Ready.exit
        update; update => Fight.update; Walk.update; Ready.update; Fight.update; Ready.update

        # a_machine_is_asleep_when_all_its_regions_are (rule 32)
        in Fight
        Fight.update: sleep
        Walk.update: sleep
        Ready.update: sleep 3
        start
        update => Fight.update; Walk.update; Ready.update
        update; asleep; next => ; yes; at 2.999996
        wake => done
        sleep; asleep => yes
        change Run; asleep => Walk.exit; Walk -> Run in Fight (change); Run.enter; done; no
        ",
    );
}
