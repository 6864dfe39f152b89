//! A condition as a file has it.

use std::ops::Range;

use super::expression::Expr;
use super::name::Name;

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
    #[cfg(feature = "script")]
    pub(crate) fn script(&self) -> Option<&Name> {
        match self {
            Self::Script(script) => Some(script),
            Self::Expr { .. } => None,
        }
    }

    /// Returns the expression. `None` for a script.
    fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Expr { expr, .. } => Some(expr),
            Self::Script(_) => None,
        }
    }

    /// Returns where the value with this name is first used.
    pub(crate) fn first_value(&self, name: &str) -> Option<Range<usize>> {
        self.expr()?.first_value(name).map(|value| value.span.clone())
    }

    /// Returns where a chance is first used.
    pub(crate) fn first_chance(&self) -> Option<Range<usize>> {
        self.expr()?.first_chance().cloned()
    }

    /// Returns the condition in a normalized form. Two conditions with the same form have the same result for the same owner at
    /// the same time. `None` for scripts, and for conditions with chances, because each of them is drawn separately.
    pub(crate) fn constant(&self) -> Option<String> {
        self.expr().filter(|expr| expr.first_chance().is_none()).map(ToString::to_string)
    }

    /// Whether it is the condition `true`.
    pub(crate) fn is_always(&self) -> bool {
        matches!(self, Self::Expr { expr: Expr::Bool(true), .. })
    }
}
