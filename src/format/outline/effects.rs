//! The effects of scripts: the states to which a state's script may change, and the values that it may write.

#[cfg(feature = "script")]
use std::collections::HashMap;

use super::{Outline, StateId, StateOutline};
use crate::format::script_effects::ScriptEffects;
#[cfg(feature = "script")]
use crate::format::{library::Library, script::lint::effects, words::Words};

impl Outline {
    /// Whether a script may write a value, in the middle of a tick.
    pub(crate) fn is_written(&self, value: &str) -> bool {
        self.scripts.values().any(|script| script.writes.as_ref().is_none_or(|values| values.contains(value)))
    }

    /// Returns all states except the global one.
    pub(crate) fn without_global(&self) -> impl Iterator<Item = StateId> {
        self.states.iter().map(|state| state.id).filter(|id| Some(*id) != self.global)
    }

    /// Returns the effects of a state's script, if it has one.
    pub(crate) fn script_effects(&self, of: &StateOutline) -> Option<&ScriptEffects<StateId>> {
        of.script.as_ref().and_then(|script| self.scripts.get(&script.text))
    }

    /// Finds the effects of the states' scripts. `texts` has the effects of scripts that have been read for another machine. A
    /// script whose text is not available may have any effect.
    #[cfg(feature = "script")]
    pub(super) fn read_scripts(
        &mut self,
        library: &Library<'_>,
        words: Option<&Words>,
        texts: &mut HashMap<String, ScriptEffects<String>>,
    ) {
        let mut ids = None;
        for script in self.states.iter().filter_map(|state| state.script.as_ref()) {
            if self.scripts.contains_key(&script.text) {
                continue;
            }
            let effects = texts.entry(script.text.clone()).or_insert_with(|| {
                let text = library.script(&script.text);
                let read = text.ok().and_then(|text| effects(&text));
                let mut effects = read.unwrap_or(ScriptEffects { leads_to: None, writes: None });
                effects.writes = effects.writes.or_else(|| words.map(|words| words.fields.clone()));
                effects
            });
            let ids = ids.get_or_insert_with(|| -> HashMap<&str, StateId> {
                self.states.iter().map(|state| (state.name(), state.id)).collect()
            });
            let leads_to = effects
                .leads_to
                .as_ref()
                .map(|names| names.iter().filter_map(|name| ids.get(name.as_str()).copied()).collect());
            self.scripts.insert(script.text.clone(), ScriptEffects { leads_to, writes: effects.writes.clone() });
        }
    }
}
