//! What a designer is told of the mistakes in a file, and where they are.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

use super::fault::Fault;

/// The most problems of one file that are reported in full.
const MOST_REPORTED: usize = 200;

/// The names that are looked through for the one that was meant.
const MOST_COMPARED: usize = 2000;

/// The longest line that is drawn, in bytes. Report handlers pad with as much space as stands before what they underline,
/// and panic where that is more than they can count.
const LONGEST_DRAWN: usize = 10_000;

/// A file's name and text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    /// `None` if it cannot be drawn.
    shown: Option<NamedSource<String>>,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let is_drawn = text.lines().all(|line| line.len() <= LONGEST_DRAWN);
        // The end of the last line can be underlined only where there is one.
        let ended = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        let shown = is_drawn.then(|| NamedSource::new(name, ended));
        Self { name: name.into(), text: text.into(), shown }
    }
}

/// One mistake in a definition, or a doubt about it, with its place in the file.
///
/// It is a [`miette::Diagnostic`]: any of miette's report handlers draws it with its place in the file underlined, unless the
/// file has a line of more than 10 000 bytes. Displayed on its own it is what is wrong; [`located`](Self::located) adds where,
/// and what to write instead.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Outline;
///
/// let file = "initial = \"idel\"\n\n[states.idle]\nfinal = true\n";
/// let problems = Outline::parse("guard.toml", file, None).unwrap_err();
/// let problem = problems.iter().next().unwrap();
/// assert_eq!((problem.line(), problem.column(), problem.code_name()), (1, 11, "unknown-state"));
/// assert_eq!(problem.to_string(), "unknown state `idel`");
/// assert_eq!(problem.located(), "guard.toml:1:11: error: unknown state `idel`: did you mean `idle`?");
/// ```
#[derive(Clone)]
pub struct Problem {
    source: Arc<Source>,
    span: Range<usize>,
    fault: Fault,
}

impl Problem {
    /// Returns all of it in one line, for a log: file, line and column, what is wrong, what to write instead.
    #[must_use]
    pub fn located(&self) -> String {
        let severity = if self.is_warning() { "warning" } else { "error" };
        let (line, column) = (self.line(), self.column());
        let mut text = format!("{}:{line}:{column}: {severity}: {self}", self.source.name);
        if let Some(advice) = self.advice() {
            text.push_str(": ");
            text.push_str(&advice);
        }
        text
    }

    /// Returns what to write instead, where that is known.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        self.fault.help()
    }

    /// Returns the short name of the kind of mistake, such as `unknown-state`.
    #[must_use]
    pub fn code_name(&self) -> &'static str {
        self.fault.code()
    }

    /// Returns whether the definition works all the same.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        self.fault.is_warning()
    }

    /// Returns the bytes of the file that are meant.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the line of the file, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        1 + self.before().matches('\n').count()
    }

    /// Returns the place in the line, in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        let before = self.before();
        let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
        1 + line.chars().count()
    }

    fn before(&self) -> &str {
        self.source.text.get(..self.span.start).unwrap_or(&self.source.text)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault.message())
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.located())
    }
}

impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span && self.fault == other.fault
    }
}

impl Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.fault.code()))
    }

    fn severity(&self) -> Option<Severity> {
        Some(if self.is_warning() { Severity::Warning } else { Severity::Error })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.fault.help()?))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.shown.as_ref().map(|shown| shown as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = |text: &str, at: Range<usize>| LabeledSpan::new(Some(text.into()), at.start, at.len());
        let here = label(&self.fault.label(), self.span.clone());
        let elsewhere = self.fault.elsewhere().map(|(at, text)| label(text, at));
        Some(Box::new(iter::once(here).chain(elsewhere)))
    }
}

/// All that is wrong with one file, in the order of the file.
///
/// The display is a line for each problem. As a [`miette::Diagnostic`] it is a heading whose related diagnostics are the
/// problems.
#[derive(Clone)]
pub struct Problems {
    file: Arc<Source>,
    listed: Vec<Problem>,
    /// Those beyond the ones listed.
    more: usize,
}

impl Problems {
    pub(crate) fn one(file: Arc<Source>, span: Range<usize>, fault: Fault) -> Self {
        let mut findings = Findings::new(Arc::clone(&file));
        findings.add(span, fault);
        findings.finish().err().unwrap_or_else(|| Self::none(file))
    }

    pub(crate) fn none(file: Arc<Source>) -> Self {
        Self { file, listed: Vec::new(), more: 0 }
    }

    /// Returns the problems, errors and warnings, in the order of the file.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.listed.iter()
    }

    /// Returns how many more problems there are than are listed; a file is told of its first 200.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.more
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file.name
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.listed.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(&problem.located())?;
        }
        if self.more > 0 {
            write!(f, "\n{}: and {} more", self.file.name, self.more)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Problems {}

impl Diagnostic for Problems {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.listed.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}

/// Why a definition could not be had from a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// What is in the file is wrong.
    Problems(Problems),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Problems(problems) => fmt::Display::fmt(problems, f),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Problems(problems) => Some(problems),
        }
    }
}

impl From<Problems> for LoadError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

/// Where the checks put what they find.
pub(crate) struct Findings {
    pub(crate) source: Arc<Source>,
    found: Vec<Problem>,
    more: usize,
    errors: usize,
    /// Whether part of the text could not be read, so that what seems to be missing may be there.
    is_partial: bool,
    /// The places from which on it could not be. What else is said of these follows from that, too.
    unread: BTreeSet<usize>,
}

impl Findings {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self { source, found: Vec::new(), more: 0, errors: 0, is_partial: false, unread: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, span: Range<usize>, fault: Fault) {
        // Of a string without an end, say, the place may be told as behind the end of the file.
        let end = span.end.min(self.source.text.len());
        let span = span.start.min(end)..end;
        if self.is_partial && (fault.may_follow() || self.unread.contains(&span.start)) {
            return;
        }
        if matches!(fault, Fault::Syntax { .. }) {
            self.is_partial = true;
            self.unread.insert(span.start);
        }
        if !fault.is_warning() {
            self.errors += 1;
        }
        if self.is_full() {
            self.more += 1;
        } else {
            self.found.push(Problem { source: Arc::clone(&self.source), span, fault });
        }
    }

    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether enough has been found: what more there is, is only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MOST_REPORTED
    }

    /// The name among `known` that `name` was meant to be. Not looked for once enough has been found.
    pub(crate) fn nearest<'a>(&self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        if self.is_full() || name.len() > 64 {
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

    /// The warnings; or everything, if there is an error.
    pub(crate) fn finish(mut self) -> Result<Vec<Problem>, Problems> {
        self.found.sort_by_key(|problem| problem.span.start);
        if self.errors == 0 {
            return Ok(self.found);
        }
        Err(Problems { file: self.source, listed: self.found, more: self.more })
    }
}
