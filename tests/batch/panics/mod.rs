//! Rule 22 for many owners: whatever of a game's code panics, and wherever, the batch stays in order.

#![cfg(feature = "std")]

mod game;
mod programs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::captured_log::log_lines;
use demeanor::{Batch, Key, StateRef};
use game::{A, B, Clock, Imp, Niche, Room, arm, assert_agrees, live_rooms};

/// Has `piece` panic the `nth` time that it is called during `act`.
fn panicking(piece: &'static str, nth: u32, act: impl FnOnce()) {
    arm(&[(piece, nth)]);
    let result = catch_unwind(AssertUnwindSafe(act));
    arm(&[]);
    let payload = result.expect_err(piece);
    assert_eq!(payload.downcast_ref(), Some(&"tripped"), "{piece}");
}

fn owned(name: &'static str) -> StateRef<Imp> {
    Box::new(Room::new(name)).into()
}

fn shared(name: &'static str) -> StateRef<Imp> {
    Arc::new(Room::new(name)).into()
}

/// As many imps in a state, numbered from `first` on.
fn add(batch: &mut Batch<Imp>, first: u32, count: u32, state: impl Fn() -> StateRef<Imp>) -> Vec<Key> {
    (first..first + count).map(|number| batch.insert(Imp::new(number), state())).collect()
}

/// What each of some keys' owners is in.
fn states(batch: &Batch<Imp>, keys: &[Key]) -> Vec<String> {
    keys.iter().map(|key| batch.state_of(*key).map(ToString::to_string).unwrap_or_default()).collect()
}

/// A way for the owner of a key to lose the state named `Old`.
type LetGo = fn(&mut Batch<Imp>, Key);

#[test]
fn a_drop_of_a_state_that_panics_leaves_everybody_by_key_and_state() {
    let ways: [(&str, LetGo, &str); 9] = [
        (
            "current is set",
            |batch, key| {
                batch.set_current(key, &A);
            },
            "A",
        ),
        (
            "previous is set",
            |batch, key| {
                batch.set_current(key, &A);
                batch.set_previous(key, owned("Old"));
                batch.set_previous(key, &B);
            },
            "A",
        ),
        (
            "changed away twice",
            |batch, key| {
                batch.change_state(key, &A, &mut Clock::new());
                batch.change_state(key, &B, &mut Clock::new());
            },
            "B",
        ),
        (
            "a push over it is stopped",
            |batch, key| {
                batch.push_state(key, &A, &mut Clock::new());
                batch.set_previous(key, &B);
                batch.stop(key, &mut Clock::new());
            },
            "",
        ),
        (
            "popped",
            |batch, key| {
                batch.push_state(key, owned("Old"), &mut Clock::new());
                batch.pop_state(key, &mut Clock::new());
                batch.set_previous(key, &B);
                batch.set_current(key, &A);
            },
            "?",
        ),
        ("removed", |batch, key| drop(batch.remove(key)), ""),
        ("cleared", |batch, _| batch.clear(), ""),
        ("not retained", |batch, key| batch.retain(|other, _| other != key), ""),
        (
            "changed away twice in updates",
            |batch, key| {
                for state in [StateRef::from(&A), (&B).into()] {
                    batch[key].order = Some(state);
                    batch.update(&mut Clock::new());
                }
            },
            "B",
        ),
    ];
    for make in [owned, shared] {
        for (way, let_go, state) in ways {
            let mut batch = Batch::new();
            let before = add(&mut batch, 0, 3, || owned("Other"));
            let flat = add(&mut batch, 3, 2, || (&A).into());
            let [key] = add(&mut batch, 5, 1, || make("Old"))[..] else { unreachable!() };
            let behind = add(&mut batch, 6, 3, || owned("Other"));
            panicking("Old.drop", 0, || let_go(&mut batch, key));
            let is_there = !["removed", "cleared", "not retained"].contains(&way);
            let others = [&before[..], &flat, &behind].concat();
            let expected = if way == "cleared" { vec![] } else { others };
            let keys: Vec<_> = expected.iter().copied().chain(is_there.then_some(key)).collect();
            assert_agrees(&batch, &keys);
            if is_there && state != "?" {
                assert_eq!(states(&batch, &[key]), [state], "{way}");
            }
            batch.update(&mut Clock::new());
            assert_agrees(&batch, &keys);
        }
    }
}

