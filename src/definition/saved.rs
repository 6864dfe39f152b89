//! A definition's part in saving: the names of its states, and a hash that shows whether it has changed.

use std::fmt::Write as _;
use std::hash::Hasher;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use super::{DefinedState, Definition};
use crate::owner::Owner;
use crate::save::{NamedStates, StateBook};
use crate::state::StateRef;

/// A definition whose states have names in a [`StateBook`].
struct Defined<T: Owner> {
    /// The text that the book puts before the names of the states.
    prefix: String,
    definition: Definition<T>,
}

impl<T: Owner> NamedStates<T> for Defined<T> {
    // The name is found even if a reload has removed the state from the file.
    fn name_of(&self, state: &StateRef<T>) -> Option<String> {
        let state = state.downcast_ref::<DefinedState<T>>()?;
        let is_own = Arc::ptr_eq(&state.shared, &self.definition.inner.shared);
        is_own.then(|| self.prefix.clone() + state.fixed.name.as_str())
    }

    fn state(&self, name: &str) -> Option<StateRef<T>> {
        self.definition.state(name.strip_prefix(&self.prefix)?)
    }

    fn states(&self) -> Vec<(String, StateRef<T>)> {
        self.definition.states().into_iter().map(|state| (format!("{}{state}", self.prefix), state)).collect()
    }

    /// Hashes the parts of each state that decide when its exits open and its turns come, and so which owners may sleep: its
    /// nesting, behaviors, script, `every`, `enter_when` and exits. Of a script, only the name of its file is included: an
    /// owner in a state with a script sleeps only between turns, whatever the script does.
    fn hash(&self, hasher: &mut dyn Hasher) {
        hasher.write(self.prefix.as_bytes());
        let mut text = String::new();
        for state in self.definition.outline().states() {
            let (parent, initial) = (state.parent(), state.initial());
            let known = (state.name(), state.every(), state.enter_when(), parent, initial);
            // Writing to a string does not fail.
            _ = write!(text, "{known:?}{:?}", state.behaviors().collect::<Vec<_>>());
            if state.region() > 0 || state.regions().len() > 0 {
                _ = write!(text, "{:?}", (state.region(), state.regions().collect::<Vec<_>>()));
            }
            if let Some(script) = &state.script {
                text.push_str(&script.text);
            }
            for exit in state.exits() {
                let flags = (exit.is_always(), exit.restarts(), exit.even_final());
                _ = write!(text, "{:?}", (exit.target(), exit.after(), exit.when(), exit.on(), flags));
                if exit.cooldown().is_some() || exit.at().is_some() {
                    _ = write!(text, "{:?}", (exit.cooldown(), exit.at()));
                }
            }
        }
        let mut digest = SipHasher13::new();
        digest.write(text.as_bytes());
        hasher.write_u64(digest.finish());
    }
}

impl<T: Owner> StateBook<T> {
    /// Adds all states of a definition, with their names in the file. When the definition is reloaded, its new states are also in
    /// the book.
    ///
    /// If two definitions have states with the same name, use [`with_definition_name`](Self::with_definition_name) or
    /// [`within`](Self::within).
    #[must_use]
    pub fn with_definition(self, definition: &Definition<T>) -> Self {
        let prefix = self.qualifier.clone();
        self.with_named_states(Defined { prefix, definition: definition.clone() })
    }

    /// Like [`with_definition`](Self::with_definition), but each name begins with the given name of the definition:
    /// `guard/wander`.
    #[must_use]
    pub fn with_definition_name(self, name: &str, definition: &Definition<T>) -> Self {
        self.within(name, |book| book.with_definition(definition))
    }
}
