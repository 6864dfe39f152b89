//! A value from the command line or from a table.

use std::fmt;

use demeanor::definition::ValueKind;

/// A value from the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Setting {
    Number(f64),
    Flag(bool),
}

impl Setting {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "true" => Ok(Self::Flag(true)),
            "false" => Ok(Self::Flag(false)),
            number => {
                number.parse().map(Self::Number).map_err(|_| format!("`{text}` is neither a number nor true or false"))
            }
        }
    }

    pub(crate) fn kind(self) -> ValueKind {
        match self {
            Self::Number(_) => ValueKind::Number,
            Self::Flag(_) => ValueKind::Flag,
        }
    }

    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Flag(yes) => f64::from(u8::from(yes)),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(yes) => write!(f, "{yes}"),
        }
    }
}
