//! What a batch does besides its ticks: owners that come and go, verbs by key, reading it, what it costs.
#![cfg(feature = "std")]

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use crate::captured_log::log_lines;
use crate::trace::places::{A, ALWAYS, B, C};
use crate::trace::{Actor, Place, Stage, Trace};
use allocation_counter::measure;
use demeanor::{Batch, Fsm, GameTime, Key, Owner, State, StateMachine, StateRef};

static HOUSE: Place = Place::new("House").opening_on(&KITCHEN).keeping_history();
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
static BED: Place = Place::new("Bed").inside(&HOUSE);

fn time() -> GameTime {
    GameTime::new()
}

fn trace(batch: &mut Batch<Actor>, key: Key) -> Trace {
    batch.get_mut(key).expect("the key is not stale").take_trace()
}

fn name_of(state: Option<&StateRef<Actor>>) -> String {
    state.map(ToString::to_string).unwrap_or_default()
}

fn census<T: Owner>(batch: &Batch<T>) -> Vec<(String, usize)> {
    batch.census().map(|(state, count)| (state.to_string(), count)).collect()
}

#[test]
fn an_inserted_owner_is_in_its_state_without_any_callback() {
    let mut batch = Batch::new();
    let key = batch.insert(Actor::default(), &STOVE);
    assert_eq!(trace(&mut batch, key), "");
    assert!(batch.is_in_state(key, &STOVE) && batch.is_in_state(key, &HOUSE) && batch.is_in::<Place>(key));
    assert!(batch.previous_of(key).is_none());
}

#[test]
fn a_spawned_owner_has_entered_its_path() {
    let mut batch = Batch::new();
    let key = batch.spawn(Actor::default(), &STOVE, &mut time());
    assert_eq!(trace(&mut batch, key), "House.enter; Kitchen.enter; Stove.enter");
}

#[test]
fn every_verb_of_a_machine_works_by_key() {
    let mut batch = Batch::new().with_global(&ALWAYS);
    let key = batch.insert(Stage::new(&A).handling("B").actor, &A);
    let now = &mut time();
    assert!(batch.start(key, now));
    assert_eq!(trace(&mut batch, key), "A.enter");
    assert!(!batch.send(key, &"hit", now));
    assert_eq!(trace(&mut batch, key), "A.hit; Always.hit");
    assert!(batch.change_state(key, &B, now));
    assert_eq!(trace(&mut batch, key), "A.exit; A -> B (change); B.enter");
    assert!(batch.send(key, &"hit", now));
    assert_eq!(trace(&mut batch, key), "B.hit");
    assert!(batch.revert_state(key, now));
    assert_eq!(trace(&mut batch, key), "B.exit; B -> A (revert); A.enter");
    assert!(batch.push_state(key, &HOUSE, now));
    assert_eq!(trace(&mut batch, key), "A.suspend; A -> Kitchen (push); House.enter; Kitchen.enter");
    assert!(batch.change_state(key, &BED, now));
    assert!(batch.change_state(key, &C, now));
    trace(&mut batch, key);
    assert!(batch.resume_state(key, &HOUSE, now));
    assert_eq!(trace(&mut batch, key), "C.exit; C -> Bed (resume); House.enter; Bed.enter");
    assert!(batch.pop_state(key, now));
    assert_eq!(trace(&mut batch, key), "Bed.exit; House.exit; Bed -> A (pop); A.resume");
    assert!(!batch.pop_state(key, now));
    assert_eq!(batch.with(key, now, |_, fsm, _| fsm.change_state(&B)), Some(()));
    assert_eq!(trace(&mut batch, key), "A.exit; A -> B (change); B.enter");
    assert!(batch.set_current(key, &C) && batch.set_previous(key, &A));
    assert_eq!(trace(&mut batch, key), "");
    assert_eq!((name_of(batch.state_of(key)), name_of(batch.previous_of(key))), ("C".into(), "A".into()));
    assert!(batch.stop(key, now));
    assert_eq!(trace(&mut batch, key), "C.exit");
    assert!(batch.state_of(key).is_none());
    assert_eq!(name_of(batch.previous_of(key)), "C");
}

