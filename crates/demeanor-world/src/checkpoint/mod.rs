//! Checkpoints: all that a world holds after a tick, in a folder.
//!
//! Each worker writes a file of its own, a part. When all of them are on the disk, worker 0 writes the manifest, which names
//! them with their digests, and has a digest of itself. A folder without a manifest is no checkpoint, so that a crash at any moment
//! leaves the last whole one.

mod content;
mod manifest;
mod read;
mod shared;
mod write;

pub(crate) use self::content::{ContentRef, Part};
pub(crate) use self::read::{Found, PartRead, failed, find, has_any};
pub(crate) use self::shared::{check, sign, unsign};
pub(crate) use self::write::{write_manifest, write_part};
