//! Keys of a table: a value as a designer types it, and the place of a new key.

use toml_edit::{Decor, InlineTable, Item, Key, RawString, Table, TableLike, Value};

use super::Refused;
use crate::fmt::layout;
pub(super) use crate::fmt::layout::{EXIT, MACHINE, Order, PROPERTY, STATE};
use crate::workspace::in_quotes;

/// Keys whose value is a text, whatever it looks like.
const TEXTS: [&str; 13] = [
    "to",
    "push",
    "resume",
    "when",
    "note",
    "enter_when",
    "parent",
    "initial",
    "global",
    "machine",
    "script",
    "choose",
    "at",
];
/// Keys whose value can be several names, which a designer separates by commas.
const LISTS: [&str; 2] = ["on", "ignore"];

/// How a file writes what can be written in several ways.
#[derive(Clone, Copy)]
pub(super) struct Style {
    quote: char,
    /// Whether exits are written as `[[states.name.exits]]`.
    pub(super) has_exit_tables: bool,
}

impl Style {
    pub(super) fn of(text: &str) -> Self {
        let single = ["= '", "='", "['"].iter().map(|begin| text.matches(begin).count()).sum::<usize>();
        let double = ["= \"", "=\"", "[\""].iter().map(|begin| text.matches(begin).count()).sum::<usize>();
        let has_exit_tables = text.contains(".exits]]") && !text.contains("exits = [");
        Self { quote: if single > double { '\'' } else { '"' }, has_exit_tables }
    }

    fn text(self, text: &str) -> Value {
        if text.contains(char::is_control) {
            return text.into();
        }
        let has_quotes = text.contains(['"', '\\']);
        let quote = if has_quotes && !text.contains('\'') { '\'' } else { self.quote };
        in_quotes(text, quote).parse().unwrap_or_else(|_| text.into())
    }
}

/// Returns the value of a key from what a designer types: `3 s` is a text, `2` and `true` and `["hit"]` are what they look like.
pub(super) fn value_of(key: &str, typed: &str, style: Style) -> Result<Value, Refused> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err(format!("`{key}` needs a value").into());
    }
    if !TEXTS.contains(&key) {
        let is_list = typed.starts_with(['[', '{']);
        match typed.parse::<Value>() {
            Ok(Value::Datetime(_)) => {}
            Ok(Value::Float(number)) if !number.value().is_finite() => {}
            Ok(mut value) => {
                value.decor_mut().clear();
                return Ok(value);
            }
            Err(error) if is_list => return Err(error.message().trim().to_owned().into()),
            Err(_) => {}
        }
    }
    if LISTS.contains(&key) && typed.contains(',') {
        let names = typed.split(',').map(str::trim).filter(|name| !name.is_empty());
        return Ok(Value::Array(names.map(|name| style.text(name)).collect()));
    }
    Ok(style.text(typed))
}

/// Returns a value as a designer would type it.
pub(super) fn typed(item: &Item) -> Option<String> {
    match item {
        Item::Value(Value::String(text)) => Some(text.value().clone()),
        Item::Value(value) => {
            let mut value = value.clone();
            value.decor_mut().clear();
            Some(value.to_string().trim().to_owned())
        }
        // A table with a header can only be changed in the text.
        _ => None,
    }
}

/// Returns the American spelling of a key.
pub(super) fn spelling(key: &str) -> &str {
    if key == "behaviour" { "behavior" } else { key }
}

/// Sets a key of a table with a header, or of one between `{` and `}`. Without a value, removes the key.
pub(super) fn set(item: &mut Item, order: Order, key: &str, value: Option<&str>, style: Style) -> Result<(), Refused> {
    match item {
        Item::Value(Value::InlineTable(table)) => within(table, |table| set_in(table, order, key, value, style)),
        Item::Table(table) => set_in(table, order, key, value, style),
        _ => Err("it is no table".into()),
    }
}

pub(super) fn set_in(
    table: &mut dyn TableLike,
    order: Order,
    key: &str,
    value: Option<&str>,
    style: Style,
) -> Result<(), Refused> {
    let key = if key == "behavior" && table.contains_key("behaviour") { "behaviour" } else { key };
    if table.get(key).is_some_and(|item| !item.is_value() && !item.is_array_of_tables()) {
        return Err(format!("`{key}` is a table of its own: change it in the text").into());
    }
    match value {
        None => drop(table.remove(key)),
        Some(value) => insert_in(table, order, key, value_of(key, value, style)?),
    }
    Ok(())
}

