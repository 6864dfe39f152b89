//! What saving asks of a definition: the names of its states, and whether it says the same as it did.

use std::fmt::Write as _;
use std::hash::Hasher;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use super::{DefinedState, Definition};
use crate::owner::Owner;
use crate::state::StateRef;

impl<T: Owner> Definition<T> {
    /// The name of a state of this definition, even if a reload has removed it from the file. `None` if it is none.
    pub(crate) fn name_of<'s>(&self, state: &'s StateRef<T>) -> Option<&'s str> {
        let state = state.downcast_ref::<DefinedState<T>>()?;
        Arc::ptr_eq(&state.shared, &self.inner.shared).then_some(&state.fixed.name)
    }

    /// A digest of when the states of the file are left and have their turns, which decides which owners may sleep.
    pub(crate) fn digest(&self) -> u64 {
        let outline = self.outline();
        let mut text = String::new();
        for state in outline.states() {
            let (parent, initial) = (state.parent(), state.initial());
            let known = (state.name(), state.every(), state.enter_when(), parent, initial);
            // Writing to a string does not fail.
            _ = write!(text, "{known:?}{:?}", state.behaviors().collect::<Vec<_>>());
            for exit in state.exits() {
                let flags = (exit.is_always(), exit.restarts(), exit.even_final());
                _ = write!(text, "{:?}", (exit.target(), exit.after(), exit.when(), exit.on(), flags));
            }
        }
        let mut hasher = SipHasher13::new();
        hasher.write(text.as_bytes());
        hasher.finish()
    }
}

/// A digest of the digests of several definitions.
pub(crate) fn digest<'a>(each: impl Iterator<Item = (&'a String, u64)>) -> u64 {
    let mut hasher = SipHasher13::new();
    for (name, digest) in each {
        hasher.write(name.as_bytes());
        hasher.write_u64(digest);
    }
    // 0 is that of no definition.
    hasher.finish().max(1)
}
