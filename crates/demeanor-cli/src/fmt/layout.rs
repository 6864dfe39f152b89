//! The one order and style of a file.

use std::collections::HashMap;

use toml_edit::{Array, Decor, InlineTable, Item, Key, RawString, Table, Value};

use super::Form;
use super::comments::{comments, raw};
use super::states::{Machine, Written};

/// The widest line, in characters, into which a list is put.
const WIDEST: usize = 120;

const FILE: &[&str] = &["initial", "global", "ticks_per_second", "constants", "conditions", "properties"];
pub(crate) const MACHINE: &[&str] = &["like", "initial", "global", "properties"];
pub(crate) const PROPERTY: &[&str] = &["never", "always", "from", "reach", "within"];
pub(crate) const STATE: &[&str] = &[
    "note",
    "parent",
    "initial",
    "regions",
    "region",
    "history",
    "final",
    "entry",
    "machine",
    "behavior",
    "behaviour",
    "params",
    "script",
    "every",
    "enter_when",
    "enter",
    "exit",
    "ignore",
    "choose",
    "exits",
];
pub(crate) const EXIT: &[&str] = &[
    "to",
    "push",
    "pop",
    "resume",
    "on",
    "after",
    "at",
    "when",
    "score",
    "weight",
    "cooldown",
    "always",
    "restart",
    "even_final",
    "do",
    "set",
    "note",
];

/// The order of the keys of a table. Other keys come behind, as they are.
pub(crate) type Order = &'static [&'static str];

pub(super) fn write(file: &Written, form: Form) -> String {
    let table = file.document.as_table();
    let first = table.iter().next().and_then(|(key, item)| Some((table.key(key)?, item)));
    let prefix = first.map_or("", |(key, item)| match item {
        Item::Table(table) => raw(table.decor().prefix()),
        _ => raw(key.leaf_decor().prefix()),
    });
    let mut writer = Writer { text: String::new(), head: None };
    // The comment about the whole file ends with an empty line, or it is a line for editors: `#:schema definition.schema.json`.
    let about_file = prefix.rsplit_once("\n\n").filter(|(head, _)| head.contains('#'));
    let for_editors = || prefix.split_once('\n').filter(|(head, _)| head.starts_with("#:"));
    if let Some((head, own)) = about_file.or_else(for_editors) {
        writer.lines(&comments(head));
        writer.line("");
        writer.head = Some((prefix, own));
    }
    writer.keys(&[], table, FILE, &["states", "machines"]);
    writer.tables(&[], table, &["states", "machines"]);
    for machine in &file.machines {
        writer.machine(machine, form);
    }
    let trailing = comments(raw(Some(file.document.trailing())));
    if !trailing.is_empty() {
        writer.line("");
        writer.lines(&trailing);
    }
    match writer.text.split_once('\n') {
        // A comment that has become the first line is now one for editors.
        Some((first, rest)) if first.starts_with("#:") && !rest.starts_with('\n') => format!("{first}\n\n{rest}"),
        _ => writer.text,
    }
}

struct Writer<'f> {
    text: String,
    /// The comments before the first key or header, and those of them that are not about the whole file.
    head: Option<(&'f str, &'f str)>,
}

