//! The chapter "Change": which states are left and entered, rule 6.

use std::borrow::Cow;

use crate::captured_log::log_lines;
use crate::play::{EVERYWHERE, play};
use demeanor::{Change, Fsm, Owner, State, StateMachine, StateRef};

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
        log => WARN demeanor: Elsa: change to Lost refused in state A: the state that its `initial` returns has another parent
        view => A
        ",
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
