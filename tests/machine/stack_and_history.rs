//! The chapter "Stack and history": rules 15 and 16.

use std::sync::Arc;

use crate::play::{EVERYWHERE, play};
use crate::trace::places::{A, B, CELL, DUNGEON, GATE};
use crate::trace::{Actor, Place, Stage};
use demeanor::{Fsm, GameTime, State, StateRef};

#[test]
fn the_stack_and_history() {
    play(
        EVERYWHERE,
        r"
        # a_push_suspends_current_and_a_pop_resumes_it (rule 15)
        in A; view
        push B => A.suspend (A, was A); A -> B (push); B.enter (B, was A); done
        view => B, was A
        pop => B.exit (B, was B); B -> A (pop); A.resume (A, was B); done
        view => A, was B

        # a_push_suspends_the_whole_path_from_the_innermost_and_a_pop_resumes_it_from_the_outermost (rule 15)
        in Table; open; view
        push A => Table.suspend (House/Kitchen/Table, was Table); Kitchen.suspend (House/Kitchen/Table, was Table)
            House.suspend (House/Kitchen/Table, was Table); Table -> A (push); A.enter (A, was Table); done
        pop => A.exit (A, was A); A -> Table (pop)
            House.resume (House, was A); Kitchen.resume (House/Kitchen, was A)
            Table.resume (House/Kitchen/Table, was A); done
        view => House/Kitchen/Table, was A

        # push_and_pop_take_whole_paths_with_no_common_ancestor (rule 15)
        in Stove; open
        push Table => Stove.suspend; Kitchen.suspend; House.suspend; Stove -> Table (push)
            House.enter; Kitchen.enter; Table.enter; done
        pop =>
            Table.exit; Kitchen.exit; House.exit; Table -> Stove (pop); House.resume; Kitchen.resume; Stove.resume; done

        # a_push_goes_down_to_initial_states (rule 15)
        in A; open
        push House => A.suspend; A -> Stove (push); House.enter; Kitchen.enter; Stove.enter; done
        view => House/Kitchen/Stove, was A

        # a_pop_goes_back_to_the_very_state_without_going_down_to_initial_states (rule 15)
        in Kitchen; open
        push A
        pop => A.exit; A -> Kitchen (pop); House.resume; Kitchen.resume; done
        view => House/Kitchen, was A

        # a_change_replaces_the_top_of_the_stack (rule 15)
        in A
        push B
        change C => B.exit; B -> C (change); C.enter; done
        pop => C.exit; C -> A (pop); A.resume; done
        view => A, was C

        # pushes_stack_up (rule 15)
        in A
        push B; push C; push B
        pop => B.exit; B -> C (pop); C.resume; done
        pop => C.exit; C -> B (pop); B.resume; done
        pop => B.exit; B -> A (pop); A.resume; done
        pop => not done

        # a_revert_after_a_push_changes_to_the_suspended_state_and_leaves_the_stack_alone (rules 9 and 15)
        in A
        push B
        revert => B.exit; B -> A (revert); A.enter; done
        pop => A.exit; A -> A (pop); A.resume; done

        # a_push_from_no_state_is_popped_back_to_no_state (rule 15)
        in no state
        push A => (no state) -> A (push); A.enter; done
        view => A
        pop => A.exit; A -> (no state) (pop); done
        view => nowhere, was A
        pop => not done

        # a_push_asks_the_state_entered_and_a_pop_the_state_left (rule 15)
        in A; open; guards
        push Table => House.can_enter?; Kitchen.can_enter?; Table.can_enter?; A.suspend; A -> Table (push)
            House.enter; Kitchen.enter; Table.enter; done
        pop =>
            Table.can_exit?; Kitchen.can_exit?; House.can_exit?; Table.exit; Kitchen.exit; House.exit; Table -> A (pop)
            A.resume; done

        # a_refused_push_or_pop_changes_nothing (rules 8 and 15)
        in A; refusing B.can_enter; refusing C.can_exit
        push B => A -> B (push), refused by B.can_enter; not done
        view => A
        // The stack is empty.
        pop => not done
        push C
        pop => C -> A (pop), refused by C.can_exit; not done
        view => C, was A

        # a_pop_of_an_empty_stack_is_refused_with_a_warning (rules 15 and 23)
        in A; guards
        pop => not done
        log => WARN demeanor: Elsa: pop refused in state A: the stack is empty
        view => A

        # a_push_beyond_sixty_four_is_refused_with_a_warning (rules 15 and 23)
        in A
        64x push A => 64x A.suspend, A -> A (push), A.enter, done
        guards; log
        push B => not done
        log => WARN demeanor: Elsa: push to B refused in state A: 64 paths of states are already suspended on the stack
        64x pop => 64x A.can_exit?, A.exit, A -> A (pop), A.resume, done
        pop => not done

        # a_change_now_in_an_ancestors_resume_abandons_the_rest_of_the_pop (rules 5, 11 and 15)
        in Table; open
        House.resume: now B is done
        push A
        with pop => A.exit; A -> Table (pop); House.resume; House.exit; House -> B (change); B.enter
            A -> Table (pop), abandoned in House
        view => B, was House
        pop => not done

        # a_composite_is_resumed_where_it_was_left (rule 16)
        in Cell
        change A
        resume Dungeon => A.exit; A -> Cell (resume); Dungeon.enter; Cells.enter; Cell.enter; done
        view => Dungeon/Cells/Cell, was A

        # a_composite_inside_another_has_a_history_of_its_own (rule 16)
        in Cell
        change Gate; change A
        resume Cells => A.exit; A -> Cell (resume); Dungeon.enter; Cells.enter; Cell.enter; done
        change Gate; change A
        resume Dungeon => A.exit; A -> Gate (resume); Dungeon.enter; Gate.enter; done

        # a_composite_without_a_history_yet_opens_on_its_initial_state (rule 16)
        in A
        resume Cells => A.exit; A -> Corridor (resume); Dungeon.enter; Cells.enter; Corridor.enter; done

        # a_composite_that_keeps_no_history_opens_on_its_initial_state (rule 16)
        in Table; open
        change A
        resume Kitchen => A.exit; A -> Stove (resume); House.enter; Kitchen.enter; Stove.enter; done

        # a_state_with_nothing_inside_is_resumed_by_a_plain_change (rule 16)
        in A
        resume B => A.exit; A -> B (resume); B.enter; done

        # a_composite_that_is_suspended_keeps_its_history_as_well (rules 15 and 16)
        in Cell
        push A
        resume Dungeon => A.exit; A -> Cell (resume); Dungeon.enter; Cells.enter; Cell.enter; done

        # a_composite_that_is_stopped_in_keeps_its_history_as_well (rules 1 and 16)
        in Cell
        stop
        resume Dungeon => (no state) -> Cell (resume); Dungeon.enter; Cells.enter; Cell.enter; done

        # a_change_to_the_composite_itself_does_not_ask_its_history (rule 16)
        in Cell
        change A
        change Dungeon => A.exit; A -> Gate (change); Dungeon.enter; Gate.enter; done

        # a_refused_change_leaves_the_history_alone (rules 8 and 16)
        in Cell; refusing B.can_enter
        change A; change Gate
        change B => Gate -> B (change), refused by B.can_enter; not done
        current A
        resume Dungeon => A.exit; A -> Cell (resume); Dungeon.enter; Cells.enter; Cell.enter; done

        # a_resume_asks_the_guards_of_any_change (rules 8 and 16)
        in Cell; guards; refusing Cell.can_enter
        change A
        resume Dungeon => A.can_exit?; Dungeon.can_enter?; Cells.can_enter?; Cell.can_enter?
            A -> Cell (resume), refused by Cell.can_enter; not done

        # a_composite_resumed_from_within_is_left_and_entered_down_to_where_it_was (rule 16)
        in Cell; view
        resume Dungeon => Cell.exit (Dungeon/Cells/Cell, was Cell); Cells.exit (Dungeon/Cells/Cell, was Cell)
            Dungeon.exit (Dungeon/Cells/Cell, was Cell); Cell -> Cell (resume)
            Dungeon.enter (Dungeon, was Cell); Cells.enter (Dungeon/Cells, was Cell)
            Cell.enter (Dungeon/Cells/Cell, was Cell); done
        in Cell
        resume Cells => Cell.exit; Cells.exit; Cell -> Cell (resume); Cells.enter; Cell.enter; done
        view => Dungeon/Cells/Cell, was Cell

        # a_composite_resumed_from_within_goes_to_no_older_memory (rule 16)
        in Cell
        change A; change Gate
        resume Dungeon => Gate.exit; Dungeon.exit; Gate -> Gate (resume); Dungeon.enter; Gate.enter; done

        # a_composite_without_history_resumed_from_within_opens_on_its_initial_state (rule 16)
        in Table; open
        resume Kitchen => Table.exit; Kitchen.exit; Table -> Stove (resume); Kitchen.enter; Stove.enter; done

        # a_resume_of_the_current_state_leaves_and_enters_it (rules 7 and 16)
        in Lone
        resume Lone => Lone.exit; Lone -> Lone (resume); Lone.enter; done

        # a_resume_from_within_asks_the_guards_of_all_it_leaves_and_enters (rules 8 and 16)
        in Cell; guards; refusing Dungeon.can_exit
        resume Dungeon => Cell.can_exit?; Cells.can_exit?; Dungeon.can_exit?
            Cell -> Cell (resume), refused by Dungeon.can_exit; not done
        ",
    );
}

