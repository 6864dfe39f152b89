//! The sums over all workers, as the inspector shows them.

use std::ops::Range;

use demeanor::MachineReport;
use demeanor_inspector::{Count, Crowd, Inspector};

use crate::report::Census;

/// The number of citizens in each state, in all processes. Single citizens cannot be shown, because they live in other
/// processes.
pub(crate) struct Sums<'c> {
    pub(crate) census: &'c Census,
}

impl Crowd for Sums<'_> {
    type Key = u64;
    /// The time of the citizens' clock.
    type Context<'a> = f64;

    fn now(&self, now: &f64) -> f64 {
        *now
    }

    fn len(&self) -> usize {
        usize::try_from(self.census.citizens).unwrap_or(usize::MAX)
    }

    fn census(&self, _: &f64) -> Vec<Count> {
        let states = self.census.states.iter();
        states.map(|(name, &owners)| Count { path: vec![name.clone()], owners: count(owners) }).collect()
    }

    fn stays(&self, _: Range<usize>, _: &f64, _: &mut dyn FnMut(u64, f64)) {}

    fn label(&self, _: u64) -> Option<String> {
        None
    }

    fn report(&self, _: u64, _: &f64) -> Option<MachineReport> {
        None
    }

    fn find(&self, _: &str) -> Option<u64> {
        None
    }
}

fn count(owners: u64) -> usize {
    usize::try_from(owners).unwrap_or(usize::MAX)
}

pub(crate) fn show(inspector: &mut Inspector, now: f64, census: &Census) {
    inspector.show("world", &Sums { census }, &now);
}
