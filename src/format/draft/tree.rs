//! The content of a file as values in tables and lists. Drafts are read from this tree, and editors search for positions in it.
//!
//! Each key and value has its position. A table accepts keys by the rules of TOML: it has only one header, and a completed
//! table cannot be extended. The tables of the crate `toml` need much memory: each has a B-tree node with space for eleven
//! entries, 1072 bytes, but most tables of a definition have one to three entries. Here, a small table is a list of its
//! entries.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;
use std::ops::{Bound, Range};
use std::slice;

use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeValue};
use toml::value::Datetime;

/// A decoded key, and where it is written.
pub(crate) type Key<'i> = Spanned<Cow<'i, str>>;

/// A value, and where it is written.
pub(crate) type SpannedValue<'i> = Spanned<TreeValue<'i>>;

#[derive(Clone)]
pub(crate) enum TreeValue<'i> {
    String(Cow<'i, str>),
    Integer(DeInteger<'i>),
    Float(DeFloat<'i>),
    Boolean(bool),
    Datetime(Datetime),
    Array(Vec<SpannedValue<'i>>),
    Table(Table<'i>),
}

/// Keys with their values.
#[derive(Clone, Default)]
pub(crate) struct Table<'i> {
    /// The entries of a small table, in the order in which they were added.
    few: Vec<(Key<'i>, SpannedValue<'i>)>,
    /// The entries of a large table, in the order of their names.
    #[expect(clippy::box_collection, reason = "few tables are large, and a value takes as much memory as a table")]
    many: Option<Box<BTreeMap<Key<'i>, SpannedValue<'i>>>>,
    pub(super) made: TableOrigin,
    /// Where the key of this table is written again, as a part of another dotted key.
    pub(super) again: Vec<Range<usize>>,
}

/// How a table is defined in the file. This determines what may be added to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TableOrigin {
    /// By its own header. The file itself counts as such a table.
    #[default]
    ByHeader,
    /// By the header of a table inside it.
    ByHeaderWithin,
    /// By a dotted key.
    ByDottedKey,
    /// Between `{` and `}`.
    Inline,
}

/// The maximum number of entries in a list that is searched linearly.
const FEW: usize = 24;

/// A key that cannot be added.
pub(crate) struct RefusedKey {
    pub(super) key: Range<usize>,
    /// Where the key is first written.
    pub(super) first: Option<Range<usize>>,
    /// The type of the existing value, if it is not a table that can be extended. `None` if the key is simply repeated.
    pub(super) of_type: Option<&'static str>,
}

impl RefusedKey {
    fn again(key: &Key<'_>, first: &Key<'_>) -> Self {
        Self { key: key.span(), first: Some(first.span()), of_type: None }
    }
}

impl<'i> Table<'i> {
    pub(super) fn made(made: TableOrigin) -> Self {
        Self { made, ..Self::default() }
    }

    /// Adds a key, which may be dotted, with its value.
    pub(crate) fn add(&mut self, mut keys: Vec<Key<'i>>, value: SpannedValue<'i>) -> Result<(), RefusedKey> {
        let Some(key) = keys.pop() else { return Ok(()) };
        let table = keys.iter().try_fold(self, Self::dotted)?;
        if let Some((first, _)) = table.get_key_value(key.get_ref()) {
            return Err(RefusedKey::again(&key, first));
        }
        table.insert(key, value);
        Ok(())
    }

    /// Returns the entry of a key. If there is none, adds a table as its value.
    fn table_entry(&mut self, key: &Key<'i>, made: TableOrigin) -> Option<(&Key<'i>, &mut SpannedValue<'i>)> {
        if !self.contains_key(key.get_ref()) {
            self.insert(key.clone(), Spanned::new(key.span(), TreeValue::Table(Self::made(made))));
        }
        self.get_key_value_mut(key.get_ref())
    }

    /// Returns the table for a part of a dotted key. Creates it if it does not exist.
    fn dotted(&mut self, key: &Key<'i>) -> Result<&mut Self, RefusedKey> {
        let Some((first, value)) = self.table_entry(key, TableOrigin::ByDottedKey) else {
            return Err(RefusedKey::again(key, key));
        };
        let refused = RefusedKey { key: key.span(), first: None, of_type: Some(value.get_ref().type_str()) };
        let TreeValue::Table(table) = value.get_mut() else { return Err(refused) };
        match table.made {
            TableOrigin::Inline => return Err(refused),
            TableOrigin::ByHeader => return Err(RefusedKey::again(key, first)),
            TableOrigin::ByHeaderWithin | TableOrigin::ByDottedKey => table.made = TableOrigin::ByDottedKey,
        }
        if key.span() != first.span() {
            table.again.push(key.span());
        }
        Ok(table)
    }

    /// Creates the table of a header. `last` is the last of its keys, and `header` is the range of the header.
    pub(super) fn open(
        &mut self,
        above: &[Key<'i>],
        last: &Key<'i>,
        is_list: bool,
        header: Range<usize>,
    ) -> Result<(), RefusedKey> {
        let parent = self.descend(above, TableOrigin::ByHeaderWithin)?;
        if is_list { parent.open_in_list(last, header) } else { parent.open_table(last, header) }
    }

    /// Returns the table at a path. Creates tables that do not exist: `made` is their origin.
    pub(super) fn descend(&mut self, path: &[Key<'i>], made: TableOrigin) -> Result<&mut Self, RefusedKey> {
        path.iter().try_fold(self, |table, key| {
            let refused = |of_type| RefusedKey { key: key.span(), first: None, of_type };
            let Some((_, value)) = table.table_entry(key, made) else { return Err(refused(None)) };
            let (at, of_type) = (value.span(), value.get_ref().type_str());
            let within = match value.get_mut() {
                TreeValue::Table(table) if table.made != TableOrigin::Inline => Some(table),
                // The last table of a list with double brackets. Such a list has the same position as its first table.
                TreeValue::Array(list) if list.first().is_some_and(|first| first.span() == at) => {
                    list.last_mut().and_then(|last| last.get_mut().as_table_mut())
                }
                _ => None,
            };
            within.ok_or_else(|| refused(Some(of_type)))
        })
    }

    /// Creates the table of a header with single brackets.
    fn open_table(&mut self, key: &Key<'i>, header: Range<usize>) -> Result<(), RefusedKey> {
        let (table, refused) = match self.remove(key.get_ref()) {
            None => (Self::default(), None),
            Some((first, value)) => match value.into_inner() {
                TreeValue::Table(table) if table.made == TableOrigin::ByHeaderWithin => (table, None),
                TreeValue::Table(table) => (table, Some(first)),
                _ => (Self::default(), Some(first)),
            },
        };
        let table = Self { made: TableOrigin::ByHeader, ..table };
        self.insert(refused.as_ref().unwrap_or(key).clone(), Spanned::new(header, TreeValue::Table(table)));
        refused.map_or(Ok(()), |first| Err(RefusedKey::again(key, &first)))
    }

    /// Creates the table of a header with double brackets.
    fn open_in_list(&mut self, key: &Key<'i>, header: Range<usize>) -> Result<(), RefusedKey> {
        let table = Spanned::new(header.clone(), TreeValue::Table(Self::default()));
        let Some((first, value)) = self.get_key_value_mut(key.get_ref()) else {
            self.insert(key.clone(), Spanned::new(header, TreeValue::Array(vec![table])));
            return Ok(());
        };
        let at = value.span();
        match value.get_mut() {
            TreeValue::Array(list) if list.first().is_some_and(|first| first.span() == at) => list.push(table),
            _ => return Err(RefusedKey::again(key, first)),
        }
        Ok(())
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.few.shrink_to_fit();
    }

    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, key: &str) -> Option<&SpannedValue<'i>> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    pub(crate) fn get_key_value(&self, key: &str) -> Option<(&Key<'i>, &SpannedValue<'i>)> {
        let few = self.few.iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| (name, value));
        few.or_else(|| self.many.as_ref()?.get_key_value(key))
    }

    fn get_key_value_mut(&mut self, key: &str) -> Option<(&Key<'i>, &mut SpannedValue<'i>)> {
        let few = self.few.iter_mut().find(|(name, _)| name.get_ref() == key).map(|(name, value)| (&*name, value));
        few.or_else(|| self.many.as_mut()?.range_mut::<str, _>((Bound::Included(key), Bound::Included(key))).next())
    }

    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.get_key_value(key).is_some()
    }

    /// Adds an entry. The table must not have the key.
    pub(crate) fn insert(&mut self, key: Key<'i>, value: SpannedValue<'i>) {
        if let Some(many) = &mut self.many {
            many.insert(key, value);
        } else if self.few.len() < FEW {
            if self.few.len() == self.few.capacity() {
                // The capacity grows from one, because most tables have one to three entries.
                self.few.reserve_exact(self.few.len().max(1));
            }
            self.few.push((key, value));
        } else {
            let few = mem::take(&mut self.few).into_iter();
            self.many = Some(Box::new(few.chain([(key, value)]).collect()));
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<(Key<'i>, SpannedValue<'i>)> {
        match self.few.iter().position(|(name, _)| name.get_ref() == key) {
            Some(at) => Some(self.few.remove(at)),
            None => self.many.as_mut()?.remove_entry(key),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key<'i>, &SpannedValue<'i>)> {
        let many = self.many.iter().flat_map(|many| many.iter());
        self.few.iter().map(|(key, value)| (key, value)).chain(many)
    }

    /// Returns the entries in the order of the file.
    pub(crate) fn in_order(&self) -> Vec<(&Key<'i>, &SpannedValue<'i>)> {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Key<'i>, SpannedValue<'i>)> {
        self.few.into_iter().chain(self.many.into_iter().flat_map(|many| *many))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key<'i>> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &SpannedValue<'i>> {
        self.iter().map(|(_, value)| value)
    }
}

/// Returns the values of a list, or a value that is no list as the only one.
pub(super) fn one_or_several<'t, 'i>(value: &'t SpannedValue<'i>) -> &'t [SpannedValue<'i>] {
    if let TreeValue::Array(list) = value.get_ref() { list } else { slice::from_ref(value) }
}

/// Whether a value names nothing: an empty text, or one of spaces; an empty table, or a table with such a key.
pub(super) fn is_blank(value: &SpannedValue<'_>) -> bool {
    let is_blank = |text: &str| text.trim().is_empty();
    match value.get_ref() {
        TreeValue::String(text) => is_blank(text),
        TreeValue::Table(table) => table.is_empty() || table.keys().any(|key| is_blank(key.get_ref())),
        _ => false,
    }
}

/// Converts a value to the type of the crate `toml`, for deserializers.
pub(crate) fn into_parsed(value: SpannedValue<'_>) -> Spanned<DeValue<'_>> {
    let span = value.span();
    let value = match value.into_inner() {
        TreeValue::String(text) => DeValue::String(text),
        TreeValue::Integer(number) => DeValue::Integer(number),
        TreeValue::Float(number) => DeValue::Float(number),
        TreeValue::Boolean(yes) => DeValue::Boolean(yes),
        TreeValue::Datetime(date) => DeValue::Datetime(date),
        TreeValue::Array(list) => DeValue::Array(list.into_iter().map(into_parsed).collect()),
        TreeValue::Table(table) => {
            DeValue::Table(table.into_entries().map(|(key, value)| (key, into_parsed(value))).collect())
        }
    };
    Spanned::new(span, value)
}

impl<'i> TreeValue<'i> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_table(&self) -> Option<&Table<'i>> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    fn as_table_mut(&mut self) -> Option<&mut Table<'i>> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    pub(crate) fn is_str(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Returns the name of its type, as the crate `toml` has it in its messages.
    pub(super) fn type_str(&self) -> &'static str {
        match self {
            Self::String(_) => "string",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Boolean(_) => "boolean",
            Self::Datetime(_) => "datetime",
            Self::Array(_) => "array",
            Self::Table(table) if table.made == TableOrigin::Inline => "inline table",
            Self::Table(_) => "table",
        }
    }
}
