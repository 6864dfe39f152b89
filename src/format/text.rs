//! The first stage of reading a definition: converts a file's bytes to text.

use std::path::Path;
use std::sync::Arc;

use super::folder::read_definition;
use super::problems::load_error::LoadError;
use super::problems::{Findings, Mistake, Problems};
use super::source::Source;

/// Returns the text of a definition's own file.
pub(crate) fn text_at(path: &Path) -> Result<String, LoadError> {
    let bytes = read_definition(path).map_err(|error| LoadError::Io { path: path.into(), error })?;
    Ok(text_of(&path.display().to_string(), &bytes)?.to_owned())
}

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
