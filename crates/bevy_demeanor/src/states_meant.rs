//! Which of the states that a system has asked for a machine is in.

use core::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use demeanor::{Owner, State, StateMachine, StateRef};

/// Which states are meant by who asks for some.
#[derive(Clone)]
pub(crate) enum Which {
    /// Those of a type.
    Type(TypeId),
    /// Those of a name.
    Name(Arc<str>),
}

impl Which {
    pub(crate) fn of<T: Owner, S: State<T>>() -> Self {
        Self::Type(TypeId::of::<S>())
    }

    /// Whether a state of a type is meant. `name` is its name, once that has been asked for.
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

/// What states are meant, by number. Some may be there twice.
pub(crate) struct StatesMeant(Vec<Which>);

impl StatesMeant {
    /// How many there can be.
    pub(crate) const MOST: usize = StateBits::BITS as usize;

    /// # Panics
    ///
    /// When there are more than [`StatesMeant::MOST`].
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

    /// Those in which a machine is: by current and its ancestors, unless current has not been entered.
    #[inline]
    pub(crate) fn of<T: Owner>(&self, machine: &StateMachine<T>) -> StateBits {
        if !machine.is_started() {
            return 0;
        }
        machine.path().fold(0, |bits, state| bits | self.bits(state))
    }

    #[inline]
    fn bits<T: Owner>(&self, state: &StateRef<T>) -> StateBits {
        let (of, mut name) = (Any::type_id(state.as_any()), None);
        let numbered = self.0.iter().enumerate();
        numbered.fold(0, |bits, (number, which)| bits | StateBits::from(which.means(state, of, &mut name)) << number)
    }
}

/// The numbers of some states, in order.
#[inline]
pub(crate) fn numbers(mut bits: StateBits) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(number)
    })
}
