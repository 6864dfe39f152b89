//! Counts of a journal's entries, by the symbols of the states' names.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::entry::{Symbol, Way};
use super::flow::{Flow, NamedWay};
use super::stays::Stays;

#[derive(Clone)]
pub(super) struct Tally {
    counts: Vec<(Way, u64)>,
    /// The index of each way in `counts`.
    places: HashMap<Way, usize, FxBuildHasher>,
    /// The index in `counts` of the way that was counted last. The next changes often have the same way.
    last: usize,
    /// How long owners stayed in each state, by the symbol of the state's name.
    stays: Vec<Stays>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self { counts: Vec::new(), places: HashMap::default(), last: 0, stays: Vec::new() }
    }

    /// Counts changes of one way. For each change, `times_in_state` has the seconds for which the old state had been active.
    pub(super) fn count(&mut self, way: Way, times_in_state: impl ExactSizeIterator<Item = f32>) {
        if self.counts.get(self.last).is_none_or(|(last, _)| *last != way) {
            self.last = self.place(way);
        }
        self.counts[self.last].1 += times_in_state.len() as u64;
        if way.shortfall.is_none() && way.from < Symbol::OTHER {
            let from = usize::from(way.from.0);
            if self.stays.len() <= from {
                self.stays.resize_with(from + 1, Stays::default);
            }
            let stays = &mut self.stays[from];
            times_in_state.for_each(|time_in_state| stays.note(time_in_state.into()));
        }
    }

    fn place(&mut self, way: Way) -> usize {
        *self.places.entry(way).or_insert_with(|| {
            self.counts.push((way, 0));
            self.counts.len() - 1
        })
    }

    /// Returns how many changes, made or refused, and early ends have been counted.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn flow<'j>(&self, name: impl Fn(Symbol) -> Option<&'j str>) -> Flow {
        let mut flow = Flow::new();
        for &(Way { from, to, state, cause, shortfall }, count) in &self.counts {
            let (from, to) = (name(from).map(Box::from), name(to).map(Box::from));
            let shortfall = shortfall.map(|why| (why, name(state).unwrap_or_default().into()));
            flow.add(NamedWay { from, to, cause, shortfall }, count);
        }
        for (nth, stays) in self.stays.iter().enumerate() {
            if let Some(name) = Symbol::nth(nth).and_then(&name).filter(|_| stays.count() > 0) {
                flow.add_stays(name.into(), stays);
            }
        }
        flow
    }
}
