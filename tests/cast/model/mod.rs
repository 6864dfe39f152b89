//! Random programs of a cast: the members send, post, delay, rejoin, dismiss and panic, on a [`demeanor::Cast`], on a struct of the
//! game, and on a simple model of rule 30; all that happens is compared.
//!
//! - `program`: what a program is: what each callback does, and what the game does.
//! - `naive`: the rules, as plainly as they can be written.
//! - `driven`: the same program on real members, which are saved and loaded at random points.
//!
//! `PROPTEST_CASES=100000 cargo test --release --all-features --test cast model` looks further than the usual run.

#![cfg(feature = "serde")]

mod driven;
mod naive;
mod program;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use self::program::program;

/// Where two traces part, with what led there.
fn difference(name: &str, seen: &[String], expected: &[String]) -> Option<String> {
    let same = seen.iter().zip(expected).take_while(|(a, b)| a == b).count();
    if same == seen.len() && same == expected.len() {
        return None;
    }
    let next = |lines: &[String]| lines[same..lines.len().min(same + 3)].join("\n       ");
    let led = seen[..same].join("\n  ");
    Some(format!("\n  {led}\n{name}: {}\nmodel: {}", next(seen), next(expected)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rules 22, 27 and 30.
    #[test]
    fn a_cast_does_what_the_rules_say(program in program()) {
        let (expected, _) = naive::run(&program);
        for (name, seen) in [("cast", driven::run_cast(&program)), ("game", driven::run_game(&program))] {
            if let Some(difference) = difference(name, &seen, &expected) {
                prop_assert!(false, "{difference}");
            }
        }
    }
}

/// A generator that never led to a corner would prove nothing about it.
#[test]
fn the_programs_reach_every_corner_of_a_cast() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[39; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let strategy = program();
    let mut missed: BTreeSet<_> = naive::CORNERS.into_iter().collect();
    for _ in 0..20_000 {
        let program = strategy.new_tree(&mut runner).expect("nothing is filtered out").current();
        for corner in naive::run(&program).1 {
            missed.remove(corner);
        }
        if missed.is_empty() {
            return;
        }
    }
    panic!("never reached: {missed:?}");
}
