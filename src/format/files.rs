//! A definition's file and the files that it names, all of them read by the game.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::draft::document::Document;
use super::draft::tree::{Table, TreeValue};
use super::folder::{self, LONGEST};
use super::library::{Library, MOST_FILES, script_of};
use super::outline::Outline;
use super::problems::Problems;
use super::text::text_of;

/// The file of a definition and the scripts and linked files that it names, read by the game itself: from an archive, over the
/// network, or from the file system of an engine.
///
/// [`missing`](Self::missing) returns the files that the game still has to read. It leaves out names that lead out of the
/// folder of the file, because they are mistakes in the definition.
///
/// # Examples
///
/// ```
/// use std::path::PathBuf;
///
/// use demeanor::Owner;
/// use demeanor::definition::{Definitions, Files, Vocabulary};
/// struct Guard;
/// impl Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// // Reads a file from the game's archive.
/// let read = |path: &str| match path {
///     "guard.fsm.toml" => Ok("initial = 'patrol'\nstates.patrol.machine = 'rounds/short.fsm.toml'\n"),
///     "rounds/short.fsm.toml" => Ok("initial = 'walk'\nstates.walk.exits = [{ to = 'walk', after = 9 }]\n"),
///     _ => Err("there is no such file"),
/// };
///
/// let mut files = Files::new("guard.fsm.toml", read("guard.fsm.toml")?);
/// assert_eq!(files.missing(), [PathBuf::from("rounds/short.fsm.toml")]);
/// loop {
///     let missing = files.missing();
///     if missing.is_empty() {
///         break;
///     }
///     for path in missing {
///         let text = read(path.to_str().unwrap());
///         files.insert(path, text);
///     }
/// }
/// let guards = Definitions::from_files(files, &Vocabulary::<Guard>::new())?;
/// assert_eq!(guards.first().initial().name(), "patrol.walk");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Files {
    name: String,
    bytes: Vec<u8>,
    /// The text of each file, or the reason why it could not be read, by the path relative to the folder of the definition.
    named: BTreeMap<PathBuf, Result<String, String>>,
}

impl Files {
    /// Creates the files of a definition with the definition's own file. `name` is its path for reports.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), named: BTreeMap::new() }
    }

    /// Returns the path of the definition's own file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the files that the game still has to [insert](Self::insert): the files that the definition and its linked files
    /// name, as paths relative to the folder of the definition. An inserted file may name more files.
    ///
    /// They include scripts whose text is in the vocabulary, although the game need not insert these.
    #[must_use]
    pub fn missing(&self) -> Vec<PathBuf> {
        if self.named.len() >= MOST_FILES {
            return Vec::new();
        }
        let Ok(text) = text_of(&self.name, &self.bytes) else { return Vec::new() };
        let linked = Library::with(text, &|path| self.read(path));
        let texts = linked.texts().chain([(Path::new(""), text)]);
        let scripts = texts.flat_map(|(file, text)| scripts(text).into_iter().map(|script| script_of(file, &script)));
        let named = linked.paths().cloned().chain(scripts.filter_map(|script| within(&script)));
        let mut missing: Vec<PathBuf> = named.filter(|path| !self.named.contains_key(path)).collect();
        missing.sort();
        missing.dedup();
        missing
    }

    /// Adds one of the files by its path relative to the folder of the definition: its bytes, or the reason why it cannot be
    /// read.
    ///
    /// A file that is not text, or that is longer than 10 MB, is treated like a file that cannot be read.
    pub fn insert(&mut self, path: impl Into<PathBuf>, read: Result<impl Into<Vec<u8>>, impl fmt::Display>) {
        let text = match read.map(Into::into) {
            Ok(bytes) if bytes.len() as u64 > LONGEST => Err(folder::is_too_long()),
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()),
            Err(why) => Err(why.to_string()),
        };
        self.named.insert(path.into(), text);
    }

    /// Returns the names of the machines in the order of the file. If there is a machine outside of `[machines]`, it comes first,
    /// with an empty name.
    ///
    /// # Errors
    ///
    /// When the file is not UTF-8 text, or cannot be read as TOML. The error lists all mistakes that can be found without a
    /// vocabulary.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Files;
    ///
    /// let files = Files::new("creatures.fsm.toml", "
    ///     [machines.imp]
    ///     initial = 'idle'
    ///     states.idle.final = true
    ///     [machines.baron]
    ///     like = 'imp'
    /// ");
    /// assert_eq!(files.machines()?, ["imp", "baron"]);
    ///
    /// let files = Files::new("guard.fsm.toml", "initial = 'patrol");
    /// assert!(files.machines().unwrap_err().to_string().starts_with("guard.fsm.toml:1:"));
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn machines(&self) -> Result<Vec<String>, Problems> {
        let text = self.text()?;
        let document = Document::read(text, true);
        if !document.is_right() {
            Outline::parse_all(&self.name, text, None)?;
        }
        let table = document.table;
        let machines = table.get("machines").and_then(|machines| machines.get_ref().as_table());
        let machines = machines.into_iter().flat_map(Table::in_order).map(|(name, _)| name.get_ref().to_string());
        let beside = table.contains_key("states").then(String::new);
        Ok(beside.into_iter().chain(machines).collect())
    }

    pub(crate) fn text(&self) -> Result<&str, Problems> {
        text_of(&self.name, &self.bytes)
    }

    /// Returns the file's folder, for reports.
    #[cfg(feature = "script")]
    pub(crate) fn folder(&self) -> &Path {
        Path::new(&self.name).parent().unwrap_or(Path::new(""))
    }

    /// Returns the text of a file that the definition names.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        let path = within(path).ok_or_else(folder::leads_out)?;
        match self.named.get(&path) {
            Some(text) => text.clone(),
            None => Err("it was not read".into()),
        }
    }
}

/// Returns the path without `.` and `..`. `None` if it leads out of the folder in which it begins.
fn within(path: &Path) -> Option<PathBuf> {
    let mut within = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => within.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !within.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!within.as_os_str().is_empty()).then_some(within)
}

/// Returns the scripts that a text names.
fn scripts(text: &str) -> Vec<String> {
    let mut scripts = Vec::new();
    // Most files name no script. For these, the text is not parsed a second time.
    if text.contains("script") {
        scripts_in(&TreeValue::Table(Document::read(text, true).table), &mut scripts);
    }
    scripts
}

fn scripts_in(value: &TreeValue<'_>, scripts: &mut Vec<String>) {
    match value {
        TreeValue::Table(table) => {
            for (key, value) in table.iter() {
                match value.get_ref() {
                    TreeValue::String(script) if key.get_ref() == "script" => scripts.push(script.to_string()),
                    value => scripts_in(value, scripts),
                }
            }
        }
        TreeValue::Array(values) => values.iter().for_each(|value| scripts_in(value.get_ref(), scripts)),
        _ => {}
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("name", &self.name)
            .field("named", &self.named.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
