//! What a game offers to scripts alone: fields that they may write, and texts of scripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::owner::Owner;

/// What a game offers to scripts alone.
pub(crate) struct Scripts<T: Owner> {
    pub(crate) fields: BTreeMap<String, Setter<T>>,
    pub(super) texts: BTreeMap<String, String>,
}

/// Writes a field of the owner.
pub(crate) type Setter<T> = Arc<dyn Fn(&mut T, f64) + Send + Sync>;

impl<T: Owner> Scripts<T> {
    /// The text of a script: the offered one, or that of a file in the definition's folder.
    pub(crate) fn text_of(&self, file: &str, folder: Option<&Path>) -> Result<String, String> {
        if let Some(text) = self.texts.get(file) {
            return Ok(text.clone());
        }
        let folder = folder.ok_or("it is not offered by the game, and there is no file to look beside")?;
        fs::read_to_string(folder.join(file)).map_err(|error| error.to_string())
    }
}

impl<T: Owner> Default for Scripts<T> {
    fn default() -> Self {
        Self { fields: BTreeMap::new(), texts: BTreeMap::new() }
    }
}

impl<T: Owner> Clone for Scripts<T> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), texts: self.texts.clone() }
    }
}
