//! What a batch does besides its ticks: owners that come and go, messages, reading it. Its verbs by key are tested in
//! `tests/machine`.
#![cfg(feature = "std")]

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::captured_log::log_lines;
use crate::census;
use crate::game::{Hall, Imp, Niche, owned};
use crate::trace::places::{A, ALWAYS, B, C};
use crate::trace::{Actor, Place, Stage, Trace};
use demeanor::{Batch, Fsm, GameTime, Key, NextWake, Owner, State, StateMachine, StateRef};

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

#[test]
fn a_spawned_owner_has_entered_its_path() {
    let mut batch = Batch::new();
    let key = batch.spawn(Actor::default(), &STOVE, &mut time());
    assert_eq!(trace(&mut batch, key), "House.enter; Kitchen.enter; Stove.enter");
    assert!(batch.is_in_state(key, &STOVE) && batch.is_in_state(key, &HOUSE) && batch.is_in::<Place>(key));
    assert!(batch.previous_of(key).is_none());
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
    assert!(!batch.update_one(stale, now));
    assert!(!batch.change_state(stale, &B, now) && !batch.revert_state(stale, now));
    assert!(!batch.push_state(stale, &B, now) && !batch.pop_state(stale, now) && !batch.resume_state(stale, &B, now));
    assert!(batch.with(stale, now, |_, _, _| unreachable!("nobody to lend")).is_none());
    assert!(!batch.set_current(stale, &B) && !batch.set_previous(stale, &B));
    assert!(batch.current_mut::<Place>(stale).is_none());
    assert!(batch.state_of(stale).is_none() && batch.previous_of(stale).is_none());
    assert!(!batch.is_in_state(stale, &A) && !batch.is_in::<Place>(stale));
    assert!(batch.time_in_state(stale, now).is_none() && batch.path(stale).is_none());

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
    assert_eq!(machine.global(), Some(StateRef::from(&ALWAYS)));
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

/// An actor whose acts depend on what all actors of its squad have done before.
fn fickle(number: usize, squad: &Arc<Mutex<Vec<String>>>) -> Actor {
    let mut stage = Stage::new(&A).handling("House").recording_end();
    for callback in ["Always.update", "House.update", "Stove.update", "A.update", "B.update", "C.update", "B.enter"] {
        stage = stage.when(callback, |actor, fsm, _| {
            let done = actor.in_squad.as_ref().map_or(0, |(_, squad)| squad.lock().expect("no note panics").len());
            match done % 23 {
                0..3 => fsm.change_state(&B),
                3 => fsm.change_state(&C),
                4..6 => fsm.change_state(&STOVE),
                6 => fsm.change_state_next(&A),
                7 => fsm.change_state_after(1.0, &C),
                8 => fsm.push_state(&BED),
                9..11 => fsm.pop_state(),
                11 => fsm.revert_state(),
                12 => fsm.send("hit"),
                13..16 => fsm.sleep_for(1.5),
                16 => fsm.sleep(),
                _ => {}
            }
        });
    }
    stage.actor.in_squad = Some((number, Arc::clone(squad)));
    stage.actor
}

/// Rules 19 and 31: nothing but the order of the calls counts.
#[test]
fn owners_that_the_game_updates_one_by_one_fare_as_machines_that_it_updates_in_this_order() {
    for has_global in [false, true] {
        let (in_batch, alone) = (Arc::default(), Arc::default());
        let (mut batch, mut machines, mut now) =
            (Batch::new(), Vec::<(Key, Actor, StateMachine<Actor>)>::new(), time());
        if has_global {
            batch.set_global(&ALWAYS);
        }
        let mut seed = 28_u64;
        let mut dice = move |sides: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).expect("31 bits") % sides
        };
        let (mut lines, mut asleep) = (0, 0);
        for tick in 0..400 {
            now.advance(std::time::Duration::from_millis(500));
            // Some owners have two ticks, and some have none.
            for turn in 0..8 {
                if machines.len() < 7 && dice(3) == 0 {
                    let number = 8 * tick + turn;
                    let key = batch.spawn(fickle(number, &in_batch), &A, &mut now);
                    let (mut actor, mut machine) = (fickle(number, &alone), StateMachine::new(&A));
                    if has_global {
                        machine.set_global(&ALWAYS);
                    }
                    machine.start(&mut actor, &mut now);
                    machines.insert(dice(machines.len() + 1), (key, actor, machine));
                }
                let Some(nth) = (!machines.is_empty()).then(|| dice(machines.len())) else { continue };
                let (key, actor, machine) = &mut machines[nth];
                asleep += usize::from(machine.next_wake() != NextWake::EveryTick);
                assert!(batch.update_one(*key, &mut now));
                machine.update(actor, &mut now);
                assert_eq!(batch.state_of(*key), machine.current());
                if dice(40) == 0 {
                    let stale = *key;
                    assert!(batch.remove(stale).is_some() && !batch.update_one(stale, &mut now));
                    machines.remove(nth);
                }
            }
            let of = |trace: &Arc<Mutex<Vec<String>>>| trace.lock().expect("no note panics").clone();
            assert_eq!(of(&in_batch), of(&alone), "in tick {tick}");
            lines = of(&alone).len();
        }
        // With a global state to update, every machine is updated in every tick.
        assert!(lines > 2000 && (asleep > 200 || has_global), "{lines} lines, {asleep} ticks asleep");
    }
}