/// A state without its own `suspend` and `resume`.
struct Plain;

impl State<Actor> for Plain {
    fn enter(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call("Plain", "enter", fsm, time);
    }

    fn exit(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime) {
        actor.call("Plain", "exit", fsm, time);
    }
}

/// Rule 15.
#[test]
fn a_state_that_knows_nothing_of_stacks_is_exited_and_entered() {
    let mut stage = Stage::new(&Plain);
    assert_eq!(stage.push_state(&A), "Plain.exit; Plain -> A (push); A.enter; done");
    assert_eq!(stage.pop_state(), "A.exit; A -> Plain (pop); Plain.enter; done");
}

/// Rules 12 and 15.
#[test]
fn an_exit_called_as_suspend_may_ask_for_nothing_and_an_enter_called_as_resume_may() {
    let mut stage = Stage::new(&Plain)
        .when("Plain.exit", |_, fsm, _| fsm.change_state(&B))
        .when("Plain.enter", |_, fsm, _| fsm.change_state(&B));
    assert_eq!(stage.push_state(&A), "Plain.exit; Plain -> A (push); A.enter; done");
    assert_eq!(
        stage.pop_state(),
        "A.exit; A -> Plain (pop); Plain.enter; Plain.exit; Plain -> B (change); B.enter; done"
    );
}

