//! Rule 22 for the game's code other than callbacks and guards: after a panic in any of it, the machine is whole.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::captured_log::log_lines;
use demeanor::{Fsm, Owner, State, StateMachine, StateRef};

thread_local! {
    /// The piece of code that panics at its next call.
    static ARMED: Cell<&'static str> = const { Cell::new("") };
    static TRACE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Panics once if `piece` is armed, without calling the panic hook, because the panic is expected.
fn trip(piece: &str) {
    if ARMED.get() == piece {
        ARMED.set("");
        resume_unwind(Box::new("tripped"));
    }
}

fn note(line: String) {
    TRACE.with_borrow_mut(|trace| trace.push(line));
}

struct Frog;

impl Owner for Frog {
    type Context<'a> = f64;
    type Message = ();

    fn now(clock: &f64) -> f64 {
        trip("now");
        *clock
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trip("label");
        f.write_str("Frog")
    }
}

/// A lily pad: a state in which each method may panic.
struct Pad {
    name: &'static str,
    around: Option<StateRef<Frog>>,
}

impl Pad {
    fn trip(&self, piece: &str) {
        trip(&format!("{}.{piece}", self.name));
    }
}

impl Clone for Pad {
    fn clone(&self) -> Self {
        self.trip("clone");
        Self { name: self.name, around: self.around.clone() }
    }
}

impl Drop for Pad {
    fn drop(&mut self) {
        self.trip("drop");
    }
}

impl State<Frog> for Pad {
    fn enter(&self, _: &mut Frog, _: &mut Fsm<'_, Frog>, _: &mut f64) {
        note(format!("{}.enter", self.name));
    }

    fn update(&self, _: &mut Frog, _: &mut Fsm<'_, Frog>, _: &mut f64) {
        note(format!("{}.update", self.name));
    }

    fn exit(&self, _: &mut Frog, _: &mut Fsm<'_, Frog>, _: &mut f64) {
        note(format!("{}.exit", self.name));
    }

    fn parent(&self) -> Option<StateRef<Frog>> {
        self.trip("parent");
        self.around.clone()
    }

    fn initial(&self) -> Option<StateRef<Frog>> {
        self.trip("initial");
        None
    }

    fn keeps_history(&self) -> bool {
        self.trip("keeps_history");
        self.name != "River"
    }

    fn is_passive(&self) -> bool {
        self.trip("is_passive");
        false
    }

    fn name(&self) -> Cow<'_, str> {
        self.trip("name");
        self.name.into()
    }
}

fn owned(name: &'static str) -> StateRef<Frog> {
    Box::new(Pad { name, around: None }).into()
}

fn inside(around: &StateRef<Frog>, name: &'static str) -> StateRef<Frog> {
    Box::new(Pad { name, around: Some(around.clone()) }).into()
}

fn shared(name: &'static str) -> StateRef<Frog> {
    Arc::new(Pad { name, around: None }).into()
}

/// Runs `act`, in which `piece` panics. Returns the trace.
fn panicking(piece: &'static str, act: impl FnOnce()) -> Vec<String> {
    TRACE.take();
    ARMED.set(piece);
    let payload = catch_unwind(AssertUnwindSafe(act)).expect_err(piece);
    assert_eq!(payload.downcast_ref(), Some(&"tripped"), "{piece}");
    TRACE.take()
}

/// Returns the active path of a machine, and checks that it is the path of its current state.
fn path(machine: &StateMachine<Frog>) -> String {
    let shown: Vec<_> = machine.path().cloned().collect();
    let mut chain: Vec<_> = std::iter::successors(machine.current().cloned(), |state| state.parent()).collect();
    chain.reverse();
    assert_eq!(shown, chain, "the path is that of the current state");
    shown.iter().map(|state| state.name().into_owned()).collect::<Vec<_>>().join("/")
}

/// Checks that the machine can be updated and changed twice.
fn goes_on(machine: &mut StateMachine<Frog>) {
    let names: Vec<_> = machine.path().map(ToString::to_string).collect();
    TRACE.take();
    machine.update(&mut Frog, &mut 9.0);
    assert_eq!(TRACE.take(), names.iter().map(|name| format!("{name}.update")).collect::<Vec<_>>());
    assert!(machine.change_state(&mut Frog, owned("Elsewhere"), &mut 9.0));
    let exits = names.iter().rev().map(|name| format!("{name}.exit"));
    assert_eq!(TRACE.take(), exits.chain(["Elsewhere.enter".to_owned()]).collect::<Vec<_>>());
    assert_eq!(path(machine), "Elsewhere");
    assert!(machine.revert_state(&mut Frog, &mut 9.0));
}

/// Creates a machine in `Pond/Old` whose previous state is `Older`.
fn machine() -> StateMachine<Frog> {
    let mut machine = StateMachine::new(inside(&shared("Pond"), "Old"));
    machine.set_previous(owned("Older"));
    machine
}

/// An act of the machine in `Pond/Old` during which a piece of code panics.
type Act = fn(&mut StateMachine<Frog>);

