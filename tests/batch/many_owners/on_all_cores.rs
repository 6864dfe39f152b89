//! Rules 19 to 22 for ticks on all cores.

use super::*;
use crate::pool;

static CAMP: Post = Post::new("Camp");
static TENT: Post = Post { parent: Some(&CAMP), ..Post::new("Tent") };
static X: Post = Post { initial: Some(&X1), ..Post::new("X") };
static X1: Post = Post { parent: Some(&X), ..Post::new("X1") };
static X2: Post = Post { parent: Some(&X), ..Post::new("X2") };
static Y: Post = Post { initial: Some(&Y1), ..Post::new("Y") };
static Y1: Post = Post { parent: Some(&Y), ..Post::new("Y1") };

fn crowd() -> Batch<Soldier> {
    let mut batch = Batch::new();
    for number in 0..7000 {
        let mut soldier = Soldier::new(number);
        for _ in 0..4 {
            soldier.orders.push(("A", [&B, &C, &TENT][number % 3]));
            soldier.orders.push(("B", [&A, &BACKWARD][number % 2]));
            soldier.orders.push(("C", &A));
            soldier.orders.push(("Camp", &B));
            soldier.orders.push(("Backward", &C));
        }
        batch.insert(soldier, [&A, &B][number / 10 % 2]);
    }
    batch
}

/// Rule 21.
#[test]
fn the_result_is_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let (pool, mut batch) = (pool(threads), crowd());
        let mut logs = Vec::new();
        for _ in 0..6 {
            logs.push(pool.install(|| batch.par_update(|_| Log::default())));
        }
        let order: Vec<_> = batch.iter().map(|(key, soldier)| (key, soldier.number)).collect();
        (logs, order)
    };
    let (logs, order) = run(1);
    for threads in [2, 3, 4] {
        assert!(run(threads) == (logs.clone(), order.clone()), "on {threads} threads");
    }
    let mut batch = crowd();
    (0..6).for_each(|_| batch.update(&mut Log::default()));
    assert!(batch.iter().map(|(key, soldier)| (key, soldier.number)).eq(order), "as without threads");
}

/// Rule 21.
#[test]
fn each_chunk_has_a_context_of_its_own_and_they_come_back_in_the_order_of_chunks() {
    let mut batch = crowd();
    let whole = update(&mut batch.clone());
    let contexts =
        pool(4).install(|| batch.par_update(|chunk| Log { lines: Trace(vec![format!("chunk {chunk}")]), now: 0.0 }));
    assert!(contexts.len() > 3);
    for (chunk, log) in contexts.iter().enumerate() {
        assert_eq!(log.lines[0], format!("chunk {chunk}"));
    }
    let updates = |log: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        log.filter(|line| line.contains(".update")).cloned().collect()
    };
    let joined = updates(&mut contexts.iter().flat_map(|log| log.lines.iter()));
    assert_eq!(joined, updates(&mut whole.iter()), "which is that of a tick on one thread");
    assert_eq!(Batch::<Soldier>::new().par_update(|_| Log::default()).len(), 0);
}

/// Rule 22.
#[test]
fn after_a_panic_all_other_chunks_have_had_their_tick() {
    let mut batch = crowd();
    for (_, soldier) in batch.iter_mut().filter(|(_, soldier)| soldier.number == 3000) {
        soldier.panics_in = Some("A.exit");
    }
    let panic = catch_unwind(AssertUnwindSafe(|| pool(2).install(|| batch.par_update(|_| Log::default()))));
    assert_eq!(panic.expect_err("one panics").downcast_ref(), Some(&"told to"));
    assert!(batch.iter().all(|(_, soldier)| soldier.updates == 1));
    assert_eq!(numbers_in(&batch, &A).iter().filter(|number| *number / 10 % 2 == 0).count(), 1);
    batch.iter_mut().for_each(|(_, soldier)| soldier.panics_in = None);
    pool(2).install(|| batch.par_update(|_| Log::default()));
    assert!(batch.iter().all(|(_, soldier)| soldier.updates == 2));
}

#[test]
fn owners_made_on_all_cores_are_in_the_batch_as_if_each_had_been_inserted() {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    let row = |(key, soldier): (Key, &Soldier)| (key, soldier.number);
    for state in [StateRef::from(&A), StateRef::from(&TENT), StateRef::from(Box::new(Post::new("Own")))] {
        let mut expected = crowd();
        let mut batch = expected.clone();
        let gone: Vec<_> = batch.keys().step_by(7).collect();
        for key in gone {
            batch.remove(key);
            expected.remove(key);
        }
        expected.extend((0..5000).map(|number| (Soldier::new(number), state.clone())));
        pool(4).install(|| batch.par_extend((0..5000).into_par_iter().map(Soldier::new), state.clone()));
        assert!(batch.iter().map(row).eq(expected.iter().map(row)));
        assert!(batch.keys().all(|key| batch.get(key).map(|soldier| soldier.number) == Some(expected[key].number)));
        assert!(batch.keys().all(|key| batch.previous_of(key).is_none()));
    }
}

