//! Buckland's rule for merging: a new telegram is dropped if a similar one is queued.

use alloc::collections::BTreeSet;
use core::ops::Bound;

use super::{Arrival, Queue, Telegram};

/// The additional data of a dispatcher that merges telegrams.
///
/// It stores the functions that compare keys and messages. So only a dispatcher that merges telegrams needs keys and messages
/// that are comparable.
#[derive(Clone)]
pub(super) struct Merging<K, M> {
    /// The window, in seconds.
    pub(super) window: f64,
    /// The queued telegrams, by sender, receiver and time.
    pub(super) between: BTreeSet<Between<K>>,
    /// Records a new telegram. Returns `false` if it must be dropped, because a similar one is queued.
    pub(super) add: Add<K, M>,
    /// Removes the entry of a telegram that has left the queue.
    pub(super) remove: fn(&mut Self, Arrival, &Telegram<K, M>),
}

type Add<K, M> = fn(&mut Merging<K, M>, Arrival, &Telegram<K, M>, &Queue<K, M>) -> bool;

pub(super) type Between<K> = (K, K, Arrival);

impl<K: Clone + Ord, M: PartialEq> Merging<K, M> {
    pub(super) const fn within(window: f64) -> Self {
        Self { window, between: BTreeSet::new(), add: Self::add_unless_alike, remove: Self::remove_between }
    }

    fn add_unless_alike(&mut self, when: Arrival, new: &Telegram<K, M>, queue: &Queue<K, M>) -> bool {
        let at = |when| (new.sender.clone(), new.receiver.clone(), when);
        // The difference of two equal infinite times is NaN. `max` ignores NaN.
        let earliest = Arrival { at: (when.at - self.window).max(f64::NEG_INFINITY), nth: 0 };
        let later_by = |other: &Arrival| {
            let gap = other.at - when.at;
            if gap.is_nan() { 0.0 } else { gap }
        };
        let mut near = self.between.range((Bound::Included(at(earliest)), Bound::Unbounded)).take_while(
            |(sender, receiver, other)| {
                *sender == new.sender && *receiver == new.receiver && later_by(other) < self.window
            },
        );
        let is_near = |other: &Arrival| later_by(other) > -self.window;
        if near.any(|(_, _, other)| is_near(other) && queue.get(other).is_some_and(|queued| queued == new)) {
            return false;
        }
        self.between.insert(at(when));
        true
    }

    fn remove_between(&mut self, when: Arrival, telegram: &Telegram<K, M>) {
        self.between.remove(&(telegram.sender.clone(), telegram.receiver.clone(), when));
    }
}
