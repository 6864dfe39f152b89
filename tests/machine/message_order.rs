//! The chapter "Messages": rule 14.

use crate::play::{EVERYWHERE, play};

#[test]
fn the_order_of_a_message() {
    play(
        EVERYWHERE,
        r"
        # a_message_is_offered_to_current_then_outward_then_to_the_global (rule 14)
        in Stove; global Always
        send stew => Stove.stew; Kitchen.stew; House.stew; Always.stew; not handled

        # a_message_goes_no_further_than_the_state_that_handles_it (rule 14)
        in Stove; global Always; handling Always
        send stew => Stove.stew; Kitchen.stew; House.stew; Always.stew; handled
        handling Kitchen
        send stew => Stove.stew; Kitchen.stew; handled
        handling Stove
        send stew => Stove.stew; handled

        # a_handlers_requests_are_carried_out_when_it_returns_true (rule 14)
        in Stove; handling Stove
        Stove.stew: change Table; note rest of Stove.stew
        send stew => Stove.stew; rest of Stove.stew; Stove.exit; Stove -> Table (change); Table.enter; handled

        # a_handlers_requests_are_carried_out_when_it_returns_false_before_the_next_is_offered_it (rule 14)
        in Stove
        Stove.stew: change Table
        send stew => Stove.stew; Stove.exit; Stove -> Table (change); Table.enter; Kitchen.stew; House.stew; not handled

        # states_left_meanwhile_are_not_offered_the_message (rule 14)
        in Stove; global Always
        Stove.stew: change A
        send stew => Stove.stew
            Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter; Always.stew; not handled

        # ancestors_that_stay_active_are_still_offered_the_message (rule 14)
        in Stove
        Stove.stew: change Hall
        send stew => Stove.stew; Stove.exit; Kitchen.exit; Stove -> Hall (change); Hall.enter; House.stew; not handled

        # a_state_that_was_left_and_entered_again_is_not_offered_the_message (rule 14)
        in Stove
        Stove.stew: change Hall; change Stove
        send stew => Stove.stew
            Stove.exit; Kitchen.exit; Stove -> Hall (change); Hall.enter
            Hall.exit; Hall -> Stove (change); Kitchen.enter; Stove.enter; House.stew; not handled

        # a_change_to_itself_leaves_the_ancestors_their_turn (rules 7 and 14)
        in Table
        Table.stew: change Table
        send stew => Table.stew; Table.exit; Table -> Table (change); Table.enter; Kitchen.stew; House.stew; not handled

        # a_change_now_in_a_handler_counts_as_well (rules 11 and 14)
        in Stove
        Stove.stew: now B; note rest of Stove.stew
        send stew => Stove.stew
            Stove.exit; Kitchen.exit; House.exit; Stove -> B (change); B.enter; rest of Stove.stew; not handled

        # a_suspended_path_is_not_offered_the_rest_of_a_message (rules 14 and 15)
        in Table
        Table.stew: push A
        send stew => Table.stew; Table.suspend; Kitchen.suspend; House.suspend; Table -> A (push); A.enter; not handled
        // It is not offered the message either when it is resumed before its turn.
        in Table
        Table.stew: push A; pop
        send stew => Table.stew; Table.suspend; Kitchen.suspend; House.suspend; Table -> A (push); A.enter
            A.exit; A -> Table (pop); House.resume; Kitchen.resume; Table.resume; not handled
        view => House/Kitchen/Table, was A

        # a_forced_change_and_an_ensured_one_take_the_states_left_their_turn (rules 14 and 24)
        in Stove
        Stove.stew: force Hall
        send stew => Stove.stew; Stove.exit; Kitchen.exit; Stove -> Hall (force); Hall.enter; House.stew; not handled
        in Stove
        Stove.stew: ensure Kitchen
        send stew => Stove.stew; Kitchen.stew; House.stew; not handled

        # a_message_to_oneself_in_a_handler_comes_before_the_next_is_offered_the_first (rules 14 and 24)
        in Table
        Table.stew: send salt
        send stew => Table.stew; Table.salt; Kitchen.salt; House.salt; Kitchen.stew; House.stew; not handled

        # a_refused_change_takes_no_state_its_turn (rules 8 and 14)
        in Table; refusing Kitchen.can_exit
        Table.stew: change A
        send stew => Table.stew; Table -> A (change), refused by Kitchen.can_exit; Kitchen.stew; House.stew; not handled

        # a_change_that_the_global_asks_for_in_a_message_is_made (rule 14)
        in A; global Always; handling Always
        Always.stew: change B
        send stew => A.stew; Always.stew; A.exit; A -> B (change); B.enter; handled
        ",
    );
}
