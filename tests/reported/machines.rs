//! Faults of machines.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Weak};

use demeanor::{Fsm, GameTime, State, StateMachine, StateRef};

use crate::play::{ALONE, EVERYWHERE, play};
use crate::trace::{Actor, Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static BARN: Place = Place::new("Barn").keeping_history();
static STALL: Place = Place::new("Stall").inside(&BARN);

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

#[test]
fn panics_that_are_caught_and_pops_that_are_cut_short() {
    play(
        EVERYWHERE,
        r"
        # requests_are_carried_out_after_a_callback_has_caught_the_panic_of_an_exit (rules 12 and 22)
        // The machine went on to believe that the `exit` was running, and refused every later request.
        in A; panicking A.exit
        A.update, 1x: catch now B; push Stove; now Table is done
        update => A.update; A.exit; caught; A.suspend; A -> Stove (push); House.enter; Kitchen.enter; Stove.enter
            Stove.exit; Stove -> Table (change); Table.enter
        view => House/Kitchen/Table, was Stove

        # a_pop_that_a_change_in_resume_cuts_short_ends_the_timers_of_the_states_that_are_not_resumed (rules 15 and 25)
        // A pop put the timers of all states back before it had resumed the states. If it was cut short, timers ran on of
        // states that were not active, and the machine could not be loaded from what was saved of it.
        in Kitchen
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        House.resume, 1x: push B; hear now
        start; after 5 send machine; push A
        pop => A.exit; A -> Kitchen (pop); House.resume; House.suspend; House -> B (push); B.enter; B.now
            A -> Kitchen (pop), abandoned in House; not done
        pop => B.exit; B -> House (pop); House.resume; done
        ticks 10 => 3 s; House.house; House.update; 5 s; House.machine; House.update
        // The kitchen is entered again: its timer is that of this entry.
        in Kitchen
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        House.resume: now Kitchen
        start; after 5 send machine; push A; pop
        ticks 10 => 3 s; Kitchen.house; House.house; House.update; Kitchen.update
            4 s; Kitchen.kitchen; House.kitchen; House.update; Kitchen.update
            5 s; Kitchen.machine; House.machine; House.update; Kitchen.update

        # a_pop_that_a_panic_cuts_short_ends_the_timers_of_the_states_that_are_not_resumed (rules 15, 22 and 25)
        in Kitchen; panicking House.resume
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        start; after 5 send machine; push A
        panicking pop => A.exit; A -> Kitchen (pop); House.resume
        view => House, was A
        ticks 10 => 3 s; House.house; House.update; 5 s; House.machine; House.update
        // All have been resumed, the last one with a panic.
        in Kitchen; panicking Kitchen.resume
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        start; after 5 send machine; push A
        panicking pop => A.exit; A -> Kitchen (pop); House.resume; Kitchen.resume
        view => House/Kitchen, was A
        ticks 10 => 3 s; Kitchen.house; House.house; House.update; Kitchen.update
            4 s; Kitchen.kitchen; House.kitchen; House.update; Kitchen.update
            5 s; Kitchen.machine; House.machine; House.update; Kitchen.update

        # a_callback_that_catches_the_panic_of_a_pop_goes_on_without_the_timers_of_states_that_are_not_resumed (rule 22)
        in Kitchen; panicking House.resume
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        A.update: pop; catch hear now; push B
        start; after 5 send machine; push A
        update => A.update; A.exit; A -> Kitchen (pop); House.resume; caught; House.suspend; House -> B (push); B.enter
        ticks 10 => 5 s; B.machine; B.update
        panics nothing
        pop => B.exit; B -> House (pop); House.resume; done
        ticks 10 => 13 s; House.house; House.update
        ",
    );
    play(
        ALONE,
        r"
        # a_pop_that_a_panic_in_on_change_cuts_short_ends_the_timers_of_the_states_that_are_not_resumed (rules 15, 22 and 25)
        in Kitchen
        House.enter: after 3 send house
        Kitchen.enter: after 4 send kitchen
        start; after 5 send machine; push A; panics on_change
        panicking pop => A.exit; A -> Kitchen (pop)
        view => House, was A
        ticks 10 => 3 s; House.house; House.update; 5 s; House.machine; House.update
        ",
    );
}
