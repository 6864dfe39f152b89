//! The chapter "Waiting" in a batch: rules 25 and 26 for many owners.
#![cfg(feature = "std")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::trace::places::{A, B, C};
use crate::trace::{Act, Actor, Stage, Trace, due};
use allocation_counter::measure;
use demeanor::{Batch, Fsm, FsmSlice, GameTime, Key, NextWake, Owner, State, StateMachine};

fn advance(time: &mut GameTime, seconds: u64) {
    time.advance(Duration::from_secs(seconds));
}

fn trace(batch: &mut Batch<Actor>, key: Key) -> Trace {
    batch.get_mut(key).expect("it is there").take_trace()
}

fn forget_traces(batch: &mut Batch<Actor>) {
    for (_, actor) in batch {
        actor.take_trace();
    }
}

/// An actor that does something in a callback.
fn actor(callback: &'static str, act: Act) -> Actor {
    Stage::new(&A).when(callback, act).actor
}

/// An actor that goes to B two seconds after it has entered A, and sleeps until then.
fn patient() -> Actor {
    actor("A.enter", |_, fsm, _| {
        fsm.change_state_after(2.0, &B);
        fsm.sleep();
    })
}

/// Runs a tick that is to panic.
fn panicking(act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "the panic reaches the caller");
}

/// Rule 25.
#[test]
fn owned_states_have_timers_too() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..4).map(|_| batch.spawn(patient(), Box::new(A.clone()), &mut time)).collect();
    assert_eq!(batch.awake(), 0);
    let [due, left, removed, panics] = keys[..] else { panic!("there are four") };
    batch.change_state(left, &C, &mut time);
    let (mut owner, mut machine) = batch.remove(removed).expect("it is there");
    let mut fragile = Stage::new(&A).panicking_in("B.enter").actor;
    std::mem::swap(batch.get_mut(panics).expect("it is there"), &mut fragile);
    forget_traces(&mut batch);
    owner.take_trace();
    advance(&mut time, 2);
    let entered_b = ["A.exit", "A -> B (change)", "B.enter", "B.update"];
    panicking(|| batch.update(&mut time));
    assert_eq!(trace(&mut batch, panics), entered_b[..3]);
    batch.get_mut(panics).expect("it is there").stop_panicking();
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, panics), ["B.update"], "it is used up");
    assert_eq!(trace(&mut batch, due)[..4], entered_b);
    assert_eq!(trace(&mut batch, left).last().map(String::as_str), Some("C.update"));
    machine.update(&mut owner, &mut time);
    assert_eq!(owner.take_trace(), entered_b);
}

/// Rule 22: no other timer is lost or carried out twice.
#[test]
fn a_panic_in_what_a_timer_leads_to_uses_up_that_timer_alone() {
    type Update = fn(&mut Batch<Actor>, &mut GameTime);
    let updates: &[Update] = &[
        |batch, time| batch.update(time),
        |batch, time| batch.update_in_key_order(time),
        #[cfg(feature = "parallel")]
        |batch, time| drop(batch.par_update(|_| *time)),
    ];
    for update in updates {
        let mut time = GameTime::new();
        let mut batch = Batch::new();
        let keys: Vec<_> = (0..9).map(|_| batch.spawn(patient(), &A, &mut time)).collect();
        let mut fragile = Stage::new(&A).panicking_in("A.exit").actor;
        std::mem::swap(batch.get_mut(keys[4]).expect("it is there"), &mut fragile);
        let mut traces: Vec<Vec<String>> = vec![Vec::new(); keys.len()];
        forget_traces(&mut batch);
        advance(&mut time, 2);
        panicking(|| update(&mut batch, &mut time));
        let begun = keys.iter().filter(|key| batch.get_mut(**key).is_some_and(|actor| actor.count_trace() > 0)).count();
        assert_eq!(batch.awake(), begun, "those that the tick has not come to sleep on");
        batch.get_mut(keys[4]).expect("it is there").stop_panicking();
        update(&mut batch, &mut time);
        for (all, key) in traces.iter_mut().zip(&keys) {
            all.extend(trace(&mut batch, *key));
        }
        for (number, trace) in traces.iter().enumerate() {
            let made: Vec<_> = trace.iter().filter(|line| !line.ends_with(".update")).collect();
            match number {
                4 => assert_eq!(trace[..], ["A.exit", "A.update"]),
                _ => assert_eq!(made, ["A.exit", "A -> B (change)", "B.enter"], "owner {number}"),
            }
        }
    }
}

