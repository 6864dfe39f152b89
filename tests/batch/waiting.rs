//! The chapter "Waiting" in a batch: rules 25 and 26 for many owners.
#![cfg(feature = "std")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

#[cfg(feature = "parallel")]
use crate::trace::log::Log;
use crate::trace::{Act, Actor, Place, Stage, Trace, due};
use allocation_counter::measure;
use demeanor::{Batch, Fsm, FsmSlice, GameTime, Key, NextWake, Owner, State, StateMachine};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static ALWAYS: Place = Place::new("Always");
static C: Place = Place::new("C");
static PASSIVE: Place = Place::new("Passive").passive();

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

/// Rule 26.
#[test]
fn those_who_sleep_are_not_touched_and_lie_apart() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..10).map(|_| batch.insert(Actor::default(), &A)).collect();
    for key in keys.iter().step_by(2) {
        assert!(batch.sleep(*key));
    }
    assert_eq!((batch.len(), batch.awake(), batch.owners_in(&A).len()), (10, 5, 10));
    batch.update(&mut time);
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(trace(&mut batch, *key).len(), number % 2);
    }
    assert!(batch.wake(keys[0]));
    assert!(!batch.wake(keys[0]));
    assert!(!batch.wake(keys[1]));
    assert_eq!(batch.awake(), 6);
    // They can be removed, and changed.
    let (_, machine) = batch.remove(keys[2]).expect("it is there");
    assert_eq!(machine.next_wake(), NextWake::Never);
    let again = batch.insert_machine(Actor::default(), machine).expect("neither has a global");
    assert_eq!(batch.next_wake(again), Some(NextWake::Never));
    assert!(batch.change_state(keys[4], &B, &mut time));
    assert_eq!(batch.awake(), 7);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, keys[4]).last().map(String::as_str), Some("B.update"));
}

/// Rule 25.
#[test]
fn timers_come_due_in_a_batch_as_on_a_machine() {
    let script = |stage: Stage| {
        stage
            .handling("A")
            .when("A.enter", |_, fsm, _| {
                fsm.change_state_after(3.0, &B);
                fsm.send_after(2.0, "beep");
                fsm.sleep();
            })
            .when("B.enter", |_, fsm, _| {
                fsm.change_state_after(2.0, &A);
            })
    };
    let mut stage = script(Stage::new(&A));
    let mut batch = Batch::new();
    let mut time = GameTime::new();
    let expected = stage.start();
    let key = batch.spawn(script(Stage::new(&A)).actor, &A, &mut time);
    assert_eq!(trace(&mut batch, key), expected);
    assert_eq!(batch.awake(), 0);
    for second in 1..30 {
        stage.advance(1);
        advance(&mut time, 1);
        batch.update(&mut time);
        assert_eq!(trace(&mut batch, key), stage.update(), "second {second}");
        assert_eq!(batch.next_wake(key), Some(stage.machine.next_wake()), "second {second}");
    }
}

/// Rule 26.
#[test]
fn the_global_is_updated_for_those_who_sleep_unless_it_is_passive() {
    let mut time = GameTime::new();
    let mut batch = Batch::new().with_global(&ALWAYS);
    let key = batch.insert(Actor::default(), &A);
    batch.sleep(key);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, key), ["Always.update"]);
    let wakes = Stage::new(&A).when("Always.update", |_, fsm, _| fsm.change_state(&B)).actor;
    let woken = batch.insert(wakes, &A);
    batch.sleep(woken);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, woken), ["Always.update", "A.exit", "A -> B (change)", "B.enter", "B.update"]);
    assert_eq!(batch.awake(), 1);
    batch.set_global(&PASSIVE);
    trace(&mut batch, key);
    batch.update(&mut time);
    assert!(trace(&mut batch, key).is_empty());
}

