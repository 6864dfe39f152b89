//! The members of a cast as a crowd, whatever the types of their owners. A member that is acting is left out.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

use demeanor::{Cast, Journal, MachineReport, Members, StateReport};

use super::agents::together;
use super::{Count, Crowd};

impl<K, M, C> Crowd for Members<K, M, C>
where
    K: Copy + Ord + Hash + Debug + Send + Sync + 'static,
    M: 'static,
    C: 'static,
{
    type Key = K;
    /// The context of the members' callbacks: the cast, or the game's struct.
    type Context<'a> = C;

    fn now(&self, _: &C) -> f64 {
        Self::now(self)
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn awake(&self) -> Option<usize> {
        None
    }

    fn journal(&self) -> Option<&Journal<K>> {
        Self::journal(self)
    }

    fn census(&self, cx: &C) -> Vec<Count> {
        let paths = self.keys().filter_map(|key| Self::report(self, key, cx)).flat_map(paths_of);
        together(paths.map(|path| Count { path, owners: 1 }))
    }

    fn stays(&self, places: Range<usize>, cx: &C, visit: &mut dyn FnMut(K, f64)) {
        for key in self.keys().take(places.end).skip(places.start) {
            if let Some(current) = Self::report(self, key, cx).and_then(|report| report.path.into_iter().next_back()) {
                visit(*key, current.seconds);
            }
        }
    }

    fn label(&self, key: K) -> Option<String> {
        self.contains(&key).then(|| format!("{key:?}"))
    }

    fn report(&self, key: K, cx: &C) -> Option<MachineReport> {
        Self::report(self, &key, cx)
    }

    fn find(&self, text: &str) -> Option<K> {
        self.keys().copied().find(|key| self.key_text(*key) == text)
    }
}

impl<K, M, W> Crowd for Cast<K, M, W>
where
    K: Copy + Ord + Hash + Debug + Send + Sync + 'static,
    M: 'static,
    W: 'static,
{
    type Key = K;
    type Context<'a> = Self;

    fn now(&self, _: &Self) -> f64 {
        Members::now(self)
    }

    fn len(&self) -> usize {
        Members::len(self)
    }

    fn journal(&self) -> Option<&Journal<K>> {
        Members::journal(self)
    }

    fn census(&self, cx: &Self) -> Vec<Count> {
        Crowd::census(&**self, cx)
    }

    fn stays(&self, places: Range<usize>, cx: &Self, visit: &mut dyn FnMut(K, f64)) {
        Crowd::stays(&**self, places, cx, visit);
    }

    fn label(&self, key: K) -> Option<String> {
        Crowd::label(&**self, key)
    }

    fn report(&self, key: K, cx: &Self) -> Option<MachineReport> {
        Crowd::report(&**self, key, cx)
    }

    fn find(&self, text: &str) -> Option<K> {
        Crowd::find(&**self, text)
    }
}

/// Returns the path to the current state of a machine, and to the innermost state in each region, from a report of the machine.
fn paths_of(report: MachineReport) -> Vec<Vec<String>> {
    let names = |path: Vec<StateReport>| path.into_iter().map(|state| state.name);
    let mut paths: Vec<Vec<String>> = vec![names(report.path).collect()];
    for region in report.regions.into_iter().filter(|region| !region.path.is_empty()) {
        let around = paths.iter().rev().find(|path| path.last() == Some(&region.within)).cloned().unwrap_or_default();
        paths.push(around.into_iter().chain(names(region.path)).collect());
    }
    paths.retain(|path| !path.is_empty());
    paths
}
