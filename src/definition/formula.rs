//! A compiled calculation.

use std::sync::Arc;

use super::closures::NumberField;
use super::graph::Fixed;
use super::moment::Moment;
use super::values::Number;
use crate::format::operand::Calculation;
use crate::owner::{Owner, now};

/// A calculation, with the code that reads its values from an owner.
pub(crate) type Formula<T> = Calculation<FormulaAtom<T>>;

/// A part of a [`Formula`] that is not itself a calculation.
pub(crate) enum FormulaAtom<T: Owner> {
    Number(f64),
    Value(Arc<dyn Number<T>>),
    Field(NumberField<T>),
    TimeInState,
    TimeIn(Arc<Fixed<T>>),
}

impl<T: Owner> Formula<T> {
    /// Whether it reads a field of a message.
    pub(crate) fn asks_message(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, FormulaAtom::Field(_)))
    }

    /// Returns the calculation in which the fields of a message have been read. It is never `None`.
    pub(crate) fn with(&self, message: &T::Message) -> Option<Self> {
        self.map(&|atom| {
            Some(match atom {
                FormulaAtom::Number(number) => FormulaAtom::Number(*number),
                FormulaAtom::Value(value) => FormulaAtom::Value(Arc::clone(value)),
                FormulaAtom::Field(field) => FormulaAtom::Number(field(message)),
                FormulaAtom::TimeInState => FormulaAtom::TimeInState,
                FormulaAtom::TimeIn(state) => FormulaAtom::TimeIn(Arc::clone(state)),
            })
        })
    }

    /// Returns the result. A missing value is NaN.
    pub(crate) fn result(&self, owner: &T, cx: &T::Context<'_>, moment: Moment<'_, '_, T>) -> f64 {
        self.calculated(&|atom| match atom {
            FormulaAtom::Number(number) => *number,
            FormulaAtom::Value(value) => value.read(owner, cx),
            FormulaAtom::Field(field) => moment.message.map_or(f64::NAN, |message| field(message)),
            FormulaAtom::TimeInState => now::<T>(cx) - moment.entered_at(),
            FormulaAtom::TimeIn(state) => moment.time_in(state, now::<T>(cx)),
        })
    }
}
