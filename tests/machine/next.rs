//! The chapter "Changes in the next tick": rule 36.

use crate::play::{EVERYWHERE, play};

#[test]
fn changes_in_the_next_tick() {
    play(
        EVERYWHERE,
        r"
        # a_change_in_the_next_tick_is_made_before_anything_is_updated (rule 36)
        in A; global Always
        A.update: change-next B; note rest of A.update; requests
        update => Always.update; A.update; rest of A.update; some wait
        view => A
        update => A.exit; A -> B (change); B.enter; Always.update; B.update
        update => Always.update; B.update

        # of_several_changes_in_the_next_tick_the_last_one_counts (rule 36)
        in A
        A.update: change-next B; change-next C; change-next D
        update => A.update
        update => A.exit; A -> D (change); D.enter; D.update

        # a_change_asked_for_between_the_ticks_counts_as_well (rule 36)
        in A
        A.update: change-next B
        update => A.update
        change-next C => done
        change-next D => done
        update => A.exit; A -> D (change); D.enter; D.update
        update => D.update

        # a_change_in_the_next_tick_comes_before_what_is_due (rule 36)
        in A; guards
        A.enter: after 1 change C
        A.update: change-next B
        start => A.enter
        update => A.update
        advance 2
        update => A.can_exit?; B.can_enter?; A.exit; A -> B (change); B.enter; B.update

        # a_change_in_the_next_tick_goes_before_a_timer_of_the_machine (rule 36)
        in A
        after 1 change C
        A.update: change-next B
        update => A.update
        advance 2
        update => A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; C.update

        # any_change_drops_a_change_in_the_next_tick (rule 36)
        in A
        A.update, 1x: change-next B; change C
        update => A.update; A.exit; A -> C (change); C.enter
        update => C.update
        with change-next D
        change A => C.exit; C -> A (change); A.enter; done
        update => A.update

        # a_change_asked_for_behind_a_change_is_dropped_with_it (rule 36)
        in A
        A.update: change B; change-next C
        update => A.update; A.exit; A -> B (change); B.enter
        update => B.update

        # a_change_behind_a_change_within_the_call_is_made (rule 36)
        in A
        A.update: now B is done; change-next C
        update => A.update; A.exit; A -> B (change); B.enter
        update => B.exit; B -> C (change); C.enter; C.update

        # a_new_state_asks_for_its_next_in_enter (rule 36)
        in A
        A.update: change B
        B.enter: change-next C
        update => A.update; A.exit; A -> B (change); B.enter
        update => B.exit; B -> C (change); C.enter; C.update

        # a_change_of_a_child_drops_what_its_parent_has_asked_for (rule 36)
        in Stove
        House.update: change-next A
        Stove.update: change Table
        update => House.update; Kitchen.update; Stove.update; Stove.exit; Stove -> Table (change); Table.enter
        view => House/Kitchen/Table, was Stove
        update => House.update; Kitchen.update; Table.update
        update => Table.exit; Kitchen.exit; House.exit; Table -> A (change); A.enter; A.update

        # a_push_keeps_a_change_for_the_path_that_asked (rules 15 and 36)
        in A
        A.update: change-next B; push C
        update => A.update; A.suspend; A -> C (push); C.enter
        2x update => C.update; C.update
        pop => C.exit; C -> A (pop); A.resume; done
        update => A.exit; A -> B (change); B.enter; B.update

        # behind_a_push_a_change_is_kept_too_and_the_last_counts (rules 15 and 36)
        in A
        A.update: change-next D; push C; change-next B
        update => A.update; A.suspend; A -> C (push); C.enter
        update => C.update
        pop => C.exit; C -> A (pop); A.resume; done
        update => A.exit; A -> B (change); B.enter; B.update
        update => B.update

        # a_change_asked_for_while_a_path_is_resumed_counts (rules 15 and 36)
        in Stove; handling House
        change-next A => done
        push C => Stove.suspend; Kitchen.suspend; House.suspend; Stove -> C (push); C.enter; done
        House.resume: hear hit is done
        House.hit: change-next D
        pop => C.exit; C -> Stove (pop); House.resume; House.hit; Kitchen.resume; Stove.resume; done
        update => Stove.exit; Kitchen.exit; House.exit; Stove -> D (change); D.enter; D.update
        update => D.update

        # a_pop_drops_what_the_state_above_has_asked_for (rules 15 and 36)
        in A
        push C => A.suspend; A -> C (push); C.enter; done
        C.update: change-next B
        update => C.update
        pop => C.exit; C -> A (pop); A.resume; done
        update => A.update

        # a_change_in_the_next_tick_can_be_canceled (rules 36 and 39)
        in A
        A.update: change-next B; cancel to B
        update => A.update; 1 canceled
        update => A.update; 1 canceled
        change-next C => done
        with cancel to D; cancel to C => 0 canceled; 1 canceled
        update => A.update; 1 canceled

        # a_refused_change_in_the_next_tick_is_used_up (rules 8 and 36)
        in A; refusing B.can_enter
        A.update, 1x: change-next B
        update => A.update
        update => A -> B (change), refused by B.can_enter; A.update
        update => A.update

        # a_change_asked_for_the_next_tick_waits_for_its_turn_in_the_queue (rules 10 and 36)
        in A; handling A
        A.update: change-next B; requests; hear-ahead hit is done; requests; hear hit is done; requests
        A.hit: requests
        update => A.update; some wait; A.hit; some wait; none waits; A.hit; none waits; none waits
        update => A.exit; A -> B (change); B.enter; B.update

        # a_change_in_the_next_tick_wakes_a_sleeper_even_if_it_is_refused (rules 26 and 36)
        in A; refusing B.can_enter
        A.update: sleep; change-next B
        update => A.update
        update => A -> B (change), refused by B.can_enter; A.update

        # the_global_wakes_a_sleeper_with_a_change_in_the_next_tick (rules 26 and 36)
        in A; global Always
        A.update: sleep
        Always.update: change-next B
        update => Always.update; A.update
        update => A.exit; A -> B (change); B.enter; Always.update; B.update
        ",
    );
}
