//! What is proved of definitions over all situations: each fault is found, and shown; what is right is not found fault with.

mod circles;
mod exits;
mod random;
mod right;
mod sizes;

use std::fmt::Write as _;

use demeanor::definition::{Finding, Outline, Proof};

pub(crate) fn proof(file: &str) -> Proof {
    Proof::of(&Outline::parse_all("guard.toml", file, None).unwrap())
}

/// The findings of a file: line, code, what it says, and the changes that the witness leads to.
pub(crate) fn found(file: &str) -> Vec<String> {
    proof(file).findings().iter().map(said).collect()
}

fn said(finding: &Finding) -> String {
    let problem = finding.problem();
    let mut said = format!("{} {}: {problem}", problem.line(), problem.code_name());
    if let Some(witness) = finding.witness() {
        let table = witness.to_csv().replace('\n', ";");
        let changes: Vec<_> =
            witness.changes().iter().map(|change| format!(" {}>{}", change.from, change.to)).collect();
        let changes = if changes.len() > 3 { changes[..3].concat() + " .." } else { changes.concat() };
        write!(said, " [{} {table}{changes} {}]", witness.from().unwrap_or("-"), witness.end()).unwrap();
    }
    said
}
