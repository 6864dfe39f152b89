//! A file's name and text, as problems point into it.

use miette::{NamedSource, SourceCode};

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

    /// What a report handler draws from.
    pub(crate) fn shown(&self) -> Option<&dyn SourceCode> {
        self.shown.as_ref().map(|shown| shown as &dyn SourceCode)
    }

    /// The text before a byte of it.
    pub(crate) fn before(&self, at: usize) -> &str {
        self.text.get(..at).unwrap_or(&self.text)
    }
}
