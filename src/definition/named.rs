//! Parameters of behaviors that are names of states, and how a behavior finds these states.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::graph::{Fixed, SharedGraph};
use crate::format::outline::params::STATE_FORMAT;
use crate::owner::Owner;
use crate::state::StateRef;

/// The name of a state of the same file, as a parameter of a behavior. When the file is loaded, and in `demeanor check`, it
/// is an error if there is no such state. [`behavior_with_states`](super::Vocabulary::behavior_with_states) has an example.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateName(String);

impl StateName {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for StateName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StateName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": STATE_FORMAT })
    }
}

/// The states of a file, for the function that makes a behavior.
///
/// The function runs while the file is being loaded, when the states do not exist yet. So [`get`](Self::get) returns a
/// [`FileState`], which finds the state later.
pub struct FileStates<T: Owner> {
    /// The indices of the states that the parameters of the behavior name, by the text of the name.
    pub(crate) named: HashMap<String, usize>,
    pub(crate) states: Arc<[Arc<Fixed<T>>]>,
    pub(crate) link: Link<T>,
}

/// A link from the states of a graph to their shared data. It is set after the graph has been built.
pub(crate) type Link<T> = Arc<OnceLock<Weak<SharedGraph<T>>>>;

impl<T: Owner> FileStates<T> {
    /// Returns the state that a parameter names. `None` if the file has no such state. This happens only if `name` is not a
    /// parameter of this behavior.
    #[must_use]
    pub fn get(&self, name: &StateName) -> Option<FileState<T>> {
        let fixed = match self.named.get(name.as_str()) {
            Some(index) => self.states.get(*index),
            None => self.states.iter().find(|fixed| fixed.name == name.as_str()),
        };
        Some(FileState { fixed: Arc::clone(fixed?), link: Arc::clone(&self.link) })
    }

    /// Returns the names of all states, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|fixed| fixed.name.as_str())
    }
}

impl<T: Owner> fmt::Debug for FileStates<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A reference to a state of a file, which a behavior can store. It does not keep the state or its definition in memory.
pub struct FileState<T: Owner> {
    fixed: Arc<Fixed<T>>,
    link: Link<T>,
}

impl<T: Owner> FileState<T> {
    /// Returns the state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.fixed.name
    }

    /// Returns the state as a target for a change. `None` while the file is being loaded, and after the definition and all
    /// references to its states have been dropped. In a callback of a state of the same file, the result is never `None`.
    #[must_use]
    pub fn state(&self) -> Option<StateRef<T>> {
        let shared = self.link.get()?.upgrade()?;
        Some(self.fixed.state(&shared))
    }
}

impl<T: Owner> Clone for FileState<T> {
    fn clone(&self) -> Self {
        Self { fixed: Arc::clone(&self.fixed), link: Arc::clone(&self.link) }
    }
}

impl<T: Owner> fmt::Debug for FileState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileState").field(&self.fixed.name).finish()
    }
}
