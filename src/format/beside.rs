//! The place of the files that a definition names: its folder, or files that the game has already read.

#[cfg(feature = "script")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::Files;
use super::folder::read_named;
use super::library::Library;

/// The place of the files that a definition names.
#[derive(Clone, Debug)]
pub(crate) enum FilesBeside {
    Folder(PathBuf),
    Read(Arc<Files>),
}

impl FilesBeside {
    /// Returns the folder of a file, if it has one.
    pub(crate) fn file(path: &Path) -> Option<Self> {
        path.parent().map(|folder| Self::Folder(folder.into()))
    }

    /// Returns the text of a file by its path relative to the definition's folder.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        match self {
            Self::Folder(folder) => read_named(folder, path),
            Self::Read(files) => files.read(path),
        }
    }

    /// Returns the folder, for reports.
    #[cfg(feature = "script")]
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder,
            Self::Read(files) => files.folder(),
        }
    }
}

#[cfg(feature = "script")]
/// Returns the text of a script: one of the game's `texts` or, if it has none, the text of a file in the definition's
/// folder. The error says why there is no text.
pub(crate) fn script_text(
    texts: &BTreeMap<String, String>,
    file: &str,
    beside: Option<&FilesBeside>,
) -> Result<String, String> {
    if let Some(text) = texts.get(file) {
        return Ok(text.clone());
    }
    let beside = beside.ok_or("it is not offered by the game, and there is no file to look beside")?;
    beside.read(Path::new(file))
}

impl Library<'_> {
    /// Reads the files that a text links to, directly or through other files.
    pub(crate) fn of(text: &str, beside: Option<&FilesBeside>) -> Self {
        Self::with_open(text, beside, &|_| None)
    }

    /// Like [`of`](Self::of), for an editor. `open` returns the text of a file that the editor has open, by its path relative
    /// to the definition's folder.
    pub(crate) fn with_open(text: &str, beside: Option<&FilesBeside>, open: &dyn Fn(&Path) -> Option<String>) -> Self {
        let Some(beside) = beside else { return Self::default() };
        Self::with(text, &|path| open(path).map_or_else(|| beside.read(path), Ok))
    }
}
