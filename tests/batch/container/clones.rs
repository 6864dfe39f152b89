//! A clone of a batch, and `clone_from`: the same keys, states and order, so that what follows is the same.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use allocation_counter::measure;
use demeanor::{Batch, Fsm, Key, Owner, State, StateMachine, StateRef};

thread_local! {
    /// The number of the bird whose `Clone` panics, once.
    static FRAGILE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A bird whose way follows from its number.
#[derive(Debug, PartialEq)]
struct Bird {
    number: u64,
    ticks: u64,
}

impl Clone for Bird {
    fn clone(&self) -> Self {
        if FRAGILE.get() == Some(self.number) {
            FRAGILE.set(None);
            resume_unwind(Box::new("fragile"));
        }
        Self { ..*self }
    }
}

impl Owner for Bird {
    type Context<'a> = f64;
    type Message = ();

    fn now(clock: &f64) -> f64 {
        *clock
    }
}

struct Perch;
struct Soar;
struct Dive;
struct Nest;
struct Brood;

#[derive(Clone)]
struct FlyTo(u64);

/// What a bird asks for in a tick.
fn decide(bird: &mut Bird, fsm: &mut Fsm<'_, Bird>) {
    bird.ticks += 1;
    // Knuth's multiplicative hash of both.
    match (bird.number * 7919 + bird.ticks).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 {
        0 => fsm.change_state(&Perch),
        1 => fsm.change_state(&Soar),
        2 => fsm.change_state(&Dive),
        3 => fsm.change_state(&Nest),
        4 => fsm.change_state(Box::new(FlyTo(bird.ticks))),
        5 => fsm.change_state(Arc::new(FlyTo(bird.number))),
        6 => fsm.revert_state(),
        7 => fsm.push_state(&Soar),
        8 => fsm.pop_state(),
        9 => fsm.resume_state(&Nest),
        _ => {}
    }
}

macro_rules! states {
    ($($state:ty { $($item:item)* })*) => {$(
        impl State<Bird> for $state {
            fn update(&self, bird: &mut Bird, fsm: &mut Fsm<'_, Bird>, _: &mut f64) {
                decide(bird, fsm);
            }
            $($item)*
        }
    )*};
}

states! {
    Perch {}
    Soar {}
    Dive {}
    Nest {
        fn initial(&self) -> Option<StateRef<Bird>> {
            Some((&Brood).into())
        }
        fn keeps_history(&self) -> bool {
            true
        }
    }
    Brood {
        fn parent(&self) -> Option<StateRef<Bird>> {
            Some((&Nest).into())
        }
    }
    FlyTo {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            format!("FlyTo({})", self.0).into()
        }
    }
}

fn birds(count: u64) -> Batch<Bird> {
    (0..count).map(|number| (Bird { number, ticks: 0 }, &Perch)).collect()
}

fn update(batch: &mut Batch<Bird>, clock: &mut f64, ticks: usize) {
    for _ in 0..ticks {
        *clock += 0.25;
        batch.update(clock);
    }
}

/// All that can be read of an owner: with its key, and the bits of its times.
type Row = (Key, Bird, Vec<String>, Option<String>, Option<u64>, Option<u64>);

/// All that can be read of a batch, in the order of its rows.
fn rows(batch: &Batch<Bird>) -> (Vec<Row>, Vec<(String, usize)>, Vec<Key>) {
    let row = |(key, bird): (Key, &Bird)| {
        let path = batch.path(key).expect("it is there").map(ToString::to_string).collect();
        let time = batch.time_in_state(key, &1e6).map(f64::to_bits);
        let in_nest = batch.time_in(key, &Nest, &1e6).map(f64::to_bits);
        (key, bird.clone(), path, batch.previous_of(key).map(ToString::to_string), time, in_nest)
    };
    let census = batch.census().map(|(state, count)| (state.to_string(), count)).collect();
    (batch.iter().map(row).collect(), census, batch.keys().collect())
}

#[test]
fn a_clone_goes_on_as_the_batch_that_it_was_cloned_from() {
    let mut batch = birds(300);
    let mut clock = 0.0;
    update(&mut batch, &mut clock, 40);
    let mut clone = batch.clone();
    assert!(rows(&clone) == rows(&batch));
    let mut cloned_clock = clock;
    for _ in 0..20 {
        update(&mut batch, &mut clock, 5);
        update(&mut clone, &mut cloned_clock, 5);
        assert!(rows(&clone) == rows(&batch));
    }
}

/// A batch that has been through the same states in another order, so that they have other numbers in it.
fn other_birds() -> Batch<Bird> {
    let mut batch = Batch::new();
    for number in 0..50 {
        batch.insert(Bird { number, ticks: 3 }, &Brood);
        batch.insert(Bird { number, ticks: 5 }, &Dive);
        batch.insert(Bird { number, ticks: 7 }, &Soar);
        batch.insert(Bird { number, ticks: 9 }, Arc::new(FlyTo(1)));
        batch.insert(Bird { number, ticks: 9 }, Box::new(FlyTo(1)));
    }
    batch
}

#[test]
fn what_a_batch_is_cloned_into_goes_on_as_the_source_whatever_it_was_before() {
    let mut batch = birds(200);
    let mut clock = 0.0;
    update(&mut batch, &mut clock, 40);
    let mut target = other_birds();
    // It has caches of its own by now.
    update(&mut target, &mut 7.0, 40);
    for _ in 0..10 {
        target.clone_from(&batch);
        assert!(rows(&target) == rows(&batch));
        let mut target_clock = clock;
        update(&mut target, &mut target_clock, 20);
        update(&mut batch, &mut clock, 20);
        assert!(rows(&target) == rows(&batch));
    }
}

