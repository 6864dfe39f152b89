//! The folder of the studio: its definition files, and the only code that reads and writes them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::hash::hash;
use crate::shown::escaped;
use crate::whole_file;

/// Longer files are not definitions, and no longer text is saved. In bytes.
pub(super) const LONGEST: usize = 4 << 20;
/// Deeper folders are not searched, and in all not more entries of folders are looked at.
const DEEPEST: usize = 8;
const MOST_ENTRIES: usize = 20_000;

pub(super) struct Folder {
    root: PathBuf,
    /// The only file that is listed, if the user has named one.
    only: Option<String>,
    /// The files that the page has created, which are listed before they look like definitions.
    created: Mutex<BTreeSet<String>>,
    /// Held while a file is compared and replaced.
    saving: Mutex<()>,
}

/// A text with its version.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) hash: String,
}

/// Why a file is not saved.
#[derive(Debug)]
pub(super) enum NotSaved {
    /// The file has another text than the one with which the edit began.
    Changed,
    Failed(String),
}

impl Folder {
    /// Opens a folder, or the folder of a file.
    pub(super) fn new(path: &Path) -> Result<Self, String> {
        let named = |why: std::io::Error| format!("{}: {why}", path.display());
        let whole = fs::canonicalize(path).map_err(named)?;
        if whole.is_dir() {
            return Ok(Self { root: whole, only: None, created: Mutex::default(), saving: Mutex::default() });
        }
        let (Some(root), Some(name)) = (whole.parent(), whole.file_name().and_then(OsStr::to_str)) else {
            return Err(format!("{}: neither a file nor a folder", path.display()));
        };
        Ok(Self { root: root.into(), only: Some(name.into()), created: Mutex::default(), saving: Mutex::default() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the definition files, by their paths from the folder, with `/` between the parts.
    pub(super) fn files(&self) -> Vec<String> {
        if let Some(only) = &self.only {
            return vec![only.clone()];
        }
        let mut files = Vec::new();
        let created = self.created.lock().unwrap_or_else(PoisonError::into_inner);
        self.search(&mut |path, name| {
            let is_toml = Path::new(name).extension() == Some(OsStr::new("toml"));
            if is_toml && (created.contains(name) || is_definition(path)) && self.resolve(name).is_ok() {
                files.push(name.to_owned());
            }
        });
        files.sort();
        files
    }

    /// Calls a function with each file that the picture of a machine can depend on: its path, and its name from the folder.
    pub(super) fn search(&self, found: &mut impl FnMut(&Path, &str)) {
        self.search_in(&self.root, 0, &mut 0, found);
    }

    fn search_in(&self, folder: &Path, depth: usize, seen: &mut usize, found: &mut impl FnMut(&Path, &str)) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut entries: Vec<_> = entries.take(MOST_ENTRIES - *seen).filter_map(Result::ok).collect();
        *seen += entries.len();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            if is_left_out(&name) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => self.search_in(&path, depth + 1, seen, found),
                Ok(kind) if !kind.is_dir() && has_extension(&path) => {
                    let parts = path.strip_prefix(&self.root).ok().map(|path| path.components().map(part).collect());
                    let parts: Option<Vec<_>> = parts;
                    found(&path, &parts.unwrap_or_default().join("/"));
                }
                _ => {}
            }
        }
    }

    /// Returns the path of a file in the folder. Every other path is refused: those that lead out of it, also by a link.
    pub(super) fn resolve(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.within(name)?;
        let whole = fs::canonicalize(&path).map_err(|why| format!("{name}: {why}"))?;
        let is_whole_inside = whole.starts_with(&self.root) && whole.is_file();
        if is_whole_inside { Ok(path) } else { Err(outside(name)) }
    }

    /// Returns the path of a file in TOML that need not exist, if no `..` leads out of the folder.
    fn within(&self, name: &str) -> Result<PathBuf, String> {
        let path = Path::new(name);
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || name.is_empty() || path.extension() != Some(OsStr::new("toml")) {
            return Err(outside(name));
        }
        Ok(self.root.join(path))
    }

    /// Creates an empty file, in a folder that exists.
    pub(super) fn create(&self, name: &str) -> Result<(), String> {
        if let Some(only) = &self.only {
            return Err(format!("the studio shows only {only}: start it with the folder"));
        }
        if Path::new(name).extension() != Some(OsStr::new("toml")) {
            return Err(format!("the name of a definition ends in `.toml`, such as `{name}.toml`"));
        }
        let path = self.within(name)?;
        if name.contains(char::is_control) || Path::new(name).iter().any(is_left_out) {
            return Err(format!("the studio would not list `{}`: choose another name", escaped(name)));
        }
        let failed = |why: std::io::Error| format!("{name}: {why}");
        let around = fs::canonicalize(path.parent().unwrap_or(&self.root)).map_err(failed)?;
        if !around.starts_with(&self.root) {
            return Err(outside(name));
        }
        fs::File::create_new(&path).map_err(failed)?;
        self.created.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(())
    }

    pub(super) fn read(&self, name: &str) -> Result<Text, String> {
        let bytes = fs::read(self.resolve(name)?).map_err(|why| format!("{name}: {why}"))?;
        let hash = hash(&bytes);
        let text = String::from_utf8(bytes).map_err(|why| format!("{name}: {why}"))?;
        Ok(Text { text, hash })
    }

    /// Replaces a file, if it still has the text of this version. Returns the version of the new text.
    pub(super) fn save(&self, name: &str, text: &str, before: &str) -> Result<String, NotSaved> {
        let path = self.resolve(name).map_err(NotSaved::Failed)?;
        let failed = |why: std::io::Error| NotSaved::Failed(format!("{name}: {why}"));
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        if hash(&fs::read(&path).map_err(failed)?) != before {
            return Err(NotSaved::Changed);
        }
        whole_file::write(&path, text).map_err(failed)?;
        Ok(hash(text.as_bytes()))
    }

    /// Adds a text at the end of a file beside a definition, which is created if it does not exist.
    pub(super) fn append(&self, beside: &str, name: &str, text: &str) -> Result<(), String> {
        let path = self.resolve(beside)?.with_file_name(name);
        if path.is_symlink() && !fs::canonicalize(&path).is_ok_and(|whole| whole.starts_with(&self.root)) {
            return Err(outside(name));
        }
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match fs::read_to_string(&path) {
            Ok(before) => before,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(why) => return Err(format!("{name}: {why}")),
        };
        whole_file::write(&path, &(before + text)).map_err(|why| format!("{name}: {why}"))
    }
}

fn outside(name: &str) -> String {
    format!("`{name}` is not in the folder of the studio")
}

fn part(part: Component<'_>) -> String {
    part.as_os_str().to_string_lossy().into_owned()
}

/// Returns whether files with this name, or in a folder with it, are not listed: they are hidden, or built.
fn is_left_out(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with('.') || name == "target" || name == "node_modules"
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml" || extension == "rhai")
}

/// Returns whether a file looks like a definition. Other files in TOML, such as a manifest, are not listed.
fn is_definition(path: &Path) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|about| usize::try_from(about.len()).is_ok_and(|long| long <= LONGEST));
    let text = if is_short { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    match toml::from_str::<toml::Table>(&text) {
        Ok(table) => ["states", "machines"].iter().any(|key| table.get(*key).is_some_and(toml::Value::is_table)),
        // A definition with a mistake in its syntax must stay in the list.
        Err(_) => text.lines().any(|line| line.starts_with("[states.") || line.starts_with("[machines.")),
    }
}
