//! Reports of a tick, of one worker or of all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The number of citizens in each state, and the messages, births and deaths of a tick.
///
/// It is the sum over all workers, so it does not depend on the number of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Census {
    /// Number of citizens.
    pub citizens: u64,
    /// Number of citizens in each innermost state, by the state's name.
    pub states: BTreeMap<String, u64>,
    /// Number of citizens with each label, if the world [tallies](crate::World::tally) them. Counted only in observed ticks.
    pub tallies: BTreeMap<String, u64>,
    /// Number of messages that were delivered in this tick.
    pub delivered: u64,
    /// Number of delivered messages that a state handled.
    pub handled: u64,
    /// Number of messages of the previous tick that had no receiver.
    pub returned: u64,
    /// Number of messages that were sent in this tick.
    pub sent: u64,
    /// Number of citizens whose life began in this tick.
    pub born: u64,
    /// Number of citizens whose life ended in this tick. They are not in `citizens`.
    pub died: u64,
}

/// The report of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) worker: u32,
    pub(crate) census: Census,
    pub(crate) digest: u64,
    /// Number of citizens that moved to another worker.
    pub(crate) moved: u64,
    /// How long the worker was busy, in microseconds, without the time in which it waited for others.
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
