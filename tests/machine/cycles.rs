//! The chapter "Requests": how many changes one callback may lead to, rule 13.

use crate::play::{EVERYWHERE, play};

#[test]
fn cycles_of_changes() {
    play(
        EVERYWHERE,
        r"
        # a_cycle_ends_after_exactly_sixty_four_changes (rules 13 and 23)
        // C -> A, then 63 more changes. The machine stays in the last target. C is not part of the cycle.
        in C
        C.update: change A
        A.enter: change B
        B.enter: change A
        update => C.update; C.exit; C -> A (change); A.enter
            31x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter; A.exit; A -> B (change); B.enter
        view => B, was A
        warnings =>
            ERROR demeanor: Elsa: change to A dropped in state B: one callback has led to 64 changes, most recently to [A, B]

        # sixty_four_changes_for_one_callback_are_no_cycle (rule 13)
        in A
        A.update: 64x change B
        update => A.update; A.exit; A -> B (change); B.enter; 63x B.exit, B -> B (change), B.enter
        warnings =>

        # the_sixty_fifth_change_and_all_behind_it_are_dropped (rule 13)
        in A
        A.update: 64x change B; change C; change D
        update => A.update; A.exit; A -> B (change); B.enter; 63x B.exit, B -> B (change), B.enter
        view => B, was B
        warnings =>
            ERROR demeanor: Elsa: change to C dropped in state B: one callback has led to 64 changes, most recently to [B]
        update => B.update

        # a_cycle_of_changes_now_ends_and_unwinds (rule 13)
        in A
        A.update: now B is refused
        A.enter: now B
        B.enter: now A
        update => A.update; 32x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter
            A -> B (change), abandoned in B; 31x B -> A (change), abandoned in A, A -> B (change), abandoned in B
        view => A, was B
        warnings =>
            ERROR demeanor: Elsa: change to B dropped in state A: one callback has led to 64 changes, most recently to [B, A]

        # refused_requests_are_not_counted (rule 13)
        in A; refusing B.can_enter
        A.update: 100x change B; 100x pop; change C
        update
        view => C, was A

        # each_callback_of_a_tick_has_a_count_of_its_own (rule 13)
        in Kitchen
        House.update: 64x change Hall
        Hall.update: 64x change Hall
        update => House.update; Kitchen.exit; Kitchen -> Hall (change); Hall.enter; 63x Hall.exit, Hall -> Hall (change), Hall.enter
            Hall.update; 64x Hall.exit, Hall -> Hall (change), Hall.enter

        # a_machine_goes_on_after_a_cycle (rule 13)
        in A
        A.update: change A
        A.enter, 70x: change A
        update => A.update; 64x A.exit, A -> A (change), A.enter
        update => A.update; 7x A.exit, A -> A (change), A.enter
        change B => A.exit; A -> B (change); B.enter; done
        ",
    );
}
