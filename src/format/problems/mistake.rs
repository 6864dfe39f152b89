//! A mistake as data: its code, how bad it is, what it says, where, and what to write instead.
//!
//! A mistake is built where it is found. What is done with it later (sorted, counted, drawn) does not depend on its kind.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use miette::Severity;

use super::findings::Findings;
use crate::shown::shown;

/// One mistake, before it is known in which file it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mistake {
    /// A short name for the kind of mistake, to look it up by.
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    /// What is wrong.
    pub(crate) message: String,
    /// Where it is, with a label.
    pub(crate) label: TextLabel,
    /// Another part of the text that it has to do with.
    pub(crate) second: Option<TextLabel>,
    /// What to write instead, if that is known.
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
    /// It is one by itself.
    Own,
    /// It may only follow from text around it that could not be read.
    MayFollow,
    /// It is text that could not be read.
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

    /// The definition works all the same.
    pub(crate) fn warning(code: &'static str, at: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, at, message) }
    }

    /// Says something else than "here" where it is.
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

    /// Names what was probably meant, if that is known.
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

    /// The mistake as the reason why something could not be read.
    pub(crate) fn refuse<O>(self) -> Result<O, Box<Self>> {
        Err(Box::new(self))
    }

    /// Adds the mistake to those of its file.
    pub(crate) fn report(self, findings: &mut Findings) {
        findings.add(self);
    }

    /// Adds the mistake to those of its file, and returns `None` for the part that is mistaken.
    pub(crate) fn fail<O>(self, findings: &mut Findings) -> Option<O> {
        findings.add(self);
        None
    }

    /// The same mistake elsewhere.
    pub(crate) fn moved(mut self, to: impl Fn(Range<usize>) -> Range<usize>) -> Self {
        for label in iter::once(&mut self.label).chain(&mut self.second) {
            label.at = to(label.at.clone());
        }
        self
    }

    /// The same mistake in a text of a length. The parser may say that an unclosed string ends behind the end of the file.
    pub(crate) fn within(mut self, length: usize) -> Self {
        for label in iter::once(&mut self.label).chain(&mut self.second) {
            let start = label.at.start.min(length);
            label.at = start..label.at.end.clamp(start, length);
        }
        self
    }

    /// The same mistake, fit to be shown: names in it may be long, or have control characters in them.
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

/// A text with its names cut off, if it cannot be shown as it is.
fn fit(text: &str) -> Option<String> {
    if text.len() <= LONGEST_NAME {
        return match shown(text, LONGEST_NAME) {
            Cow::Borrowed(_) => None,
            Cow::Owned(shown) => Some(shown),
        };
    }
    // Names stand between backticks.
    let parts =
        text.split('`').enumerate().map(|(i, part)| shown(part, if i % 2 == 1 { LONGEST_NAME } else { LONGEST_TEXT }));
    let fit = parts.collect::<Vec<_>>().join("`");
    let end = fit.char_indices().nth(LONGEST_TEXT).map(|(end, _)| end);
    Some(match end {
        Some(end) => format!("{}…", &fit[..end]),
        None => fit,
    })
}
