//! Writes a file as a whole or not at all: a full disk leaves no half of it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a file beside `path`, then renames it to that, so that it replaces what is there only once it is complete.
///
/// A link stays a link, and an existing file keeps its permissions. What is not a regular file, such as `/dev/stdout`,
/// cannot be replaced and is written to directly.
///
/// # Errors
///
/// When the file cannot be written. Then what was there before is still there, and nothing else.
pub(crate) fn write(path: &Path, content: &str) -> io::Result<()> {
    let before = match fs::metadata(path) {
        Ok(before) if !before.is_file() => return fs::write(path, content),
        before => before.ok(),
    };
    let target = if before.is_some() { fs::canonicalize(path)? } else { PathBuf::from(path) };
    if before.is_some() {
        // Renaming would replace even a file that may not be written to.
        File::options().write(true).open(&target)?;
    }
    let directory = target.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    // Not `tempfile_in`, which makes files that other users may not read. Unless it is renamed, it is deleted when dropped.
    let mut beside = tempfile::Builder::new().make_in(directory, |path| File::create_new(path))?;
    beside.write_all(content.as_bytes())?;
    // Some file systems tell only now that they are full.
    beside.as_file().sync_all()?;
    if let Some(before) = before {
        beside.as_file().set_permissions(before.permissions())?;
    }
    beside.persist(target)?;
    Ok(())
}
