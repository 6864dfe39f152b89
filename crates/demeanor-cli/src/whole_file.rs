//! Writes a file completely or not at all: if the disk is full, no incomplete file is left.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a file beside `path`, then renames it to `path`, so that it replaces the old file only when it is complete.
///
/// A link stays a link, and an existing file keeps its permissions. A path that is not a regular file, such as `/dev/stdout`,
/// cannot be replaced and is written to directly.
///
/// # Errors
///
/// When the file cannot be written. In this case, the old file is still there, and no new one.
pub(crate) fn write(path: &Path, content: &str) -> io::Result<()> {
    let before = match (fs::metadata(path), fs::read_link(path)) {
        (Ok(before), _) if !before.is_file() => return fs::write(path, content),
        // The file of the link does not exist yet.
        (Err(error), Ok(to)) if error.kind() == io::ErrorKind::NotFound => {
            return write(&path.with_file_name(to), content);
        }
        (Err(error), Ok(_)) => return Err(error),
        (before, _) => before.ok(),
    };
    let target = if before.is_some() { fs::canonicalize(path)? } else { PathBuf::from(path) };
    if before.is_some() {
        // A rename would replace even a read-only file.
        File::options().write(true).open(&target)?;
    }
    let directory = target.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    // `tempfile_in` would create files that other users cannot read. If the file is not renamed, it is deleted when it is
    // dropped.
    let mut beside = tempfile::Builder::new().make_in(directory, |path| File::create_new(path))?;
    beside.write_all(content.as_bytes())?;
    // Some file systems report only now that they are full.
    beside.as_file().sync_all()?;
    if let Some(before) = before {
        beside.as_file().set_permissions(before.permissions())?;
    }
    beside.persist(target)?;
    Ok(())
}
