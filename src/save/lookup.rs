//! What saving and loading ask a book: what the name of a state is, and which state has a name.

use alloc::string::String;
#[cfg(feature = "std")]
use core::any::TypeId;
#[cfg(feature = "std")]
use core::hash::Hasher;

#[cfg(feature = "std")]
use siphasher::sip::SipHasher13;

use super::book::{Missing, NamedState, OwnedType, StateBook};
use crate::owner::Owner;
use crate::state::{Identity, StateRef};

impl<T: Owner> StateBook<T> {
    /// The name under which a state is saved that is no owned one.
    pub(super) fn name_of(&self, state: &StateRef<T>) -> Option<String> {
        if let Some(name) = self.by_identity.get(&Identity::of(&**state)) {
            return Some(name.clone());
        }
        self.definitions.iter().find_map(|definition| definition.name_of(state))
    }

    /// The type of an owned state, with the name under which its states are saved.
    pub(super) fn owned_type_of(&self, state: &StateRef<T>) -> Option<(&str, &OwnedType<T>)> {
        // A shared state is no owned one; one without a size is the same either way.
        let can_be_owned = state.is_owned() || size_of_val(&**state) == 0;
        let name = self.by_owned_type.get(&Identity::of(&**state).type_id).filter(|_| can_be_owned)?;
        match self.entries.get(name) {
            Some(NamedState::Owned(owned)) => Some((name, owned)),
            _ => None,
        }
    }

    /// A name for a type of owned states: its own, or that of a state of the type.
    #[cfg(feature = "std")]
    pub(crate) fn name_of_type(&self, id: TypeId) -> Option<&str> {
        let own = self.by_owned_type.get(&id).map(String::as_str);
        own.or_else(|| {
            self.entries.iter().find_map(|(name, entry)| match entry {
                NamedState::State(state) if state.is_owned() && Identity::of(&**state).type_id == id => {
                    Some(name.as_str())
                }
                _ => None,
            })
        })
    }

    /// The type of owned states that a name is for, or that has a state of that name.
    #[cfg(feature = "std")]
    pub(crate) fn type_of_name(&self, name: &str) -> Option<TypeId> {
        match self.entries.get(name)? {
            NamedState::State(state) => state.is_owned().then(|| Identity::of(&**state).type_id),
            NamedState::Owned(owned) => Some(owned.id),
        }
    }

    /// The state of a name.
    pub(super) fn state_of(&self, name: &str) -> Option<StateRef<T>> {
        match self.entries.get(name) {
            Some(NamedState::State(state)) => return Some(state.clone()),
            Some(NamedState::Owned(_)) => return None,
            None => {}
        }
        self.definitions.iter().find_map(|definition| definition.state(name))
    }

    /// The type of owned states of a name.
    pub(super) fn owned_type(&self, name: &str) -> Option<&OwnedType<T>> {
        match self.entries.get(name)? {
            NamedState::Owned(owned) => Some(owned),
            NamedState::State(_) => None,
        }
    }

    pub(super) fn stand_in(&self, name: &str) -> Missing<T> {
        self.on_missing.as_ref().map_or(Missing::Refuse, |stand_in| stand_in(name))
    }

    /// A digest of what the definitions say; 0 without any.
    #[cfg_attr(not(feature = "std"), expect(clippy::unused_self, reason = "there are no definitions"))]
    pub(crate) fn definitions_digest(&self) -> u64 {
        #[cfg(feature = "std")]
        if !self.definitions.is_empty() {
            let mut hasher = SipHasher13::new();
            self.definitions.iter().for_each(|definition| definition.hash(&mut hasher));
            return hasher.finish().max(1);
        }
        0
    }

    /// Whether a state is from a definition.
    pub(super) fn is_defined(&self, state: &StateRef<T>) -> bool {
        self.definitions.iter().any(|definition| definition.name_of(state).is_some())
    }
}