/// Sets a key to a value.
pub(super) fn insert(item: &mut Item, order: Order, key: &str, value: Value) -> Result<(), Refused> {
    match item {
        Item::Value(Value::InlineTable(table)) => within(table, |table| insert_in(table, order, key, value)),
        Item::Table(table) => insert_in(table, order, key, value),
        _ => return Err("it is no table".into()),
    }
    Ok(())
}

/// Adds a table under a key.
pub(super) fn put(item: &mut Item, key: &str, value: Table) -> Result<(), Refused> {
    match item {
        Item::Value(Value::InlineTable(table)) => {
            let signs = |text: &str| text.matches('#').count();
            let decor = [value.decor().prefix(), value.decor().suffix()];
            let before = decor.into_iter().map(|text| signs(raw(text))).sum::<usize>() + signs(&value.to_string());
            let value = value.into_inline_table();
            // A text between quotes keeps its `#`.
            if signs(&value.to_string()) < before {
                return Err(format!("`{key}` has comments, which would be lost here: move it in the text").into());
            }
            within(table, |table| table.insert(key, Item::Value(Value::InlineTable(value))));
        }
        Item::Table(table) => drop(table.insert(key, Item::Table(value))),
        _ => return Err("it is no table".into()),
    }
    Ok(())
}

/// Removes a key.
pub(super) fn remove(item: &mut Item, key: &str) -> Option<Item> {
    match item {
        Item::Value(Value::InlineTable(table)) => within(table, |table| table.remove(key)),
        Item::Table(table) => table.remove(key),
        _ => None,
    }
}

/// Sets a key. A new key is written before the first one that follows it in the order of `demeanor fmt`.
fn insert_in(table: &mut dyn TableLike, order: Order, key: &str, mut value: Value) {
    if let Some(Item::Value(old)) = table.get_mut(key) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
        return;
    }
    let place = layout::position(order, key);
    let names: Vec<String> =
        table.iter().filter(|(_, item)| item.is_value()).map(|(name, _)| name.to_owned()).collect();
    let behind = names.iter().position(|name| layout::position(order, name) > place).unwrap_or(names.len());
    let behind: Vec<(Key, Item)> =
        names[behind..].iter().filter_map(|name| Some((table.key(name)?.clone(), table.remove(name)?))).collect();
    let mut new = Key::new(key);
    // In an indented table, the new key is indented, too.
    let beside = names.first().and_then(|name| table.key(name)).or(behind.first().map(|(key, _)| key));
    let indent = beside.map_or("", |key| raw(key.leaf_decor().prefix()));
    let indent = indent.rsplit('\n').next().unwrap_or_default().to_owned();
    if !indent.is_empty() && indent.trim().is_empty() {
        new.leaf_decor_mut().set_prefix(indent);
    }
    table.entry_format(&new).or_insert(Item::Value(value));
    for (key, item) in behind {
        table.entry_format(&key).or_insert(item);
        // A table between `{` and `}` drops the comments of the key.
        if let Some(mut again) = table.key_mut(&key) {
            again.leaf_decor_mut().clone_from(key.leaf_decor());
        }
    }
}

/// Changes a table between `{` and `}`. The spaces after `{` and before `}` stay.
pub(super) fn within<R>(table: &mut InlineTable, change: impl FnOnce(&mut dyn TableLike) -> R) -> R {
    let names = |table: &InlineTable| table.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let before = names(table);
    let open = before.first().and_then(|name| table.key(name)).map(|key| key.leaf_decor().clone());
    let close = before.last().and_then(|name| table.get(name)).map(|value| value.decor().clone());
    let changed = change(table);
    let after = names(table);
    let has_suffix = |decor: &Decor| decor.suffix().is_some();
    if let (Some(open), Some(first)) = (open, after.first())
        && before.first() != Some(first)
    {
        if let Some(prefix) = open.prefix()
            && let Some(mut key) = table.key_mut(first)
        {
            // The comments above the key stay, but not the one behind a key that is gone.
            let own = raw(key.leaf_decor().prefix()).split_once('\n').map_or("", |(_, own)| own.trim_start());
            let prefix = raw(Some(prefix)).to_owned() + own;
            key.leaf_decor_mut().set_prefix(prefix);
        }
        if let Some(mut key) = before.first().and_then(|name| table.key_mut(name)) {
            key.leaf_decor_mut().set_prefix(" ");
        }
    }
    if let (Some(close), Some(last)) = (close.filter(has_suffix), after.last())
        && before.last() != Some(last)
    {
        if let Some(value) = before.last().and_then(|name| table.get_mut(name)) {
            value.decor_mut().set_suffix("");
        }
        if let (Some(value), Some(suffix)) = (table.get_mut(last), close.suffix().cloned()) {
            value.decor_mut().set_suffix(suffix);
        }
    }
    changed
}

pub(super) fn raw(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}
