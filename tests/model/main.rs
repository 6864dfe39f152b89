//! Runs a machine and a naive model with the same random programs of states, and compares all events.
//!
//! - `program`: the format of a program: the states, the requests of their callbacks, and the steps of the game. Also the
//!   events of a run.
//! - `rules`: the rules of `docs/semantics.md` in their simplest form, over numbers in tables, with the special cases that a
//!   machine has reached. The model of casts uses them for its members, too.
//! - `naive`: the program on these rules.
//! - `driven`: the same program on a [`demeanor::StateMachine`].
//! - `twins`: the same programs in regions of one machine, and on a machine for each region.
//! - `verbs`: what a callback asks of its handle.
//! - `compared`: finds the first difference, and checks that the programs have reached all special cases; also for casts.
//!
//! A difference found in this way becomes an ordinary test in `tests/reported`. `RANDOM_CASES=50000 cargo test --test
//! model` runs more programs than usual.

#[path = "../cases/mod.rs"]
mod cases;
mod compared;
mod driven;
mod naive;
mod rules;
#[path = "../told_panic/mod.rs"]
mod told_panic;
mod twins;
mod verbs;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use cases::cases;
use rules::corner::{self, Corner};
use rules::program::{self, program, program_with_regions};

proptest! {
    #![proptest_config(cases(128))]

    /// Rules 1 to 18, 22, and 24 to 26.
    #[test]
    fn a_machine_does_what_the_rules_say(program in program()) {
        compare(&program)?;
    }

    /// Rule 32, with all of these.
    #[test]
    fn a_machine_with_regions_does_what_the_rules_say(program in program_with_regions()) {
        compare(&program)?;
    }
}

fn compare(program: &program::Program) -> Result<(), TestCaseError> {
    let (expected, _) = naive::run(program);
    let seen = driven::run(program);
    compared::difference("machine", &seen, &expected).map_or(Ok(()), |difference| Err(TestCaseError::fail(difference)))
}

fn any_program() -> impl Strategy<Value = program::Program> {
    prop_oneof![program(), program_with_regions()]
}

/// Rules 22 and 27: after a panic in any code, the machine is whole and can be saved and loaded. The run checks this between
/// any two steps.
#[test]
fn a_machine_that_is_cut_short_anywhere_stays_whole() {
    let outcome = TestRunner::new(cases(512)).run(&(any_program(), 1..60_u32), |(program, every)| {
        driven::run_into_traps(&program, every);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn the_programs_reach_every_corner_of_the_rules() {
    compared::reaches_every_corner(any_program(), Corner::ALL, 3, |program| naive::run(program).1);
}
