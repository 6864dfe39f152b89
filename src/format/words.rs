//! The words that a game offers to its definitions, without the code behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The contents of a [`Vocabulary`](crate::definition::Vocabulary), without the code behind them. A tool needs them to check a
/// file.
///
/// A game writes them to a file for its designers, and `demeanor check --vocabulary` reads this file.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Vocabulary, Words};
/// use demeanor::Owner;
/// struct Guard { health: f64 }
/// impl Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// let vocabulary = Vocabulary::<Guard>::new().value("health", |guard: &Guard, _| guard.health);
/// let json = vocabulary.export().to_json();
/// assert!(Words::from_json(&json).unwrap().values.contains_key("health"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Words {
    /// The values that conditions can read, and whether each is a number or a flag.
    pub values: BTreeMap<String, ValueKind>,
    /// The ranges of values, by name: the least and the greatest number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// The behaviors, each with the JSON Schema of its parameters; `None` if it has no parameters.
    #[serde(alias = "behaviours")]
    pub behaviors: BTreeMap<String, Option<serde_json::Value>>,
    /// The messages.
    pub messages: BTreeSet<String>,
    /// The fields of the messages, by the name of the message, and whether each is a number or a flag.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub message_fields: BTreeMap<String, BTreeMap<String, ValueKind>>,
    /// The actions, and whether each gets a number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, Option<ValueKind>>,
    /// The values that exits can set and scripts can write.
    pub fields: BTreeSet<String>,
    /// The descriptions of words, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub descriptions: BTreeMap<String, String>,
    /// Whether the game has random numbers, for `chance(p)` and random durations.
    pub random: bool,
    /// How many times per second the game updates its characters, if the game says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticks_per_second: Option<f64>,
    /// Whether the game is built with scripts.
    pub scripts: bool,
    /// The names of the scripts whose text the game adds. Other scripts are files in the folder of the definition.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub script_files: BTreeSet<String>,
}

/// The type of a value in the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// A number, which conditions can compare.
    Number,
    /// True or false.
    Flag,
}

/// The kind of a word of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WordKind {
    Behaviour,
    Value,
    Message,
    Action,
    /// A field of a message.
    Field,
}

impl WordKind {
    /// Returns the code of the problem for an unknown word of this kind.
    pub(crate) fn unknown(self) -> &'static str {
        match self {
            Self::Behaviour => "unknown-behaviour",
            Self::Value => "unknown-value",
            Self::Message => "unknown-message",
            Self::Action => "unknown-action",
            Self::Field => "unknown-field",
        }
    }
}

impl fmt::Display for WordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Behaviour => "behavior",
            Self::Value => "value",
            Self::Message => "message",
            Self::Action => "action",
            Self::Field => "field",
        })
    }
}

impl Words {
    /// Returns the words as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// Reads words from JSON.
    ///
    /// # Errors
    ///
    /// When `json` is not JSON, has an unknown key, or has a value of a wrong type.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}
