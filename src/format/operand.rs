//! One side of a comparison: a number, true or false, a value, a time, or a calculation.

use std::fmt;
use std::ops::Range;

use super::name::{Name, is_word};

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Number(f64),
    Bool(bool),
    Value(Name),
    /// A field of the message that an exit waits for. The name does not include the prefix `message.`.
    Field(Name),
    TimeInState(Range<usize>),
    /// The time in the state with this name.
    TimeIn(Name),
    Negative(Box<Operand>),
    Calculation(Box<Operand>, Arithmetic, Box<Operand>),
    Call(Function, Vec<Operand>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Least,
    Greatest,
    Absolute,
}

/// All functions.
pub(crate) const FUNCTIONS: [Function; 3] = [Function::Least, Function::Greatest, Function::Absolute];

impl Operand {
    /// Calls `see` for the operand and for all its parts.
    pub(crate) fn visit<'o>(&'o self, see: &mut impl FnMut(&'o Self)) {
        see(self);
        match self {
            Self::Negative(inner) => inner.visit(see),
            Self::Calculation(left, _, right) => {
                left.visit(see);
                right.visit(see);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.visit(see)),
            _ => {}
        }
    }

    /// Like [`visit`](Self::visit), but the parts can be changed.
    pub(crate) fn visit_mut(&mut self, see: &mut impl FnMut(&mut Self)) {
        see(self);
        match self {
            Self::Negative(inner) => inner.visit_mut(see),
            Self::Calculation(left, _, right) => {
                left.visit_mut(see);
                right.visit_mut(see);
            }
            Self::Call(_, arguments) => arguments.iter_mut().for_each(|argument| argument.visit_mut(see)),
            _ => {}
        }
    }

    /// Returns the first use of the value with this name.
    pub(crate) fn first_value(&self, name: &str) -> Option<&Name> {
        let mut first = None;
        self.visit(&mut |part| match part {
            Self::Value(value) if value.text == name => first = first.or(Some(value)),
            _ => {}
        });
        first
    }

    fn any(&self, mut is: impl FnMut(&Self) -> bool) -> bool {
        let mut any = false;
        self.visit(&mut |part| any |= is(part));
        any
    }

    /// Whether it contains a value of the game, a field of a message or a time, so that its result is not always the same.
    pub(crate) fn is_read(&self) -> bool {
        self.any(|part| matches!(part, Self::Value(_) | Self::Field(_) | Self::TimeInState(_) | Self::TimeIn(_)))
    }

    /// Whether it contains a time.
    pub(crate) fn has_time(&self) -> bool {
        self.any(|part| matches!(part, Self::TimeInState(_) | Self::TimeIn(_)))
    }

    /// Whether it is a number, true or false, a value of the game, or `time_in_state`.
    pub(crate) fn is_simple(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Bool(_) | Self::Value(_) | Self::TimeInState(_))
    }

    /// Returns the precedence of the outermost operator. An operator with a higher precedence is applied first.
    fn binding(&self) -> u8 {
        match self {
            Self::Calculation(_, Arithmetic::Add | Arithmetic::Subtract, _) => 1,
            Self::Calculation(..) => 2,
            _ => 3,
        }
    }
}

impl Arithmetic {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }

    /// Returns the result. A division by 0 returns NaN.
    #[inline]
    pub(crate) fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide if right == 0.0 => f64::NAN,
            Self::Divide => left / right,
        }
    }
}

impl Function {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Least => "min",
            Self::Greatest => "max",
            Self::Absolute => "abs",
        }
    }

    /// Returns the number of arguments.
    pub(crate) fn takes(self) -> usize {
        match self {
            Self::Least | Self::Greatest => 2,
            Self::Absolute => 1,
        }
    }

    /// Returns the result. It is NaN if an operand is NaN.
    pub(crate) fn of(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Absolute => first.abs(),
            _ if first.is_nan() || second.is_nan() => f64::NAN,
            Self::Least => first.min(second),
            Self::Greatest => first.max(second),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |f: &mut fmt::Formatter<'_>, part: &Self, least: u8| {
            if part.binding() < least { write!(f, "({part})") } else { write!(f, "{part}") }
        };
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Value(name) => f.write_str(&name.text),
            Self::Field(name) => write!(f, "message.{name}"),
            Self::TimeInState(_) => f.write_str("time_in_state"),
            Self::TimeIn(name) => write!(f, "time_in({})", Quoted(&name.text)),
            Self::Negative(inner) => {
                f.write_str("-")?;
                within(f, inner, 3)
            }
            Self::Calculation(left, by, right) => {
                within(f, left, self.binding())?;
                write!(f, " {} ", by.sign())?;
                within(f, right, self.binding() + 1)
            }
            Self::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "{}({})", function.name(), arguments.join(", "))
            }
        }
    }
}

/// The name of a state in a condition. It is written in quotes if it is not a word.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(self.0) { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0) }
    }
}
