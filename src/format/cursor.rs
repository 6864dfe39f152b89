//! Finds the position of an editor's cursor in a text that may be incomplete: in which table, at which key, in which string.

use std::ops::Range;

use toml::Spanned;

use super::draft::statements::{Statement, Statements};
use super::draft::tree::{Key, SpannedValue, Table, TreeValue};
use super::source::boundary;

/// The position of an editor's cursor in a file that may be incomplete: its table, its key and its string.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Cursor, CursorPart};
///
/// let file = "[states.aim]\nexits = [{ on = 'hit', to = 'sh";
/// let cursor = Cursor::at(file, file.len());
/// assert_eq!(cursor.table(), ["states", "aim", "exits"]);
/// assert!(matches!(cursor.part(), CursorPart::Value { key, quote: "'", .. } if key == "to"));
/// assert_eq!(&file[cursor.span()], "sh");
/// assert_eq!(cursor.value("on"), Some("hit"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    table: Vec<String>,
    part: CursorPart,
    span: Range<usize>,
    beside: CursorEntries,
    around: CursorEntries,
}

/// Keys, with their values if these are strings.
type CursorEntries = Vec<(String, Option<String>)>;

/// The part of a statement in which a [`Cursor`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CursorPart {
    /// The header of a table.
    Header,
    /// A key, or a place where a key can be written.
    Key,
    /// The value of a key, or an element of a list that is the value.
    #[non_exhaustive]
    Value {
        /// The key.
        key: String,
        /// The opening quotes of the value. Empty for a value without quotes, and if no value has been written yet.
        quote: &'static str,
    },
}

impl Cursor {
    /// Finds the table, the key and the string at a byte offset of a text. An offset after the end of the text, or within a
    /// character, is moved back to the nearest position between two characters.
    #[must_use]
    pub fn at(text: &str, byte: usize) -> Self {
        let byte = boundary(text, byte);
        // The statements from the last header before the position up to the next header.
        let mut section: Vec<Statement<'_>> = Vec::new();
        for statement in Statements::of(text) {
            if statement.header.is_some() {
                if statement.span.start > byte {
                    break;
                }
                section.clear();
            }
            section.push(statement);
        }
        let header = section.first().filter(|first| first.header.is_some());
        let mut cursor = Self {
            table: Vec::new(),
            part: CursorPart::Header,
            span: byte..byte,
            beside: Vec::new(),
            around: Vec::new(),
        };
        let keys = header.map_or(&[][..], |header| &header.keys);
        if let Some(of) = header.and_then(|header| header.header.as_ref()).filter(|of| byte <= of.span.end) {
            let before = keys.iter().take_while(|key| key.span().start < byte);
            // Of the last key, only the text up to the position counts.
            let written =
                |key: &Key<'_>| text[key.span().start..byte.min(key.span().end)].trim_matches(['"', '\'']).to_owned();
            cursor.table = before.map(written).collect();
            cursor.span.start = byte.min(of.span.start + if of.is_list { 2 } else { 1 });
            return cursor;
        }
        cursor.table = keys.iter().map(|key| key.get_ref().to_string()).collect();
        let mut table = Table::default();
        for Statement { keys, value, .. } in section.iter().filter(|statement| statement.header.is_none()) {
            let Some(last) = keys.last() else { continue };
            // If there is no value yet, an empty one after the key takes its place.
            let none = || Spanned::new(last.span().end..last.span().end, TreeValue::Boolean(false));
            let value = value.clone().unwrap_or_else(none);
            if table.add(keys.clone(), value.clone()).is_err() {
                table.insert(last.clone(), value);
            }
        }
        TreePlace { text, byte, cursor }.within(&table)
    }

    /// Returns the keys that lead to the table from the top of the file. In a header, these are the keys before the position.
    #[must_use]
    pub fn table(&self) -> &[String] {
        &self.table
    }

    /// Returns the part of a statement that contains the position.
    #[must_use]
    pub fn part(&self) -> &CursorPart {
        &self.part
    }

    /// Returns the range of the text at the position, without quotes. It is empty if there is no text. For a header and for a
    /// string without a closing quote, it ends at the position.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the keys of the innermost table that contains the position, up to the next header, with their values if these are
    /// strings. Keys after the position are included. Of a dotted key, it returns the first part. In a header, the result is
    /// empty.
    #[must_use]
    pub fn beside(&self) -> &[(String, Option<String>)] {
        &self.beside
    }

