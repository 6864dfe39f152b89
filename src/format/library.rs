//! The texts of the files that a file links to. They are found before the file is read, because the drafts borrow from them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use super::draft::read::readable;
use super::draft::tree::Table;

/// The maximum number of files that one file may link to, directly or through other files.
pub(crate) const MOST_FILES: usize = 1000;

/// The files that a definition links to, directly or through other files, by their paths relative to the definition's folder.
#[derive(Default)]
pub(crate) struct Library<'r> {
    /// The text of each file, or the reason why it could not be read; and the readable part of the text, if a part of it is not
    /// readable.
    files: BTreeMap<PathBuf, (Result<String, String>, OnceLock<String>)>,
    /// The readable part of the file itself, if a part of it is not readable.
    rest: OnceLock<String>,
    read_script: Option<ReadScript<'r>>,
}

/// Returns the text of a script, or the reason why it cannot be read.
type ReadScript<'r> = Box<dyn Fn(&str) -> Result<String, String> + 'r>;

/// Whether a link names a file. If not, it names a machine of the same file.
pub(crate) fn is_file(link: &str) -> bool {
    is_toml(parts(link).0)
}

/// Splits a link into the file and the machine in it. The name of the file may contain a `#`, too.
pub(crate) fn parts(link: &str) -> (&str, Option<&str>) {
    let mut ends = link.match_indices('#').map(|(at, _)| at);
    match ends.find(|at| is_toml(&link[..*at])) {
        Some(end) => (&link[..end], Some(&link[end + 1..])),
        None => (link, None),
    }
}

/// Returns a path with `/` instead of `\`, if it contains any. Only Windows knows `\`.
pub(crate) fn with_slashes(path: &str) -> Option<String> {
    path.contains('\\').then(|| path.replace('\\', "/"))
}

fn is_toml(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

impl<'r> Library<'r> {
    /// Reads the files that a text links to, directly or through other files. `read` returns the text of the file at a path
    /// relative to the definition's folder.
    pub(crate) fn with(text: &str, read: &dyn Fn(&Path) -> Result<String, String>) -> Self {
        let mut library = Self::default();
        let mut waiting: Vec<PathBuf> = paths(Path::new(""), text);
        while let Some(path) = waiting.pop() {
            if library.files.contains_key(&path) || library.files.len() == MOST_FILES {
                continue;
            }
            let text = read(&path);
            if let Ok(text) = &text {
                waiting.extend(paths(&path, text));
            }
            library.files.insert(path, (text, OnceLock::new()));
        }
        library
    }

    /// Adds the scripts. `read` returns the text of a script.
    pub(crate) fn with_scripts(self, read: impl Fn(&str) -> Result<String, String> + 'r) -> Self {
        Self { read_script: Some(Box::new(read)), ..self }
    }

    /// Returns the text of a script.
    #[cfg_attr(not(feature = "script"), expect(dead_code, reason = "then there are no scripts"))]
    pub(crate) fn script(&self, name: &str) -> Result<String, String> {
        self.read_script.as_ref().ok_or("there is no folder to look for it in")?(name)
    }

    /// Returns the paths of the files relative to the folder, including files without a text.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.keys()
    }

    /// Returns the paths and the texts of the files that could be read.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().filter_map(|(path, (text, _))| Some((path.as_path(), text.as_deref().ok()?)))
    }

    pub(crate) fn rest(&self) -> &OnceLock<String> {
        &self.rest
    }

    /// Returns the path and the text of a file to which the file `from` links, and where its readable part is kept.
    pub(crate) fn find(&self, from: &Path, file: &str) -> Result<(PathBuf, &str, &OnceLock<String>), String> {
        let path = path_of(from, file)?;
        match self.files.get(&path) {
            Some((Ok(text), rest)) => Ok((path, text, rest)),
            Some((Err(why), _)) => Err(why.clone()),
            None => Err("there is no folder to look for it in, or there are too many files".into()),
        }
    }
}

/// Returns the path of the linked `file` relative to the folder of the definition. `from` is the file with the link.
fn path_of(from: &Path, file: &str) -> Result<PathBuf, String> {
    let mut path = from.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => return Err("a linked file lies in the definition's folder, or in one below it".into()),
        }
    }
    Ok(path)
}

/// Returns the path of a script relative to the folder of the definition. `from` is the file that names it.
pub(crate) fn script_of(from: &Path, script: &str) -> PathBuf {
    from.parent().unwrap_or(Path::new("")).join(script)
}

/// Returns the paths, relative to the definition's folder, of the files to which the text of the file `from` links directly.
fn paths(from: &Path, text: &str) -> Vec<PathBuf> {
    // Most files link to no other file. For these, the text is not parsed a second time.
    if !text.contains("machine") {
        return Vec::new();
    }
    let rest = OnceLock::new();
    let file = &readable(text, &rest);
    let machines = file.get("machines").and_then(|machines| machines.get_ref().as_table());
    let machines = machines.into_iter().flat_map(Table::values).filter_map(|one| one.get_ref().as_table());
    // States may be written in the tables of their parents.
    let mut waiting: Vec<_> = [file].into_iter().chain(machines).collect();
    let mut links = Vec::new();
    while let Some(table) = waiting.pop() {
        let states = table.get("states").and_then(|states| states.get_ref().as_table());
        for state in states.into_iter().flat_map(Table::values).filter_map(|state| state.get_ref().as_table()) {
            links.extend(state.get("machine").and_then(|machine| machine.get_ref().as_str()));
            waiting.push(state);
        }
    }
    links.into_iter().filter(|link| is_file(link)).filter_map(|link| path_of(from, parts(link).0).ok()).collect()
}
