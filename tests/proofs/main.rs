//! What is proved of random small definitions, held against a machine that is put into every situation.
//!
//! The machine is run from each state that it can be in, with each combination of values that the conditions tell apart, each
//! message, and each of some times. So it is seen which states it comes to, which exits it takes, where it flickers, and where
//! it stays for good. That has to be what is proved.
//!
//! - `files` and `property`: the random files and properties.
//! - `guard`: the owner of the machines.
//! - `simulator`: what is seen of a machine.
//! - `proved`: what is proved of it.
//! - `comparison`: the two, side by side.
//!
//! `.ci/run` also runs these tests with optimization, and then tries more files.
#![cfg(feature = "definition")]

#[path = "../definition/cases.rs"]
mod cases;
mod comparison;
mod files;
mod guard;
mod property;
mod proved;
mod simulator;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use cases::cases;
use comparison::{compare, compare_runs};
use files::{file, file_with_regions};
use property::{properties, with_properties};

fn config(usual: u32, rng_seed: RngSeed) -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 60, rng_seed, ..cases(usual) }
}

proptest! {
    #![proptest_config(config(8, RngSeed::Fixed(7)))]

    #[test]
    fn runs_that_take_the_exits_of_a_machine_go_as_they_say(text in prop_oneof![3 => file(), 1 => file_with_regions()]) {
        compare_runs(&text);
    }
}

proptest! {
    #![proptest_config(config(16, RngSeed::Fixed(2)))]

    #[test]
    fn what_is_proved_of_a_small_machine_is_what_it_does(text in file()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(12, RngSeed::Fixed(3)))]

    #[test]
    fn what_is_proved_of_a_machine_with_regions_is_what_it_does(text in file_with_regions()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn what_is_proved_of_any_machine_with_regions_is_what_it_does(text in file_with_regions()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn what_is_proved_of_any_small_machine_is_what_it_does(text in file()) {
        compare(&text, &[]);
    }
}

proptest! {
    #![proptest_config(config(32, RngSeed::Fixed(5)))]

    #[test]
    fn properties_of_a_small_machine_hold_or_fail_as_is_proved(file in (file(), properties()).prop_map(with_properties)) {
        compare(&file.0, &file.1);
    }
}

proptest! {
    #![proptest_config(config(16, RngSeed::Fixed(6)))]

    #[test]
    fn properties_of_a_machine_with_regions_hold_or_fail_as_is_proved(
        file in (file_with_regions(), properties()).prop_map(with_properties),
    ) {
        compare(&file.0, &file.1);
    }
}

proptest! {
    #![proptest_config(config(200, RngSeed::Random))]

    #[test]
    #[ignore = "a search, with other files in each run"]
    fn properties_of_any_machine_hold_or_fail_as_is_proved(
        file in (prop_oneof![file(), file_with_regions()], properties()).prop_map(with_properties),
    ) {
        compare(&file.0, &file.1);
    }
}

#[test]
fn values_that_a_machine_sets_when_it_starts_are_not_those_of_the_first_row() {
    compare_runs(
        "
        initial = 's0'
        states.s0.exits = [{ to = 's1', always = true }]
        states.s2 = { parent = 's1', enter_when = 'y >= 2' }
        [states.s1]
        initial = 's2'
        choose = 'random'
        exits = [
            { to = 's1', always = true, weight = 1, when = 'not a', set = { y = 'x', x = 3 } },
            { to = 's1', always = true, weight = 2, when = 'y > 1' },
        ]
        ",
    );
}
