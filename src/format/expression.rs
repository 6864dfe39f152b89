//! A condition in its written form: comparisons and flags, joined by `and`, `or` and `not`.

use std::fmt;
use std::iter;
use std::ops::Range;

use super::name::{Name, is_word};
use super::operand::{Atom, Input, OF_MESSAGE, Operand, Quoted};
use crate::span::Span;

/// The maximum number of tests in one condition: comparisons, flags, chances and `in(state)`.
pub(crate) const MOST_TESTS: usize = 1000;

/// The words that cannot be names of values.
pub(crate) const RESERVED: [&str; 7] = ["and", "or", "not", "true", "false", "time_in_state", "chance"];

/// Whether a text can be the name of a value in a condition.
pub(crate) fn is_name(text: &str) -> bool {
    is_word(text) && !RESERVED.contains(&text) && !text.starts_with(OF_MESSAGE)
}

/// A condition, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Bool(bool),
    Flag(Input),
    Compare {
        left: Operand,
        op: Comparison,
        right: Operand,
    },
    Chance {
        p: f64,
        /// Whether `p` is the chance per second, instead of the chance per evaluation.
        per_second: bool,
        span: Range<usize>,
    },
    /// Whether the state with this name is active.
    In(Name),
    Not(Box<Expr>),
    /// Two or more parts.
    And(Vec<Expr>),
    /// Two or more parts.
    Or(Vec<Expr>),
}

impl Expr {
    /// Returns the parts that are not `not`, `and` or `or`: flags, comparisons, chances, `in(state)`, `true` and `false`.
    pub(crate) fn tests(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Not(inner) => inner.tests(),
            Self::And(parts) | Self::Or(parts) => Box::new(parts.iter().flat_map(Self::tests)),
            test => Box::new(iter::once(test)),
        }
    }

    /// Like [`tests`](Self::tests), but the parts can be changed.
    pub(crate) fn tests_mut(&mut self) -> Box<dyn Iterator<Item = &mut Self> + '_> {
        match self {
            Self::Not(inner) => inner.tests_mut(),
            Self::And(parts) | Self::Or(parts) => Box::new(parts.iter_mut().flat_map(Self::tests_mut)),
            test => Box::new(iter::once(test)),
        }
    }
}

/// A comparison. Its number has a bit for each relation for which it holds: bit 1 if the left side is less than the right one,
/// bit 2 if it is greater, and bit 3 if they are equal. So an answer needs no jump, which a processor could not predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Comparison {
    Less = 0b0010,
    Greater = 0b0100,
    NotEqual = 0b0110,
    Equal = 0b1000,
    LessOrEqual = 0b1010,
    GreaterOrEqual = 0b1100,
}

/// Matches comparisons such as `flag == true`. Returns the flag, and the value that it must have.
pub(crate) fn flag_compared<'a>(left: &'a Operand, op: Comparison, right: &'a Operand) -> Option<(&'a Input, bool)> {
    let (Operand::Atom(left), Operand::Atom(right)) = (left, right) else { return None };
    match (left, op, right) {
        (Atom::Input(flag), Comparison::Equal, Atom::Bool(is))
        | (Atom::Bool(is), Comparison::Equal, Atom::Input(flag)) => Some((flag, *is)),
        (Atom::Input(flag), Comparison::NotEqual, Atom::Bool(is))
        | (Atom::Bool(is), Comparison::NotEqual, Atom::Input(flag)) => Some((flag, !is)),
        _ => None,
    }
}

impl Comparison {
    /// All comparisons. No sign begins with the sign of an earlier one, so the first match is the longest.
    pub(crate) const ALL: [Self; 6] =
        [Self::LessOrEqual, Self::GreaterOrEqual, Self::Equal, Self::NotEqual, Self::Less, Self::Greater];

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Whether the comparison holds. With NaN, each comparison is false, including `!=`.
    #[inline]
    pub(crate) fn holds<N: PartialOrd + Copy>(self, left: N, right: N) -> bool {
        self.holds_for(left <= right, left >= right)
    }

    /// Whether the comparison holds if the left side is at most the right one, and at least.
    #[inline]
    fn holds_for(self, is_at_most: bool, is_at_least: bool) -> bool {
        let relation = u8::from(is_at_most) | u8::from(is_at_least) << 1;
        self as u8 >> relation & 1 != 0
    }

