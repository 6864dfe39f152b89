//! What is saved: plain data, states by name.
//!
//! Serde would read a missing field of type `Option` as `None`, without a word. A function of its own makes it a field like others.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::seconds::Seconds;
use super::version::Saved;

/// A saved [`StateMachine`](crate::StateMachine). See [`StateMachine::save`](crate::StateMachine::save).
pub type SavedMachine = Saved<MachineContent>;

/// A saved [`Agent`](crate::Agent). `O` is the owner, or a reference to it when it is being saved.
pub type SavedAgent<O> = Saved<AgentContent<O>>;

/// The states that a saved value refers to. Everywhere else a state is a number: 0 is no state, `n` is entry `n - 1` of this
/// list.
pub type SavedStates = Vec<SavedState>;

/// One of the [states](SavedStates) that a saved value refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SavedState {
    /// The state of a name; or the name of a type of owned states.
    Name(String),
    /// An owned state. Owners that share it refer to this entry.
    Owned {
        /// The number of the entry with the name of its type.
        name: u32,
        /// Its data, in RON.
        data: String,
    },
}

/// What is saved of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MachineContent {
    /// What the clock showed. All times are by this clock.
    pub clock: Seconds,
    /// A digest of what the definitions in the book say; 0 without any.
    pub definitions: u64,
    /// The states.
    pub states: SavedStates,
    /// The machine.
    pub machine: SavedSeat,
}

/// What is saved of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentContent<O> {
    /// The owner; `None` only in a value of an unknown version.
    pub owner: Option<O>,
    /// Its machine.
    pub machine: MachineContent,
}

/// Where one machine is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedSeat {
    /// The current state.
    pub current: u32,
    /// The state before.
    pub previous: u32,
    /// When current was entered; `None` if it has not been.
    #[serde(deserialize_with = "Option::deserialize")]
    pub entered_at: Option<Seconds>,
    /// The states around current, outermost first, and when each was entered. For their times: which they are is found by the
    /// current state.
    pub ancestors: Vec<(u32, Option<Seconds>)>,
    /// Whether it is asleep.
    pub is_asleep: bool,
    /// Whether what its state does had been exchanged since it fell asleep.
    pub is_outdated: bool,
    /// What only some machines have.
    pub more: SavedMore,
}

/// What only some machines have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedMore {
    /// The suspended paths, the oldest first.
    pub stack: Vec<SavedPath>,
    /// For each composite state that keeps history, its descendant that was active last; the one that was left the longest ago
    /// first.
    pub history: Vec<(u32, u32)>,
    /// The running timers, in the order of asking.
    pub timers: Vec<SavedTimer>,
    /// When it wakes by itself, if it is asleep.
    #[serde(deserialize_with = "Option::deserialize")]
    pub wakes_at: Option<Seconds>,
}

/// A suspended path: another state was pushed on top of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedPath {
    /// The states, outermost first, and how long each had been active, in seconds. The last one was current.
    pub states: Vec<(u32, Seconds)>,
    /// Their timers, each with what remains of it.
    pub timers: Vec<SavedTimer>,
}

/// A running timer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedTimer {
    /// When it is due; on the stack, how many seconds remain.
    pub due: Seconds,
    /// The depth of the state that it ends with, 0 being the outermost; `None` if it lasts as long as the machine.
    #[serde(deserialize_with = "Option::deserialize")]
    pub depth: Option<u8>,
    /// What it does.
    pub then: SavedThen,
}

/// What a timer does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SavedThen {
    /// Asks for a change to a state.
    Change(u32),
    /// Sends a message, whose data is in RON.
    Send(String),
    /// Gives a defined state its turn. It is only read: a state's next turn is written as a note.
    Turn,
    /// Enters the current state, unless it has been: it took the place of one that was gone.
    Enter,
    /// Nothing: a number that a state from a file keeps until it is left.
    Note {
        /// What it is about.
        of: SavedNote,
        /// The number.
        number: Seconds,
    },
}

/// What a number is about that a state from a file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SavedNote {
    /// The random number that was drawn for one of its exits, by the exit's place in the file.
    Luck(u16),
    /// How many seconds one of its exits waits.
    Seconds(u16),
    /// After how many seconds in the state its exits were last tried.
    Tried,
    /// How often its scripts have been cut off.
    CutOffs,
    /// After how many seconds in the state its next turn comes, if it has `every`.
    Turn,
}

impl SavedNote {
    /// The key under which a state keeps the number.
    pub(crate) fn key(self) -> u32 {
        let (kind, exit) = match self {
            Self::Luck(exit) => (0, exit),
            Self::Seconds(exit) => (1, exit),
            Self::Tried => (2, 0),
            Self::CutOffs => (3, 0),
            Self::Turn => (4, 0),
        };
        kind << 16 | u32::from(exit)
    }

    /// What a state keeps under a key of [`key`](Self::key).
    pub(crate) fn of_key(key: u32) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the exit is in the lower half")]
        let exit = key as u16;
        match key >> 16 {
            0 => Self::Luck(exit),
            1 => Self::Seconds(exit),
            2 => Self::Tried,
            3 => Self::CutOffs,
            _ => Self::Turn,
        }
    }
}

impl<O> Default for AgentContent<O> {
    fn default() -> Self {
        Self { owner: None, machine: MachineContent::default() }
    }
}
