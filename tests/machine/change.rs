//! The chapter "Change": its order, and changes to the current and to the previous state: rules 5, 7 and 9.

use crate::captured_log::log_lines;
use crate::trace::Stage;
use crate::trace::places::open::{HALL, KITCHEN, STOVE, TABLE};
use crate::trace::places::{A, B, C};
use demeanor::{Cause, Change, Fsm, Outcome, Owner, Refusal, State, StateMachine, StateRef};

/// Rule 5.
#[test]
fn a_change_exits_then_swaps_then_tells_the_owner_then_enters() {
    let mut stage = Stage::new(&A).recording_view();
    assert_eq!(stage.change_state(&B), "A.exit (A, was A); A -> B (change); B.enter (B, was A); done");
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.change_state(&C), "B.exit (B, was B); B -> C (change); C.enter (C, was B); done");
    assert_eq!(stage.view(), "C, was B");
}

/// Rule 5.
#[test]
fn during_each_exit_of_a_path_current_and_previous_are_the_state_left() {
    let mut stage = Stage::new(&STOVE).recording_view();
    assert_eq!(
        stage.change_state(&A),
        "Stove.exit (House/Kitchen/Stove, was Stove); Kitchen.exit (House/Kitchen/Stove, was Stove)
         House.exit (House/Kitchen/Stove, was Stove); Stove -> A (change); A.enter (A, was Stove); done"
    );
}

/// Rule 5.
#[test]
fn during_each_enter_of_a_path_current_is_the_state_being_entered() {
    let mut stage = Stage::new(&A).recording_view();
    assert_eq!(
        stage.change_state(&TABLE),
        "A.exit (A, was A); A -> Table (change)
         House.enter (House, was A); Kitchen.enter (House/Kitchen, was A); Table.enter (House/Kitchen/Table, was A)
         done"
    );
}

/// Rule 5.
#[test]
fn a_change_now_in_an_ancestors_enter_abandons_the_rest_of_the_change() {
    let mut stage = Stage::new(&A).recording_view().when("Kitchen.enter", |actor, fsm, time| {
        assert!(fsm.change_state_now(actor, &B, time));
        actor.note("rest of Kitchen.enter");
    });
    assert_eq!(
        stage.with(|_, fsm, _| fsm.change_state(&STOVE)),
        "A.exit (A, was A); A -> Stove (change); House.enter (House, was A); Kitchen.enter (House/Kitchen, was A)
         Kitchen.exit (House/Kitchen, was Kitchen); House.exit (House/Kitchen, was Kitchen); Kitchen -> B (change)
         B.enter (B, was Kitchen); rest of Kitchen.enter"
    );
    assert_eq!(stage.view(), "B, was Kitchen");
}

/// Rule 5: also when the change now stays under the ancestor that is being entered.
#[test]
fn a_change_now_to_another_child_abandons_the_way_to_the_first() {
    let mut stage = Stage::new(&A).when("House.enter", |actor, fsm, time| {
        assert!(fsm.change_state_now(actor, &HALL, time));
    });
    assert_eq!(
        stage.with(|_, fsm, _| fsm.change_state(&STOVE)),
        "A.exit; A -> Stove (change); House.enter
         House -> Hall (change); Hall.enter"
    );
    assert_eq!(stage.view(), "House/Hall, was House");
}

/// Rules 5 and 8.
#[test]
fn a_change_now_that_is_refused_abandons_nothing() {
    let mut stage = Stage::new(&A).refusing("B.can_enter").when("House.enter", |actor, fsm, time| {
        assert!(!fsm.change_state_now(actor, &B, time));
    });
    assert_eq!(
        stage.change_state(&TABLE),
        "A.exit; A -> Table (change); House.enter
         House -> B (change), refused by B.can_enter; Kitchen.enter; Table.enter; done"
    );
    assert_eq!(stage.view(), "House/Kitchen/Table, was A");
}

