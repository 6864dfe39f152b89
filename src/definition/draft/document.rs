//! From a text to the tree of what it says, piece by piece.
//!
//! The parser of the crate `toml` needs about 80 bytes for each byte of a definition: it keeps all tokens, all events and the
//! whole tree. So it is given only a header, or some keys with their values, at a time. What it has read of each is added to the
//! tree here, by the rules of TOML: a table has one header, and what is complete is not added to.

use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::lexer::{Lexer, TokenKind};

use super::tree::{Key, Made, SpannedValue, Table, Value};

/// The most tokens of one key with its value: names, numbers, signs.
pub(super) const MOST_TOKENS: usize = 200_000;

/// What a text says.
#[derive(Default)]
pub(super) struct Document<'i> {
    pub(super) table: Table<'i>,
    /// The first thing that is no TOML: why, and where.
    pub(super) error: Option<(String, Range<usize>)>,
    /// Where keys and headers are given again, in the order of the file.
    pub(super) repeated: Vec<Range<usize>>,
    /// How many more there are.
    pub(super) more_repeated: usize,
}

/// Reads a text up to the first thing in it that is no TOML, or beyond, as far as it can be read.
pub(super) fn read(text: &str, goes_on: bool) -> Document<'_> {
    let mut document = Document::default();
    // The table of the last header; `None` if there can be no such table.
    let mut path = Some(Vec::new());
    for piece in Pieces::new(text) {
        match piece {
            Piece::Header(at) => path = document.open(text, at),
            Piece::Keys(at) => document.add(text, at, path.as_deref()),
            Piece::TooLong(at) => document.fails("too long", at),
        }
        if document.error.is_some() && !goes_on {
            break;
        }
    }
    document
}

impl<'i> Document<'i> {
    /// Makes the table of a header. Returns the keys that lead to it.
    fn open(&mut self, text: &'i str, at: Range<usize>) -> Option<Vec<Key<'i>>> {
        let header = self.parsed(text, &at);
        let mut path = Vec::new();
        let mut is_list = false;
        let mut rest = Some(header);
        while let Some((key, value)) = rest.take().and_then(|table| table.into_iter().next()) {
            let span = key.span();
            path.push(Spanned::new(span.start + at.start..span.end + at.start, key.into_inner()));
            match value.into_inner() {
                DeValue::Table(table) => rest = Some(table),
                _ => is_list = true,
            }
        }
        let (last, above) = path.split_last()?;
        let line = &text[at.clone()];
        let begin = at.start + line.len() - line.trim_start_matches([' ', '\t', '\u{feff}']).len();
        let close = if is_list { 2 } else { 1 };
        let end = text[last.span().end..at.end].find(']').map_or(at.end, |end| last.span().end + end + close);
        let parent = match descend(&mut self.table, above, Made::ByHeaderWithin) {
            Ok(parent) => parent,
            Err(refused) => {
                self.refuse(refused);
                return None;
            }
        };
        let was = if is_list { list_at(parent, last, begin..end) } else { table_at(parent, last, begin..end) };
        if let Err(refused) = was {
            self.refuse(refused);
            // A table that is opened again goes on.
            if is_list {
                return None;
            }
        }
        Some(path)
    }

    /// Adds some keys with their values to a table.
    fn add(&mut self, text: &'i str, at: Range<usize>, path: Option<&[Key<'i>]>) {
        let table = Table::of_piece(self.parsed(text, &at), text, at.start);
        let Some(Ok(to)) = path.map(|path| descend(&mut self.table, path, Made::ByHeader)) else { return };
        let mut refused = Vec::new();
        merge(to, table, &mut refused);
        for refused in refused {
            self.refuse(refused);
        }
    }

    fn parsed(&mut self, text: &'i str, at: &Range<usize>) -> DeTable<'i> {
        let (table, errors) = DeTable::parse_recoverable(&text[at.clone()]);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let span = at.start + span.start..at.start + span.end;
            if error.message() == REPEATED {
                self.repeat(span);
            } else {
                self.fails(error.message(), span);
            }
        }
        table.into_inner()
    }

