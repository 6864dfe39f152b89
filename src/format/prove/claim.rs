//! What is claimed of a situation: comparisons of quantities with constants, joined by `and` and `or`.

use crate::format::expression::Comparison;
use crate::format::outline::StateId;

/// Something whose value differs from one situation to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Quantity {
    /// A number of the game.
    Number(String),
    /// A value of the game that is true or false.
    Flag(String),
    /// A number in the message of a name.
    Field(String, String),
    /// A field of the message of a name that is true or false.
    FieldFlag(String, String),
    /// The time in a state.
    Clock(StateId),
    /// The time in all active states, where they are entered together.
    Together,
    /// Something that cannot be decided and may be true or false, by its name.
    Open(String),
    /// Two numbers that both vary, as the difference of the two. It may be anything.
    OpenNumber(String),
}

/// A test of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimTest {
    Is,
    Compared(Comparison, f64),
}

/// What is claimed of a situation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim<T = (Quantity, ClaimTest)> {
    /// That a test has this answer.
    Answer(T, bool),
    /// That one of the parts holds, if the flag is true; or else that all of them do. A part decides alone if its answer is the
    /// flag. There is never a single part.
    Joined(bool, Vec<Self>),
}

impl Quantity {
    /// Whether it may be anything, whatever the situation is.
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
    /// All of no parts.
    pub(super) const ALWAYS: Self = Self::Joined(false, Vec::new());
    /// One of no parts.
    pub(super) const NEVER: Self = Self::Joined(true, Vec::new());

    pub(super) fn is(quantity: Quantity) -> Self {
        Self::Answer((quantity, ClaimTest::Is), true)
    }

    pub(super) fn compared(quantity: Quantity, op: Comparison, with: f64) -> Self {
        Self::Answer((quantity, ClaimTest::Compared(op, with)), true)
    }

    /// That all of them hold.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(false, parts)
    }

    /// That one of them holds.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(true, parts)
    }

    fn joined(one: bool, parts: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Vec::new();
        for part in parts {
            match part {
                Self::Joined(is, parts) if is == one => joined.extend(parts),
                // It is known, and decides.
                Self::Joined(_, parts) if parts.is_empty() => return one.into(),
                part => joined.push(part),
            }
        }
        if joined.len() == 1 { joined.remove(0) } else { Self::Joined(one, joined) }
    }

    /// That it does not hold.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Answer(test, is) => Self::Answer(test, !is),
            Self::Joined(one, parts) => Self::joined(!one, parts.into_iter().map(Self::negated)),
        }
    }

    /// That it holds, whatever the quantities are that may be anything.
    pub(super) fn certain(self) -> Self {
        match self {
            Self::Answer((quantity, _), _) if quantity.is_open() => Self::NEVER,
            Self::Joined(one, parts) => Self::joined(one, parts.into_iter().map(Self::certain)),
            claim @ Self::Answer(..) => claim,
        }
    }
}

impl<T> Claim<T> {
    /// How many tests it has.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Answer(..) => 1,
            Self::Joined(_, parts) => 1 + parts.iter().map(Self::size).sum::<u64>(),
        }
    }

    /// Every test in it.
    pub(super) fn visit<'c>(&'c self, see: &mut impl FnMut(&'c T)) {
        match self {
            Self::Answer(test, _) => see(test),
            Self::Joined(_, parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }

    /// The same claim, with something in the place of each test.
    pub(super) fn map<U>(&self, place: &mut impl FnMut(&T) -> U) -> Claim<U> {
        match self {
            Self::Answer(test, is) => Claim::Answer(place(test), *is),
            Self::Joined(one, parts) => Claim::Joined(*one, parts.iter().map(|part| part.map(place)).collect()),
        }
    }

    /// Whether it holds, by the answers to its tests. `None` where that depends on tests without an answer.
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
