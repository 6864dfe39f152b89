//! Runs the tool on the command line.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The result of a run: the exit code, the output, and the error output.
pub(crate) type Ran = (i32, String, String);

/// The folder of one test, in which the tool runs.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates an empty folder with this name.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn with(self, file: &str, text: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        fs::write(self.0.join(file), text).unwrap();
        self
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs the tool with a text as its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::cargo_bin("demeanor").unwrap();
        let output = command.current_dir(&self.0).args(arguments).write_stdin(input).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().expect("it has not crashed"), text(output.stdout), text(output.stderr))
    }
}
