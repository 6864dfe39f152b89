//! The saved data: plain data, with states by name.
//!
//! By default, serde reads a missing field of type `Option` as `None`, without an error. `deserialize_with` makes such a field
//! mandatory.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::seconds::Seconds;
use super::version::Saved;
use crate::machine::waiting::Note;

/// A saved [`StateMachine`](crate::StateMachine). See [`StateMachine::save`](crate::StateMachine::save).
pub type SavedMachine = Saved<MachineContent>;

/// A saved [`Agent`](crate::Agent). `O` is the owner, or a reference to it when it is being saved.
pub type SavedAgent<O> = Saved<AgentContent<O>>;

/// The states and regions that a saved value refers to. Everywhere else in the value, a number stands for a state or a region:
/// 0 stands for no state, and `n` for the entry at index `n - 1` of this list.
pub type SavedStates = Vec<SavedState>;

/// One of the [states](SavedStates) that a saved value refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SavedState {
    /// The name of a state, or of a type of owned states.
    Name(String),
    /// An owned state. Owners that share it refer to this entry.
    Owned {
        /// The number of the [`SavedState::Name`] entry with the name of its type.
        name: u32,
        /// Its data, in RON.
        data: String,
    },
    /// The active or suspended states of one region. Its `ancestors` are only the ancestors inside the region.
    /// [`SavedThen::Regions`] refers to this entry.
    Region(Box<SavedSeat>),
}

/// The saved data of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MachineContent {
    /// The clock's time when the machine was saved, in seconds. All times in the value are times of this clock.
    pub clock: Seconds,
    /// A digest of the definitions in the book; 0 if there are none.
    pub definitions: u64,
    /// The states.
    pub states: SavedStates,
    /// The machine.
    pub machine: SavedSeat,
}

/// The saved data of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentContent<O> {
    /// The owner; `None` only in a value with an unknown version, whose content is not read.
    pub owner: Option<O>,
    /// Its machine.
    pub machine: MachineContent,
}

/// The states, times and timers of one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedSeat {
    /// The number of the current state.
    pub current: u32,
    /// The number of the previous state.
    pub previous: u32,
    /// When the current state was entered, in seconds; `None` if it has not been entered.
    #[serde(deserialize_with = "Option::deserialize")]
    pub entered_at: Option<Seconds>,
    /// The ancestors of the current state, outermost first, and when each was entered, in seconds. They are saved only for these
    /// times, because the current state determines its ancestors. The number is 0 for an ancestor that the book does not know.
    pub ancestors: Vec<(u32, Option<Seconds>)>,
    /// Whether the machine is asleep.
    pub is_asleep: bool,
    /// Whether the behavior of the current state has been replaced since the machine fell asleep.
    pub is_outdated: bool,
    /// The data that only some machines have.
    pub more: SavedMore,
}

/// The data that only some machines have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedMore {
    /// The suspended paths, the oldest first.
    pub stack: Vec<SavedPath>,
    /// The number of each composite state that keeps its history, and the number of its descendant that was current when the
    /// composite state was last left. The composite state that was left first comes first.
    pub history: Vec<(u32, u32)>,
    /// The running timers, in the order in which they were set.
    pub timers: Vec<SavedTimer>,
    /// When the machine wakes by itself, in seconds. `None` if it is awake, or if it does not wake by itself.
    #[serde(deserialize_with = "Option::deserialize")]
    pub wakes_at: Option<Seconds>,
}

/// A suspended path: its states were active when another state was pushed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedPath {
    /// The numbers of the states, outermost first, and how many seconds each had been active at the push. The last state was the
    /// current one.
    pub states: Vec<(u32, Seconds)>,
    /// The timers of these states.
    pub timers: Vec<SavedTimer>,
}

/// A running timer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedTimer {
    /// When the timer is due, in seconds; in a suspended path, how many seconds remain.
    pub due: Seconds,
    /// The depth of the state whose exit ends the timer; the outermost state has depth 0. `None` if it lasts as long as the
    /// machine.
    #[serde(deserialize_with = "Option::deserialize")]
    pub depth: Option<u8>,
    /// What happens when the timer is due.
    pub then: SavedThen,
}

/// What happens when a timer is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SavedThen {
    /// The machine changes to the state with this number.
    Change(u32),
    /// The machine offers its states a message. This is the message, in RON.
    Send(String),
    /// A state of a definition has its turn. Values from earlier versions contain this. It is read but not written, because
    /// [`SavedNote::Turn`] stores the next turn.
    Turn,
    /// The machine enters its current state, unless this state has been entered. The current state then replaces a state that
    /// no longer exists.
    Enter,
    /// Nothing happens. A note is a number that a state of a definition stores until the state is left.
    Note {
        /// The meaning of the number.
        of: SavedNote,
        /// The number. Not every kind of number is a time in seconds.
        number: Seconds,
    },
    // A new variant comes last, because some formats write a variant as a number.
    /// The machine changes to the state with this number in its next tick, unless it changes before. `due` and `depth` are not
    /// used.
    Next(u32),
    /// The machine offers its states a message, and the timer runs on.
    Repeat {
        /// The time from one message to the next, in seconds.
        seconds: Seconds,
        /// The time from the start of the timer to its next message, in seconds.
        span: Seconds,
        /// The message, in RON.
        message: String,
    },
    /// Nothing happens. These are the numbers of the regions of the current state, which are open or, in a suspended path,
    /// suspended. `due` and `depth` are not used.
    Regions(Vec<u32>),
    /// The machine pops its current state.
    Pop,
}

/// The meaning of a number that a state of a definition stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SavedNote {
    /// The random number drawn for one of the state's exits. The index is the exit's position in the file.
    Luck(u16),
    /// How many seconds one of the state's exits waits. The index is the exit's position in the file.
    Seconds(u16),
    /// How many seconds the state had been active when its exits were last tried.
    Tried,
    /// How often the state's scripts have been cut off.
    CutOffs,
    /// How many seconds the state will have been active at its next turn, if it has `every`.
    Turn,
    /// When the cooldown of an exit began. The number stands for the exit: it is a hash of the names of its states.
    Cooldown(u32),
}

impl SavedNote {
    /// Returns the key under which a state stores the number.
    pub(crate) fn key(self) -> u32 {
        let (kind, exit) = match self {
            Self::Cooldown(exit) => return exit | Note::OF_MACHINE,
            Self::Luck(exit) => (0, exit),
            Self::Seconds(exit) => (1, exit),
            Self::Tried => (2, 0),
            Self::CutOffs => (3, 0),
            Self::Turn => (4, 0),
        };
        kind << 16 | u32::from(exit)
    }

    /// Returns the meaning of the number with this key. This method is the inverse of [`key`](Self::key).
    pub(crate) fn of_key(key: u32) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the exit is in the lower half")]
        let exit = key as u16;
        if key & Note::OF_MACHINE != 0 {
            return Self::Cooldown(key & !Note::OF_MACHINE);
        }
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
