//! Reads a definition's file, and the files that it names. The named files must be in the definition's folder and not too long.
//! None of the files may be a pipe or a device.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The maximum size of a file that a definition may name, in bytes.
pub(crate) const LONGEST: u64 = 10_000_000;

/// Returns the text of a file that a definition names.
pub(crate) fn read_named(folder: &Path, path: &Path) -> Result<String, String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let as_text = |error: io::Error| error.to_string();
    // All symbolic links are resolved first, so that none of them can lead out of the folder.
    let whole = folder.join(path).canonicalize().map_err(as_text)?;
    if !whole.starts_with(folder.canonicalize().map_err(as_text)?) {
        return Err(leads_out());
    }
    is_file(&whole).map_err(as_text)?;
    let mut text = String::new();
    File::open(&whole).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)).map_err(as_text)?;
    if text.len() as u64 > LONGEST {
        return Err(is_too_long());
    }
    Ok(text)
}

pub(crate) fn leads_out() -> String {
    "it leads out of the definition's folder".into()
}

pub(crate) fn is_too_long() -> String {
    format!("it is longer than {} MB", LONGEST / 1_000_000)
}

/// Returns the bytes of a definition's own file, which may be in any folder.
pub(crate) fn read_definition(path: &Path) -> io::Result<Vec<u8>> {
    is_file(path)?;
    fs::read(path)
}

/// Fails if the path is not a regular file. Reading a pipe could block forever, and a device may have no end.
fn is_file(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"))
    }
}
