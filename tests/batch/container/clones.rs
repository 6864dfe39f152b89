//! A clone of a batch, and `clone_from`: the same keys, states and order, so that what follows is the same.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use allocation_counter::measure;
use demeanor::{Batch, Fsm, Key, Owner, State, StateMachine, StateRef};

thread_local! {
    /// The goat whose `Clone` panics, once.
    static FRAGILE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A goat whose way follows from its number, which changes with each of its updates.
#[derive(Debug, PartialEq, Hash)]
pub(super) struct Goat(pub(super) u32);

impl Clone for Goat {
    fn clone(&self) -> Self {
        if FRAGILE.get() == Some(self.0) {
            FRAGILE.set(None);
            resume_unwind(Box::new("fragile"));
        }
        Self(self.0)
    }
}

impl Owner for Goat {
    type Context<'a> = f64;
    type Message = ();

    fn now(clock: &f64) -> f64 {
        *clock
    }
}

impl Goat {
    fn step(&mut self) {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }

    /// What a goat asks for in a tick.
    fn decide(&mut self, fsm: &mut Fsm<'_, Self>) {
        self.step();
        match self.0 >> 28 {
            0 => fsm.change_state(&Eat),
            1 => fsm.change_state(&Climb),
            2 => fsm.change_state(&Jump),
            3 => fsm.change_state(&Hill),
            4 => fsm.change_state(Box::new(Follow(self.0))),
            5 => fsm.change_state(Arc::new(Follow(self.0))),
            6 => fsm.revert_state(),
            7 => fsm.push_state(&Climb),
            8 => fsm.pop_state(),
            9 => fsm.resume_state(&Hill),
            _ => {}
        }
    }
}

pub(super) struct Eat;
pub(super) struct Climb;
struct Jump;
/// Rest and look around on it.
pub(super) struct Hill;
pub(super) struct Rest;
pub(super) struct Look;
/// One part of the goats leads, another trails.
struct Herd;
struct Lead;
struct Trail;

#[derive(Clone)]
pub(super) struct Follow(pub(super) u32);

macro_rules! states {
    ($($state:ty { $($item:item)* })*) => {$(
        impl State<Goat> for $state {
            fn update(&self, goat: &mut Goat, fsm: &mut Fsm<'_, Goat>, _: &mut f64) {
                goat.decide(fsm);
            }
            $($item)*
        }
    )*};
}

states! {
    Eat {}
    Climb {}
    Jump {}
    Hill {
        fn initial(&self) -> Option<StateRef<Goat>> {
            Some((&Rest).into())
        }
        fn keeps_history(&self) -> bool {
            true
        }
    }
    Rest {
        fn parent(&self) -> Option<StateRef<Goat>> {
            Some((&Hill).into())
        }
    }
    Look {
        fn parent(&self) -> Option<StateRef<Goat>> {
            Some((&Hill).into())
        }
    }
    Herd {
        fn regions(&self) -> Vec<StateRef<Goat>> {
            vec![(&Lead).into(), (&Trail).into()]
        }
    }
    Lead {
        fn parent(&self) -> Option<StateRef<Goat>> {
            Some((&Herd).into())
        }
    }
    Trail {
        fn parent(&self) -> Option<StateRef<Goat>> {
            Some((&Herd).into())
        }
        fn region(&self) -> usize {
            1
        }
    }
    Follow {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            format!("Follow({})", self.0).into()
        }
    }
}

fn goats(count: u32) -> Batch<Goat> {
    (0..count).map(|number| (Goat(number), &Eat)).collect()
}

fn update(batch: &mut Batch<Goat>, clock: &mut f64, ticks: usize) {
    for _ in 0..ticks {
        *clock += 0.25;
        batch.update(clock);
    }
}

/// All that can be read of an owner: with its key, and the bits of its times.
type Row = (Key, Goat, Vec<String>, Option<String>, Option<u64>, Option<u64>);

/// All that can be read of a batch, in the order of its rows.
fn rows(batch: &Batch<Goat>) -> (Vec<Row>, Vec<(String, usize)>, Vec<Key>) {
    let row = |(key, goat): (Key, &Goat)| {
        let path = batch.path(key).expect("it is there").map(ToString::to_string).collect();
        let time = batch.time_in_state(key, &1e6).map(f64::to_bits);
        let on_hill = batch.time_in(key, &Hill, &1e6).map(f64::to_bits);
        (key, goat.clone(), path, batch.previous_of(key).map(ToString::to_string), time, on_hill)
    };
    let census = batch.census().map(|(state, count)| (state.to_string(), count)).collect();
    (batch.iter().map(row).collect(), census, batch.keys().collect())
}

