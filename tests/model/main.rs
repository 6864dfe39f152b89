//! Drives a machine and a naive model with the same random programs of states, and compares all that happens.
//!
//! - `program`: what a program is: the states, what each of their callbacks asks for, and what the game does from outside.
//!   Also what can be observed of a run.
//! - `naive`: the rules of `docs/semantics.md`, as plainly as they can be written, over numbers in tables.
//! - `corner`: which corners of the rules it has been led to.
//! - `driven`: the same program on a [`demeanor::StateMachine`].
//!
//! A difference that was found this way stays as an ordinary test in `tests/reported`. `PROPTEST_CASES=100000 cargo test
//! --test model` looks further than the usual run.

mod corner;
mod driven;
mod naive;
mod program;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use corner::Corner;
use program::{Event, Program, program};

/// Where two traces part, with what led there.
fn difference(machine: &[Event], model: &[Event]) -> Option<String> {
    let same = machine.iter().zip(model).take_while(|(a, b)| a == b).count();
    if same == machine.len() && same == model.len() {
        return None;
    }
    let led: Vec<_> = machine[..same].iter().map(|event| format!("  {event:?}\n")).collect();
    Some(format!(
        "\n{}machine: {:?}\nmodel:   {:?}",
        led.concat(),
        machine.get(same..machine.len().min(same + 3)),
        model.get(same..model.len().min(same + 3))
    ))
}

proptest! {
    #![proptest_config({
        let usual = ProptestConfig::default();
        ProptestConfig { cases: usual.cases * 8, failure_persistence: None, ..usual }
    })]

    /// Rules 1 to 18, 22, and 24 to 26.
    #[test]
    fn a_machine_does_what_the_rules_say(program in program()) {
        let (expected, _) = naive::run(&program);
        let seen = driven::run(&program);
        if let Some(difference) = difference(&seen, &expected) {
            prop_assert!(false, "{difference}");
        }
    }
}

/// Rules 22 and 27: whatever panics, the machine is whole, and can be saved and loaded. The run checks that between any two steps.
#[test]
fn a_machine_that_is_cut_short_anywhere_stays_whole() {
    let usual = ProptestConfig::default();
    let config = ProptestConfig { cases: usual.cases * 8, failure_persistence: None, ..usual };
    let outcome = TestRunner::new(config).run(&(program(), 1..60_u32), |(program, every)| {
        driven::run_into_traps(&program, every);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// A generator that never led to a corner would prove nothing about it.
#[test]
fn the_programs_reach_every_corner_of_the_rules() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let strategy = program();
    let mut reached = BTreeSet::new();
    for _ in 0..8000 {
        let program: Program = strategy.new_tree(&mut runner).expect("nothing is filtered out").current();
        reached.extend(naive::run(&program).1);
        if reached.len() == Corner::ALL.len() {
            return;
        }
    }
    let missed: Vec<_> = Corner::ALL.iter().filter(|corner| !reached.contains(corner)).collect();
    panic!("never reached: {missed:?}");
}
