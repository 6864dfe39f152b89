//! A batch as a container: std's methods, what they keep, and what is left when something in the middle of them panics.

#![cfg(feature = "std")]

mod clones;
mod digest;
mod model;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::{iter, mem};

use allocation_counter::measure;
use demeanor::{Batch, Key, Owner, State, StateMachine, StateRef};
use slotmap::SecondaryMap;

/// A sheep with a number.
struct Sheep(u32);

impl Owner for Sheep {
    type Context<'a> = ();
    type Message = ();
}

thread_local! {
    /// The number of the sheep whose `Drop` panics, once.
    static FRAGILE: Cell<Option<u32>> = const { Cell::new(None) };
    /// The numbers of the sheep that have been dropped.
    static DROPPED: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

impl Drop for Sheep {
    fn drop(&mut self) {
        let mut dropped = DROPPED.take();
        dropped.push(self.0);
        DROPPED.set(dropped);
        if FRAGILE.get() == Some(self.0) {
            FRAGILE.set(None);
            resume_unwind(Box::new("fragile"));
        }
    }
}

struct Graze;
struct Flee;
struct Pen;
#[derive(Clone)]
struct Own(#[expect(dead_code, reason = "so that it has a size")] u8);

impl State<Sheep> for Graze {}
impl State<Sheep> for Flee {}
impl State<Sheep> for Pen {}
impl State<Sheep> for Own {}

/// Stands in the pen.
struct Stand;

impl State<Sheep> for Stand {
    fn parent(&self) -> Option<StateRef<Sheep>> {
        Some((&Pen).into())
    }
}

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// A state for the sheep of a number: four buckets, one of them of owned states.
fn state(number: u32) -> StateRef<Sheep> {
    match number % 4 {
        0 => (&Graze).into(),
        1 => (&Flee).into(),
        2 => (&Stand).into(),
        _ => Box::new(Own(0)).into(),
    }
}

/// A flock of sheep, numbered from 0, with their keys.
fn flock(count: u32) -> (Batch<Sheep>, Vec<Key>) {
    let mut batch = Batch::new();
    let keys = (0..count).map(|number| batch.insert(Sheep(number), state(number))).collect();
    DROPPED.take();
    (batch, keys)
}

/// The sheep of these numbers are there, by their keys, in their states; and nobody else is.
#[track_caller]
fn assert_holds(batch: &Batch<Sheep>, keys: &[Key], expected: impl IntoIterator<Item = u32>) {
    let expected: BTreeSet<u32> = expected.into_iter().collect();
    assert_eq!(batch.len(), expected.len());
    assert_eq!(batch.is_empty(), expected.is_empty());
    for (number, key) in (0..).zip(keys) {
        assert_eq!(batch.contains_key(*key), expected.contains(&number), "sheep {number}");
        assert_eq!(batch.get(*key).map(|sheep| sheep.0), expected.contains(&number).then_some(number));
        let name = expected.contains(&number).then(|| state(number).to_string());
        assert_eq!(batch.state_of(*key).map(ToString::to_string), name, "sheep {number}");
    }
    let in_rows: BTreeSet<_> = batch.iter().map(|(key, sheep)| (sheep.0, key)).collect();
    assert_eq!(in_rows, expected.iter().map(|number| (*number, keys[*number as usize])).collect());
    assert_eq!(batch.keys().collect::<BTreeSet<_>>(), in_rows.into_iter().map(|(_, key)| key).collect());
    assert_eq!(batch.census().map(|(_, count)| count).sum::<usize>(), expected.len());
}

#[test]
fn owners_for_whom_there_is_room_are_inserted_without_an_allocation() {
    let mut batch = Batch::with_capacity(1000);
    batch.reserve(1000, &Graze);
    assert!(batch.is_empty());
    let counted = measure(|| batch.extend((0..1000).map(|number| (Sheep(number), &Graze))));
    assert_eq!(counted.count_total, 0);
    batch.reserve(500, &Graze);
    let counted = measure(|| batch.extend((0..500).map(|number| (Sheep(number), &Graze))));
    assert_eq!(counted.count_total, 0);
    assert_eq!((batch.len(), batch.owners_in(&Graze).len()), (1500, 1500));
    mem::forget(batch);
}

#[test]
fn more_room_than_there_can_be_is_a_panic_that_changes_nothing() {
    let (mut batch, keys) = flock(8);
    assert!(panics(|| batch.reserve(usize::MAX / 2, &Graze)));
    assert!(panics(|| batch.reserve(usize::MAX, &Flee)));
    assert_holds(&batch, &keys, 0..8);
    batch.update(&mut ());
    assert_holds(&batch, &keys, 0..8);
}

#[test]
fn room_that_nobody_uses_is_given_back_on_request() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..4000).map(|number| batch.insert(Sheep(number), &Graze)).collect();
    batch.reserve(4000, &Flee);
    for key in &keys[10..] {
        mem::forget(batch.remove(*key));
    }
    let counted = measure(|| batch.shrink_to_fit());
    // Of each row at least the owner and its key.
    assert!(counted.bytes_current < -(8000 - 10) * 12, "{}", counted.bytes_current);
    assert_eq!(batch.owners_in(&Graze).len(), 10);
    assert!(keys[..10].iter().zip(0..).all(|(key, number)| batch[*key].0 == number));
    mem::forget(batch);
}

