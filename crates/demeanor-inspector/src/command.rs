//! The page's requests to the game about one owner.

use std::fmt;

use serde::Deserialize;

/// A request of the page's user to the game, about one owner.
///
/// Displayed as `enemies: 3v1: force Chase`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Command {
    /// The name under which the crowd is shown.
    pub crowd: String,
    /// The owner's key in the page: [`Crowd::key_text`](crate::Crowd::key_text).
    pub owner: String,
    /// What to do.
    #[serde(flatten)]
    pub kind: CommandKind,
}

/// The kind of a [`Command`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "state")]
#[non_exhaustive]
pub enum CommandKind {
    /// [`change_state`](demeanor::Fsm::change_state) to the state with this name.
    Change(String),
    /// [`force_state`](demeanor::Fsm::force_state).
    Force(String),
    /// [`push_state`](demeanor::Fsm::push_state).
    Push(String),
    /// [`pop_state`](demeanor::Fsm::pop_state).
    Pop,
    /// [`revert_state`](demeanor::Fsm::revert_state).
    Revert,
}

impl CommandKind {
    /// Returns the name of the state in the request.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        match self {
            Self::Change(state) | Self::Force(state) | Self::Push(state) => Some(state),
            Self::Pop | Self::Revert => None,
        }
    }
}

/// A command that waits for the game. Its number identifies it when the page gets the outcome.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) number: u64,
    pub(crate) command: Command,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The game has taken the command, and handles it itself.
    Taken,
    /// There is no crowd, no owner or no state with this name.
    Unknown(String),
    /// It is currently impossible.
    Impossible(String),
}

impl Outcome {
    pub(crate) fn no_owner(command: &Command) -> Self {
        Self::Unknown(format!("there is no owner {} in {}", command.owner, command.crowd))
    }

    pub(crate) fn no_state(name: &str) -> Self {
        Self::Unknown(format!("no state {name} is known: no owner is in it"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Taken => f.write_str("the game has received it"),
            Self::Unknown(why) | Self::Impossible(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { crowd, owner, kind } = self;
        let verb = match kind {
            CommandKind::Change(_) => "change to ",
            CommandKind::Force(_) => "force ",
            CommandKind::Push(_) => "push ",
            CommandKind::Pop => "pop",
            CommandKind::Revert => "revert",
        };
        write!(f, "{crowd}: {owner}: {verb}{}", kind.state().unwrap_or_default())
    }
}
