//! Reads the behaviors of a state: a name with `params`, or a list. An element of the list is a name, or a table with a name
//! and parameters.

use std::rc::Rc;

use toml::Spanned;

use super::DraftBehavior;
use super::keys::BEHAVIOR_KEYS;
use super::read::{DraftReader, missing_key};
use super::tree::{Key, SpannedValue, Table, TreeValue, one_or_several};
use crate::format::problems::{Mistake, Origin};

impl<'i> DraftReader<'_, 'i> {
    /// Reads the behaviors of a state.
    pub(super) fn behaviors(&mut self, state: &Table<'i>) -> Vec<DraftBehavior<'i>> {
        let given: Vec<_> = BEHAVIOR_KEYS.into_iter().filter_map(|key| Some((key, state.get(key)?))).collect();
        if let [(_, first), (key, second)] = &given[..] {
            let at = self.key_span(key, second.span());
            Mistake::error("duplicate-key", at, "`behavior` and `behaviour` are one key in two spellings")
                .label("given again here")
                .second(Some(first.span()), "first given here")
                .help("write `behavior = [..]` with all of them")
                .report(self.findings);
        }
        let named = given.first().map_or(&[][..], |(_, value)| one_or_several(value));
        let mut behaviors: Vec<_> = named.iter().filter_map(|one| behavior(self, one)).collect();
        let Some(params) = state.get("params").filter(|params| self.table(params, "`params`").is_some()) else {
            return behaviors;
        };
        let is_named = given.iter().any(|(_, value)| value.get_ref().is_str());
        match &mut behaviors[..] {
            [one] if is_named => one.params = Some(Rc::new(params.clone())),
            _ if is_named => {}
            _ => {
                let at = self.key_span("params", params.span());
                let message = "`params` are given, but there is no behavior that uses them";
                Mistake::error("params-without-behaviour", at, message)
                    .label("used by no behavior")
                    .help(if given.is_empty() {
                        "add `behavior = \"..\"`"
                    } else {
                        "put the parameters beside the name: `behavior = [{ name = \"walk\", speed = 2 }]`"
                    })
                    .origin(Origin::MayFollow)
                    .report(self.findings);
            }
        }
        behaviors
    }
}

/// Reads a behavior: a name, or a table with a name and parameters.
fn behavior<'i>(reader: &mut DraftReader<'_, 'i>, value: &SpannedValue<'i>) -> Option<DraftBehavior<'i>> {
    let TreeValue::Table(table) = value.get_ref() else {
        if value.get_ref().is_str() {
            return Some(DraftBehavior { name: reader.word(value, "the name of a behavior")?, params: None });
        }
        return reader.mistyped(value, "a behavior", "a string or a table", None);
    };
    let Some(name) = table.get("name") else {
        // The other keys are parameters, and any of them may be the misspelled name.
        let similar = |key: &&Key<'_>| reader.findings.nearest(key.get_ref(), ["name"]).is_some();
        let missing = match table.keys().find(similar) {
            Some(key) => Mistake::error("missing-key", key.span(), "a behavior has no `name`")
                .label(format!("`{}` is a parameter", key.get_ref()))
                .meant(Some("name".into())),
            None => missing_key("name", "a behavior", value.span()),
        };
        return missing.fail(reader.findings);
    };
    let name = reader.word(name, "`name`")?;
    let mut params = table.clone();
    params.remove("name");
    Some(DraftBehavior { name, params: Some(Rc::new(Spanned::new(value.span(), TreeValue::Table(params)))) })
}
