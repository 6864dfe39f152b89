//! Whether an exit leads to a state that it names, or to states that the machine remembers.

use std::fmt;

/// What an exit names as its target to lead back.
pub(crate) const PREVIOUS: &str = "$previous";

/// How an exit leads to its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leads {
    /// It changes to the state that it names (`to`).
    #[default]
    To,
    /// It changes to the previous state (`to = "$previous"`).
    Back,
    /// It suspends the active states, and enters the state that it names on top of them (`push`).
    Push,
    /// It leaves the active states, and resumes the states that were suspended last (`pop`).
    Pop,
    /// It enters the state that it names, and the states in it that were active last (`resume`).
    Resume,
}

impl Leads {
    /// Whether the exit names the state that it leads to.
    #[must_use]
    pub fn is_named(self) -> bool {
        !matches!(self, Self::Back | Self::Pop)
    }
}

/// A word for the label of an arrow: `push`. Empty for [`To`](Self::To).
impl fmt::Display for Leads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::To => "",
            Self::Back => "back",
            Self::Push => "push",
            Self::Pop => "pop",
            Self::Resume => "resume",
        })
    }
}
