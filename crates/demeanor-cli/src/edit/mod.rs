//! Changes of a definition file, each as a person would type it: comments, order and style stay.
//!
//! The result of a change is a text. This module checks only that the text is TOML, not whether the definition has mistakes.

mod keys;
mod like;
mod list;
mod positions;
mod states;
#[cfg(test)]
mod tests;
mod words;

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::sync::Arc;

use demeanor::definition::{Outline, StateOutline, Survey};
use serde::Deserialize;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use self::keys::{Style, set, typed, value_of};
pub(crate) use self::words::{WordKind, written_words};
use crate::workspace::renamed;

/// A change. A state is given by its name in the outline, an exit by its index in the list of its state.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub(crate) enum Edit {
    /// Adds a state, inside no other state, or inside another one or one of its regions.
    AddState {
        name: String,
        parent: Option<String>,
        region: Option<String>,
    },
    /// Renames a state wherever the file names it.
    RenameState {
        state: String,
        name: String,
    },
    /// Moves a state into another one or into one of its regions, or out of all others.
    MoveState {
        state: String,
        parent: Option<String>,
        #[serde(default)]
        region: Option<String>,
    },
    /// Deletes a state. A state that is used is deleted only with `with_exits`, together with the exits to it and the states in it.
    DeleteState {
        state: String,
        #[serde(default)]
        with_exits: bool,
    },
    /// Sets a key of a state, or removes it.
    SetState {
        state: String,
        key: String,
        value: Option<String>,
    },
    /// Sets a key above the states, such as `initial`.
    SetMachine {
        key: String,
        value: Option<String>,
    },
    /// Sets a word of the file, such as a constant, or a key of a property. Without a value, removes it.
    SetWord {
        kind: WordKind,
        name: String,
        #[serde(default)]
        key: Option<String>,
        value: Option<String>,
    },
    /// Writes the exits again that a state has from the machine that this one is like.
    TakeExits {
        state: String,
    },
    AddExit {
        state: String,
        to: String,
    },
    SetExit {
        state: String,
        exit: usize,
        key: String,
        value: Option<String>,
    },
    /// Moves an exit to another place in the order of its state.
    MoveExit {
        state: String,
        exit: usize,
        to: usize,
    },
    DeleteExit {
        state: String,
        exit: usize,
    },
}

/// Why a change is not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) why: String,
    /// What uses the state that should be deleted: states in it, exits to it, and keys such as `initial`.
    pub(crate) uses: Vec<String>,
}

