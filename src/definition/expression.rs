//! A condition as it is written: what it asks, joined by `and`, `or` and `not`.

use std::fmt;
use std::ops::Range;

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Bool(bool),
    /// A value that is true or false.
    Flag(Name),
    Compare {
        left: Operand,
        op: Comparison,
        right: Operand,
    },
    Chance {
        p: f64,
        span: Range<usize>,
    },
    Not(Box<Expr>),
    /// Two or more.
    And(Vec<Expr>),
    /// Two or more.
    Or(Vec<Expr>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Number(f64),
    Bool(bool),
    Value(Name),
    TimeInState(Range<usize>),
}

/// A word of the vocabulary, and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// Names are compared as written, wherever that is.
impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// Whether it holds. NaN compares false, whatever the comparison: `!=` too.
    #[inline]
    #[expect(clippy::float_cmp, reason = "`==` is what the designer wrote")]
    #[expect(clippy::double_comparisons, reason = "`!=` holds for NaN")]
    pub(crate) fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left < right || left > right,
        }
    }

    /// The comparison that says the same with its sides exchanged.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Value(name) => f.write_str(&name.text),
            Self::TimeInState(_) => f.write_str("time_in_state"),
        }
    }
}

/// As a designer would write it: what it parses to is the same expression again.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Flag(name) => f.write_str(&name.text),
            Self::Compare { left, op, right } => write!(f, "{left} {op} {right}"),
            Self::Chance { p, .. } => write!(f, "chance({p})"),
            Self::Not(inner) => match **inner {
                Self::And(_) | Self::Or(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Self::And(parts) => joined(f, parts, " and ", |part| matches!(part, Self::And(_) | Self::Or(_))),
            Self::Or(parts) => joined(f, parts, " or ", |part| matches!(part, Self::Or(_))),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Expr], by: &str, needs_parentheses: fn(&Expr) -> bool) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(by)?;
        }
        if needs_parentheses(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}
