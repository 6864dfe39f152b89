//! What `demeanor check` has found in a file.

use demeanor::definition::{Finding, Problem, Proof};

/// What has been found in a file.
pub(crate) struct Checked {
    pub(crate) file: String,
    pub(crate) problems: Vec<Problem>,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    /// What the file has, if it has no errors.
    pub(crate) content: Option<Content>,
}

/// What a file without errors has.
pub(crate) struct Content {
    pub(crate) machines: usize,
    pub(crate) states: usize,
    /// By their kinds, the words that could not be checked.
    pub(crate) unchecked: Vec<(&'static str, Vec<String>)>,
    /// What has been proved, if that was asked for.
    pub(crate) proof: Option<Proof>,
}

impl Checked {
    /// What has been proved.
    pub(crate) fn proof(&self) -> Option<&Proof> {
        self.content.as_ref()?.proof.as_ref()
    }

    /// The problems, and what has been proved. Of a warning that has been proved, too, the proof tells more; and nobody is kept
    /// in a state that is never reached.
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
