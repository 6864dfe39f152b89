//! Where the stages put the mistakes that they find.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::mistake::{Mistake, Origin};
use super::problem::{Problem, Problems};
use super::source::Source;

/// The most problems of one file that are reported in full.
const MOST_REPORTED: usize = 200;

/// How many names are compared with one that is unknown.
const MOST_COMPARED: usize = 2000;

/// The mistakes found in one file so far.
pub(crate) struct Findings {
    pub(crate) source: Arc<Source>,
    found: Vec<Problem>,
    more: usize,
    errors: usize,
    /// Where text begins that could not be read. What seems to be missing may be there, and what else is found there
    /// follows from that.
    unread: BTreeSet<usize>,
}

impl Findings {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self { source, found: Vec::new(), more: 0, errors: 0, unread: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, mistake: Mistake) {
        // The parser may say that an unclosed string ends behind the end of the file.
        let end = self.source.text.len();
        let mistake = mistake.moved(|at| at.start.min(end)..at.end.min(end).max(at.start.min(end)));
        // What one machine has from another is read for both.
        if self.found.iter().any(|found| found.is(&mistake)) {
            return;
        }
        let start = mistake.label.at.start;
        let may_follow = mistake.origin == Origin::MayFollow;
        if !self.unread.is_empty() && (may_follow || self.unread.contains(&start)) {
            return;
        }
        if mistake.origin == Origin::Unread {
            self.unread.insert(start);
        }
        if !mistake.is_warning() {
            self.errors += 1;
        }
        if self.is_full() {
            self.more += 1;
        } else {
            self.found.push(Problem::new(Arc::clone(&self.source), mistake));
        }
    }

    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether enough has been found. Further mistakes are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MOST_REPORTED
    }

    /// The name among `known` that `name` was meant to be. Not looked for once enough has been found.
    pub(crate) fn nearest<'a>(&self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        if self.is_full() { None } else { nearest(name, known) }
    }

    /// The warnings; or everything, if there is an error.
    pub(crate) fn finish(self) -> Result<Vec<Problem>, Problems> {
        if self.errors == 0 { Ok(sorted(self.found)) } else { Err(self.into_problems()) }
    }

    /// Everything, whether there is an error or not.
    pub(crate) fn into_problems(self) -> Problems {
        Problems::new(self.source, sorted(self.found), self.more)
    }
}

/// The name among `known` that `name` was meant to be.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > 64 {
        return None;
    }
    let folded = name.to_lowercase();
    known
        .into_iter()
        .take(MOST_COMPARED)
        .filter(|known| known.len() <= 64)
        .map(|known| (strsim::osa_distance(&folded, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= (known.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known.to_owned())
}

/// In the order of the file.
fn sorted(mut found: Vec<Problem>) -> Vec<Problem> {
    found.sort_by_key(|problem| problem.span().start);
    found
}
