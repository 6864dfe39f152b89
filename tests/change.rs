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

/// Rule 5.
#[test]
fn the_owner_is_told_that_a_change_is_complete_after_its_last_enter() {
    let mut stage = Stage::new(&A).recording_completion();
    assert_eq!(
        stage.change_state(&TABLE),
        [
            "A.exit",
            "A -> Table (change)",
            "House.enter",
            "Kitchen.enter",
            "Table.enter",
            "complete: A -> Table (change)",
            "done"
        ]
    );
    assert_eq!(
        stage.push_state(&B),
        [
            "Table.suspend",
            "Kitchen.suspend",
            "House.suspend",
            "Table -> B (push)",
            "B.enter",
            "complete: Table -> B (push)",
            "done"
        ]
    );
    assert_eq!(
        stage.pop_state(),
        [
            "B.exit",
            "B -> Table (pop)",
            "House.resume",
            "Kitchen.resume",
            "Table.resume",
            "complete: B -> Table (pop)",
            "done"
        ]
    );
}

/// Rule 5.
#[test]
fn a_pop_to_no_state_is_complete_once_all_is_left() {
    let mut stage = Stage::idle().recording_completion();
    stage.push_state(&A);
    assert_eq!(stage.pop_state(), ["A.exit", "A -> (no state) (pop)", "complete: A -> (no state) (pop)", "done"]);
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
        [
            "A.exit",
            "A -> Table (change)",
            "House.enter",
            "Kitchen.enter",
            "Table.enter",
            "complete: A -> Table (change)",
            "Table.exit",
            "Kitchen.exit",
            "House.exit",
            "Table -> B (change)",
            "B.enter",
            "complete: Table -> B (change)",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "complete: B -> C (change)",
            "done"
        ]
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
        [
            "A.exit",
            "A -> Stove (change)",
            "House.enter",
            "Kitchen.enter",
            "Kitchen.exit",
            "House.exit",
            "Kitchen -> B (change)",
            "B.enter",
            "complete: Kitchen -> B (change)",
            "done"
        ]
    );
    let mut stage = Stage::new(&A).recording_completion().when("B.enter", |actor, fsm, time| {
        fsm.change_state_now(actor, &C, time);
    });
    assert_eq!(
        stage.change_state(&B),
        [
            "A.exit",
            "A -> B (change)",
            "B.enter",
            "B.exit",
            "B -> C (change)",
            "C.enter",
            "complete: B -> C (change)",
            "done"
        ]
    );
}

