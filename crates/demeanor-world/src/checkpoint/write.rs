//! Writing a checkpoint: beside its name, synced, and renamed once it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::content::{ContentRef, MAGIC, Part, Summed, VERSION};
use super::manifest::{self, Manifest};
use super::read::{checkpoints_in, ticks_of};
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::setup::Setup;

/// So many checkpoints are kept: the last one, and the one before.
const KEPT: usize = 2;

/// The folder of the checkpoint after so many ticks.
pub(super) fn folder_of(folder: &Path, ticks: u64) -> PathBuf {
    folder.join(format!("tick-{ticks:012}"))
}

/// Writes one worker's part.
pub(crate) fn write_part<T: Citizen>(
    folder: &Path,
    ticks: u64,
    worker: u32,
    content: &ContentRef<'_, T>,
    citizens: u64,
) -> Result<Part, WorldError> {
    let folder = folder_of(folder, ticks);
    let name = format!("part-{worker:05}");
    let path = folder.join(&name);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let summed = write_whole(&path, |file| {
        let mut summed = Summed::new(file);
        summed.write_all(MAGIC)?;
        summed.write_all(&VERSION.to_le_bytes())?;
        let written = postcard::to_io(content, &mut summed).map(drop);
        written.map_err(|error| summed.error.take().unwrap_or_else(|| io::Error::other(error)))?;
        Ok((summed.bytes, summed.digest()))
    });
    let (bytes, digest) = summed.map_err(|error| failed(&path, &error))?;
    Ok(Part { file: name, bytes, digest, citizens })
}

/// Makes the parts a checkpoint, and removes those that are too old.
pub(crate) fn write_manifest<T: Citizen>(
    folder: &Path,
    setup: &Setup<T>,
    ticks: u64,
    parts: Vec<Part>,
) -> Result<(), WorldError> {
    let path = folder_of(folder, ticks).join(manifest::FILE);
    let manifest = Manifest::new(setup, ticks, parts);
    write_whole(&path, |file| Ok(serde_json::to_writer_pretty(file, &manifest)?))
        .map_err(|error| failed(&path, &error))?;
    sync_folder(folder).map_err(|error| failed(folder, &error))?;
    let stays = |what: &Path, error: &io::Error| {
        log::warn!(target: "demeanor_world", "the old checkpoint {} cannot be removed: {error}", what.display());
    };
    remove_old(folder, ticks, stays).unwrap_or_else(|error| stays(folder, &error));
    Ok(())
}

/// Removes the checkpoints before the last ones, and what a crash has left of others.
fn remove_old(folder: &Path, ticks: u64, stays: impl Fn(&Path, &io::Error)) -> io::Result<()> {
    let mut whole = checkpoints_in(folder)?;
    whole.retain(|(of, _)| *of <= ticks);
    let kept: Vec<_> = whole.iter().rev().take(KEPT).map(|(_, folder)| folder).collect();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if ticks_of(&path).is_none_or(|of| of > ticks) || kept.contains(&&path) {
            continue;
        }
        // First it stops being a checkpoint, and then its parts go.
        let removed = match fs::remove_file(path.join(manifest::FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir_all(&path),
        };
        if let Err(error) = removed {
            stays(&path, &error);
        }
    }
    Ok(())
}

/// Writes a file so that its name appears only with all that it holds, on the disk.
fn write_whole<R>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>) -> io::Result<R> {
    let beside = path.with_extension("tmp");
    let mut file = BufWriter::new(File::create(&beside)?);
    let result = write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync_folder)?;
    Ok(result)
}

/// Puts the names in a folder on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn failed(path: &Path, error: &io::Error) -> WorldError {
    WorldError::Checkpoint { path: path.display().to_string(), text: error.to_string() }
}
