//! Finding the last whole checkpoint, and reading it: whatever is wrong is said before a tick has run.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use demeanor::DigestHasher;

use super::content::{Content, MAGIC, Part, Summed, VERSION};
use super::manifest::{self, Manifest, Version};
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::setup::Setup;

/// A checkpoint from which a run goes on.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
}

/// The folders of all whole checkpoints, the oldest first.
pub(super) fn checkpoints_in(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(ticks) = ticks_of(&path).filter(|_| path.join(manifest::FILE).exists()) {
            found.push((ticks, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// After how many ticks a checkpoint was written, by the name of its folder.
pub(super) fn ticks_of(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.strip_prefix("tick-")?.parse().ok()
}

/// Whether a folder holds a checkpoint.
pub(crate) fn has_any(folder: &Path) -> bool {
    checkpoints_in(folder).is_ok_and(|found| !found.is_empty())
}

/// Finds the last checkpoint in a folder. Each of its parts is there, and as long as it should be.
pub(crate) fn find<T: Citizen>(folder: &Path, setup: &Setup<T>) -> Result<Found, WorldError> {
    let found = checkpoints_in(folder).map_err(|error| failed(folder, &error.to_string()))?;
    let Some((_, folder)) = found.into_iter().next_back() else {
        return Err(failed(folder, "there is no checkpoint in this folder"));
    };
    let path = folder.join(manifest::FILE);
    let wrong = |text: &str| failed(&path, text);
    let text = fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
    let Version { version } = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    if version != VERSION {
        return Err(wrong(&other_version(version)));
    }
    let manifest: Manifest = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    manifest.check(setup).map_err(|text| wrong(&text))?;
    for Part { file, bytes, .. } in &manifest.parts {
        let path = folder.join(file);
        match fs::metadata(&path) {
            Ok(found) if found.len() == *bytes => {}
            Ok(found) => {
                let text = format!("the file has {} bytes, but was written with {bytes}", found.len());
                return Err(failed(&path, &text));
            }
            Err(error) => return Err(failed(&path, &error.to_string())),
        }
    }
    Ok(Found { folder, manifest })
}

impl Found {
    /// What tells this checkpoint from others, to see that all processes go on from the same one.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DigestHasher::new();
        hasher.write_u64(self.manifest.ticks);
        self.manifest.parts.iter().for_each(|part| hasher.write_u64(part.digest));
        hasher.finish()
    }

    /// Reads a part.
    pub(crate) fn read<T: Citizen>(&self, part: &Part) -> Result<Content<T>, WorldError> {
        let path = self.folder.join(&part.file);
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
            return Err(wrong("the file has changed since it was written: its digest is different"));
        }
        postcard::from_bytes(&bytes).map_err(|error| wrong(&format!("it cannot be read as citizens: {error}")))
    }
}

fn other_version(version: u32) -> String {
    format!("it is of version {version}; this program reads version {VERSION}")
}

pub(crate) fn failed(path: &Path, text: &str) -> WorldError {
    WorldError::Resume { path: path.display().to_string(), text: text.to_owned() }
}
