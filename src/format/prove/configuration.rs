//! Which states of a machine with regions can be active together.

use std::collections::{HashMap, HashSet};

use crate::format::outline::{ExitId, Outline, StateId};

/// States that can be active together, given by the innermost ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Configuration(Vec<StateId>);

impl Configuration {
    pub(super) fn new(mut innermost: Vec<StateId>) -> Self {
        innermost.sort();
        Self(innermost)
    }

    pub(super) fn innermost(&self) -> &[StateId] {
        &self.0
    }

    pub(super) fn has(&self, outline: &Outline, id: StateId) -> bool {
        self.0.iter().any(|innermost| outline.is_within(*innermost, id))
    }
}

/// The configurations that are possible.
#[derive(Debug)]
pub(super) struct Configurations {
    pub(super) all: Vec<Configuration>,
    /// The indices of the configurations with each innermost state.
    with: HashMap<StateId, Vec<usize>>,
    /// The exits that can be taken in at least one configuration.
    pub(super) taken: HashSet<ExitId>,
}

impl Configurations {
    /// Creates a set of configurations. `taken` has the exits that can be taken in at least one of them.
    pub(super) fn new(all: Vec<Configuration>, taken: HashSet<ExitId>) -> Self {
        let mut with: HashMap<_, Vec<_>> = HashMap::new();
        for (at, configuration) in all.iter().enumerate() {
            configuration.0.iter().for_each(|id| with.entry(*id).or_default().push(at));
        }
        Self { all, with, taken }
    }

    /// Whether the state `id` is active in all configurations with the state `innermost`, or in none. `None` if they differ.
    pub(super) fn is_beside(&self, outline: &Outline, innermost: StateId, id: StateId) -> Option<bool> {
        let mut with = self.with.get(&innermost)?.iter().map(|at| self.all[*at].has(outline, id));
        let first = with.next()?;
        with.all(|has| has == first).then_some(first)
    }
}
