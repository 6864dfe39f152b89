//! Batches: keys, orders, everything that decides what comes next.

use demeanor::{Batch, Fsm, Key, Owner, SaveError, State, StateBook, StateMachine, StateRef};
use slotmap::{Key as _, KeyData};

use crate::barracks::{Aim, Combat, Flee, Guard, Idle, Nap, Patrol, Stunned, Told, batch, book, patrol};

fn reloaded(batch: &Batch<Guard>) -> Batch<Guard> {
    reloaded_at(batch, [4.9, 4.9])
}

/// By way of bytes, saved at one time and loaded at another.
fn reloaded_at(batch: &Batch<Guard>, [saved, loaded]: [f64; 2]) -> Batch<Guard> {
    let bytes = postcard::to_allocvec(&batch.save(&book(), saved).unwrap()).unwrap();
    Batch::load(postcard::from_bytes(&bytes).unwrap(), &book(), loaded).unwrap()
}

#[test]
fn a_version_that_has_gone_all_the_way_around_is_loaded() {
    let mut batch = Batch::new();
    let key = batch.insert(Guard::default(), &Idle);
    batch.insert(Guard::default(), &Idle);
    batch.remove(key);
    let mut saved = batch.save(&book(), 0.0).unwrap().map_owners(Guard::clone);
    saved.content.next_keys[0].version = 1;
    let mut loaded = Batch::load(saved, &book(), 0.0).unwrap();
    let next = loaded.insert(Guard::default(), &Idle);
    assert_eq!(next, Key::from(KeyData::from_ffi(key.data().as_ffi() & 0xffff_ffff | 1 << 32)));
}

#[test]
fn states_keep_their_order_also_those_that_nobody_is_in() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..3).map(|number| batch.insert(Guard::new(number), &Flee)).collect();
    batch.change_state(keys[0], &Nap, &mut 1.0);
    batch.change_state(keys[1], &Idle, &mut 1.0);
    for key in &keys {
        batch.change_state(*key, &Combat, &mut 2.0);
    }
    let names =
        |batch: &Batch<Guard>| batch.census().map(|(state, count)| (state.to_string(), count)).collect::<Vec<_>>();
    assert_eq!(names(&reloaded(&batch)), names(&batch));
    assert_eq!(names(&batch).len(), 5);
}

#[test]
fn the_clock_of_a_batch_may_start_elsewhere() {
    let (mut batch, times) = (Batch::new(), [3.0, 4.0, 5.0]);
    let keys = times.map(|at| {
        let key = batch.insert(Guard::default(), &Idle);
        batch.change_state(key, if at < 4.5 { StateRef::from(&Combat) } else { (&Stunned).into() }, &mut { at });
        key
    });
    let not_started = batch.insert(Guard::default(), &Aim);
    let mut loaded = reloaded_at(&batch, [5.5, 1000.0]);
    let elapsed = keys.map(|key| loaded.time_in_state(key, &1000.0));
    assert_eq!(elapsed, [Some(2.5), Some(1.5), Some(0.5)]);
    assert_eq!(loaded.time_in(keys[0], &Combat, &1000.0), Some(2.5));
    // Before a state is entered its time counts from 0.
    assert_eq!(loaded.time_in_state(not_started, &1000.0), Some(1000.0));
    loaded.update(&mut 1001.4);
    assert!(loaded.is_in_state(keys[2], &Stunned) && loaded.awake() == 3);
    loaded.update(&mut 1001.5);
    assert!(loaded.is_in_state(keys[2], &Flee));
}

#[test]
fn owners_that_entered_at_zero_have_been_there_as_long_by_another_clock() {
    let mut batch = Batch::new();
    let entered = batch.spawn(Guard::default(), &Combat, &mut 0.0);
    let placed = batch.insert(Guard::default(), &Idle);
    let mut loaded = reloaded_at(&batch, [8.0, 3.0]);
    assert_eq!(loaded.time_in(entered, &Combat, &3.0), Some(8.0));
    assert_eq!(loaded.time_in_state(entered, &3.0), Some(8.0));
    assert_eq!(loaded.time_in_state(placed, &3.0), Some(3.0));
    let late = loaded.insert(Guard::default(), &Idle);
    loaded.change_state(placed, &Idle, &mut 3.0);
    loaded.change_state(late, &Idle, &mut 3.5);
    assert_eq!([placed, late].map(|key| loaded.time_in_state(key, &4.0)), [Some(1.0), Some(0.5)]);
}

