//! What is claimed of a situation: comparisons of quantities with constants, joined by `and` and `or`.

use crate::format::expression::Comparison;
use crate::format::outline::StateId;

/// Something that is one or another from one situation to the next.
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
    /// The time in a state, in one of several moments.
    Clock(StateId, usize),
    /// The time in all active states, where they are entered together, in one of several moments.
    Together(usize),
    /// What cannot be decided and may be either, by what it is.
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
pub(super) enum Claim {
    Always,
    Never,
    /// That a test has this answer.
    Answer(Quantity, ClaimTest, bool),
    All(Vec<Claim>),
    Any(Vec<Claim>),
}

impl Quantity {
    /// Whether it may be anything, whatever the situation is.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_) | Self::OpenNumber(_))
    }

    pub(super) fn is_clock(&self) -> bool {
        matches!(self, Self::Clock(..) | Self::Together(_))
    }

    pub(super) fn is_flag(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::FieldFlag(..) | Self::Open(_))
    }
}

impl From<bool> for Claim {
    fn from(holds: bool) -> Self {
        if holds { Self::Always } else { Self::Never }
    }
}

impl Claim {
    pub(super) fn is(quantity: Quantity) -> Self {
        Self::Answer(quantity, ClaimTest::Is, true)
    }

    pub(super) fn compared(quantity: Quantity, op: Comparison, with: f64) -> Self {
        Self::Answer(quantity, ClaimTest::Compared(op, with), true)
    }

    /// That all of them hold.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Always => {}
                Self::Never => return Self::Never,
                Self::All(parts) => all.extend(parts),
                part => all.push(part),
            }
        }
        match all.len() {
            0 => Self::Always,
            1 => all.remove(0),
            _ => Self::All(all),
        }
    }

    /// That one of them holds.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for part in parts {
            match part {
                Self::Never => {}
                Self::Always => return Self::Always,
                Self::Any(parts) => any.extend(parts),
                part => any.push(part),
            }
        }
        match any.len() {
            0 => Self::Never,
            1 => any.remove(0),
            _ => Self::Any(any),
        }
    }

    /// That it does not hold.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Answer(quantity, test, is) => Self::Answer(quantity, test, !is),
            Self::All(parts) => Self::any(parts.into_iter().map(Self::negated)),
            Self::Any(parts) => Self::all(parts.into_iter().map(Self::negated)),
        }
    }

    /// That it holds, whatever the quantities are that may be anything.
    pub(super) fn certain(self) -> Self {
        match self {
            Self::Answer(quantity, ..) if quantity.is_open() => Self::Never,
            Self::All(parts) => Self::all(parts.into_iter().map(Self::certain)),
            Self::Any(parts) => Self::any(parts.into_iter().map(Self::certain)),
            claim => claim,
        }
    }

    /// How many tests it has.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Always | Self::Never | Self::Answer(..) => 1,
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::size).sum::<u64>(),
        }
    }

    /// Every test in it.
    pub(super) fn visit<'c>(&'c self, see: &mut impl FnMut(&'c Quantity, &'c ClaimTest)) {
        match self {
            Self::Always | Self::Never => {}
            Self::Answer(quantity, test, _) => see(quantity, test),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }
}
