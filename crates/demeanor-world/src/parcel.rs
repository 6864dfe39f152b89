//! What workers send each other between two ticks.

use demeanor::SavedBatch;
use serde::{Deserialize, Serialize};

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::report::Report;

/// One piece of what a worker sends to another. A large amount is sent in several.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) enum Parcel<T: Citizen> {
    Mail(Vec<Mail<T::Message>>),
    /// Citizens that live on the receiving worker from the next tick on.
    Arrivals(Packed<T>),
    /// The same, of those that have been born in this tick.
    Newborn(Packed<T>),
    /// To the worker that knows where citizens of these ids live.
    Notices(Vec<Notice>),
    /// Mail that came back: sender, and the receiver that does not exist.
    Returned(Vec<(u64, u64)>),
    Report(Report),
    /// That a part of a checkpoint has been written.
    Part(crate::checkpoint::Part),
}

/// Citizens with their machines, written down.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Packed<T: Citizen> {
    /// What their clock shows. Read by the same clock, no time of theirs changes by a bit.
    pub(crate) now: f64,
    pub(crate) citizens: SavedBatch<T>,
}

/// A change of where a citizen lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Notice {
    Died { id: u64 },
    Moved { id: u64, to: u32 },
    Born { id: u64, at: u32, shard: u32 },
}
