//! One side of a comparison: a number, true or false, a value, a time, or a calculation.

use std::fmt;
use std::iter;
use std::ops::Range;

use super::name::{Name, is_word};

/// The prefix of a field of a message.
pub(crate) const OF_MESSAGE: &str = "message.";

/// One side of a comparison, in its written form.
pub(crate) type Operand = Calculation<Atom>;

/// A calculation with atoms, or a single atom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Calculation<A> {
    Atom(A),
    Negative(Box<Self>),
    Binary(Box<Self>, Arithmetic, Box<Self>),
    Call(Function, Vec<Self>),
}

/// A part of a calculation that is not itself a calculation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Atom {
    Number(f64),
    Bool(bool),
    Input(Input),
    TimeInState(Range<usize>),
    /// The time in the state with this name.
    TimeIn(Name),
}

/// A value of the game, or a field of the message that an exit waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    /// The name. That of a field does not include the prefix `message.`.
    pub(crate) name: Name,
    pub(crate) is_field: bool,
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

impl<A> From<A> for Calculation<A> {
    fn from(atom: A) -> Self {
        Self::Atom(atom)
    }
}

impl<A> Calculation<A> {
    /// Returns the atoms, in the order in which they are written.
    pub(crate) fn atoms(&self) -> Box<dyn Iterator<Item = &A> + '_> {
        match self {
            Self::Atom(atom) => Box::new(iter::once(atom)),
            Self::Negative(inner) => inner.atoms(),
            Self::Binary(left, _, right) => Box::new(left.atoms().chain(right.atoms())),
            Self::Call(_, arguments) => Box::new(arguments.iter().flat_map(Self::atoms)),
        }
    }

    /// Like [`atoms`](Self::atoms), but the atoms can be changed.
    pub(crate) fn atoms_mut(&mut self) -> Box<dyn Iterator<Item = &mut A> + '_> {
        match self {
            Self::Atom(atom) => Box::new(iter::once(atom)),
            Self::Negative(inner) => inner.atoms_mut(),
            Self::Binary(left, _, right) => Box::new(left.atoms_mut().chain(right.atoms_mut())),
            Self::Call(_, arguments) => Box::new(arguments.iter_mut().flat_map(Self::atoms_mut)),
        }
    }

    /// Returns the same calculation with other atoms. `None` if `to` returns `None` for an atom.
    pub(crate) fn map<B>(&self, to: &impl Fn(&A) -> Option<B>) -> Option<Calculation<B>> {
        let inner = |of: &Self| of.map(to).map(Box::new);
        Some(match self {
            Self::Atom(atom) => Calculation::Atom(to(atom)?),
            Self::Negative(of) => Calculation::Negative(inner(of)?),
            Self::Binary(left, by, right) => Calculation::Binary(inner(left)?, *by, inner(right)?),
            Self::Call(function, arguments) => {
                Calculation::Call(*function, arguments.iter().map(|of| of.map(to)).collect::<Option<_>>()?)
            }
        })
    }

    /// Returns the result. `read` returns the number of an atom. Each calculation with NaN results in NaN.
    pub(crate) fn calculated(&self, read: &impl Fn(&A) -> f64) -> f64 {
        match self {
            Self::Atom(atom) => read(atom),
            Self::Negative(of) => -of.calculated(read),
            Self::Binary(left, by, right) => by.of(left.calculated(read), right.calculated(read)),
            Self::Call(function, arguments) => {
                let argument = |nth: usize| arguments.get(nth).map_or(0.0, |of| of.calculated(read));
                function.of(argument(0), argument(1))
            }
        }
    }

    /// Returns the precedence of the outermost operator. An operator with a higher precedence is applied first.
    fn binding(&self) -> u8 {
        match self {
            Self::Binary(_, Arithmetic::Add | Arithmetic::Subtract, _) => 1,
            Self::Binary(..) => 2,
            _ => 3,
        }
    }
}

impl Operand {
    /// Returns the values of the game and the fields of the message.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.atoms().filter_map(|atom| if let Atom::Input(input) = atom { Some(input) } else { None })
    }

    /// Returns the first use of the value with this name.
    pub(crate) fn first_value(&self, name: &str) -> Option<&Name> {
        self.inputs().find_map(|input| input.named(name))
    }

    /// Whether it contains a value of the game, a field of a message or a time, so that its result is not always the same.
    pub(crate) fn is_read(&self) -> bool {
        self.atoms().any(|atom| !matches!(atom, Atom::Number(_) | Atom::Bool(_)))
    }

    /// Whether it contains a time.
    pub(crate) fn has_time(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::TimeInState(_) | Atom::TimeIn(_)))
    }

    /// Whether it is a number, true or false, a value of the game, or `time_in_state`.
    pub(crate) fn is_simple(&self) -> bool {
        match self {
            Self::Atom(Atom::Input(input)) => !input.is_field,
            Self::Atom(atom) => !matches!(atom, Atom::TimeIn(_)),
            _ => false,
        }
    }
}

impl Input {
    /// Returns its name, if it is the value of the game with this name.
    pub(crate) fn named(&self, value: &str) -> Option<&Name> {
        (!self.is_field && self.name.text == value).then_some(&self.name)
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
            Self::Atom(Atom::Number(number)) => write!(f, "{number}"),
            Self::Atom(Atom::Bool(yes)) => write!(f, "{yes}"),
            Self::Atom(Atom::Input(input)) => write!(f, "{input}"),
            Self::Atom(Atom::TimeInState(_)) => f.write_str("time_in_state"),
            Self::Atom(Atom::TimeIn(name)) => write!(f, "time_in({})", Quoted(&name.text)),
            Self::Negative(inner) => {
                f.write_str("-")?;
                within(f, inner, 3)
            }
            Self::Binary(left, by, right) => {
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

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_field { OF_MESSAGE } else { "" }, self.name)
    }
}

/// The name of a state in a condition. It is written in quotes if it is not a word.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(self.0) { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0) }
    }
}
