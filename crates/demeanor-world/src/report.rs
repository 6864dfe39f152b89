//! What happened in a tick, of one worker or of all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many citizens are in which state, and what the post has done.
///
/// It is the sum over all workers, so that it does not depend on how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Census {
    /// How many citizens there are.
    pub citizens: u64,
    /// How many of them are in which innermost state, by the state's name.
    pub states: BTreeMap<String, u64>,
    /// How many citizens have which label, if the world [tallies](crate::World::tally) them. Counted in ticks that are observed.
    pub tallies: BTreeMap<String, u64>,
    /// How many messages were delivered in this tick.
    pub delivered: u64,
    /// How many of them a state handled.
    pub handled: u64,
    /// How many messages of the tick before had no receiver.
    pub returned: u64,
    /// How many messages were sent in this tick.
    pub sent: u64,
    /// How many citizens began to live in this tick.
    pub born: u64,
    /// How many citizens ended in this tick. They are not in `citizens` any more.
    pub died: u64,
}

/// One worker's part of a tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) worker: u32,
    pub(crate) census: Census,
    pub(crate) digest: u64,
    /// How many citizens went to another worker.
    pub(crate) moved: u64,
    /// How long the worker was busy, in microseconds: all but waiting for others.
    pub(crate) busy: u64,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { worker: _, census, digest, moved, busy } = other;
        self.census.add(census);
        self.digest = self.digest.wrapping_add(*digest);
        self.moved += moved;
        self.busy = self.busy.max(*busy);
    }
}

impl Census {
    fn add(&mut self, other: &Self) {
        let Self { citizens, states, tallies, delivered, handled, returned, sent, born, died } = other;
        self.citizens += citizens;
        self.delivered += delivered;
        self.handled += handled;
        self.returned += returned;
        self.sent += sent;
        self.born += born;
        self.died += died;
        for (sums, counts) in [(&mut self.states, states), (&mut self.tallies, tallies)] {
            for (name, count) in counts {
                *sums.entry(name.clone()).or_default() += count;
            }
        }
    }
}
