//! The chapter "Change": rules 5 to 9.

mod captured_log;
mod trace;

use std::borrow::Cow;

use captured_log::log_lines;
use demeanor::{Cause, Change, Fsm, Outcome, Owner, Refusal, State, StateMachine, StateRef};
use trace::{Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static C: Place = Place::new("C");

static HOUSE: Place = Place::new("House").opening_on(&KITCHEN);
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE).opening_on(&STOVE);
static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
static TABLE: Place = Place::new("Table").inside(&KITCHEN);
static HALL: Place = Place::new("Hall").inside(&HOUSE);
static STAIRS: Place = Place::new("Stairs").inside(&HALL);

/// Rule 5.
#[test]
fn a_change_exits_then_swaps_then_tells_the_owner_then_enters() {
    let mut stage = Stage::new(&A).recording_view();
    assert_eq!(stage.change_state(&B), ["A.exit (A, was A)", "A -> B (change)", "B.enter (B, was A)", "done"]);
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.change_state(&C), ["B.exit (B, was B)", "B -> C (change)", "C.enter (C, was B)", "done"]);
    assert_eq!(stage.view(), "C, was B");
}

/// Rule 5.
#[test]
fn during_each_exit_of_a_path_current_and_previous_are_the_state_left() {
    let mut stage = Stage::new(&STOVE).recording_view();
    assert_eq!(
        stage.change_state(&A),
        [
            "Stove.exit (House/Kitchen/Stove, was Stove)",
            "Kitchen.exit (House/Kitchen/Stove, was Stove)",
            "House.exit (House/Kitchen/Stove, was Stove)",
            "Stove -> A (change)",
            "A.enter (A, was Stove)",
            "done"
        ]
    );
}

/// Rule 5.
#[test]
fn during_each_enter_of_a_path_current_is_the_state_being_entered() {
    let mut stage = Stage::new(&A).recording_view();
    assert_eq!(
        stage.change_state(&TABLE),
        [
            "A.exit (A, was A)",
            "A -> Table (change)",
            "House.enter (House, was A)",
            "Kitchen.enter (House/Kitchen, was A)",
            "Table.enter (House/Kitchen/Table, was A)",
            "done"
        ]
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
        [
            "A.exit (A, was A)",
            "A -> Stove (change)",
            "House.enter (House, was A)",
            "Kitchen.enter (House/Kitchen, was A)",
            "Kitchen.exit (House/Kitchen, was Kitchen)",
            "House.exit (House/Kitchen, was Kitchen)",
            "Kitchen -> B (change)",
            "B.enter (B, was Kitchen)",
            "rest of Kitchen.enter"
        ]
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
        ["A.exit", "A -> Stove (change)", "House.enter", "House -> Hall (change)", "Hall.enter"]
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
        [
            "A.exit",
            "A -> Table (change)",
            "House.enter",
            "House -> B (change), refused by B.can_enter",
            "Kitchen.enter",
            "Table.enter",
            "done"
        ]
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
        [
            "A.exit",
            "A -> Table (change)",
            "House.enter",
            "House.exit",
            "House -> B (change)",
            "B.enter",
            "B -> C (change), refused by C.can_enter"
        ]
    );
    assert_eq!(stage.view(), "B, was House");
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
    assert_eq!(lines.remove(0), "INFO change: leaves home");
    assert_eq!(lines.pop().unwrap(), "INFO change: in the mine");
    lines.sort();
    assert_eq!(lines, ["DEBUG demeanor: Bob: Home -> Mine (change)", "INFO change: told"]);
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

/// Rule 6.
#[test]
fn exits_stop_below_the_deepest_common_ancestor_and_enters_start_there() {
    let mut stage = Stage::new(&STOVE);
    assert_eq!(stage.change_state(&TABLE), ["Stove.exit", "Stove -> Table (change)", "Table.enter", "done"]);
    assert_eq!(
        stage.change_state(&STAIRS),
        ["Table.exit", "Kitchen.exit", "Table -> Stairs (change)", "Hall.enter", "Stairs.enter", "done"]
    );
    assert_eq!(stage.view(), "House/Hall/Stairs, was Table");
}

/// Rule 6.
#[test]
fn a_change_to_a_child_of_current_exits_nothing() {
    let mut stage = Stage::new(&HALL);
    assert_eq!(stage.change_state(&STAIRS), ["Hall -> Stairs (change)", "Stairs.enter", "done"]);
    assert_eq!(stage.view(), "House/Hall/Stairs, was Hall");
}

/// Rule 6.
#[test]
fn a_change_to_a_composite_goes_down_to_its_initial_states() {
    let mut stage = Stage::new(&A);
    assert_eq!(
        stage.change_state(&HOUSE),
        ["A.exit", "A -> Stove (change)", "House.enter", "Kitchen.enter", "Stove.enter", "done"]
    );
    assert_eq!(stage.view(), "House/Kitchen/Stove, was A");
}

/// Rule 6.
#[test]
fn a_target_on_the_active_path_is_left_and_entered_again() {
    let mut stage = Stage::new(&STAIRS);
    assert_eq!(
        stage.change_state(&HALL),
        ["Stairs.exit", "Hall.exit", "Stairs -> Hall (change)", "Hall.enter", "done"]
    );
    let mut stage = Stage::new(&TABLE);
    assert_eq!(
        stage.change_state(&KITCHEN),
        ["Table.exit", "Kitchen.exit", "Table -> Stove (change)", "Kitchen.enter", "Stove.enter", "done"]
    );
    let mut stage = Stage::new(&STOVE);
    assert_eq!(
        stage.change_state(&HOUSE),
        [
            "Stove.exit",
            "Kitchen.exit",
            "House.exit",
            "Stove -> Stove (change)",
            "House.enter",
            "Kitchen.enter",
            "Stove.enter",
            "done"
        ]
    );
}

/// A state at a depth: the one above it is its parent. Depths from 1.
struct Deep(usize);

/// As many states, each inside the one before.
static CHAIN: [Deep; 70] = {
    let mut chain = [const { Deep(0) }; 70];
    let mut depth = 0;
    while depth < 70 {
        chain[depth] = Deep(depth + 1);
        depth += 1;
    }
    chain
};

/// A state whose parent is its child.
struct Snake;
struct Tail;

#[derive(Debug, Default, PartialEq)]
struct Diver {
    trace: Vec<usize>,
    changes: usize,
}

impl Owner for Diver {
    type Context<'a> = ();
    type Message = ();

    fn on_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
        self.changes += 1;
    }
}