    fn refuse(&mut self, refused: Refused) {
        match refused.of_type {
            None => self.repeat(refused.key),
            Some(of_type) => {
                self.fails(&format!("cannot extend value of type {of_type} with a dotted key"), refused.key);
            }
        }
    }

    fn repeat(&mut self, at: Range<usize>) {
        // So many that the first few are told, and those that follow from them can be left out.
        const MOST_KEPT: usize = 1000;
        if self.repeated.len() < MOST_KEPT {
            self.repeated.push(at);
        } else {
            self.more_repeated += 1;
        }
    }

    fn fails(&mut self, why: &str, at: Range<usize>) {
        if self.error.as_ref().is_none_or(|(_, first)| at.start < first.start) {
            self.error = Some((why.to_owned(), at));
        }
    }
}

/// What the parser says of a key that is given twice.
pub(super) const REPEATED: &str = "duplicate key";

/// A key that cannot be added.
struct Refused {
    key: Range<usize>,
    /// What stands there, if that is no table that could be added to. Else there is such a key.
    of_type: Option<&'static str>,
}

/// Goes down into tables. `made` is what makes those that are not there yet.
fn descend<'t, 'i>(mut table: &'t mut Table<'i>, path: &[Key<'i>], made: Made) -> Result<&'t mut Table<'i>, Refused> {
    for key in path {
        if !table.contains_key(key.get_ref()) {
            table.insert(key.clone(), Spanned::new(key.span(), Value::Table(Table::made(made))));
        }
        let refused = |of_type| Refused { key: key.span(), of_type };
        let Some(value) = table.get_mut(key.get_ref()) else { return Err(refused(None)) };
        let at = value.span();
        let of_type = value.get_ref().type_str();
        table = match value.get_mut() {
            Value::Table(table) if table.made != Made::Inline => table,
            // The last of the tables with double brackets, which begin where the list does.
            Value::Array(list) if list.first().is_some_and(|first| first.span() == at) => {
                match list.last_mut().map(Spanned::get_mut) {
                    Some(Value::Table(table)) => table,
                    _ => return Err(refused(Some(of_type))),
                }
            }
            _ => return Err(refused(Some(of_type))),
        };
    }
    Ok(table)
}

/// Makes the table of a header with single brackets.
fn table_at<'i>(parent: &mut Table<'i>, key: &Key<'i>, header: Range<usize>) -> Result<(), Refused> {
    let before = parent.remove(key.get_ref()).map(Spanned::into_inner);
    let (mut table, is_refused) = match before {
        None => (Table::default(), false),
        Some(Value::Table(table)) => {
            let is_refused = table.made != Made::ByHeaderWithin;
            (table, is_refused)
        }
        Some(_) => (Table::default(), true),
    };
    table.made = Made::ByHeader;
    parent.insert(key.clone(), Spanned::new(header, Value::Table(table)));
    if is_refused { Err(Refused { key: key.span(), of_type: None }) } else { Ok(()) }
}

/// Makes the table of a header with double brackets.
fn list_at<'i>(parent: &mut Table<'i>, key: &Key<'i>, header: Range<usize>) -> Result<(), Refused> {
    let table = Spanned::new(header.clone(), Value::Table(Table::default()));
    let Some(value) = parent.get_mut(key.get_ref()) else {
        parent.insert(key.clone(), Spanned::new(header, Value::Array(vec![table])));
        return Ok(());
    };
    let at = value.span();
    match value.get_mut() {
        Value::Array(list) if list.first().is_some_and(|first| first.span() == at) => {
            list.push(table);
            Ok(())
        }
        _ => Err(Refused { key: key.span(), of_type: None }),
    }
}

/// Adds what has been read to a table.
fn merge<'i>(to: &mut Table<'i>, read: Table<'i>, refused: &mut Vec<Refused>) {
    if to.is_empty() {
        to.take_entries(read);
        return;
    }
    for (key, value) in read.into_entries() {
        let at = key.span();
        let Some(there) = to.get_mut(key.get_ref()) else {
            to.insert(key, value);
            continue;
        };
        if let Err(one) = add_to(there, value, at, refused) {
            refused.push(one);
        }
    }
}

