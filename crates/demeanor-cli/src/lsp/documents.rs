//! The documents that are open in the editor: how they change, and which of them need new diagnostics.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use demeanor::definition::Survey;
use lsp_types::{Location, TextDocumentContentChangeEvent, Url};

use super::position::{self, Encoding, Text};
use crate::workspace::{File, Workspace, scripts_of};

/// The length, in bytes, from which reading takes so long that a user would notice it while typing.
const LONG: usize = 200_000;

/// The workspace of an editor.
pub(super) struct Documents {
    pub(super) workspace: Workspace,
    encoding: Encoding,
    opened: BTreeMap<File, Opened>,
}

/// A document that is open in the editor.
struct Opened {
    uri: Url,
    version: i32,
    /// The last survey of an earlier text.
    before: Option<Arc<Survey>>,
    /// The last survey of an earlier text without an error.
    good: Option<Arc<Survey>>,
    /// Whether the diagnostics have to be sent again.
    is_due: bool,
}

impl Documents {
    pub(super) fn new(workspace: Workspace, encoding: Encoding) -> Self {
        Self { workspace, encoding, opened: BTreeMap::new() }
    }

    pub(super) fn open(&mut self, uri: Url, version: i32, text: String) {
        let file = file_of(&uri);
        self.workspace.open(file.clone(), text);
        let opened = Opened { uri, version, before: None, good: None, is_due: false };
        self.opened.insert(file.clone(), opened);
        self.changed(&file);
    }

    pub(super) fn change(&mut self, file: &File, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let Some(document) = self.workspace.documents.get_mut(file) else { return };
        let mut text = document.source.to_string();
        position::change(&mut text, changes, self.encoding);
        document.source = text.into();
        if let Some(opened) = self.opened.get_mut(file) {
            opened.version = version;
        }
        self.changed(file);
    }

    pub(super) fn close(&mut self, file: &File) {
        self.workspace.documents.remove(file);
        self.opened.remove(file);
        self.changed(file);
    }

    /// Marks all documents to be read again, because files that are not open have changed.
    pub(super) fn all_changed(&mut self) {
        for file in self.opened.keys().cloned().collect::<Vec<_>>() {
            self.forget(&file);
        }
    }

    /// Marks a document to be read again, and all documents that link to it or name it as a script.
    fn changed(&mut self, changed: &File) {
        let names = |file: &File, survey: &Survey| {
            let (Some(folder), Some(path)) = (file.folder(), changed.path()) else { return false };
            survey.links().iter().any(|link| folder.join(link) == path)
                || scripts_of(file, survey).any(|script| script == path)
        };
        let documents = self.workspace.documents.iter().filter(|(file, document)| {
            *file == changed || document.survey.as_ref().is_some_and(|survey| names(file, survey))
        });
        for file in documents.map(|(file, _)| file.clone()).collect::<Vec<_>>() {
            self.forget(&file);
        }
    }

    /// Marks a document to be read again when it is needed.
    fn forget(&mut self, file: &File) {
        let Some((document, opened)) = self.workspace.documents.get_mut(file).zip(self.opened.get_mut(file)) else {
            return;
        };
        opened.is_due = !file.is_script();
        let Some(survey) = document.survey.take() else { return };
        if survey.problems().errors() == 0 {
            opened.good = Some(Arc::clone(&survey));
        }
        opened.before = Some(survey);
    }

    /// Returns the documents whose diagnostics have to be sent.
    pub(super) fn due(&self) -> Vec<File> {
        self.opened.iter().filter(|(_, opened)| opened.is_due).map(|(file, _)| file.clone()).collect()
    }

    pub(super) fn said(&mut self, file: &File) {
        if let Some(opened) = self.opened.get_mut(file) {
            opened.is_due = false;
        }
    }

    /// Returns whether a document that is due is so long that the server should wait until the user stops typing.
    pub(super) fn has_long(&self) -> bool {
        self.opened.iter().any(|(file, opened)| opened.is_due && self.is_long(file))
    }

    fn is_long(&self, file: &File) -> bool {
        self.workspace.documents.get(file).is_some_and(|document| document.source.len() > LONG)
    }

    pub(super) fn is_open(&self, file: &File) -> bool {
        self.opened.contains_key(file)
    }

    pub(super) fn version(&self, file: &File) -> Option<i32> {
        self.opened.get(file).map(|opened| opened.version)
    }

    /// Returns the text of an open document.
    pub(super) fn source(&self, file: &File) -> Option<Text> {
        self.workspace.documents.get(file).map(|document| self.with_lines(&document.source))
    }

    /// Returns the current survey of a document. For a long document that has changed, returns an earlier survey if there is one.
    pub(super) fn latest(&mut self, file: &File) -> Option<Arc<Survey>> {
        let is_read = self.workspace.documents.get(file)?.survey.is_some();
        let before = self.opened.get(file)?.before.clone().filter(|_| !is_read && self.is_long(file));
        before.or_else(|| self.workspace.survey(file))
    }

    /// Returns the survey of the last text of a document that had no error.
    pub(super) fn good(&self, file: &File) -> Option<Arc<Survey>> {
        let current = self.workspace.documents.get(file)?.survey.as_ref();
        let is_good = |survey: &&Arc<Survey>| survey.problems().errors() == 0;
        current.filter(is_good).or(self.opened.get(file)?.good.as_ref()).cloned()
    }

    pub(super) fn with_lines(&self, text: &Arc<str>) -> Text {
        Text::new(Arc::clone(text), self.encoding)
    }

    /// Returns the file's URI in the editor's form.
    pub(super) fn uri(&self, file: &File) -> Option<Url> {
        match (self.opened.get(file), file) {
            (Some(opened), _) => Some(opened.uri.clone()),
            (None, File::Path(path)) => Url::from_file_path(path).ok(),
            (None, File::Named(name)) => name.parse().ok(),
        }
    }

    /// Returns the location of some bytes of a file whose text is known.
    pub(super) fn location(&self, file: &File, source: &Text, span: &std::ops::Range<usize>) -> Option<Location> {
        Some(Location::new(self.uri(file)?, source.range(span)))
    }
}

/// Returns the texts by the URI in the editor's form, for an edit of several files.
pub(super) fn by_uri<V>(documents: &Documents, by_file: impl IntoIterator<Item = (File, V)>) -> HashMap<Url, V> {
    by_file.into_iter().filter_map(|(file, of)| Some((documents.uri(&file)?, of))).collect()
}

/// Returns the file to which a URI of the editor refers.
pub(super) fn file_of(uri: &Url) -> File {
    path_of(uri).map_or_else(|| File::Named(uri.to_string()), File::Path)
}

/// Returns the path of a file on this computer.
pub(super) fn path_of(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() == "file" { uri.to_file_path().ok() } else { None }
}
