//! Finds the first difference between two traces, and checks whether the random programs reach all special cases.

use std::collections::BTreeSet;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// Returns the first difference between two traces, with the events before it.
pub(crate) fn difference<E: Debug + PartialEq>(name: &str, seen: &[E], expected: &[E]) -> Option<String> {
    let same = seen.iter().zip(expected).take_while(|(a, b)| a == b).count();
    if same == seen.len() && same == expected.len() {
        return None;
    }
    let next = |events: &[E]| format!("{:?}", &events[same..events.len().min(same + 3)]);
    let led: Vec<_> = seen[..same].iter().map(|event| format!("  {event:?}\n")).collect();
    Some(format!("\n{}{name}: {}\nmodel: {}", led.concat(), next(seen), next(expected)))
}

/// Checks that the programs reach every special case. `run` returns the special cases that a program has reached.
pub(crate) fn reaches_every_corner<P: Debug, C: Copy + Debug + Ord>(
    programs: impl Strategy<Value = P>,
    corners: &[C],
    seed: u8,
    run: impl Fn(&P) -> BTreeSet<C>,
) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut missed: BTreeSet<_> = corners.iter().copied().collect();
    for _ in 0..20_000 {
        let program = programs.new_tree(&mut runner).expect("nothing is filtered out").current();
        missed = &missed - &run(&program);
        if missed.is_empty() {
            return;
        }
    }
    panic!("never reached: {missed:?}");
}