#[test]
fn a_stale_key_is_nobodys_though_its_place_is_taken_again() {
    let mut batch = Batch::new();
    let stale = batch.insert(Actor::default(), &A);
    assert!(batch.remove(stale).is_some());
    let heir = batch.insert(Actor::default(), &A);
    assert_ne!(stale, heir);

    let now = &mut time();
    assert!(!batch.contains_key(stale) && batch.get(stale).is_none() && batch.get_mut(stale).is_none());
    assert!(batch.remove(stale).is_none());
    assert!(!batch.start(stale, now) && !batch.stop(stale, now) && !batch.send(stale, &"hit", now));
    assert!(!batch.change_state(stale, &B, now) && !batch.revert_state(stale, now));
    assert!(!batch.push_state(stale, &B, now) && !batch.pop_state(stale, now) && !batch.resume_state(stale, &B, now));
    assert!(batch.with(stale, now, |_, _, _| unreachable!("nobody to lend")).is_none());
    assert!(!batch.set_current(stale, &B) && !batch.set_previous(stale, &B));
    assert!(batch.current_mut::<Place>(stale).is_none());
    assert!(batch.state_of(stale).is_none() && batch.previous_of(stale).is_none());
    assert!(!batch.is_in_state(stale, &A) && !batch.is_in::<Place>(stale));
    assert!(batch.time_in_state(stale, now).is_none());

    assert_eq!(trace(&mut batch, heir), "");
    assert!(batch.is_in_state(heir, &A) && batch.previous_of(heir).is_none());
    assert_eq!(batch.keys().collect::<Vec<_>>(), [heir]);
}

#[test]
fn a_removed_owner_goes_on_alone_where_it_was() {
    let mut batch = Batch::new().with_global(&ALWAYS);
    let mut now = time();
    now.advance(std::time::Duration::from_secs(3));
    let key = batch.insert(Actor::default(), &A);
    batch.change_state(key, &BED, &mut now);
    batch.push_state(key, &B, &mut now);
    let (mut actor, mut machine) = batch.remove(key).expect("the key is not stale");
    actor.take_trace();
    assert!(batch.is_empty());
    assert!(machine.is_in_state(&B) && machine.previous() == Some(&StateRef::from(&BED)));
    assert_eq!(machine.global(), Some(&StateRef::from(&ALWAYS)));
    now.advance(std::time::Duration::from_secs(4));
    assert!((machine.time_in_state(&now) - 4.0).abs() < 1e-9);
    machine.update(&mut actor, &mut now);
    assert!(machine.pop_state(&mut actor, &mut now));
    assert!(machine.change_state(&mut actor, &A, &mut now) && machine.resume_state(&mut actor, &HOUSE, &mut now));
    assert!(machine.is_in_state(&BED), "its stack and its history came with it");
    assert_eq!(
        actor.take_trace(),
        "Always.update; B.update
         B.exit; B -> Bed (pop); House.resume; Bed.resume
         Bed.exit; House.exit; Bed -> A (change); A.enter
         A.exit; A -> Bed (resume); House.enter; Bed.enter"
    );
}

#[test]
fn a_machine_with_another_global_is_given_back() {
    let mut batch = Batch::new().with_global(&ALWAYS);
    let mut machine = StateMachine::new(&A);
    machine.set_previous(&C);
    let error = batch.insert_machine(Stage::new(&A).handling("A").actor, machine).expect_err("it has no global");
    assert_eq!(error.to_string(), "the machine's global is (no state), the batch's is Always");
    assert!(error.source().is_none());
    assert!(batch.is_empty());
    let (actor, machine) = (error.owner, error.machine);
    assert!(machine.is_in_state(&A) && machine.previous() == Some(&StateRef::from(&C)));
    let key = batch.insert_machine(actor, machine.with_global(&ALWAYS)).expect("the same global");
    assert!(batch.send(key, &"hit", &mut time()), "it is the same owner");

    let mut batch = Batch::new();
    let error = batch.insert_machine(Actor::default(), StateMachine::new(&A).with_global(&B)).expect_err("it has one");
    assert_eq!(error.to_string(), "the machine's global is B, the batch's is (no state)");
}

#[test]
fn machines_taken_apart_come_by_key_each_with_its_own_owner() {
    let mut batch = Batch::new();
    let keys: Vec<_> =
        [&A, &B, &STOVE, &A].map(|state| batch.spawn(Actor::default(), state, &mut time())).into_iter().collect();
    let parts: Vec<_> = batch.into_machines().collect();
    assert_eq!(parts.iter().map(|(key, ..)| *key).collect::<Vec<_>>(), keys);
    for ((_, mut actor, machine), name) in parts.into_iter().zip(["A", "B", "Stove", "A"]) {
        assert_eq!(name_of(machine.current()), name);
        assert_eq!(actor.take_trace().last(), Some(&format!("{name}.enter")));
    }
}

