//! Claims about a situation: comparisons of quantities with constants, joined by `and` and `or`.

use std::rc::Rc;

use crate::format::expression::Comparison;
use crate::format::outline::StateId;

/// Something whose value may differ from one situation to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Quantity {
    /// A number of the game.
    Number(Rc<str>),
    /// A flag of the game.
    Flag(Rc<str>),
    /// A number in a message: the name of the message, and the name of the field.
    Field(Rc<str>, Rc<str>),
    /// A flag in a message: the name of the message, and the name of the field.
    FieldFlag(Rc<str>, Rc<str>),
    /// The time in a state, in seconds.
    Clock(StateId),
    /// The time in all active states, in seconds, if they were entered together.
    Together,
    /// A part of a condition that the proof cannot decide. It may be true or false. The text identifies it.
    Open(Rc<str>),
    /// The difference between the two sides of a comparison that the proof cannot decide. It may be any number. The text
    /// identifies it.
    OpenNumber(Rc<str>),
}

/// A claim about a situation. A test compares a quantity with a constant: a flag that is true is a 1, and one that is not is a 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim<T = (Quantity, Comparison, f64)> {
    /// The test has this answer.
    Answer(T, bool),
    /// If the flag is true, at least one part holds (`or`). If it is false, all parts hold (`and`). So a part whose answer
    /// equals the flag decides the whole. There is never exactly one part.
    Joined(bool, Vec<Self>),
}

impl Quantity {
    /// Returns the name of the value, if the quantity is a value of the game.
    pub(super) fn value(&self) -> Option<&str> {
        match self {
            Self::Number(value) | Self::Flag(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the proof cannot decide the quantity, so that it can have any value in any situation.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_) | Self::OpenNumber(_))
    }

    pub(super) fn is_clock(&self) -> bool {
        matches!(self, Self::Clock(_) | Self::Together)
    }

    pub(super) fn is_flag(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::FieldFlag(..) | Self::Open(_))
    }
}

impl From<bool> for Claim {
    fn from(holds: bool) -> Self {
        if holds { Self::ALWAYS } else { Self::NEVER }
    }
}

impl Claim {
    /// An `and` without parts.
    pub(super) const ALWAYS: Self = Self::Joined(false, Vec::new());
    /// An `or` without parts.
    pub(super) const NEVER: Self = Self::Joined(true, Vec::new());

    pub(super) fn is(quantity: Quantity) -> Self {
        Self::compared(quantity, Comparison::NotEqual, 0.0)
    }

    pub(super) fn compared(quantity: Quantity, op: Comparison, with: f64) -> Self {
        Self::Answer((quantity, op, with), true)
    }

    /// Returns the claim that all parts hold.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(false, parts)
    }

    /// Returns the claim that at least one part holds.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(true, parts)
    }

    fn joined(one: bool, parts: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Vec::new();
        for part in parts {
            match part {
                Self::Joined(is, parts) if is == one => joined.extend(parts),
                // A constant part that decides the whole.
                Self::Joined(_, parts) if parts.is_empty() => return one.into(),
                part => joined.push(part),
            }
        }
        if joined.len() == 1 { joined.remove(0) } else { Self::Joined(one, joined) }
    }

    /// Returns the opposite claim. It holds in the situations in which this claim does not hold.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Answer(test, is) => Self::Answer(test, !is),
            Self::Joined(one, parts) => Self::joined(!one, parts.into_iter().map(Self::negated)),
        }
    }

    /// Returns a stricter claim without open quantities. Where it holds, this claim holds for all values of the open
    /// quantities.
    pub(super) fn certain(self) -> Self {
        self.about(&|quantity| !quantity.is_open())
    }

    /// Returns a stricter claim, only about times in states. Where it holds, this claim holds whatever the values are.
    pub(super) fn timed(self) -> Self {
        self.about(&Quantity::is_clock)
    }

    /// Returns a looser claim, only about times in states. Where it does not hold, this claim does not hold, whatever the values
    /// are.
    pub(super) fn perhaps(self) -> Self {
        self.negated().timed().negated()
    }

    fn about(self, is_kept: &impl Fn(&Quantity) -> bool) -> Self {
        match self {
            Self::Answer((quantity, ..), _) if !is_kept(&quantity) => Self::NEVER,
            Self::Joined(one, parts) => Self::joined(one, parts.into_iter().map(|part| part.about(is_kept))),
            claim @ Self::Answer(..) => claim,
        }
    }

    /// Adds the times, in seconds, with which the times in states are compared.
    pub(super) fn times(&self, times: &mut Vec<f64>) {
        self.visit(&mut |(quantity, _, with)| {
            if quantity.is_clock() {
                times.push(with.max(0.0));
            }
        });
    }
}

impl<T> Claim<T> {
    /// Returns the number of its tests and joins.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Answer(..) => 1,
            Self::Joined(_, parts) => 1 + parts.iter().map(Self::size).sum::<u64>(),
        }
    }

    /// Calls `see` for every test.
    pub(super) fn visit<'c>(&'c self, see: &mut impl FnMut(&'c T)) {
        match self {
            Self::Answer(test, _) => see(test),
            Self::Joined(_, parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }

    /// Returns the same claim with each test replaced by the result of `place`.
    pub(super) fn map<U>(&self, place: &mut impl FnMut(&T) -> U) -> Claim<U> {
        match self {
            Self::Answer(test, is) => Claim::Answer(place(test), *is),
            Self::Joined(one, parts) => Claim::Joined(*one, parts.iter().map(|part| part.map(place)).collect()),
        }
    }

    /// Whether the claim holds, given the answers to its tests. `None` if this depends on tests without an answer.
    pub(super) fn holds(&self, answer: &mut impl FnMut(&T) -> Option<bool>) -> Option<bool> {
        match self {
            Self::Answer(test, is) => answer(test).map(|holds| holds == *is),
            Self::Joined(one, parts) => {
                let mut holds = Some(!one);
                for part in parts {
                    match part.holds(answer) {
                        Some(is) if is == *one => return Some(is),
                        Some(_) => {}
                        None => holds = None,
                    }
                }
                holds
            }
        }
    }
}