/// Rule 16: the history belongs to one machine.
#[test]
fn each_machine_has_its_own_history() {
    let mut first = Stage::new(&CELL);
    let mut second = Stage::new(&GATE);
    first.change_state(&A);
    second.change_state(&A);
    first.resume_state(&DUNGEON);
    second.resume_state(&DUNGEON);
    assert_eq!(first.view(), "Dungeon/Cells/Cell, was A");
    assert_eq!(second.view(), "Dungeon/Gate, was A");

    // A clone begins with the history of its original. After that, each has its own.
    first.change_state(&A);
    let mut clone = Stage::with_machine(first.machine.clone());
    first.change_state(&GATE);
    first.change_state(&A);
    clone.resume_state(&DUNGEON);
    assert_eq!(clone.view(), "Dungeon/Cells/Cell, was A");
    first.resume_state(&DUNGEON);
    assert_eq!(first.view(), "Dungeon/Gate, was A");
}

/// A composite state that is created at run time, with one child.
struct Ward;
struct Bed(StateRef<Actor>);

impl State<Actor> for Ward {
    fn keeps_history(&self) -> bool {
        true
    }
}

impl State<Actor> for Bed {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some(self.0.clone())
    }
}

/// Rule 16.
#[test]
fn a_machine_remembers_the_sixty_four_composites_that_it_left_last() {
    let leaked = |place| -> &'static Place { Box::leak(Box::new(place)) };
    let wards = [(); 66].map(|()| leaked(Place::new("Ward").keeping_history()));
    let beds = wards.map(|ward| leaked(Place::new("Bed").inside(ward)));
    let mut stage = Stage::new(&A);
    for bed in &beds[..64] {
        stage.change_state(*bed);
        stage.change_state(&A);
    }
    // The first one is left again. Now the second one is the oldest entry of the history.
    stage.change_state(beds[0]);
    stage.change_state(&A);
    for bed in &beds[64..] {
        stage.change_state(*bed);
        stage.change_state(&A);
    }
    let remembered = |nth: usize| {
        let mut machine = stage.machine.clone();
        assert!(machine.resume_state(&mut Actor::default(), wards[nth], &mut GameTime::new()));
        machine.is_in_state(beds[nth])
    };
    let forgotten: Vec<_> = (0..66).filter(|nth| !remembered(*nth)).collect();
    assert_eq!(forgotten, [1, 2]);
}

/// Rules 16 and 17.
#[test]
fn a_shared_composite_without_data_is_the_singleton_of_its_type() {
    let bed: StateRef<Actor> = Arc::new(Bed(Arc::new(Ward).into())).into();
    let mut stage = Stage::new(bed.clone());
    stage.change_state(&A);
    stage.resume_state(&Ward);
    assert_eq!(stage.machine.current(), Some(&bed));
}
