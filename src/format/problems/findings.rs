//! Collects the mistakes that are found while a file is read and checked.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::mistake::{Mistake, Origin};
use super::problem::{Problem, Problems, Unlisted};
use crate::format::source::Source;

/// The maximum number of problems of one file that are reported in full.
const MOST_REPORTED: usize = 200;

/// The maximum number of names that are compared with an unknown name.
const MOST_COMPARED: usize = 2000;

/// The mistakes that have been found in one file so far.
pub(crate) struct Findings {
    found: Problems,
    /// The starts and codes of all problems that have been listed. If the start and the code of a mistake are not in this set,
    /// the mistake is certainly new.
    places: HashSet<(usize, &'static str)>,
    /// The starts of the parts of the text that could not be read. Something that seems to be missing may be in such a part.
    /// Other mistakes at the same start are only consequences.
    unread: BTreeSet<usize>,
}

impl Findings {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        let found = Problems { source, listed: Vec::new(), more: Unlisted::default() };
        Self { found, places: HashSet::new(), unread: BTreeSet::new() }
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.found.source
    }

    pub(crate) fn add(&mut self, mistake: Mistake) {
        let source = Arc::clone(self.source());
        let mistake = mistake.within(source.text().len());
        // If one machine takes over a state from another one, the state is checked for both, and its mistakes are found twice.
        if self.has(&source, &mistake) {
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
        self.list(source, mistake);
    }

    /// Adds a mistake in another file that this file names.
    #[cfg(feature = "script")]
    pub(crate) fn add_in(&mut self, source: &Arc<Source>, mistake: Mistake) {
        let mistake = mistake.within(source.text().len());
        if !self.has(source, &mistake) {
            self.list(Arc::clone(source), mistake);
        }
    }

    /// Whether a mistake is already listed.
    fn has(&self, source: &Source, mistake: &Mistake) -> bool {
        if !self.places.contains(&(mistake.label.at.start, mistake.code)) {
            return false;
        }
        let mistake = mistake.clone().shown();
        self.found.iter().any(|found| found.file() == source.name && found.is(&mistake))
    }

    /// Lists a mistake, or only counts it if the list is full. The text is made fit for display only if the mistake is listed.
    fn list(&mut self, source: Arc<Source>, mistake: Mistake) {
        if self.is_full() {
            let Problems { listed, more, .. } = &mut self.found;
            // An error replaces a warning in a full list.
            let last = listed.iter().rposition(Problem::is_warning).filter(|_| !mistake.is_warning());
            more.count(last.is_some() || mistake.is_warning());
            let Some(last) = last else { return };
            listed.remove(last);
        }
        self.places.insert((mistake.label.at.start, mistake.code));
        self.found.listed.push(Problem::new(source, mistake.shown()));
    }

    /// Counts errors that are not listed.
    pub(crate) fn add_unlisted(&mut self, errors: usize) {
        self.found.more.errors += errors;
    }

    /// Whether there is text that could not be read.
    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    pub(crate) fn errors(&self) -> usize {
        self.found.errors()
    }

    /// Whether the list is full. Further mistakes are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.listed.len() >= MOST_REPORTED
    }

    /// Returns the known name that is most similar to `name`, if one is similar enough. If the list is full, it does not
    /// search, because the mistake is only counted.
    pub(crate) fn nearest<'a>(&self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        if self.is_full() { None } else { nearest(name, known) }
    }

    /// Returns the listed warnings, and the number of unlisted ones. If there is an error, fails with all problems.
    pub(crate) fn finish(self) -> Result<(Vec<Problem>, usize), Problems> {
        let problems = self.into_problems();
        if problems.errors() == 0 { Ok((problems.listed, problems.more.warnings)) } else { Err(problems) }
    }

    /// Returns all problems. Problems that are the same in many places are combined into one.
    pub(crate) fn into_problems(self) -> Problems {
        let mut problems = self.into_each_problem();
        problems.listed = grouped(problems.listed, &mut problems.more);
        problems
    }

    /// Returns all problems, each at its place, for editors. Problems in other files come last.
    pub(crate) fn into_each_problem(mut self) -> Problems {
        let Problems { source, listed, .. } = &mut self.found;
        let other = |problem: &Problem| (problem.file() != source.name).then(|| problem.file().to_owned());
        listed.sort_by_cached_key(|problem| (other(problem), problem.span().start));
        self.found
    }
}

/// Returns the known name that is most similar to `name`, if one is similar enough.
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

/// The maximum number of problems of the same kind, which differ only in their names. If there are more, they are combined.
const MOST_OF_A_KIND: usize = 5;

/// The maximum number of problems with the same text. If there are more, they are combined.
const MOST_OF_ONE: usize = 2;

/// Combines problems that are the same in many places: only the first one is listed, with the number and the lines of the
/// others.
fn grouped(found: Vec<Problem>, more: &mut Unlisted) -> Vec<Problem> {
    let are_all = more.errors + more.warnings == 0;
    // The lines of the problems that are left out, by the index of the problem that is listed in their place.
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut is_left_out = vec![false; found.len()];
    for (what, most) in [(Problem::kind as fn(&Problem) -> String, MOST_OF_A_KIND), (Problem::says, MOST_OF_ONE)] {
        let mut places_of: HashMap<(&str, String), Vec<usize>> = HashMap::new();
        for (i, problem) in found.iter().enumerate() {
            places_of.entry((problem.file(), what(problem))).or_default().push(i);
        }
        for places in places_of.into_values().filter(|places| places.len() > most) {
            if places.iter().any(|i| is_left_out[*i] || groups.contains_key(i)) {
                continue;
            }
            places[1..].iter().for_each(|i| is_left_out[*i] = true);
            groups.insert(places[0], places[1..].iter().map(|i| found[*i].line()).collect());
        }
    }
    let mut listed = Vec::new();
    for (i, problem) in found.into_iter().enumerate() {
        if is_left_out[i] {
            more.count(problem.is_warning());
        } else if let Some(lines) = groups.get(&i) {
            listed.push(problem.with_others(lines, are_all));
        } else {
            listed.push(problem);
        }
    }
    listed
}

/// Adding mistakes to the findings.
impl Mistake {
    /// Adds the mistake to the findings.
    pub(crate) fn report(self, findings: &mut Findings) {
        findings.add(self);
    }

    /// Adds the mistake to the findings, and returns `None`.
    pub(crate) fn fail<O>(self, findings: &mut Findings) -> Option<O> {
        findings.add(self);
        None
    }
}
