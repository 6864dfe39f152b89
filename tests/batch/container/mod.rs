//! A batch as a container: std's methods, what they keep, and what is left when something in the middle of them panics.

#![cfg(feature = "std")]

mod buckets;
mod clones;
mod digest;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::{iter, mem};

use crate::census;
use crate::game::{A, B, Clock, Imp, Niche, assert_agrees, owned, panicking, take_dropped};
use allocation_counter::measure;
use demeanor::batch::Bucket;
use demeanor::{Batch, Key, StateMachine, StateRef};
use slotmap::SecondaryMap;

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// A state for the imp of a number: four buckets, one of them of owned states.
fn state(number: u32) -> StateRef<Imp> {
    match number % 4 {
        0 => (&A).into(),
        1 => (&B).into(),
        2 => (&Niche).into(),
        _ => owned("Own"),
    }
}

/// A crowd of imps, numbered from 0, with their keys.
fn crowd(count: u32) -> (Batch<Imp>, Vec<Key>) {
    let mut batch = Batch::new();
    let keys = (0..count).map(|number| batch.insert(Imp::new(number), state(number))).collect();
    take_dropped();
    (batch, keys)
}

/// Asserts that the batch holds the imps of these numbers, by their keys and in their states, and no others.
#[track_caller]
fn assert_holds(batch: &Batch<Imp>, keys: &[Key], expected: impl IntoIterator<Item = u32>) {
    let expected: BTreeSet<u32> = expected.into_iter().collect();
    let kept: Vec<_> = expected.iter().map(|number| keys[*number as usize]).collect();
    assert_agrees(batch, &kept);
    assert_eq!(batch.is_empty(), expected.is_empty());
    for (number, key) in (0..).zip(keys) {
        let is_kept = expected.contains(&number);
        assert_eq!(batch.contains_key(*key), is_kept, "imp {number}");
        assert_eq!(batch.get(*key).map(|imp| imp.number), is_kept.then_some(number));
        let name = is_kept.then(|| state(number).to_string());
        assert_eq!(batch.state_of(*key).map(ToString::to_string), name, "imp {number}");
    }
}

#[test]
fn owners_for_whom_there_is_room_are_inserted_without_an_allocation() {
    let mut batch = Batch::with_capacity(1000);
    batch.reserve(1000, &A);
    assert!(batch.is_empty());
    let counted = measure(|| batch.extend((0..1000).map(|number| (Imp::new(number), &A))));
    assert_eq!(counted.count_total, 0);
    batch.reserve(500, &A);
    let counted = measure(|| batch.extend((0..500).map(|number| (Imp::new(number), &A))));
    assert_eq!(counted.count_total, 0);
    assert_eq!((batch.len(), batch.owners_in(&A).len()), (1500, 1500));
    mem::forget(batch);
}

#[test]
fn more_room_than_there_can_be_is_a_panic_that_changes_nothing() {
    let (mut batch, keys) = crowd(8);
    assert!(panics(|| batch.reserve(usize::MAX / 2, &A)));
    assert!(panics(|| batch.reserve(usize::MAX, &B)));
    assert_holds(&batch, &keys, 0..8);
    batch.update(&mut Clock::default());
    assert_holds(&batch, &keys, 0..8);
}

#[test]
fn room_that_nobody_uses_is_given_back_on_request() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..4000).map(|number| batch.insert(Imp::new(number), &A)).collect();
    batch.reserve(4000, &B);
    for key in &keys[10..] {
        mem::forget(batch.remove(*key));
    }
    let counted = measure(|| batch.shrink_to_fit());
    // Of each row at least the owner and its key.
    let row = i64::try_from(size_of::<(Imp, Key)>()).expect("it is small");
    assert!(counted.bytes_current < -(8000 - 10) * row, "{}", counted.bytes_current);
    assert_eq!(batch.owners_in(&A).len(), 10);
    assert!(keys[..10].iter().zip(0..).all(|(key, number)| batch[*key].number == number));
    mem::forget(batch);
}

#[test]
fn a_cleared_batch_is_empty_and_keeps_its_room() {
    let (mut batch, keys) = crowd(100);
    batch.clear();
    assert_holds(&batch, &keys, []);
    assert_eq!(take_dropped(), (0..100).collect::<Vec<_>>(), "in the order of their keys");
    batch.clear();
    let counted = measure(|| {
        for number in 0..100 {
            // Not an owned state, which is itself allocated.
            batch.insert(Imp::new(number), state(number - number % 4));
        }
    });
    // The room of one state was for a quarter of them.
    assert!(counted.count_total <= 8, "{}", counted.count_total);
    assert!(keys.iter().all(|key| !batch.contains_key(*key)), "the keys are stale for good");
}