#[test]
fn a_clone_goes_on_as_the_batch_that_it_was_cloned_from() {
    let mut batch = goats(300);
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
fn other_goats() -> Batch<Goat> {
    let mut batch = Batch::new();
    for number in 0..50 {
        batch.insert(Goat(number + 300), &Rest);
        batch.insert(Goat(number + 500), &Jump);
        batch.insert(Goat(number + 700), &Climb);
        batch.insert(Goat(number + 900), Arc::new(Follow(1)));
        batch.insert(Goat(number + 900), Box::new(Follow(1)));
    }
    batch
}

#[test]
fn what_a_batch_is_cloned_into_goes_on_as_the_source_whatever_it_was_before() {
    let mut batch = goats(200);
    let mut clock = 0.0;
    update(&mut batch, &mut clock, 40);
    let mut target = other_goats();
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
    let mut batch = goats(5000);
    let mut clock = 0.0;
    update(&mut batch, &mut clock, 10);
    let mut target = other_goats();
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
    let mut batch = goats(10);
    let keys: Vec<_> = batch.keys().collect();
    batch.remove(keys[3]);
    batch.remove(keys[6]);
    let mut target = goats(30);
    target.clone_from(&batch);
    assert!(!target.contains_key(keys[3]) && !target.contains_key(keys[6]));
    for number in 10..15 {
        let [one, other] = [&mut batch, &mut target].map(|batch| batch.insert(Goat(number), Arc::new(Follow(0))));
        assert_eq!(one, other);
    }
    assert!(rows(&target) == rows(&batch));
}

#[test]
fn a_clone_of_a_batch_goes_its_own_way_by_the_same_keys() {
    let mut batch = Batch::new();
    let eating = batch.insert(Goat(1), &Eat);
    let following = batch.insert(Goat(2), Box::new(Follow(1)));
    let mut snapshot = batch.clone();
    batch.current_mut::<Follow>(following).expect("it is an owned one").0 = 2;
    batch.remove(eating);
    assert_eq!(snapshot.current_mut::<Follow>(following).map(|follow| follow.0), Some(1));
    assert!(snapshot.is_in_state(eating, &Eat));
    assert!(snapshot.current_mut::<Follow>(eating).is_none());
    assert_eq!((batch.len(), snapshot.len()), (1, 2));
}

#[test]
fn cloning_into_a_batch_that_has_the_room_allocates_nothing() {
    let mut flat = goats(1000);
    for key in flat.keys().step_by(2).collect::<Vec<_>>() {
        flat.change_state(key, &Climb, &mut 1.0);
        flat.change_state(key, &Jump, &mut 2.0);
    }
    let mut nested = goats(1000);
    for key in nested.keys().step_by(2).collect::<Vec<_>>() {
        nested.set_current(key, &Rest);
        nested.set_previous(key, &Jump);
    }
    let mut owned = goats(100);
    for key in owned.keys().step_by(3).collect::<Vec<_>>() {
        owned.change_state(key, Box::new(Follow(1)), &mut 1.0);
        owned.change_state(key, Arc::new(Follow(2)), &mut 2.0);
        owned.insert(Goat(1), Box::new(Follow(1)));
    }
    let mut stacked = goats(100);
    for key in stacked.keys().step_by(2).collect::<Vec<_>>() {
        stacked.change_state(key, &Hill, &mut 1.0);
        stacked.change_state_after(key, 5.0, &Climb, &mut 1.0);
        stacked.push_state(key, &Jump, &mut 2.0);
        stacked.change_state_after(key, 5.0, Box::new(Follow(3)), &mut 2.0);
    }
    let mut waiting = goats(20);
    for key in waiting.keys().collect::<Vec<_>>() {
        for nth in 0..50 {
            waiting.change_state_after(key, 5.0 + f64::from(nth), &Climb, &mut 1.0);
        }
    }
    let mut split = goats(20);
    for (nth, key) in split.keys().collect::<Vec<_>>().into_iter().enumerate() {
        split.change_state(key, &Herd, &mut 1.0);
        split.change_state_after(key, 5.0, &Trail, &mut 1.0);
        if nth % 2 == 0 {
            split.push_state(key, &Jump, &mut 2.0);
        }
    }
    for batch in [&mut flat, &mut nested, &mut owned, &mut stacked, &mut waiting, &mut split] {
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
    let (mut goat, mut machine) = (Goat(1), StateMachine::new(&Eat));
    let fresh = machine.clone();
    machine.change_state(&mut goat, &Hill, &mut 1.0);
    machine.change_state_after(&mut goat, 5.0, &Climb, &mut 1.0);
    machine.push_state(&mut goat, &Jump, &mut 2.0);
    machine.change_state_after(&mut goat, 5.0, &Eat, &mut 2.0);
    let mut target = machine.clone();
    for source in [&machine, &fresh, &machine] {
        assert_eq!(measure(|| target.clone_from(source)).count_total, 0);
        assert_eq!(target.digest(), source.digest());
    }
}

/// Rule 22: half of one batch and half of another would have keys that are nobody's.
#[test]
fn a_batch_into_which_cloning_has_panicked_is_empty() {
    let source = goats(20);
    for fragile in [0, 7, 19] {
        for mut target in [other_goats(), goats(10), goats(30), Batch::new()] {
            FRAGILE.set(Some(fragile));
            assert!(catch_unwind(AssertUnwindSafe(|| target.clone_from(&source))).is_err());
            assert_eq!((target.len(), target.iter().count(), target.keys().count()), (0, 0, 0));
            update(&mut target, &mut 1.0, 2);
            let mut goat = Goat(1 << 30);
            let key = target.insert(goat.clone(), &Climb);
            update(&mut target, &mut 2.0, 2);
            // It pushes `Climb` over itself, and then does the next thing there.
            (0..2).for_each(|_| goat.step());
            assert_eq!(target[key], goat);
            target.clone_from(&source);
            assert!(rows(&target) == rows(&source));
        }
    }
    assert_eq!(source.len(), 20);
}
