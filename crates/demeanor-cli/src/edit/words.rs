//! The words of a file: its constants, its conditions, and its properties.

use serde::{Deserialize, Serialize};
use toml_edit::{InlineTable, Item, Table, TableLike, Value};

use super::keys::{self, PROPERTY, set, set_in, typed, value_of};
use super::{Draft, Of, Refused, TypedKeys, item_at, item_at_table, positions, table_at, typed_keys};
use crate::workspace::checked_name;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WordKind {
    Constants,
    Conditions,
    Properties,
}

/// What the file says of each word, as a designer would type it.
#[derive(Default, Serialize)]
pub(crate) struct WrittenWords {
    constants: TypedKeys,
    conditions: TypedKeys,
    properties: Vec<(String, TypedKeys)>,
}

pub(crate) fn written_words(of: &Of<'_>, text: &str) -> Result<WrittenWords, Refused> {
    let mut draft = Draft::read(of, text)?;
    let mut words = |kind| {
        let path = draft.path_of_words(kind);
        let table = table_at(draft.document.as_item_mut(), &path)?;
        let properties =
            table.iter().filter_map(|(name, item)| Some((name.to_owned(), typed_keys(item.as_table_like()?))));
        let words = table.iter().filter_map(|(name, item)| Some((name.to_owned(), typed(item)?)));
        Some((words.collect(), properties.collect()))
    };
    Ok(WrittenWords {
        constants: words(WordKind::Constants).unwrap_or_default().0,
        conditions: words(WordKind::Conditions).unwrap_or_default().0,
        properties: words(WordKind::Properties).unwrap_or_default().1,
    })
}

impl Draft {
    fn path_of_words(&self, kind: WordKind) -> Vec<String> {
        let (mut path, name) = match kind {
            WordKind::Constants => (Vec::new(), "constants"),
            WordKind::Conditions => (Vec::new(), "conditions"),
            WordKind::Properties => (self.machine_path(), "properties"),
        };
        path.push(name.into());
        path
    }

    /// Sets a word, or the key of a property. Without a value, removes it; a property without keys, and a table without words, go, too.
    pub(super) fn set_word(
        &mut self,
        kind: WordKind,
        name: &str,
        key: Option<&str>,
        value: Option<&str>,
    ) -> Result<(), Refused> {
        checked_name(name)?;
        let style = self.style;
        self.begin();
        let path = self.path_of_words(kind);
        if value.is_some() && item_at(self.document.as_item_mut(), &path).is_none() {
            self.add_words(&path)?;
        }
        let words = item_at(self.document.as_item_mut(), &path).ok_or("there is no such word")?;
        match (key, value) {
            (None, None) => drop(keys::remove(words, name)),
            (None, Some(value)) => {
                // A condition is a text, whatever it looks like.
                let like = if kind == WordKind::Conditions { "when" } else { name };
                keys::insert(words, &[], name, value_of(like, value, style)?)?;
            }
            (Some(key), value) => {
                if let Some(property) = words.as_table_like_mut().and_then(|words| words.get_mut(name)) {
                    set(property, PROPERTY, key, value, style)?;
                } else {
                    let mut property = InlineTable::new();
                    set_in(&mut property, PROPERTY, key, value, style)?;
                    keys::insert(words, &[], name, Value::InlineTable(property))?;
                }
            }
        }
        let is_empty = |item: &Item| item.as_table_like().is_some_and(TableLike::is_empty);
        if words.get(name).is_some_and(is_empty) {
            keys::remove(words, name);
        }
        if is_empty(words)
            && let Some((name, around)) = path.split_last()
            && let Some(around) = item_at(self.document.as_item_mut(), around)
        {
            keys::remove(around, name);
        }
        Ok(())
    }

    /// Adds a table for words before the states.
    fn add_words(&mut self, path: &[String]) -> Result<(), Refused> {
        let (name, around) = path.split_last().ok_or("they have no place in the file")?;
        let item = item_at(self.document.as_item_mut(), around).ok_or("they have no place in the file")?;
        let behind = item.as_table().filter(|table| !table.is_implicit()).and_then(Table::position).unwrap_or(-1);
        keys::put(item, name, Table::new())?;
        let path = path.to_vec();
        positions::insert(self.document.as_table_mut(), behind, |document| {
            item_at_table(document, &path)?.as_table_mut()
        });
        Ok(())
    }
}
