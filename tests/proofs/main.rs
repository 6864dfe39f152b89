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

#[path = "../cases/mod.rs"]
mod cases;
mod comparison;
mod files;
mod guard;
mod property;
mod proved;
mod simulator;

use proptest::prelude::*;
use proptest::test_runner::RngSeed::{self, Fixed, Random};

use cases::cases;
use comparison::{compare, compare_runs};
use files::{file, file_with_regions};
use property::{RandomProperty, properties, with_properties};

fn config(usual: u32, rng_seed: RngSeed) -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 60, rng_seed, ..cases(usual) }
}

/// Random files, each with how many of them there are, where they come from, and what has to be so.
macro_rules! random {
    ($($(#[$attribute:meta])* $name:ident: $count:literal, $seed:expr, $files:expr => $check:expr;)*) => {
        $(
            proptest! {
                #![proptest_config(config($count, $seed))]

                $(#[$attribute])*
                #[test]
                fn $name(file in $files) {
                    $check(&file);
                }
            }
        )*
    };
}

fn compare_file(text: &str) {
    compare(text, &[]);
}

fn compare_properties((text, properties): &(String, Vec<RandomProperty>)) {
    compare(text, properties);
}

random! {
    runs_that_take_the_exits_of_a_machine_go_as_they_say:
        4, Fixed(7), prop_oneof![3 => file(), 1 => file_with_regions()] => compare_runs;
    what_is_proved_of_a_small_machine_is_what_it_does: 8, Fixed(2), file() => compare_file;
    what_is_proved_of_a_machine_with_regions_is_what_it_does: 6, Fixed(3), file_with_regions() => compare_file;
    properties_of_a_small_machine_hold_or_fail_as_is_proved:
        16, Fixed(5), (file(), properties()).prop_map(with_properties) => compare_properties;
    properties_of_a_machine_with_regions_hold_or_fail_as_is_proved:
        8, Fixed(6), (file_with_regions(), properties()).prop_map(with_properties) => compare_properties;
    #[ignore = "a search, with other files in each run"]
    what_is_proved_of_any_small_machine_is_what_it_does: 200, Random, file() => compare_file;
    #[ignore = "a search, with other files in each run"]
    what_is_proved_of_any_machine_with_regions_is_what_it_does: 200, Random, file_with_regions() => compare_file;
    #[ignore = "a search, with other files in each run"]
    properties_of_any_machine_hold_or_fail_as_is_proved:
        200, Random, (prop_oneof![file(), file_with_regions()], properties()).prop_map(with_properties) => compare_properties;
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

#[test]
fn an_exit_that_leads_back_to_a_state_with_regions_enters_their_initial_states() {
    compare(
        "
        initial = 's0'
        global = 'g'
        [properties]
        p0 = { from = 'in(s5) and y >= 1', reach = 'in(s0)', within = 1 }
        p1 = { from = 'in(s0) and a', reach = 'in(s4)', within = 1 }
        p2 = { never = 'in(s6) and in(s0) and a' }
        [states.g]
        exits = [
            { to = 's5', when = 'not (not (x > 2))' },
            { to = '$previous', set = { x = 3, y = 'x' }, when = '(in(s4) or in(s5))' },
            { to = 's0', do = 'swap', when = '(y != 1 or in(s0))' },
        ]
        [states.s0]
        enter_when = '(in(s3) or (in(s3) or in(s2)))'
        exits = [{ to = '$previous' }]
        [states.s1]
        regions = ['s2', 's3']
        exits = [
            { to = 's5', set = { a = true }, always = true },
            { to = 's0', when = '(max(y, 1) <= 1 or (y <= 2 or in(s0)))' },
        ]
        [states.s2]
        parent = 's1'
        region = 0
        enter_when = 'not (in(s2))'
        exits = []
        [states.s3]
        parent = 's1'
        region = 1
        enter_when = '(in(s2) or y >= 2)'
        exits = [
            { to = '$previous', cooldown = 1, when = '(a and y != 1)' },
            { to = 's2', when = '(not (time_in_state != 1) or not (in(s4)))' },
        ]
        [states.s4]
        parent = 's1'
        region = 0
        choose = 'random'
        exits = []
        [states.s5]
        parent = 's1'
        region = 1
        exits = []
        [states.s6]
        parent = 's1'
        region = 0
        exits = [
            { to = 's0', cooldown = 1, on = 'hit', when = 'message.damage > 2 and (not (y <= 1) or not (x * 2 <= 2))' },
        ]
        ",
        &[],
    );
}
