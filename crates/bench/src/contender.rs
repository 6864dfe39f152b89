//! What is measured: a way to keep owners and their machines.

use crate::workload::Context;

/// One way to run the workload. It is made with its owners in `Idle`, which they have entered.
pub(crate) trait Contender {
    /// Updates every owner once, and carries out the changes they ask for.
    fn tick(&mut self, cx: &Context);

    /// Sums up the owners, in any order.
    fn checksum(&self) -> u64;
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
}
