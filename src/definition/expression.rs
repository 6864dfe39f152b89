//! A condition as it is written: comparisons and flags, joined by `and`, `or` and `not`.

use std::fmt;
use std::ops::Range;

/// The most comparisons, flags and chances that one condition may have.
pub(crate) const MOST_TESTS: usize = 1000;

/// The words that cannot be names of values.
pub(crate) const RESERVED: [&str; 7] = ["and", "or", "not", "true", "false", "time_in_state", "chance"];

/// Whether a name can be written in a condition.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(continues_name) && !RESERVED.contains(&text)
}

pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

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

impl Expr {
    /// The first use of a value.
    pub(crate) fn first_value(&self, name: &str) -> Option<&Name> {
        match self {
            Self::Flag(flag) => (flag.text == name).then_some(flag),
            Self::Compare { left, right, .. } => [left, right].into_iter().find_map(|side| match side {
                Operand::Value(value) if value.text == name => Some(value),
                _ => None,
            }),
            Self::Bool(_) | Self::Chance { .. } => None,
            Self::Not(inner) => inner.first_value(name),
            Self::And(parts) | Self::Or(parts) => parts.iter().find_map(|part| part.first_value(name)),
        }
    }

    /// Where a random number is first asked for.
    pub(crate) fn first_chance(&self) -> Option<&Range<usize>> {
        match self {
            Self::Chance { span, .. } => Some(span),
            Self::Bool(_) | Self::Flag(_) | Self::Compare { .. } => None,
            Self::Not(inner) => inner.first_chance(),
            Self::And(parts) | Self::Or(parts) => parts.iter().find_map(Self::first_chance),
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Number(f64),
    Bool(bool),
    Value(Name),
    TimeInState(Range<usize>),
}

/// A name in a file (of a value, a state, a behaviour, a message or a script), and where it is written.
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

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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

/// `flag == true` and its like: the flag, and what it must be.
pub(crate) fn flag_compared<'a>(left: &'a Operand, op: Comparison, right: &'a Operand) -> Option<(&'a Name, bool)> {
    match (left, right) {
        (Operand::Value(flag), Operand::Bool(is)) | (Operand::Bool(is), Operand::Value(flag)) => match op {
            Comparison::Equal => Some((flag, *is)),
            Comparison::NotEqual => Some((flag, !*is)),
            _ => None,
        },
        _ => None,
    }
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
