//! Which of the types of states that somebody has asked for a machine is in.

use core::any::{Any, TypeId, type_name};

use demeanor::{Owner, State, StateMachine};

/// Some of the types of a [`StateTypes`], as bits by their numbers.
pub(crate) type TypeBits = u64;

/// Types of states, by number. One may be there twice.
pub(crate) struct StateTypes(Vec<TypeId>);

impl StateTypes {
    /// How many there can be.
    pub(crate) const MOST: usize = TypeBits::BITS as usize;

    /// # Panics
    ///
    /// When there are more than [`StateTypes::MOST`].
    pub(crate) fn new<T: Owner>(types: impl Iterator<Item = TypeId>, what: &str) -> Self {
        let types: Vec<TypeId> = types.collect();
        assert!(
            types.len() <= Self::MOST,
            "{} has {} {what}; there can be at most {}",
            type_name::<T>(),
            types.len(),
            Self::MOST
        );
        Self(types)
    }

    /// Those in which a machine is: the types of current and of its ancestors, unless current has not been entered.
    #[inline]
    pub(crate) fn of<T: Owner>(&self, machine: &StateMachine<T>) -> TypeBits {
        if !machine.is_started() {
            return 0;
        }
        machine.path().fold(0, |bits, state| bits | self.bits(Any::type_id(state.as_any())))
    }

    #[inline]
    fn bits(&self, of: TypeId) -> TypeBits {
        self.0.iter().enumerate().fold(0, |bits, (number, id)| bits | TypeBits::from(*id == of) << number)
    }
}

/// The numbers of some types, in order.
#[inline]
pub(crate) fn numbers(mut bits: TypeBits) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(number)
    })
}

/// The type of a state, as [`StateTypes`] knows it.
pub(crate) fn id<T: Owner, S: State<T>>() -> TypeId {
    TypeId::of::<S>()
}
