//! A log to which all owners of a test write.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// The events, in their order.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trace(pub(crate) Vec<String>);

impl Deref for Trace {
    type Target = Vec<String>;

    fn deref(&self) -> &Vec<String> {
        &self.0
    }
}

impl DerefMut for Trace {
    fn deref_mut(&mut self) -> &mut Vec<String> {
        &mut self.0
    }
}

/// Semicolons and line breaks separate the steps of a text.
impl PartialEq<str> for Trace {
    fn eq(&self, text: &str) -> bool {
        text.split([';', '\n']).map(str::trim).filter(|step| !step.is_empty()).eq(self.iter())
    }
}

impl PartialEq<&str> for Trace {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl PartialEq<[&str]> for Trace {
    fn eq(&self, steps: &[&str]) -> bool {
        self.0 == *steps
    }
}

impl<const N: usize> PartialEq<[&str; N]> for Trace {
    fn eq(&self, steps: &[&str; N]) -> bool {
        self.0 == *steps
    }
}

impl<const N: usize> PartialEq<[&str; N]> for &Trace {
    fn eq(&self, steps: &[&str; N]) -> bool {
        **self == *steps
    }
}

impl IntoIterator for Trace {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.join("; "), f)
    }
}

/// The events of all owners, and the time. This is their context.
#[derive(Clone, Default, Debug, PartialEq)]
pub(crate) struct Log {
    pub(crate) lines: Trace,
    /// The time in seconds.
    pub(crate) now: f64,
}

impl Log {
    pub(crate) fn at(now: f64) -> Self {
        Self { lines: Trace::default(), now }
    }

    pub(crate) fn note(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}
