//! Where a file names a state, or a word of the game.

use std::ops::Range;

use super::StateId;

/// One place of a file that names a state, or a word of the game.
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

/// What a [`Mention`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// A state.
    State(StateId),
    /// Something that the game offers for states to do.
    Behavior,
    /// A value of the game.
    Value,
    /// A message.
    Message,
    /// What a message carries.
    Field {
        /// The message.
        message: String,
    },
    /// The file of a script.
    Script,
}

impl Mention {
    /// Returns the name, as TOML understands it. A field's is without `message.`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it is written, with the quotes around it.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns what it means.
    #[must_use]
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Returns the condition that it is written in: where the string begins and ends, with its quotes.
    #[must_use]
    pub fn condition(&self) -> Option<Range<usize>> {
        self.condition.clone()
    }
}

/// Where a condition stands.
#[derive(Clone, Copy)]
pub(super) enum ConditionPlace<'p> {
    /// In `enter_when`.
    Entry,
    /// In an exit that is tried in each tick.
    Tick,
    /// In an exit that waits for the message of a name.
    Message(&'p str),
}
