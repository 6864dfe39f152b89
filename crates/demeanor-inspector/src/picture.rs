//! What the page is told, as plain data. The game's thread collects it; the server's writes it as JSON.

use std::sync::Arc;

use demeanor::{Cause, Flow, MachineReport};
use serde::Serialize;

/// A crowd at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Picture {
    pub(crate) crowd: String,
    /// When it was made, in seconds since the inspector has been there.
    pub(crate) at: f64,
    /// The game's time.
    pub(crate) seconds: f64,
    pub(crate) owners: usize,
    pub(crate) awake: Option<usize>,
    pub(crate) states: Vec<StatePicture>,
    /// What the states' file says that leads where, if that is known.
    pub(crate) exits: Option<Arc<[ExitPicture]>>,
    /// The counts of the journal since the beginning, if there is one.
    pub(crate) flow: Option<Flow>,
    pub(crate) longest: Vec<LongStay>,
    pub(crate) recent: Option<Recent>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatePicture {
    /// The names of the states from the outermost to this one.
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

/// Who stands out in the last half a minute.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recent {
    /// One of how many owners was looked at.
    pub(crate) one_in: u64,
    pub(crate) refused: Vec<RefusedOwner>,
    pub(crate) flickering: Vec<FlickeringOwner>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RefusedOwner {
    pub(crate) owner: String,
    pub(crate) label: String,
    pub(crate) count: u32,
    /// The last refusal.
    pub(crate) to: Option<String>,
    pub(crate) guard: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct FlickeringOwner {
    pub(crate) owner: String,
    pub(crate) label: String,
    /// How often it went back to where it had come from.
    pub(crate) count: u32,
    /// Between which states it last did.
    pub(crate) between: [String; 2],
}

/// One owner at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OwnerPicture {
    pub(crate) crowd: String,
    pub(crate) owner: String,
    pub(crate) at: f64,
    pub(crate) seconds: f64,
    /// `None` when there is no such owner.
    pub(crate) report: Option<MachineReport>,
    /// Whether it sleeps: JSON has no infinity for how long.
    pub(crate) is_asleep: bool,
    /// Its last entries in the journal, the oldest first. `None` if there is no journal.
    pub(crate) entries: Option<Vec<EntryPicture>>,
    /// What becomes of each exit now. `None` if the game does not say.
    pub(crate) exits: Option<Vec<Explained>>,
    /// Whether `exits` is what the guards of states in code say of each state that is known.
    pub(crate) are_guards: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EntryPicture {
    pub(crate) seconds: f64,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) cause: Cause,
    pub(crate) refused: Option<String>,
    pub(crate) time_in_state: f64,
}

/// What becomes of one exit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Explained {
    pub(crate) of: String,
    pub(crate) to: String,
    pub(crate) on: Option<String>,
    /// As the report says it: `yes`, `no`, `not tried`.
    pub(crate) verdict: String,
    pub(crate) is_taken: bool,
    /// Each with its answer.
    pub(crate) questions: Vec<(String, bool)>,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Found {
    pub(crate) crowd: String,
    pub(crate) text: String,
    /// Key and label.
    pub(crate) owners: Vec<(String, String)>,
    /// How many have been looked at.
    pub(crate) seen: usize,
    pub(crate) of: usize,
}
