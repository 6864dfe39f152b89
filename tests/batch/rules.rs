//! What rules 8, 18, 19, 22 and 31 say of many owners besides what holds for one.

#![cfg(feature = "std")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::{Batch, GameTime, StateRef};

use crate::game::{self, Barred, Clock, Closed, Hall, Imp, add, calls};
use crate::trace::places::{A, B, C, X1, X2, Y};
use crate::trace::{Act, Actor, Stage};

/// Rules 8 and 18: the handle is that of the owner who is asked about, also where many are asked in a row.
#[test]
fn a_guard_reads_the_machine_of_the_owner_it_is_asked_about() {
    let actor = |act: Act| {
        let stage = Stage::new(&A).when("A.update", act).asking("A.can_exit", |actor, fsm, time| {
            let (previous, target, time) = (fsm.previous(), fsm.target(), fsm.time_in(&A, time));
            actor.note(format!("{previous:?}, {target:?}, {time:?}, {}", fsm.has_requests()));
            true
        });
        stage.actor
    };
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let changes: [Act; 2] = [
        |_, fsm, _| fsm.change_state(&B),
        |_, fsm, _| {
            fsm.change_state(&C);
            fsm.change_state(&B);
        },
    ];
    let [first, second] = changes.map(|act| batch.insert(actor(act), &A));
    // It comes back from elsewhere, later than the others have come.
    let third = batch.insert(actor(|_, fsm, _| fsm.change_state(&C)), &C);
    time.advance(Duration::from_secs(2));
    batch.change_state(third, &A, &mut time);
    time.advance(Duration::from_secs(3));
    batch[third].take_trace();
    batch.update(&mut time);
    let seen = [first, second, third].map(|key| batch[key].take_trace()[1].clone());
    assert_eq!(
        seen,
        ["None, Some(B), Some(5.0), false", "None, Some(C), Some(5.0), true", "Some(C), Some(C), Some(3.0), false"]
    );
}

/// Rules 8, 19 and 22.
#[test]
fn a_guard_a_panic_or_a_flight_at_any_level_concerns_nobody_else() {
    let places = [&X2, &Y, &A, &X1];
    let calls = ["X1.exit", "X.exit", "Y.enter", "Y1.enter", "X2.enter", "A.enter"];
    let guards = ["X1.can_exit", "X.can_exit", "Y.can_enter", "Y1.can_enter", "X2.can_enter", "A.can_enter"];
    let mut stages = Vec::new();
    for to in places {
        let plain = || Stage::new(&X1).when("X1.update", move |_, fsm, _| fsm.change_state(to));
        stages.extend(guards.map(|guard| plain().refusing(guard)));
        stages.extend(calls.map(|call| {
            plain().when(call, |actor, fsm, time| {
                fsm.change_state_now(actor, &A, time);
            })
        }));
        stages.extend(calls.map(|call| plain().panicking_in(call)));
        stages.extend([plain(), plain()]);
    }
    let mut batch = Batch::new();
    let mut time = GameTime::new();
    for place in places {
        let guide = batch.insert(Actor::default(), place);
        batch.remove(guide);
    }
    let keys: Vec<_> = stages.iter().map(|stage| batch.insert(stage.actor.clone(), &X1)).collect();
    assert!(catch_unwind(AssertUnwindSafe(|| batch.update(&mut time))).is_err(), "the panic reaches the caller");
    let mut panicked = 0;
    for (nth, (mut alone, key)) in stages.into_iter().zip(keys).enumerate() {
        let update = AssertUnwindSafe(|| alone.machine.update(&mut alone.actor, &mut alone.time));
        panicked += usize::from(catch_unwind(update).is_err());
        assert_eq!(batch[key].take_trace(), alone.actor.take_trace(), "owner {nth}");
        let path: Vec<_> = batch.path(key).into_iter().flatten().collect();
        assert_eq!(path, alone.machine.path().collect::<Vec<_>>(), "owner {nth}");
    }
    assert!(panicked > 4);
}

/// What an imp is to ask for in a tick of a number: the state, and the request, see [`crate::game`].
type Ask = fn(u32, &Imp) -> (StateRef<Imp>, u8);

/// What a tick of so many owners calls and allocates, once the batch has grown to them.
fn cost(count: u32, ask: Ask) -> (u64, u64) {
    let mut batch = Batch::new();
    add(&mut batch, 0, count, || (&game::A).into());
    let mut clock = Clock::default();
    let mut tick = |number| {
        clock.updated.clear();
        for (_, imp) in &mut batch {
            let (state, request) = ask(number, imp);
            (imp.order, imp.request) = (Some(state), request);
        }
        batch.update(&mut clock);
    };
    (0..4).for_each(&mut tick);
    let calls_before = calls();
    let allocations = allocation_counter::measure(|| (4..6).for_each(&mut tick));
    (calls() - calls_before, allocations.count_total)
}

/// Rule 31.
#[test]
fn what_an_owner_asks_for_costs_the_same_however_many_ask() {
    let corners: [(&str, Ask); 8] = [
        ("a change that can_enter refuses", |_, _| ((&Closed).into(), 0)),
        ("a change that can_exit refuses", |_, _| ((&Barred).into(), 0)),
        ("a revert without a previous state", |_, _| ((&game::B).into(), 4)),
        ("half change, half revert", |_, imp| ((&game::B).into(), if imp.number % 2 == 0 { 0 } else { 4 })),
        ("a push, then a message now and a pop", |tick, _| ((&game::B).into(), if tick % 2 == 0 { 2 } else { 9 })),
        ("a change now", |_, _| ((&game::B).into(), 1)),
        ("three requests", |_, _| ((&Hall).into(), 5)),
        ("an ensured state and a message", |_, _| ((&game::B).into(), 8)),
    ];
    for (corner, ask) in corners {
        // All within one chunk, and then over several.
        let [few, some, many, most] = [400, 800, 1600, 16_000].map(|count| cost(count, ask));
        assert_eq!(many.0 - some.0, 2 * (some.0 - few.0), "{corner}: calls of 400 owners more, and 800 more");
        assert!(most.0 <= many.0 * 11, "{corner}: {} calls for 1600 owners, {} for ten times as many", many.0, most.0);
        assert!(some.1 <= few.1 * 2 + 16, "{corner}: {} allocations for 400 owners, {} for 800", few.1, some.1);
        assert!(most.1 <= many.1 * 11 + 16, "{corner}: {} allocations for 1600, {} for 16 000", many.1, most.1);
    }
}
