//! The messages between citizens, and the order in which they are delivered.

use demeanor::Key;
use serde::{Deserialize, Serialize};

/// A message from one citizen to another, which is delivered in the next tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mail<M> {
    pub(crate) receiver: u64,
    pub(crate) sender: u64,
    /// A number that increases with each message of a sender in a tick. Numbers of different senders cannot be compared.
    pub(crate) number: u32,
    /// The worker on which the sender lives in the next tick. It is notified if the receiver does not exist.
    pub(crate) return_to: u32,
    /// The receiver's key, set when the receiver is found on this worker. The lookup is a large part of the cost of a delivery.
    #[serde(skip)]
    pub(crate) key: Option<Key>,
    pub(crate) message: M,
}

/// Sorts the mail of a tick into the order of delivery, which does not depend on the order of arrival.
pub(crate) fn sort<M>(mail: &mut [Mail<M>]) {
    // The keys are unique: in a tick a sender is on one worker, which numbers its mail.
    mail.sort_unstable_by_key(|mail| (mail.receiver, mail.sender, mail.number));
}