    /// Returns the keys and values of the table that contains this one, if this table is written between `{` and `}`. Otherwise
    /// the result is empty.
    #[must_use]
    pub fn around(&self) -> &[(String, Option<String>)] {
        &self.around
    }

    /// Returns the value of a key in the same table, if it is a string.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.beside.iter().find(|(name, _)| name == key)?.1.as_deref()
    }
}

/// A search for the position in a tree.
struct TreePlace<'i> {
    text: &'i str,
    byte: usize,
    /// The result so far.
    cursor: Cursor,
}

impl TreePlace<'_> {
    /// Whether the position is in a part of the text, or directly after a part without a closing delimiter.
    fn is_in(&self, at: &Range<usize>, is_closed: bool) -> bool {
        at.start < self.byte && (self.byte < at.end || !is_closed && self.byte == at.end)
    }

    fn is(mut self, part: CursorPart, span: Range<usize>) -> Cursor {
        self.cursor.part = part;
        self.cursor.span = span;
        self.cursor
    }

    /// Searches in a table.
    fn within(mut self, table: &Table<'_>) -> Cursor {
        let entries =
            table.iter().map(|(key, value)| (key.get_ref().to_string(), value.get_ref().as_str().map(str::to_owned)));
        self.cursor.around = std::mem::replace(&mut self.cursor.beside, entries.collect());
        self.among(table)
    }

    /// Searches in a table, or in a part of a table that comes from dotted keys.
    fn among(mut self, table: &Table<'_>) -> Cursor {
        let nothing = self.byte..self.byte;
        let before = table.iter().filter(|(key, _)| {
            let key = key.span();
            key.start < self.byte || key.is_empty() && key.start == self.byte
        });
        let Some((key, value)) = before.max_by_key(|(key, _)| key.span().start) else {
            return self.is(CursorPart::Key, nothing);
        };
        if self.byte <= key.span().end {
            return self.is(CursorPart::Key, key.span());
        }
        if let TreeValue::Table(dotted) = value.get_ref() {
            if value.span() == key.span() {
                self.cursor.table.push(key.get_ref().to_string());
                return self.among(dotted);
            }
        }
        let has_value = self.text[key.span().end..self.byte].contains('=');
        let behind = self.text.get(value.span().end..self.byte).unwrap_or_default();
        if !has_value || behind.contains([',', '\n']) {
            return self.is(CursorPart::Key, nothing);
        }
        self.value(key.get_ref(), value)
    }

    /// Searches in the value of a key, or in an element of the list that is the value.
    fn value(mut self, key: &str, value: &SpannedValue<'_>) -> Cursor {
        let at = value.span();
        let written = &self.text[at.clone()];
        let nothing = (self.byte..self.byte, "");
        let (span, quote) = match value.get_ref() {
            TreeValue::Table(table) if self.is_in(&at, written.ends_with('}')) => {
                self.cursor.table.push(key.to_owned());
                return self.within(table);
            }
            TreeValue::Array(list) if self.is_in(&at, written.ends_with(']')) => {
                let is_here = |one: &&SpannedValue<'_>| one.span().start < self.byte && self.byte <= one.span().end;
                if let Some(one) = list.iter().find(is_here) {
                    return self.value(key, one);
                }
                nothing
            }
            TreeValue::Table(_) | TreeValue::Array(_) => nothing,
            _ => {
                let quotes = ["\"\"\"", "'''", "\"", "'"];
                let quote = quotes.into_iter().find(|quote| written.starts_with(quote)).unwrap_or("");
                let is_closed = !quote.is_empty() && written.len() >= 2 * quote.len() && written.ends_with(quote);
                let start = (at.start + quote.len()).min(self.byte);
                match quote {
                    _ if !self.is_in(&at, is_closed) => nothing,
                    "" => (at, quote),
                    _ if is_closed => (start..(at.end - quote.len()).max(start), quote),
                    // The parser may read a string without a closing quote too far. Only the text before the position belongs
                    // to it.
                    _ => (start..self.byte, quote),
                }
            }
        };
        self.is(CursorPart::Value { key: key.to_owned(), quote }, span)
    }
}