impl Writer<'_> {
    /// Writes comments, except those about the whole file.
    fn comments(&mut self, prefix: &str) {
        // Other comments that begin like those about the whole file stay.
        let head = self.head.take_if(|(all, _)| prefix.starts_with(*all));
        let own = head.map(|(all, own)| format!("{own}{}", &prefix[all.len()..]));
        self.lines(&comments(own.as_deref().unwrap_or(prefix)));
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn machine(&mut self, machine: &Machine, form: Form) {
        if !machine.path.is_empty() {
            self.header(&machine.path, &machine.table, false, &[]);
            self.keys(&machine.path, &machine.table, MACHINE, &["states"]);
            self.tables(&machine.path, &machine.table, &["states"]);
        }
        let paths: Vec<Vec<String>> = (0..machine.states.len()).map(|at| path(machine, at, form)).collect();
        // The order of the file. With `--nested`, each state comes directly before those in its table.
        let by_path: HashMap<&[String], usize> = paths.iter().enumerate().map(|(at, path)| (&**path, at)).collect();
        let within = |at: usize| by_path.get(&paths[at][..paths[at].len() - 2]).copied();
        let mut inner = vec![Vec::new(); paths.len()];
        let mut left = Vec::new();
        for at in machine.order.iter().rev().copied() {
            let around = within(at).filter(|_| form == Form::Nested);
            around.map_or(&mut left, |around| &mut inner[around]).push(at);
        }
        while let Some(at) = left.pop() {
            left.append(&mut inner[at]);
            let state = &machine.states[at];
            let is_meant = form == Form::Flat && !machine.table.contains_key("like");
            if state.is_implicit && !is_meant {
                continue;
            }
            let mut table = state.table.clone();
            table.remove("states");
            let is_nested = paths[at].len() > machine.path.len() + 2;
            let replaced = if is_nested { table.remove_entry("parent") } else { None };
            self.header(
                &paths[at],
                &state.table,
                false,
                &replaced.map_or_else(Vec::new, |(key, item)| about(&key, &item)),
            );
            if !is_nested && state.within.is_some() && !table.contains_key("parent") && state.name == state.key {
                let parent = machine.parent(at).unwrap_or_default();
                table.insert("parent", Item::Value(parent.into()));
            }
            self.keys(&paths[at], &table, STATE, &[]);
            self.tables(&paths[at], &table, &[]);
        }
    }

    /// Writes the header of a table, behind an empty line. `more` are comments about a key that the header replaces.
    fn header(&mut self, path: &[String], table: &Table, is_list: bool, more: &[String]) {
        let names: Vec<_> = path.iter().map(|name| key(name)).collect();
        let name = if is_list { format!("[[{}]]", names.join(".")) } else { format!("[{}]", names.join(".")) };
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.line("");
        }
        self.comments(raw(table.decor().prefix()));
        self.lines(more);
        self.line(&format!("{name}{}", behind(table.decor().suffix())));
    }

    /// Writes the keys of a table whose values are not tables with headers.
    fn keys(&mut self, path: &[String], table: &Table, order: Order, skipped: &[&str]) {
        let mut keys: Vec<_> = table.iter().filter(|(key, _)| !skipped.contains(key)).collect();
        keys.sort_by_key(|(key, _)| position(order, key));
        for (name, item) in keys {
            let value = match item {
                Item::Value(value) => value.clone(),
                Item::Table(table) if table.is_dotted() => Value::InlineTable(table.clone().into_inline_table()),
                _ => continue,
            };
            let Some(decor) = table.key(name).map(Key::leaf_decor) else { continue };
            self.comments(raw(decor.prefix()));
            if let Item::Table(table) = item {
                self.lines(&inside(table));
            }
            let begin = format!("{} = ", key(name));
            let of = match name {
                "exits" => EXIT,
                "behavior" | "behaviour" => &["name"],
                _ if are_properties(path) => PROPERTY,
                _ => &[],
            };
            let text = written(&value, of, begin.chars().count(), name == "exits");
            self.line(&format!("{begin}{text}{}", behind(value.decor().suffix())));
        }
    }

    /// Writes the tables with headers in a table.
    fn tables(&mut self, path: &[String], table: &Table, skipped: &[&str]) {
        let mut tables: Vec<_> = table.iter().filter(|(key, _)| !skipped.contains(key)).collect();
        if !skipped.is_empty() {
            tables.sort_by_key(|(key, _)| position(FILE, key));
        }
        for (name, item) in tables {
            let order = match name {
                _ if are_properties(path) => PROPERTY,
                "exits" => EXIT,
                _ => &[],
            };
            let path: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
            match item {
                Item::Table(inner) if !inner.is_dotted() => {
                    if !inner.is_implicit() {
                        self.header(&path, inner, false, &[]);
                        self.keys(&path, inner, order, &[]);
                    }
                    self.tables(&path, inner, &[]);
                }
                Item::ArrayOfTables(list) => {
                    for inner in list {
                        self.header(&path, inner, true, &[]);
                        self.keys(&path, inner, order, &[]);
                        self.tables(&path, inner, &[]);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the comments above a key and behind its value.
fn about(key: &Key, item: &Item) -> Vec<String> {
    let behind = item.as_value().map_or("", |value| raw(value.decor().suffix()));
    [raw(key.leaf_decor().prefix()), behind].into_iter().flat_map(comments).filter(|line| !line.is_empty()).collect()
}

/// Returns the comments in a table with dotted keys.
fn inside(table: &Table) -> Vec<String> {
    let keys = table.iter().filter_map(|(name, item)| Some((table.key(name)?, item)));
    let comments = keys.flat_map(|(key, item)| match item {
        Item::Table(table) => inside(table),
        item => about(key, item),
    });
    comments.collect()
}

/// Returns the position of a key in an order.
pub(crate) fn position(order: Order, key: &str) -> usize {
    order.iter().position(|known| *known == key).unwrap_or(order.len())
}

/// Whether the keys lead to the properties of the file or of a machine.
fn are_properties(path: &[String]) -> bool {
    path.last().is_some_and(|last| last == "properties") && matches!(path.len(), 1 | 3) && path[0] != "states"
}

/// Returns the keys of a state's header in a form.
fn path(machine: &Machine, at: usize, form: Form) -> Vec<String> {
    let state = &machine.states[at];
    let beside = |name: &str| machine.path.iter().cloned().chain(["states".into(), name.to_owned()]).collect();
    let within = match form {
        Form::Flat => None,
        Form::AsItIs => state.within,
        Form::Nested => state.within.or_else(|| {
            let parent = state.parent.as_deref()?;
            machine.states.iter().position(|other| other.name == parent).filter(|around| !is_in(machine, *around, at))
        }),
    };
    match within {
        Some(around) => {
            let mut path: Vec<String> = path(machine, around, form);
            path.extend(["states".into(), state.key.clone()]);
            path
        }
        None => beside(&state.name),
    }
}

/// Whether a state is in another one, or is this one.
fn is_in(machine: &Machine, at: usize, around: usize) -> bool {
    let parent = |at: &usize| {
        let name = machine.parent(*at)?;
        machine.states.iter().position(|other| other.name == name)
    };
    std::iter::successors(Some(at), parent).take(machine.states.len() + 1).any(|at| at == around)
}

/// Returns a value in one style. `before` is how many characters are before it in its line. A list of exits has a line for each.
fn written(value: &Value, order: Order, before: usize, has_lines: bool) -> String {
    match value {
        // A text of several lines stays as it is.
        Value::String(text) if !text.display_repr().contains('\n') => {
            toml_edit::Formatted::new(text.value().clone()).to_string()
        }
        Value::String(text) => text.display_repr().into_owned(),
        Value::Array(list) => array(list, order, before, has_lines),
        Value::InlineTable(table) => inline(table, order),
        other => {
            let mut other = other.clone();
            other.decor_mut().clear();
            other.to_string()
        }
    }
}

fn inline(table: &InlineTable, order: Order) -> String {
    let mut bare = table.clone();
    bare.decor_mut().clear();
    let verbatim = bare.to_string();
    // A table of several lines, which may have comments, stays as it is.
    if verbatim.contains('\n') {
        return verbatim.trim().to_owned();
    }
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| position(order, key));
    let keys: Vec<_> =
        keys.into_iter().map(|(name, value)| format!("{} = {}", key(name), written(value, &[], 0, false))).collect();
    if keys.is_empty() { "{}".into() } else { format!("{{ {} }}", keys.join(", ")) }
}

fn array(list: &Array, order: Order, before: usize, has_lines: bool) -> String {
    let elements: Vec<_> = list.iter().map(|value| written(value, order, 4, false)).collect();
    let trailing = raw(Some(list.trailing()));
    let has_comments = list
        .iter()
        .map(Value::decor)
        .any(|decor| [decor.prefix(), decor.suffix()].into_iter().any(|raw_text| raw(raw_text).contains('#')))
        || trailing.contains('#');
    let line = format!("[{}]", elements.join(", "));
    let is_short = before + line.chars().count() <= WIDEST && !line.contains('\n');
    if !has_comments && is_short && (!has_lines || elements.len() < 2) {
        return line;
    }
    let mut text = String::from("[");
    for (value, element) in list.iter().zip(elements) {
        between(&mut text, raw(value.decor().prefix()));
        text.extend(["\n    ", &element, ","]);
        for comment in comments(raw(value.decor().suffix())) {
            text.extend([" ", &comment]);
        }
    }
    between(&mut text, trailing);
    text.push_str("\n]");
    text
}

/// Writes the comments between two elements. One in the line of the element before stays there.
fn between(text: &mut String, decor: &str) {
    let (same, rest) = decor.split_once('\n').unwrap_or((decor, ""));
    if same.trim().starts_with('#') {
        text.push(' ');
        text.push_str(same.trim());
    }
    for comment in comments(rest) {
        text.push_str(if comment.is_empty() { "\n" } else { "\n    " });
        text.push_str(&comment);
    }
}

/// Returns the comment in the line of a value or a header.
fn behind(suffix: Option<&RawString>) -> String {
    let comment = raw(suffix).trim();
    if comment.is_empty() { String::new() } else { format!(" {comment}") }
}

/// Returns a key as it is written.
fn key(name: &str) -> String {
    let mut key = toml_edit::Key::new(name);
    *key.leaf_decor_mut() = Decor::default();
    key.display_repr().into_owned()
}
