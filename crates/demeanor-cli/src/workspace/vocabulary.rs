//! The source of the game's words: the game itself, a file that is named, or a file beside the definition.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use demeanor::definition::Words;

/// The name of the file beside a definition, or in the folders around it.
const BESIDE: &str = "vocabulary.json";

/// The source of the words.
pub(crate) enum Origin {
    /// The game whose binary this is.
    Game(Arc<Words>),
    /// A file that an option or the editor names.
    File(PathBuf),
    /// A file beside the definition, if there is one.
    Beside,
}

/// The words that have been read, by file.
pub(crate) struct Vocabularies {
    pub(crate) origin: Origin,
    read: HashMap<PathBuf, Read>,
    /// Errors of reading that have not been reported yet.
    complaints: Vec<String>,
}

struct Read {
    modified: Option<SystemTime>,
    words: Option<Arc<Words>>,
}

impl Vocabularies {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, read: HashMap::new(), complaints: Vec::new() }
    }

    /// Returns the words for a definition in a folder of a workspace.
    pub(crate) fn of(&mut self, folder: Option<&Path>, roots: &[PathBuf]) -> Option<Arc<Words>> {
        let path = match &self.origin {
            Origin::Game(words) => return Some(Arc::clone(words)),
            Origin::File(path) => path.clone(),
            Origin::Beside => beside(folder?, roots)?,
        };
        let modified = fs::metadata(&path).and_then(|of| of.modified()).ok();
        if let Some(read) = self.read.get(&path).filter(|read| read.modified == modified) {
            return read.words.clone();
        }
        let words = match fs::read_to_string(&path).map_err(|error| error.to_string()) {
            Ok(json) => Words::from_json(&json)
                .map_err(|error| format!("it is not a vocabulary that a game has written: {error}")),
            Err(why) => Err(why),
        };
        let words = words.map(Arc::new).map_err(|why| self.complaints.push(format!("{}: {why}", path.display()))).ok();
        self.read.insert(path, Read { modified, words: words.clone() });
        words
    }

    /// Returns the errors of reading, each once.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }
}

/// Returns the nearest file, from the folder up to the folder of the workspace.
fn beside(folder: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let root = roots.iter().filter(|root| folder.starts_with(root)).max_by_key(|root| root.as_os_str().len());
    let outermost = root.map_or(folder, PathBuf::as_path);
    let folders = folder.ancestors().take_while(|around| around.starts_with(outermost));
    folders.map(|around| around.join(BESIDE)).find(|path| path.is_file())
}
