//! The documents that are open in the editor, and the results of reading them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use demeanor::definition::{Meaning, Mention, Outline, Survey, Words};
use lsp_types::{TextDocumentContentChangeEvent, Url};

use super::position::{Encoding, Lines};
use super::vocabulary::Vocabularies;

/// The longest file that is read although it is not open, in bytes.
const LONGEST: u64 = 10_000_000;

/// The length, in bytes, from which reading takes so long that a user would notice it while typing.
const LONG: usize = 200_000;

/// The largest number of files and folders that are searched for links to a file.
const MOST_LOOKED_AT: usize = 5000;

/// A file that is open in the editor.
pub(super) struct Document {
    pub(super) uri: Url,
    pub(super) version: i32,
    pub(super) source: Arc<Text>,
    /// The survey of the current text. `None` until this text is read.
    survey: Option<Arc<Survey>>,
    /// The last survey of an earlier text.
    before: Option<Arc<Survey>>,
    /// The last survey without an error.
    pub(super) good: Option<Arc<Survey>>,
    /// Whether the diagnostics have to be sent again.
    pub(super) is_due: bool,
}

/// A text, with its lines.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) lines: Lines,
}

/// The state of the editor's workspace.
pub(super) struct Workspace {
    pub(super) encoding: Encoding,
    pub(super) roots: Vec<PathBuf>,
    pub(super) vocabularies: Vocabularies,
    documents: HashMap<Url, Document>,
}

impl Text {
    pub(super) fn new(text: String, encoding: Encoding) -> Self {
        let lines = Lines::new(&text, encoding);
        Self { text, lines }
    }

    pub(super) fn range(&self, bytes: &std::ops::Range<usize>) -> lsp_types::Range {
        self.lines.range(&self.text, bytes)
    }

    pub(super) fn byte(&self, position: lsp_types::Position) -> usize {
        self.lines.byte(&self.text, position)
    }
}

impl Document {
    /// Marks it to be read again when it is needed.
    fn forget(&mut self) {
        self.before = self.survey.take().or(self.before.take());
    }

    fn is_long(&self) -> bool {
        self.source.text.len() > LONG
    }
}

impl Workspace {
    pub(super) fn new(encoding: Encoding, roots: Vec<PathBuf>, vocabularies: Vocabularies) -> Self {
        Self { encoding, roots, vocabularies, documents: HashMap::new() }
    }

    pub(super) fn open(&mut self, uri: &Url, version: i32, text: String) {
        let source = Arc::new(Text::new(text, self.encoding));
        let document =
            Document { uri: uri.clone(), version, source, survey: None, before: None, good: None, is_due: false };
        self.documents.insert(uri.clone(), document);
        self.changed(uri);
    }

