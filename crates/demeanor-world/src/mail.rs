//! What citizens send each other, and in which order it is delivered.

use demeanor::Key;
use serde::{Deserialize, Serialize};

/// A message from one citizen to another, on its way from one tick to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mail<M> {
    pub(crate) receiver: u64,
    pub(crate) sender: u64,
    /// Increases from one message of a sender to the next in a tick. Between senders it means nothing.
    pub(crate) number: u32,
    /// The worker on which the sender lives in the next tick, which is told when there is no such receiver.
    pub(crate) return_to: u32,
    /// The receiver's key, once it is known to live on this worker. Looking it up takes a good part of a delivery.
    #[serde(skip)]
    pub(crate) key: Option<Key>,
    pub(crate) message: M,
}

/// Puts the mail of a tick in the order in which it is delivered, which does not depend on how it arrived.
pub(crate) fn sort<M>(mail: &mut [Mail<M>]) {
    // No two are equal: a sender is on one worker in a tick, which numbers its mail.
    mail.sort_unstable_by_key(|mail| (mail.receiver, mail.sender, mail.number));
}
