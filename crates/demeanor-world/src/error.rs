//! The errors that prevent a world from running, or that end it early.

use std::error::Error;
use std::fmt;

use demeanor::{LoadError, SaveError};

/// An error of a world. Its `Display` text is sufficient by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorldError {
    /// The command line is wrong.
    Arguments(String),
    /// The world is incomplete or contradicts itself.
    Setup(String),
    /// The hosts file is wrong. `line` is set if a single line is wrong.
    Hosts {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        text: String,
    },
    /// The processes did not find each other.
    Connect(String),
    /// Two processes were started differently.
    Differs {
        /// The other process.
        process: usize,
        /// The differences: name, value there, value here.
        settings: Vec<[String; 3]>,
    },
    /// A process ended without sending an error, for example because it was killed.
    Lost {
        /// Its number.
        process: usize,
        /// Its address.
        address: String,
    },
    /// A process has been silent for too long, for example because its computer lost power or network, or because the process
    /// is stopped.
    Silent {
        /// Its number.
        process: usize,
        /// Its address.
        address: String,
        /// For how many seconds.
        seconds: u64,
    },
    /// Another process ended with an error.
    Elsewhere {
        /// The number of the process in which it happened.
        process: usize,
        /// Its error.
        text: String,
    },
    /// Two citizens have the same id.
    SameId {
        /// The id.
        id: u64,
        /// The home of the second one.
        shard: u32,
    },
    /// The home of a citizen is a shard that does not exist.
    NoShard {
        /// The citizen.
        id: u64,
        /// Its home.
        home: u32,
        /// How many shards there are.
        shards: u32,
    },
    /// `populate` made a citizen for one shard whose home is another.
    NotAtHome {
        /// The citizen.
        id: u64,
        /// Its home.
        home: u32,
        /// The shard it was made for.
        shard: u32,
    },
    /// A citizen has a different id than before. This is noticed in builds with debug assertions; in other builds, only when
    /// the citizen moves or a checkpoint is written.
    OtherId {
        /// The new id.
        id: u64,
    },
    /// A callback has removed a citizen other than its own, or has sent a message in the name of another citizen. This is
    /// noticed only if the other citizen does not live on the same thread; for messages, only in builds with debug assertions.
    NotItself {
        /// The id of the other citizen.
        id: u64,
        /// How the other citizen was used: "removed", or "the sender".
        what: &'static str,
    },
    /// A callback panicked, or another function of the program that the world calls.
    Panicked {
        /// What panicked, such as "a callback".
        what: &'static str,
        /// When, such as "in tick 3".
        when: String,
        /// The message of the panic.
        text: String,
    },
    /// Citizens cannot be serialized for sending or saving.
    Save(String),
    /// A checkpoint cannot be written.
    Checkpoint {
        /// The file or folder.
        path: String,
        /// What is wrong.
        text: String,
    },
    /// A checkpoint cannot be read.
    Resume {
        /// The file or folder.
        path: String,
        /// What is wrong.
        text: String,
    },
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments(text) | Self::Setup(text) | Self::Connect(text) | Self::Save(text) => f.write_str(text),
            Self::Hosts { file, line: Some(line), text } => write!(f, "{file}:{line}: {text}"),
            Self::Hosts { file, line: None, text } => write!(f, "{file}: {text}"),
            Self::Differs { process, settings } => {
                write!(f, "process {process} was started differently:")?;
                for (nth, [name, there, here]) in settings.iter().enumerate() {
                    let comma = if nth == 0 { "" } else { ";" };
                    write!(f, "{comma} {name} is {there} there and {here} here")?;
                }
                Ok(())
            }
            Self::Lost { process, address } => {
                write!(f, "process {process} ({address}) is gone: its connection was closed without an error message")
            }
            Self::Silent { process, address, seconds } => {
                write!(f, "process {process} ({address}) is gone: it has said nothing for {seconds} s")
            }
            Self::Elsewhere { process, text } => write!(f, "process {process}: {text}"),
            Self::SameId { id, shard } => write!(f, "there is another citizen {id}, besides the one in shard {shard}"),
            Self::NoShard { id, home, shards } => {
                write!(f, "the home of citizen {id} is shard {home}, but there are {shards} shards, counted from 0")
            }
            Self::NotAtHome { id, home, shard } => {
                write!(f, "the home of citizen {id} is shard {home}, but it was made for shard {shard}")
            }
            Self::OtherId { id } => write!(f, "the id of a citizen has changed to {id}; an id must not change"),
            Self::NotItself { id, what } => {
                write!(f, "a callback says that citizen {id} is {what}, but it is called for another one")
            }
            Self::Panicked { what, when, text } => write!(f, "{what} panicked {when}: {text}"),
            Self::Checkpoint { path, text } => write!(f, "cannot write a checkpoint: {path}: {text}"),
            Self::Resume { path, text } => write!(f, "cannot resume: {path}: {text}"),
        }
    }
}

impl Error for WorldError {}

impl From<SaveError> for WorldError {
    fn from(error: SaveError) -> Self {
        Self::Save(format!("citizens cannot be serialized: {error}"))
    }
}

impl From<LoadError> for WorldError {
    fn from(error: LoadError) -> Self {
        Self::Save(format!("citizens from another thread cannot be deserialized: {error}"))
    }
}
