//! A compiled calculation.

use std::sync::Arc;

use super::closures::NumberField;
use super::graph::Fixed;
use super::moment::Moment;
use super::values::Number;
use crate::format::operand::{Arithmetic, Function};
use crate::owner::{Owner, now};

/// A calculation, with the code that reads its values from an owner.
pub(crate) enum Formula<T: Owner> {
    Number(f64),
    Value(Arc<dyn Number<T>>),
    Field(NumberField<T>),
    TimeInState,
    TimeIn(Arc<Fixed<T>>),
    Negative(Box<Formula<T>>),
    Calculation(Box<Formula<T>>, Arithmetic, Box<Formula<T>>),
    Call(Function, Box<[Formula<T>]>),
}

impl<T: Owner> Formula<T> {
    /// Whether it reads a field of a message.
    pub(crate) fn asks_message(&self) -> bool {
        match self {
            Self::Field(_) => true,
            Self::Negative(of) => of.asks_message(),
            Self::Calculation(left, _, right) => left.asks_message() || right.asks_message(),
            Self::Call(_, arguments) => arguments.iter().any(Self::asks_message),
            Self::Number(_) | Self::Value(_) | Self::TimeInState | Self::TimeIn(_) => false,
        }
    }

    /// Returns the calculation in which the fields of a message have been read.
    pub(crate) fn with(&self, message: &T::Message) -> Self {
        let inner = |formula: &Self| Box::new(formula.with(message));
        match self {
            Self::Number(number) => Self::Number(*number),
            Self::Value(value) => Self::Value(Arc::clone(value)),
            Self::Field(field) => Self::Number(field(message)),
            Self::TimeInState => Self::TimeInState,
            Self::TimeIn(state) => Self::TimeIn(Arc::clone(state)),
            Self::Negative(of) => Self::Negative(inner(of)),
            Self::Calculation(left, by, right) => Self::Calculation(inner(left), *by, inner(right)),
            Self::Call(function, arguments) => {
                Self::Call(*function, arguments.iter().map(|argument| argument.with(message)).collect())
            }
        }
    }

    /// Returns the result. A missing value is NaN, and each calculation with NaN results in NaN.
    pub(crate) fn result(&self, owner: &T, cx: &T::Context<'_>, moment: Moment<'_, '_, T>) -> f64 {
        let inner = |formula: &Self| formula.result(owner, cx, moment);
        match self {
            Self::Number(number) => *number,
            Self::Value(value) => value.read(owner, cx),
            Self::Field(field) => moment.message.map_or(f64::NAN, |message| field(message)),
            Self::TimeInState => now::<T>(cx) - moment.entered_at(),
            Self::TimeIn(state) => moment.time_in(state, now::<T>(cx)),
            Self::Negative(of) => -inner(of),
            Self::Calculation(left, by, right) => by.of(inner(left), inner(right)),
            Self::Call(function, arguments) => {
                let argument = |nth: usize| arguments.get(nth).map_or(0.0, inner);
                function.of(argument(0), argument(1))
            }
        }
    }
}
