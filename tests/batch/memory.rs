//! What a batch takes of memory, and how long it keeps states that are made at run time.

use std::sync::Arc;

use crate::census;
use crate::game::{A, B, Clock, Hall, Imp, Niche, Nook, Room, add, live_rooms, owned, shared, state, take_dropped};
use crate::ways::{WAYS, Way, change, update};
use allocation_counter::measure;
use demeanor::{Batch, Key, StateRef};

/// A batch with an imp in a camp that nothing else refers to.
fn camping(make: impl Fn(&'static str) -> StateRef<Imp>) -> (Batch<Imp>, Key) {
    let mut batch = Batch::new();
    let key = batch.insert(Imp::new(0), make("Camp"));
    assert_eq!(live_rooms(), 1);
    (batch, key)
}

#[test]
fn a_shared_state_goes_with_the_last_owner_that_is_removed() {
    let (mut batch, key) = camping(shared);
    let other = batch.insert(Imp::new(1), batch.state_of(key).unwrap().clone());
    drop(batch.remove(key));
    update(&mut batch);
    assert!(batch.state_of(other).is_some_and(|state| state.name() == "Camp"));
    let removed = batch.remove(other);
    assert_eq!(live_rooms(), 1, "the machine that was removed is in it");
    drop(removed);
    assert_eq!(live_rooms(), 0);
    assert_eq!(census(&batch), []);
}

#[test]
fn a_state_is_kept_as_long_as_its_owner_is_in_it_comes_from_it_or_will_go_back_to_it() {
    for make in [owned, shared] {
        for Way { name, keep, lose, .. } in WAYS {
            let (mut batch, key) = camping(make);
            batch.insert(Imp::new(1), &Hall);
            keep(&mut batch, key);
            (0..100).for_each(|_| update(&mut batch));
            assert_eq!(live_rooms(), 1, "{name}: it is still needed");
            lose(&mut batch, key);
            assert_eq!(live_rooms(), 0, "{name}: it is needed no more");
        }
    }
}

#[test]
fn a_shared_global_goes_with_the_one_that_takes_its_place() {
    let mut batch = Batch::new().with_global(shared("Camp"));
    batch.insert(Imp::new(0), &B);
    update(&mut batch);
    assert_eq!(live_rooms(), 1);
    batch.set_global(&A);
    assert_eq!(live_rooms(), 0);
}

#[test]
fn the_states_around_a_shared_one_go_with_it() {
    let mut batch = Batch::new();
    let key = batch.insert(Imp::new(0), Arc::new(Room::new("Camp").inside(shared("Valley"))));
    assert_eq!(live_rooms(), 2);
    change(&mut batch, key, &B);
    change(&mut batch, key, &A);
    assert_eq!(live_rooms(), 0);
}

#[test]
fn a_shared_state_that_only_room_was_reserved_for_is_not_kept() {
    let mut batch = Batch::new();
    let key = batch.insert(Imp::new(0), &B);
    batch.reserve(100, shared("Camp"));
    update(&mut batch);
    assert_eq!(live_rooms(), 0);
    assert!(batch.is_in_state(key, &B));
}

#[test]
fn a_thousand_shared_states_inserted_and_removed_leave_nothing() {
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, 1000, || shared("Camp"));
    assert_eq!((batch.census().count(), live_rooms()), (1000, 1000));
    for key in keys {
        drop(batch.remove(key));
    }
    assert_eq!(live_rooms(), 0);
    assert_eq!(census(&batch), []);
}

/// To look for them takes a look at every row, so it takes some ticks where there are many.
#[test]
fn among_many_owners_shared_states_that_nobody_needs_go_within_some_ticks() {
    let mut batch = Batch::new();
    add(&mut batch, 0, 10_000, || (&B).into());
    for key in add(&mut batch, 10_000, 10, || shared("Camp")) {
        change(&mut batch, key, &B);
        change(&mut batch, key, &B);
    }
    (0..64).for_each(|_| update(&mut batch));
    assert_eq!(live_rooms(), 0);
    assert_eq!(census(&batch), [("B".into(), 10_010)]);
}