#[test]
fn an_owned_state_that_owners_share_is_shared_again() {
    let shared = patrol(5);
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..3).map(|number| batch.insert(Guard::new(number), shared.clone())).collect();
    let other = batch.insert(Guard::default(), patrol(5));
    batch.change_state(keys[2], &Idle, &mut 0.0);
    let loaded = reloaded(&batch);
    let states: Vec<_> = keys[..2].iter().map(|key| loaded.state_of(*key).unwrap()).collect();
    assert_eq!(states[0], states[1]);
    assert_eq!(loaded.previous_of(keys[2]), Some(states[0]));
    assert_ne!(loaded.state_of(other), Some(states[0]));
}

#[test]
fn a_singleton_that_the_batch_has_met_has_to_be_in_the_book() {
    let mut batch = Batch::new();
    let key = batch.insert(Guard::default(), &Nap);
    batch.change_state(key, &Idle, &mut 0.0);
    batch.change_state(key, &Flee, &mut 0.0);
    let error = batch.save(&StateBook::new().with(&Flee).with(&Idle), 0.0).unwrap_err();
    assert_eq!(error, SaveError::UnknownStates { names: vec!["Nap".into()] });
}

#[test]
fn a_shared_state_that_nobody_needs_any_more_need_not_be_in_the_book() {
    let mut batch = Batch::new();
    let key = batch.insert(Guard::default(), std::sync::Arc::new(Patrol::to(1)));
    batch.change_state(key, &Idle, &mut 0.0);
    let book = StateBook::new().with(&Flee).with(&Idle);
    let error = batch.save(&book, 0.0).unwrap_err();
    assert_eq!(error, SaveError::UnknownStates { names: vec!["Patrol".into()] });
    batch.change_state(key, &Flee, &mut 0.0);
    let saved = batch.save(&book, 0.0).unwrap().map_owners(Guard::clone);
    assert!(Batch::load(saved, &book, 0.0).unwrap().is_in_state(key, &Flee));
}

#[test]
fn a_shared_state_that_nobody_needs_any_more_is_forgotten_at_the_same_time() {
    let north = StateRef::<Guard>::from(std::sync::Arc::new(Patrol::to(3)));
    let book = || book().with_name("north", north.clone());
    let mut batch = Batch::new();
    let first = batch.insert(Guard::default(), north.clone());
    let keys: Vec<_> = (0..500).map(|number| batch.insert(Guard::new(number), &Idle)).collect();
    batch.change_state(first, &Flee, &mut 0.0);
    batch.change_state(first, &Nap, &mut 0.0);
    for key in &keys[..9] {
        batch.wake(*key);
    }
    let saved = batch.save(&book(), 0.0).unwrap().map_owners(Guard::clone);
    let mut loaded = Batch::load(saved, &book(), 0.0).unwrap();
    let mut places = std::collections::BTreeSet::new();
    for key in keys {
        // Where it comes among the states shows whether it has been forgotten.
        let place = |batch: &Batch<Guard>| {
            let mut trial = batch.clone();
            trial.insert(Guard::default(), north.clone());
            trial.census().position(|(state, _)| *state == north).unwrap()
        };
        assert_eq!(place(&loaded), place(&batch));
        places.insert(place(&batch));
        for batch in [&mut batch, &mut loaded] {
            batch.with(key, &mut 0.0, |_, _, _| {});
        }
    }
    assert_eq!(places.len(), 2, "it was never forgotten");
}

