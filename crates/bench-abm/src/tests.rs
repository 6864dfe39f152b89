//! Whether the library's model has the rules of the loops by hand, by statistics.

use std::ops::Range;
use std::sync::LazyLock;

use crate::by_hand;
use crate::model::{Counts, LARGE, World};
use crate::ours::{self, Order};
use crate::statistics::{Difference, Runs, TOLERANCE};

/// A quarter of the large world. In the small one, chance has more influence.
const QUARTER: World = World { width: LARGE.width / 2, sheep: LARGE.sheep / 4, wolves: LARGE.wolves / 4, ..LARGE };

static BY_HAND: LazyLock<Runs> = LazyLock::new(|| runs(0..200, |seed| by_hand::run(&QUARTER, seed)));

fn runs(seeds: Range<u64>, run: impl Fn(u64) -> Vec<Counts>) -> Runs {
    let mut runs = Runs::default();
    seeds.for_each(|seed| runs.push(&run(seed)));
    runs
}

/// Returns how far the loops by hand are from runs with other seeds.
fn difference(run: impl Fn(u64) -> Vec<Counts>) -> Difference {
    runs(1000..1040, run).difference(&BY_HAND)
}

fn assert_alike(difference: &Difference) {
    assert!(difference.errors < TOLERANCE, "{}: {} standard errors apart", difference.of, difference.errors);
}

#[test]
fn the_batches_and_the_loops_count_alike_in_random_order() {
    assert_alike(&difference(|seed| ours::run(&QUARTER, Order::Random, seed)));
}

#[test]
fn the_batches_and_the_loops_count_alike_in_the_order_in_which_animals_are_stored() {
    assert_alike(&difference(|seed| ours::run(&QUARTER, Order::Stored, seed)));
}

#[test]
fn a_rule_that_is_a_little_different_is_noticed() {
    let slower = World { regrowth: QUARTER.regrowth + 1, ..QUARTER };
    let difference = difference(|seed| by_hand::run(&slower, seed));
    assert!(difference.errors > TOLERANCE, "only {} standard errors", difference.errors);
}