impl<S: Into<String>> From<S> for Refused {
    fn from(why: S) -> Self {
        Self { why: why.into(), uses: Vec::new() }
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// The file whose text is changed: its path, the folder with the files that may link to it, and the machine, if the file has
/// several.
pub(crate) struct Of<'f> {
    pub(crate) path: &'f Path,
    pub(crate) root: &'f Path,
    pub(crate) machine: Option<&'f str>,
}

/// Returns the changed text.
pub(crate) fn edited(of: &Of<'_>, text: &str, edit: &Edit) -> Result<String, Refused> {
    let mut draft = Draft::read(of, text)?;
    match edit {
        Edit::RenameState { state, name } => {
            let outline = draft.outline(state)?;
            // Refuses a state that is written in another file.
            draft.place_of(outline)?;
            let (_, span) = outline.written();
            return Ok(renamed(of.path, of.root, text, span.start, name)?);
        }
        Edit::AddState { name, parent, region } => draft.add_state(name, parent.as_deref(), region.as_deref())?,
        Edit::MoveState { state, parent, region } => {
            draft.move_state(state, parent.as_deref(), region.as_deref())?;
        }
        Edit::DeleteState { state, with_exits } => draft.delete_state(state, *with_exits)?,
        Edit::SetState { state, key, value } => {
            let path = draft.own_path(state)?;
            draft.set(&path, keys::STATE, key, value.as_deref())?;
            draft.drop_empty(state, &path);
        }
        Edit::SetMachine { key, value } => {
            let path = draft.machine_path();
            draft.set(&path, keys::MACHINE, key, value.as_deref())?;
        }
        Edit::SetWord { kind, name, key, value } => draft.set_word(*kind, name, key.as_deref(), value.as_deref())?,
        Edit::TakeExits { state } => draft.take_exits(state)?,
        Edit::AddExit { state, to } => draft.add_exit(state, to)?,
        Edit::SetExit { state, exit, key, value } => {
            let style = draft.style;
            match draft.exits(state)? {
                Exits::Line(array) => list::set(array, *exit, key, value.as_deref(), style)?,
                Exits::Tables(tables) => {
                    let table = tables.get_mut(*exit).ok_or("there is no such exit")?;
                    keys::set_in(table, keys::EXIT, key, value.as_deref(), style)?;
                }
            }
        }
        Edit::MoveExit { state, exit, to } => match draft.exits(state)? {
            Exits::Line(array) => list::change(array, |list| list.shift(*exit, *to))?,
            Exits::Tables(tables) => positions::shift(tables, *exit, *to)?,
        },
        Edit::DeleteExit { state, exit } => {
            let path = draft.path(state)?;
            draft.delete_exit(&path, *exit)?;
        }
    }
    draft.written(text)
}

/// The keys of a state and of its exits in the file, each with its value as a designer would type it.
#[derive(Default)]
pub(crate) struct WrittenState {
    pub(crate) keys: TypedKeys,
    pub(crate) exits: Vec<TypedKeys>,
    /// The keys that it has from the machine that this one is like, and whether its exits are from there.
    pub(crate) inherited: TypedKeys,
    pub(crate) inherits_exits: bool,
}

pub(crate) type TypedKeys = Vec<(String, String)>;

/// Returns what the file says about each state of a machine; `None` for a state that is written elsewhere.
pub(crate) fn written_states(of: &Of<'_>, text: &str) -> Result<Vec<Option<WrittenState>>, Refused> {
    let mut draft = Draft::read(of, text)?;
    let paths: Vec<_> = draft.machine()?.states().iter().map(|state| draft.paths(state.name())).collect();
    let written = paths.into_iter().map(|paths| {
        let mut written = None;
        for (machine, path) in paths {
            let is_own = machine == draft.machine;
            let table = table_at(draft.document.as_item_mut(), &path)?;
            written.get_or_insert_with(WrittenState::default).add(table, is_own);
        }
        written
    });
    Ok(written.collect())
}

impl WrittenState {
    /// Adds what a table says that no table before it has said.
    fn add(&mut self, table: &mut dyn TableLike, is_own: bool) {
        let keys = typed_keys(table);
        let exits = match table.get_mut("exits").and_then(Exits::of) {
            Some(Exits::Line(array)) => {
                array.iter().filter_map(Value::as_inline_table).map(|exit| typed_keys(exit)).collect()
            }
            Some(Exits::Tables(tables)) => tables.iter().map(|exit| typed_keys(exit)).collect(),
            None => Vec::new(),
        };
        if is_own {
            (self.keys, self.exits) = (keys, exits);
            return;
        }
        let known = |key: &str| self.keys.iter().chain(&self.inherited).any(|(other, _)| other == key);
        let new: Vec<_> = keys.into_iter().filter(|(key, _)| !known(key)).collect();
        self.inherited.extend(new);
        if self.exits.is_empty() {
            (self.inherits_exits, self.exits) = (!exits.is_empty(), exits);
        }
    }
}

fn typed_keys(table: &dyn TableLike) -> Vec<(String, String)> {
    let keys = table.iter().filter(|(key, _)| !["states", "exits"].contains(key));
    keys.filter_map(|(key, item)| Some((keys::spelling(key).to_owned(), typed(item)?))).collect()
}

/// A text that is being changed.
struct Draft {
    survey: Survey,
    document: DocumentMut,
    machine: Option<String>,
    style: Style,
}

/// The exits of a state: `exits = [..]`, or a `[[states.name.exits]]` for each.
enum Exits<'d> {
    Line(&'d mut Array),
    Tables(&'d mut ArrayOfTables),
}

impl<'d> Exits<'d> {
    fn of(item: &'d mut Item) -> Option<Self> {
        match item {
            Item::Value(Value::Array(array)) => Some(Self::Line(array)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            _ => None,
        }
    }
}

impl Draft {
    fn read(of: &Of<'_>, text: &str) -> Result<Self, Refused> {
        let document: DocumentMut = text
            .trim_start_matches('\u{feff}')
            .parse()
            .map_err(|error: toml_edit::TomlError| format!("the text has a mistake: {}", error.message()))?;
        let name = of.path.file_name().unwrap_or_default().to_string_lossy();
        let survey = Survey::of(&name, text, of.path.parent(), &|_| None, None);
        let machine = of.machine.or_else(|| survey.outlines().first()?.machine()).map(str::to_owned);
        Ok(Self { survey, document, machine, style: Style::of(text) })
    }

    /// Returns the changed text, with the ends of lines and the byte order mark that the text `before` had.
    fn written(&self, before: &str) -> Result<String, Refused> {
        let mut text = self.document.to_string();
        text.parse::<DocumentMut>().map_err(|error| format!("this cannot be written: {}", error.message()))?;
        // If a header has become the first line, the empty line above it goes.
        if !before.starts_with(['\n', '\r']) {
            text.drain(..text.len() - text.trim_start_matches('\n').len());
        }
        if before.contains("\r\n") {
            // A text of several lines still has its ends of lines.
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if before.starts_with('\u{feff}') {
            text.insert(0, '\u{feff}');
        }
        Ok(text)
    }

    fn machine(&self) -> Result<&Outline, Refused> {
        let outlines = self.survey.outlines();
        let found = outlines.iter().find(|outline| outline.machine() == self.machine.as_deref());
        Ok(found.ok_or("there is no state yet")?)
    }

    fn outline(&self, state: &str) -> Result<&Arc<StateOutline>, Refused> {
        let states = self.survey.outlines().iter().find(|outline| outline.machine() == self.machine.as_deref());
        let found = states.and_then(|outline| outline.states().iter().find(|other| other.name() == state));
        Ok(found.ok_or_else(|| format!("there is no state `{state}`"))?)
    }

    /// Returns the keys that lead to the table of the machine.
    fn machine_path(&self) -> Vec<String> {
        path_of_machine(self.machine.as_deref())
    }

    /// Returns the keys that lead to the table of a state.
    fn path(&self, state: &str) -> Result<Vec<String>, Refused> {
        self.path_of(self.outline(state)?)
    }

    fn path_of(&self, outline: &StateOutline) -> Result<Vec<String>, Refused> {
        let (machine, path) = self.place_of(outline)?;
        match machine.filter(|other| Some(other) != self.machine.as_ref()) {
            None => Ok(path),
            Some(other) => {
                Err(format!("`{}` is written in the machine `{other}`: change it there", outline.name()).into())
            }
        }
    }

    /// Returns the machine in which a state is written, and the keys that lead to its table.
    fn place_of(&self, outline: &StateOutline) -> Result<(Option<String>, Vec<String>), Refused> {
        let state = outline.name();
        let (elsewhere, span) = outline.written();
        if let Some(file) = elsewhere {
            return Err(format!("`{state}` is written in {}: change it there", file.display()).into());
        }
        let keys = self.survey.keys();
        let place = keys.partition_point(|key| key.span().start < span.start);
        let key = keys.get(place).filter(|key| key.span() == span && key.state().is_some());
        let key = key.ok_or_else(|| format!("`{state}` has no place in the file"))?;
        let machine = key.machine().map(str::to_owned);
        let mut path = path_of_machine(machine.as_deref());
        for name in key.around().iter().map(String::as_str).chain(key.state()) {
            path.extend(["states".to_owned(), name.to_owned()]);
        }
        Ok((machine, path))
    }

    /// Sets or removes a key of the table at a path.
    fn set(&mut self, path: &[String], order: keys::Order, key: &str, value: Option<&str>) -> Result<(), Refused> {
        let style = self.style;
        self.begin();
        let item = item_at(self.document.as_item_mut(), path).ok_or("it has no place in the file")?;
        set(item, order, key, value, style)
    }

    /// Moves the comments of a file without any key to its beginning, so that the first key comes after them.
    fn begin(&mut self) {
        if self.document.is_empty() {
            let comments = self.document.trailing().as_str().unwrap_or_default().to_owned();
            if comments.contains('#') {
                self.document.set_trailing("");
                let gap = if comments.ends_with("\n\n") { "" } else { "\n" };
                self.document.decor_mut().set_prefix(format!("{comments}{gap}"));
            }
        }
    }

    fn exits(&mut self, state: &str) -> Result<Exits<'_>, Refused> {
        let path = self.path(state)?;
        self.exits_at(&path)
    }

    fn exits_at(&mut self, path: &[String]) -> Result<Exits<'_>, Refused> {
        let table = table_at(self.document.as_item_mut(), path).ok_or("the state has no table")?;
        Ok(table.get_mut("exits").and_then(Exits::of).ok_or("the state has no exits")?)
    }

    fn add_exit(&mut self, state: &str, to: &str) -> Result<(), Refused> {
        self.check_own_exits(state)?;
        let path = self.path(state)?;
        let to = value_of("to", to, self.style)?;
        let item = item_at(self.document.as_item_mut(), &path).ok_or("the state has no table")?;
        match item.as_table_like_mut().and_then(|table| table.get_mut("exits")).and_then(Exits::of) {
            Some(Exits::Line(array)) => {
                let width = "exits = ".len();
                let exit = Value::InlineTable(InlineTable::from_iter([("to", to)]));
                list::change(array, |list| list.push(exit, width));
                return Ok(());
            }
            Some(Exits::Tables(tables)) => {
                let last = tables.iter().filter_map(positions::last).max();
                let mut exit = Table::from_iter([("to", to)]);
                exit.decor_mut().set_prefix("\n");
                tables.push(exit);
                let place = tables.len() - 1;
                if let Some(last) = last {
                    let new = path.iter().cloned().chain(["exits".into()]).collect::<Vec<_>>();
                    positions::insert(self.document.as_table_mut(), last, |document| {
                        let exits = item_at_table(document, &new).and_then(Item::as_array_of_tables_mut)?;
                        exits.get_mut(place)
                    });
                }
                return Ok(());
            }
            None => {}
        }
        if let (true, Item::Table(table)) = (self.style.has_exit_tables, &*item) {
            let last = positions::last(table);
            let exits = ArrayOfTables::from_iter([Table::from_iter([("to", to)])]);
            item["exits"] = Item::ArrayOfTables(exits);
            if let Some(last) = last {
                let new = path.iter().cloned().chain(["exits".into()]).collect::<Vec<_>>();
                positions::insert(self.document.as_table_mut(), last, |document| {
                    item_at_table(document, &new).and_then(Item::as_array_of_tables_mut)?.get_mut(0)
                });
            }
            return Ok(());
        }
        let exit = Value::InlineTable(InlineTable::from_iter([("to", to)]));
        keys::insert(item, keys::STATE, "exits", Value::Array(Array::from_iter([exit])))
    }

    /// Deletes an exit. If a state then has no exits, deletes its key `exits`, too.
    fn delete_exit(&mut self, path: &[String], exit: usize) -> Result<(), Refused> {
        let is_last = match self.exits_at(path)? {
            Exits::Line(array) => {
                list::change(array, |list| list.delete(exit))?;
                array.is_empty()
            }
            Exits::Tables(tables) if exit < tables.len() => {
                tables.remove(exit);
                tables.is_empty()
            }
            Exits::Tables(_) => return Err("there is no such exit".into()),
        };
        if is_last {
            self.set(path, keys::STATE, "exits", None)?;
        }
        Ok(())
    }
}

fn path_of_machine(machine: Option<&str>) -> Vec<String> {
    machine.map_or_else(Vec::new, |machine| vec!["machines".into(), machine.into()])
}

/// Returns the item to which keys lead.
fn item_at<'d>(item: &'d mut Item, path: &[String]) -> Option<&'d mut Item> {
    path.iter().try_fold(item, |item, key| item.as_table_like_mut()?.get_mut(key))
}

fn table_at<'d>(item: &'d mut Item, path: &[String]) -> Option<&'d mut dyn TableLike> {
    item_at(item, path)?.as_table_like_mut()
}

fn item_at_table<'d>(table: &'d mut Table, path: &[String]) -> Option<&'d mut Item> {
    let (first, rest) = path.split_first()?;
    item_at(table.get_mut(first)?, rest)
}
