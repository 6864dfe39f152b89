//! Sets of states, by type or by name, and which of them a machine is in.

use core::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use demeanor::{Owner, State, StateMachine, StateRef};

/// The states of a marker, index or trigger.
#[derive(Clone)]
pub(crate) enum Which {
    /// All states of a type.
    Type(TypeId),
    /// All states with a name.
    Name(Arc<str>),
}

impl Which {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self::Type(TypeId::of::<S>())
    }

    /// Returns whether a state belongs to them. `name` is the name of the state, once it has been needed.
    #[inline]
    fn means<'s, T: Owner>(&self, state: &'s StateRef<T>, of: TypeId, name: &mut Option<Cow<'s, str>>) -> bool {
        match self {
            Self::Type(meant) => *meant == of,
            Self::Name(meant) => **meant == **name.get_or_insert_with(|| state.name()),
        }
    }

    pub(crate) fn is<T: Owner>(&self, state: &StateRef<T>) -> bool {
        self.means(state, Any::type_id(state.as_any()), &mut None)
    }
}

/// Some of the states of a [`StatesMeant`], as bits by their numbers.
pub(crate) type StateBits = u64;

/// The states of all markers, indexes or triggers, by number. A state may occur twice.
pub(crate) struct StatesMeant(Vec<Which>);

impl StatesMeant {
    /// The largest number of states.
    pub(crate) const MOST: usize = StateBits::BITS as usize;

    /// # Panics
    ///
    /// When there are more than [`StatesMeant::MOST`] states.
    pub(crate) fn new<T: Owner>(meant: impl Iterator<Item = Which>, what: &str) -> Self {
        let meant: Vec<Which> = meant.collect();
        assert!(
            meant.len() <= Self::MOST,
            "{} has {} {what}; there can be at most {}",
            type_name::<T>(),
            meant.len(),
            Self::MOST
        );
        Self(meant)
    }

    /// Returns the states that a machine is in: all active states, also those in regions, unless the current state has not been
    /// entered.
    #[inline]
    pub(crate) fn of<T: Owner>(&self, machine: &StateMachine<T>) -> StateBits {
        if !machine.is_started() {
            return 0;
        }
        machine.active_states().fold(0, |bits, state| bits | self.bits(state))
    }

    #[inline]
    fn bits<T: Owner>(&self, state: &StateRef<T>) -> StateBits {
        let (of, mut name) = (Any::type_id(state.as_any()), None);
        let numbered = self.0.iter().enumerate();
        numbered.fold(0, |bits, (number, which)| bits | StateBits::from(which.means(state, of, &mut name)) << number)
    }
}

/// Returns the numbers of the set bits, in order.
#[inline]
pub(crate) fn numbers(mut bits: StateBits) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(number)
    })
}