#[test]
fn all_others_are_cleared_although_the_drop_of_an_owner_panics() {
    let (mut batch, keys) = crowd(10);
    panicking("owner.drop", 4, || batch.clear());
    assert_holds(&batch, &keys, []);
    assert_eq!(take_dropped(), (0..10).collect::<Vec<_>>());
}

#[test]
fn owners_that_are_retained_keep_their_keys() {
    let (mut batch, keys) = crowd(40);
    let mut seen = Vec::new();
    batch.retain(|key, imp| {
        seen.push((imp.number, key));
        imp.number % 3 == 0
    });
    seen.sort_unstable();
    assert_eq!(seen, (0..).zip(keys.iter().copied()).collect::<Vec<_>>(), "each is asked about once");
    assert_holds(&batch, &keys, (0..40).filter(|number| number % 3 == 0));
    batch.retain(|_, imp| imp.number > 20);
    assert_holds(&batch, &keys, (21..40).filter(|number| number % 3 == 0));
}

#[test]
fn a_predicate_that_panics_half_way_loses_nobody() {
    for fatal in 0..12 {
        let (mut batch, keys) = crowd(12);
        let (mut asked, mut refused) = (0, Vec::new());
        let is_panic = panics(|| {
            batch.retain(|_, imp| {
                if asked == fatal {
                    resume_unwind(Box::new("fatal"));
                }
                asked += 1;
                if imp.number % 2 == 0 {
                    refused.push(imp.number);
                }
                imp.number % 2 == 1
            });
        });
        assert!(is_panic);
        assert_holds(&batch, &keys, (0..12).filter(|number| !refused.contains(number)));
        batch.update(&mut Clock::default());
        batch.retain(|_, imp| imp.number > 6);
        assert_holds(&batch, &keys, (7..12).filter(|number| !refused.contains(number)));
    }
}

#[test]
fn a_drop_of_an_owner_that_panics_takes_nobody_else_with_it() {
    let (mut batch, keys) = crowd(4);
    panicking("owner.drop", 0, || drop(batch.remove(keys[0])));
    assert_holds(&batch, &keys, 1..4);
    // What `retain` has dropped before is gone, and all others are there.
    for fragile in 0..6 {
        let (mut batch, keys) = crowd(12);
        panicking("owner.drop", fragile, || batch.retain(|_, imp| imp.number % 2 == 1));
        let dropped = take_dropped();
        assert_eq!(dropped.len(), fragile as usize + 1, "the others are retained");
        assert!(dropped.iter().all(|number| number % 2 == 0));
        assert_holds(&batch, &keys, (0..12).filter(|number| !dropped.contains(number)));
        batch.retain(|_, imp| imp.number % 2 == 1);
        assert_holds(&batch, &keys, (0..12).filter(|number| number % 2 == 1));
    }
}

#[test]
fn a_drained_batch_gives_everybody_with_the_machine_by_key() {
    let (mut batch, keys) = crowd(9);
    let mut drain = batch.drain();
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(drain.len(), keys.len() - number as usize);
        assert_eq!(drain.size_hint(), (drain.len(), Some(drain.len())));
        let (found, imp, machine) = drain.next().expect("nobody is missing");
        assert_eq!((found, imp.number), (*key, number));
        assert_eq!(machine.current().map(ToString::to_string), Some(state(number).to_string()));
    }
    assert_eq!(drain.len(), 0);
    assert!(drain.next().is_none() && drain.next().is_none());
    drop(drain);
    assert_holds(&batch, &keys, []);
}

#[test]
fn a_drain_that_is_dropped_half_way_leaves_nobody() {
    let (mut batch, keys) = crowd(9);
    let taken: Vec<_> = batch.drain().take(4).map(|(key, ..)| key).collect();
    assert_eq!(taken, keys[..4]);
    assert_holds(&batch, &keys, []);
    assert_eq!(take_dropped(), (0..9).collect::<Vec<_>>());
    // Also when the drop of one panics.
    let (mut batch, keys) = crowd(9);
    panicking("owner.drop", 6, || drop(batch.drain()));
    assert_holds(&batch, &keys, []);
    assert_eq!(take_dropped(), (0..9).collect::<Vec<_>>());
}