/// Rule 26: a revision wakes the owners of a state once.
#[test]
fn owners_updated_one_by_one_wake_once_when_their_state_has_changed() {
    static PRICES: AtomicUsize = AtomicUsize::new(0);
    struct Shop(u32);
    impl Owner for Shop {
        type Context<'a> = ();
        type Message = ();
    }
    struct Closed;
    impl State<Shop> for Closed {
        fn update(&self, shop: &mut Shop, fsm: &mut Fsm<'_, Shop>, (): &mut ()) {
            shop.0 += 1;
            fsm.sleep();
        }

        fn revision(&self) -> usize {
            PRICES.load(Ordering::Relaxed)
        }
    }
    let mut batch = Batch::new();
    let keys = [(); 3].map(|()| batch.insert(Shop(0), &Closed));
    for _ in 0..3 {
        for key in keys {
            assert!(batch.update_one(key, &mut ()));
        }
    }
    assert_eq!(keys.map(|key| batch[key].0), [1; 3]);
    PRICES.store(1, Ordering::Relaxed);
    for _ in 0..3 {
        for key in &keys[..2] {
            assert!(batch.update_one(*key, &mut ()));
        }
    }
    assert_eq!(keys.map(|key| batch[key].0), [2, 2, 1]);
    batch.update(&mut ());
    assert_eq!(keys.map(|key| batch[key].0), [2; 3]);
    // An owner that falls asleep after the change stays asleep.
    let mut batch = Batch::new();
    let key = batch.insert(Shop(0), &Closed);
    (0..3).for_each(|_| batch.update(&mut ()));
    assert_eq!(batch[key].0, 1);
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
fn a_broadcast_comes_to_everyone_once_and_counts_the_owners_that_handled_it() {
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
    let mut batch = Batch::new();
    for number in 0..4 {
        batch.insert(Imp::new(number), if number % 2 == 0 { StateRef::from(&Hall) } else { (&Niche).into() });
    }
    let numbers = |batch: &Batch<Imp>, state: &dyn State<Imp>| -> Vec<_> {
        batch.owners_in(state).iter().map(|imp| imp.number).collect()
    };
    assert_eq!(numbers(&batch, &Hall), [0, 2]);
    assert_eq!(numbers(&batch, &Niche), [1, 3]);
    let other = owned("Own");
    assert_eq!(numbers(&batch, &*other), [0; 0], "a state that nobody was ever in");
    let own = owned("Own");
    batch.insert(Imp::new(8), owned("Own"));
    batch.insert(Imp::new(9), own.clone());
    assert_eq!(numbers(&batch, &*own), [9]);
    assert_eq!(numbers(&batch, &*other), [0; 0], "another object");
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
