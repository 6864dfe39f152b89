//! What is proved of definitions over all situations: each fault is found, and shown; what is right is not found fault with.

mod circles;
mod properties;
mod right;
mod sizes;

use std::fmt::Write as _;

use demeanor::definition::{Finding, Outline, Proof};

use crate::case_files::assert_notes;

pub(crate) fn proof(file: &str) -> Proof {
    Proof::of(&Outline::parse_all("guard.toml", file, None).unwrap())
}

/// A note has the column, the code, what is said, and the witness: where it begins, its table, and where the changes lead.
#[test]
#[cfg_attr(not(feature = "script"), ignore = "needs the feature `script`")]
fn what_is_proved_of_a_file_is_shown() {
    assert_notes("proofs.txt", |file| {
        let note = |finding: &Finding| (finding.problem().line(), finding.problem().column(), said(finding));
        proof(file).findings().iter().map(note).collect()
    });
}

/// The findings of a file, each with its line.
pub(crate) fn found(file: &str) -> Vec<String> {
    proof(file).findings().iter().map(|finding| format!("{} {}", finding.problem().line(), said(finding))).collect()
}

/// The code, what it says, and the changes that the witness leads to.
fn said(finding: &Finding) -> String {
    let problem = finding.problem();
    let mut said = format!("{}: {problem}", problem.code_name());
    if let Some(witness) = finding.witness() {
        let table = witness.to_csv().replace('\n', ";");
        let changes: Vec<_> =
            witness.changes().iter().map(|change| format!(" {}>{}", change.from, change.to)).collect();
        let changes = if changes.len() > 3 { changes[..3].concat() + " .." } else { changes.concat() };
        write!(said, " [{} {table}{changes} {}]", witness.from().unwrap_or("-"), witness.end()).unwrap();
    }
    said
}