/// Rule 25.
#[test]
fn a_clock_that_jumps_by_a_day_carries_out_each_owners_timers_in_their_order() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..3).map(|_| batch.insert(Stage::new(&A).handling("A").actor, &A)).collect();
    for key in &keys {
        batch.send_after(*key, 86_000.0, "late", &mut time);
        batch.send_after(*key, 3.0, "early", &mut time);
        batch.send_after(*key, 3.0, "next", &mut time);
        batch.change_state_after(*key, 86_399.0, &B, &mut time);
    }
    advance(&mut time, 86_400);
    batch.update(&mut time);
    for key in keys {
        assert_eq!(
            trace(&mut batch, key),
            ["A.early", "A.next", "A.late", "A.exit", "A -> B (change)", "B.enter", "B.update"]
        );
        assert_eq!(batch.next_wake(key), Some(NextWake::EveryTick));
    }
}

/// Rules 19 and 25.
#[test]
fn a_timer_is_carried_out_in_the_part_of_its_owner() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..6).map(|_| batch.spawn(patient(), &A, &mut time)).collect();
    forget_traces(&mut batch);
    advance(&mut time, 2);
    let mut came_in = vec![None; keys.len()];
    for part in 0..3 {
        batch.update_part(part, 3, &mut time);
        for (came_in, key) in came_in.iter_mut().zip(&keys) {
            let trace = trace(&mut batch, *key);
            if !trace.is_empty() {
                assert_eq!(trace, ["A.exit", "A -> B (change)", "B.enter", "B.update"]);
                assert_eq!(came_in.replace(part), None, "each once");
            }
        }
        assert_eq!(batch.awake(), 2 * (part + 1), "those of the other parts sleep on");
    }
    let mut parts: Vec<_> = came_in.into_iter().flatten().collect();
    parts.sort_unstable();
    assert_eq!(parts, [0, 0, 1, 1, 2, 2]);
}

/// Rule 25.
#[test]
fn what_happens_to_an_owner_before_its_tick_happens_to_its_due_timer() {
    let mut time = GameTime::new();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..4).map(|_| batch.spawn(patient(), &A, &mut time)).collect();
    advance(&mut time, 2);
    let [removed, changed, pushed, left_alone] = keys[..] else { panic!("there are four") };
    let (mut owner, mut machine) = batch.remove(removed).expect("it is there");
    batch.change_state(changed, &C, &mut time);
    batch.push_state(pushed, &C, &mut time);
    owner.take_trace();
    forget_traces(&mut batch);
    let entered_b = ["A.exit", "A -> B (change)", "B.enter", "B.update"];
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, changed), ["C.update"]);
    assert_eq!(trace(&mut batch, pushed), ["C.update"]);
    assert_eq!(trace(&mut batch, left_alone), entered_b);
    // It has gone with the machine.
    machine.update(&mut owner, &mut time);
    assert_eq!(owner.take_trace(), entered_b);
    // And it goes on with its state.
    batch.pop_state(pushed, &mut time);
    trace(&mut batch, pushed);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, pushed), entered_b);
}

/// Rules 19 and 25.
#[test]
fn owners_for_whom_something_is_due_come_before_the_others_of_their_chunk() {
    /// Whose turn it was, by number.
    struct Turns(f64, Vec<u32>);
    struct Guard(u32);
    struct Post;
    impl Owner for Guard {
        type Context<'a> = Turns;
        type Message = ();

        fn now(turns: &Turns) -> f64 {
            turns.0
        }
    }
    impl State<Guard> for Post {
        fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, turns: &mut Turns) {
            turns.1.push(guard.0);
        }
    }
    let mut turns = Turns(0.0, Vec::new());
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..5).map(|number| batch.insert(Guard(number), &Post)).collect();
    for number in [3, 1] {
        batch.send_after(keys[number], 1.0, (), &mut turns);
    }
    turns.0 = 1.0;
    batch.update(&mut turns);
    assert_eq!(turns.1, [1, 3, 0, 2, 4]);
}

