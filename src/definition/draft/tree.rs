//! What a file says, as values in tables and lists: the tree from which its draft is read.
//!
//! The crate `toml` reads the values, but its tables need much memory: each has a node of a B-tree with room for eleven entries,
//! 1072 bytes, and most tables of a definition have one to three. In this tree, a table of few entries is a list of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};
use toml::value::Datetime;

/// A key as it reads, and where it is written.
pub(crate) type Key<'i> = Spanned<Cow<'i, str>>;

/// A value, and where it is written.
pub(crate) type SpannedValue<'i> = Spanned<Value<'i>>;

#[derive(Clone)]
pub(crate) enum Value<'i> {
    String(Cow<'i, str>),
    Integer(DeInteger<'i>),
    Float(DeFloat<'i>),
    Boolean(bool),
    Datetime(Datetime),
    Array(Vec<SpannedValue<'i>>),
    Table(Table<'i>),
}

/// Keys with their values. Those of few entries are in the order of the file, those of many in that of their names.
#[derive(Clone, Default)]
pub(crate) struct Table<'i> {
    entries: Entries<'i>,
    pub(super) made: Made,
}

/// By what a table is in a file. That says what may be added to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Made {
    /// By its own header, or it is the file itself.
    #[default]
    ByHeader,
    /// By the header of a table in it.
    ByHeaderWithin,
    /// By a dotted key.
    ByDottedKey,
    /// Between `{` and `}`, or in a table there.
    Inline,
}

impl Made {
    /// Whether it has been written only as a part of the name of something else.
    pub(super) fn is_implicit(self) -> bool {
        matches!(self, Self::ByHeaderWithin | Self::ByDottedKey)
    }
}

#[derive(Clone)]
enum Entries<'i> {
    Few(Vec<(Key<'i>, SpannedValue<'i>)>),
    Many(BTreeMap<Key<'i>, SpannedValue<'i>>),
}

impl Default for Entries<'_> {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

/// How many entries are searched one after the other.
const FEW: usize = 24;

impl<'i> Table<'i> {
    pub(super) fn made(made: Made) -> Self {
        Self { made, ..Self::default() }
    }

    /// What the parser has read of a piece of a text. The piece begins at byte `at`.
    pub(super) fn of_piece(table: DeTable<'i>, text: &str, at: usize) -> Self {
        Self::converted(table, Made::ByHeader, text, at)
    }

    fn converted(table: DeTable<'i>, made: Made, text: &str, at: usize) -> Self {
        let length = table.len();
        let entries = table.into_iter().map(|(key, value)| {
            let span = key.span();
            let key = Spanned::new(span.start + at..span.end + at, key.into_inner());
            (key, converted(value, made == Made::Inline, text, at))
        });
        let entries = if length > FEW {
            Entries::Many(entries.collect())
        } else {
            let mut few = Vec::with_capacity(length);
            few.extend(entries);
            few.sort_by_key(|(key, _)| key.span().start);
            Entries::Few(few)
        };
        Self { entries, made }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.entries {
            Entries::Few(few) => few.len(),
            Entries::Many(many) => many.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, key: &str) -> Option<&SpannedValue<'i>> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    pub(crate) fn get_key_value(&self, key: &str) -> Option<(&Key<'i>, &SpannedValue<'i>)> {
        match &self.entries {
            Entries::Few(few) => few.iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| (name, value)),
            Entries::Many(many) => many.get_key_value(key),
        }
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut SpannedValue<'i>> {
        match &mut self.entries {
            Entries::Few(few) => few.iter_mut().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value),
            Entries::Many(many) => many.get_mut(key),
        }
    }

    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.get_key_value(key).is_some()
    }

    /// Adds an entry whose key it does not have yet.
    pub(crate) fn insert(&mut self, key: Key<'i>, value: SpannedValue<'i>) {
        match &mut self.entries {
            Entries::Few(few) if few.len() < FEW => few.push((key, value)),
            Entries::Few(few) => {
                let many = few.drain(..).chain([(key, value)]).collect();
                self.entries = Entries::Many(many);
            }
            Entries::Many(many) => drop(many.insert(key, value)),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<SpannedValue<'i>> {
        match &mut self.entries {
            Entries::Few(few) => {
                let at = few.iter().position(|(name, _)| name.get_ref() == key)?;
                Some(few.remove(at).1)
            }
            Entries::Many(many) => many.remove(key),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key<'i>, &SpannedValue<'i>)> {
        let (few, many) = match &self.entries {
            Entries::Few(few) => (few.as_slice(), None),
            Entries::Many(many) => (&[][..], Some(many)),
        };
        few.iter().map(|(key, value)| (key, value)).chain(many.into_iter().flatten())
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Key<'i>, SpannedValue<'i>)> {
        let (few, many) = match self.entries {
            Entries::Few(few) => (few, None),
            Entries::Many(many) => (Vec::new(), Some(many)),
        };
        few.into_iter().chain(many.into_iter().flatten())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key<'i>> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &SpannedValue<'i>> {
        self.iter().map(|(_, value)| value)
    }

    /// Takes all entries of another one.
    pub(super) fn take_entries(&mut self, of: Table<'i>) {
        self.entries = of.entries;
    }

    /// As the parser has it, for deserializers.
    fn into_parsed(self) -> DeTable<'i> {
        let entries = self.into_entries();
        entries.map(|(key, value)| (key, into_parsed(value))).collect()
    }
}

/// A value as the parser has it, for deserializers.
pub(crate) fn into_parsed(value: SpannedValue<'_>) -> Spanned<DeValue<'_>> {
    let span = value.span();
    let value = match value.into_inner() {
        Value::String(text) => DeValue::String(text),
        Value::Integer(number) => DeValue::Integer(number),
        Value::Float(number) => DeValue::Float(number),
        Value::Boolean(yes) => DeValue::Boolean(yes),
        Value::Datetime(date) => DeValue::Datetime(date),
        Value::Array(list) => DeValue::Array(list.into_iter().map(into_parsed).collect()),
        Value::Table(table) => DeValue::Table(table.into_parsed()),
    };
    Spanned::new(span, value)
}

fn converted<'i>(value: Spanned<DeValue<'i>>, is_inline: bool, text: &str, at: usize) -> SpannedValue<'i> {
    let span = value.span().start + at..value.span().end + at;
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text),
        DeValue::Integer(number) => Value::Integer(number),
        DeValue::Float(number) => Value::Float(number),
        DeValue::Boolean(yes) => Value::Boolean(yes),
        DeValue::Datetime(date) => Value::Datetime(date),
        DeValue::Array(list) => {
            let mut values = Vec::with_capacity(list.len());
            values.extend(list.into_iter().map(|value| converted(value, true, text, at)));
            Value::Array(values)
        }
        DeValue::Table(table) => {
            // That of a dotted key is where the key is.
            let is_inline = is_inline || text.as_bytes().get(span.start) == Some(&b'{');
            let made = if is_inline { Made::Inline } else { Made::ByDottedKey };
            Value::Table(Table::converted(table, made, text, at))
        }
    };
    Spanned::new(span, value)
}

impl<'i> Value<'i> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_table(&self) -> Option<&Table<'i>> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    pub(crate) fn is_str(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table(_))
    }

    /// The name of its type in the parser's messages.
    pub(super) fn type_str(&self) -> &'static str {
        match self {
            Self::String(_) => "string",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Boolean(_) => "boolean",
            Self::Datetime(_) => "datetime",
            Self::Array(_) => "array",
            Self::Table(table) if table.made == Made::Inline => "inline table",
            Self::Table(_) => "table",
        }
    }
}
