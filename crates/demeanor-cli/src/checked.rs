//! The result of `demeanor check` for a file.

use demeanor::definition::{Finding, Problem, Proof};

/// The result for a file.
pub(crate) struct Checked {
    pub(crate) file: String,
    pub(crate) problems: Vec<Problem>,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// The content of the file, if it has no errors.
    pub(crate) content: Option<Content>,
}

/// The content of a file without errors.
pub(crate) struct Content {
    pub(crate) machines: usize,
    pub(crate) states: usize,
    /// The words that could not be checked, by kind.
    pub(crate) unchecked: Vec<(&'static str, Vec<String>)>,
    /// The proof, if it was requested.
    pub(crate) proof: Option<Proof>,
}

impl Checked {
    /// Returns the proof.
    pub(crate) fn proof(&self) -> Option<&Proof> {
        self.content.as_ref()?.proof.as_ref()
    }

    /// Returns the problems and the findings of the proof. If a warning has also been proved, only the finding is returned,
    /// which says more. Findings about owners that cannot leave a state are left out if the state is never reached.
    pub(crate) fn all(&self) -> Vec<(&Problem, Option<&Finding>)> {
        let findings = self.proof().map_or(&[][..], Proof::findings);
        let is_proved = |problem: &&Problem| {
            let same = |finding: &Finding| {
                let proved = finding.problem();
                let is_same = proved.code_name() == problem.code_name();
                let is_moot = (proved.code_name(), problem.code_name()) == ("unreachable", "no-way-out");
                (is_same || is_moot) && proved.span() == problem.span()
            };
            findings.iter().any(same)
        };
        let problems = self.problems.iter().filter(|problem| !is_proved(problem)).map(|problem| (problem, None));
        let mut all: Vec<_> =
            problems.chain(findings.iter().map(|finding| (finding.problem(), Some(finding)))).collect();
        if !findings.is_empty() {
            all.sort_by_key(|(problem, _)| problem.span().start);
        }
        all
    }
}