/// Rules 15 and 25.
#[test]
fn a_timer_on_the_stack_of_a_machine_that_is_inserted_goes_on_when_its_state_is_resumed() {
    let mut stage = Stage::new(&A).when("A.enter", |actor, fsm, _| {
        actor.count += 1;
        if actor.count == 1 {
            fsm.change_state_after(5.0, &B);
        }
    });
    stage.start();
    stage.advance(2);
    stage.push_state(&C);
    let Stage { actor, machine, mut time } = stage;
    let mut batch = Batch::new();
    let key = batch.insert_machine(actor, machine).expect("neither has a global");
    advance(&mut time, 100);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, key), ["C.update"]);
    batch.pop_state(key, &mut time);
    trace(&mut batch, key);
    batch.sleep(key);
    assert_eq!(batch.next_wake(key), Some(NextWake::At(102.0 + (due(5.0, 0.0) - 2.0))));
    advance(&mut time, 3);
    batch.update(&mut time);
    assert_eq!(trace(&mut batch, key), ["A.exit", "A -> B (change)", "B.enter", "B.update"]);
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
}

/// What a bear hears. Its drop may panic.
#[derive(Clone)]
struct Noise {
    is_fragile: bool,
}

impl Drop for Noise {
    fn drop(&mut self) {
        if self.is_fragile && !std::thread::panicking() {
            resume_unwind(Box::new("fragile"));
        }
    }
}

impl Owner for Bear {
    type Context<'a> = f64;
    type Message = Noise;

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
}

impl State<Bear> for Meadow {
    fn update(&self, bear: &mut Bear, _: &mut Fsm<'_, Bear>, _: &mut f64) {
        bear.looks += 1;
    }

    fn on_message(&self, bear: &mut Bear, _: &Noise, _: &mut Fsm<'_, Bear>, _: &mut f64) -> bool {
        bear.heard += 1;
        true
    }
}

impl State<Bear> for Restless {
    fn update(&self, _: &mut Bear, fsm: &mut Fsm<'_, Bear>, clock: &mut f64) {
        fsm.change_state_after(1000.0, &Meadow);
        fsm.send_after(100.0 + *clock, Noise { is_fragile: false });
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
    assert!(batch.iter().all(|(_, bear)| *bear == Bear { looks: 2, heard: 0 }));
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
    batch.with(key, &mut clock, |_, fsm, _| fsm.send_after(1.0, Noise { is_fragile: false }));
    machine.send_after(&mut bear, 1.0, Noise { is_fragile: false }, &mut clock);
    batch.send(key, &Noise { is_fragile: false }, &mut clock);
    machine.send(&mut bear, &Noise { is_fragile: false }, &mut clock);
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

/// Rules 22 and 25.
#[test]
fn a_message_whose_drop_panics_when_its_timer_ends_loses_nobody() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..5).map(|_| batch.insert(Bear::default(), &Den)).collect();
    for key in &keys {
        let is_fragile = *key == keys[2];
        batch.with(*key, &mut 0.0, |_, fsm, _| fsm.change_state(&Meadow));
        batch.send_after(*key, 1.0, Noise { is_fragile }, &mut 0.0);
    }
    panicking(|| batch.update(&mut 1.0));
    batch.update(&mut 1.0);
    for key in &keys {
        assert_eq!(batch.get(*key).map(|bear| bear.heard), Some(1), "each has heard it once");
        assert_eq!(batch.next_wake(*key), Some(NextWake::EveryTick));
    }
    // When the owner is removed, or the batch is cleared, too.
    batch.send_after(keys[0], 1.0, Noise { is_fragile: true }, &mut 0.0);
    let (_, mut machine) = batch.remove(keys[0]).expect("it is there");
    assert!(machine.send_after(&mut Bear::default(), 1.0, Noise { is_fragile: false }, &mut 0.0));
    panicking(|| drop(machine));
    batch.send_after(keys[1], 1.0, Noise { is_fragile: true }, &mut 0.0);
    panicking(|| batch.clear());
    assert!(batch.is_empty());
    batch.update(&mut 2.0);
}

