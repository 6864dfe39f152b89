//! Properties: each is proved, or broken by a run, or said to be open.

use demeanor::definition::{Proof, PropertyAnswer};

use super::proof;
use crate::case_files::assert_texts;

/// The answers, with the runs that break properties: the table of values, the number of ticks, and the last state.
fn answers(proof: &Proof) -> Vec<String> {
    let answer = |property: &demeanor::definition::PropertyProof| match property.answer() {
        PropertyAnswer::Holds if property.is_assumed() => format!("{} is assumed", property.name()),
        PropertyAnswer::Holds => format!("{} holds", property.name()),
        PropertyAnswer::Fails(run) => {
            let changes: Vec<_> = run.changes().iter().map(|change| format!("{}>{}", change.from, change.to)).collect();
            format!("{} fails: {} [{}]", property.name(), run.to_csv().trim_end().replace('\n', ";"), changes.join(" "))
        }
        PropertyAnswer::NotDecided(on) => format!("{} is not decided: {on}", property.name()),
        _ => unreachable!(),
    };
    proof.properties().iter().map(answer).collect()
}

#[test]
fn properties_are_proved_or_broken_by_a_run_or_open() {
    assert_texts("properties.txt", |file| answers(&proof(file)).join("\n"));
}
