//! Contenders: different ways to store owners and their machines.

use crate::workload::Context;

/// The number of ticks in which every owner changes, so that the owners are spread randomly over the states.
pub(crate) const SCATTERING_TICKS: usize = 4;

/// One way to run the workload. A new contender has its owners in `Idle`, which they have already entered.
pub(crate) trait Contender {
    /// Updates every owner once, and carries out the changes that the owners request.
    fn tick(&mut self, cx: &Context);

    /// Spreads the owners over the states before the measurement.
    fn scatter(&mut self) {
        let everybody_changes = Context::with_churn(1.0);
        for _ in 0..SCATTERING_TICKS {
            self.tick(&everybody_changes);
        }
    }

    /// Returns the sum over all owners; their order does not matter.
    fn checksum(&self) -> u64;
}

/// A contender, with its name in the tables.
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    pub(crate) contender: Box<dyn Contender>,
}

/// The name of a contender in the tables, and a function that creates it with a given number of owners.
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