#[cfg(feature = "parallel")]
#[test]
fn what_a_batch_is_cloned_into_goes_on_as_the_source_in_a_parallel_pass() {
    let mut batch = birds(5000);
    let mut clock = 0.0;
    update(&mut batch, &mut clock, 10);
    let mut target = other_birds();
    for tick in 0..10 {
        target.par_update(|_| f64::from(tick));
    }
    target.clone_from(&batch);
    for _ in 0..10 {
        clock += 0.25;
        batch.update(&mut clock);
        target.par_update(|_| clock);
    }
    assert!(rows(&target) == rows(&batch));
}

#[test]
fn clones_keep_stale_keys_stale_and_give_the_same_new_ones() {
    let mut batch = birds(10);
    let keys: Vec<_> = batch.keys().collect();
    batch.remove(keys[3]);
    batch.remove(keys[6]);
    let mut target = birds(30);
    target.clone_from(&batch);
    assert!(!target.contains_key(keys[3]) && !target.contains_key(keys[6]));
    for number in 10..15 {
        let [one, other] =
            [&mut batch, &mut target].map(|batch| batch.insert(Bird { number, ticks: 0 }, Arc::new(FlyTo(0))));
        assert_eq!(one, other);
    }
    assert!(rows(&target) == rows(&batch));
}

#[test]
fn cloning_into_a_batch_that_has_the_room_allocates_nothing() {
    let mut flat = birds(1000);
    for key in flat.keys().step_by(2).collect::<Vec<_>>() {
        flat.change_state(key, &Soar, &mut 1.0);
        flat.change_state(key, &Dive, &mut 2.0);
    }
    let mut nested = birds(1000);
    for key in nested.keys().step_by(2).collect::<Vec<_>>() {
        nested.set_current(key, &Brood);
        nested.set_previous(key, &Dive);
    }
    let mut owned = birds(100);
    for key in owned.keys().step_by(3).collect::<Vec<_>>() {
        owned.change_state(key, Box::new(FlyTo(1)), &mut 1.0);
        owned.change_state(key, Arc::new(FlyTo(2)), &mut 2.0);
        owned.insert(Bird { number: 1, ticks: 0 }, Box::new(FlyTo(1)));
    }
    let mut stacked = birds(100);
    for key in stacked.keys().step_by(2).collect::<Vec<_>>() {
        stacked.change_state(key, &Nest, &mut 1.0);
        stacked.change_state_after(key, 5.0, &Soar, &mut 1.0);
        stacked.push_state(key, &Dive, &mut 2.0);
        stacked.change_state_after(key, 5.0, Box::new(FlyTo(3)), &mut 2.0);
    }
    let mut waiting = birds(20);
    for key in waiting.keys().collect::<Vec<_>>() {
        for nth in 0..50 {
            waiting.change_state_after(key, 5.0 + f64::from(nth), &Soar, &mut 1.0);
        }
    }
    for batch in [&mut flat, &mut nested, &mut owned, &mut stacked, &mut waiting] {
        let mut target = Batch::new();
        target.clone_from(batch);
        assert_eq!(measure(|| target.clone_from(batch)).count_total, 0);
        // Also after they have gone on differently.
        let expected = rows(batch);
        let key = batch.keys().next().expect("there are many");
        batch.remove(key);
        batch.clone_from(&target);
        assert_eq!(measure(|| batch.clone_from(&target)).count_total, 0);
        assert!(rows(batch) == expected);
    }
}

#[test]
fn cloning_into_a_machine_that_has_the_room_allocates_nothing() {
    let (mut bird, mut machine) = (Bird { number: 1, ticks: 0 }, StateMachine::new(&Perch));
    let fresh = machine.clone();
    machine.change_state(&mut bird, &Nest, &mut 1.0);
    machine.change_state_after(&mut bird, 5.0, &Soar, &mut 1.0);
    machine.push_state(&mut bird, &Dive, &mut 2.0);
    machine.change_state_after(&mut bird, 5.0, &Perch, &mut 2.0);
    let mut target = machine.clone();
    for source in [&machine, &fresh, &machine] {
        assert_eq!(measure(|| target.clone_from(source)).count_total, 0);
        assert_eq!(target.digest(), source.digest());
    }
}

/// Rule 22: half of one batch and half of another would have keys that are nobody's.
#[test]
fn a_batch_into_which_cloning_has_panicked_is_empty() {
    let source = birds(20);
    for fragile in [0, 7, 19] {
        for mut target in [other_birds(), birds(10), birds(30), Batch::new()] {
            FRAGILE.set(Some(fragile));
            assert!(catch_unwind(AssertUnwindSafe(|| target.clone_from(&source))).is_err());
            assert_eq!((target.len(), target.iter().count(), target.keys().count()), (0, 0, 0));
            update(&mut target, &mut 1.0, 2);
            let key = target.insert(Bird { number: 1, ticks: 1 }, &Soar);
            update(&mut target, &mut 2.0, 2);
            assert_eq!(target[key].ticks, 3);
            target.clone_from(&source);
            assert!(rows(&target) == rows(&source));
        }
    }
    assert_eq!(source.len(), 20);
}