impl State<Diver> for Deep {
    fn enter(&self, diver: &mut Diver, _: &mut Fsm<'_, Diver>, (): &mut ()) {
        diver.trace.push(self.0);
    }

    fn update(&self, diver: &mut Diver, _: &mut Fsm<'_, Diver>, (): &mut ()) {
        diver.trace.push(self.0);
    }

    fn exit(&self, diver: &mut Diver, _: &mut Fsm<'_, Diver>, (): &mut ()) {
        diver.trace.push(self.0);
    }

    fn parent(&self) -> Option<StateRef<Diver>> {
        (self.0 > 1).then(|| (&CHAIN[self.0 - 2]).into())
    }

    fn name(&self) -> Cow<'_, str> {
        format!("Deep{}", self.0).into()
    }
}

impl State<Diver> for Snake {
    fn parent(&self) -> Option<StateRef<Diver>> {
        Some((&Tail).into())
    }
}

impl State<Diver> for Tail {
    fn parent(&self) -> Option<StateRef<Diver>> {
        Some((&Snake).into())
    }
}

/// Rule 6.
#[test]
fn sixty_four_states_may_be_active_at_once() {
    let mut diver = Diver::default();
    let mut machine = StateMachine::idle();
    assert!(machine.change_state(&mut diver, &CHAIN[63], &mut ()));
    assert_eq!(machine.path().count(), 64);
    assert_eq!(diver.trace, (1..=64).collect::<Vec<_>>());

    diver.trace.clear();
    machine.update(&mut diver, &mut ());
    assert_eq!(diver.trace, (1..=64).collect::<Vec<_>>());

    diver.trace.clear();
    machine.stop(&mut diver, &mut ());
    assert_eq!(diver.trace, (1..=64).rev().collect::<Vec<_>>());
}

/// Rule 6.
#[test]
fn a_chain_of_sixty_four_parents_is_the_longest() {
    let mut machine = StateMachine::idle();
    assert!(!machine.change_state(&mut Diver::default(), &CHAIN[65], &mut ()));
    assert!(machine.current().is_none());
    assert!(machine.change_state(&mut Diver::default(), &CHAIN[64], &mut ()));
    assert_eq!(machine.path().count(), 65);
}