#[test]
fn a_broadcast_comes_to_everyone_once_and_counts_who_handled_it() {
    let mut batch = Batch::new();
    batch.insert(Stage::new(&B).handling("B").actor, &B);
    batch.insert(Stage::new(&A).handling("A").actor, &A);
    batch.insert(Actor::default(), &A);
    let removed = batch.insert(Actor::default(), &A);
    batch.remove(removed);
    assert_eq!(batch.broadcast(&"hit", &mut time()), 2);
    let mut traces = batch.iter_mut().map(|(_, actor)| actor.take_trace()).collect::<Vec<_>>();
    traces.sort();
    assert_eq!(traces, ["A.hit", "A.hit", "B.hit"]);
}

#[test]
fn messages_are_sent_to_one_owner_each_in_their_order() {
    let actor = || Stage::new(&A).handling("A").when("A.hit", |_, fsm, _| fsm.change_state(&B)).actor;
    let fill = || -> (Batch<Actor>, Vec<Key>) {
        let mut batch = Batch::new();
        let keys = (0..3).map(|_| batch.insert(actor(), &A)).collect();
        (batch, keys)
    };
    let (mut batch, keys) = fill();
    let stale = batch.insert(actor(), &A);
    batch.remove(stale);
    let messages = [(keys[1], "hit"), (stale, "hit"), (keys[0], "hit"), (keys[1], "hit"), (keys[0], "rain")];
    assert_eq!(batch.send_each(messages, &mut time()), 2, "B handles nothing");
    // As if each had been sent by itself.
    let (mut twin, twins) = fill();
    for (nth, message) in [(1, "hit"), (0, "hit"), (1, "hit"), (0, "rain")] {
        twin.send(twins[nth], &message, &mut time());
    }
    for (key, twin_key) in keys.into_iter().zip(twins) {
        assert_eq!(trace(&mut batch, key), trace(&mut twin, twin_key));
    }
}

#[test]
fn messages_behind_one_whose_handler_panics_are_not_offered() {
    let mut batch = Batch::new();
    let actors = [Stage::new(&A), Stage::new(&A).panicking_in("A.hit"), Stage::new(&A)];
    let keys = actors.map(|stage| batch.insert(stage.actor, &A));
    let messages = keys.iter().map(|key| (*key, "hit"));
    assert!(catch_unwind(AssertUnwindSafe(|| batch.send_each(messages, &mut time()))).is_err());
    assert_eq!(keys.map(|key| trace(&mut batch, key).len()), [1, 1, 0]);
}

#[test]
fn a_census_counts_the_owners_of_each_state_in_the_order_the_batch_saw_them() {
    let mut batch = Batch::new();
    assert_eq!(census(&batch), []);
    let key = batch.insert(Actor::default(), &B);
    batch.insert(Actor::default(), &A);
    batch.insert(Actor::default(), &A);
    batch.insert_machine(Actor::default(), StateMachine::idle()).expect("the same global");
    assert_eq!(census(&batch), [("B".into(), 1), ("A".into(), 2)]);
    batch.change_state(key, &STOVE, &mut time());
    assert_eq!(census(&batch), [("B".into(), 0), ("A".into(), 2), ("Stove".into(), 1)]);
    assert_eq!(format!("{batch:?}"), "{B: 0, A: 2, Stove: 1}");
    assert_eq!(batch.len(), 4);
}

