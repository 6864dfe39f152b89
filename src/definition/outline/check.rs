//! From a file's text to its outlines: reads it, resolves its names, and checks how its states are nested and connected.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::super::draft::read;
use super::super::findings::Findings;
use super::super::library::Library;
use super::super::link::Linker;
use super::super::load_error::LoadError;
use super::super::problem::Problems;
use super::super::source::Source;
use super::super::text::text_of;
use super::super::words::Words;
use super::{Checked, Outline, hierarchy, reach, resolve};

impl Outline {
    /// Reads and checks a definition; `file` is its name in what is reported. Of a file with several machines, it is the first
    /// one.
    ///
    /// Without words, what the game offers is not checked; [`unchecked`](Self::unchecked) lists what was taken on trust.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the file.
    pub fn parse(file: &str, text: &str, words: Option<&Words>) -> Result<Self, Problems> {
        let library = Library::default();
        // A file without a mistake has a machine.
        Ok(check(file, text, &library, words)?.swap_remove(0).outline)
    }

    /// As [`parse`](Self::parse), of all machines of a file, in its order.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the file.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "
    ///     [machines.imp]
    ///     initial = 'idle'
    ///     states.idle.final = true
    ///     [machines.baron]
    ///     like = 'imp'
    /// ";
    /// let outlines = Outline::parse_all("creatures.toml", file, None)?;
    /// let names: Vec<_> = outlines.iter().map(Outline::machine).collect();
    /// assert_eq!(names, [Some("imp"), Some("baron")]);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn parse_all(file: &str, text: &str, words: Option<&Words>) -> Result<Vec<Self>, Problems> {
        let library = Library::default();
        Ok(check(file, text, &library, words)?.into_iter().map(|checked| checked.outline).collect())
    }

    /// As [`parse_all`](Self::parse_all), of a file. Only here, the files that it links to are looked for beside it.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or with everything that is wrong with it.
    pub fn load_all(path: impl AsRef<Path>, words: Option<&Words>) -> Result<Vec<Self>, LoadError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| LoadError::Io { path: path.into(), error })?;
        let file = path.display().to_string();
        let text = text_of(&file, &bytes)?;
        let library = Library::of(text, path.parent());
        Ok(check(&file, text, &library, words)?.into_iter().map(|checked| checked.outline).collect())
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

/// Reads and checks the machines of a file, in its order, with what their next stage needs of the text. Without an error there
/// is at least one.
pub(crate) fn check<'i>(
    file: &str,
    text: &'i str,
    library: &'i Library,
    words: Option<&Words>,
) -> Result<Vec<Checked<'i>>, Problems> {
    let mut findings = Findings::new(Arc::new(Source::new(file, text)));
    let drafts = read::read(text, &mut findings);
    let drafts = Linker::new(library, words).link(drafts, &mut findings);
    let mut all = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let Some(checked) = resolve::resolve(draft, words, &mut findings) else { continue };
        hierarchy::check(&checked.outline, &mut findings);
        all.push(checked);
    }
    if findings.errors() == 0 {
        let used = reach::used(all.iter().map(|checked| &checked.outline));
        for checked in &all {
            reach::check(&checked.outline, &used, &mut findings);
        }
    }
    if all.is_empty() {
        return Err(findings.into_problems());
    }
    let warnings = findings.finish()?;
    for checked in &mut all {
        checked.outline.warnings.clone_from(&warnings);
    }
    Ok(all)
}