/// Adds the value of a key to what the key has already, if that goes on in several dotted keys.
fn add_to<'i>(
    there: &mut SpannedValue<'i>,
    value: SpannedValue<'i>,
    key: Range<usize>,
    refused: &mut Vec<Refused>,
) -> Result<(), Refused> {
    let of_type = there.get_ref().type_str();
    match (there.get_mut(), value.into_inner()) {
        (Value::Table(table), Value::Table(more)) if more.made == Made::ByDottedKey && table.made.is_implicit() => {
            table.made = Made::ByDottedKey;
            merge(table, more, refused);
            Ok(())
        }
        (Value::Table(table), _) if table.made == Made::ByHeader => Err(Refused { key, of_type: None }),
        (_, Value::Table(more)) if more.made == Made::ByDottedKey => Err(Refused { key, of_type: Some(of_type) }),
        _ => Err(Refused { key, of_type: None }),
    }
}

/// A part of a text that can be parsed by itself.
enum Piece {
    /// A line that begins with `[`.
    Header(Range<usize>),
    /// Keys with their values.
    Keys(Range<usize>),
    /// A key whose value has more tokens than there may be, as far as they may be.
    TooLong(Range<usize>),
}

/// Divides a text into pieces.
struct Pieces<'i> {
    tokens: Lexer<'i>,
    /// Where the next piece begins.
    start: usize,
    length: usize,
    /// What follows the last piece.
    next: Next,
}

/// What has been seen of the next piece.
enum Next {
    Nothing,
    /// The bracket with which a header begins.
    Header,
    /// A statement that is too long; where it ends.
    TooLong(usize),
}

impl<'i> Pieces<'i> {
    fn new(text: &'i str) -> Self {
        Self { tokens: toml_parser::Source::new(text).lex(), start: 0, length: text.len(), next: Next::Nothing }
    }

    /// What leads up to here.
    fn piece(&mut self, end: usize, of: fn(Range<usize>) -> Piece) -> Option<Piece> {
        let at = self.start..end;
        self.start = end;
        if at.is_empty() { self.next() } else { Some(of(at)) }
    }

    fn header(&mut self) -> Option<Piece> {
        let (mut end, mut count) = (self.length, 0);
        for token in &mut self.tokens {
            count += 1;
            if token.kind() == TokenKind::Newline {
                end = token.span().end();
                break;
            }
        }
        self.piece(end, if count > MOST_TOKENS { Piece::TooLong } else { Piece::Header })
    }

    fn keys(&mut self) -> Option<Piece> {
        /// How many bytes are parsed together at least, up to a header.
        const ENOUGH: usize = 4096;
        // Where the statement begins that is being read, how many tokens it has, and in how many brackets they are.
        let (mut statement, mut count, mut depth) = (self.start, 0, 0_usize);
        while let Some(token) = self.tokens.next() {
            let end = token.span().end();
            match token.kind() {
                TokenKind::LeftSquareBracket if count == 0 => {
                    self.next = Next::Header;
                    return self.piece(statement, Piece::Keys);
                }
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth = depth.saturating_sub(1),
                TokenKind::Whitespace => continue,
                TokenKind::Newline | TokenKind::Eof if depth == 0 || token.kind() == TokenKind::Eof => {
                    if count > MOST_TOKENS {
                        self.next = Next::TooLong(end);
                        return self.piece(statement, Piece::Keys);
                    }
                    (statement, count) = (end, 0);
                    if statement - self.start >= ENOUGH {
                        return self.piece(statement, Piece::Keys);
                    }
                    continue;
                }
                _ => {}
            }
            count += 1;
        }
        if self.start < self.length { self.piece(self.length, Piece::Keys) } else { None }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        match mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing => self.keys(),
            Next::Header => self.header(),
            Next::TooLong(end) => self.piece(end, Piece::TooLong),
        }
    }
}

#[cfg(test)]
mod tests;
