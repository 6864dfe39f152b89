//! Rule 22 for many owners: whatever of a game's code panics, and wherever, the batch stays in order.

#![cfg(feature = "std")]

mod programs;

#[cfg(feature = "parallel")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::captured_log::log_lines;
use crate::game::{
    A, B, Clock, Imp, Niche, Note, Room, add, assert_agrees, live_notes, live_rooms, owned, panicking, shared,
};
#[cfg(feature = "parallel")]
use crate::game::{Explosive, arm, arm_payloads};
use crate::ways::{Then, WAYS, Way};
use demeanor::{Batch, Key, NextWake, StateRef};

/// The name of the state of each of these owners, or nothing if it is in no state.
fn states(batch: &Batch<Imp>, keys: &[Key]) -> Vec<String> {
    keys.iter().map(|key| batch.state_of(*key).map(ToString::to_string).unwrap_or_default()).collect()
}

#[test]
fn a_drop_of_a_state_that_panics_leaves_everybody_by_key_and_state() {
    for make in [owned, shared] {
        for Way { name, keep, lose, then } in WAYS {
            let mut batch = Batch::new();
            let before = add(&mut batch, 0, 3, || owned("Other"));
            let flat = add(&mut batch, 3, 2, || (&A).into());
            let [key] = add(&mut batch, 5, 1, || make("Old"))[..] else { unreachable!() };
            let behind = add(&mut batch, 6, 3, || owned("Other"));
            keep(&mut batch, key);
            panicking("Old.drop", 0, || lose(&mut batch, key));
            let others = [&before[..], &flat, &behind].concat();
            let keys = match then {
                Then::In(state) => {
                    assert_eq!(states(&batch, &[key]), [state], "{name}");
                    [&others[..], &[key]].concat()
                }
                Then::Gone => others,
                Then::AllGone => vec![],
            };
            assert_agrees(&batch, &keys);
            batch.update(&mut Clock::default());
            assert_agrees(&batch, &keys);
        }
    }
}

/// A tick of a batch.
type Tick = fn(&mut Batch<Imp>);

const TICKS: [Tick; 2] = [|batch| batch.update(&mut Clock::default()), |batch| par_update(batch, 0.0)];

#[cfg(feature = "parallel")]
fn par_update(batch: &mut Batch<Imp>, now: f64) {
    batch.par_update(|_| Clock::at(now));
}

#[cfg(not(feature = "parallel"))]
fn par_update(batch: &mut Batch<Imp>, now: f64) {
    batch.update(&mut Clock::at(now));
}

/// Runs a test on a thread that is the only one of rayon's pool, so that the pieces that it arms are armed in parallel passes, too.
pub(crate) fn on_one_thread(test: impl FnOnce() + Send) {
    #[cfg(feature = "parallel")]
    crate::pool(1).install(test);
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
fn a_clock_that_panics_leaves_owners_that_would_change_at_that_time_where_they_were() {
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
fn an_owner_whose_insertion_or_start_panics_is_not_there() {
    type Way = fn(&mut Batch<Imp>, StateRef<Imp>);
    let insert: Way = |batch, state| _ = batch.insert(Imp::new(7), state);
    let spawn: Way = |batch, state| _ = batch.spawn(Imp::new(7), state, &mut Clock::default());
    let reserve: Way = |batch, state| batch.reserve(10, state);
    let makes: [fn(&'static str) -> StateRef<Imp>; 2] = [shared, owned];
    let pieces = ["New.parent", "New.is_passive", "New.initial", "New.enter", "now"];
    let ways = [
        (insert, &pieces[..3], &makes[..1]),
        (spawn, &pieces[..3], &makes[..1]),
        (spawn, &pieces[2..], &makes[..]),
        (reserve, &pieces[..2], &makes[..1]),
    ];
    for (way, pieces, makes) in ways {
        for (piece, make) in pieces.iter().flat_map(|piece| makes.iter().map(move |make| (piece, make))) {
            let mut batch = Batch::new();
            let mut keys = add(&mut batch, 0, 3, || (&A).into());
            keys.extend(add(&mut batch, 3, 3, || owned("Other")));
            panicking(piece, 0, || way(&mut batch, make("New")));
            assert_agrees(&batch, &keys);
            batch.update(&mut Clock::default());
            assert_agrees(&batch, &keys);
            assert_eq!(live_rooms(), 3, "{piece}: only the others");
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
fn a_nested_state_whose_ancestor_panics_when_dropped_leaves_a_path_of_one_piece() {
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, 3, || (&Niche).into());
    let tent = || -> StateRef<Imp> { Box::new(Room::new("Tent").inside(shared("Old"))).into() };
    batch.set_current(keys[1], tent());
    assert_agrees(&batch, &keys);
    panicking("Old.drop", 0, || {
        batch.change_state(keys[1], &Niche, &mut Clock::default());
        batch.change_state(keys[1], &A, &mut Clock::default());
    });
    assert_agrees(&batch, &keys);
    batch.set_current(keys[1], tent());
    panicking("Old.drop", 0, || {
        batch.set_current(keys[1], &Niche);
        batch.set_previous(keys[1], &A);
    });
    assert_agrees(&batch, &keys);
}

/// The batch keeps in a map what only few owners have. The map's own methods would leak what comes behind a panic.
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

/// Rules 21 and 22: what a callback panics with is dropped where another's panic goes on, and that may panic, too.
#[cfg(feature = "parallel")]
#[test]
fn a_panics_payload_that_panics_when_it_is_dropped_loses_nobody() {
    on_one_thread(|| {
        let mut batch = Batch::new();
        let keys = add(&mut batch, 0, 9000, || (&A).into());
        arm_payloads(true);
        // In the first chunk, in the third and in the fifth.
        arm(&[("A.update", 1), ("A.update", 2048), ("A.update", 2048)]);
        let panicked = catch_unwind(AssertUnwindSafe(|| par_update(&mut batch, 0.0)));
        arm(&[]);
        arm_payloads(false);
        let payload = panicked.expect_err("some panic");
        assert!(payload.is::<Explosive>());
        std::mem::forget(payload);
        assert_agrees(&batch, &keys);
        for key in keys {
            assert!(batch.change_state(key, &B, &mut Clock::default()));
        }
        assert_eq!(batch.owners_in(&B).len(), 9000);
    });
}

/// Rules 22 and 25.
#[test]
fn a_message_whose_drop_panics_when_its_timer_ends_loses_nobody() {
    let clock = &mut Clock::default();
    let mut batch = Batch::new();
    let keys = add(&mut batch, 0, 5, || (&A).into());
    for key in &keys {
        batch.send_after(*key, 1.0, Note::new(), clock);
    }
    panicking("message.drop", 2, || batch.update(&mut Clock::at(1.0)));
    batch.update(&mut Clock::at(1.0));
    assert!(batch.iter().all(|(_, imp)| imp.heard == 1));
    assert_eq!(live_notes(), 0);
    assert!(keys.iter().all(|key| batch.next_wake(*key) == Some(NextWake::EveryTick)));
    // When the owner is removed, or the batch is cleared, too.
    batch.send_after(keys[0], 1.0, Note::new(), clock);
    let (mut imp, mut machine) = batch.remove(keys[0]).expect("it is there");
    assert!(machine.send_after(&mut imp, 1.0, Note::new(), clock));
    panicking("message.drop", 0, || drop(machine));
    batch.send_after(keys[1], 1.0, Note::new(), clock);
    panicking("message.drop", 0, || batch.clear());
    assert_agrees(&batch, &[]);
    batch.update(&mut Clock::at(2.0));
    assert_eq!(live_notes(), 0);
}