    /// Returns the comparison with the same meaning when the sides are swapped.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Equal | Self::NotEqual => self,
        }
    }

    /// Whether the comparison of the time since `entered_at` with `span` holds.
    #[inline]
    pub(crate) fn holds_since(self, span: Span, entered_at: f64) -> bool {
        self.holds_for(span.is_at_most(entered_at), span.has_passed(entered_at))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

/// The text that a designer would write. Parsing it returns the same expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Compare { left, op, right } => write!(f, "{left} {op} {right}"),
            Self::Chance { p, per_second: false, .. } => write!(f, "chance({p})"),
            Self::Chance { p, per_second: true, .. } => write!(f, "chance_per_second({p})"),
            Self::In(name) => write!(f, "in({})", Quoted(&name.text)),
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

/// A condition: an expression or a script.
#[derive(Clone, PartialEq)]
pub(crate) enum When {
    Expr {
        expr: Expr,
        /// The text as it is written.
        text: String,
        span: Range<usize>,
    },
    Script(Name),
}

impl When {
    /// Returns the text on one line.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Expr { text, .. } => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Self::Script(script) => format!("script {}", script.text),
        }
    }

    /// Returns the script, if the condition is a script.
    pub(crate) fn script(&self) -> Option<&Name> {
        if let Self::Script(script) = self { Some(script) } else { None }
    }

    /// Returns the expression. `None` for a script.
    fn expr(&self) -> Option<&Expr> {
        if let Self::Expr { expr, .. } = self { Some(expr) } else { None }
    }

    /// Returns where the value with this name is first used.
    pub(crate) fn first_value(&self, name: &str) -> Option<Range<usize>> {
        let value = self.expr()?.tests().find_map(|test| match test {
            Expr::Flag(flag) => flag.named(name),
            Expr::Compare { left, right, .. } => left.first_value(name).or_else(|| right.first_value(name)),
            _ => None,
        });
        Some(value?.span.clone())
    }

    /// Returns where a chance is first used.
    pub(crate) fn first_chance(&self) -> Option<Range<usize>> {
        self.expr()?
            .tests()
            .find_map(|test| if let Expr::Chance { span, .. } = test { Some(span.clone()) } else { None })
    }

    /// Returns the condition in a normalized form. Two conditions with the same form have the same result for the same owner at
    /// the same time. `None` for scripts, and for conditions with chances, because each of them is drawn separately.
    pub(crate) fn constant(&self) -> Option<String> {
        self.expr().filter(|_| self.first_chance().is_none()).map(ToString::to_string)
    }

    /// Whether it is the condition `true`.
    pub(crate) fn is_always(&self) -> bool {
        matches!(self, Self::Expr { expr: Expr::Bool(true), .. })
    }
}

#[cfg(test)]
mod tests {
    use super::Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    use crate::span::Span;

    /// Returns whether `seconds` are less than, at most, at least, and more than a span.
    fn compared(seconds: f64, span: f64) -> [bool; 4] {
        let span = Span::of(span, 100.0);
        let at = 100.0 - seconds;
        [Less, LessOrEqual, GreaterOrEqual, Greater].map(|comparison| comparison.holds_since(span, at))
    }

    #[test]
    fn times_that_are_hardly_apart_are_equal() {
        for seconds in [0.5 - 1e-6, 0.5, 0.5 + 1e-6] {
            assert_eq!(compared(seconds, 0.5), [false, true, true, false], "{seconds}");
        }
        assert_eq!(compared(0.5 - 2e-6, 0.5), [true, true, false, false]);
        assert_eq!(compared(0.5 + 2e-6, 0.5), [false, false, true, true]);
    }

    #[test]
    fn an_endless_span_never_passes() {
        assert_eq!(compared(50.0, f64::INFINITY), [true, true, false, false]);
        assert_eq!(compared(50.0, f64::NEG_INFINITY), [false, false, true, true]);
    }

    #[test]
    fn a_span_or_a_clock_that_is_no_number_compares_false() {
        assert_eq!(compared(50.0, f64::NAN), [false; 4]);
        assert_eq!(compared(f64::NAN, 50.0), [false; 4]);
    }
}
