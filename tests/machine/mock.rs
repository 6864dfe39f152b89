//! What a mock detects, and when. It needs the feature `mock`.
#![cfg(feature = "mock")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use demeanor::mock::{MockState, Sequence};
use demeanor::{Fsm, Owner, State, StateMachine, StateRef};

/// The owner, its context and its messages cannot be sent to another thread.
struct Guard {
    alarms: Rc<Cell<u32>>,
}

struct Level<'a> {
    noise: &'a Cell<u32>,
}

struct Heard(Rc<str>);

impl Owner for Guard {
    type Context<'a> = Level<'a>;
    type Message = Heard;
}

struct Patrol;

impl State<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, level: &mut Level<'_>) {
        if level.noise.get() > 0 {
            guard.alarms.set(guard.alarms.get() + 1);
            fsm.revert_state();
        }
    }
}

/// Creates a guard, and a level with this amount of noise.
fn on_duty(noise: u32) -> (Guard, Level<'static>) {
    (Guard { alarms: Rc::default() }, Level { noise: Box::leak(Box::new(Cell::new(noise))) })
}

fn update(machine: &mut StateMachine<Guard>) {
    let (mut guard, mut level) = on_duty(0);
    machine.update(&mut guard, &mut level);
}

/// Returns the message with which `act` panics.
fn panic_of(act: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err("it panics");
    panic.downcast::<String>().map_or_else(|other| (*other.downcast::<&str>().unwrap()).to_owned(), |text| *text)
}

#[test]
fn dropping_a_machine_whose_mock_got_every_call_is_quiet() {
    let mut patrol = MockState::named("Patrol");
    patrol.expect_enter().times(1).return_const(());
    patrol.expect_update().times(2).returning(|guard: &mut Guard, _, _| guard.alarms.set(guard.alarms.get() + 1));
    patrol.expect_on_message().times(1).withf(|_, heard: &Heard, _, _| &*heard.0 == "a cough").return_const(true);
    patrol.expect_exit().times(1).return_const(());

    let (mut guard, mut level) = on_duty(0);
    let mut machine = StateMachine::new(Box::new(patrol));
    machine.start(&mut guard, &mut level);
    machine.update(&mut guard, &mut level);
    machine.update(&mut guard, &mut level);
    assert!(machine.send(&mut guard, &Heard("a cough".into()), &mut level));
    machine.stop(&mut guard, &mut level);
    drop(machine);
    assert_eq!(guard.alarms.get(), 2);
}

#[test]
fn dropping_a_machine_whose_mock_misses_a_call_panics() {
    for missing in ["enter", "update", "exit", "on_message"] {
        let mut patrol = MockState::<Guard>::new();
        match missing {
            "enter" => drop(patrol.expect_enter().times(1).return_const(())),
            "update" => drop(patrol.expect_update().times(1).return_const(())),
            "exit" => drop(patrol.expect_exit().times(1).return_const(())),
            _ => drop(patrol.expect_on_message().times(1).return_const(true)),
        }
        let machine = StateMachine::new(Box::new(patrol));
        let message = panic_of(move || drop(machine));
        assert!(message.contains(&format!("MockState::{missing}")), "{message}");
        assert!(message.contains("called 0 time(s) which is fewer than expected 1"), "{message}");
    }
}

#[test]
fn a_call_that_nobody_expects_panics_at_once() {
    let mut machine = StateMachine::new(Box::new(MockState::<Guard>::new()));
    let message = panic_of(|| update(&mut machine));
    assert!(message.contains("MockState::update"), "{message}");
    assert!(message.contains("No matching expectation found"), "{message}");
}

#[test]
fn a_call_too_many_panics_at_once() {
    let mut patrol = MockState::<Guard>::new();
    patrol.expect_update().times(1).return_const(());
    let mut machine = StateMachine::new(Box::new(patrol));
    update(&mut machine);
    let message = panic_of(move || update(&mut machine));
    assert!(message.contains("called 2 times which is more than the expected 1"), "{message}");
}

