//! What the owners of a test write to, one after the other.

/// What happens to all owners, and the time: their context.
#[derive(Clone, Default, Debug, PartialEq)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    /// In seconds.
    pub(crate) now: f64,
}

impl Log {
    pub(crate) fn at(now: f64) -> Self {
        Self { lines: Vec::new(), now }
    }

    pub(crate) fn note(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}
