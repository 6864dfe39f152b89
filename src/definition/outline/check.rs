//! From a file's text to its outline: reads it, resolves its names, and checks how its states are nested and connected.

use std::sync::Arc;

use super::super::draft::read;
use super::super::findings::Findings;
use super::super::problem::Problems;
use super::super::source::Source;
use super::super::text::text_of;
use super::super::words::Words;
use super::{Checked, Outline, hierarchy, reach, resolve};

impl Outline {
    /// Reads and checks a definition; `file` is its name in what is reported.
    ///
    /// Without words, what the game offers is not checked; [`unchecked`](Self::unchecked) lists what was taken on trust.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with it.
    pub fn parse(file: &str, text: &str, words: Option<&Words>) -> Result<Self, Problems> {
        Ok(check(file, text, words)?.outline)
    }

    /// As [`parse`](Self::parse), of bytes that may not be text.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with it; with bytes that are not UTF-8, only that.
    pub fn from_bytes(file: &str, bytes: &[u8], words: Option<&Words>) -> Result<Self, Problems> {
        Self::parse(file, text_of(file, bytes)?, words)
    }
}

/// Reads and checks a definition, with what its next stage needs of the text.
pub(crate) fn check<'i>(file: &str, text: &'i str, words: Option<&Words>) -> Result<Checked<'i>, Problems> {
    let mut findings = Findings::new(Arc::new(Source::new(file, text)));
    let draft = read::read(text, &mut findings);
    let Some(mut checked) = draft.and_then(|draft| resolve::resolve(draft, words, &mut findings)) else {
        return Err(findings.into_problems());
    };
    hierarchy::check(&checked.outline, &mut findings);
    if findings.errors() == 0 {
        reach::check(&checked.outline, &mut findings);
    }
    checked.outline.warnings = findings.finish()?;
    Ok(checked)
}