/// Rules 5 and 11.
#[test]
fn an_earlier_request_that_a_change_now_carries_out_abandons_the_rest_as_well() {
    let mut stage = Stage::new(&A).refusing("C.can_enter").when("House.enter", |actor, fsm, time| {
        fsm.change_state(&B);
        assert!(!fsm.change_state_now(actor, &C, time));
    });
    assert_eq!(
        stage.with(|_, fsm, _| fsm.change_state(&TABLE)),
        "A.exit; A -> Table (change); House.enter
         House.exit; House -> B (change); B.enter
         B -> C (change), refused by C.can_enter"
    );
    assert_eq!(stage.view(), "B, was House");
}

/// Rule 5.
#[test]
fn the_owner_is_told_that_a_change_is_complete_after_its_last_enter() {
    let mut stage = Stage::new(&A).recording_completion();
    assert_eq!(
        stage.change_state(&TABLE),
        "A.exit; A -> Table (change); House.enter; Kitchen.enter; Table.enter; complete: A -> Table (change); done"
    );
    assert_eq!(
        stage.push_state(&B),
        "Table.suspend; Kitchen.suspend; House.suspend; Table -> B (push); B.enter; complete: Table -> B (push); done"
    );
    assert_eq!(
        stage.pop_state(),
        "B.exit; B -> Table (pop); House.resume; Kitchen.resume; Table.resume; complete: B -> Table (pop); done"
    );
}

/// Rule 5.
#[test]
fn a_pop_to_no_state_is_complete_once_all_is_left() {
    let mut stage = Stage::idle().recording_completion();
    stage.push_state(&A);
    assert_eq!(stage.pop_state(), "A.exit; A -> (no state) (pop); complete: A -> (no state) (pop); done");
}

/// Rules 5 and 12.
#[test]
fn a_change_is_complete_before_what_its_enters_asked_for() {
    let mut stage = Stage::new(&A)
        .recording_completion()
        .when("House.enter", |_, fsm, _| fsm.change_state(&B))
        .when("Kitchen.enter", |_, fsm, _| fsm.change_state(&C));
    assert_eq!(
        stage.change_state(&TABLE),
        "A.exit; A -> Table (change); House.enter; Kitchen.enter; Table.enter; complete: A -> Table (change)
         Table.exit; Kitchen.exit; House.exit; Table -> B (change); B.enter; complete: Table -> B (change)
         B.exit; B -> C (change); C.enter; complete: B -> C (change); done"
    );
}

/// Rule 5: also when all of it had been entered.
#[test]
fn a_change_that_a_change_now_cuts_short_is_never_complete() {
    let mut stage = Stage::new(&A).recording_completion().when("Kitchen.enter", |actor, fsm, time| {
        fsm.change_state_now(actor, &B, time);
    });
    assert_eq!(
        stage.change_state(&KITCHEN),
        "A.exit; A -> Stove (change); House.enter; Kitchen.enter
         Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; complete: Kitchen -> B (change); done"
    );
    let mut stage = Stage::new(&A).recording_completion().when("B.enter", |actor, fsm, time| {
        fsm.change_state_now(actor, &C, time);
    });
    assert_eq!(
        stage.change_state(&B),
        "A.exit; A -> B (change); B.enter
         B.exit; B -> C (change); C.enter; complete: B -> C (change); done"
    );
}

/// Rules 5 and 8.
#[test]
fn a_refused_change_is_never_complete() {
    let mut stage = Stage::new(&A).recording_completion().refusing("B.can_enter");
    assert_eq!(stage.change_state(&B), "A -> B (change), refused by B.can_enter; not done");
}

/// Rules 5 and 23.
#[test]
fn the_log_line_comes_between_the_swap_and_the_first_enter() {
    struct Bob;
    impl Owner for Bob {
        type Context<'a> = ();
        type Message = ();

        fn on_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
            log::info!("told");
        }
    }

    struct Home;
    struct Mine;
    impl State<Bob> for Home {
        fn exit(&self, _: &mut Bob, _: &mut Fsm<'_, Bob>, (): &mut ()) {
            log::info!("leaves home");
        }
    }
    impl State<Bob> for Mine {
        fn enter(&self, _: &mut Bob, _: &mut Fsm<'_, Bob>, (): &mut ()) {
            log::info!("in the mine");
        }
    }

    let mut machine = StateMachine::new(&Home);
    let mut lines = log_lines(|| assert!(machine.change_state(&mut Bob, &Mine, &mut ())));
    assert_eq!(lines.remove(0), "INFO machine::change: leaves home");
    assert_eq!(lines.pop().unwrap(), "INFO machine::change: in the mine");
    lines.sort();
    assert_eq!(lines, ["DEBUG demeanor: Bob: Home -> Mine (change)", "INFO machine::change: told"]);
}