#[test]
fn a_cleared_batch_is_empty_and_keeps_its_room() {
    let (mut batch, keys) = flock(100);
    batch.clear();
    assert_holds(&batch, &keys, []);
    assert_eq!(DROPPED.take(), (0..100).collect::<Vec<_>>(), "in the order of their keys");
    batch.clear();
    DROPPED.set(Vec::with_capacity(100));
    let counted = measure(|| {
        for number in 0..100 {
            // Not an owned state, which is itself allocated.
            batch.insert(Sheep(number), state(number - number % 4));
        }
    });
    // The room of one state was for a quarter of them.
    assert!(counted.count_total <= 8, "{}", counted.count_total);
    assert!(keys.iter().all(|key| !batch.contains_key(*key)), "the keys are stale for good");
}

#[test]
fn all_others_are_cleared_although_the_drop_of_an_owner_panics() {
    let (mut batch, keys) = flock(10);
    FRAGILE.set(Some(4));
    assert!(panics(|| batch.clear()));
    assert_holds(&batch, &keys, []);
    assert_eq!(DROPPED.take(), (0..10).collect::<Vec<_>>());
}

#[test]
fn those_that_are_retained_keep_their_keys() {
    let (mut batch, keys) = flock(40);
    let mut seen = Vec::new();
    batch.retain(|key, sheep| {
        seen.push((sheep.0, key));
        sheep.0 % 3 == 0
    });
    seen.sort_unstable();
    assert_eq!(seen, (0..).zip(keys.iter().copied()).collect::<Vec<_>>(), "each is asked about once");
    assert_holds(&batch, &keys, (0..40).filter(|number| number % 3 == 0));
    batch.retain(|_, sheep| sheep.0 > 20);
    assert_holds(&batch, &keys, (21..40).filter(|number| number % 3 == 0));
}

#[test]
fn a_predicate_that_panics_half_way_loses_nobody() {
    for fatal in 0..12 {
        let (mut batch, keys) = flock(12);
        let (mut asked, mut refused) = (0, Vec::new());
        let is_panic = panics(|| {
            batch.retain(|_, sheep| {
                if asked == fatal {
                    resume_unwind(Box::new("fatal"));
                }
                asked += 1;
                if sheep.0 % 2 == 0 {
                    refused.push(sheep.0);
                }
                sheep.0 % 2 == 1
            });
        });
        assert!(is_panic);
        assert_holds(&batch, &keys, (0..12).filter(|number| !refused.contains(number)));
        batch.update(&mut ());
        batch.retain(|_, sheep| sheep.0 > 6);
        assert_holds(&batch, &keys, (7..12).filter(|number| !refused.contains(number)));
    }
}