/// A bear that sleeps and wakes, in numbers.
#[derive(Clone, Default, Debug, PartialEq)]
struct Bear {
    looks: u32,
    heard: u32,
    /// When it has left the den, and when it has come to the meadow.
    moved_at: [f64; 2],
}

impl Owner for Bear {
    type Context<'a> = f64;
    type Message = ();

    fn now(clock: &f64) -> f64 {
        *clock
    }
}

/// Sleeps as soon as it is updated.
struct Den;
/// Is awake.
struct Meadow;
/// Sets timers for later in each tick, and leaves.
struct Restless;

impl State<Bear> for Den {
    fn update(&self, bear: &mut Bear, fsm: &mut Fsm<'_, Bear>, _: &mut f64) {
        bear.looks += 1;
        fsm.sleep();
        fsm.change_state_after(10.0, &Meadow);
    }

    fn exit(&self, bear: &mut Bear, _: &mut Fsm<'_, Bear>, clock: &mut f64) {
        bear.moved_at[0] = *clock;
    }
}

impl State<Bear> for Meadow {
    fn enter(&self, bear: &mut Bear, _: &mut Fsm<'_, Bear>, clock: &mut f64) {
        bear.moved_at[1] = *clock;
    }

    fn update(&self, bear: &mut Bear, _: &mut Fsm<'_, Bear>, _: &mut f64) {
        bear.looks += 1;
    }

    fn on_message(&self, bear: &mut Bear, (): &(), _: &mut Fsm<'_, Bear>, _: &mut f64) -> bool {
        bear.heard += 1;
        true
    }
}

impl State<Bear> for Restless {
    fn update(&self, _: &mut Bear, fsm: &mut Fsm<'_, Bear>, clock: &mut f64) {
        fsm.change_state_after(1000.0, &Meadow);
        fsm.send_after(100.0 + *clock, ());
        fsm.change_state(&Restless);
    }
}

/// Rules 25 and 26.
#[test]
fn as_many_as_there_are_fall_asleep_in_one_tick_and_wake_in_one() {
    let count = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let mut batch: Batch<Bear> = (0..count).map(|_| (Bear::default(), &Den)).collect();
    batch.update(&mut 0.0);
    assert_eq!((batch.awake(), batch.owners_in(&Den).len()), (0, count));
    batch.update(&mut 9.99);
    assert!(batch.iter().all(|(_, bear)| bear.looks == 1));
    batch.update(&mut 10.0);
    assert_eq!((batch.awake(), batch.owners_in(&Meadow).len()), (count, count));
    assert!(batch.iter().all(|(_, bear)| *bear == Bear { looks: 2, heard: 0, moved_at: [10.0; 2] }));
    assert!(batch.keys().all(|key| batch.next_wake(key) == Some(NextWake::EveryTick)));
}

/// Rule 26.
#[test]
fn a_tick_in_which_all_sleep_and_nothing_is_due_calls_and_allocates_nothing() {
    let mut batch: Batch<Bear> = (0..10_000).map(|_| (Bear::default(), &Den)).collect();
    batch.update(&mut 0.0);
    let before = batch.clone();
    let mut clock = 0.0;
    let allocated = measure(|| {
        for _ in 0..90 {
            clock += 0.1;
            batch.update(&mut clock);
        }
    });
    assert_eq!(allocated.count_total, 0);
    assert!(batch.iter().eq(before.iter()));
}

/// Rules 25 and 31.
#[test]
fn timers_that_are_set_for_later_and_left_behind_take_no_more_and_more_room() {
    let mut batch: Batch<Bear> = (0..20).map(|_| (Bear::default(), &Restless)).collect();
    let mut clock = 0.0;
    let mut run = |ticks| {
        for _ in 0..ticks {
            clock += 1.0 / 64.0;
            batch.update(&mut clock);
        }
    };
    run(2000);
    let grown = measure(|| run(10_000));
    assert!(grown.bytes_current <= 0, "{} more bytes", grown.bytes_current);
}

