//! Whether all processes see the same folder, and may write to it: found out before the first tick.

use std::fs;
use std::path::{Path, PathBuf};

use super::write::failed;
use crate::error::WorldError;

/// A file by which the others see that a process has this folder.
fn sign_of(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("process-{process:05}"))
}

/// Makes the folder, and shows the others that this process can write to it.
pub(crate) fn sign(folder: &Path, process: u32) -> Result<(), WorldError> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let sign = sign_of(folder, process);
    fs::write(&sign, b"").map_err(|error| failed(&sign, &error))
}

/// Looks for the files of all processes, when all have made them.
pub(crate) fn check(folder: &Path, processes: u32) -> Result<(), WorldError> {
    let mut others = (0..processes).filter(|&process| !sign_of(folder, process).exists());
    others.next().map_or(Ok(()), |process| {
        let text = format!("process {process} has another folder: all processes need to see the same one");
        Err(WorldError::Checkpoint { path: folder.display().to_string(), text })
    })
}

/// Removes this process's file, when all have looked.
pub(crate) fn unsign(folder: &Path, process: u32) {
    // Another run writes it again.
    let _ = fs::remove_file(sign_of(folder, process));
}
