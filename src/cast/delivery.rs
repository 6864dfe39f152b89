//! The results of sending a telegram, and the errors of a cast.

use core::error::Error;
use core::fmt;

use crate::machine::agent::Agent;
use crate::message::Telegram;
use crate::owner::Owner;

/// What happened to a telegram that was sent in a [`Cast`](crate::Cast).
///
/// # Examples
///
/// ```
/// use demeanor::{Cast, Delivery};
///
/// let mut cast: Cast<&str, &str, ()> = Cast::new(());
/// assert_eq!(cast.send_after(1.5, "Elsa", "Elsa", "stew ready"), Delivery::Delayed);
/// assert_eq!(cast.send("Bob", "Elsa", "hi honey"), Delivery::UnknownReceiver);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// A state of the receiver handled the telegram.
    Handled,
    /// No state of the receiver handled the telegram.
    Declined,
    /// The receiver is acting: the telegram is delivered when the receiver's turn is over. Or the telegram is nested within
    /// 64 others: it is delivered when the outermost turn is over.
    PutOff,
    /// The telegram is queued until it is due, or is [merged](crate::Dispatcher::merging_within) with a queued telegram.
    Delayed,
    /// No member has the receiver's key: the telegram is dropped, with a warning in the log.
    UnknownReceiver,
    /// The telegram belongs to an exchange without end, and is dropped. The log has an error for this exchange.
    Dropped,
}

impl Delivery {
    /// Returns whether the telegram has been handled.
    #[must_use]
    pub const fn is_handled(self) -> bool {
        matches!(self, Self::Handled)
    }
}

/// The error when a telegram cannot be delivered, because no member of the [`Cast`](crate::Cast) has the receiver's key.
///
/// # Examples
///
/// ```
/// use demeanor::{Cast, Telegram};
///
/// let mut cast: Cast<&str, &str, ()> = Cast::new(());
/// let unknown = cast.deliver(Telegram::new("Bob", "Elsa", "hi honey")).unwrap_err();
/// assert_eq!(unknown.telegram.message, "hi honey");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UnknownReceiver<K, M> {
    /// The telegram that could not be delivered.
    pub telegram: Telegram<K, M>,
}

impl<K: fmt::Debug, M> fmt::Display for UnknownReceiver<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Telegram { sender, receiver, .. } = &self.telegram;
        write!(f, "there is no {receiver:?} to receive the telegram from {sender:?}")
    }
}

/// Leaves out the message, which need not be `Debug`.
impl<K: fmt::Debug, M> fmt::Debug for UnknownReceiver<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownReceiver")
            .field("sender", &self.telegram.sender)
            .field("receiver", &self.telegram.receiver)
            .finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, M> Error for UnknownReceiver<K, M> {}

/// The error when an agent cannot join the [`Cast`](crate::Cast), because there is a member with that key already.
#[non_exhaustive]
pub struct KeyTaken<K, T: Owner> {
    /// The key, which another member already has.
    pub key: K,
    /// The agent that could not join.
    pub agent: Agent<T>,
}

impl<K: fmt::Debug, T: Owner> fmt::Display for KeyTaken<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is a member {:?} already", self.key)
    }
}

/// Leaves out the agent, which need not be `Debug`.
impl<K: fmt::Debug, T: Owner> fmt::Debug for KeyTaken<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTaken").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, T: Owner> Error for KeyTaken<K, T> {}