#[test]
fn an_expectation_that_does_not_say_what_the_callback_does_panics_at_the_call() {
    let mut patrol = MockState::<Guard>::new();
    let _ = patrol.expect_update();
    let mut machine = StateMachine::new(Box::new(patrol));
    let message = panic_of(move || update(&mut machine));
    assert!(message.contains("Returning default values requires the \"nightly\" feature"), "{message}");
}

/// Creates two mocks that expect their calls in one order: `Patrol` is updated and exited, then `Chase` is entered.
fn patrol_and_chase() -> (MockState<Guard>, MockState<Guard>) {
    let mut order = Sequence::new();
    let (mut patrol, mut chase) = (MockState::named("Patrol"), MockState::named("Chase"));
    patrol.expect_update().times(1).in_sequence(&mut order).return_const(());
    patrol.expect_exit().times(1).in_sequence(&mut order).return_const(());
    chase.expect_enter().times(1).in_sequence(&mut order).return_const(());
    chase.expect_exit().times(1).in_sequence(&mut order).return_const(());
    patrol.expect_enter().times(1).in_sequence(&mut order).return_const(());
    (patrol, chase)
}

#[test]
fn a_sequence_runs_across_several_mocks() {
    let (mut guard, mut level) = on_duty(0);
    let (patrol, chase) = patrol_and_chase();
    let mut machine = StateMachine::new(Box::new(patrol));
    machine.update(&mut guard, &mut level);
    assert!(machine.change_state(&mut guard, Box::new(chase), &mut level));
    assert!(machine.revert_state(&mut guard, &mut level));
    assert_eq!(machine.current().unwrap().name(), "Patrol");
    assert_eq!(machine.previous().unwrap().name(), "Chase");
}

#[test]
fn a_call_out_of_sequence_panics() {
    let (mut guard, mut level) = on_duty(0);
    let (patrol, chase) = patrol_and_chase();
    let mut machine = StateMachine::new(Box::new(patrol));
    let message = panic_of(move || {
        machine.change_state(&mut guard, Box::new(chase), &mut level);
    });
    assert!(message.contains("MockState::exit"), "{message}");
    assert!(message.contains("Method sequence violation"), "{message}");
}

#[test]
fn a_mock_can_ask_for_a_change_to_another_mock() {
    let (mut guard, mut level) = on_duty(0);
    let mut chase = MockState::named("Chase");
    chase.expect_enter().times(1).return_const(());
    let chase = StateRef::from(Box::new(chase));
    let mut patrol = MockState::<Guard>::named("Patrol");
    patrol.expect_update().times(1).returning(move |_, fsm, _| fsm.change_state(chase.clone()));
    patrol.expect_exit().times(1).return_const(());

    let mut machine = StateMachine::new(Box::new(patrol));
    machine.update(&mut guard, &mut level);
    assert_eq!(machine.current().unwrap().name(), "Chase");
}

#[test]
fn a_mock_may_be_the_global_and_see_where_the_machine_is() {
    let (mut guard, mut level) = on_duty(1);
    let mut awareness = MockState::new();
    awareness.expect_update().times(1).withf(|_, fsm, _| fsm.is_in_state(&Patrol)).return_const(());
    let mut rest = MockState::named("Rest");
    rest.expect_enter().times(1).return_const(());

    let mut machine = StateMachine::new(&Patrol).with_global(Box::new(awareness));
    machine.set_previous(Box::new(rest));
    machine.update(&mut guard, &mut level);
    assert_eq!(machine.current().unwrap().name(), "Rest");
    assert_eq!(guard.alarms.get(), 1);
}

#[test]
fn only_callbacks_are_mocked_so_guards_allow_and_a_stack_works() {
    let (mut guard, mut level) = on_duty(0);
    let mut order = Sequence::new();
    let mut patrol = MockState::<Guard>::named("Patrol");
    patrol.expect_exit().times(1).in_sequence(&mut order).return_const(());
    patrol.expect_enter().times(1).in_sequence(&mut order).return_const(());

    let mut machine = StateMachine::new(Box::new(patrol));
    assert!(machine.push_state(&mut guard, &Patrol, &mut level));
    assert!(machine.pop_state(&mut guard, &mut level));
    assert_eq!(machine.current().unwrap().name(), "Patrol");
}

