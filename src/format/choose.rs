//! How a state chooses among exits whose conditions hold, and the score or weight by which it chooses.

use std::fmt;
use std::ops::Range;

use super::operand::Operand;

/// How a state chooses among the exits that are tried together and whose conditions hold
/// ([rule 33](crate::docs::semantics#rule-33)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// The first one in the file.
    #[default]
    First,
    /// The one with the highest score.
    Best,
    /// A random one. The weights of the exits say how likely each one is.
    Random,
}

impl Choose {
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Best, Self::Random];

    /// Returns the key of the score or weight that an exit of such a state may have.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Random => "weight",
            Self::First | Self::Best => "score",
        }
    }
}

/// The word in a file.
impl fmt::Display for Choose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Best => "best",
            Self::Random => "random",
        })
    }
}

/// The number of an exit in its written form: its `score` or its `weight`.
#[derive(Clone, PartialEq)]
pub(crate) struct Rank {
    /// How the state of the exit chooses.
    pub(crate) by: Choose,
    pub(crate) operand: Operand,
    pub(crate) span: Range<usize>,
}
