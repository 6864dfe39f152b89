//! A part of a checkpoint, as the manifest lists it.

use serde::{Deserialize, Serialize};

/// The manifest's entry for a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The number of the part, counted from 0: it is the number of the worker that wrote it.
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    /// The digest of the part's bytes.
    pub(crate) digest: u64,
    pub(crate) citizens: u64,
}

impl Part {
    /// Returns the name of the file, in the folder of the manifest.
    ///
    /// The name contains the digest, because a stopped process of an earlier run may continue and write the same checkpoint
    /// late: its part can replace only a part with the same bytes.
    pub(crate) fn file(&self) -> String {
        format!("part-{:05}-{:016x}", self.number, self.digest)
    }
}
