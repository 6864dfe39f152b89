//! The second stage of reading a definition: what a file says, as it is written.
//!
//! Keys and types are checked against the format. Names are still names: whether there are such states, and whether the game offers
//! such words, is for the next stage to check. What is missing or mistaken is `None`, and has been reported.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use self::duration::DraftDuration;
use self::tree::{SpannedValue, TreeValue};
use super::expression::Expr;
use super::name::Name;

mod behaviors;
pub(crate) mod document;
pub(crate) mod duration;
mod foreign;
mod format;
mod grammar;
pub(crate) mod keys;
pub(crate) mod machines;
pub(crate) mod read;
mod relocate;
mod slips;
mod source_map;
pub(crate) mod statements;
mod syntax;
pub(crate) mod tree;

pub use format::schema;

/// What a file says of one machine.
#[derive(Clone)]
pub(crate) struct Draft<'i> {
    /// Its name, if it is not the file's only one or is written in a table of its own.
    pub(crate) name: Option<Name>,
    /// The machine of the same file that it is like.
    pub(crate) like: Option<Name>,
    pub(crate) initial: Option<Name>,
    pub(crate) global: Option<Name>,
    pub(crate) ticks_per_second: Option<f64>,
    /// In the order of the file; states from another machine come first. Machines that have the same state share it.
    pub(crate) states: Vec<Rc<DraftState<'i>>>,
}

/// What a file says of one state.
#[derive(Clone)]
pub(crate) struct DraftState<'i> {
    pub(crate) name: Name,
    pub(crate) behaviors: Vec<DraftBehavior<'i>>,
    pub(crate) script: Option<Name>,
    pub(crate) every: Option<DraftDuration>,
    pub(crate) enter_when: Option<Box<When>>,
    pub(crate) parent: Option<Name>,
    pub(crate) initial: Option<Name>,
    pub(crate) keeps_history: bool,
    pub(crate) is_final: bool,
    pub(crate) is_entry: bool,
    /// The machine that runs while the state is active.
    pub(crate) machine: Option<Name>,
    /// The index of the state that runs the machine in which this one is written; `None` for the file's own machine.
    pub(crate) root: Option<usize>,
    /// The index of the state whose machine ends in this one.
    pub(crate) ends: Option<usize>,
    /// How many ticks there are in a second in the file that it is written in, if that says so and is another one.
    pub(crate) rate: Option<f64>,
    /// Where its name is written, if that is in another file. Then mistakes in the state are reported at the link to that file.
    pub(crate) written: Option<WrittenElsewhere>,
    pub(crate) exits: Vec<DraftExit>,
}

/// Where something is written in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenElsewhere {
    /// From the folder of the file that is read.
    pub(crate) file: Arc<Path>,
    pub(crate) span: Range<usize>,
}

/// What a file says of one behavior of a state.
#[derive(Clone)]
pub(crate) struct DraftBehavior<'i> {
    pub(crate) name: Name,
    pub(crate) params: Option<Params<'i>>,
}

/// What a file says of one exit.
#[derive(Clone)]
pub(crate) struct DraftExit {
    pub(crate) to: Option<Name>,
    pub(crate) after: Option<DraftDuration>,
    pub(crate) when: Option<Box<When>>,
    pub(crate) on: Option<Name>,
    /// Where it says `true`.
    pub(crate) always: Option<Range<usize>>,
    pub(crate) restarts: bool,
    pub(crate) even_final: bool,
    /// Whether it has an `after`, a `when` or an `on`, be it a mistaken one.
    pub(crate) has_condition: bool,
    pub(crate) span: Range<usize>,
}

/// The parameters of a behavior: a table.
pub(crate) type Params<'i> = Rc<SpannedValue<'i>>;

/// A condition, or the script that answers it.
#[derive(Clone, PartialEq)]
pub(crate) enum When {
    Expr {
        expr: Expr,
        /// As it is written.
        text: String,
        span: Range<usize>,
    },
    Script(Name),
}

impl When {
    /// As it is written, in one line.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Expr { text, .. } => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Self::Script(script) => format!("script {}", script.text),
        }
    }

    /// The script that answers it.
    #[cfg(feature = "script")]
    pub(crate) fn script(&self) -> Option<&Name> {
        match self {
            Self::Script(script) => Some(script),
            Self::Expr { .. } => None,
        }
    }

    /// The condition; `None` for a script.
    fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Expr { expr, .. } => Some(expr),
            Self::Script(_) => None,
        }
    }

    /// Where it first asks for a value.
    pub(crate) fn first_value(&self, name: &str) -> Option<Range<usize>> {
        self.expr()?.first_value(name).map(|value| value.span.clone())
    }

    /// Where it first asks for a random number.
    pub(crate) fn first_chance(&self) -> Option<Range<usize>> {
        self.expr()?.first_chance().cloned()
    }

    /// What it asks, written in one way: two conditions of which this is the same hold together. `None` where chances are
    /// drawn or scripts asked, each for itself.
    pub(crate) fn constant(&self) -> Option<String> {
        self.expr().filter(|expr| expr.first_chance().is_none()).map(ToString::to_string)
    }

    /// Whether it holds for every owner.
    pub(crate) fn is_always(&self) -> bool {
        matches!(self, Self::Expr { expr: Expr::Bool(true), .. })
    }
}

/// What a value is, with its article.
pub(crate) fn type_of(value: &TreeValue<'_>) -> &'static str {
    match value {
        TreeValue::String(_) => "a string",
        TreeValue::Integer(_) => "a whole number",
        TreeValue::Float(_) => "a number",
        TreeValue::Boolean(_) => "true or false",
        TreeValue::Datetime(_) => "a date",
        TreeValue::Array(_) => "a list",
        TreeValue::Table(_) => "a table",
    }
}
