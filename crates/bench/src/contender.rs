//! What is measured: a way to keep owners and their machines.

use crate::workload::Context;

/// Ticks in which every owner changes: they spread the owners over the states at random.
pub(crate) const SCATTERING_TICKS: usize = 4;

/// One way to run the workload. It is made with its owners in `Idle`, which they have entered.
pub(crate) trait Contender {
    /// Updates every owner once, and carries out the changes they ask for.
    fn tick(&mut self, cx: &Context);

    /// Spreads the owners over the states, before anything is measured.
    fn scatter(&mut self) {
        let everybody_changes = Context::with_churn(1.0);
        for _ in 0..SCATTERING_TICKS {
            self.tick(&everybody_changes);
        }
    }

    /// Sums up the owners, in any order.
    fn checksum(&self) -> u64;
}

/// A contender in a race, under its name in the tables.
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    pub(crate) contender: Box<dyn Contender>,
}

/// A contender's name in the tables, and how to make one for so many owners.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) make: fn(usize) -> Box<dyn Contender>,
}

impl Entry {
    pub(crate) const fn new(name: &'static str, make: fn(usize) -> Box<dyn Contender>) -> Self {
        Self { name, make }
    }

    pub(crate) fn entrant(&self, owners: usize) -> Entrant {
        Entrant { name: self.name, contender: (self.make)(owners) }
    }
}