/// A tick of a batch.
type Tick = fn(&mut Batch<Imp>);

const TICKS: [Tick; 2] = [|batch| batch.update(&mut Clock::new()), |batch| par_update(batch, 0.0)];

#[cfg(feature = "parallel")]
fn par_update(batch: &mut Batch<Imp>, now: f64) {
    batch.par_update(|_| Clock::at(now));
}

#[cfg(not(feature = "parallel"))]
fn par_update(batch: &mut Batch<Imp>, now: f64) {
    batch.update(&mut Clock::at(now));
}

/// Runs a test on one thread that rayon has, too: so that what is armed is armed in its passes.
pub(crate) fn on_one_thread(test: impl FnOnce() + Send) {
    #[cfg(feature = "parallel")]
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(test);
    #[cfg(not(feature = "parallel"))]
    test();
}

/// What the others have asked for is done, and stays done.
#[test]
fn a_panic_in_what_one_owner_leads_to_loses_no_change_of_another() {
    // The piece, and the states that its owner may be in afterwards.
    let pieces: [(&str, &[&str]); 14] = [
        ("Old.drop", &["B"]),
        ("New.parent", &["A"]),
        ("New.initial", &["A", "New"]),
        ("New.is_passive", &["New"]),
        ("New.can_enter", &["A"]),
        ("New.enter", &["New"]),
        ("B.enter", &["B"]),
        ("B.can_enter", &["A"]),
        ("A.can_exit", &["A"]),
        ("A.exit", &["A"]),
        ("on_change", &["B", "New"]),
        ("after_change", &["B", "New"]),
        ("label", &["B", "New"]),
        ("New.name", &["New"]),
    ];
    on_one_thread(|| {
        for (piece, expected) in pieces {
            for tick in TICKS {
                let mut batch = Batch::new();
                // So that the batch knows the state, and the changes are made in bulk.
                batch.insert(Imp::new(1000), &B);
                let keys = add(&mut batch, 0, 40, || (&A).into());
                for (number, key) in keys.iter().enumerate() {
                    batch[*key].order = Some(if number == 25 { shared("New") } else { (&B).into() });
                }
                if piece == "Old.drop" {
                    batch.set_previous(keys[25], owned("Old"));
                    batch[keys[25]].order = Some((&B).into());
                }
                log_lines(|| panicking(piece, 0, || tick(&mut batch)));
                let all: Vec<_> = batch.keys().collect();
                assert_agrees(&batch, &all);
                assert_eq!(batch.len(), 41);
                let after = states(&batch, &keys);
                let elsewhere: Vec<_> = after.iter().filter(|state| *state != "B" && *state != "New").collect();
                assert!(elsewhere.len() <= 1, "{piece}: only one has not changed: {after:?}");
                // The one that panicked is the one that makes the new state, or the first of those that go to `B`.
                let panicked = if piece.starts_with("New") || piece == "Old.drop" { &after[25] } else { &after[0] };
                assert!(expected.contains(&panicked.as_str()), "{piece}: {panicked}");
                tick(&mut batch);
                assert_agrees(&batch, &all);
            }
        }
    });
}

/// Rule 18: nobody has entered anything before the clock has been read.
#[test]
fn a_clock_that_panics_leaves_those_who_would_change_at_that_time_where_they_were() {
    on_one_thread(|| {
        for tick in TICKS {
            let mut batch = Batch::new();
            batch.insert(Imp::new(1000), &B);
            let keys = add(&mut batch, 0, 10, || (&A).into());
            for key in &keys {
                batch[*key].order = Some((&B).into());
            }
            panicking("now", 0, || tick(&mut batch));
            assert_agrees(&batch, &batch.keys().collect::<Vec<_>>());
            assert_eq!(states(&batch, &keys), ["A"; 10]);
            for key in &keys {
                batch[*key].order = Some((&B).into());
            }
            tick(&mut batch);
            assert_eq!(states(&batch, &keys), ["B"; 10]);
        }
    });
}