#[test]
fn a_drop_that_panics_in_retain_takes_nobody_else_with_it() {
    for fragile in (0..12).step_by(2) {
        let (mut batch, keys) = flock(12);
        FRAGILE.set(Some(fragile));
        assert!(panics(|| batch.retain(|_, sheep| sheep.0 % 2 == 1)));
        let dropped = DROPPED.take();
        assert_eq!(dropped.last(), Some(&fragile));
        assert!(dropped.iter().all(|number| number % 2 == 0));
        assert_holds(&batch, &keys, (0..12).filter(|number| !dropped.contains(number)));
        batch.retain(|_, sheep| sheep.0 % 2 == 1);
        assert_holds(&batch, &keys, (0..12).filter(|number| number % 2 == 1));
    }
}

#[test]
fn a_drained_batch_gives_everybody_with_the_machine_by_key() {
    let (mut batch, keys) = flock(9);
    let mut drain = batch.drain();
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(drain.len(), keys.len() - number as usize);
        assert_eq!(drain.size_hint(), (drain.len(), Some(drain.len())));
        let (found, sheep, machine) = drain.next().expect("nobody is missing");
        assert_eq!((found, sheep.0), (*key, number));
        assert_eq!(machine.current().map(ToString::to_string), Some(state(number).to_string()));
    }
    assert_eq!(drain.len(), 0);
    assert!(drain.next().is_none() && drain.next().is_none());
    drop(drain);
    assert_holds(&batch, &keys, []);
}

#[test]
fn a_drain_that_is_dropped_half_way_leaves_nobody() {
    let (mut batch, keys) = flock(9);
    let taken: Vec<_> = batch.drain().take(4).map(|(key, ..)| key).collect();
    assert_eq!(taken, keys[..4]);
    assert_holds(&batch, &keys, []);
    assert_eq!(DROPPED.take(), (0..9).collect::<Vec<_>>());
    // Also when the drop of one panics.
    let (mut batch, keys) = flock(9);
    FRAGILE.set(Some(6));
    assert!(panics(|| drop(batch.drain())));
    assert_holds(&batch, &keys, []);
    assert_eq!(DROPPED.take(), (0..9).collect::<Vec<_>>());
}

