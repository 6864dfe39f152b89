//! What a game offers to scripts alone: fields that they may write, and texts of scripts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::format::beside::FilesBeside;
use crate::format::script::budget::ScriptBudget;
use crate::owner::Owner;

/// What a game offers to scripts alone.
pub(crate) struct Scripts<T: Owner> {
    pub(crate) fields: BTreeMap<String, Setter<T>>,
    pub(super) texts: BTreeMap<String, String>,
    pub(crate) budget: ScriptBudget,
}

/// Writes a field of the owner.
pub(crate) type Setter<T> = Arc<dyn Fn(&mut T, f64) + Send + Sync>;

impl<T: Owner> Scripts<T> {
    /// The names of the offered texts.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.texts.keys()
    }

    pub(crate) fn offers(&self, file: &str) -> bool {
        self.texts.contains_key(file)
    }

    /// The text of a script: the offered one, or that of a file beside the definition.
    pub(crate) fn text_of(&self, file: &str, beside: Option<&FilesBeside>) -> Result<String, String> {
        if let Some(text) = self.texts.get(file) {
            return Ok(text.clone());
        }
        let beside = beside.ok_or("it is not offered by the game, and there is no file to look beside")?;
        beside.read(Path::new(file))
    }
}

impl<T: Owner> Default for Scripts<T> {
    fn default() -> Self {
        Self { fields: BTreeMap::new(), texts: BTreeMap::new(), budget: ScriptBudget::default() }
    }
}

impl<T: Owner> Clone for Scripts<T> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), texts: self.texts.clone(), budget: self.budget }
    }
}
