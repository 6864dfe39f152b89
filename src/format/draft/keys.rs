//! Finds the keys that are names of states and machines: in headers of tables, in dotted keys, and in inline tables.
//!
//! A name may occur as a key several times, as in `[states.aim]` and `[[states.aim.exits]]`. The draft keeps only one of these
//! keys, so they are read from the text.

use std::ops::Range;

use super::statements::Statements;
use super::tree::{self, Table};

/// The key of behaviors in American and in British spelling.
pub(super) const BEHAVIOR_KEYS: [&str; 2] = ["behavior", "behaviour"];

/// A place in a file where the name of a state or of a machine is a key.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Survey;
///
/// let file = "initial = 'aim'\n[states.aim]\n[[states.aim.exits]]\nto = 'aim'\n";
/// let survey = Survey::of("guard.toml", file, None, &|_| None, None);
/// let keys: Vec<_> = survey.keys().iter().map(|key| (key.state(), &file[key.span()])).collect();
/// assert_eq!(keys, [(Some("aim"), "aim"), (Some("aim"), "aim")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    machine: Option<String>,
    state: Option<String>,
    /// The names of the states in whose tables the state is written.
    around: Vec<String>,
    span: Range<usize>,
    section: Range<usize>,
}

impl Key {
    /// Returns the name of the machine. For the name of a state, it is the machine of this state; `None` for a state outside of
    /// `[machines]`.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns the name of the state. `None` if the key is the name of a machine.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the names of the states in whose tables the state is written, outermost first: `fight` for
    /// `[states.fight.states.aim]`.
    #[must_use]
    pub fn around(&self) -> &[String] {
        &self.around
    }

    /// Returns where the name is written, including quotes around it.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the range from this key to the next header, or to the end of the file. If the key is in a header, the range begins
    /// with this header.
    #[must_use]
    pub fn section(&self) -> Range<usize> {
        self.section.clone()
    }
}

/// Returns the keys that are names of states and machines, in the order of the file.
pub(crate) fn keys(text: &str) -> Vec<Key> {
    let mut found: Vec<Key> = Vec::new();
    // The keys of the last header, and the index in `found` of its first key.
    let (mut path, mut section) = (Vec::new(), 0);
    for statement in Statements::of(text) {
        if let Some(header) = &statement.header {
            let behind = section..found.len();
            found[behind].iter_mut().for_each(|key| key.section.end = header.span.start);
            path.clear();
            section = found.len();
        }
        let above = path.len();
        for key in &statement.keys {
            found.extend(named(&path, key, key.span()));
            path.push(key.get_ref().to_string());
        }
        if let Some(table) = statement.value.as_ref().and_then(|value| value.get_ref().as_table()) {
            within(table, &mut path, &mut found);
        }
        match &statement.header {
            Some(header) => found[section..].iter_mut().for_each(|key| key.section.start = header.span.start),
            None => path.truncate(above),
        }
    }
    found[section..].iter_mut().for_each(|key| key.section.end = text.len());
    found
}

/// Whether the file has the key `initial` outside of all tables.
pub(crate) fn has_initial(text: &str) -> bool {
    let mut outside = Statements::of(text).take_while(|statement| statement.header.is_none());
    outside.any(|statement| matches!(&*statement.keys, [key] if key.get_ref() == "initial"))
}

/// Adds the names of states and machines in an inline table.
fn within(table: &Table<'_>, path: &mut Vec<String>, found: &mut Vec<Key>) {
    let first = found.len();
    for (key, value) in table.iter() {
        let table = value.get_ref().as_table();
        let again = table.into_iter().flat_map(|table| &table.again).cloned();
        found.extend([key.span()].into_iter().chain(again).filter_map(|span| named(path, key, span)));
        if let Some(table) = table {
            path.push(key.get_ref().to_string());
            within(table, path, found);
            path.pop();
        }
    }
    found[first..].sort_by_key(|key| key.span.start);
}

/// Returns the key if it is the name of a state or of a machine. `path` has the keys above it.
fn named(path: &[String], key: &tree::Key<'_>, span: Range<usize>) -> Option<Key> {
    let name = || Some(key.get_ref().to_string());
    let (machine, within) = match path {
        [of] if of == "machines" => (name(), None),
        [machines, machine, within @ ..] if machines == "machines" => (Some(machine.clone()), Some(within)),
        within => (None, Some(within)),
    };
    let (mut state, mut around) = (None, Vec::new());
    if let Some(within) = within {
        // The keys are `states` and a name, in turn.
        if within.len() % 2 == 0 || within.iter().step_by(2).any(|of| of != "states") {
            return None;
        }
        state = name();
        around.extend(within.iter().skip(1).step_by(2).cloned());
    }
    let section = span.start..span.end;
    Some(Key { machine, state, around, span, section })
}

/// Returns a name as it is written in a header: in quotes, if it is not a bare key of TOML.
pub(crate) fn quoted(name: &str) -> String {
    if is_bare(name) { name.to_owned() } else { format!("\"{name}\"") }
}

pub(super) fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
