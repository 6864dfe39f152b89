//! Telegrams, and the queue that holds those that are to arrive later.
//!
//! The queue does not know the receivers: a [`Cast`](crate::Cast) delivers to its members, other users to whatever their keys
//! stand for.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

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

/// A queue of telegrams that are to arrive later, in the order of their due times and then of sending.
///
/// It has no clock: methods take the time, in seconds, of any clock that does not run backwards. [`pop_due`](Self::pop_due)
/// takes out the telegrams that are due, one at a time, so that a receiver can send others meanwhile.
///
/// Every telegram arrives as often as it is sent, also if several have the same due time. Buckland's dispatcher drops a
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
    queue: BinaryHeap<Queued<K, M>>,
    /// How many telegrams have been queued: the next one's number.
    sent: u64,
    merging: Option<Merging<K, M>>,
}

/// When one of two telegrams is dropped.
#[derive(Clone)]
struct Merging<K, M> {
    /// In seconds.
    window: f64,
    /// A function, so that only a dispatcher that merges needs messages that can be compared.
    is_same: fn(&Telegram<K, M>, &Telegram<K, M>) -> bool,
}

#[derive(Clone)]
struct Queued<K, M> {
    /// In seconds. Never NaN and never the negative zero, so that `total_cmp` is the order of numbers.
    due: f64,
    number: u64,
    telegram: Telegram<K, M>,
}

impl<K, M> Dispatcher<K, M> {
    /// Creates an empty queue that keeps every telegram.
    #[must_use]
    pub const fn new() -> Self {
        Self { queue: BinaryHeap::new(), sent: 0, merging: None }
    }

    /// Creates an empty queue with Buckland's rule: a telegram is dropped when one with the same sender, receiver and message
    /// is queued whose due time is less than `window` seconds away. His window is 0.25.
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
    #[must_use]
    pub const fn merging_within(window: f64) -> Self
    where
        K: PartialEq,
        M: PartialEq,
    {
        Self { queue: BinaryHeap::new(), sent: 0, merging: Some(Merging { window, is_same: PartialEq::eq }) }
    }

    /// Queues a telegram to arrive `delay` seconds after `now`. If `delay` is negative or not a number, it is due at once.
    ///
    /// Returns whether it was queued: always, unless telegrams are [merged](Self::merging_within).
    pub fn send_after(&mut self, delay: f64, telegram: Telegram<K, M>, now: f64) -> bool {
        let delay = if delay > 0.0 { delay } else { 0.0 };
        self.send_at(now + delay, telegram)
    }

    /// Queues a telegram to arrive at `due`, in seconds. If that time has passed or is not a number, it is due at once.
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
        // Adding zero makes the negative zero a positive one.
        let due = if due.is_nan() { f64::NEG_INFINITY } else { due + 0.0 };
        if self.is_merged(due, &telegram) {
            return false;
        }
        self.queue.push(Queued { due, number: self.sent, telegram });
        self.sent += 1;
        true
    }

    /// Takes out the telegram that has been due the longest, if any is due at `now`.
    ///
    /// Call it until it returns `None`. It also returns telegrams that are sent meanwhile, if they are due.
    pub fn pop_due(&mut self, now: f64) -> Option<Telegram<K, M>> {
        if self.next_due()? <= now { self.queue.pop().map(|queued| queued.telegram) } else { None }
    }

    /// Returns when the next telegram is due, in seconds.
    #[must_use]
    pub fn next_due(&self) -> Option<f64> {
        self.queue.peek().map(|queued| queued.due)
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
        self.queue.retain(|queued| keep(queued.due, &queued.telegram));
    }

    /// Returns the queued telegrams with their due times in seconds, in the order in which they will arrive.
    ///
    /// Sending them to another dispatcher in this order, by [`send_at`](Self::send_at), copies the queue, as for a saved game.
    #[must_use = "iterators are lazy"]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, &Telegram<K, M>)> + ExactSizeIterator {
        let mut queue: Vec<_> = self.queue.iter().collect();
        // The heap's greatest is the first to arrive.
        queue.sort_unstable_by(|a, b| b.cmp(a));
        queue.into_iter().map(|queued| (queued.due, &queued.telegram))
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
    }

    fn is_merged(&self, due: f64, telegram: &Telegram<K, M>) -> bool {
        let Some(Merging { window, is_same }) = &self.merging else { return false };
        let is_near = |other: f64| other - due < *window && due - other < *window;
        self.queue.iter().any(|queued| is_near(queued.due) && is_same(&queued.telegram, telegram))
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

/// The greatest is the first to arrive: the earliest due, and of these the first sent.
impl<K, M> Ord for Queued<K, M> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.total_cmp(&self.due).then(other.number.cmp(&self.number))
    }
}

impl<K, M> PartialOrd for Queued<K, M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K, M> PartialEq for Queued<K, M> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K, M> Eq for Queued<K, M> {}
