//! The owners of a batch, state by state. `tests/equivalence` compares buckets with the states of their owners after random calls.

use super::*;

/// What a bucket tells: its path, and the numbers of its owners with their keys.
fn buckets(batch: &mut Batch<Imp>) -> Vec<(String, Vec<(u32, Key)>)> {
    let rows = |bucket: Bucket<'_, Imp>| {
        let path: Vec<_> = bucket.path().map(ToString::to_string).collect();
        let state = bucket.state().map(ToString::to_string);
        assert_eq!(path.last(), state.as_ref(), "the current state ends the path");
        (path.join(" > "), bucket.owners().iter().map(|imp| imp.number).zip(bucket.keys()).collect())
    };
    batch.buckets_mut().map(rows).collect()
}

#[test]
fn a_bucket_has_the_owners_of_a_state_with_their_keys_and_each_owned_state_a_bucket_of_its_own() {
    let (mut batch, mut keys) = crowd(8);
    let stopped = batch.insert(Imp::new(8), &A);
    keys.push(stopped);
    batch.stop(stopped, &mut Clock::default());
    // Those that sleep lie before the others.
    batch.sleep(keys[4]);
    let row = |number: u32| (number, keys[number as usize]);
    let expected = [
        ("", vec![row(8)]),
        ("A", vec![row(4), row(0)]),
        ("B", vec![row(1), row(5)]),
        ("Hall > Niche", vec![row(2), row(6)]),
        ("Own", vec![row(3)]),
        ("Own", vec![row(7)]),
    ];
    assert_eq!(buckets(&mut batch), expected.map(|(path, rows)| (path.to_string(), rows)));
    assert_eq!(format!("{:?}", batch.buckets_mut().next().unwrap()), "Bucket { state: \"(no state)\", len: 1, .. }");
}

#[test]
fn states_that_all_owners_have_left_have_no_bucket() {
    let (mut batch, keys) = crowd(8);
    for key in [keys[1], keys[5], keys[3], keys[7]] {
        assert!(batch.change_state(key, &A, &mut Clock::default()));
    }
    assert_eq!(census(&batch)[1], ("B".to_string(), 0), "the batch still knows it");
    let paths: Vec<_> = buckets(&mut batch).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["A", "Hall > Niche"]);
    batch.clear();
    assert!(batch.buckets_mut().next().is_none());
}

#[test]
fn what_is_edited_in_a_bucket_is_edited_in_the_batch() {
    let (mut batch, keys) = crowd(40);
    for mut bucket in batch.buckets_mut() {
        let is_nested = bucket.path().any(|state| state.is::<crate::game::Hall>());
        bucket.owners_mut().iter_mut().for_each(|imp| imp.heard = if is_nested { imp.number } else { 1000 });
    }
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(batch[*key].heard, if number % 4 == 2 { number } else { 1000 }, "imp {number}");
    }
    assert_holds(&batch, &keys, 0..40);
}

#[test]
fn a_pass_over_all_buckets_allocates_nothing_for_a_bucket() {
    let allocations = |count: u32| {
        let (mut batch, _) = crowd(count);
        let mut seen = 0;
        let counted = measure(|| {
            for mut bucket in batch.buckets_mut() {
                let is_there = bucket.path().count() > 0;
                bucket.keys().zip(bucket.owners_mut()).for_each(|(_, imp)| imp.heard += u32::from(is_there));
                seen += bucket.owners().len();
            }
        });
        assert_eq!(seen, count as usize);
        counted.count_total
    };
    // A quarter of them are in owned states, with a bucket for each. The call itself puts the buckets in order.
    assert_eq!(allocations(4000), allocations(8));
}

/// Writes into each owner of a bucket how long the name of its state is. Returns the number of the owners.
fn mark(mut bucket: Bucket<'_, Imp>) -> usize {
    let length = bucket.state().map_or(0, |state| state.name().len());
    bucket.owners_mut().iter_mut().for_each(|imp| imp.heard = length.try_into().expect("names are short"));
    bucket.owners().len()
}

#[track_caller]
fn assert_marked(batch: &Batch<Imp>, keys: &[Key]) {
    for (number, key) in (0..).zip(keys) {
        assert_eq!(batch[*key].heard, [1, 1, 5, 3][number % 4], "imp {number}");
    }
    assert_holds(batch, keys, (0..).take(keys.len()));
}

#[test]
fn threads_share_the_buckets_of_a_batch() {
    let (mut batch, keys) = crowd(400);
    let (big, small): (Vec<_>, Vec<_>) = batch.buckets_mut().partition(|bucket| bucket.owners().len() > 1);
    let counts: Vec<_> = std::thread::scope(|scope| {
        let big: Vec<_> = big.into_iter().map(|bucket| scope.spawn(move || mark(bucket))).collect();
        for bucket in small {
            assert_eq!(mark(bucket), 1, "an owned state");
        }
        big.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    assert_eq!(counts, [100; 3]);
    assert_marked(&batch, &keys);
}

#[cfg(feature = "parallel")]
#[test]
fn rayon_takes_the_buckets_and_the_owners_of_each() {
    use rayon::prelude::*;

    let (mut batch, keys) = crowd(400);
    let (pool, first) = (crate::pool(2), keys[0]);
    assert_eq!(pool.install(|| batch.buckets_mut().par_bridge().map(mark).sum::<usize>()), 400);
    assert_marked(&batch, &keys);
    for mut bucket in batch.buckets_mut() {
        let keys: Vec<_> = bucket.keys().collect();
        let rows = bucket.owners_mut().par_iter_mut().zip(keys);
        pool.install(|| rows.for_each(|(imp, key)| imp.heard = u32::from(key == first)));
    }
    assert!(batch.iter().all(|(key, imp)| imp.heard == u32::from(key == first)));
}
