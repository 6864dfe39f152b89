//! What is in a part of a checkpoint.

use demeanor::SavedBatch;
use serde::{Deserialize, Serialize};

use crate::citizen::Citizen;
use crate::mail::Mail;

/// All that one worker holds after a tick.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Content<T: Citizen> {
    /// What the clock of the citizens showed.
    pub(crate) now: f64,
    pub(crate) citizens: SavedBatch<T>,
    pub(crate) newborn: SavedBatch<T>,
    pub(crate) mail: Vec<Mail<T::Message>>,
    /// Sender and receiver of the mail that was written to nobody.
    pub(crate) returned: Vec<(u64, u64)>,
}

/// A part, as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The name of the file, beside the manifest.
    pub(crate) file: String,
    pub(crate) bytes: u64,
    /// The digest of the bytes.
    pub(crate) digest: u64,
    pub(crate) citizens: u64,
}
