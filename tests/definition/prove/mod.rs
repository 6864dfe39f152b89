//! What is proved of definitions over all situations: each fault is found, and shown; what is right is not found fault with.

mod circles;
mod exits;
mod random;
mod right;
mod sizes;

use std::fmt::Write as _;

use demeanor::definition::{Finding, Outline, Proof};

use crate::commented::assert_comments;

pub(crate) fn proof(file: &str) -> Proof {
    Proof::of(&Outline::parse_all("guard.toml", file, None).unwrap())
}

/// Proves files, which have an empty line between them, and compares what is found with their comments.
///
/// `#^ 38 contradiction: this condition never holds [a time,x;0,false; a]` has the column, the code, what is said, and the
/// witness: where it begins, its table, and where the changes lead.
#[track_caller]
pub(crate) fn assert_found(files: &str) {
    assert_comments(files, |file| {
        let proof = proof(file);
        let note = |finding: &Finding| {
            let problem = finding.problem();
            (problem.line(), format!("{} {}", problem.column(), said(finding)))
        };
        proof.findings().iter().map(note).collect()
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
