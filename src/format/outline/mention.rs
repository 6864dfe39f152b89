//! The places where a file names a state, or a word of the game.

use std::ops::Range;

use super::StateId;

/// A place in a file that names a state, or a word of the game.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Meaning, Outline};
///
/// let file = "initial = 'aim'\n[states.aim]\nexits = [{ to = 'aim', when = 'health < 3' }]\n";
/// let outline = Outline::parse("guard.toml", file, None)?;
/// let [initial, to, health] = outline.mentions() else { panic!("three words are named") };
/// assert_eq!(initial.meaning(), to.meaning());
/// assert_eq!((&file[health.span()], health.meaning()), ("health", &Meaning::Value));
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    pub(crate) meaning: Meaning,
    pub(crate) condition: Option<Range<usize>>,
}

/// The meaning of a [`Mention`]: what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// A state.
    State(StateId),
    /// A region with a name of its own: the state that it belongs to, and its index among the regions of this state.
    Region(StateId, usize),
    /// A behavior of the game.
    Behavior,
    /// A value of the game.
    Value,
    /// A message.
    Message,
    /// An action of the game.
    Action,
    /// A field of a message.
    Field {
        /// The message.
        message: String,
    },
    /// The file of a script.
    Script,
}

impl Mention {
    /// Returns the name, as TOML reads it. The name of a field does not include the prefix `message.`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where the name is written: a range of bytes, including any quotes around the name.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns what the name refers to.
    #[must_use]
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Returns the range of the condition in which the name is written, including the quotes of the string. `None` if the name
    /// is not in a condition.
    #[must_use]
    pub fn condition(&self) -> Option<Range<usize>> {
        self.condition.clone()
    }
}

/// The place of a condition.
#[derive(Clone, Copy)]
pub(super) enum ConditionPlace<'p> {
    /// In `enter_when`.
    Entry,
    /// In a property.
    Property,
    /// In an exit that is tried in each tick.
    Tick,
    /// In an exit that waits for the message with this name.
    Message(&'p str),
}
