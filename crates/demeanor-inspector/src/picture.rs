//! The data for the page. The game's thread collects it; the server's thread writes it as JSON.

use std::sync::Arc;

use demeanor::{Cause, Flow, MachineReport};
use serde::Serialize;

use crate::crowd::Data;

/// How many owners of a crowd are in each state at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sample {
    pub(crate) crowd: String,
    /// The time, in seconds since the inspector was created.
    pub(crate) at: f64,
    /// The game's time.
    pub(crate) seconds: f64,
    pub(crate) owners: usize,
    pub(crate) states: Vec<StatePicture>,
}

/// A crowd at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Picture {
    #[serde(flatten)]
    pub(crate) sample: Sample,
    pub(crate) awake: Option<usize>,
    /// The exits in the file of the states, if there is a file.
    pub(crate) exits: Option<Arc<[ExitPicture]>>,
    /// The journal's counts since the beginning, if there is a journal.
    pub(crate) flow: Option<Flow>,
    pub(crate) longest: Vec<LongStay>,
    pub(crate) recent: Option<Recent>,
    /// The last messages, the oldest first, if there is a log of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) messages: Option<Messages>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Messages {
    /// The number of messages so far.
    pub(crate) written: u64,
    pub(crate) last: Vec<MessagePicture>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct MessagePicture {
    pub(crate) seconds: f64,
    pub(crate) from: Option<Named>,
    pub(crate) to: Named,
    pub(crate) text: String,
    pub(crate) handled_by: Option<String>,
}

/// The key and the label of an owner.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Named {
    pub(crate) owner: String,
    pub(crate) label: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatePicture {
    /// The names of the states from the outermost one to this one.
    pub(crate) path: Vec<String>,
    pub(crate) owners: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ExitPicture {
    pub(crate) from: Option<String>,
    pub(crate) to: String,
    pub(crate) label: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct LongStay {
    pub(crate) owner: String,
    pub(crate) label: String,
    pub(crate) state: String,
    pub(crate) seconds: f64,
}

/// The owners that stand out in the last half minute.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recent {
    /// One of this number of owners was followed.
    pub(crate) one_in: u64,
    pub(crate) refused: Vec<RefusedOwner>,
    pub(crate) flickering: Vec<FlickeringOwner>,
    /// The last violations of properties that the game has noted, the newest first.
    pub(crate) violated: Vec<ViolatedProperty>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ViolatedProperty {
    pub(crate) owner: String,
    pub(crate) label: String,
    pub(crate) seconds: f64,
    pub(crate) property: String,
    /// The active states, outermost first.
    pub(crate) path: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RefusedOwner {
    pub(crate) owner: String,
    pub(crate) label: String,
    pub(crate) count: u32,
    /// The target of the change that was refused last.
    pub(crate) to: Option<String>,
    /// The guard that refused it.
    pub(crate) guard: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct FlickeringOwner {
    pub(crate) owner: String,
    pub(crate) label: String,
    /// How often it went back to the state from which it had come.
    pub(crate) count: u32,
    /// The two states of its last return.
    pub(crate) between: [String; 2],
}

/// One owner at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OwnerPicture {
    pub(crate) crowd: String,
    pub(crate) owner: String,
    pub(crate) at: f64,
    pub(crate) seconds: f64,
    /// `None` if there is no such owner.
    pub(crate) report: Option<MachineReport>,
    /// What the game shows of it. `None` if it shows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Data>,
    /// Whether it sleeps. JSON has no infinity for an endless sleep.
    pub(crate) is_asleep: bool,
    /// Its last entries in the journal, the oldest first. `None` if there is no journal.
    pub(crate) entries: Option<Vec<EntryPicture>>,
    /// The explanation of each exit now. `None` if the game does not provide it.
    pub(crate) exits: Option<Vec<Explained>>,
    /// Whether `exits` contains the answers of the guards of states in code, for each known state.
    pub(crate) are_guards: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EntryPicture {
    pub(crate) seconds: f64,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) cause: Cause,
    pub(crate) refused: Option<String>,
    /// How the change ended early, and where. The change itself is an earlier entry.
    pub(crate) ended: Option<String>,
    pub(crate) time_in_state: f64,
    /// The state in whose region it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<String>,
}

/// The explanation of one exit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Explained {
    pub(crate) of: String,
    pub(crate) to: String,
    pub(crate) on: Option<String>,
    /// The report's verdict: `yes`, `no`, `not tried`.
    pub(crate) verdict: String,
    pub(crate) is_taken: bool,
    /// Each question with its answer.
    pub(crate) questions: Vec<(String, bool)>,
}

/// The results of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Found {
    pub(crate) crowd: String,
    pub(crate) text: String,
    /// Key and label of each owner.
    pub(crate) owners: Vec<(String, String)>,
    /// The number of owners that match. Not all of them are listed.
    pub(crate) matches: usize,
    /// The number of owners that have been searched.
    pub(crate) seen: usize,
    pub(crate) of: usize,
}