/// Rule 6.
#[test]
fn a_chain_of_parents_that_is_too_long_is_an_error_and_refused() {
    let mut diver = Diver::default();
    let mut machine = StateMachine::new(&CHAIN[0]);
    let lines = log_lines(|| assert!(!machine.change_state(&mut diver, &CHAIN[69], &mut ())));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR demeanor: Diver: "), "{lines:?}");
    assert!(lines[0].contains("Deep70"), "{lines:?}");
    assert_eq!(diver, Diver::default());
    assert!(machine.is_in_state(&CHAIN[0]));
    assert!(machine.previous().is_none());
}

/// Rule 6.
#[test]
fn a_chain_of_parents_that_closes_on_itself_is_an_error_and_refused() {
    let mut diver = Diver::default();
    let mut machine = StateMachine::new(&CHAIN[0]);
    let lines = log_lines(|| {
        assert!(!machine.change_state(&mut diver, &Snake, &mut ()));
        assert!(!machine.push_state(&mut diver, &Snake, &mut ()));
        assert!(!machine.resume_state(&mut diver, &Tail, &mut ()));
    });
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, name) in lines.iter().zip(["Snake", "Snake", "Tail"]) {
        assert!(line.starts_with("ERROR demeanor: Diver: "), "{line}");
        assert!(line.contains(name), "{line}");
    }
    assert_eq!(diver, Diver::default());
    assert!(machine.is_in_state(&CHAIN[0]));
}

/// Rule 6.
#[test]
fn a_machine_that_is_put_into_a_closed_chain_does_not_hang() {
    let mut diver = Diver::default();
    let mut machine = StateMachine::new(&Snake);
    machine.start(&mut diver, &mut ());
    machine.update(&mut diver, &mut ());
    machine.send(&mut diver, &(), &mut ());
    machine.stop(&mut diver, &mut ());
    machine.set_current(&Tail);
    machine.change_state(&mut diver, &CHAIN[0], &mut ());
    assert!(machine.is_in_state(&CHAIN[0]));
}

/// Rule 6.
#[test]
fn an_initial_state_that_belongs_elsewhere_is_refused() {
    static LOST: Place = Place::new("Lost").opening_on(&STOVE);
    let mut stage = Stage::new(&A);
    let lines = log_lines(|| assert_eq!(stage.change_state(&LOST), ["not done"]));
    assert_eq!(lines, ["WARN demeanor: Elsa: change to Lost refused in state A: its initial() has another parent()"]);
    assert_eq!(stage.view(), "A");
}

/// Rule 6.
#[test]
fn initial_states_without_an_end_are_an_error_and_refused() {
    /// Opens on itself.
    struct Mirror;
    impl State<Diver> for Mirror {
        fn parent(&self) -> Option<StateRef<Diver>> {
            Some((&Mirror).into())
        }

        fn initial(&self) -> Option<StateRef<Diver>> {
            Some((&Mirror).into())
        }
    }

    let mut machine = StateMachine::new(&CHAIN[0]);
    let lines = log_lines(|| assert!(!machine.change_state(&mut Diver::default(), &Mirror, &mut ())));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR demeanor: Diver: change to Mirror refused in state Deep1: "), "{lines:?}");
}

/// Rule 7.
#[test]
fn a_change_to_the_current_state_leaves_and_enters_it_and_previous_becomes_it() {
    let mut stage = Stage::new(&A).recording_view();
    stage.change_state(&B);
    assert_eq!(stage.change_state(&B), ["B.exit (B, was B)", "B -> B (change)", "B.enter (B, was B)", "done"]);
    assert_eq!(stage.view(), "B, was B");
}

/// Rules 6 and 7.
#[test]
fn a_change_to_the_current_state_leaves_its_ancestors_alone() {
    let mut stage = Stage::new(&STOVE);
    assert_eq!(stage.change_state(&STOVE), ["Stove.exit", "Stove -> Stove (change)", "Stove.enter", "done"]);
}

/// Rule 8.
#[test]
fn guards_are_asked_once_each_before_anything_runs() {
    let mut stage = Stage::new(&STOVE).recording_guards();
    assert_eq!(
        stage.change_state(&STAIRS),
        [
            "Stove.can_exit?",
            "Kitchen.can_exit?",
            "Hall.can_enter?",
            "Stairs.can_enter?",
            "Stove.exit",
            "Kitchen.exit",
            "Stove -> Stairs (change)",
            "Hall.enter",
            "Stairs.enter",
            "done"
        ]
    );
}

