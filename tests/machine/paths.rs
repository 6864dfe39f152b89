//! The chapter "Change": which states a change exits and enters (rule 6).

use crate::captured_log::log_lines;
use crate::play::{EVERYWHERE, play};
use crate::trace::places::A;
use crate::trace::{Actor, Place, Stage};
use demeanor::{State, StateRef};

#[test]
fn paths() {
    play(
        EVERYWHERE,
        r"
        # exits_stop_below_the_deepest_common_ancestor_and_enters_start_there (rule 6)
        in Stove; open
        change Table => Stove.exit; Stove -> Table (change); Table.enter; done
        change Stairs => Table.exit; Kitchen.exit; Table -> Stairs (change); Hall.enter; Stairs.enter; done
        view => House/Hall/Stairs, was Table

        # a_change_to_a_child_of_current_exits_nothing (rule 6)
        in Hall; open
        change Stairs => Hall -> Stairs (change); Stairs.enter; done
        view => House/Hall/Stairs, was Hall

        # a_change_to_a_composite_goes_down_to_its_initial_states (rule 6)
        in A; open
        change House => A.exit; A -> Stove (change); House.enter; Kitchen.enter; Stove.enter; done
        view => House/Kitchen/Stove, was A

        # a_target_on_the_active_path_is_left_and_entered_again (rule 6)
        in Stairs; open
        change Hall => Stairs.exit; Hall.exit; Stairs -> Hall (change); Hall.enter; done
        in Table; open
        change Kitchen => Table.exit; Kitchen.exit; Table -> Stove (change); Kitchen.enter; Stove.enter; done
        in Stove; open
        change House =>
            Stove.exit; Kitchen.exit; House.exit; Stove -> Stove (change); House.enter; Kitchen.enter; Stove.enter; done

        # an_initial_state_that_belongs_elsewhere_is_refused (rule 6)
        in A
        change Lost => not done
        log => WARN demeanor: Elsa: change to Lost refused in state A: Stove, the `initial` state of Lost, has another parent
        view => A
        ",
    );
}

/// Creates states, each inside the one before: `Deep1`, `Deep2`, and so on.
fn chain() -> Vec<&'static Place> {
    let mut chain: Vec<&'static Place> = Vec::new();
    for depth in 1..=70 {
        let place = Place::new(format!("Deep{depth}").leak());
        let place = chain.last().map_or(place.clone(), |around| place.inside(around));
        chain.push(Box::leak(Box::new(place)));
    }
    chain
}

/// Returns the records of a callback for the first 64 states.
fn of_all(callback: &str) -> Vec<String> {
    (1..=64).map(|depth| format!("Deep{depth}.{callback}")).collect()
}

/// A state whose child is also its parent.
struct Snake;
struct Tail;

impl State<Actor> for Snake {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some((&Tail).into())
    }
}

impl State<Actor> for Tail {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some((&Snake).into())
    }
}

/// Rule 6.
#[test]
fn sixty_four_states_may_be_active_at_once() {
    let chain = chain();
    let mut stage = Stage::idle();
    let entered = stage.change_state(chain[63]);
    assert_eq!(entered[0], "(no state) -> Deep64 (change)");
    assert_eq!(entered[1..65], of_all("enter"));
    assert_eq!(stage.machine.path().count(), 64);
    assert_eq!(*stage.update(), of_all("update"));
    let mut exits = stage.stop().to_vec();
    exits.reverse();
    assert_eq!(exits, of_all("exit"));
}

/// Rule 6.
#[test]
fn a_chain_of_sixty_four_parents_is_the_longest() {
    let chain = chain();
    let mut stage = Stage::idle();
    assert_eq!(stage.change_state(chain[65]), "not done");
    assert!(stage.machine.current().is_none());
    assert_eq!(stage.change_state(chain[64]).last().unwrap(), "done");
    assert_eq!(stage.machine.path().count(), 65);
}

/// Rule 6.
#[test]
fn a_chain_of_parents_that_is_too_long_is_an_error_and_refused() {
    let chain = chain();
    let mut stage = Stage::new(chain[0]);
    let lines = log_lines(|| assert_eq!(stage.change_state(chain[69]), "not done"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR demeanor: Elsa: "), "{lines:?}");
    assert!(lines[0].contains("Deep70"), "{lines:?}");
    assert_eq!(stage.view(), "Deep1");
}

/// Rule 6.
#[test]
fn a_chain_of_parents_that_closes_on_itself_is_an_error_and_refused() {
    let mut stage = Stage::new(&A);
    let lines = log_lines(|| {
        assert_eq!(stage.change_state(&Snake), "not done");
        assert_eq!(stage.push_state(&Snake), "not done");
        assert_eq!(stage.resume_state(&Tail), "not done");
    });
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, name) in lines.iter().zip(["Snake", "Snake", "Tail"]) {
        assert!(line.starts_with("ERROR demeanor: Elsa: "), "{line}");
        assert!(line.contains(name), "{line}");
    }
    assert_eq!(stage.view(), "A");
}

/// Rule 6.
#[test]
fn a_machine_that_is_put_into_a_closed_chain_does_not_hang() {
    let mut stage = Stage::new(&Snake);
    stage.start();
    stage.update();
    stage.send("hit");
    stage.stop();
    stage.machine.set_current(&Tail);
    stage.change_state(&A);
    assert!(stage.machine.is_in_state(&A));
}

/// Rule 6.
#[test]
fn initial_states_without_an_end_are_an_error_and_refused() {
    /// A state that is its own initial child.
    struct Mirror;
    impl State<Actor> for Mirror {
        fn parent(&self) -> Option<StateRef<Actor>> {
            Some((&Mirror).into())
        }

        fn initial(&self) -> Option<StateRef<Actor>> {
            Some((&Mirror).into())
        }
    }

    let mut stage = Stage::new(&A);
    let lines = log_lines(|| assert_eq!(stage.change_state(&Mirror), "not done"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR demeanor: Elsa: change to Mirror refused in state A: "), "{lines:?}");
}
