//! Checks the scripts of a file without a game: whether they exist, and whether they can be compiled.

use std::collections::HashMap;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use super::{Checked, Outline, StateId};
use crate::format::library::Library;
use crate::format::name::Name;
use crate::format::problems::Findings;
use crate::format::script::budget::ScriptBudget;
use crate::format::script::compiled::{self, Purpose};
use crate::format::script::lint::ScriptNames;
use crate::format::script::{mistake, no_script, source};
use crate::format::source::Source;
use crate::format::words::Words;

/// Checks the scripts of a machine, which are in a folder. Each script is read once. A script whose text the game adds is not
/// checked.
pub(super) fn check(
    checked: &mut Checked<'_>,
    folder: &Path,
    library: &Library<'_>,
    words: Option<&Words>,
    findings: &mut Findings,
) {
    if words.is_some_and(|words| !words.scripts) {
        return;
    }
    let Checked { outline, scopes: Some(scopes), .. } = checked else { return };
    let mut names = ScriptNames {
        values: words.map(|words| words.values.keys().map(String::as_str).collect()),
        is_field: &|name| words.is_none_or(|words| words.fields.contains(name)),
        scopes,
        from: outline.initial,
    };
    let mut texts: HashMap<String, Result<Arc<Source>, String>> = HashMap::new();
    for (of, script, purpose) in named(outline) {
        names.from = of;
        if words.is_some_and(|words| words.script_files.contains(&script.text)) {
            continue;
        }
        let read = || {
            let text = library.script(&script.text)?;
            Ok(Arc::new(source(Some(folder), &script.text, &text)))
        };
        match texts.entry(script.text.clone()).or_insert_with(read) {
            Ok(source) => {
                if let Err(unfit) = compiled::check(source.text(), purpose, ScriptBudget::default(), &names) {
                    findings.add_in(source, mistake(unfit, outline.file()));
                }
            }
            // If the words of the game are not known, the game may add the text of this script.
            Err(_) if words.is_none() => drop(outline.unchecked.scripts.insert(script.text)),
            Err(why) => findings.add(no_script(&script, why)),
        }
    }
}

/// Returns the scripts of the states and their conditions, with their purposes.
fn named(outline: &Outline) -> Vec<(StateId, Name, Purpose)> {
    let states = outline.states.iter();
    let of = |state: &Arc<super::StateOutline>| {
        let purposes = state.script.iter().map(|_| Purpose::Hooks).chain(iter::repeat(Purpose::Condition));
        state.scripts().zip(purposes).map(|(script, purpose)| (state.id, script.clone(), purpose)).collect::<Vec<_>>()
    };
    states.flat_map(of).collect()
}
