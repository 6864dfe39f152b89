//! The effects of code: the states to which a state's script and behaviors may change, and the values that a script may write.

use std::collections::HashMap;
use std::mem;

#[cfg(feature = "script")]
use super::scopes::{Meant, Scopes};
use super::{BehaviorOutline, Outline, StateId, StateOutline};
#[cfg(feature = "script")]
use crate::format::{library::Library, name::Name, script::lint::effects, script_effects::ScriptEffects, words::Words};

impl Outline {
    /// Whether a script may write a value, in the middle of a tick.
    pub(crate) fn is_written(&self, value: &str) -> bool {
        self.scripts.values().any(|script| script.writes.as_ref().is_none_or(|values| values.contains(value)))
    }

    /// Returns all states except the global one.
    pub(crate) fn without_global(&self) -> impl Iterator<Item = StateId> {
        self.states.iter().map(|state| state.id).filter(|id| Some(*id) != self.global)
    }

    /// Whether the script of a state, if it has one, may change to any state.
    fn script_leads_anywhere(&self, of: &StateOutline) -> bool {
        let effects = of.script.as_ref().and_then(|script| self.scripts.get(&script.text));
        effects.is_some_and(|effects| effects.leads_anywhere)
    }

    /// Returns the states that the script of a state names.
    fn named_by_script(&self, of: &StateOutline) -> impl Iterator<Item = StateId> {
        self.named_by_scripts.get(&of.id).into_iter().flatten().flatten().copied()
    }

    /// Whether the script of a state may change the state.
    pub(crate) fn script_may_lead(&self, of: &StateOutline) -> bool {
        self.script_leads_anywhere(of) || self.named_by_script(of).next().is_some()
    }

    /// Finds the effects of the states' scripts. `texts` has the effects of scripts that have been read for another machine. A
    /// script whose text is not available may have any effect.
    #[cfg(feature = "script")]
    pub(super) fn read_scripts(
        &mut self,
        scopes: &Scopes,
        library: &Library<'_>,
        words: Option<&Words>,
        texts: &mut HashMap<String, ScriptEffects>,
    ) {
        for state in &self.states {
            let Some(script) = &state.script else { continue };
            let effects = texts.entry(script.text.clone()).or_insert_with(|| {
                let text = library.script(&script.text);
                let read = text.ok().and_then(|text| effects(&text));
                let mut effects =
                    read.unwrap_or(ScriptEffects { named: Vec::new(), leads_anywhere: true, writes: None });
                effects.writes = effects.writes.or_else(|| words.map(|words| words.fields.clone()));
                effects
            });
            let meant = |name: &Name| match scopes.meant(&name.text, Some(state.id)) {
                Meant::One(id) => Some(id),
                Meant::Several | Meant::Nothing => None,
            };
            self.named_by_scripts.insert(state.id, effects.named.iter().map(meant).collect());
            if !self.scripts.contains_key(&script.text) {
                self.scripts.insert(script.text.clone(), effects.clone());
            }
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
        self.outline.script_may_lead(of) || of.behaviors.iter().any(may_name)
    }

    /// Returns the states to which the code of a state may lead. All states, and all states of linked files, are returned only
    /// once.
    pub(crate) fn find(&mut self, of: &StateOutline) -> Vec<StateId> {
        let outline = self.outline;
        let mut found: Vec<_> = outline.named_by_script(of).collect();
        if outline.script_leads_anywhere(of) && !mem::replace(&mut self.has_all, true) {
            found.extend(outline.without_global());
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
