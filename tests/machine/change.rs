//! The chapter "Change": the order of a change, and changes to the current and to the previous state (rules 5, 7 and 9).

use crate::captured_log::log_lines;
use crate::play::{EVERYWHERE, play};
use crate::trace::Stage;
use crate::trace::places::{A, B};

#[test]
fn changes() {
    play(
        EVERYWHERE,
        r"
        # a_change_exits_then_swaps_then_tells_the_owner_then_enters (rule 5)
        in A; view
        change B => A.exit (A, was A); A -> B (change); B.enter (B, was A); done
        view => B, was A
        change C => B.exit (B, was B); B -> C (change); C.enter (C, was B); done
        view => C, was B

        # during_each_exit_of_a_path_current_and_previous_are_the_state_left (rule 5)
        in Stove; open; view
        change A => Stove.exit (House/Kitchen/Stove, was Stove); Kitchen.exit (House/Kitchen/Stove, was Stove)
            House.exit (House/Kitchen/Stove, was Stove); Stove -> A (change); A.enter (A, was Stove); done

        # during_each_enter_of_a_path_current_is_the_state_being_entered (rule 5)
        in A; open; view
        change Table => A.exit (A, was A); A -> Table (change)
            House.enter (House, was A); Kitchen.enter (House/Kitchen, was A); Table.enter (House/Kitchen/Table, was A)
            done

        # a_change_now_in_an_ancestors_enter_abandons_the_rest_of_the_change (rule 5)
        in A; open; view
        Kitchen.enter: now B is done; note rest of Kitchen.enter
        with change Stove =>
            A.exit (A, was A); A -> Stove (change); House.enter (House, was A); Kitchen.enter (House/Kitchen, was A)
            Kitchen.exit (House/Kitchen, was Kitchen); House.exit (House/Kitchen, was Kitchen); Kitchen -> B (change)
            B.enter (B, was Kitchen); rest of Kitchen.enter; A -> Stove (change), abandoned in Kitchen
        view => B, was Kitchen

        # a_change_now_to_another_child_abandons_the_way_to_the_first (rule 5)
        // The same holds if the new target is inside the ancestor that is being entered.
        in A; open
        House.enter: now Hall is done
        with change Stove => A.exit; A -> Stove (change); House.enter; House -> Hall (change); Hall.enter
            A -> Stove (change), abandoned in House
        view => House/Hall, was House

        # a_change_now_that_is_refused_abandons_nothing (rules 5 and 8)
        in A; open; refusing B.can_enter
        House.enter: now B is refused
        change Table => A.exit; A -> Table (change); House.enter
            House -> B (change), refused by B.can_enter; Kitchen.enter; Table.enter; done
        view => House/Kitchen/Table, was A

        # an_earlier_request_that_a_change_now_carries_out_abandons_the_rest_as_well (rules 5 and 11)
        in A; open; refusing C.can_enter
        House.enter: change B; now C is refused
        with change Table => A.exit; A -> Table (change); House.enter
            House.exit; House -> B (change); B.enter
            B -> C (change), refused by C.can_enter; A -> Table (change), abandoned in House
        view => B, was House

        # the_owner_is_told_that_a_change_is_complete_after_its_last_enter (rule 5)
        in A; open; completion
        change Table =>
            A.exit; A -> Table (change); House.enter; Kitchen.enter; Table.enter; complete: A -> Table (change); done
        push B =>
            Table.suspend; Kitchen.suspend; House.suspend; Table -> B (push); B.enter; complete: Table -> B (push); done
        pop => B.exit; B -> Table (pop); House.resume; Kitchen.resume; Table.resume; complete: B -> Table (pop); done

        # a_pop_to_no_state_is_complete_once_all_is_left (rule 5)
        in no state; completion
        push A
        pop => A.exit; A -> (no state) (pop); complete: A -> (no state) (pop); done

        # a_change_is_complete_before_what_its_enters_asked_for (rules 5 and 12)
        in A; open; completion
        House.enter: change B
        Kitchen.enter: change C
        change Table =>
            A.exit; A -> Table (change); House.enter; Kitchen.enter; Table.enter; complete: A -> Table (change)
            Table.exit; Kitchen.exit; House.exit; Table -> B (change); B.enter; complete: Table -> B (change)
            B.exit; B -> C (change); C.enter; complete: B -> C (change); done

        # a_change_that_a_change_now_cuts_short_is_never_complete (rule 5)
        // The same holds if all its states had been entered.
        in A; open; completion
        Kitchen.enter: now B
        change Kitchen => A.exit; A -> Stove (change); House.enter; Kitchen.enter
            Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; complete: Kitchen -> B (change)
            A -> Stove (change), abandoned in Kitchen; not done
        in A; open; completion
        B.enter: now C
        change B => A.exit; A -> B (change); B.enter; B.exit; B -> C (change); C.enter; complete: B -> C (change)
            A -> B (change), abandoned in B; not done

        # a_refused_change_is_never_complete (rules 5 and 8)
        in A; completion; refusing B.can_enter
        change B => A -> B (change), refused by B.can_enter; not done

        # a_change_to_the_current_state_leaves_and_enters_it_and_previous_becomes_it (rule 7)
        in A; view
        change B
        change B => B.exit (B, was B); B -> B (change); B.enter (B, was B); done
        view => B, was B

        # a_change_to_the_current_state_leaves_its_ancestors_alone (rules 6 and 7)
        in Stove; open
        change Stove => Stove.exit; Stove -> Stove (change); Stove.enter; done

        # two_reverts_in_a_row_toggle (rule 9)
        in A
        change B
        revert => B.exit; B -> A (revert); A.enter; done
        view => A, was B
        revert => A.exit; A -> B (revert); B.enter; done
        view => B, was A

        # a_revert_asks_the_guards_of_any_change (rules 8 and 9)
        in A; guards; refusing A.can_enter
        change B
        revert => B.can_exit?; A.can_enter?; B -> A (revert), refused by A.can_enter; not done
        view => B, was A

        # a_revert_without_a_previous_state_is_refused_with_a_warning (rules 9 and 23)
        in A; guards
        revert => not done
        log => WARN demeanor: Elsa: revert refused in state A: there is no previous state
        view => A
        ",
    );
}

/// Rules 5 and 23.
#[test]
fn the_log_line_comes_between_the_swap_and_the_first_enter() {
    let mut stage = Stage::new(&A)
        .when("A.exit", |_, _, _| log::info!("leaves home"))
        .when("B.enter", |_, fsm, _| log::info!("in {}", fsm.current().expect("a state")));
    let lines = log_lines(|| drop(stage.change_state(&B)));
    assert_eq!(
        lines,
        ["INFO machine::change: leaves home", "DEBUG demeanor: Elsa: A -> B (change)", "INFO machine::change: in B"]
    );
}
