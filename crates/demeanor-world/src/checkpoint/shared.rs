//! Checks before the first tick that all processes see the same folder and can write to it.

use std::fs;
use std::path::{Path, PathBuf};

use super::write::failed;
use crate::error::WorldError;

/// Returns the file with which a process shows the others that it has the folder.
fn sign_of(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("process-{process:05}"))
}

/// Creates the folder, and writes this process's file to it.
pub(crate) fn sign(folder: &Path, process: u32) -> Result<(), WorldError> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let sign = sign_of(folder, process);
    fs::write(&sign, b"").map_err(|error| failed(&sign, &error))
}

/// Checks that the files of all processes are there, after all have written theirs.
pub(crate) fn check(folder: &Path, processes: u32) -> Result<(), WorldError> {
    let mut others = (0..processes).filter(|&process| !sign_of(folder, process).exists());
    others.next().map_or(Ok(()), |process| {
        let text = format!("process {process} has another folder: all processes need to see the same one");
        Err(WorldError::Checkpoint { path: folder.display().to_string(), text })
    })
}

/// Removes this process's file, after all have checked.
pub(crate) fn unsign(folder: &Path, process: u32) {
    // If the file stays, the next run overwrites it.
    let _ = fs::remove_file(sign_of(folder, process));
}
