//! Counts how often each character has entered each state.

use std::collections::BTreeMap;

use demeanor::{Change, Owner};

use super::game::Who;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Census {
    /// By the name of the state, and by the character that entered it.
    taken: BTreeMap<String, BTreeMap<Who, u32>>,
}

impl Census {
    /// Counts the state that a change leads to.
    pub(crate) fn count<T: Owner>(&mut self, who: Who, change: &Change<'_, T>) {
        let Some(to) = change.to.filter(|_| change.is_taken()) else { return };
        let name = to.name();
        if !self.taken.contains_key(&*name) {
            self.taken.insert(name.clone().into_owned(), BTreeMap::new());
        }
        if let Some(by) = self.taken.get_mut(&*name) {
            *by.entry(who).or_default() += 1;
        }
    }

    /// Returns how often a character has entered a state.
    pub(crate) fn taken(&self, state: &str, who: Who) -> u32 {
        self.taken.get(state).and_then(|by| by.get(&who)).copied().unwrap_or(0)
    }
}
