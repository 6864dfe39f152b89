//! Telegrams, and the queue of delayed telegrams.
//!
//! The queue does not know the receivers: a [`Cast`](crate::Cast) delivers telegrams to its members, and other code delivers them
//! to the objects that its keys identify.

mod merging;

use alloc::collections::BTreeMap;
use core::fmt;
use core::ops::Bound;

use self::merging::Merging;
use crate::span::DueTime;

/// A message with its sender and its receiver. After Buckland's `Telegram`.
///
/// `K` is the type of the characters' keys: an enum of names, a number, the key of a batch. A character that receives
/// telegrams has `type Message = Telegram<K, M>`, so that its states see the sender too.
///
/// # Examples
///
/// ```
/// use demeanor::Telegram;
///
/// let telegram = Telegram::new("Elsa", "Bob", "the stew is ready");
/// assert_eq!(telegram.sender, "Elsa");
/// assert_eq!(telegram.receiver, "Bob");
/// assert_eq!(telegram.message, "the stew is ready");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Telegram<K, M> {
    /// The sender.
    pub sender: K,
    /// The receiver.
    pub receiver: K,
    /// The message.
    pub message: M,
}

impl<K, M> Telegram<K, M> {
    /// Creates a telegram. It is not sent yet.
    pub const fn new(sender: K, receiver: K, message: M) -> Self {
        Self { sender, receiver, message }
    }
}

/// A queue of telegrams that arrive later. They arrive in the order of their due times. Telegrams with the same due time arrive
/// in the order in which they were sent.
///
/// The queue has no clock: its methods take the time, in seconds, of any clock that does not run backwards.
/// [`pop_due`](Self::pop_due) takes out the telegrams that are due, one at a time, so that a receiver can send other telegrams
/// meanwhile.
///
/// Every telegram arrives as often as it is sent, even if several have the same due time. Buckland's dispatcher drops a
/// telegram if a similar one is queued. A port that relies on this uses [`merging_within`](Self::merging_within).
///
/// # Examples
///
/// ```
/// use demeanor::{Dispatcher, Telegram};
///
/// let mut post = Dispatcher::new();
/// post.send_after(1.5, Telegram::new("Elsa", "Elsa", "stew ready"), 10.0);
/// post.send_after(0.5, Telegram::new("Bob", "Elsa", "hungry"), 10.0);
///
/// assert_eq!(post.pop_due(10.0), None);
///
/// let mut arrived = vec![];
/// while let Some(telegram) = post.pop_due(12.0) {
///     arrived.push(telegram.message);
/// }
/// assert_eq!(arrived, ["hungry", "stew ready"]);
/// ```
#[derive(Clone)]
pub struct Dispatcher<K, M> {
    /// The telegrams, in the order in which they arrive.
    queue: Queue<K, M>,
    /// How many telegrams have been queued. This is also the number of the next telegram.
    sent: u64,
    merging: Option<Merging<K, M>>,
}

type Queue<K, M> = BTreeMap<Arrival, Telegram<K, M>>;

/// When a telegram arrives, and its number. The time is never NaN or -0.
type Arrival = DueTime<u64>;

/// The telegrams that are due at a time and were queued before this value was created.
pub(crate) struct DueTelegrams {
    now: f64,
    /// The number of the first telegram that was queued later.
    end: u64,
    /// Telegrams before this position have been taken out, or were queued after this value was created.
    rest: Bound<Arrival>,
}

impl<K, M> Dispatcher<K, M> {
    /// Creates an empty queue that keeps every telegram.
    #[must_use]
    pub const fn new() -> Self {
        Self { queue: BTreeMap::new(), sent: 0, merging: None }
    }

    /// Creates an empty queue with Buckland's rule: a new telegram is dropped if a telegram with the same sender, receiver and
    /// message is queued, and their due times are less than `window` seconds apart. Buckland's window is 0.25.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Dispatcher, Telegram};
    ///
    /// let mut post = Dispatcher::merging_within(0.25);
    /// let hungry = Telegram::new("Bob", "Elsa", "hungry");
    /// assert!(post.send_after(1.0, hungry, 0.0));
    /// assert!(!post.send_after(1.0, hungry, 0.2));
    /// assert!(post.send_after(1.0, hungry, 0.25));
    /// assert_eq!(post.len(), 2);
    /// ```
    ///
    /// Queueing a telegram takes time that grows with the logarithm of the length of the queue, and with the number of
    /// telegrams from the same sender to the same receiver within the window.
    #[must_use]
    pub const fn merging_within(window: f64) -> Self
    where
        K: Clone + Ord,
        M: PartialEq,
    {
        Self { queue: BTreeMap::new(), sent: 0, merging: Some(Merging::within(window)) }
    }

