//! The actions of exits and states in their written form: actions of the game, and values that are set.

use std::fmt;
use std::ops::Range;

use super::name::Name;
use super::operand::Operand;

/// An action of the game, or a value that is set.
#[derive(Clone, PartialEq)]
pub(crate) struct WrittenAction {
    /// The name of the action, or of the value.
    pub(crate) name: Name,
    /// Whether the value is set, instead of an action that is called.
    pub(crate) sets: bool,
    /// The number that the action gets, or the new value.
    pub(crate) argument: Option<Operand>,
    /// Where the argument is written.
    pub(crate) span: Range<usize>,
}

/// Some actions, in the order in which they run. Most exits and states have none, so this is as small as possible.
pub(crate) type WrittenActions = Option<Box<Vec<WrittenAction>>>;

/// `roar`, `spawn 3`, `rage = rage + 1`.
impl fmt::Display for WrittenAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.sets { " = " } else { " " };
        match &self.argument {
            Some(argument) => write!(f, "{}{between}{argument}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}
