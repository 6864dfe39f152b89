//! The chapter "Staying": rule 38.

use crate::play::{EVERYWHERE, play};

#[test]
fn staying() {
    play(
        EVERYWHERE,
        r"
        # a_change_ends_where_an_enter_stays (rule 38)
        in A; completion
        Kitchen.enter: stay; note rest of Kitchen.enter
        A.update: change Stove
        update => A.update; A.exit; A -> Stove (change); House.enter; Kitchen.enter; rest of Kitchen.enter
            A -> Stove (change), stayed in Kitchen; complete: A -> Kitchen (change)
        view => House/Kitchen, was A
        update => House.update; Kitchen.update

        # a_change_from_outside_that_stays_is_done (rule 38)
        in A; completion
        House.enter: stay
        change Stove => A.exit; A -> Stove (change); House.enter; A -> Stove (change), stayed in House
            complete: A -> House (change); done

        # the_target_is_the_state_that_stays (rules 8 and 38)
        in A; target
        House.enter: target; stay; target; stay; target
        change Stove => A.exit [to Stove]; A -> Stove (change); House.enter [to Stove]; to Stove; to House; to House
            A -> Stove (change), stayed in House; done
        change A => House.exit [to A]; House -> A (change); A.enter [to A]; done

        # requests_of_an_enter_that_stays_are_carried_out_when_the_change_is_complete (rules 12 and 38)
        in A; completion
        House.enter: change B; stay
        change Stove => A.exit; A -> Stove (change); House.enter; A -> Stove (change), stayed in House
            complete: A -> House (change); House.exit; House -> B (change); B.enter; complete: House -> B (change); done

        # in_the_enter_of_the_target_nothing_is_left_to_end (rule 38)
        in A; completion
        B.enter: stay; requests
        Stove.enter: stay; requests
        A.update: change B
        update => A.update; A.exit; A -> B (change); B.enter; none waits; complete: A -> B (change)
        change Stove => B.exit; B -> Stove (change); House.enter; Kitchen.enter; Stove.enter; none waits
            complete: B -> Stove (change); done
        warnings =>

        # in_all_other_callbacks_stay_is_refused_with_a_warning (rules 23 and 38)
        in A; handling A
        A.update: stay
        A.hit: stay
        A.exit: stay
        update => A.update
        warnings => WARN demeanor: Elsa: stay refused in state A: the state is not being entered
        send hit => A.hit; handled
        warnings => WARN demeanor: Elsa: stay refused in state A: the state is not being entered
        change Stove => A.exit; A -> Stove (change); House.enter; Kitchen.enter; Stove.enter; done
        warnings => WARN demeanor: Elsa: stay refused in state A: the state is being left

        # a_handler_of_a_message_sent_in_an_enter_does_not_stay (rule 38)
        in A; handling House
        House.enter: hear hit is done
        House.hit: stay
        change Stove => A.exit; A -> Stove (change); House.enter; House.hit; Kitchen.enter; Stove.enter; done

        # a_change_now_that_is_refused_leaves_the_stay (rules 5 and 38)
        in A; refusing B.can_enter
        House.enter: stay; now B is refused
        change Stove => A.exit; A -> Stove (change); House.enter; House -> B (change), refused by B.can_enter
            A -> Stove (change), stayed in House; done

        # a_change_now_abandons_a_change_that_has_stayed_and_afterwards_nothing_stays (rules 5 and 38)
        in A; completion
        House.enter: stay; now B is done; stay
        change Stove => A.exit; A -> Stove (change); House.enter; House.exit; House -> B (change); B.enter
            complete: House -> B (change); A -> Stove (change), abandoned in House; not done
        warnings => WARN demeanor: Elsa: stay refused in state B: the state is not being entered

        # a_start_ends_where_an_enter_stays (rules 1 and 38)
        in Stove; completion
        House.enter: stay
        start => House.enter
        view => House
        warnings =>

        # a_push_and_a_pop_end_where_a_callback_stays (rules 15 and 38)
        in Stove; completion
        House.resume: stay
        Dungeon.enter: stay
        start => House.enter; Kitchen.enter; Stove.enter
        push Cell => Stove.suspend; Kitchen.suspend; House.suspend; Stove -> Cell (push); Dungeon.enter
            Stove -> Cell (push), stayed in Dungeon; complete: Stove -> Dungeon (push); done
        pop => Dungeon.exit; Dungeon -> Stove (pop); House.resume; Dungeon -> Stove (pop), stayed in House
            complete: Dungeon -> House (pop); done
        view => House, was Dungeon

        # a_panic_in_an_enter_that_has_stayed_leaves_the_owner_there (rules 22 and 38)
        in A; completion; panicking House.enter
        House.enter: stay
        A.update: change Stove
        panicking update => A.update; A.exit; A -> Stove (change); House.enter
        view => House, was A
        update => House.update

        # an_abandoned_change_is_told_when_the_one_in_its_place_is_complete (rules 5 and 38)
        in A; open; completion
        Kitchen.enter: now B is done; note rest of Kitchen.enter
        change Kitchen => A.exit; A -> Stove (change); House.enter; Kitchen.enter
            Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; complete: Kitchen -> B (change)
            rest of Kitchen.enter; A -> Stove (change), abandoned in Kitchen; not done

        # changes_that_abandon_each_other_are_told_from_the_inside_out (rules 5 and 38)
        in A
        B.enter: now C is refused
        C.enter: now D is done
        change B => A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; C.exit; C -> D (change); D.enter
            B -> C (change), abandoned in C; A -> B (change), abandoned in B; not done
        ",
    );
}