const CHANGE: Act = |machine| _ = machine.change_state(&mut Frog, owned("New"), &mut 1.0);
const POP: Act = |machine| _ = machine.pop_state(&mut Frog, &mut 1.0);
const UPDATE: Act = |machine| machine.update(&mut Frog, &mut 1.0);
const SET_CURRENT: Act = |machine| machine.set_current(inside(&shared("Lake"), "New"));

/// Rules 4, 22 and 23. Each entry: the piece that panics, the act, the callbacks that have run by then, and the state
/// afterwards.
#[test]
fn whatever_panics_of_what_a_machine_asks_it_is_in_one_piece() {
    let exits: &[&str] = &["Old.exit", "Pond.exit"];
    for (piece, act, expected, state) in [
        ("New.parent", CHANGE, &[][..], "Pond/Old"),
        ("New.initial", CHANGE, &[], "Pond/Old"),
        // The former previous state is dropped when it is replaced.
        ("Older.drop", CHANGE, &[], "Pond/Old"),
        ("Pond.keeps_history", CHANGE, exits, "Pond/Old"),
        ("now", CHANGE, exits, "Pond/Old"),
        // The change is logged after the swap.
        ("label", CHANGE, exits, "New"),
        ("New.name", CHANGE, exits, "New"),
        // A refusal is logged, too.
        ("label", POP, &[], "Pond/Old"),
        ("Old.name", POP, &[], "Pond/Old"),
        ("Old.is_passive", UPDATE, &["Pond.update"], "Pond/Old"),
        ("Old.drop", SET_CURRENT, &[], "Lake/New"),
    ] {
        let mut machine = machine();
        let mut trace = Vec::new();
        log_lines(|| trace = panicking(piece, || act(&mut machine)));
        assert_eq!(trace, expected, "{piece}");
        assert_eq!(path(&machine), state, "{piece}");
        goes_on(&mut machine);
    }
}

/// Rule 22.
#[test]
fn a_drop_that_panics_when_the_previous_state_is_set_leaves_the_new_one() {
    let mut machine = machine();
    panicking("Older.drop", || machine.set_previous(owned("New")));
    assert_eq!(machine.previous().map(ToString::to_string).as_deref(), Some("New"));
    goes_on(&mut machine);
}

/// Rules 17 and 22.
#[test]
fn a_panic_in_a_clone_leaves_the_state_that_was_to_be_edited() {
    let mut machine = machine();
    let snapshot = machine.clone();
    panicking("Old.clone", || {
        machine.current_mut::<Pad>();
    });
    assert_eq!(machine.current(), snapshot.current());
    assert_eq!(path(&machine), "Pond/Old");
    goes_on(&mut machine);
}

/// Rules 1 and 22.
#[test]
fn a_drop_that_panics_while_stopping_leaves_no_state() {
    let mut machine = StateMachine::new(owned("Old"));
    machine.push_state(&mut Frog, owned("New"), &mut 1.0);
    machine.set_previous(owned("Older"));
    panicking("Older.drop", || machine.stop(&mut Frog, &mut 1.0));
    assert_eq!(path(&machine), "New", "it was dropped before the exits");
    // Suspended states are dropped last.
    machine.set_previous(owned("Older"));
    let trace = panicking("Old.drop", || machine.stop(&mut Frog, &mut 1.0));
    assert_eq!(trace, ["New.exit"]);
    assert!(machine.current().is_none());
    assert!(!machine.pop_state(&mut Frog, &mut 1.0));
    assert!(machine.change_state(&mut Frog, owned("Elsewhere"), &mut 9.0));
    goes_on(&mut machine);
}

/// A composite state that its child creates at each call of `parent`.
#[derive(Clone)]
struct Raft;

impl State<Frog> for Raft {
    fn parent(&self) -> Option<StateRef<Frog>> {
        Some(shared("River"))
    }
}

/// Rule 22: an ancestor that only the machine refers to is dropped together with the path.
#[test]
fn a_drop_of_an_ancestor_that_panics_leaves_a_path_of_one_piece() {
    for (act, state) in [(SET_CURRENT, "Lake/New"), (CHANGE, "New")] {
        let mut machine = StateMachine::new(&Raft);
        panicking("River.drop", || act(&mut machine));
        assert_eq!(path(&machine), state);
        goes_on(&mut machine);
    }
}

/// Rules 18 and 22.
#[test]
fn a_clock_that_panics_when_a_state_asks_it_leaves_the_old_state() {
    struct Watch;
    impl State<Frog> for Watch {
        fn update(&self, _: &mut Frog, fsm: &mut Fsm<'_, Frog>, clock: &mut f64) {
            fsm.change_state(owned("New"));
            note(format!("for {} s", fsm.time_in_state(clock)));
        }
    }
    let mut machine = StateMachine::new(&Watch);
    assert_eq!(panicking("now", || machine.update(&mut Frog, &mut 1.0)), [] as [&str; 0]);
    assert!(machine.is_in_state(&Watch));
    machine.update(&mut Frog, &mut 1.0);
    assert_eq!(path(&machine), "New");
    goes_on(&mut machine);
}