/// Rules 5 and 8.
#[test]
fn a_refused_change_is_never_complete() {
    let mut stage = Stage::new(&A).recording_completion().refusing("B.can_enter");
    assert_eq!(stage.change_state(&B), ["A -> B (change), refused by B.can_enter", "not done"]);
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
    assert_eq!(
        lines,
        [
            "WARN demeanor: Elsa: change to Lost refused in state A: the state that its `initial` returns has another parent"
        ]
    );
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
fn guards_see_the_machine_as_the_change_finds_it() {
    let mut stage = Stage::new(&STOVE).recording_guards().recording_view();
    stage.machine.set_previous(&B);
    assert_eq!(
        stage.change_state(&STAIRS)[..4],
        [
            "Stove.can_exit? (House/Kitchen/Stove, was B)",
            "Kitchen.can_exit? (House/Kitchen/Stove, was B)",
            "Hall.can_enter? (House/Kitchen/Stove, was B)",
            "Stairs.can_enter? (House/Kitchen/Stove, was B)"
        ]
    );
}

/// Rule 8.
#[test]
fn every_query_answers_in_a_guard() {
    static ALWAYS: Place = Place::new("Always");
    let mut stage = Stage::new(&KITCHEN).global(&ALWAYS).asking("Kitchen.can_exit", |actor, fsm, time| {
        let name = |state: Option<&StateRef<_>>| state.map_or("nothing".to_owned(), ToString::to_string);
        actor.note(format!("{} was {}", name(fsm.current()), name(fsm.previous())));
        actor.note(format!("beside {}, to {}", name(fsm.global()), name(fsm.target())));
        actor.note(format!("on {:?}", fsm.path().collect::<Vec<_>>()));
        actor.note(format!("in {} {}", fsm.is_in_state(&HOUSE), fsm.is_in_state(&HALL)));
        actor.note(format!("of a type {} {}", fsm.is_in::<Place>(), fsm.is_in::<Elsewhere>()));
        actor.note(format!("for {} s", fsm.time_in_state(time)));
        let times = (fsm.time_in(&HOUSE, time), fsm.time_in(&KITCHEN, time), fsm.time_in(&HALL, time));
        actor.note(format!("each {times:?}"));
        actor.note(format!("waiting: {}", fsm.has_requests()));
        false
    });
    stage.machine.set_current(&HALL);
    stage.start();
    stage.advance(1);
    stage.change_state(&TABLE);
    stage.advance(2);
    assert_eq!(
        stage.with(|_, fsm, _| {
            fsm.change_state(&B);
            fsm.pop_state();
        }),
        [
            "Table was Hall",
            "beside Always, to B",
            "on [House, Kitchen, Table]",
            "in true false",
            "of a type true false",
            "for 2 s",
            "each (Some(3.0), Some(2.0), None)",
            "waiting: true",
            "Table -> B (change), refused by Kitchen.can_exit"
        ]
    );
    assert_eq!(stage.change_state(&B)[7], "waiting: false");
}

struct Elsewhere;
impl State<trace::Actor> for Elsewhere {}

/// Rules 8 and 18: not before two seconds.
#[test]
fn a_guard_can_refuse_by_the_time_in_a_state() {
    let mut stage = Stage::new(&A).asking("A.can_exit", |_, fsm, time| fsm.time_in_state(time) >= 2.0);
    stage.start();
    stage.advance(1);
    assert_eq!(stage.change_state(&B), ["A -> B (change), refused by A.can_exit", "not done"]);
    stage.advance(1);
    assert_eq!(stage.change_state(&B), ["A.exit", "A -> B (change)", "B.enter", "done"]);
}

/// Rule 8: only from B.
#[test]
fn a_guard_can_refuse_by_where_the_owner_comes_from() {
    let mut stage = Stage::new(&A).asking("C.can_enter", |_, fsm, _| fsm.is_in_state(&B));
    assert_eq!(stage.change_state(&C), ["A -> C (change), refused by C.can_enter", "not done"]);
    stage.change_state(&B);
    assert_eq!(stage.change_state(&C), ["B.exit", "B -> C (change)", "C.enter", "done"]);
}

/// Rules 6 and 8: the target is the innermost state that is entered.
#[test]
fn a_guard_can_refuse_by_where_the_change_leads_to() {
    let mut stage = Stage::new(&A)
        .asking("A.can_exit", |_, fsm, _| fsm.target().is_some_and(|target| *target == StateRef::from(&STOVE)));
    assert_eq!(stage.change_state(&B), ["A -> B (change), refused by A.can_exit", "not done"]);
    assert_eq!(stage.change_state(&HALL), ["A -> Hall (change), refused by A.can_exit", "not done"]);
    assert_eq!(
        stage.change_state(&HOUSE),
        ["A.exit", "A -> Stove (change)", "House.enter", "Kitchen.enter", "Stove.enter", "done"]
    );
}

/// Rule 8.
#[test]
fn the_target_is_told_in_every_guard_and_callback_of_a_change_and_in_no_other() {
    static ALWAYS: Place = Place::new("Always");
    let mut stage = Stage::new(&HALL).global(&ALWAYS).recording_guards().recording_target();
    assert_eq!(stage.start(), ["House.enter", "Hall.enter"]);
    assert_eq!(stage.update(), ["Always.update", "House.update", "Hall.update"]);
    assert_eq!(stage.send("hit"), ["Hall.hit", "House.hit", "Always.hit", "not handled"]);
    assert_eq!(
        stage.change_state(&KITCHEN),
        [
            "Hall.can_exit? [to Stove]",
            "Kitchen.can_enter? [to Stove]",
            "Stove.can_enter? [to Stove]",
            "Hall.exit [to Stove]",
            "Hall -> Stove (change)",
            "Kitchen.enter [to Stove]",
            "Stove.enter [to Stove]",
            "done"
        ]
    );
    assert_eq!(stage.update(), ["Always.update", "House.update", "Kitchen.update", "Stove.update"]);
    assert_eq!(
        stage.push_state(&A),
        [
            "A.can_enter? [to A]",
            "Stove.suspend [to A]",
            "Kitchen.suspend [to A]",
            "House.suspend [to A]",
            "Stove -> A (push)",
            "A.enter [to A]",
            "done"
        ]
    );
    assert_eq!(
        stage.pop_state(),
        [
            "A.can_exit? [to Stove]",
            "A.exit [to Stove]",
            "A -> Stove (pop)",
            "House.resume [to Stove]",
            "Kitchen.resume [to Stove]",
            "Stove.resume [to Stove]",
            "done"
        ]
    );
    assert_eq!(stage.stop(), ["Stove.exit", "Kitchen.exit", "House.exit"]);
}

/// Rules 8 and 15.
#[test]
fn a_pop_to_no_state_has_no_target() {
    let mut stage = Stage::idle().recording_guards().recording_target();
    stage.push_state(&A);
    assert_eq!(stage.pop_state(), ["A.can_exit?", "A.exit", "A -> (no state) (pop)", "done"]);
}

/// Notes where the change under way leads to.
fn note_target(actor: &trace::Actor, fsm: &Fsm<'_, trace::Actor>) {
    actor.note(fsm.target().map_or("to nowhere".to_owned(), |target| format!("to {target}")));
}

/// Rules 8 and 11.
#[test]
fn after_a_change_now_in_an_enter_the_change_under_way_has_no_target_any_more() {
    let mut stage = Stage::new(&A).recording_target().when("House.enter", |actor, fsm, time| {
        assert!(fsm.change_state_now(actor, &B, time));
        note_target(actor, fsm);
    });
    assert_eq!(
        stage.change_state(&TABLE),
        [
            "A.exit [to Table]",
            "A -> Table (change)",
            "House.enter [to Table]",
            "House.exit [to B]",
            "House -> B (change)",
            "B.enter [to B]",
            "to nowhere",
            "done"
        ]
    );
}

/// Rules 8 and 11.
#[test]
fn after_a_change_now_that_is_refused_the_target_is_that_of_the_change_under_way_again() {
    let mut stage = Stage::new(&A).recording_guards().recording_target().refusing("B.can_enter").when(
        "House.enter",
        |actor, fsm, time| {
            assert!(!fsm.change_state_now(actor, &B, time));
            note_target(actor, fsm);
        },
    );
    assert_eq!(
        stage.change_state(&HALL)[3..],
        [
            "A.exit [to Hall]",
            "A -> Hall (change)",
            "House.enter [to Hall]",
            "House.can_exit? [to B]",
            "B.can_enter? [to B]",
            "House -> B (change), refused by B.can_enter",
            "to Hall",
            "Hall.enter [to Hall]",
            "done"
        ]
    );
}

/// Rules 8 and 24: who hears a message is no part of the change in one of whose enters it is sent.
#[test]
fn a_handler_of_a_message_sent_in_an_enter_sees_no_target() {
    let mut stage = Stage::new(&A).recording_target().handling("House").when("House.enter", |actor, fsm, time| {
        assert!(fsm.send_now(actor, &"hit", time));
        note_target(actor, fsm);
    });
    assert_eq!(
        stage.change_state(&HALL),
        [
            "A.exit [to Hall]",
            "A -> Hall (change)",
            "House.enter [to Hall]",
            "House.hit",
            "to Hall",
            "Hall.enter [to Hall]",
            "done"
        ]
    );
}

/// Rules 8 and 22.
#[test]
fn a_change_that_panicked_is_no_longer_under_way() {
    for callback in ["A.can_exit", "B.can_enter", "A.exit", "on_change", "B.enter", "after_change"] {
        let mut stage = Stage::new(&A).recording_target().panicking_in(callback);
        stage.catch(|stage| stage.change_state(&B));
        let trace = stage.update();
        assert!(trace == ["A.update"] || trace == ["B.update"], "{callback}: {trace:?}");
        let mut stage =
            Stage::new(&C).recording_target().panicking_in(callback).when("C.update", |actor, fsm, time| {
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    fsm.change_state_now(actor, &A, time);
                    fsm.change_state_now(actor, &B, time);
                }));
                assert!(caught.is_err());
                note_target(actor, fsm);
            });
        assert_eq!(stage.update().last().unwrap(), "to nowhere", "{callback}");
    }
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
