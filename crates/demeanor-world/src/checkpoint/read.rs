//! Finds the last complete checkpoint and reads it. All errors are reported before the first tick runs.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::content::{Content, MAGIC, Summed, VERSION};
use super::manifest::{self, CHANGED, Manifest, other_version};
use super::part::Part;
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::setup::Setup;

/// The checkpoint from which a run continues.
#[derive(Debug)]
pub(crate) struct Found {
    folder: PathBuf,
    pub(crate) manifest: Manifest,
}

/// A part that has been read.
pub(crate) struct PartRead<T: Citizen> {
    pub(crate) path: PathBuf,
    /// The number of citizens in the world, from the manifest.
    pub(crate) citizens: u64,
    pub(crate) content: Content<T>,
}

/// Returns the folders of all complete checkpoints, the oldest first.
pub(super) fn checkpoints_in(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for (ticks, path) in folders_in(folder)? {
        if path.join(manifest::FILE).try_exists()? {
            found.push((ticks, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the folders that have the name of a checkpoint.
pub(super) fn folders_in(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if let Some(ticks) = ticks_of(&path)
            && !entry.file_type()?.is_file()
        {
            found.push((ticks, path));
        }
    }
    Ok(found)
}

/// Returns the folder of the checkpoint after `ticks` ticks.
pub(super) fn folder_of(folder: &Path, ticks: u64) -> PathBuf {
    folder.join(format!("tick-{ticks:012}"))
}

/// Returns the number of ticks from the name of a checkpoint's folder.
fn ticks_of(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.strip_prefix("tick-")?.parse().ok()
}

/// Returns whether a folder contains a checkpoint. A missing folder contains none.
pub(crate) fn has_any(folder: &Path) -> Result<bool, WorldError> {
    match checkpoints_in(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        found => found.map(|found| !found.is_empty()).map_err(|error| failed(folder, &error.to_string())),
    }
}

/// Finds the last checkpoint in a folder. Checks that its manifest is complete, and that each part exists and has the right
/// length.
pub(crate) fn find<T: Citizen>(folder: &Path, setup: &Setup<T>) -> Result<Found, WorldError> {
    let found = checkpoints_in(folder).map_err(|error| failed(folder, &error.to_string()))?;
    let Some((_, last)) = found.into_iter().next_back() else {
        return Err(failed(folder, "there is no checkpoint in this folder"));
    };
    let path = last.join(manifest::FILE);
    let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error.to_string()))?;
    let manifest = Manifest::read(&text).map_err(|text| failed(&path, &text))?;
    if folder_of(folder, manifest.ticks) != last {
        let text = format!("the name is not that of a checkpoint after {} ticks, which this is", manifest.ticks);
        return Err(failed(&last, &text));
    }
    manifest.check(setup).map_err(|text| failed(&path, &text))?;
    for part in &manifest.parts {
        let (path, bytes) = (last.join(part.file()), part.bytes);
        match fs::metadata(&path) {
            Ok(found) if found.len() == bytes => {}
            Ok(found) => {
                let text = format!("the file has {} bytes, but was written with {bytes}", found.len());
                return Err(failed(&path, &text));
            }
            Err(error) => return Err(failed(&path, &error.to_string())),
        }
    }
    Ok(Found { folder: last, manifest })
}

impl Found {
    /// Reads a part.
    pub(crate) fn read<T: Citizen>(&self, part: &Part) -> Result<PartRead<T>, WorldError> {
        let path = self.folder.join(part.file());
        let wrong = |text: &str| failed(&path, text);
        let cannot = |error: io::Error| failed(&path, &error.to_string());
        let mut file = Summed::new(BufReader::new(File::open(&path).map_err(cannot)?));
        let mut head = [0; 12];
        file.read_exact(&mut head).map_err(cannot)?;
        let (magic, version) = head.split_at(8);
        let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
        if magic != MAGIC {
            return Err(wrong("this is not a part of a checkpoint"));
        }
        if version != VERSION {
            return Err(wrong(&other_version(version)));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot)?;
        if file.digest() != part.digest {
            return Err(wrong(CHANGED));
        }
        let content = postcard::from_bytes(&bytes);
        let content = content.map_err(|error| wrong(&format!("it cannot be read as citizens: {error}")))?;
        Ok(PartRead { path, citizens: part.citizens, content })
    }
}

pub(crate) fn failed(path: &Path, text: &str) -> WorldError {
    WorldError::Resume { path: path.display().to_string(), text: text.to_owned() }
}
