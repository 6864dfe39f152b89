//! Where the files are that a definition names: in its folder, or already read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::Files;
use super::folder::read_named;
use super::library::Library;

/// Where the files are that a definition names.
#[derive(Clone, Debug)]
pub(crate) enum FilesBeside {
    Folder(PathBuf),
    Read(Arc<Files>),
}

impl FilesBeside {
    /// The folder of a file, if it has one.
    pub(crate) fn file(path: &Path) -> Option<Self> {
        path.parent().map(|folder| Self::Folder(folder.into()))
    }

    /// The text of a file, by its path from the definition's folder.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        match self {
            Self::Folder(folder) => read_named(folder, path),
            Self::Read(files) => files.read(path),
        }
    }

    /// The folder, as it is shown.
    #[cfg(feature = "script")]
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder,
            Self::Read(files) => files.folder(),
        }
    }
}

impl Library {
    /// What a text links to.
    pub(crate) fn of(text: &str, beside: Option<&FilesBeside>) -> Self {
        Self::with_open(text, beside, &|_| None)
    }

    /// As [`of`](Self::of), where an editor has some of the files open: their texts by their paths from the folder.
    pub(crate) fn with_open(text: &str, beside: Option<&FilesBeside>, open: &dyn Fn(&Path) -> Option<String>) -> Self {
        let Some(beside) = beside else { return Self::default() };
        Self::with(text, &|path| open(path).map_or_else(|| beside.read(path), Ok))
    }
}
