//! Runs random programs of a cast, in which members send, post, delay, rejoin, dismiss and panic. Each program runs on a
//! [`demeanor::Cast`], on a struct of the game, and on a simple model of rule 30. All events are compared.
//!
//! - `program`: the format of a program: the acts of each callback, and the steps of the game.
//! - `naive`: the rule in its simplest form. For single machines it uses the `rules` of `tests/model`.
//! - `driven`: the same program on real members, which are saved and loaded at random points.
//!
//! `RANDOM_CASES=100000 cargo test --release --all-features --test cast model` runs more programs than usual.

#![cfg(feature = "serde")]

#[path = "../../model/compared.rs"]
mod compared;
mod driven;
mod naive;
mod program;
#[path = "../../model/rules/mod.rs"]
mod rules;

use proptest::prelude::*;

use self::program::program;

use crate::cases::cases;

proptest! {
    #![proptest_config(cases(64))]

    /// Rules 22, 27 and 30.
    #[test]
    fn a_cast_does_what_the_rules_say(program in program()) {
        let (expected, _) = naive::run(&program);
        for (name, seen) in [("cast", driven::run_cast(&program)), ("game", driven::run_game(&program))] {
            if let Some(difference) = compared::difference(name, &seen, &expected) {
                prop_assert!(false, "{difference}");
            }
        }
    }
}

#[test]
fn the_programs_reach_every_corner_of_a_cast() {
    compared::reaches_every_corner(program(), &naive::CORNERS, 39, |program| naive::run(program).1);
}