/// Rules 6 and 8.
#[test]
fn initial_states_are_resolved_before_the_guards() {
    let mut stage = Stage::new(&STAIRS).recording_guards();
    assert_eq!(
        stage.change_state(&KITCHEN),
        [
            "Stairs.can_exit?",
            "Hall.can_exit?",
            "Kitchen.can_enter?",
            "Stove.can_enter?",
            "Stairs.exit",
            "Hall.exit",
            "Stairs -> Stove (change)",
            "Kitchen.enter",
            "Stove.enter",
            "done"
        ]
    );
}

/// Rules 7 and 8.
#[test]
fn a_change_to_the_current_state_asks_both_its_guards() {
    let mut stage = Stage::new(&A).recording_guards();
    assert_eq!(stage.change_state(&A), ["A.can_exit?", "A.can_enter?", "A.exit", "A -> A (change)", "A.enter", "done"]);
}

/// Rule 8.
#[test]
fn the_first_guard_that_refuses_is_the_last_that_is_asked() {
    let mut stage = Stage::new(&STOVE).recording_guards().refusing("Kitchen.can_exit").refusing("Hall.can_enter");
    assert_eq!(
        stage.change_state(&STAIRS),
        ["Stove.can_exit?", "Kitchen.can_exit?", "Stove -> Stairs (change), refused by Kitchen.can_exit", "not done"]
    );
    assert_eq!(stage.view(), "House/Kitchen/Stove");
}

/// Rule 8.
#[test]
fn a_state_that_may_not_be_entered_changes_nothing() {
    let mut stage = Stage::new(&A).refusing("Stove.can_enter");
    stage.change_state(&B);
    assert_eq!(stage.change_state(&HOUSE), ["B -> Stove (change), refused by Stove.can_enter", "not done"]);
    assert_eq!(stage.view(), "B, was A");
    assert_eq!(stage.revert_state(), ["B.exit", "B -> A (revert)", "A.enter", "done"]);
}

/// Rules 8 and 23.
#[test]
fn a_guards_refusal_is_logged_at_debug() {
    let mut stage = Stage::new(&A).refusing("B.can_enter");
    let lines = log_lines(|| {
        stage.change_state(&B);
    });
    assert_eq!(lines, ["DEBUG demeanor: Elsa: A -> B (change), refused by B.can_enter"]);
}

/// Rule 8.
#[test]
fn guards_see_the_owner_as_the_change_finds_it() {
    struct Door {
        locked: bool,
    }
    impl Owner for Door {
        type Context<'a> = u8;
        type Message = ();
    }
    struct Closed;
    struct Open;
    impl State<Door> for Closed {
        fn can_exit(&self, door: &Door, _: &Fsm<'_, Door>, keys: &u8) -> bool {
            !door.locked || *keys > 0
        }
    }
    impl State<Door> for Open {}

    let mut machine = StateMachine::new(&Closed);
    let mut door = Door { locked: true };
    assert!(!machine.change_state(&mut door, &Open, &mut 0));
    assert!(machine.is_in_state(&Closed));
    assert!(machine.change_state(&mut door, &Open, &mut 1));
    assert!(machine.is_in_state(&Open));
}

/// Rule 9.
#[test]
fn two_reverts_in_a_row_toggle() {
    let mut stage = Stage::new(&A);
    stage.change_state(&B);
    assert_eq!(stage.revert_state(), ["B.exit", "B -> A (revert)", "A.enter", "done"]);
    assert_eq!(stage.view(), "A, was B");
    assert_eq!(stage.revert_state(), ["A.exit", "A -> B (revert)", "B.enter", "done"]);
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 8 and 9.
#[test]
fn a_revert_asks_the_guards_of_any_change() {
    let mut stage = Stage::new(&A).recording_guards().refusing("A.can_enter");
    stage.change_state(&B);
    assert_eq!(
        stage.revert_state(),
        ["B.can_exit?", "A.can_enter?", "B -> A (revert), refused by A.can_enter", "not done"]
    );
    assert_eq!(stage.view(), "B, was A");
}

/// Rules 9 and 23.
#[test]
fn a_revert_without_a_previous_state_is_refused_with_a_warning() {
    let mut stage = Stage::new(&A).recording_guards();
    let lines = log_lines(|| assert_eq!(stage.revert_state(), ["not done"]));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("WARN demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains('A'), "{lines:?}");
    assert_eq!(stage.view(), "A");
}