    pub(super) fn change(&mut self, uri: &Url, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let encoding = self.encoding;
        let Some(document) = self.documents.get_mut(uri) else { return };
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let Text { text, lines } = &*document.source;
                    let bytes = lines.bytes(text, range);
                    let mut text = text.clone();
                    text.replace_range(bytes, &change.text);
                    text
                }
            };
            document.source = Arc::new(Text::new(text, encoding));
        }
        document.version = version;
        self.changed(uri);
    }

    pub(super) fn close(&mut self, uri: &Url) {
        self.documents.remove(uri);
        self.changed(uri);
    }

    /// Marks all documents to be read again, because files that are not open have changed.
    pub(super) fn all_changed(&mut self) {
        for document in self.documents.values_mut() {
            document.forget();
            document.is_due = !is_script(&document.uri);
        }
    }

    /// Marks a document to be read again, and all documents that link to it or name it as a script.
    fn changed(&mut self, uri: &Url) {
        let path = path_of(uri);
        for document in self.documents.values_mut() {
            let links = || {
                let (Some(path), Some(survey)) = (&path, &document.survey) else { return false };
                let own = path_of(&document.uri);
                let folder = own.as_deref().and_then(Path::parent);
                folder.is_some_and(|folder| {
                    survey.links().iter().any(|link| folder.join(link) == *path)
                        || scripts(survey).any(|script| folder.join(script) == *path)
                })
            };
            if document.uri == *uri || links() {
                document.forget();
                document.is_due = !is_script(&document.uri);
            }
        }
    }

    pub(super) fn document(&self, uri: &Url) -> Option<&Document> {
        self.documents.get(uri)
    }

    /// Returns the documents whose diagnostics have to be sent.
    pub(super) fn due(&self) -> Vec<Url> {
        let due = self.documents.values().filter(|document| document.is_due);
        let mut due: Vec<_> = due.map(|document| document.uri.clone()).collect();
        due.sort();
        due
    }

    pub(super) fn said(&mut self, uri: &Url) {
        if let Some(document) = self.documents.get_mut(uri) {
            document.is_due = false;
        }
    }

    /// Returns whether a document that is due is so long that the server should wait until the user stops typing.
    pub(super) fn is_long(&self) -> bool {
        self.documents.values().any(|document| document.is_due && document.is_long())
    }

    /// Returns the current survey of the document.
    pub(super) fn survey(&mut self, uri: &Url) -> Option<Arc<Survey>> {
        let document = self.documents.get(uri).filter(|document| !is_script(&document.uri))?;
        if let Some(survey) = &document.survey {
            return Some(Arc::clone(survey));
        }
        let source = Arc::clone(&document.source);
        let path = path_of(uri);
        let words = self.words(path.as_deref());
        let survey = Arc::new(self.read(uri, path.as_deref(), &source.text, words.as_deref(), &HashMap::new()));
        let document = self.documents.get_mut(uri)?;
        if survey.problems().iter().all(demeanor::definition::Problem::is_warning) {
            document.good = Some(Arc::clone(&survey));
        }
        document.survey = Some(Arc::clone(&survey));
        Some(survey)
    }

    /// Returns the current survey of the document; if it is long, a recent one.
    pub(super) fn latest(&mut self, uri: &Url) -> Option<Arc<Survey>> {
        let document = self.documents.get(uri)?;
        let before = document.before.as_ref().filter(|_| document.is_long() && document.survey.is_none());
        before.cloned().or_else(|| self.survey(uri))
    }

    /// Returns the words of the game for a file.
    pub(super) fn words(&mut self, path: Option<&Path>) -> Option<Arc<Words>> {
        self.vocabularies.of(path.and_then(Path::parent), &self.roots)
    }

    /// Reads a text; the texts in `instead` replace those of the files.
    pub(super) fn read(
        &self,
        uri: &Url,
        path: Option<&Path>,
        text: &str,
        words: Option<&Words>,
        instead: &HashMap<PathBuf, String>,
    ) -> Survey {
        let folder = path.and_then(Path::parent);
        let open = |link: &Path| {
            let link = folder?.join(link);
            instead.get(&link).cloned().or_else(|| Some(self.open_text(&link)?.text.clone()))
        };
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        Survey::of(&name.unwrap_or_else(|| uri.to_string()), text, folder, &open, words)
    }

    fn open_text(&self, path: &Path) -> Option<&Arc<Text>> {
        // An editor may write the same path differently.
        let is_it = |document: &&Document| path_of(&document.uri).is_some_and(|of| of == path);
        self.documents.values().find(is_it).map(|document| &document.source)
    }

    /// Returns the text of a file, open or not.
    pub(super) fn text(&self, path: &Path) -> Option<Arc<Text>> {
        if let Some(open) = self.open_text(path) {
            return Some(Arc::clone(open));
        }
        let about = fs::metadata(path).ok()?;
        if !about.is_file() || about.len() > LONGEST {
            return None;
        }
        Some(Arc::new(Text::new(fs::read_to_string(path).ok()?, self.encoding)))
    }

    /// Returns the file's URI in the editor's form.
    pub(super) fn uri(&self, path: &Path) -> Option<Url> {
        let open = self.documents.keys().find(|uri| path_of(uri).is_some_and(|of| of == path));
        open.cloned().or_else(|| Url::from_file_path(path).ok())
    }

    /// Returns the files of the workspace that may contain links: the open files, and the files in its folders.
    pub(super) fn files_with_links(&self) -> BTreeSet<PathBuf> {
        let mut found: BTreeSet<PathBuf> = self.documents.keys().filter_map(path_of).collect();
        let mut waiting: Vec<PathBuf> = self.roots.clone();
        let mut left = MOST_LOOKED_AT;
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if left == 0 {
                    return found;
                }
                left -= 1;
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                match entry.file_type() {
                    Ok(of)
                        if of.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) =>
                    {
                        waiting.push(path);
                    }
                    Ok(of) if of.is_file() && name.ends_with(".toml") => drop(found.insert(path)),
                    _ => {}
                }
            }
        }
        found
    }
}

/// Returns the path of a file on this computer.
pub(super) fn path_of(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() == "file" { uri.to_file_path().ok() } else { None }
}

/// Returns whether a document is a script, which is read with the definitions that name it.
pub(super) fn is_script(uri: &Url) -> bool {
    Path::new(uri.path()).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("rhai"))
}

/// Returns the names of a definition's scripts.
fn scripts(survey: &Survey) -> impl Iterator<Item = &str> {
    let mentions = survey.outlines().iter().flat_map(Outline::mentions);
    mentions.filter(|mention| *mention.meaning() == Meaning::Script).map(Mention::name)
}
