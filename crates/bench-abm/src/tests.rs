//! Whether the library's model has the rules of the loops by hand, by statistics.

use std::sync::LazyLock;

use crate::by_hand;
use crate::model::{Counts, SMALL, World};
use crate::ours::{self, Order};
use crate::statistics::{Difference, Runs, TOLERANCE};

static BY_HAND: LazyLock<Runs> = LazyLock::new(|| runs(0..200, |seed| by_hand::run(&SMALL, seed)));

fn runs(seeds: std::ops::Range<u64>, run: impl Fn(u64) -> Vec<Counts>) -> Runs {
    let mut runs = Runs::default();
    seeds.for_each(|seed| runs.push(&run(seed)));
    runs
}

/// Returns how far the loops by hand are from runs with these seeds, which they do not have.
fn difference(run: impl Fn(u64) -> Vec<Counts>) -> Difference {
    runs(1000..1050, run).difference(&BY_HAND)
}

fn assert_alike(difference: &Difference) {
    assert!(difference.errors < TOLERANCE, "{}: {} standard errors apart", difference.of, difference.errors);
}

#[test]
fn the_batches_and_the_loops_count_alike_in_random_order() {
    assert_alike(&difference(|seed| ours::run(&SMALL, Order::Random, seed)));
}

#[test]
fn the_batches_and_the_loops_count_alike_in_the_order_in_which_animals_are_stored() {
    assert_alike(&difference(|seed| ours::run(&SMALL, Order::Stored, seed)));
}

#[test]
fn a_rule_that_is_a_little_different_is_noticed() {
    let slower = World { regrowth: SMALL.regrowth + 2, ..SMALL };
    let difference = difference(|seed| by_hand::run(&slower, seed));
    assert!(difference.errors > TOLERANCE, "only {} standard errors", difference.errors);
}
