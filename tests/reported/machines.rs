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

static FARM: Place = Place::new("Farm");
static FIELD: Place = Place::new("Field").inside(&FARM);

/// A machine in `Farm/Field`, with a timer of each of the two and one of the machine, under `A` that was pushed over them.
fn with_suspended_timers() -> Stage {
    let mut stage = Stage::new(&FIELD)
        .when("Farm.enter", |_, fsm, _| fsm.send_after(3.0, "farm"))
        .when("Field.enter", |_, fsm, _| fsm.send_after(4.0, "field"));
    stage.start();
    stage.machine.send_after(&mut stage.actor, 5.0, "machine", &mut stage.time);
    stage.push_state(&A);
    stage
}

/// What a machine does in ten seconds besides being updated.
fn ten_seconds(stage: &mut Stage) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..10 {
        stage.advance(1);
        seen.extend(stage.update().into_iter().filter(|line| !line.ends_with(".update")));
    }
    seen
}

/// Rules 15 and 25: a pop put the timers of all states back before it had resumed the states. If it was cut short, timers ran
/// on of states that were not active, and the machine could not be loaded from what was saved of it.
#[test]
fn a_pop_that_a_change_in_resume_cuts_short_ends_the_timers_of_the_states_that_are_not_resumed() {
    let mut stage = with_suspended_timers().when("Farm.resume", |actor, fsm, time| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.push_state(&B);
            fsm.send_now(actor, &"now", time);
        }
    });
    assert_eq!(
        stage.pop_state(),
        "A.exit; A -> Field (pop); Farm.resume; Farm.suspend; Farm -> B (push); B.enter; B.now; done"
    );
    assert_eq!(stage.machine.report(&stage.actor, 0.0).stack[0].len(), 1);
    assert_eq!(stage.pop_state(), ["B.exit", "B -> Farm (pop)", "Farm.resume", "done"]);
    assert_eq!(ten_seconds(&mut stage), ["Farm.farm", "Farm.machine"]);

    let mut stage = with_suspended_timers().when("Farm.resume", |actor, fsm, time| {
        fsm.change_state_now(actor, &FIELD, time);
    });
    stage.pop_state();
    // The field has been entered again: the timer is the one of this entry.
    assert_eq!(stage.machine.report(&stage.actor, 0.0).timers.len(), 3);
    assert_eq!(
        ten_seconds(&mut stage),
        ["Field.farm", "Farm.farm", "Field.field", "Farm.field", "Field.machine", "Farm.machine"]
    );
}

/// Rules 15, 22 and 25, as above.
#[test]
fn a_pop_that_a_panic_cuts_short_ends_the_timers_of_the_states_that_are_not_resumed() {
    for (callback, trace) in
        [("on_change", "A.exit; A -> Field (pop)"), ("Farm.resume", "A.exit; A -> Field (pop); Farm.resume")]
    {
        let mut stage = with_suspended_timers().panicking_in(callback);
        assert_eq!(stage.catch(Stage::pop_state), trace, "{callback}");
        assert_eq!(stage.view(), "Farm, was A");
        assert_eq!(ten_seconds(&mut stage), ["Farm.farm", "Farm.machine"], "{callback}");
    }
    // All have been resumed, the last one with a panic.
    let mut stage = with_suspended_timers().panicking_in("Field.resume");
    stage.catch(Stage::pop_state);
    assert_eq!(stage.view(), "Farm/Field, was A");
    assert_eq!(
        ten_seconds(&mut stage),
        ["Field.farm", "Farm.farm", "Field.field", "Farm.field", "Field.machine", "Farm.machine"]
    );
}

/// Rule 22: a callback that catches the panic of its own pop goes on with the timers of the states that are active.
#[test]
fn a_callback_that_catches_the_panic_of_a_pop_goes_on_without_the_timers_of_states_that_are_not_resumed() {
    let mut stage = with_suspended_timers().panicking_in("Farm.resume").when("A.update", |actor, fsm, time| {
        fsm.pop_state();
        let caught = catch_unwind(AssertUnwindSafe(|| fsm.send_now(actor, &"now", time)));
        assert!(caught.is_err());
        actor.stop_panicking();
        fsm.push_state(&B);
    });
    assert_eq!(
        stage.update(),
        ["A.update", "A.exit", "A -> Field (pop)", "Farm.resume", "Farm.suspend", "Farm -> B (push)", "B.enter"]
    );
    assert_eq!(ten_seconds(&mut stage), ["B.machine"]);
    stage.pop_state();
    assert_eq!(ten_seconds(&mut stage), ["Farm.farm"]);
}
