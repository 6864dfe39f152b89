//! Runs random scripts on a batch and on one machine per owner, and compares all that happens to each owner.
//!
//! A batch is updated in every way there is: [`update`](demeanor::Batch::update), `update_in_key_order`, `update_one`,
//! `update_part`, and with the feature `parallel` `par_update` on one, two and four threads, which must also keep everybody in
//! the same order.
//!
//! - `program`, `verbs`: the tables of the states and what they ask for, which the tests of the machine against its model share.
//! - `script`: what the game does: ticks, owners that come and go, messages, changes from outside, panics.
//! - `puppet`: the owners, and the states that do what the table says.
//! - `files`: random definition files, in which these states are the behaviors.
//! - `lockstep`: batch and machines side by side.
//! - `polling`: a machine that waits beside one that polls.
//! - `saving`: a batch that is saved and loaded now and then beside machines that are not.
//!
//! `RANDOM_CASES=40000 cargo test --release --all-features --test equivalence` looks further than the usual run: with half as
//! many scripts of few owners for each test, and a sixty-fourth as many of many owners.

#![cfg(feature = "std")]
#![cfg_attr(not(feature = "definition"), expect(dead_code, reason = "some of what a script does is for files"))]

#[path = "../cases/mod.rs"]
mod cases;
#[cfg(feature = "definition")]
mod files;
mod lockstep;
mod polling;
#[path = "../model/program.rs"]
mod program;
mod puppet;
#[cfg(feature = "serde")]
mod saving;
mod script;
#[path = "../told_panic/mod.rs"]
mod told_panic;
#[path = "../model/verbs.rs"]
mod verbs;

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use cases::cases;
use lockstep::{Way, run};
use program::{Read, Verb};
use puppet::{Corner, Kind};
use script::{Script, crowded, intricate, patient, plain, restless, split};

/// Threads for the parallel batches.
#[cfg(feature = "parallel")]
fn pool(threads: usize) -> &'static rayon::ThreadPool {
    use std::sync::LazyLock;
    static POOLS: LazyLock<Vec<rayon::ThreadPool>> = LazyLock::new(|| {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        (1..=4).map(pool).collect()
    });
    &POOLS[threads - 1]
}

/// Runs a script in every way, and compares where the batches keep whom.
#[expect(clippy::needless_pass_by_value, reason = "as it is made")]
fn hold(script: Script) {
    hold_in(Way::ALL, &script);
}

fn hold_in(ways: &[Way], script: &Script) {
    let runs: Vec<_> = ways.iter().map(|way| (way, run(script, *way))).collect();
    for (way, of_way) in &runs {
        for (other, of_other) in &runs {
            // After a panic, a batch that is updated in turn has left owners out that others have not.
            let in_turn = [way, other].contains(&&&Way::Update) && of_way.has_panicked;
            let is_single = [way, other].iter().any(|way| matches!(way, Way::KeyOrder | Way::OneByOne));
            let is_comparable = way == other || !in_turn && !is_single;
            assert!(!is_comparable || of_way.layouts == of_other.layouts, "{way:?} and {other:?} keep the same order");
            // What a batch gets to know in a tick, one that is updated in turn may act on in the same tick already, for many at
            // once; then what happens to owners side by side is in another order.
            let is_in_turn = is_single || [way, other].contains(&&&Way::Update);
            assert!(is_in_turn || of_way.journals == of_other.journals, "{way:?} and {other:?} write the same journal");
        }
    }
}

/// Checks so many scripts, see [`cases`].
fn check_cases<S: Strategy>(usual: u32, scripts: S, check: impl Fn(S::Value)) {
    // A script of thousands of owners takes long to shrink.
    let config = ProptestConfig { max_shrink_iters: 1000, ..cases(usual) };
    let outcome = TestRunner::new(config).run(&scripts, |script| {
        check(script);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Runs a script in which the batch is saved and loaded beside machines that are not; and compares where it keeps whom with
/// one that is not saved, either.
#[cfg(feature = "serde")]
fn hold_saving((script, every): (Script, usize)) {
    for way in Way::ALL {
        let (saving, other) = (lockstep::run_saving(&script, *way, every), run(&script, *way));
        assert!(saving.layouts == other.layouts, "{way:?}: the order is the same as without saving");
    }
}

/// Rule 19.
#[test]
fn owners_of_intricate_states_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(32, intricate(), hold);
}

/// Rules 19 and 32.
#[test]
fn owners_with_regions_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(32, split(), hold);
}

/// Rule 19.
#[test]
fn owners_of_flat_states_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(32, plain(), hold);
}

/// Rules 19 and 22, for owners that are also retained, drained, cleared and restored.
#[test]
fn owners_that_come_and_go_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(32, restless(), hold);
}