#[test]
fn a_drain_that_is_leaked_leaves_those_that_were_not_asked_for() {
    let (mut batch, keys) = crowd(9);
    let mut drain = batch.drain();
    drain.by_ref().take(4).for_each(drop);
    mem::forget(drain);
    assert_holds(&batch, &keys, 4..9);
    batch.update(&mut Clock::default());
    assert!(batch.change_state(keys[5], &A, &mut Clock::default()));
    assert_eq!(batch.drain().map(|(_, imp, _)| imp.number).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
}

#[test]
fn a_batch_is_collected_and_extended() {
    let mut batch: Batch<Imp> = (0..3).map(|number| (Imp::new(number), &A)).collect();
    batch.extend([(Imp::new(3), state(3)), (Imp::new(4), state(1))]);
    batch.extend([(Imp::new(5), owned("Own"))]);
    assert_eq!(batch.iter().map(|(_, imp)| imp.number).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 4]);
    assert_eq!(census(&batch), [("A".into(), 3), ("Own".into(), 2), ("B".into(), 1)]);
    assert_eq!(batch.keys().map(|key| batch[key].number).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

/// An iterator tells at every step how many are left.
fn assert_is_exact(mut items: impl ExactSizeIterator, count: usize) {
    for left in (1..=count).rev() {
        assert_eq!((items.len(), items.size_hint()), (left, (left, Some(left))));
        assert!(items.next().is_some());
    }
    assert_eq!((items.len(), items.size_hint()), (0, (0, Some(0))));
    assert!(items.next().is_none() && items.next().is_none());
}

#[test]
fn iterators_tell_at_every_step_how_many_are_left() {
    let (mut batch, keys) = crowd(20);
    // A hole in each bucket, and one bucket that is empty.
    for number in [0, 5, 10, 15] {
        batch.remove(keys[number]);
    }
    for number in (2..20).step_by(4).filter(|number| *number != 10) {
        batch.remove(keys[number]);
    }
    assert_eq!(batch.owners_in(&Niche).len(), 0);
    let count = batch.len();
    assert_eq!(count, 12);
    assert_is_exact(batch.iter(), count);
    assert_is_exact(batch.iter_mut(), count);
    assert_is_exact(batch.keys(), count);
    assert_is_exact((&batch).into_iter(), count);
    assert_is_exact((&mut batch).into_iter(), count);
    let mut iter = batch.iter();
    iter.by_ref().take(5).for_each(drop);
    assert_is_exact(iter.clone(), count - 5);
    assert_eq!(format!("{:?}", batch.keys()), format!("{:?}", batch.keys().collect::<Vec<_>>()));
    assert_is_exact(batch.drain(), count);
}

#[test]
fn the_rest_of_an_iterator_is_the_same_in_one_loop_as_step_by_step() {
    let (batch, _) = crowd(30);
    for begun in 0..=30 {
        let mut rest = batch.iter();
        rest.by_ref().take(begun).for_each(drop);
        let mut steps = rest.clone();
        let one_by_one: Vec<_> = iter::from_fn(|| steps.next()).map(|(key, imp)| (key, imp.number)).collect();
        let mut in_one_loop = Vec::new();
        rest.for_each(|(key, imp)| in_one_loop.push((key, imp.number)));
        assert_eq!(in_one_loop, one_by_one, "after {begun}");
        assert_eq!(in_one_loop.len(), 30 - begun);
    }
}

#[test]
fn an_owner_is_read_and_written_by_its_key() {
    let (mut batch, keys) = crowd(4);
    assert_eq!(batch[keys[2]].number, 2);
    batch[keys[2]].number = 12;
    assert_eq!(batch.get(keys[2]).map(|imp| imp.number), Some(12));
    batch.remove(keys[2]);
    let message = |act: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("nobody has this key");
        payload.downcast_ref().cloned().unwrap_or_else(|| payload.downcast_ref().map_or("", |text| *text).to_owned())
    };
    assert_eq!(message(&mut || assert_eq!(batch[keys[2]].number, 2)), "there is no owner of this key");
    assert_eq!(message(&mut || batch[keys[2]].number = 1), "there is no owner of this key");
}

#[test]
fn the_keys_of_a_batch_are_keys_of_slotmaps_secondary_maps() {
    let (mut batch, keys) = crowd(5);
    let mut names: SecondaryMap<Key, String> =
        batch.iter().map(|(key, imp)| (key, format!("imp {}", imp.number))).collect();
    batch.remove(keys[1]);
    let heir = batch.insert(Imp::new(9), &A);
    assert!(!names.contains_key(heir));
    names.insert(heir, "heir".into());
    assert_eq!(names.get(keys[1]), None, "its place is another's now");
    names.retain(|key, _| batch.contains_key(key));
    assert_eq!(names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().len(), batch.len());
}

/// Rule 22: a machine that is inserted, and its owner, are there, or are not.
#[test]
fn machines_come_and_go_whole() {
    let (mut batch, mut keys) = crowd(4);
    let (imp, machine) = batch.remove(keys[2]).expect("it is there");
    assert_holds(&batch, &keys, [0, 1, 3]);
    keys[2] = batch.insert_machine(imp, machine).expect("neither has a global");
    assert_holds(&batch, &keys, 0..4);
    let idle = batch.insert_machine(Imp::new(4), StateMachine::idle()).expect("neither has a global");
    assert!(batch.state_of(idle).is_none());
    assert_eq!(batch.iter().map(|(_, imp)| imp.number).collect::<Vec<_>>(), [4, 0, 1, 2, 3]);
}
