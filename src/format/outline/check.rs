//! Reads a file's text, resolves its names, and checks how its states are nested and connected. The results are outlines.

#[cfg(feature = "script")]
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "script")]
use super::scripts;
use super::{Checked, Outline, hierarchy, reach, resolve};
use crate::format::beside::FilesBeside;
use crate::format::draft::read;
use crate::format::library::Library;
use crate::format::link::Linker;
use crate::format::problems::load_error::LoadError;
use crate::format::problems::{Findings, Problems};
use crate::format::source::Source;
use crate::format::text::{text_at, text_of};
use crate::format::words::Words;

impl Outline {
    /// Reads and checks a definition. `file` is its name in reports. If the file has several machines, it returns the first
    /// one.
    ///
    /// Without `words`, the words of the game are not checked. [`unchecked`](Self::unchecked) lists them.
    ///
    /// # Errors
    ///
    /// When the file has mistakes. The error lists all of them.
    pub fn parse(file: &str, text: &str, words: Option<&Words>) -> Result<Self, Problems> {
        // A file without a mistake has a machine.
        Ok(Self::parse_all(file, text, words)?.swap_remove(0))
    }

    /// Like [`parse`](Self::parse), for all machines of a file, in the order of the file.
    ///
    /// # Errors
    ///
    /// When the file has mistakes. The error lists all of them.
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

    /// Like [`parse_all`](Self::parse_all), from a file. Unlike `parse_all`, this function also reads the files that the file
    /// links to, from its folder.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes. The error then lists all of them.
    pub fn load_all(path: impl AsRef<Path>, words: Option<&Words>) -> Result<Vec<Self>, LoadError> {
        let text = text_at(path.as_ref())?;
        Ok(Self::parse_all_at(path, &text, words)?)
    }

    /// Like [`load_all`](Self::load_all), but with a text instead of the file's own: for example, with a text that has not been
    /// saved.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them.
    pub fn parse_all_at(path: impl AsRef<Path>, text: &str, words: Option<&Words>) -> Result<Vec<Self>, Problems> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let (mut outlines, _, findings) = checked_at(&file, text, path.parent(), &|_| None, words);
        with_warnings(outlines.iter_mut(), findings)?;
        Ok(outlines)
    }

    /// Like [`parse`](Self::parse), from bytes that may not be UTF-8 text.
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8, or when the text has mistakes. The error then lists all of them.
    pub fn from_bytes(file: &str, bytes: &[u8], words: Option<&Words>) -> Result<Self, Problems> {
        Self::parse(file, text_of(file, bytes)?, words)
    }
}

/// Reads and checks the machines of a file, in the order of the file. Besides the outlines, the results contain the parts of the
/// text that the next stage needs. Without an error, there is at least one machine.
pub(crate) fn check<'i>(
    file: &str,
    text: &'i str,
    library: &'i Library<'i>,
    words: Option<&Words>,
) -> Result<Vec<Checked<'i>>, Problems> {
    let (mut all, findings) = checked(file, text, library, words);
    with_warnings(all.iter_mut().map(|checked| &mut checked.outline), findings)?;
    Ok(all)
}

/// Returns the machines of a file, and the findings. Without an error, there is at least one machine.
fn checked<'i>(
    file: &str,
    text: &'i str,
    library: &'i Library<'i>,
    words: Option<&Words>,
) -> (Vec<Checked<'i>>, Findings) {
    let mut findings = Findings::new(Arc::new(Source::new(file, text)));
    let drafts = read::read(text, library.rest(), &mut findings);
    let drafts = Linker::new(library, words).link(drafts, &mut findings);
    let mut all = Vec::with_capacity(drafts.len());
    let mut common = resolve::Common::default();
    #[cfg(feature = "script")]
    let mut scripts = HashMap::new();
    for draft in drafts {
        #[cfg_attr(not(feature = "script"), expect(unused_mut, reason = "only the effects of scripts change it"))]
        let Some(mut checked) = resolve::resolve(draft, words, &mut common, &mut findings) else { continue };
        #[cfg(feature = "script")]
        if let Some(scopes) = &checked.scopes {
            checked.outline.read_scripts(scopes, library, words, &mut scripts);
        }
        hierarchy::check(&checked.outline, &mut findings);
        all.push(checked);
    }
    if findings.errors() == 0 {
        let in_file = reach::StatesInFile::of(all.iter().map(|checked| &checked.outline));
        for checked in &all {
            reach::check(&checked.outline, &in_file, &mut findings);
        }
    }
    (all, findings)
}

/// Gives the warnings of the whole file to each machine. If there are errors or no machines, returns all findings as an error.
fn with_warnings<'o>(outlines: impl Iterator<Item = &'o mut Outline>, findings: Findings) -> Result<(), Problems> {
    let mut outlines = outlines.peekable();
    if outlines.peek().is_none() {
        return Err(findings.into_problems());
    }
    let (warnings, unlisted) = findings.finish()?;
    let warnings: Arc<[_]> = warnings.into();
    for outline in outlines {
        outline.warnings = Arc::clone(&warnings);
        outline.unlisted_warnings = unlisted;
    }
    Ok(())
}

/// Reads as much of a file as possible. Returns its machines, the paths of the files that it links to, relative to the folder,
/// and the findings, including those in its scripts. Mistaken parts are left out of the machines. `open` returns the text of a
/// file that an editor has open; other files are read from the folder.
pub(crate) fn checked_at(
    file: &str,
    text: &str,
    folder: Option<&Path>,
    open: &dyn Fn(&Path) -> Option<String>,
    words: Option<&Words>,
) -> (Vec<Outline>, Vec<PathBuf>, Findings) {
    // The texts of scripts that the game adds are not known here.
    let is_of_game = |script: &str| words.is_some_and(|words| words.script_files.contains(script));
    let beside = folder.map(|folder| FilesBeside::Folder(folder.into()));
    let library = Library::with_open(text, beside.as_ref(), open).with_scripts(|script| match &beside {
        Some(beside) if !is_of_game(script) => open(script.as_ref()).map_or_else(|| beside.read(script.as_ref()), Ok),
        _ => Err("the game adds it".into()),
    });
    #[cfg_attr(not(feature = "script"), expect(unused_mut, reason = "only the check of scripts changes them"))]
    let (mut checked, mut findings) = checked(file, text, &library, words);
    #[cfg(feature = "script")]
    if let Some(folder) = folder {
        for checked in &mut checked {
            scripts::check(checked, folder, &library, words, &mut findings);
        }
    }
    let outlines = checked.into_iter().map(|checked| checked.outline).collect();
    (outlines, library.paths().cloned().collect(), findings)
}