/// Rule 25.
#[test]
fn a_clock_that_shows_infinity_lets_nothing_come_due_and_panics_nowhere() {
    let mut clock = f64::INFINITY;
    let mut batch = Batch::new();
    let key = batch.insert(Bear::default(), &Meadow);
    let mut bear = Bear::default();
    let mut machine = StateMachine::new(&Meadow);
    batch.with(key, &mut clock, |_, fsm, _| fsm.send_after(1.0, ()));
    machine.send_after(&mut bear, 1.0, (), &mut clock);
    batch.send(key, &(), &mut clock);
    machine.send(&mut bear, &(), &mut clock);
    batch.push_state(key, &Restless, &mut clock);
    machine.push_state(&mut bear, &Restless, &mut clock);
    batch.pop_state(key, &mut clock);
    machine.pop_state(&mut bear, &mut clock);
    batch.update(&mut clock);
    machine.update(&mut bear, &mut clock);
    assert_eq!((batch.get(key), bear.heard), (Some(&bear), 1));
    batch.sleep(key);
    machine.sleep();
    let next = NextWake::At(due(1.0, 0.0));
    assert_eq!((batch.next_wake(key), machine.next_wake()), (Some(next), next));
    // It counts as 0: what remains of a timer that stands still is what remained at 0.
    let key = batch.insert(Bear::default(), &Den);
    batch.update(&mut 0.0);
    assert_eq!(batch.next_wake(key), Some(NextWake::At(due(10.0, 0.0))));
    batch.push_state(key, &Meadow, &mut clock);
    batch.pop_state(key, &mut clock);
    batch.sleep(key);
    assert_eq!(batch.next_wake(key), Some(NextWake::At(due(10.0, 0.0))));
}

/// Its `update_all` asks for one thing after the other, each for all owners.
struct Muster;
impl State<Actor> for Muster {
    fn update_all(&self, actors: &mut [Actor], fsm: &mut FsmSlice<'_, Actor>, _: &mut GameTime) {
        for at in 0..actors.len() {
            fsm.at(at).sleep_for(5.0);
        }
        for at in (0..actors.len()).rev() {
            fsm.at(at).change_state_after(1.0, &B);
        }
        for (at, _) in actors.iter().enumerate().filter(|(_, actor)| actor.count > 0) {
            fsm.at(at).change_state(&C);
        }
    }
}

/// Rule 19.
#[test]
fn an_override_may_ask_for_its_owners_in_any_order() {
    let mut batch = Batch::new();
    let mut time = GameTime::new();
    let keys = [0, 1, 0].map(|count| {
        let mut actor = Actor::default();
        actor.count = count;
        batch.insert(actor, &Muster)
    });
    advance(&mut time, 1);
    batch.update(&mut time);
    assert_eq!(batch.awake(), 1);
    assert!(batch.is_in_state(keys[1], &C));
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
    for key in [keys[0], keys[2]] {
        assert_eq!(batch.next_wake(key), Some(NextWake::At(due(1.0, 1.0))));
    }
    advance(&mut time, 1);
    batch.update(&mut time);
    assert_eq!(batch.owners_in(&B).len(), 2);
}

/// Rules 21 and 25.
#[cfg(feature = "parallel")]
#[test]
fn in_a_parallel_tick_what_is_due_has_the_first_context() {
    let mut batch: Batch<Bear> = (0..5000).map(|_| (Bear::default(), &Den)).collect();
    batch.update(&mut 0.0);
    let clocks = batch.par_update(|chunk| 10.0 + f64::from(u8::try_from(chunk).expect("there are few")));
    assert!(clocks.len() > 1);
    // Also where an owner is updated by a later clock.
    assert!(batch.iter().all(|(_, bear)| *bear == Bear { looks: 2, heard: 0, moved_at: [10.0; 2] }));
    assert!(batch.keys().all(|key| batch.time_in_state(key, &10.0) == Some(0.0)));
}

/// Sleeps for longer than any test.
#[cfg(feature = "parallel")]
struct Cave;
/// Sleeps until a message comes.
#[cfg(feature = "parallel")]
struct Burrow;

