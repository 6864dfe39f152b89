//! The chapter "Requests": messages that a state sends to its own machine, rule 24.

use crate::play::{EVERYWHERE, play};

#[test]
fn messages_to_oneself() {
    play(
        EVERYWHERE,
        r"
        # a_message_to_oneself_is_offered_when_its_turn_comes (rule 24)
        in Kitchen; handling Kitchen; handling House
        Kitchen.update: send hit; change Hall; send hit; note rest of Kitchen.update
        update => House.update; Kitchen.update; rest of Kitchen.update
            Kitchen.hit
            Kitchen.exit; Kitchen -> Hall (change); Hall.enter; Hall.hit; House.hit

        # the_requests_behind_a_message_to_oneself_wait_until_it_is_handled_or_declined_by_all (rules 10, 14 and 24)
        in Kitchen
        Kitchen.update: send hit; change Hall
        update => House.update; Kitchen.update
            Kitchen.hit; House.hit
            Kitchen.exit; Kitchen -> Hall (change); Hall.enter

        # messages_to_oneself_that_nobody_handles_are_offered_in_the_order_in_which_they_were_sent (rules 10 and 24)
        in Kitchen
        Kitchen.update: send one; send two; send three; change A
        update => House.update; Kitchen.update
            Kitchen.one; House.one; Kitchen.two; House.two; Kitchen.three; House.three
            Kitchen.exit; House.exit; Kitchen -> A (change); A.enter

        # the_requests_of_a_state_that_declines_a_message_come_before_the_next_offer_and_before_what_waits (rule 24)
        in Kitchen
        Kitchen.update: send one; send two
        Kitchen.one: send three; change Hall
        update => House.update; Kitchen.update
            Kitchen.one
            Kitchen.three; House.three
            Kitchen.exit; Kitchen -> Hall (change); Hall.enter
            House.one; Hall.two; House.two

        # the_requests_of_the_last_state_that_is_offered_a_message_join_the_line (rules 10 and 24)
        in Kitchen
        Kitchen.update: send one; send two
        House.one: send three
        update => House.update; Kitchen.update
            Kitchen.one; House.one; Kitchen.two; House.two; Kitchen.three; House.three

        # what_waits_behind_a_message_that_is_being_offered_can_be_withdrawn_and_is_seen (rules 24 and 37)
        in Kitchen
        Kitchen.update: send one; change A
        Kitchen.one: requests; clear; requests
        update => House.update; Kitchen.update; Kitchen.one; some wait; none waits; House.one

        # what_a_handler_of_a_message_to_oneself_asks_for_joins_the_line (rules 10 and 24)
        // The requests of its handler are carried out before the requests after the message.
        in A; handling A
        A.update: send hit; change B
        A.hit: change C
        update => A.update; A.hit; A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter

        # a_message_sent_now_is_offered_inside_the_call (rule 24)
        in Kitchen; handling House
        Kitchen.update: hear hit is done; note rest of Kitchen.update
        update => House.update; Kitchen.update; Kitchen.hit; House.hit; rest of Kitchen.update
        in A
        A.update: hear hit is refused
        update => A.update; A.hit

        # a_message_sent_now_is_offered_after_the_requests_made_before_it (rules 11 and 24)
        in A; handling B
        A.update: change B; hear hit is done; in C; note rest of A.update
        B.hit: change C
        update => A.update; A.exit; A -> B (change); B.enter; B.hit; B.exit; B -> C (change); C.enter; rest of A.update

        # a_message_sent_now_in_exit_is_refused_with_a_warning (rules 12 and 24)
        in A; handling A
        A.exit: hear hit is refused
        change B => A.exit; A -> B (change); B.enter; done
        log => WARN demeanor: Elsa: message to oneself refused in state A: the state is being left
            DEBUG demeanor: Elsa: A -> B (change)

        # messages_to_oneself_count_toward_the_limit (rules 13 and 24)
        in A
        limit 64
        A.hit: send hit
        with send hit => 64x A.hit
        log =>
            ERROR demeanor: Elsa: message to oneself dropped in state A: one callback has led to 64 changes and messages to itself, most recently: message in state A
        send hit => 65x A.hit; not handled

        # a_cycle_of_messages_sent_now_ends_and_unwinds (rules 13 and 24)
        in A
        limit 64
        A.hit: hear hit
        with hear hit => 64x A.hit
        log =>
            ERROR demeanor: Elsa: message to oneself dropped in state A: one callback has led to 64 changes and messages to itself, most recently: message in state A

        # a_cycle_of_changes_and_messages_ends_at_the_limit_of_both_together (rules 13 and 24)
        in A; handling A
        limit 64
        A.enter: send hit
        A.hit: change A
        with change A => 32x A.exit, A -> A (change), A.enter, A.hit
        warnings =>
            ERROR demeanor: Elsa: change to A dropped in state A: one callback has led to 64 changes and messages to itself, most recently: change to A, message in state A

        # a_message_within_a_message_leaves_the_outer_one_to_who_stayed (rules 14 and 24)
        // A state that is left during a nested message is not offered the outer message.
        in Kitchen
        Kitchen.hit, 1x: hear push; note rest of Kitchen.hit
        Kitchen.push: change A
        send hit => Kitchen.hit; Kitchen.push
            Kitchen.exit; House.exit; Kitchen -> A (change); A.enter; rest of Kitchen.hit; not handled

        # a_message_to_oneself_reaches_the_global_of_a_machine_in_no_state (rule 24)
        in no state; global Always; handling Always
        Always.update: send hit; hear hit is done
        update => Always.update; Always.hit; Always.hit
        ",
    );
}
