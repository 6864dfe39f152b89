//! The first stage of reading a definition: converts a file's bytes to text.

use std::sync::Arc;

use super::problems::{Findings, Mistake, Problems};
use super::source::Source;

/// Converts a file's bytes to text. Fails if they are not UTF-8.
pub(crate) fn text_of<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Problems> {
    std::str::from_utf8(bytes).map_err(|error| {
        // The report shows the text with replacement characters, and marks the first of them.
        let shown = String::from_utf8_lossy(bytes);
        let start = error.valid_up_to();
        let at = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
        let mut findings = Findings::new(Arc::new(Source::new(file, &shown)));
        Mistake::error("not-utf8", at, "the file is not UTF-8 text")
            .label("the first byte that is not")
            .help("save the file as UTF-8")
            .report(&mut findings);
        findings.into_problems()
    })
}
