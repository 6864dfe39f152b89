//! Names in a file.

use std::fmt;
use std::ops::Range;

/// A name in a file (of a value, a state, a behavior, a message or a script), and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// Two names are equal if their texts are equal, wherever they are written.
impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a name can be written without quotes.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(continues_name)
}

pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}