    /// Queues a telegram to arrive `delay` seconds after `now`. If `delay` is negative or not a number, the telegram is due at
    /// once.
    ///
    /// Returns whether it was queued: always, unless telegrams are [merged](Self::merging_within).
    pub fn send_after(&mut self, delay: f64, telegram: Telegram<K, M>, now: f64) -> bool {
        let delay = if delay > 0.0 { delay } else { 0.0 };
        self.send_at(now + delay, telegram)
    }

    /// Queues a telegram to arrive at `due`, in seconds. If that time has passed or is not a number, the telegram is due at
    /// once.
    ///
    /// Returns whether it was queued: always, unless telegrams are [merged](Self::merging_within).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Dispatcher, Telegram};
    ///
    /// let mut post = Dispatcher::new();
    /// post.send_at(12.0, Telegram::new("clock", "Bob", "noon"));
    /// assert_eq!(post.next_due(), Some(12.0));
    /// ```
    pub fn send_at(&mut self, due: f64, telegram: Telegram<K, M>) -> bool {
        // Adding zero turns -0 into 0.
        let due = if due.is_nan() { f64::NEG_INFINITY } else { due + 0.0 };
        let when = Arrival { at: due, nth: self.sent };
        if let Some(merging) = &mut self.merging {
            if !(merging.add)(merging, when, &telegram, &self.queue) {
                return false;
            }
        }
        self.queue.insert(when, telegram);
        self.sent += 1;
        true
    }

    /// Takes out the telegram that has been due the longest, if any is due at `now`.
    ///
    /// Call it until it returns `None`. It also returns telegrams that are sent meanwhile, if they are due.
    pub fn pop_due(&mut self, now: f64) -> Option<Telegram<K, M>> {
        let (&when, _) = self.queue.first_key_value().filter(|(when, _)| when.at <= now)?;
        self.take(when)
    }

    fn take(&mut self, when: Arrival) -> Option<Telegram<K, M>> {
        let telegram = self.queue.remove(&when)?;
        if let Some(merging) = &mut self.merging {
            (merging.remove)(merging, when, &telegram);
        }
        Some(telegram)
    }

    /// Returns the telegrams that are due at `now`, for [`pop_next`](Self::pop_next).
    pub(crate) fn due(&self, now: f64) -> DueTelegrams {
        DueTelegrams { now, end: self.sent, rest: Bound::Unbounded }
    }

    /// Takes out the next due telegram, and skips telegrams that were queued later.
    pub(crate) fn pop_next(&mut self, due: &mut DueTelegrams) -> Option<Telegram<K, M>> {
        let rest = self.queue.range((due.rest, Bound::Unbounded)).map(|(when, _)| *when);
        let mut rest = rest.take_while(|when| when.at <= due.now);
        let when = rest.find(|when| {
            due.rest = Bound::Excluded(*when);
            when.nth < due.end
        })?;
        self.take(when)
    }

    /// Returns the window within which the queue merges telegrams, in seconds. `None` if it does not merge them.
    #[cfg(feature = "serde")]
    pub(crate) fn merging_window(&self) -> Option<f64> {
        self.merging.as_ref().map(|merging| merging.window)
    }

    /// Returns when the next telegram is due, in seconds.
    #[must_use]
    pub fn next_due(&self) -> Option<f64> {
        self.queue.first_key_value().map(|(when, _)| when.at)
    }

    /// Keeps the telegrams for which `keep` returns `true`, and removes the others. `keep` also gets the due time, in seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Dispatcher, Telegram};
    ///
    /// let mut post = Dispatcher::new();
    /// post.send_at(1.0, Telegram::new("Bob", "Elsa", "hungry"));
    /// post.send_at(2.0, Telegram::new("Elsa", "Bob", "stew ready"));
    /// post.retain(|_, telegram| telegram.receiver != "Bob");
    /// assert_eq!(post.len(), 1);
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(f64, &Telegram<K, M>) -> bool) {
        let merging = &mut self.merging;
        self.queue.retain(|when, telegram| {
            let is_kept = keep(when.at, telegram);
            if let (false, Some(merging)) = (is_kept, merging.as_mut()) {
                (merging.remove)(merging, *when, telegram);
            }
            is_kept
        });
    }

    /// Returns the queued telegrams with their due times in seconds, in the order in which they will arrive.
    ///
    /// Sending them to another dispatcher in this order, by [`send_at`](Self::send_at), copies the queue, as for a saved game.
    #[must_use = "iterators are lazy"]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, &Telegram<K, M>)> + ExactSizeIterator {
        self.queue.iter().map(|(when, telegram)| (when.at, telegram))
    }

    /// Returns how many telegrams are queued.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether no telegram is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Removes all telegrams.
    pub fn clear(&mut self) {
        self.queue.clear();
        if let Some(merging) = &mut self.merging {
            merging.between.clear();
        }
    }
}

impl<K, M> Default for Dispatcher<K, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, M: fmt::Debug> fmt::Debug for Dispatcher<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
