//! The effects of code: the states to which a state's script and behaviors may change, and the values that a script may write.

use std::collections::HashMap;
use std::mem;

use super::{BehaviorOutline, Outline, StateId, StateOutline};
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

/// Finds the states to which the scripts and behaviors of states may change.
pub(crate) struct CodeTargets<'o> {
    outline: &'o Outline,
    /// The states by their names, whole and within their parents. Empty if the game's words for all behaviors are known.
    by_name: HashMap<&'o str, Vec<StateId>>,
    /// Whether all states have been found, and whether all states of linked files have been found.
    has_all: bool,
    has_foreign: bool,
}

impl<'o> CodeTargets<'o> {
    pub(crate) fn of(outline: &'o Outline) -> Self {
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for id in outline.without_global().filter(|_| !outline.unchecked.behaviors.is_empty()) {
            let state = outline.state(id);
            by_name.entry(state.name()).or_default().push(id);
            if state.part() != state.name() {
                by_name.entry(state.part()).or_default().push(id);
            }
        }
        Self { outline, by_name, has_all: false, has_foreign: false }
    }

    /// Whether the script of a state, or one of its behaviors, may lead to another state.
    pub(crate) fn may_lead(&self, of: &StateOutline) -> bool {
        let may_name = |behavior: &BehaviorOutline| {
            !behavior.named.is_empty()
                || self.is_open(behavior) && (of.is_foreign || self.perhaps_named(behavior).next().is_some())
        };
        self.outline.script_effects(of).is_some_and(ScriptEffects::may_lead) || of.behaviors.iter().any(may_name)
    }

    /// Returns the states to which the code of a state may lead. All states, and all states of linked files, are returned only
    /// once.
    pub(crate) fn find(&mut self, of: &StateOutline) -> Vec<StateId> {
        let outline = self.outline;
        let mut found = Vec::new();
        match outline.script_effects(of).map(|script| &script.leads_to) {
            Some(Some(to)) => found.extend(to),
            Some(None) if !mem::replace(&mut self.has_all, true) => found.extend(outline.without_global()),
            _ => {}
        }
        for behavior in &of.behaviors {
            found.extend(behavior.named.iter().map(|(_, id)| *id));
            match (self.is_open(behavior), of.is_foreign) {
                (true, false) => found.extend(self.perhaps_named(behavior)),
                // The text of another file is not available.
                (true, true) if !mem::replace(&mut self.has_foreign, true) => {
                    found.extend(outline.without_global().filter(|id| outline.state(*id).is_foreign));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a behavior has parameters, and without the game's words, it is unknown which of them name states.
    fn is_open(&self, behavior: &BehaviorOutline) -> bool {
        behavior.params.is_some() && self.outline.unchecked.behaviors.contains(&behavior.name.text)
    }

    /// Returns the states whose names are texts in the parameters of a behavior.
    fn perhaps_named(&self, behavior: &BehaviorOutline) -> impl Iterator<Item = StateId> {
        let text = behavior.params.clone().and_then(|params| self.outline.source.text().get(params));
        let texts = text.unwrap_or_default().split(['"', '\'']);
        texts.filter_map(|text| self.by_name.get(text)).flatten().copied()
    }
}