/// Rule 5: what `Owner::on_change` can see of a change.
#[test]
fn the_owner_is_told_from_where_to_where_and_why() {
    type Told = (Option<StateRef<Bob>>, Option<StateRef<Bob>>, Cause, bool);

    #[derive(Default)]
    struct Bob(Vec<Told>);
    impl Owner for Bob {
        type Context<'a> = ();
        type Message = ();

        fn on_change(&mut self, change: &Change<'_, Self>, (): &mut ()) {
            match &change.outcome {
                Outcome::Refused(Refusal::Exit(by)) => assert_eq!(**by, StateRef::from(&Stuck)),
                Outcome::Taken => assert!(change.is_taken()),
                _ => panic!("an outcome that was not expected"),
            }
            self.0.push((change.from.cloned(), change.to.cloned(), change.cause, change.is_taken()));
        }
    }

    struct Home;
    struct Stuck;
    impl State<Bob> for Home {}
    impl State<Bob> for Stuck {
        fn can_exit(&self, _: &Bob, _: &Fsm<'_, Bob>, (): &()) -> bool {
            false
        }
    }

    let mut bob = Bob::default();
    let mut machine = StateMachine::idle();
    machine.push_state(&mut bob, &Home, &mut ());
    machine.pop_state(&mut bob, &mut ());
    machine.change_state(&mut bob, &Stuck, &mut ());
    machine.revert_state(&mut bob, &mut ());

    let home = || Some(StateRef::from(&Home));
    let stuck = || Some(StateRef::from(&Stuck));
    assert_eq!(
        bob.0,
        [
            (None, home(), Cause::Push, true),
            (home(), None, Cause::Pop, true),
            (None, stuck(), Cause::Change, true),
            (stuck(), home(), Cause::Revert, false)
        ]
    );
}

/// Rule 7.
#[test]
fn a_change_to_the_current_state_leaves_and_enters_it_and_previous_becomes_it() {
    let mut stage = Stage::new(&A).recording_view();
    stage.change_state(&B);
    assert_eq!(stage.change_state(&B), "B.exit (B, was B); B -> B (change); B.enter (B, was B); done");
    assert_eq!(stage.view(), "B, was B");
}

/// Rules 6 and 7.
#[test]
fn a_change_to_the_current_state_leaves_its_ancestors_alone() {
    let mut stage = Stage::new(&STOVE);
    assert_eq!(stage.change_state(&STOVE), "Stove.exit; Stove -> Stove (change); Stove.enter; done");
}

/// Rule 9.
#[test]
fn two_reverts_in_a_row_toggle() {
    let mut stage = Stage::new(&A);
    stage.change_state(&B);
    assert_eq!(stage.revert_state(), "B.exit; B -> A (revert); A.enter; done");
    assert_eq!(stage.view(), "A, was B");
    assert_eq!(stage.revert_state(), "A.exit; A -> B (revert); B.enter; done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 8 and 9.
#[test]
fn a_revert_asks_the_guards_of_any_change() {
    let mut stage = Stage::new(&A).recording_guards().refusing("A.can_enter");
    stage.change_state(&B);
    assert_eq!(stage.revert_state(), "B.can_exit?; A.can_enter?; B -> A (revert), refused by A.can_enter; not done");
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 9 and 23.
#[test]
fn a_revert_without_a_previous_state_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).recording_guards();
    let lines = log_lines(|| assert_eq!(stage.revert_state(), "not done"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("WARN demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains('A'), "{lines:?}");
    assert_eq!(stage.view(), "A");
}