#[test]
fn a_batch_that_meets_fresh_states_for_100_000_ticks_keeps_its_memory() {
    let (mut batch, key) = camping(shared);
    add(&mut batch, 1, 3, || (&B).into());
    let mut clock = Clock::default();
    let mut ticks = |count: u32| {
        for _ in 0..count {
            clock.updated.clear();
            batch[key].order = Some(shared("Camp"));
            batch.update(&mut clock);
        }
        batch.census().count()
    };
    let known_at_first = ticks(1000);
    let (mut known, mut known_later) = (0, 0);
    let first = measure(|| known = ticks(1000));
    ticks(97_000);
    let last = measure(|| known_later = ticks(1000));
    assert!(known_at_first <= 10 && known <= 10 && known_later <= 10, "{known_at_first} {known} {known_later}");
    assert!(live_rooms() <= 4, "{} states are alive", live_rooms());
    assert_eq!(last.count_total, first.count_total, "allocations of a thousand ticks");
    assert!(last.bytes_current.abs() < 1024, "{} bytes more after a thousand ticks", last.bytes_current);
    assert!(last.bytes_max < first.bytes_max + 1024, "{} {}", first.bytes_max, last.bytes_max);
}

/// Rule 16. Each composite that is remembered keeps the state in it.
#[test]
fn an_owner_of_a_batch_remembers_at_most_64_composites() {
    let mut batch = Batch::new();
    let key = batch.insert(Imp::new(0), &B);
    let tent = || state(6);
    for _ in 0..1000 {
        change(&mut batch, key, tent());
        change(&mut batch, key, &B);
    }
    assert!(live_rooms() <= 2 * 64, "{}", live_rooms());
    drop(batch.remove(key));
    assert_eq!(live_rooms(), 0);
    // Rule 19: and so do those that leave together.
    let keys = add(&mut batch, 0, 3, || (&B).into());
    for _ in 0..300 {
        for &key in &keys {
            batch.set_current(key, tent());
            batch[key].order = Some((&B).into());
        }
        update(&mut batch);
        assert_eq!(batch.owners_in(&B).len(), 3);
    }
    assert!(live_rooms() <= 3 * 2 * 64, "{}", live_rooms());
    batch.clear();
    assert_eq!(live_rooms(), 0);
}

/// Rule 19: the number of a state that is gone is given to another, whose place in the order is the last.
#[test]
fn states_are_visited_in_the_order_in_which_they_were_first_seen_though_others_are_gone() {
    let mut batch = Batch::new();
    let first = batch.insert(Imp::new(0), shared("First"));
    batch.insert(Imp::new(1), &A);
    let second = batch.insert(Imp::new(2), shared("Second"));
    // A singleton that was asked for counts as seen.
    let asking = batch.insert(Imp::new(3), &A);
    batch[asking].order = Some((&Hall).into());
    drop(batch.remove(first));
    batch.insert(Imp::new(4), shared("Third"));
    update(&mut batch);
    drop(batch.remove(second));
    batch.insert(Imp::new(5), &B);
    batch.insert(Imp::new(6), shared("Fourth"));
    let expected = ["A", "Third", "Hall", "B", "Fourth"];
    assert_eq!(census(&batch), expected.map(|name| (name.to_owned(), 1)));
    let mut clock = Clock::default();
    batch.update(&mut clock);
    assert_eq!(clock.updated, expected);
    assert_eq!(batch.iter().count(), 5);
}

/// Rule 18: a nested state's number goes to a flat one, and the other way around.
#[test]
fn times_are_right_when_the_number_of_a_state_is_given_to_another_of_other_depth() {
    let mut batch = Batch::new();
    let mut clock = Clock::at(1.0);
    batch.spawn(Imp::new(0), &B, &mut clock);
    for round in 0..4_u8 {
        let start = f64::from(round) * 100.0;
        let valley = shared("Valley");
        let is_nested = round % 2 == 0;
        let [one, two] = ["One", "Two"].map(|name| {
            let room = Room::new(name);
            Arc::new(if is_nested { room.inside(valley.clone()) } else { room })
        });
        clock.now = start + 10.0;
        let keys = [0, 1, 2].map(|number| batch.spawn(Imp::new(number), one.clone(), &mut clock));
        clock.now = start + 30.0;
        assert!(batch.change_state(keys[0], two, &mut clock));
        clock.now = start + 60.0;
        let times = keys.map(|key| batch.time_in_state(key, &clock));
        assert_eq!(times, [Some(30.0), Some(50.0), Some(50.0)]);
        let around = keys.map(|key| batch.time_in(key, &*valley, &clock));
        assert_eq!(around, if is_nested { [Some(50.0); 3] } else { [None; 3] });
        batch.update(&mut clock);
        for key in keys {
            drop(batch.remove(key));
        }
        assert_eq!(batch.census().count(), 1, "they are known no more");
    }
}