#[test]
fn if_one_owner_cannot_be_made_none_is_added() {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    let mut batch = crowd();
    let make = |number: usize| {
        if number == 3000 {
            resume_unwind(Box::new("told to"));
        }
        Soldier::new(number)
    };
    let owners = (0..5000).into_par_iter().map(make);
    let panic = catch_unwind(AssertUnwindSafe(|| pool(2).install(|| batch.par_extend(owners, &A))));
    assert_eq!(panic.expect_err("one panics").downcast_ref(), Some(&"told to"));
    assert_eq!((batch.len(), batch.iter().count()), (7000, 7000));
    pool(2).install(|| batch.par_update(|_| Log::default()));
    assert!(batch.iter().all(|(_, soldier)| soldier.updates == 1));
}

/// Rule 22.
#[test]
fn of_several_panics_that_of_the_first_chunk_goes_on() {
    let mut batch = crowd();
    let make = |chunk: usize| -> Log {
        if chunk > 0 {
            resume_unwind(Box::new(chunk));
        }
        Log::default()
    };
    let panic = catch_unwind(AssertUnwindSafe(|| pool(2).install(|| batch.par_update(make))));
    assert_eq!(panic.expect_err("all but one panic").downcast_ref(), Some(&1_usize));
    assert!(batch.iter().any(|(_, soldier)| soldier.updates == 1));
}

/// Rule 22.
#[test]
fn a_context_that_cannot_be_made_leaves_its_chunk_out() {
    let mut batch = crowd();
    let make = |chunk: usize| {
        if chunk == 1 {
            resume_unwind(Box::new("told to"));
        }
        Log::default()
    };
    assert!(catch_unwind(AssertUnwindSafe(|| pool(2).install(|| batch.par_update(make)))).is_err());
    let left_out = batch.iter().filter(|(_, soldier)| soldier.updates == 0).count();
    assert!(left_out > 0 && left_out <= 2048, "{left_out}");
    assert_eq!(batch.keys().filter(|key| batch.get(*key).is_some()).count(), 7000);
}

/// Rules 14 and 19.
#[test]
fn a_message_on_all_cores_comes_to_each_owner_as_on_one() {
    let row = |(key, soldier): (Key, &Soldier)| (key, soldier.number, soldier.updates);
    for threads in [1, 2, 4] {
        let (mut one, mut all) = (crowd(), crowd());
        for seconds in 0..4 {
            let mut log = Log::at(f64::from(seconds));
            let handled = one.broadcast(&(), &mut log);
            let make = |_: usize| Log::at(f64::from(seconds));
            let (handled_by_all, logs) = pool(threads).install(|| all.par_broadcast(&(), make));
            assert_eq!(handled_by_all, handled);
            assert!(logs.len() > 3, "each chunk has a context of its own");
            let mut lines: Vec<_> = logs.into_iter().flat_map(|log| log.lines).collect();
            lines.sort();
            log.lines.sort();
            assert!(lines == *log.lines, "on {threads} threads");
            assert!(all.iter().map(row).eq(one.iter().map(row)), "on {threads} threads");
        }
    }
}

/// Rule 22.
#[test]
fn an_owner_that_panics_over_a_message_keeps_nobody_in_another_chunk_from_it() {
    let mut batch = crowd();
    for (_, soldier) in batch.iter_mut().filter(|(_, soldier)| soldier.number == 3000) {
        soldier.panics_in = Some("A.on_message");
    }
    let panic = catch_unwind(AssertUnwindSafe(|| pool(2).install(|| batch.par_broadcast(&(), |_| Log::default()))));
    assert_eq!(panic.map(drop).expect_err("one panics").downcast_ref(), Some(&"told to"));
    assert!(batch.iter().filter(|(_, soldier)| soldier.updates == 0).count() < 2048);
    batch.iter_mut().for_each(|(_, soldier)| soldier.panics_in = None);
    let (handled, _) = pool(2).install(|| batch.par_broadcast(&(), |_| Log::default()));
    assert_eq!((handled, batch.len()), (5250, 7000), "the batch goes on");
}

/// Rules 19 and 21, where states have parents.
#[test]
fn in_parallel_they_end_as_in_an_ordinary_tick() {
    let mut batch = Batch::new();
    let mut log = Log::default();
    // It has met all states.
    for post in [&A, &X1, &X2, &Y1] {
        let guide = batch.insert(Soldier::default(), post);
        batch.remove(guide);
    }
    for number in 0..9000 {
        let mut soldier = Soldier::new(number);
        for _ in 0..4 {
            let to = [&X2, &Y, &A, &X1, &Y1][number * 7 % 5];
            soldier.orders.extend(["A", "X1", "X2", "Y1"].map(|from| (from, to)));
        }
        batch.spawn(soldier, &X1, &mut log);
    }
    let mut other = batch.clone();
    for seconds in 5..9 {
        let mut log = Log::at(f64::from(seconds));
        batch.update(&mut log);
        let logs = other.par_update(|_| Log::at(f64::from(seconds)));
        assert_eq!(logs.into_iter().flat_map(|log| log.lines).collect::<Vec<_>>(), *log.lines);
        let layout = |batch: &Batch<Soldier>| -> Vec<_> {
            let one = |(key, soldier): (Key, &Soldier)| {
                let path: Vec<_> = batch.path(key).into_iter().flatten().cloned().collect();
                (soldier.number, path, batch.time_in_state(key, &log), batch.time_in(key, &X, &log))
            };
            batch.iter().map(one).collect()
        };
        assert_eq!(layout(&batch), layout(&other));
    }
}
