//! Problems: the mistakes in a file in the form that users see.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use super::mistake::{Mistake, TextLabel};
use crate::format::source::Source;
use crate::shown::shown;

/// An error in a definition, or a warning about it, with its place in the file.
///
/// It is a [`miette::Diagnostic`]: the report handlers of miette draw the lines around the place, with the place underlined,
/// unless one of these lines is longer than 1500 bytes. `Display` writes only what is wrong. [`located`](Self::located) adds
/// the place, and what to write instead.
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
    mistake: Mistake,
}

impl Problem {
    pub(crate) fn new(source: Arc<Source>, mistake: Mistake) -> Self {
        Self { source, mistake }
    }

    /// Whether the problem is this mistake. The advice is ignored, because it may differ between machines that share a state.
    pub(crate) fn is(&self, mistake: &Mistake) -> bool {
        let Mistake { code, message, label, second, .. } = &self.mistake;
        (code, message, label, second) == (&mistake.code, &mistake.message, &mistake.label, &mistake.second)
    }

    /// Returns the text without the place, to find the same problem in other places.
    pub(crate) fn says(&self) -> String {
        let Mistake { code, severity, message, help, .. } = &self.mistake;
        format!("{code} {severity:?} {message} {}", help.as_deref().unwrap_or_default())
    }

    /// Returns the message without the names in it, to find problems of the same kind. Names are between backticks.
    pub(crate) fn kind(&self) -> String {
        let Mistake { code, severity, message, .. } = &self.mistake;
        let words: Vec<_> = message.split('`').step_by(2).collect();
        format!("{code} {severity:?} {}", words.join("`"))
    }

    /// Returns the problem with a note about the lines that have the same problem. `are_all` says whether the list of problems
    /// is complete.
    pub(crate) fn with_others(mut self, lines: &[usize], are_all: bool) -> Self {
        const MOST_LINES: usize = 6;
        let mut shown: Vec<_> = lines.iter().map(ToString::to_string).collect();
        shown.dedup();
        let rest = if shown.len() > MOST_LINES { " and so on" } else { "" };
        shown.truncate(MOST_LINES);
        let (count, shown) = (lines.len(), shown.join(", "));
        let least = if are_all { "" } else { "at least " };
        let word = if shown.contains(',') { "lines" } else { "line" };
        let _ = write!(self.mistake.message, " (and {least}{count} more like this, in {word} {shown}{rest})");
        self
    }

    /// Returns everything in one line, for a log: file, line, column, what is wrong, and what to write instead.
    #[must_use]
    pub fn located(&self) -> String {
        let severity = if self.is_warning() { "warning" } else { "error" };
        let (line, column) = (self.line(), self.column());
        let mut text = format!("{}:{line}:{column}: {severity}: {self}", shown(&self.source.name, usize::MAX));
        if let Some(help) = &self.mistake.help {
            text.push_str(": ");
            text.push_str(help);
        }
        text
    }

    /// Returns what to write instead. `None` if there is no suggestion.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        self.mistake.help.clone()
    }

    /// Returns the short name of the kind of mistake, such as `unknown-state`.
    #[must_use]
    pub fn code_name(&self) -> &'static str {
        self.mistake.code
    }

    /// Returns whether it is a warning. A definition with warnings still works.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        self.mistake.is_warning()
    }

    /// Returns the name of the file: the definition, or a script that it names.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// Returns the range of bytes in the file to which the problem refers.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.mistake.label.at.clone()
    }

    /// Returns the parts of the file that the problem is about, as ranges of bytes, each with the text of its label. The
    /// first one is the [`span`](Self::span).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "initial = 'idle'\ninitial = 'rest'\nstates.idle.final = true\nstates.rest.final = true\n";
    /// let problems = Outline::parse("guard.toml", file, None).unwrap_err();
    /// let labels: Vec<_> = problems.iter().next().unwrap().labeled_spans().collect();
    /// assert_eq!(labels, [(17..24, "given again here"), (0..7, "first given here")]);
    /// ```
    pub fn labeled_spans(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        self.parts().map(|label| (label.at.clone(), &*label.text))
    }

    /// Returns the line and the column of a byte of the file. The column is in characters, and both are counted from 1.
    #[must_use]
    pub fn position(&self, byte: usize) -> (usize, usize) {
        self.source.position(byte)
    }

    /// Returns the line of the file, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.position(self.mistake.label.at.start).0
    }

    /// Returns the column in the line, in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.position(self.mistake.label.at.start).1
    }

    fn parts(&self) -> impl Iterator<Item = &TextLabel> {
        iter::once(&self.mistake.label).chain(&self.mistake.second)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mistake.message)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.located())
    }
}

impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        self.mistake == other.mistake
    }
}

impl Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.mistake.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.mistake.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.mistake.help.as_ref()?))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let can_be_drawn = self.parts().all(|label| self.source.can_be_drawn(&self.source.underlined(&label.at)));
        can_be_drawn.then_some(&*self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.parts().map(|label| {
            let at = self.source.underlined(&label.at);
            LabeledSpan::new(Some(label.text.to_string()), at.start, at.len())
        })))
    }
}

/// The problems of one file and of the scripts that it names, in the order of the file. Problems in scripts come last.
///
/// `Display` writes a line for each problem. As a [`miette::Diagnostic`], these lines are the message, and the problems are
/// the related diagnostics.
#[derive(Clone)]
pub struct Problems {
    pub(super) source: Arc<Source>,
    pub(super) listed: Vec<Problem>,
    pub(super) more: Unlisted,
}

/// The number of problems that are not listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unlisted {
    pub(super) errors: usize,
    pub(super) warnings: usize,
}

impl Unlisted {
    pub(super) fn count(&mut self, is_warning: bool) {
        *(if is_warning { &mut self.warnings } else { &mut self.errors }) += 1;
    }
}

impl Problems {
    /// Returns the problems, errors and warnings, in the order of the file.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.listed.iter()
    }

    /// Returns how many problems are not in the list. The list has at most 200 problems of a file, and prefers errors to
    /// warnings. If the same problem occurs in many places, only the first one is listed, with the number of the others.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.more.errors + self.more.warnings
    }

    /// Returns how many errors there are, including unlisted ones.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.listed.iter().filter(|problem| !problem.is_warning()).count() + self.more.errors
    }

    /// Returns how many warnings there are, including unlisted ones.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.listed.iter().filter(|problem| problem.is_warning()).count() + self.more.warnings
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
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
        if self.unlisted() > 0 {
            write!(f, "\n{}: and {} more", shown(&self.source.name, usize::MAX), self.unlisted())?;
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