#[test]
fn a_tick_without_changes_allocates_nothing() {
    let mut batch = Batch::new().with_global(&A);
    add(&mut batch, 0, 1250, || (&A).into());
    add(&mut batch, 0, 1250, || (&Niche).into());
    add(&mut batch, 0, 1250, || owned("Own"));
    add(&mut batch, 0, 1250, || Box::new(Room::new("Own").inside((&Niche).into())).into());
    let mut clock = Clock::at(1.0);
    let mut tick = |is_in_parts: bool| {
        clock.updated.clear();
        clock.now += 1.0;
        if is_in_parts {
            batch.update_part(0, 1, &mut clock);
        } else {
            batch.update(&mut clock);
        }
        assert_eq!(clock.updated.len(), 1250 * (2 + 3 + 2 + 4), "each with the global");
    };
    // The first grows what is kept from one chunk to the next.
    tick(false);
    let counted = measure(|| (0..20).for_each(|nth| tick(nth % 2 == 1)));
    assert_eq!(counted.count_total, 0);
}

/// A clone has no room to spare: what it takes is what is kept.
#[test]
fn beyond_the_owners_a_batch_takes_32_bytes_of_memory_for_each_with_a_clock() {
    const OWNERS: u32 = 100_000;
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, OWNERS, || (&A).into());
    let bytes = |batch: &Batch<Imp>| {
        let mut clone = None;
        let counted = measure(|| clone = Some(batch.clone()));
        u64::try_from(counted.bytes_current).expect("it takes some") - u64::from(OWNERS) * size_of::<Imp>() as u64
    };
    let constant = 16 * 1024;
    assert!(bytes(&batch) <= u64::from(OWNERS) * 24 + constant, "{}", bytes(&batch));
    for key in keys.iter().step_by(2) {
        batch.change_state(*key, &Nook, &mut Clock::at(1.0));
        batch.change_state(*key, &B, &mut Clock::at(2.0));
    }
    assert!(bytes(&batch) <= u64::from(OWNERS) * 32 + constant, "{}", bytes(&batch));
}

#[test]
fn a_hundred_thousand_owners_each_with_a_state_of_its_own_share_one_bucket() {
    let mut batch = Batch::new();
    let counted = measure(|| {
        for number in 0..100_000 {
            batch.insert(Imp::new(number), owned("Own"));
        }
    });
    assert_eq!(census(&batch), [("Own".into(), 100_000)]);
    // Two for each state; what else there is, grows by doubling.
    assert!(counted.count_total <= 200_000 + 500, "{}", counted.count_total);
    update(&mut batch);
    let (first, last) = (batch.keys().next().expect("one of many"), batch.keys().last().expect("one of many"));
    assert_ne!(batch.state_of(first), batch.state_of(last));
}

#[test]
fn owned_states_that_nobody_is_in_any_more_leave_nothing_behind() {
    let mut batch = Batch::new();
    let mut keys = add(&mut batch, 0, 1000, || owned("Own"));
    assert_eq!(live_rooms(), 1000);
    for key in keys.split_off(500) {
        assert!(batch.remove(key).is_some());
    }
    for key in &keys {
        change(&mut batch, *key, &A);
        // Its own is previous no more.
        change(&mut batch, *key, &B);
    }
    assert_eq!(live_rooms(), 0);
    assert_eq!(census(&batch), [("A".into(), 0), ("B".into(), 500)]);
    change(&mut batch, keys[0], owned("Own"));
    assert_eq!(census(&batch), [("Own".into(), 1), ("A".into(), 0), ("B".into(), 499)]);
}

#[test]
fn the_bucket_of_owned_states_gives_its_memory_back() {
    let mut batch = Batch::new();
    let counted = measure(|| {
        for key in add(&mut batch, 0, 10_000, || owned("Own")) {
            assert!(batch.remove(key).is_some_and(|(imp, _)| imp.number < 10_000));
        }
        drop(take_dropped());
    });
    assert!(counted.bytes_max > 10_000 * size_of::<Imp>() as u64);
    assert!(counted.bytes_current < 10_000 * 20, "{}", counted.bytes_current);
}
