//! The files of a definition's folder, which it may name: none outside of it, and none that cannot be read to its end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The longest file that a definition may name, in bytes.
pub(crate) const LONGEST: u64 = 10_000_000;

/// The text of a file that a definition names.
pub(crate) fn read_named(folder: &Path, path: &Path) -> Result<String, String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let as_text = |error: io::Error| error.to_string();
    // With all links followed, so that none leads out.
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

/// The bytes of a definition's own file, wherever it is.
pub(crate) fn read_definition(path: &Path) -> io::Result<Vec<u8>> {
    is_file(path)?;
    fs::read(path)
}

/// Fails for what is no file: from a pipe nothing may ever come, and a device may have no end.
fn is_file(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"))
    }
}
