//! Checkpoints: the whole state of a world after a tick, in a folder.
//!
//! Each worker writes its own file, a part. When all parts are on the disk, worker 0 writes the manifest, which contains their
//! names and digests, and its own digest. A folder without a manifest is not a checkpoint, so that after a crash at any moment
//! the last complete checkpoint is still there.

mod content;
mod manifest;
mod part;
mod read;
mod shared;
mod write;

pub(crate) use self::content::ContentRef;
pub(crate) use self::part::Part;
pub(crate) use self::read::{Found, PartRead, failed, find, has_any};
pub(crate) use self::shared::{check, sign, unsign};
pub(crate) use self::write::{write_manifest, write_part};