/// By innermost state: the owners of a composite's children lie with those.
#[test]
fn owners_in_a_state_lie_side_by_side() {
    struct Boid(u32);
    impl Owner for Boid {
        type Context<'a> = ();
        type Message = ();
    }
    struct Fly;
    struct Land;
    #[derive(Clone)]
    struct Boxed(#[expect(dead_code, reason = "so that it has a size")] u8);
    impl State<Boid> for Boxed {}
    impl State<Boid> for Fly {}
    impl State<Boid> for Land {}

    let mut batch = Batch::new();
    for i in 0..4 {
        if i % 2 == 0 {
            batch.insert(Boid(i), &Fly)
        } else {
            batch.insert(Boid(i), &Land)
        };
    }
    let numbers = |boids: &[Boid]| boids.iter().map(|boid| boid.0).collect::<Vec<_>>();
    assert_eq!(numbers(batch.owners_in(&Fly)), [0, 2]);
    assert_eq!(numbers(batch.owners_in(&Land)), [1, 3]);
    assert!(batch.owners_in(&Boxed(9)).is_empty(), "a state that nobody was ever in");
    let boxed = StateRef::<Boid>::from(Box::new(Boxed(9)));
    batch.insert(Boid(8), StateRef::from(Box::new(Boxed(9))));
    batch.insert(Boid(9), boxed.clone());
    assert_eq!(numbers(batch.owners_in(&*boxed)), [9]);
    assert!(batch.owners_in(&Boxed(9)).is_empty(), "another object");
}

#[test]
fn a_clone_of_a_batch_goes_its_own_way_by_the_same_keys() {
    #[derive(Clone)]
    struct Sheep;
    impl Owner for Sheep {
        type Context<'a> = ();
        type Message = ();
    }
    #[derive(Clone, Debug, PartialEq)]
    struct GoTo(u32);
    struct Graze;
    impl State<Sheep> for GoTo {}
    impl State<Sheep> for Graze {}

    let mut batch = Batch::new();
    let grazing = batch.insert(Sheep, &Graze);
    let going = batch.insert(Sheep, Box::new(GoTo(1)));
    let mut snapshot = batch.clone();
    batch.current_mut::<GoTo>(going).expect("it is an owned one").0 = 2;
    batch.remove(grazing);
    assert_eq!(snapshot.current_mut::<GoTo>(going), Some(&mut GoTo(1)));
    assert!(snapshot.is_in_state(grazing, &Graze));
    assert!(snapshot.current_mut::<GoTo>(grazing).is_none());
    assert_eq!((batch.len(), snapshot.len()), (1, 2));
}

#[test]
fn a_part_that_there_is_none_of_is_an_error_in_the_log() {
    let mut batch = Batch::new();
    batch.insert(Actor::default(), &A);
    for (k, n) in [(0, 0), (2, 2), (usize::MAX, 3)] {
        let lines = log_lines(|| batch.update_part(k, n, &mut time()));
        assert_eq!(lines, [format!("ERROR demeanor: a batch has no part {k} of {n}: nothing is updated")]);
    }
    assert!(batch.iter_mut().all(|(_, actor)| actor.take_trace().is_empty()));
}

/// What costs are measured on.
#[derive(Clone, Default)]
struct Enemy {
    ticks: u64,
}

impl Owner for Enemy {
    type Context<'a> = f64;
    type Message = ();

    fn now(clock: &f64) -> f64 {
        *clock
    }
}

struct Count;
struct Around;
struct Inside;
#[derive(Clone)]
struct Own(Arc<()>);
#[derive(Clone)]
struct OwnInside(#[expect(dead_code, reason = "so that it has a size")] u8);

impl State<Enemy> for Count {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut f64) {
        enemy.ticks += 1;
    }
}

impl State<Enemy> for Around {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut f64) {
        enemy.ticks += 1;
    }
}

impl State<Enemy> for Inside {
    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut f64) {
        enemy.ticks += 1;
    }

    fn parent(&self) -> Option<StateRef<Enemy>> {
        Some((&Around).into())
    }
}

impl State<Enemy> for Own {}

impl State<Enemy> for OwnInside {
    fn parent(&self) -> Option<StateRef<Enemy>> {
        Some((&Inside).into())
    }
}