#[test]
fn a_clone_of_a_machine_shares_its_mock_and_the_last_to_drop_verifies_it() {
    let mut patrol = MockState::<Guard>::new();
    patrol.expect_update().times(2).return_const(());
    let mut machine = StateMachine::new(Box::new(patrol));
    let mut rewound = machine.clone();
    update(&mut machine);
    drop(machine);
    update(&mut rewound);
    drop(rewound);
}

#[test]
fn editing_a_mock_that_two_machines_share_asks_its_expected_clone() {
    let mut patrol = MockState::<Guard>::named("Patrol");
    patrol.expect_clone().times(1).returning(|| MockState::named("Copy of Patrol"));
    let machine = StateMachine::new(Box::new(patrol));
    let mut rewound = machine.clone();
    rewound.current_mut::<MockState<Guard>>().unwrap().expect_update().times(1).return_const(());
    assert_eq!(rewound.current().unwrap().name(), "Copy of Patrol");
    assert_eq!(machine.current().unwrap().name(), "Patrol");
    update(&mut rewound);
}

#[test]
fn a_mock_is_asked_its_guards_once_they_are_expected() {
    let (mut guard, mut level) = on_duty(0);
    let mut gate = MockState::<Guard>::named("Gate");
    gate.expect_can_enter().times(1).withf(|guard, _, _| guard.alarms.get() == 0).return_const(true);
    gate.expect_enter().times(1).return_const(());
    gate.expect_can_exit().times(1).returning(|_, fsm, _| fsm.target().is_some_and(|target| target.is::<Patrol>()));
    gate.expect_exit().times(1).return_const(());

    let mut machine = StateMachine::idle();
    assert!(machine.change_state(&mut guard, Box::new(gate), &mut level));
    assert!(machine.change_state(&mut guard, &Patrol, &mut level));
}

#[test]
fn a_guard_of_a_mock_that_is_asked_too_often_panics() {
    let (mut guard, mut level) = on_duty(0);
    let mut gate = MockState::<Guard>::named("Gate");
    gate.expect_can_exit().times(1).return_const(false);
    let mut machine = StateMachine::new(Box::new(gate));
    assert!(!machine.change_state(&mut guard, &Patrol, &mut level));
    let message = panic_of(move || {
        machine.change_state(&mut guard, &Patrol, &mut level);
    });
    assert!(message.contains("MockState::can_exit"), "{message}");
}

#[test]
fn a_mock_is_suspended_and_resumed_as_it_is_expected_to_be() {
    let (mut guard, mut level) = on_duty(0);
    let mut order = Sequence::new();
    let mut below = MockState::<Guard>::named("Below");
    below.expect_suspend().times(1).in_sequence(&mut order).return_const(());
    below.expect_resume().times(1).in_sequence(&mut order).return_const(());
    // Without an expectation of `suspend` and `resume`, these are `exit` and `enter`.
    below.expect_exit().times(1).in_sequence(&mut order).return_const(());
    let mut machine = StateMachine::new(Box::new(below));
    machine.push_state(&mut guard, &Patrol, &mut level);
    machine.pop_state(&mut guard, &mut level);
    machine.change_state(&mut guard, &Patrol, &mut level);

    let mut below = MockState::<Guard>::named("Below");
    below.expect_exit().times(1).return_const(());
    below.expect_enter().times(1).return_const(());
    let mut machine = StateMachine::new(Box::new(below));
    machine.push_state(&mut guard, &Patrol, &mut level);
    machine.pop_state(&mut guard, &mut level);
}

#[test]
fn a_checkpoint_verifies_before_the_drop() {
    let mut patrol = MockState::<Guard>::new();
    patrol.expect_update().times(1).return_const(());
    let mut machine = StateMachine::new(Box::new(patrol));
    update(&mut machine);
    machine.current_mut::<MockState<Guard>>().unwrap().checkpoint();
    let message = panic_of(move || update(&mut machine));
    assert!(message.contains("MockState::update"), "{message}");
}

#[test]
fn mocks_are_sendable_whatever_their_owner_is() {
    fn assert_send_and_sync<S: Send + Sync>() {}
    assert_send_and_sync::<MockState<Guard>>();
}