#[test]
fn an_owner_whose_insertion_panics_is_not_there() {
    let rooms = live_rooms();
    for piece in ["New.parent", "New.initial", "New.is_passive"] {
        let mut batch = Batch::new();
        let keys = add(&mut batch, 0, 3, || (&A).into());
        panicking(piece, 0, || _ = batch.insert(Imp::new(7), shared("New")));
        assert_agrees(&batch, &keys);
        panicking(piece, 0, || _ = batch.spawn(Imp::new(7), shared("New"), &mut Clock::new()));
        assert_agrees(&batch, &keys);
        batch.update(&mut Clock::new());
        assert_agrees(&batch, &keys);
        assert_eq!(live_rooms(), rooms, "{piece}");
    }
}

#[test]
fn an_owner_whose_start_panics_in_spawn_is_not_there() {
    for piece in ["New.enter", "New.initial", "now"] {
        for make in [owned, shared] {
            let mut batch = Batch::new();
            let keys = add(&mut batch, 0, 3, || owned("Other"));
            panicking(piece, 0, || _ = batch.spawn(Imp::new(7), make("New"), &mut Clock::new()));
            assert_agrees(&batch, &keys);
            batch.update(&mut Clock::new());
            assert_agrees(&batch, &keys);
        }
    }
}

#[test]
fn a_clone_that_panics_leaves_the_state_that_was_to_be_edited() {
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, 3, || owned("Other"));
    let state = batch.state_of(keys[1]).expect("it is in one").clone();
    panicking("Other.clone", 0, || {
        batch.current_mut::<Room>(keys[1]);
    });
    assert_eq!(batch.state_of(keys[1]), Some(&state));
    assert_agrees(&batch, &keys);
    assert!(batch.current_mut::<Room>(keys[1]).is_some());
    assert_ne!(batch.state_of(keys[1]), Some(&state));
    assert_agrees(&batch, &keys);
}

#[test]
fn a_drop_of_an_owner_that_panics_takes_nobody_else_with_it() {
    let ways: [LetGo; 3] = [
        |batch, key| drop(batch.remove(key)),
        |batch, key| batch.retain(|other, _| other != key),
        |batch, key| {
            // The one of the key is the first.
            let mut drain = batch.drain();
            assert_eq!(drain.next().map(|(other, ..)| other), Some(key));
        },
    ];
    for (nth, let_go) in ways.into_iter().enumerate() {
        let mut batch = Batch::new();
        let keys = add(&mut batch, 0, 6, || (&A).into());
        panicking("owner.drop", 0, || let_go(&mut batch, keys[0]));
        assert_agrees(&batch, if nth == 2 { &[] } else { &keys[1..] });
    }
}

#[test]
fn a_nested_state_whose_ancestor_panics_when_dropped_leaves_a_path_of_one_piece() {
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, 3, || (&Niche).into());
    let tent = || -> StateRef<Imp> { Box::new(Room::new("Tent").inside(shared("Old"))).into() };
    batch.set_current(keys[1], tent());
    assert_agrees(&batch, &keys);
    panicking("Old.drop", 0, || {
        batch.change_state(keys[1], &Niche, &mut Clock::new());
        batch.change_state(keys[1], &A, &mut Clock::new());
    });
    assert_agrees(&batch, &keys);
    batch.set_current(keys[1], tent());
    panicking("Old.drop", 0, || {
        batch.set_current(keys[1], &Niche);
        batch.set_previous(keys[1], &A);
    });
    assert_agrees(&batch, &keys);
}

/// What is kept of few owners lies in a map, whose own methods leak what is behind a panic.
#[test]
fn a_drop_that_panics_while_a_batch_is_cloned_into_leaks_nothing() {
    let rooms = live_rooms();
    let mut batch = Batch::new();
    for key in add(&mut batch, 0, 20, || (&A).into()) {
        batch.set_previous(key, owned("Old"));
    }
    panicking("Old.drop", 3, || batch.clone_from(&Batch::new()));
    assert_agrees(&batch, &[]);
    assert_eq!(live_rooms(), rooms);
}