#[test]
fn a_tick_without_changes_allocates_nothing() {
    let mut batch = Batch::new().with_global(&Count);
    for i in 0..5000_u32 {
        match i % 4 {
            0 => batch.insert(Enemy::default(), &Count),
            1 => batch.insert(Enemy::default(), &Inside),
            2 => batch.insert(Enemy::default(), Box::new(Own(Arc::new(())))),
            _ => batch.insert(Enemy::default(), Box::new(OwnInside(0))),
        };
    }
    let mut clock = 1.0;
    // The first grows what is kept from one chunk to the next.
    batch.update(&mut clock);
    let counted = measure(|| {
        for _ in 0..10 {
            clock += 1.0;
            batch.update(&mut clock);
            batch.update_part(0, 1, &mut clock);
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(batch.iter().map(|(_, enemy)| enemy.ticks).sum::<u64>(), 21 * 1250 * (2 + 3 + 1 + 3));
}

/// A clone has no room to spare: what it takes is what is kept.
#[test]
fn beyond_the_owners_a_batch_takes_32_bytes_of_memory_for_each_with_a_clock() {
    const OWNERS: u32 = 100_000;
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..OWNERS).map(|_| batch.insert(Enemy::default(), &Count)).collect();
    let bytes = |batch: &Batch<Enemy>| {
        let mut clone = None;
        let counted = measure(|| clone = Some(batch.clone()));
        u64::try_from(counted.bytes_current).expect("it takes some") - u64::from(OWNERS) * size_of::<Enemy>() as u64
    };
    let constant = 16 * 1024;
    assert!(bytes(&batch) <= u64::from(OWNERS) * 24 + constant, "{}", bytes(&batch));
    for key in keys.iter().step_by(2) {
        batch.change_state(*key, &Inside, &mut 1.0);
        batch.change_state(*key, &Around, &mut 2.0);
    }
    assert!(bytes(&batch) <= u64::from(OWNERS) * 32 + constant, "{}", bytes(&batch));
}

#[test]
fn a_hundred_thousand_owners_each_with_a_state_of_its_own_share_one_bucket() {
    let mut batch = Batch::new();
    let counted = measure(|| {
        for _ in 0..100_000 {
            batch.insert(Enemy::default(), Box::new(Own(Arc::default())));
        }
    });
    assert_eq!(census(&batch), [("Own".into(), 100_000)]);
    // Three for each state; what else there is, grows by doubling.
    assert!(counted.count_total <= 300_000 + 500, "{}", counted.count_total);
    batch.update(&mut 0.0);
    let (first, last) = (batch.keys().next().expect("one of many"), batch.keys().last().expect("one of many"));
    assert_ne!(batch.state_of(first), batch.state_of(last));
}

#[test]
fn owned_states_that_nobody_is_in_any_more_leave_nothing_behind() {
    let mut batch = Batch::new();
    let mut states: Vec<Weak<()>> = Vec::new();
    let mut keys = Vec::new();
    for _ in 0..1000 {
        let state = Own(Arc::default());
        states.push(Arc::downgrade(&state.0));
        keys.push(batch.insert(Enemy::default(), Box::new(state)));
    }
    assert!(states.iter().all(|state| state.upgrade().is_some()));
    let half = keys.split_off(500);
    for key in half {
        assert!(batch.remove(key).is_some());
    }
    for key in &keys {
        batch.change_state(*key, &Count, &mut 0.0);
        // Its own is previous no more.
        batch.change_state(*key, &Around, &mut 0.0);
    }
    assert!(states.iter().all(|state| state.upgrade().is_none()));
    assert_eq!(census(&batch), [("Count".into(), 0), ("Around".into(), 500)]);
    batch.change_state(keys[0], Box::new(Own(Arc::default())), &mut 0.0);
    assert_eq!(census(&batch), [("Own".into(), 1), ("Count".into(), 0), ("Around".into(), 499)]);
}

/// Also when the change that it is previous no more after is made in bulk.
#[test]
fn a_previous_state_is_kept_no_longer_than_it_is_previous() {
    struct Leave;
    impl State<Enemy> for Leave {
        fn update(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, _: &mut f64) {
            fsm.change_state(&Count);
        }
    }

    let mut batch = Batch::new();
    batch.insert(Enemy::default(), &Count);
    let state = Own(Arc::default());
    let kept = Arc::downgrade(&state.0);
    let key = batch.insert(Enemy::default(), Box::new(state));
    batch.change_state(key, &Leave, &mut 0.0);
    assert!(kept.upgrade().is_some(), "it can be reverted to");
    batch.update(&mut 0.0);
    assert!(batch.is_in_state(key, &Count));
    assert!(kept.upgrade().is_none());
}

#[test]
fn the_bucket_of_owned_states_gives_its_memory_back() {
    #[derive(Clone)]
    struct Large([u64; 64]);
    impl Owner for Large {
        type Context<'a> = ();
        type Message = ();
    }
    #[derive(Clone)]
    struct Own(#[expect(dead_code, reason = "so that it has a size")] u8);
    impl State<Large> for Own {}

    let mut batch = Batch::new();
    let counted = measure(|| {
        for i in 0..1000 {
            batch.insert(Large([i; 64]), Box::new(Own(0)));
        }
        for key in batch.keys().collect::<Vec<_>>() {
            assert!(batch.remove(key).is_some_and(|(large, _)| large.0[0] < 1000));
        }
    });
    assert!(counted.bytes_max > 1000 * 512);
    assert!(counted.bytes_current < 100_000, "{}", counted.bytes_current);
}