#[cfg(feature = "parallel")]
impl State<Bear> for Cave {
    fn update(&self, _: &mut Bear, fsm: &mut Fsm<'_, Bear>, _: &mut f64) {
        fsm.change_state_after(1000.0, &Meadow);
        fsm.sleep();
    }
}

#[cfg(feature = "parallel")]
impl State<Bear> for Burrow {
    fn update(&self, _: &mut Bear, fsm: &mut Fsm<'_, Bear>, _: &mut f64) {
        fsm.send_after(10.0, ());
        fsm.sleep();
    }
}

/// Rule 21.
#[cfg(feature = "parallel")]
#[test]
fn the_first_context_is_returned_even_if_all_owners_of_the_first_chunk_sleep() {
    let mut batch = Batch::new();
    batch.extend((0..3).map(|_| (Bear::default(), &Cave)));
    batch.extend((0..3).map(|_| (Bear::default(), &Den)));
    batch.extend((0..3).map(|_| (Bear::default(), &Burrow)));
    batch.update(&mut 0.0);
    assert_eq!(batch.awake(), 0);
    let clocks = batch.par_update(|chunk| 10.0 + f64::from(u8::try_from(chunk).expect("there are few")));
    assert_eq!(batch.owners_in(&Meadow).iter().map(|bear| bear.moved_at).collect::<Vec<_>>(), [[10.0; 2]; 3]);
    assert_eq!(clocks.first(), Some(&10.0));
}

/// An owner that counts what its repeating timer sends, and sleeps in between.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bell {
    number: u32,
    /// The time of each stroke.
    strokes: Vec<f64>,
}

impl Owner for Bell {
    type Context<'a> = f64;
    type Message = u32;

    fn now(now: &f64) -> f64 {
        *now
    }
}

struct Tower;
impl State<Bell> for Tower {
    fn enter(&self, bell: &mut Bell, fsm: &mut Fsm<'_, Bell>, _: &mut f64) {
        fsm.send_every(f64::from(1 + bell.number % 3), bell.number);
        fsm.sleep();
    }

    fn update(&self, _: &mut Bell, fsm: &mut Fsm<'_, Bell>, _: &mut f64) {
        fsm.sleep();
    }

    fn on_message(&self, bell: &mut Bell, number: &u32, _: &mut Fsm<'_, Bell>, now: &mut f64) -> bool {
        assert_eq!(*number, bell.number);
        bell.strokes.push(*now);
        true
    }
}

/// Rule 39.
#[test]
fn the_repeating_timers_of_many_owners_come_on_time_and_take_no_more_and_more_room() {
    let mut batch = Batch::new();
    let keys: Vec<_> =
        (0..5000).map(|number| batch.spawn(Bell { number, ..Bell::default() }, &Tower, &mut 0.0)).collect();
    batch.iter_mut().for_each(|(_, bell)| bell.strokes.reserve(64));
    let mut twin = batch.clone();
    twin.iter_mut().for_each(|(_, bell)| bell.strokes.reserve(64));
    let mut tick = |now: u32| {
        batch.update(&mut f64::from(now));
        assert_eq!(batch.awake(), 0);
    };
    (1..=12).for_each(&mut tick);
    let grown = measure(|| (13..=48).for_each(&mut tick)).bytes_current;
    assert!(grown < 1024 * 1024, "{grown}");
    for &key in &keys {
        let bell = &batch[key];
        let strokes: Vec<_> = (1..=48).filter(|now| now % (1 + bell.number % 3) == 0).map(f64::from).collect();
        assert_eq!(bell.strokes, strokes);
    }

    // A clone goes on by itself, in parts and on all cores as well.
    for now in 1..=48 {
        match now % 3 {
            #[cfg(feature = "parallel")]
            0 => drop(twin.par_update(|_| f64::from(now))),
            1 => (0..4).for_each(|part| twin.update_part(part, 4, &mut f64::from(now))),
            _ => twin.update_in_key_order(&mut f64::from(now)),
        }
    }
    assert!(batch.iter().eq(twin.iter()));
    let digest = |batch: &Batch<Bell>| batch.digest(|bell, hasher| std::hash::Hash::hash(&bell.number, hasher));
    assert_eq!(digest(&batch), digest(&twin));
}