/// Rule 26.
#[test]
fn those_who_sleep_come_and_go_as_others_do() {
    let sleepy = |count: usize| -> (Batch<Bear>, Vec<Key>) {
        let mut batch = Batch::new();
        let keys: Vec<_> = (0..count).map(|_| batch.insert(Bear::default(), &Meadow)).collect();
        keys.iter().step_by(2).for_each(|key| assert!(batch.sleep_for(*key, 5.0, &0.0)));
        (batch, keys)
    };
    let looks = |batch: &Batch<Bear>, keys: &[Key]| -> Vec<Option<u32>> {
        keys.iter().map(|key| batch.get(*key).map(|bear| bear.looks)).collect()
    };

    let (mut batch, keys) = sleepy(6);
    batch.retain(|key, _| key != keys[0] && key != keys[3]);
    assert_eq!((batch.len(), batch.awake()), (4, 2));
    batch.update(&mut 1.0);
    assert_eq!(looks(&batch, &keys), [None, Some(1), Some(0), None, Some(0), Some(1)]);

    let copy = batch.clone();
    let (mut other, _) = sleepy(20);
    other.clone_from(&copy);
    for batch in [&mut batch, &mut other] {
        assert_eq!(batch.awake(), 2);
        batch.update(&mut 5.0);
        assert_eq!(looks(batch, &keys), [None, Some(2), Some(1), None, Some(1), Some(2)]);
        assert_eq!(batch.awake(), 4);
    }

    let (mut batch, keys) = sleepy(4);
    let drained: Vec<_> = batch.drain().map(|(_, _, machine)| machine.next_wake()).collect();
    assert_eq!(
        drained,
        [NextWake::At(due(5.0, 0.0)), NextWake::EveryTick, NextWake::At(due(5.0, 0.0)), NextWake::EveryTick]
    );
    assert_eq!((batch.len(), batch.awake()), (0, 0));
    assert_eq!(batch.next_wake(keys[0]), None);

    let (mut batch, _) = sleepy(4);
    batch.clear();
    assert_eq!((batch.len(), batch.awake()), (0, 0));
    // Nobody inherits the sleep or the timer of one who had the place before.
    let fresh: Vec<_> = (0..4).map(|_| batch.insert(Bear::default(), &Meadow)).collect();
    assert!(fresh.iter().all(|key| batch.next_wake(*key) == Some(NextWake::EveryTick)));
    batch.update(&mut 5.0);
    assert!(batch.iter().all(|(_, bear)| bear.looks == 1));
    let machine = StateMachine::<Bear>::new(&Meadow);
    assert_eq!(machine.next_wake(), NextWake::EveryTick);
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
    struct Guard;
    impl Owner for Guard {
        type Context<'a> = Log;
        type Message = ();

        fn now(log: &Log) -> f64 {
            log.now
        }
    }
    struct Nap;
    impl State<Guard> for Nap {
        fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
            fsm.change_state_after(2.0, &Up);
            fsm.sleep();
        }

        fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, log: &mut Log) {
            log.note("rise");
        }
    }
    struct Up;
    impl State<Guard> for Up {
        fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, log: &mut Log) {
            log.note("up");
        }

        fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, log: &mut Log) {
            log.note("stretch");
            fsm.change_state(&Nap);
        }
    }

    let mut batch = Batch::new();
    for _ in 0..5000 {
        batch.spawn(Guard, &Nap, &mut Log::default());
    }
    let logs = batch.par_update(|_| Log::at(2.0));
    let steps = |log: &Log, step| log.lines.iter().filter(|call| *call == step).count();
    assert_eq!((steps(&logs[0], "rise"), steps(&logs[0], "up")), (5000, 5000));
    assert_eq!(logs.iter().map(|log| steps(log, "stretch")).sum::<usize>(), 5000);
    assert!(logs.len() > 1);
}
