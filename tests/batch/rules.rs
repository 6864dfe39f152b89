//! What rules 8, 18, 19, 22 and 31 say of many owners besides what holds for one.

#![cfg(feature = "std")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::{Batch, Change, Fsm, GameTime, Owner, State};

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

thread_local! {
    /// How many times anything of the game has been called.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn called() {
    CALLS.set(CALLS.get() + 1);
}

/// An owner that counts its ticks, and asks for what is to be measured.
struct Unit {
    ticks: u32,
    number: usize,
    ask: Ask,
}

type Ask = fn(&mut Unit, &mut Fsm<'_, Unit>, &mut ());

impl Owner for Unit {
    type Context<'a> = ();
    type Message = ();

    fn now((): &()) -> f64 {
        called();
        0.0
    }

    fn on_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
        called();
    }

    fn after_change(&mut self, _: &Change<'_, Self>, (): &mut ()) {
        called();
    }
}

/// The states that units change between: each is one for a number.
struct Post<const N: u8>;

impl<const N: u8> State<Unit> for Post<N> {
    fn enter(&self, _: &mut Unit, _: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
        unit.ticks += 1;
        (unit.ask)(unit, fsm, &mut ());
    }

    fn exit(&self, _: &mut Unit, _: &mut Fsm<'_, Unit>, (): &mut ()) {
        called();
    }

    fn can_enter(&self, _: &Unit, _: &Fsm<'_, Unit>, (): &()) -> bool {
        called();
        N != 8
    }

    fn can_exit(&self, _: &Unit, fsm: &Fsm<'_, Unit>, (): &()) -> bool {
        called();
        fsm.target().is_none_or(|target| !target.is::<Post<9>>())
    }

    fn parent(&self) -> Option<demeanor::StateRef<Unit>> {
        called();
        None
    }

    fn initial(&self) -> Option<demeanor::StateRef<Unit>> {
        called();
        None
    }

    fn is_passive(&self) -> bool {
        called();
        false
    }
}

/// What a tick of so many owners calls and allocates, once the batch has grown to them.
fn cost(count: usize, ask: Ask) -> (u64, u64) {
    let mut batch = Batch::new();
    for number in 0..count {
        batch.insert(Unit { ticks: 0, number, ask }, &Post::<0>);
    }
    (0..4).for_each(|_| batch.update(&mut ()));
    let calls_before = CALLS.get();
    let allocations = allocation_counter::measure(|| {
        batch.update(&mut ());
        batch.update(&mut ());
    });
    (CALLS.get() - calls_before, allocations.count_total)
}

/// Rule 31.
#[test]
fn what_an_owner_asks_for_costs_the_same_however_many_ask() {
    let corners: [(&str, Ask); 8] = [
        ("a change that can_enter refuses", |_, fsm, ()| fsm.change_state(&Post::<8>)),
        ("a change that can_exit refuses", |_, fsm, ()| fsm.change_state(&Post::<9>)),
        ("a revert without a previous state", |_, fsm, ()| fsm.revert_state()),
        ("half change, half revert", |unit, fsm, ()| {
            if unit.number % 2 == 0 { fsm.change_state(&Post::<1>) } else { fsm.revert_state() }
        }),
        (
            "a push, then a pop",
            |unit, fsm, ()| {
                if unit.ticks % 2 == 1 { fsm.push_state(&Post::<1>) } else { fsm.pop_state() }
            },
        ),
        ("a change now", |unit, fsm, cx| {
            fsm.change_state_now(unit, &Post::<1>, cx);
        }),
        ("three requests", |_, fsm, ()| {
            fsm.change_state(&Post::<1>);
            fsm.change_state(&Post::<2>);
            fsm.force_state(&Post::<3>);
        }),
        ("an ensured state and a message", |_, fsm, ()| {
            fsm.ensure_state(&Post::<1>);
            fsm.send(());
        }),
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
