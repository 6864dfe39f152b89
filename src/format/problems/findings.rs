//! Where the stages put the mistakes that they find.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::mistake::{Mistake, Origin};
use super::problem::{Problem, Problems, Unlisted};
use crate::format::source::Source;

/// The most problems of one file that are reported in full.
const MOST_REPORTED: usize = 200;

/// How many names are compared with one that is unknown.
const MOST_COMPARED: usize = 2000;

/// The mistakes found in one file so far.
pub(crate) struct Findings {
    pub(crate) source: Arc<Source>,
    found: Vec<Problem>,
    /// Where these begin, in whichever file, with their codes: most others are seen to be new by that.
    places: HashSet<(usize, &'static str)>,
    /// How many of these are warnings.
    warnings: usize,
    more: Unlisted,
    errors: usize,
    /// Where text begins that could not be read. What seems to be missing may be there, and what else is found there
    /// follows from that.
    unread: BTreeSet<usize>,
}

impl Findings {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            found: Vec::new(),
            places: HashSet::new(),
            warnings: 0,
            more: Unlisted::default(),
            errors: 0,
            unread: BTreeSet::new(),
        }
    }

    pub(crate) fn add(&mut self, mistake: Mistake) {
        let mistake = mistake.within(self.source.text().len());
        // What one machine has from another is read for both.
        let source = Arc::clone(&self.source);
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

    /// Adds a mistake in another file, which this one names.
    #[cfg(feature = "script")]
    pub(crate) fn add_in(&mut self, source: &Arc<Source>, mistake: Mistake) {
        let mistake = mistake.within(source.text().len());
        if !self.has(source, &mistake) {
            self.list(Arc::clone(source), mistake);
        }
    }

    /// Whether a mistake is listed.
    fn has(&self, source: &Source, mistake: &Mistake) -> bool {
        if !self.places.contains(&(mistake.label.at.start, mistake.code)) {
            return false;
        }
        let mistake = mistake.clone().shown();
        self.found.iter().any(|found| found.file() == source.name && found.is(&mistake))
    }

    /// Most of very many mistakes are only counted: what they say is made fit to be shown only if they are listed.
    fn list(&mut self, source: Arc<Source>, mistake: Mistake) {
        let is_warning = mistake.is_warning();
        self.errors += usize::from(!is_warning);
        if self.is_full() {
            // An error is reported rather than a warning.
            if is_warning || self.warnings == 0 {
                *(if is_warning { &mut self.more.warnings } else { &mut self.more.errors }) += 1;
                return;
            }
            if let Some(last) = self.found.iter().rposition(Problem::is_warning) {
                self.found.remove(last);
                self.warnings -= 1;
                self.more.warnings += 1;
            }
        }
        self.warnings += usize::from(is_warning);
        self.places.insert((mistake.label.at.start, mistake.code));
        self.found.push(Problem::new(source, mistake.shown()));
    }

    /// Counts errors that are not listed.
    pub(crate) fn add_unlisted(&mut self, errors: usize) {
        self.errors += errors;
        self.more.errors += errors;
    }

    /// Whether there is text that could not be read.
    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
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

    /// The warnings, and how many more there are; or everything, if there is an error.
    pub(crate) fn finish(self) -> Result<(Vec<Problem>, usize), Problems> {
        let errors = self.errors;
        let problems = self.into_problems();
        if errors == 0 { Ok(problems.into_warnings()) } else { Err(problems) }
    }

    /// Everything, whether there is an error or not. What is wrong in many places is one problem.
    pub(crate) fn into_problems(self) -> Problems {
        let mut more = self.more;
        let found = grouped(sorted(self.found, &self.source.name), &mut more);
        Problems::new(self.source, found, more)
    }

    /// Everything, each where it is: for an editor.
    pub(crate) fn into_each_problem(self) -> Problems {
        let found = sorted(self.found, &self.source.name);
        Problems::new(self.source, found, self.more)
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

/// How many problems of one kind are listed, which differ in their names only.
const MOST_OF_A_KIND: usize = 5;

/// How many problems are listed that say the same.
const MOST_OF_ONE: usize = 2;

/// Of problems that are the same in many places, the first, which says how many there are.
fn grouped(found: Vec<Problem>, more: &mut Unlisted) -> Vec<Problem> {
    let are_all = more.errors + more.warnings == 0;
    // By the first one, the lines of the others for which it stands.
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
            *(if problem.is_warning() { &mut more.warnings } else { &mut more.errors }) += 1;
        } else if let Some(lines) = groups.get(&i) {
            listed.push(problem.with_others(lines, are_all));
        } else {
            listed.push(problem);
        }
    }
    listed
}

/// Sorts problems by their places in the file. Problems in other files come last.
fn sorted(mut found: Vec<Problem>, file: &str) -> Vec<Problem> {
    let other = |problem: &Problem| if problem.file() == file { None } else { Some(problem.file().to_owned()) };
    found.sort_by_cached_key(|problem| (other(problem), problem.span().start));
    found
}
