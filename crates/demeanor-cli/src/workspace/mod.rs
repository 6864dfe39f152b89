//! The definition files that belong together: the open documents, the files in some folders, and the results of reading them.

#[cfg_attr(not(feature = "lsp"), expect(dead_code, reason = "a part is for the language server"))]
mod occurrence;
mod rename;
#[cfg_attr(not(feature = "lsp"), expect(dead_code, reason = "a part is for the language server"))]
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use demeanor::definition::{Outline, Survey, Words};

#[cfg(feature = "lsp")]
pub(crate) use self::occurrence::{Site, occurrences, target};
pub(crate) use self::rename::{checked_name, in_quotes, renamed};
#[cfg(feature = "lsp")]
pub(crate) use self::rename::{in_condition, name_at, rename};
pub(crate) use self::vocabulary::{Origin, Vocabularies};

/// The longest file that is read although it is not open, in bytes.
const LONGEST: u64 = 10_000_000;

/// The largest number of files and folders in which files are searched for.
const MOST_LOOKED_AT: usize = 5000;

/// A file: its path, or the editor's name for it if it is not a file on this computer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum File {
    Path(PathBuf),
    #[cfg_attr(not(feature = "lsp"), expect(dead_code, reason = "only an editor has such files"))]
    Named(String),
}

/// An open file.
pub(crate) struct Document {
    pub(crate) source: Arc<str>,
    /// The survey of the current text. `None` until this text is read.
    pub(crate) survey: Option<Arc<Survey>>,
}

/// A file that has been read.
pub(crate) struct Read {
    pub(crate) source: Arc<str>,
    pub(crate) survey: Arc<Survey>,
}

/// The files that may name states of some files.
pub(crate) struct Related {
    pub(crate) files: BTreeMap<File, Read>,
    /// A file that may be one of them, but cannot be read.
    pub(crate) unread: Option<File>,
}

/// The open documents, and where the other files are.
pub(crate) struct Workspace {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) vocabularies: Vocabularies,
    pub(crate) documents: HashMap<File, Document>,
}

impl File {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Named(_) => None,
        }
    }

    /// Returns the name for reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::Named(name) => name.clone(),
        }
    }

    /// Returns the folder that contains the file.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.path().and_then(Path::parent)
    }

    /// Returns whether the file is a script, which is read with the definitions that name it.
    pub(crate) fn is_script(&self) -> bool {
        Path::new(&self.name()).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("rhai"))
    }
}

/// Returns the scripts that a definition and its linked files name.
pub(crate) fn scripts_of(file: &File, survey: &Survey) -> impl Iterator<Item = PathBuf> {
    let folder = file.folder().unwrap_or(Path::new(""));
    survey.outlines().iter().flat_map(Outline::scripts).map(|script| path_beside(folder, script))
}

/// Returns the path of a file that a definition in the folder names, without `.` and `..`: a script has only one path, however
/// definitions name it.
pub(crate) fn path_beside(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut whole = folder.to_owned();
    for part in path.as_ref().components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    whole
}

/// Whether a file that cannot be read as text may link to others. A file that is no definition is no reason for a report.
fn is_perhaps_definition(file: &File) -> bool {
    let bytes = file.path().map(fs::read);
    bytes.is_some_and(|bytes| bytes.map_or(true, |bytes| bytes.windows(7).any(|part| part == b"machine")))
}

impl Workspace {
    pub(crate) fn new(roots: Vec<PathBuf>, vocabularies: Vocabularies) -> Self {
        Self { roots, vocabularies, documents: HashMap::new() }
    }

    pub(crate) fn open(&mut self, file: File, text: String) {
        self.documents.insert(file, Document { source: text.into(), survey: None });
    }

    /// Returns the current survey of an open document.
    pub(crate) fn survey(&mut self, file: &File) -> Option<Arc<Survey>> {
        let document = self.documents.get(file).filter(|_| !file.is_script())?;
        if let Some(survey) = &document.survey {
            return Some(Arc::clone(survey));
        }
        let source = Arc::clone(&document.source);
        let words = self.words(file);
        let survey = Arc::new(self.read(file, &source, words.as_deref(), &HashMap::new()));
        self.documents.get_mut(file)?.survey = Some(Arc::clone(&survey));
        Some(survey)
    }

