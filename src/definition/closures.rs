//! The closures that a game registers in a vocabulary.

use std::sync::Arc;

use super::values::{Flag, Number};
use crate::format::words::ValueKind;
use crate::owner::Owner;

/// A value that a condition reads: a number or a flag.
#[derive(Clone)]
pub(crate) enum Reading<N, F> {
    Number(N),
    Flag(F),
}

/// A value that a condition reads from an owner.
pub(crate) type Value<T> = Reading<Arc<dyn Number<T>>, Arc<dyn Flag<T>>>;

impl<N, F> Reading<N, F> {
    pub(crate) fn kind(&self) -> ValueKind {
        match self {
            Self::Number(_) => ValueKind::Number,
            Self::Flag(_) => ValueKind::Flag,
        }
    }

    pub(crate) fn number(self) -> Option<N> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(crate) fn flag(self) -> Option<F> {
        if let Self::Flag(flag) = self { Some(flag) } else { None }
    }
}

/// Draws a random number from 0 to below 1.
pub(crate) type Random<T> = Arc<dyn Fn(&mut T, &mut <T as Owner>::Context<'_>) -> f64 + Send + Sync>;

/// Returns whether a message is of a certain kind.
pub(crate) type MessageKind<T> = Arc<dyn Fn(&<T as Owner>::Message) -> bool + Send + Sync>;

/// Runs an action on an owner. The number is the argument of the action.
pub(crate) type ActionFn<T> = Arc<dyn Fn(&mut T, f64, &mut <T as Owner>::Context<'_>) + Send + Sync>;

/// Writes a value of an owner.
pub(crate) type Setter<T> = Arc<dyn Fn(&mut T, f64) + Send + Sync>;

/// Reads a number of a message.
pub(crate) type NumberField<T> = Arc<dyn Fn(&<T as Owner>::Message) -> f64 + Send + Sync>;

/// Reads a flag of a message.
pub(crate) type FlagField<T> = Arc<dyn Fn(&<T as Owner>::Message) -> bool + Send + Sync>;

/// A field of a message.
pub(crate) type Field<T> = Reading<NumberField<T>, FlagField<T>>;
