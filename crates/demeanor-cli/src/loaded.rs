//! A machine of a file that can be played without its game.

use std::iter;

use demeanor::StateMachine;
use demeanor::definition::{Definition, Outline, Problems, ValueKind, Words};

use crate::input::Input;
use crate::puppet::{CHANCE, Names, Puppet, vocabulary, words_of};
use crate::shown::listed;
use crate::table::Moment;
use crate::{complain, report};

/// A machine that can be played.
pub(crate) struct Loaded {
    pub(crate) definition: Definition<Puppet>,
    pub(crate) names: Names,
    pub(crate) words: Words,
}

impl Loaded {
    /// Loads a machine, by default the first one of the file, to play it with `moments`. `None` if the file has errors: they have
    /// been reported.
    pub(crate) fn new(
        input: &Input,
        machine: Option<&str>,
        outlines: &[Outline],
        words: Option<Words>,
        tick: f64,
        moments: &[Moment],
    ) -> Result<Option<Self>, String> {
        let is_vocabulary_known = words.is_some();
        match Self::load(input, machine, outlines, words, tick, moments)? {
            Ok(loaded) => Ok(Some(loaded)),
            Err(problems) => {
                report(&problems);
                if !is_vocabulary_known {
                    complain("without --vocabulary, the values of scripts must be given with --set or --values");
                }
                Ok(None)
            }
        }
    }

    /// Loads a machine, or returns the errors of the file.
    pub(crate) fn load(
        input: &Input,
        machine: Option<&str>,
        outlines: &[Outline],
        words: Option<Words>,
        tick: f64,
        moments: &[Moment],
    ) -> Result<Result<Self, Problems>, String> {
        let is_vocabulary_known = words.is_some();
        let mut words = words.unwrap_or_else(|| words_of(outlines, tick));
        let (mut puppets, mut names) = vocabulary(&words);
        let mut loaded = input.definitions(&puppets)?;
        if loaded.is_err() && !is_vocabulary_known {
            // The remaining mistakes are unknown words in scripts. They may be values that are set but occur in no condition.
            add_settings(&mut words, moments);
            (puppets, names) = vocabulary(&words);
            loaded = input.definitions(&puppets)?;
        }
        let definitions = match loaded {
            Ok(definitions) => definitions,
            Err(problems) => return Ok(Err(problems)),
        };
        let Some((_, definition)) = definitions.iter().find(|(name, _)| machine.is_none_or(|machine| machine == *name))
        else {
            let names: Vec<_> = definitions.names().map(str::to_owned).collect();
            return Err(input.no_machine(machine, &names));
        };
        let definition = definition.clone();
        Ok(Ok(Self { definition, names, words }))
    }

    /// Returns a machine that begins in the initial state, or in the state with this name.
    pub(crate) fn machine(&self, from: Option<&str>) -> Result<StateMachine<Puppet>, String> {
        from.map_or_else(|| Ok(self.definition.machine()), |name| machine_from(&self.definition, name))
    }
}

/// Adds the values that are set, as values that scripts may also write.
fn add_settings(words: &mut Words, moments: &[Moment]) {
    for (name, value) in moments.iter().flat_map(|moment| &moment.settings).filter(|(name, _)| name != CHANCE) {
        words.values.entry(name.clone()).or_insert(value.kind());
        if value.kind() == ValueKind::Number {
            words.fields.insert(name.clone());
        }
    }
}

/// Returns a machine that begins in the state with this name; if the state has initial children, in these.
fn machine_from(definition: &Definition<Puppet>, name: &str) -> Result<StateMachine<Puppet>, String> {
    let global = definition.global();
    let state = definition.state(name).ok_or_else(|| {
        let names = definition.states();
        format!("there is no state `{name}`; there are: {}", listed(names.iter().map(ToString::to_string)))
    })?;
    if global.as_ref() == Some(&state) {
        return Err(format!("`{name}` is the global state, which is never entered"));
    }
    let innermost = iter::successors(Some(state), |state| state.initial()).last();
    let machine = innermost.map(StateMachine::new).unwrap_or_default();
    Ok(match global {
        Some(global) => machine.with_global(global),
        None => machine,
    })
}