    /// Returns the words of the game for a file.
    pub(crate) fn words(&mut self, file: &File) -> Option<Arc<Words>> {
        self.vocabularies.of(file.folder(), &self.roots)
    }

    /// Reads a text; the texts in `instead` replace those of the files.
    pub(crate) fn read(
        &self,
        file: &File,
        text: &str,
        words: Option<&Words>,
        instead: &HashMap<File, String>,
    ) -> Survey {
        let folder = file.folder();
        let open = |link: &Path| {
            let link = File::Path(path_beside(folder?, link));
            let open = || Some(self.documents.get(&link)?.source.to_string());
            instead.get(&link).cloned().or_else(open)
        };
        Survey::of(&file.name(), text, folder, &open, words)
    }

    /// Returns the text of a file, open or not.
    pub(crate) fn text(&self, file: &File) -> Option<Arc<str>> {
        if let Some(open) = self.documents.get(file) {
            return Some(Arc::clone(&open.source));
        }
        let path = file.path()?;
        let about = fs::metadata(path).ok()?;
        if !about.is_file() || about.len() > LONGEST {
            return None;
        }
        Some(fs::read_to_string(path).ok()?.into())
    }

    /// Reads a file: its open text, or else its text on the disk.
    pub(crate) fn read_file(&mut self, file: &File) -> Option<Read> {
        let source = self.text(file)?;
        if self.documents.contains_key(file) {
            return Some(Read { source, survey: self.survey(file)? });
        }
        let words = self.words(file);
        let survey = Arc::new(self.read(file, &source, words.as_deref(), &HashMap::new()));
        Some(Read { source, survey })
    }

    /// Returns the files that may name states of these files: these files, the files that link to them, and the files that have a
    /// script in common with them.
    pub(crate) fn related(&mut self, files: &BTreeSet<File>) -> Related {
        let mut related = BTreeMap::new();
        let mut scripts = BTreeSet::new();
        let mut unread = None;
        for file in files {
            if let Some(read) = self.read_file(file) {
                scripts.extend(scripts_of(file, &read.survey));
                related.insert(file.clone(), read);
            }
        }
        for path in self.files_with_links() {
            let file = File::Path(path);
            if related.contains_key(&file) {
                continue;
            }
            let Some(text) = self.text(&file) else {
                unread = unread.or_else(|| Some(file).filter(is_perhaps_definition));
                continue;
            };
            // Most files have no links.
            let may_name = text.contains("machine") || !scripts.is_empty() && text.contains("script");
            let Some(read) = may_name.then(|| self.read_file(&file)).flatten() else { continue };
            let folder = file.folder().unwrap_or(Path::new(""));
            let has_link = read.survey.links().iter().any(|link| files.contains(&File::Path(folder.join(link))));
            if has_link || scripts_of(&file, &read.survey).any(|script| scripts.contains(&script)) {
                related.insert(file, read);
            }
        }
        Related { files: related, unread }
    }

    /// Returns the files that may contain links: the open files, and the files in the folders.
    fn files_with_links(&self) -> BTreeSet<PathBuf> {
        let open = self.documents.keys().filter_map(File::path);
        // An edit through a symbolic link would be made twice.
        let closed = files_below(&self.roots, "toml").into_iter().filter(|path| !path.is_symlink());
        open.map(Path::to_path_buf).chain(closed).collect()
    }
}

/// Returns the files with an extension in these folders and below them, nearest first. Leaves out hidden folders and folders of
/// built files.
pub(crate) fn files_below(folders: &[PathBuf], extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: VecDeque<PathBuf> = folders.iter().cloned().collect();
    let mut left = MOST_LOOKED_AT;
    while let Some(folder) = waiting.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if left == 0 {
                return found;
            }
            left -= 1;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            match entry.file_type() {
                Ok(of) if of.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) => {
                    waiting.push_back(path);
                }
                Ok(of) if !of.is_dir() && path.extension().is_some_and(|of| of == extension) => found.push(path),
                _ => {}
            }
        }
    }
    found
}
