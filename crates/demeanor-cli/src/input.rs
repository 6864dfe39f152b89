//! Input of the tool: a file, or standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str;

use demeanor::Owner;
use demeanor::definition::{Definitions, LoadError, Outline, Problems, Vocabulary, Words};

use crate::shown::listed;

/// The name of standard input on the command line.
const STANDARD: &str = "-";

/// The name of standard input in reports. Files that it names are looked for in the current folder.
const NAME: &str = "<stdin>";

/// The longest text that is read from standard input, in bytes.
pub(crate) const LONGEST: u64 = 1_000_000_000;

/// A definition file.
pub(crate) enum Input {
    File(PathBuf),
    Standard(Vec<u8>),
    /// A text that is read as if it were the text of a file, which need not exist.
    Text {
        path: PathBuf,
        text: String,
    },
}

impl Input {
    /// Opens an input. Standard input is read at once, and a file each time that its text is needed.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        if !is_standard(path) {
            return Ok(Self::File(path.into()));
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(LONGEST).read_to_end(&mut bytes);
        read.map(|_| Self::Standard(bytes)).map_err(|error| format!("standard input: {error}"))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) | Self::Text { path, .. } => path.display().to_string(),
            Self::Standard(_) => NAME.into(),
        }
    }

    /// Reads all machines.
    pub(crate) fn outlines(&self, words: Option<&Words>) -> Result<Result<Vec<Outline>, Problems>, String> {
        match self {
            Self::File(path) => loaded(Outline::load_all(path, words)),
            Self::Text { path, text } => Ok(Outline::parse_all_at(path, text, words)),
            Self::Standard(bytes) => Ok(match str::from_utf8(bytes) {
                Ok(text) => Outline::parse_all_at(NAME, text, words),
                Err(_) => Outline::from_bytes(NAME, bytes, words).map(|outline| vec![outline]),
            }),
        }
    }

    /// Returns the machine with the given name; without a name, the first.
    pub(crate) fn machine<'o>(&self, outlines: &'o [Outline], machine: Option<&str>) -> Result<&'o Outline, String> {
        let is_meant = |outline: &&Outline| machine.is_none() || outline.machine() == machine;
        outlines.iter().find(is_meant).ok_or_else(|| {
            let names: Vec<_> = outlines.iter().filter_map(Outline::machine).map(str::to_owned).collect();
            self.no_machine(machine, &names)
        })
    }

    /// Reads all machines, to run them.
    pub(crate) fn definitions<T: Owner>(
        &self,
        vocabulary: &Vocabulary<T>,
    ) -> Result<Result<Definitions<T>, Problems>, String> {
        match self {
            Self::File(path) => loaded(Definitions::load(path, vocabulary)),
            Self::Text { path, text } => Ok(Definitions::parse_at(path, text, vocabulary)),
            Self::Standard(bytes) => {
                let text = str::from_utf8(bytes).map_err(|error| format!("{NAME}: {error}"))?;
                Ok(Definitions::parse_at(NAME, text, vocabulary))
            }
        }
    }

    /// Returns the message about a machine that a file does not have.
    pub(crate) fn no_machine(&self, machine: Option<&str>, names: &[String]) -> String {
        let machine = machine.unwrap_or_default();
        let names: Vec<_> = names.iter().filter(|name| !name.is_empty()).collect();
        let there_are = match &names[..] {
            [] => "its machine has no name".to_owned(),
            names => format!("there are: {}", listed(names)),
        };
        format!("{}: there is no machine `{machine}`; {there_are}", self.name())
    }
}

/// Checks that a result is not written over a file that is read.
pub(crate) fn spare<'a>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), String> {
    let Some((output, whole)) = output.and_then(|output| Some((output, output.canonicalize().ok()?))) else {
        return Ok(());
    };
    let mut files = inputs.into_iter().filter(|file| !is_standard(file));
    if files.any(|file| file.canonicalize().is_ok_and(|file| file == whole)) {
        return Err(format!("{}: the result would replace a file that is read", output.display()));
    }
    Ok(())
}

/// Returns whether a path is standard input.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

fn loaded<O>(read: Result<O, LoadError>) -> Result<Result<O, Problems>, String> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(LoadError::Problems(problems)) => Ok(Err(problems)),
        Err(error) => Err(error.to_string()),
    }
}