#[test]
fn numbers_of_states_that_have_been_forgotten_are_used_again_in_the_same_order() {
    let shared = [3, 4, 5].map(|to| StateRef::<Guard>::from(std::sync::Arc::new(Patrol::to(to))));
    let book = || {
        let named = shared.iter().enumerate();
        named.fold(book(), |book, (nth, state)| book.with_name(nth.to_string(), state.clone()))
    };
    let reloaded = |batch: &Batch<Guard>| {
        let saved = batch.save(&book(), 0.0).unwrap();
        let loaded = Batch::load(saved.clone().map_owners(Guard::clone), &book(), 0.0).unwrap();
        assert_eq!(loaded.save(&book(), 0.0).unwrap(), saved);
        (loaded, saved.content.order.is_sorted(), saved.content.free)
    };
    let mut batch = Batch::new();
    for known in [StateRef::from(&Flee), (&Nap).into(), (&Idle).into()] {
        batch.insert(Guard::default(), known);
    }
    let keys = shared.clone().map(|state| batch.insert(Guard::default(), state));
    for to in [StateRef::from(&Flee), (&Nap).into(), (&Idle).into()] {
        for key in keys {
            batch.change_state(key, to.clone(), &mut 0.0);
        }
    }
    let (mut loaded, is_sorted, free) = reloaded(&batch);
    assert_eq!((is_sorted, free.len()), (true, 3));
    for batch in [&mut batch, &mut loaded] {
        batch.insert(Guard::default(), &Stunned);
        batch.insert(Guard::default(), shared[0].clone());
    }
    let names = |batch: &Batch<Guard>| batch.census().map(|(state, _)| state.clone()).collect::<Vec<_>>();
    assert_eq!(names(&loaded), names(&batch));
    let (loaded, is_sorted, free) = reloaded(&batch);
    assert_eq!((is_sorted, free.len()), (false, 1));
    assert_eq!(names(&loaded), names(&batch));
}

#[test]
fn the_global_of_a_batch_is_set_again() {
    struct Alert;
    impl State<Guard> for Alert {
        fn on_message(&self, guard: &mut Guard, _: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
            guard.log.push("alert".into());
            fsm.change_state_after(1.0, &Flee);
            true
        }
    }
    struct Deaf;
    impl State<Guard> for Deaf {}
    let book = || book().with(&Deaf);
    let mut batch = Batch::new().with_global(&Alert);
    let key = batch.insert(Guard::default(), &Deaf);
    batch.send(key, &Told::Bell, &mut 0.0);
    let saved = batch.save(&book(), 0.0).unwrap().map_owners(Guard::clone);
    let mut loaded = Batch::load(saved, &book(), 0.0).unwrap();
    assert_eq!(loaded.global(), None);
    loaded.set_global(&Alert);
    loaded.send(key, &Told::Bell, &mut 0.5);
    loaded.update(&mut 1.0);
    let log: Vec<_> = loaded[key].log.iter().map(|line| line.split(" [").next().unwrap()).collect();
    assert_eq!(log, ["alert", "alert", "enter Flee", "update Flee"]);
}

#[test]
fn machines_can_be_saved_out_of_a_batch_and_into_another() {
    let (mut batch, keys) = batch();
    let (guard, machine) = batch.remove(keys[1]).unwrap();
    let loaded = book().load(machine.save(&book(), 4.9).unwrap(), 4.9).unwrap();
    let mut other = Batch::new();
    let key = other.insert_machine(guard, loaded).unwrap();
    assert_eq!(other.state_of(key), machine.current());
}

#[test]
fn owners_can_be_others_than_those_that_were_saved() {
    /// With a health that is of another type in the next version.
    struct Soldier<H>(H);
    impl<H: 'static> Owner for Soldier<H> {
        type Context<'a> = ();
        type Message = ();
    }
    struct Rest;
    impl<H: 'static> State<Soldier<H>> for Rest {}
    let mut batch = Batch::new();
    let key = batch.insert(Soldier(7_u32), &Rest);
    let saved = batch.save(&StateBook::new().with(&Rest), 0.0).unwrap();
    let saved = saved.map_owners(|Soldier(health)| Soldier(u64::from(*health)));
    let loaded = Batch::load(saved, &StateBook::new().with(&Rest), 0.0).unwrap();
    assert_eq!(loaded[key].0, 7_u64);
}

#[test]
fn a_batch_of_several_chunks_has_its_rows_in_their_order() {
    let mut batch = Batch::new();
    let machine = |number: u32| {
        let mut machine = StateMachine::new(&Idle);
        if number % 3 == 0 {
            machine.sleep_for(&Guard::default(), f64::from(number) / 100.0, &0.0);
        }
        machine
    };
    for number in 0..5000 {
        batch.insert_machine(Guard::new(number), machine(number)).unwrap();
    }
    batch.retain(|_, guard| guard.number % 7 != 0);
    let mut loaded = reloaded(&batch);
    for now in [5.0, 6.0, 30.0] {
        batch.update(&mut { now });
        loaded.update(&mut { now });
    }
    let numbers = |batch: &Batch<Guard>| batch.iter().map(|(key, guard)| (key, guard.number)).collect::<Vec<_>>();
    assert!(numbers(&loaded) == numbers(&batch), "the rows lie elsewhere");
}
