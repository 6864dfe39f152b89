//! A mistake as data: its code, its severity, its text, its place, and advice.
//!
//! A mistake is built where it is found. Later steps, such as sorting, counting and drawing, do not depend on its kind.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use miette::Severity;

use crate::shown::{self, shown};

/// The maximum number of names that the text of a mistake lists.
const MOST_LISTED: usize = 12;

/// One mistake, without the file that contains it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mistake {
    /// The short name of the kind of mistake, such as `unknown-state`.
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    /// The message.
    pub(crate) message: String,
    /// The place of the mistake, with its label.
    pub(crate) label: TextLabel,
    /// Another part of the text that is related to the mistake.
    pub(crate) second: Option<TextLabel>,
    /// A suggestion for what to write instead, if there is one.
    pub(crate) help: Option<String>,
    pub(crate) origin: Origin,
}

/// A part of the text, and its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextLabel {
    pub(crate) at: Range<usize>,
    pub(crate) text: Cow<'static, str>,
}

/// How a mistake is related to text that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is an independent mistake.
    Own,
    /// It may only be a consequence of unreadable text around it.
    MayFollow,
    /// It says that a part of the text could not be read.
    Unread,
}

impl Mistake {
    pub(crate) fn error(code: &'static str, at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            label: TextLabel { at, text: Cow::Borrowed("here") },
            second: None,
            help: None,
            origin: Origin::Own,
        }
    }

    /// Creates a warning. A definition with warnings still works.
    pub(crate) fn warning(code: &'static str, at: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, at, message) }
    }

    /// Sets the label at the place of the mistake. It is "here" by default.
    pub(crate) fn label(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.label.text = text.into();
        self
    }

    pub(crate) fn second(mut self, at: Option<Range<usize>>, text: &'static str) -> Self {
        self.second = at.map(|at| TextLabel { at, text: text.into() });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the help text to the name that was probably meant, if there is one.
    pub(crate) fn meant(mut self, nearest: Option<String>) -> Self {
        if let Some(nearest) = nearest {
            self.help = Some(format!("did you mean `{nearest}`?"));
        }
        self
    }

    pub(crate) fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Returns the mistake as an error.
    pub(crate) fn refuse<O>(self) -> Result<O, Box<Self>> {
        Err(Box::new(self))
    }

    /// Returns the mistake with its places converted by `to`.
    pub(crate) fn moved(mut self, to: impl Fn(Range<usize>) -> Range<usize>) -> Self {
        for label in iter::once(&mut self.label).chain(&mut self.second) {
            label.at = to(label.at.clone());
        }
        self
    }

    /// Returns the mistake with its places limited to a text of this length, in bytes. For a string that is not closed, the
    /// parser may return a place after the end of the file.
    pub(crate) fn within(self, length: usize) -> Self {
        self.moved(|at| at.start.min(length)..at.end.clamp(at.start.min(length), length))
    }

    /// Returns the mistake in a form that can be shown. Its texts may contain long names or control characters.
    pub(crate) fn shown(mut self) -> Self {
        for text in iter::once(&mut self.message).chain(&mut self.help) {
            if let Some(fit) = fit(text) {
                *text = fit;
            }
        }
        for label in iter::once(&mut self.label).chain(&mut self.second) {
            if let Some(fit) = fit(&label.text) {
                label.text = fit.into();
            }
        }
        self
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }
}

/// The longest name that is shown in full, in characters.
const LONGEST_NAME: usize = 80;

/// The longest sentence that is shown in full, in characters.
const LONGEST_TEXT: usize = 1000;

/// Returns the text in a form that can be shown: long names and texts are shortened, and control characters are escaped.
/// `None` if the text is short and can be shown as it is.
fn fit(text: &str) -> Option<String> {
    if text.len() <= LONGEST_NAME {
        return match shown(text, LONGEST_NAME) {
            Cow::Borrowed(_) => None,
            Cow::Owned(shown) => Some(shown),
        };
    }
    // Names are between backticks.
    let parts =
        text.split('`').enumerate().map(|(i, part)| shown(part, if i % 2 == 1 { LONGEST_NAME } else { LONGEST_TEXT }));
    let fit = parts.collect::<Vec<_>>().join("`");
    let end = fit.char_indices().nth(LONGEST_TEXT).map(|(end, _)| end);
    Some(match end {
        Some(end) => format!("{}…", &fit[..end]),
        None => fit,
    })
}

/// Returns a text with the first few names of a list.
pub(crate) fn listed(names: &[&str]) -> String {
    shown::listed(names.iter().map(|name| format!("`{name}`")), MOST_LISTED)
}