/// Rules 19, 25 and 31, with so many timers that they are kept in another way than a few.
#[test]
fn owners_of_many_timers_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(32, patient(), hold);
}

/// Rules 19 to 22.
#[test]
fn owners_of_many_chunks_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(1, crowded(), hold);
}

/// Rule 27.
#[cfg(feature = "serde")]
#[test]
fn a_batch_that_is_saved_and_loaded_goes_on_as_if_it_had_not_been() {
    check_cases(2, (intricate(), 1..6_usize), hold_saving);
    check_cases(2, (split(), 1..6_usize), hold_saving);
    check_cases(2, (restless(), 1..6_usize), hold_saving);
    check_cases(2, (plain(), 1..6_usize), hold_saving);
    check_cases(2, (patient(), 1..6_usize), hold_saving);
    check_cases(1, (crowded(), 1..6_usize), hold_saving);
}

/// Rules 19, 22 and 27, for the states of a file.
#[cfg(feature = "definition")]
#[test]
fn owners_of_a_random_file_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(20, script::from_files(false), |script| hold_in(Way::OF_FILES, &script));
    #[cfg(feature = "serde")]
    check_cases(2, (script::from_files(false), 1..6_usize), hold_saving);
}

/// Rule 19, for files that are edited under their owners.
#[cfg(feature = "definition")]
#[test]
fn owners_of_a_file_that_is_edited_fare_in_a_batch_as_on_machines_of_their_own() {
    check_cases(16, script::from_files(true), |script| hold_in(Way::OF_FILES, &script));
}

/// Rules 25 and 26.
#[test]
fn an_owner_that_waits_fares_as_one_that_polls() {
    let seen = RefCell::new(polling::Seen::default());
    let compare = |script: Script| {
        // An owner that polls makes a change that is due by a request like any other, which would be withdrawn, too.
        let script = script.map_verbs(|verb| match verb {
            Verb::Replace(to) | Verb::ChangeNext(to) => Verb::Change(to),
            Verb::Clear | Verb::Stay => Verb::Revert,
            // An owner that polls has no repeating timer, and its timers are not those that a machine cancels.
            Verb::SendEvery(wait) => Verb::SendAfter(wait),
            Verb::CancelTo(_) | Verb::CancelMessages | Verb::PopAfter(_) => Verb::Pop,
            verb => verb,
        });
        polling::compare(&script, &mut seen.borrow_mut());
    };
    check_cases(256, intricate(), compare);
    check_cases(256, plain(), compare);
    let seen = seen.into_inner();
    let is_enough = seen.due_changes > 0 && seen.due_messages > 0 && seen.slept > 0;
    assert!(is_enough, "too little was compared: {seen:?}");
}

/// The numbers of scripts that together reach every corner. If scripts become others, the test searches for a minute, and prints
/// the numbers to write here.
const REACHING: [u64; 10] = [1671, 910, 235, 127, 109, 91, 72, 45, 40, 22];

/// Scripts that never led to a corner would prove nothing about it; least of all if no changes were made in bulk.
#[test]
fn the_scripts_reach_every_corner_of_a_batch() {
    let missing = {
        use Kind::{AfterUpdate, Completed, Enter, Exit, Guard, Message, Now, Resume, Suspend, Told, Update};
        let panicked = [Enter, Update, Exit, Message, Suspend, Resume, Guard, Told, Completed, AfterUpdate, Now]
            .map(Corner::Panicked);
        let among_many = [Enter, Exit, Guard, Told, Completed, AfterUpdate].map(Corner::AmongMany);
        let panicked_among_many = [Enter, Exit, Guard, Told, Completed, AfterUpdate].map(Corner::PanickedAmongMany);
        let refused_by =
            [Read::Counter, Read::Time, Read::Target, Read::Previous, Read::Requests].map(Corner::RefusedBy);
        let others = [
            Corner::RefusedAmongMany,
            Corner::AskedInEnterAmongMany,
            Corner::StayedAmongMany,
            Corner::NowInEnterAmongMany,
            Corner::Caught,
            Corner::Edited,
        ];
        [&panicked[..], &among_many, &panicked_among_many, &refused_by, &others].concat().into_iter()
    };
    let mut missing: BTreeSet<_> = missing.collect();
    let (intricate, plain) = (intricate(), plain());
    for number in REACHING.into_iter().chain(0..5000) {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        for script in [
            intricate.new_tree(&mut runner).expect("nothing is filtered out").current(),
            plain.new_tree(&mut runner).expect("nothing is filtered out").current(),
        ] {
            let reached = run(&script, Way::Update).corners;
            let before = missing.len();
            missing.retain(|corner| !reached.contains(corner));
            if missing.len() < before {
                println!("the scripts of number {number} reach {} more corners", before - missing.len());
            }
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("never reached: {missing:?}");
}