#[test]
fn a_drain_that_is_leaked_leaves_those_that_were_not_asked_for() {
    let (mut batch, keys) = flock(9);
    let mut drain = batch.drain();
    drain.by_ref().take(4).for_each(drop);
    mem::forget(drain);
    assert_holds(&batch, &keys, 4..9);
    batch.update(&mut ());
    assert!(batch.change_state(keys[5], &Graze, &mut ()));
    assert_eq!(batch.drain().map(|(_, sheep, _)| sheep.0).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
}

#[test]
fn a_batch_is_collected_and_extended() {
    let mut batch: Batch<Sheep> = (0..3).map(|number| (Sheep(number), &Graze)).collect();
    batch.extend([(Sheep(3), state(3)), (Sheep(4), state(1))]);
    batch.extend(vec![(Sheep(5), Box::new(Own(1)))]);
    assert_eq!(batch.iter().map(|(_, sheep)| sheep.0).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 4]);
    let census: Vec<_> = batch.census().map(|(state, count)| (state.to_string(), count)).collect();
    assert_eq!(census, [("Graze".into(), 3), ("Own".into(), 2), ("Flee".into(), 1)]);
    assert_eq!(batch.keys().map(|key| batch[key].0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
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
    let (mut batch, keys) = flock(20);
    // A hole in each bucket, and one bucket that is empty.
    for number in [0, 5, 10, 15] {
        batch.remove(keys[number]);
    }
    for number in (2..20).step_by(4).filter(|number| *number != 10) {
        batch.remove(keys[number]);
    }
    assert_eq!(batch.owners_in(&Stand).len(), 0);
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
    let (batch, _) = flock(30);
    for begun in 0..=30 {
        let mut rest = batch.iter();
        rest.by_ref().take(begun).for_each(drop);
        let mut steps = rest.clone();
        let one_by_one: Vec<_> = iter::from_fn(|| steps.next()).map(|(key, sheep)| (key, sheep.0)).collect();
        let mut in_one_loop = Vec::new();
        rest.for_each(|(key, sheep)| in_one_loop.push((key, sheep.0)));
        assert_eq!(in_one_loop, one_by_one, "after {begun}");
        assert_eq!(in_one_loop.len(), 30 - begun);
    }
}

#[test]
fn an_owner_is_read_and_written_by_its_key() {
    let (mut batch, keys) = flock(4);
    assert_eq!(batch[keys[2]].0, 2);
    batch[keys[2]].0 = 12;
    assert_eq!(batch.get(keys[2]).map(|sheep| sheep.0), Some(12));
    batch.remove(keys[2]);
    let message = |act: &mut dyn FnMut()| {
        let payload = catch_unwind(AssertUnwindSafe(act)).expect_err("nobody has this key");
        payload.downcast_ref().cloned().unwrap_or_else(|| payload.downcast_ref().map_or("", |text| *text).to_owned())
    };
    assert_eq!(message(&mut || assert_eq!(batch[keys[2]].0, 2)), "there is no owner of this key");
    assert_eq!(message(&mut || batch[keys[2]].0 = 1), "there is no owner of this key");
}

#[test]
fn the_path_of_an_owner_is_told_by_its_key() {
    let (mut batch, keys) = flock(4);
    let path = |batch: &Batch<Sheep>, key| Some(batch.path(key)?.map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(path(&batch, keys[0]), Some(vec!["Graze".into()]));
    assert_eq!(path(&batch, keys[2]), Some(vec!["Pen".into(), "Stand".into()]));
    assert_eq!(batch.path(keys[2]).and_then(Iterator::last).map(ToString::to_string), Some("Stand".into()));
    assert!(batch.stop(keys[2], &mut ()));
    assert_eq!(path(&batch, keys[2]), Some(vec![]));
    batch.remove(keys[0]);
    assert_eq!(path(&batch, keys[0]), None);
}

#[test]
fn the_keys_of_a_batch_are_keys_of_slotmaps_secondary_maps() {
    let (mut batch, keys) = flock(5);
    let mut names: SecondaryMap<Key, String> =
        batch.iter().map(|(key, sheep)| (key, format!("sheep {}", sheep.0))).collect();
    batch.remove(keys[1]);
    let heir = batch.insert(Sheep(9), &Graze);
    assert!(!names.contains_key(heir));
    names.insert(heir, "heir".into());
    assert_eq!(names.get(keys[1]), None, "its place is another's now");
    names.retain(|key, _| batch.contains_key(key));
    assert_eq!(names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().len(), batch.len());
}

/// Rule 22: a machine that is inserted, and its owner, are there, or are not.
#[test]
fn machines_come_and_go_whole() {
    let (mut batch, mut keys) = flock(4);
    let (sheep, machine) = batch.remove(keys[2]).expect("it is there");
    assert_holds(&batch, &keys, [0, 1, 3]);
    keys[2] = batch.insert_machine(sheep, machine).expect("neither has a global");
    assert_holds(&batch, &keys, 0..4);
    let idle = batch.insert_machine(Sheep(4), StateMachine::idle()).expect("neither has a global");
    assert!(batch.state_of(idle).is_none());
    assert_eq!(batch.iter().map(|(_, sheep)| sheep.0).collect::<Vec<_>>(), [4, 0, 1, 2, 3]);
}
