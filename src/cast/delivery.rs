//! What can become of a telegram, and of an agent that is to join.

use core::error::Error;
use core::fmt;

use crate::agent::Agent;
use crate::message::Telegram;
use crate::owner::Owner;

/// What became of a telegram whose receiver is a member of the [`Cast`](crate::Cast).
///
/// # Examples
///
/// ```
/// use demeanor::{Cast, Delivery};
///
/// let mut cast: Cast<&str, &str, ()> = Cast::new(());
/// assert_eq!(cast.send_after(1.5, "Elsa", "Elsa", "stew ready"), Ok(Delivery::Delayed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// A state of the receiver has handled it.
    Handled,
    /// No state of the receiver would handle it.
    Declined,
    /// The receiver is acting: it is delivered when the receiver's turn is over.
    PutOff,
    /// It is queued until it is due. So is the one that it was [merged](crate::Dispatcher::merging_within) with, if it was.
    Delayed,
}

impl Delivery {
    /// Returns whether the telegram was handled by now.
    #[must_use]
    pub const fn is_handled(self) -> bool {
        matches!(self, Self::Handled)
    }
}

/// A telegram could not be delivered: the [`Cast`](crate::Cast) has no such member.
///
/// # Examples
///
/// ```
/// use demeanor::Cast;
///
/// let mut cast: Cast<&str, &str, ()> = Cast::new(());
/// let unknown = cast.send("Bob", "Elsa", "hi honey").unwrap_err();
/// assert_eq!(unknown.telegram.message, "hi honey");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UnknownReceiver<K, M> {
    /// What could not be delivered.
    pub telegram: Telegram<K, M>,
}

impl<K: fmt::Debug, M> fmt::Display for UnknownReceiver<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Telegram { sender, receiver, .. } = &self.telegram;
        write!(f, "there is no {receiver:?} to receive the telegram from {sender:?}")
    }
}

/// Without the message, so that any can be sent.
impl<K: fmt::Debug, M> fmt::Debug for UnknownReceiver<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownReceiver")
            .field("sender", &self.telegram.sender)
            .field("receiver", &self.telegram.receiver)
            .finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, M> Error for UnknownReceiver<K, M> {}

/// An agent could not join the [`Cast`](crate::Cast): there is a member of that key already.
#[non_exhaustive]
pub struct KeyTaken<K, T: Owner> {
    /// What the agent was to be called by.
    pub key: K,
    /// Who could not join.
    pub agent: Agent<T>,
}

impl<K: fmt::Debug, T: Owner> fmt::Display for KeyTaken<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is a member {:?} already", self.key)
    }
}

/// Without the agent, so that any can join.
impl<K: fmt::Debug, T: Owner> fmt::Debug for KeyTaken<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTaken").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, T: Owner> Error for KeyTaken<K, T> {}
