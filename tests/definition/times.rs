//! How often a condition behind a time, or before it, is asked.
#![cfg(feature = "definition")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use demeanor::Batch;
use demeanor::definition::Vocabulary;

use crate::guard::{Guard, parsed};

/// How often each guard is asked in each of five seconds, while it never says yes.
#[track_caller]
fn asked(exits: &str) -> Vec<u32> {
    // By their luck, one alone and many in a batch.
    let counts: Arc<Vec<AtomicU32>> = Arc::new((0..=100).map(|_| AtomicU32::new(0)).collect());
    let count = Arc::clone(&counts);
    let vocabulary = Vocabulary::new().flag("ready", move |guard: &Guard, _| {
        count[guard.luck as usize].fetch_add(1, Ordering::Relaxed);
        false
    });
    let definition = parsed(&format!("initial = 'a'\nstates.a.exits = [{exits}]\nstates.b.final = true"), &vocabulary);
    let (mut guard, mut machine, mut batch) = (Guard::with_luck(0), definition.machine(), Batch::new());
    machine.start(&mut guard, &mut 0.0);
    for luck in 1..=100 {
        batch.spawn(Guard::with_luck(luck), definition.initial(), &mut 0.0);
    }
    let second = |second: u8| {
        machine.update(&mut guard, &mut f64::from(second));
        batch.update(&mut f64::from(second));
        let asked: Vec<_> = counts.iter().map(|count| count.swap(0, Ordering::Relaxed)).collect();
        assert!(asked.iter().all(|count| *count == asked[0]), "after {second} s: {asked:?}");
        asked[0]
    };
    (1..=5).map(second).collect()
}

#[test]
fn what_stands_behind_a_time_is_asked_from_then_on_and_what_stands_before_it_in_each_tick() {
    assert_eq!(asked("{ to = 'b', when = 'time_in_state >= 3 and ready' }"), [0, 0, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state > 3 and ready' }"), [0, 0, 0, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'not (time_in_state < 3) and ready' }"), [0, 0, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state <= 3 and ready' }"), [1, 1, 1, 0, 0]);
    assert_eq!(asked("{ to = 'b', when = 'ready and time_in_state >= 3' }"), [1, 1, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', when = 'time_in_state >= 3 or ready' }"), [1, 1, 0, 0, 0]);
    assert_eq!(asked("{ to = 'b', after = 1.5, when = 'ready' }"), [0, 1, 1, 1, 1]);
    assert_eq!(asked("{ to = 'b', after = 1.5, when = 'time_in_state >= 4 and ready' }"), [0, 0, 0, 1, 1]);
    let two = "{ to = 'b', when = 'time_in_state >= 4 and ready' }, { to = 'a', after = 1.5, when = 'ready' }";
    assert_eq!(asked(two), [0, 1, 1, 2, 2]);
}
