//! Faults of machines.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Weak};

use demeanor::{Fsm, GameTime, State, StateMachine, StateRef};

use crate::trace::{Actor, Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static BARN: Place = Place::new("Barn").keeping_history();
static LOFT: Place = Place::new("Loft").inside(&BARN);
static STALL: Place = Place::new("Stall").inside(&BARN);

/// Rules 12 and 22: the machine went on to believe that the `exit` was running, and refused every later request.
#[test]
fn requests_are_carried_out_after_a_callback_has_caught_the_panic_of_an_exit() {
    let mut stage = Stage::new(&A).panicking_in("A.exit").when("A.update", |actor, fsm, time| {
        if actor.count == 0 {
            actor.count += 1;
            let caught = catch_unwind(AssertUnwindSafe(|| fsm.change_state_now(actor, &B, time)));
            assert!(caught.is_err());
            fsm.push_state(&LOFT);
            assert!(fsm.change_state_now(actor, &STALL, time));
        }
    });
    assert_eq!(
        stage.update(),
        [
            "A.update",
            "A.exit",
            "A.suspend",
            "A -> Loft (push)",
            "Barn.enter",
            "Loft.enter",
            "Loft.exit",
            "Loft -> Stall (change)",
            "Stall.enter"
        ]
    );
    assert_eq!(stage.view(), "Barn/Stall, was Loft");
}

/// Panics when the last of its clones is dropped.
#[derive(Clone)]
struct Bomb(#[expect(dead_code, reason = "is dropped with it")] Arc<Fuse>);

struct Fuse;

impl Drop for Fuse {
    fn drop(&mut self) {
        resume_unwind(Box::new("the bomb goes off"));
    }
}

impl State<Actor> for Bomb {
    fn exit(&self, actor: &mut Actor, _: &mut Fsm<'_, Actor>, _: &mut GameTime) {
        actor.note("Bomb.exit");
    }
}

/// A way for the machine to let go of its state.
type LetGo = fn(&mut Stage);

/// Rule 22: wherever the machine lets go of an owned state whose `Drop` panics.
#[test]
fn a_machine_goes_on_after_the_drop_of_an_owned_state_has_panicked() {
    let bomb = || StateRef::<Actor>::from(Box::new(Bomb(Arc::new(Fuse))));
    let ways: [(LetGo, &str); 4] = [
        // Previous becomes another state.
        (
            |stage| {
                stage.change_state(&A);
                stage.change_state(&B);
            },
            "A, was A",
        ),
        (
            |stage| {
                stage.machine.set_current(&A);
            },
            "A",
        ),
        (
            |stage| {
                stage.change_state(&A);
                stage.machine.set_previous(&B);
            },
            "A, was B",
        ),
        // Off the stack, with which it goes.
        (
            |stage| {
                stage.push_state(&A);
                stage.machine.set_previous(&B);
                stage.stop();
            },
            "nowhere, was A",
        ),
    ];
    for (let_go, view) in ways {
        let mut stage = Stage::new(bomb());
        let payload = catch_unwind(AssertUnwindSafe(|| let_go(&mut stage))).expect_err(view);
        assert_eq!(payload.downcast_ref(), Some(&"the bomb goes off"));
        assert_eq!(stage.view(), view);
        stage.with(|_, _, _| {});
        let trace = stage.change_state(&STALL);
        assert_eq!(trace[trace.len() - 3..], ["Barn.enter", "Stall.enter", "done"], "{view}");
        assert_eq!(stage.update(), ["Barn.update", "Stall.update"], "{view}");
    }
}

/// A composite, and a state in it, both made at run time.
struct Camp(#[expect(dead_code, reason = "gives it a size")] u32);
struct Tent(StateRef<Actor>);

impl State<Actor> for Camp {
    fn keeps_history(&self) -> bool {
        true
    }
}

impl State<Actor> for Tent {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some(self.0.clone())
    }
}

/// Rule 16: each composite made anew stayed in the history for as long as the machine lived.
#[test]
fn history_does_not_grow_with_composites_that_nobody_else_refers_to() {
    let (mut actor, mut time) = (Actor::default(), GameTime::new());
    let mut machine = StateMachine::new(&A);
    let mut camps: Vec<Weak<Camp>> = Vec::new();
    for number in 0..1000 {
        let camp = Arc::new(Camp(number));
        camps.push(Arc::downgrade(&camp));
        let tent = Arc::new(Tent(camp.into()));
        assert!(machine.change_state(&mut actor, tent, &mut time));
        assert!(machine.change_state(&mut actor, &A, &mut time));
    }
    let kept = camps.iter().filter(|camp| camp.strong_count() > 0).count();
    assert!(kept <= 64, "{kept} are kept");
}

/// Rule 4: machines called `update` of passive states, batches did not.
#[test]
fn a_machine_does_not_update_a_passive_state() {
    static STATUE: Place = Place::new("Statue").passive();
    let mut stage = Stage::new(&STATUE).global(&A);
    assert_eq!(stage.update(), ["A.update"]);
    let mut stage = Stage::new(&A).global(&STATUE);
    assert_eq!(stage.update(), ["A.update"]);
}

/// Rule 16: it went to where the composite had been left before.
#[test]
fn a_composite_resumed_from_within_is_entered_down_to_where_it_is() {
    let mut stage = Stage::new(&LOFT);
    stage.change_state(&A);
    stage.change_state(&STALL);
    assert_eq!(
        stage.with(|_, fsm, _| fsm.resume_state(&BARN)),
        ["Stall.exit", "Barn.exit", "Stall -> Stall (resume)", "Barn.enter", "Stall.enter"]
    );
}
