//! Parcels: the data that workers send each other between two ticks.

use demeanor::SavedBatch;
use serde::{Deserialize, Serialize};

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::report::Report;

/// One piece of the data that a worker sends to another. A large amount of data is divided into several parcels.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) enum Parcel<T: Citizen> {
    Mail(Vec<Mail<T::Message>>),
    /// Citizens that live on the receiving worker from the next tick on.
    Arrivals(Packed<T>),
    /// Citizens that were created in this tick and live on the receiving worker from the next tick on.
    Newborn(Packed<T>),
    /// Changes for the worker that is responsible for these ids in the directory.
    Notices(Vec<Notice>),
    /// Returned mail: the sender, and the receiver that does not exist.
    Returned(Vec<(u64, u64)>),
    Report(Report),
    /// A notice that a part of a checkpoint has been written.
    Part(crate::checkpoint::Part),
}

/// Citizens with their machines, serialized.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Packed<T: Citizen> {
    /// The time of their clock. If the receiver's clock shows the same time, all times of the citizens stay exact.
    pub(crate) now: f64,
    pub(crate) citizens: SavedBatch<T>,
}

/// A change in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// `by` is the worker whose callback has asked for it, here and for a birth.
    Died {
        id: u64,
        by: u32,
    },
    Moved {
        id: u64,
        to: u32,
    },
    Born {
        id: u64,
        at: u32,
        shard: u32,
        by: u32,
    },
}
