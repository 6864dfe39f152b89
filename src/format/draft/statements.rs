//! Splits a text into statements: headers, and keys with their values. Each statement is parsed on its own.
//!
//! A statement ends with its line, or with the line in which its last bracket closes. If a bracket or a quote is missing, the
//! parser would treat the following lines as a part of the statement. But a definition has only a few keys, and a line that
//! begins with one of them begins a new statement. So a statement that cannot be parsed is cut off at such a line.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use toml_parser::decoder::ScalarKind;
use toml_parser::lexer::{Token, TokenKind};
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ErrorSink, Expected, ParseError, Raw, Source, Span};

use super::format::{FILE_KEYS, MACHINE_KEYS, STATE_KEYS};
use super::tree::{Key, RefusedKey, SpannedValue, Table, TableOrigin, TreeValue};

/// The maximum number of tokens (names, numbers, signs) in one statement.
const MOST_TOKENS: usize = 200_000;

/// If a statement has too many tokens, the tokens beyond the limit are not parsed. An error within this number of bytes before
/// the end of the last parsed token may be caused by that.
const CUT: usize = 1000;

/// The maximum depth of nested lists and tables, and the maximum number of parts in a key.
const DEEPEST: usize = 80;

/// A header, or a key with its value. An empty line or a comment has neither.
#[derive(Default)]
pub(crate) struct Statement<'i> {
    /// The range of the statement's lines.
    pub(crate) span: Range<usize>,
    pub(crate) header: Option<Header>,
    /// The parts of the statement's key, or of the name in its header.
    pub(crate) keys: Vec<Key<'i>>,
    /// The value, even if it has mistakes. `None` if there is no `=`.
    pub(crate) value: Option<SpannedValue<'i>>,
    /// The first part that is not valid TOML: the reason and the place.
    pub(super) error: Option<(String, Range<usize>)>,
    /// Whether the statement has more than [`MOST_TOKENS`] tokens.
    pub(super) is_too_long: bool,
    /// Keys that cannot be added to an inline table.
    pub(super) refused: Vec<RefusedKey>,
}

/// The brackets around the name of a table.
#[derive(Clone)]
pub(crate) struct Header {
    /// Whether the brackets are double. Then the table is an element of a list.
    pub(crate) is_list: bool,
    pub(crate) span: Range<usize>,
}

/// A line that is meant as a header, even if one of its brackets is missing.
pub(super) struct HeaderLine<'i> {
    /// The line without spaces around it.
    pub(super) line: &'i str,
    pub(super) name: &'i str,
    /// Whether it begins with a bracket.
    pub(super) begins: bool,
    /// Whether it contains a closing bracket.
    pub(super) ends: bool,
}

impl<'i> HeaderLine<'i> {
    /// Returns the first line of a text, if it is a header.
    pub(super) fn of(text: &'i str) -> Option<Self> {
        let line = text.lines().next().unwrap_or_default().trim();
        let begins = line.starts_with('[');
        let is_header = begins || line.ends_with(']') && !line.contains(['=', '[', '{', '}', ',']);
        let name = line.trim_start_matches('[').trim_end_matches([']', ' ']);
        is_header.then_some(Self { line, name, begins, ends: line.contains(']') })
    }
}

impl Statement<'_> {
    /// Whether the statement cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        self.is_too_long || self.error.is_some()
    }
}

/// An iterator over the statements of a text.
pub(crate) struct Statements<'i> {
    text: &'i str,
    /// The start of the next statement.
    at: usize,
    /// The start of the next line that begins a statement, as [`cut`](Self::cut) last found it.
    next: usize,
    /// The farthest end that a statement had before it was cut off. Statements that begin before this position are cut off,
    /// too.
    reach: usize,
    tokens: Vec<Token>,
}

impl<'i> Statements<'i> {
    pub(crate) fn of(text: &'i str) -> Self {
        Self { text, at: 0, next: 0, reach: 0, tokens: Vec::new() }
    }

    /// Returns where a statement that begins here ends if it is cut off.
    fn cut(&mut self) -> usize {
        if self.next <= self.at {
            let lines = self.text[self.at..].split_inclusive('\n').scan(self.at, |end, line| {
                *end += line.len();
                Some(*end)
            });
            self.next = { lines }.find(|end| begins_statement(&self.text[*end..])).unwrap_or(self.text.len());
        }
        self.next
    }

    /// Parses the next statement, which ends at or before `end`.
    fn parse(&mut self, end: usize) -> Statement<'i> {
        // The text includes the newline before the statement. Otherwise, the lexer would skip a byte order mark here, which is
        // allowed only at the beginning of a file.
        let start = self.at.saturating_sub(1);
        let text = &self.text[start..end];
        let (mut depth, mut count, mut length) = (0_usize, 0, text.len());
        let is_header = HeaderLine::of(&text[self.at - start..]).is_some_and(|header| header.begins);
        self.tokens.clear();
        for token in Source::new(text).lex().skip(self.at - start) {
            let kind = token.kind();
            match kind {
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
            count += 1;
            if count <= MOST_TOKENS {
                self.tokens.push(token);
            }
            if kind == TokenKind::Newline && (depth == 0 || is_header) {
                length = token.span().end();
                break;
            }
        }
        let is_too_long = count > MOST_TOKENS;
        let span = self.at..start + length;
        let statement = Statement { span, is_too_long, ..Statement::default() };
        let mut reader = StatementReader { text, start, statement, open: Vec::new(), error: None };
        let parsed = self.tokens.last().map_or(0, |token| token.span().end());
        let mut first: Option<((usize, bool), ParseError)> = None;
        let mut errors = |error: ParseError| {
            let at = error.unexpected().map_or(0, |at| at.start()).min(parsed);
            let is_unclosed = error.description().starts_with("unclosed");
            // If tokens are missing at the end, the text may end in the middle of a list or a string. An error there is not a
            // mistake in the file.
            let may_be_cut = is_too_long && (is_unclosed || at + CUT >= parsed);
            // Of several errors at one position, only one counts: an error that is not about an unclosed part, or else the first
            // one, which is about the innermost string, list or table.
            if !may_be_cut && first.as_ref().is_none_or(|(known, _)| (at, is_unclosed) < *known) {
                first = Some(((at, is_unclosed), error));
            }
        };
        let mut take = |event: Event| reader.take(&event);
        let mut validated = ValidateWhitespace::new(&mut take, Source::new(text));
        // The limit is small enough for a `u32`.
        let deepest = u32::try_from(DEEPEST).unwrap_or_default();
        parse_document(&self.tokens, &mut RecursionGuard::new(&mut validated, deepest), &mut errors);
        // The reader's error comes after the parser's errors, because a parser error at the same position says more.
        reader.error.take().into_iter().for_each(&mut errors);
        let error = first.map(|(_, error)| {
            let at = error.unexpected().unwrap_or_default();
            (described(&error), start + at.start()..start + at.end())
        });
        Statement { error, ..reader.statement }
    }
}

impl<'i> Iterator for Statements<'i> {
    type Item = Statement<'i>;

    fn next(&mut self) -> Option<Statement<'i>> {
        if self.at >= self.text.len() {
            return None;
        }
        let end = if self.at < self.reach { self.cut() } else { self.text.len() };
        let mut statement = self.parse(end);
        if statement.is_broken() && statement.span.end > self.cut() {
            self.reach = self.reach.max(statement.span.end);
            statement = self.parse(self.next);
        }
        self.at = statement.span.end;
        Some(statement)
    }
}

/// Returns the text of a parser error.
fn described(error: &ParseError) -> String {
    let Some(expected) = error.expected() else { return error.description().to_owned() };
    let expected = expected.iter().map(|one| match one {
        Expected::Literal("\n") => "newline".into(),
        Expected::Literal(written) => format!("`{written}`").into(),
        Expected::Description(of) => Cow::Borrowed(*of),
        _ => "something else".into(),
    });
    let expected = { expected }.collect::<Vec<_>>().join(", ");
    format!("{}, expected {}", error.description(), if expected.is_empty() { "nothing" } else { &expected })
}

/// Builds a statement from the events of the parser.
struct StatementReader<'i> {
    /// The text to which the parser's positions refer. It begins at the position `start` in the file.
    text: &'i str,
    start: usize,
    statement: Statement<'i>,
    /// The lists and tables that are not closed yet, outermost first, each with its start.
    open: Vec<(usize, Open<'i>)>,
    /// The error about the first name or value that is not valid.
    error: Option<ParseError>,
}

enum Open<'i> {
    List(Vec<SpannedValue<'i>>),
    /// A table, with the key that is being read, or whose value is being read.
    Table(Table<'i>, Vec<Key<'i>>),
}

impl<'i> StatementReader<'i> {
    /// Handles the next event of the parser.
    fn take(&mut self, event: &Event) {
        let (kind, span) = (event.kind(), event.span());
        let at = self.start + span.start()..self.start + span.end();
        let text = self.text.get(span.start()..span.end()).unwrap_or_default();
        let raw = Raw::new_unchecked(text, event.encoding(), span);
        match kind {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                let header =
                    Header { is_list: kind == EventKind::ArrayTableOpen, span: at.start..self.statement.span.end };
                self.statement.header.get_or_insert(header);
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                self.statement.header.iter_mut().for_each(|header| header.span.end = at.end);
            }
            EventKind::InlineTableOpen => {
                self.open.push((at.start, Open::Table(Table::made(TableOrigin::Inline), Vec::new())));
            }
            EventKind::ArrayOpen => self.open.push((at.start, Open::List(Vec::new()))),
            EventKind::InlineTableClose | EventKind::ArrayClose => self.close(&at),
            EventKind::SimpleKey => self.key(&raw, at),
            EventKind::Scalar => {
                let value = self.scalar(&raw, span);
                self.value(Spanned::new(at, value));
            }
            _ => {}
        }
    }

    /// Closes a list or a table. A list or table without a closing bracket reaches to the end of the statement.
    fn close(&mut self, at: &Range<usize>) {
        let Some((start, open)) = self.open.pop() else { return };
        let end = if at.is_empty() { self.statement.span.end } else { at.end };
        let value = match open {
            Open::List(mut list) => {
                list.shrink_to_fit();
                TreeValue::Array(list)
            }
            Open::Table(mut table, _) => {
                table.shrink();
                TreeValue::Table(table)
            }
        };
        self.value(Spanned::new(start..end, value));
    }

    fn value(&mut self, value: SpannedValue<'i>) {
        match self.open.last_mut() {
            None => drop(self.statement.value.get_or_insert(value)),
            Some((_, Open::List(list))) => list.push(value),
            Some((_, Open::Table(table, keys))) => {
                self.statement.refused.extend(table.add(mem::take(keys), value).err());
            }
        }
    }

    fn key(&mut self, raw: &Raw<'i>, at: Range<usize>) {
        let mut name = Cow::Borrowed("");
        raw.decode_key(&mut name, &mut self.error);
        let keys = match self.open.last_mut() {
            Some((_, Open::List(_))) => return,
            Some((_, Open::Table(_, keys))) => keys,
            None => &mut self.statement.keys,
        };
        match keys.len() {
            DEEPEST => self.error.report_error(ParseError::new("recursion limit")),
            _ => keys.push(Spanned::new(at, name)),
        }
    }

    fn scalar(&mut self, raw: &Raw<'i>, span: Span) -> TreeValue<'i> {
        let mut text = Cow::Borrowed("");
        match raw.decode_scalar(&mut text, &mut self.error) {
            ScalarKind::String => TreeValue::String(text),
            ScalarKind::Boolean(yes) => TreeValue::Boolean(yes),
            ScalarKind::DateTime => match text.parse() {
                Ok(date) => TreeValue::Datetime(date),
                Err(error) => {
                    self.error.report_error(ParseError::new(format!("{error}")).with_unexpected(span));
                    TreeValue::String(text)
                }
            },
            ScalarKind::Integer(_) | ScalarKind::Float => match DeValue::parse(raw.as_str()).map(Spanned::into_inner) {
                Ok(DeValue::Integer(number)) => TreeValue::Integer(number),
                Ok(DeValue::Float(number)) => TreeValue::Float(number),
                _ => TreeValue::String(text),
            },
        }
    }
}

/// Whether a text begins with the header of a state or a machine, or with a key of a file, a machine or a state.
pub(super) fn begins_statement(text: &str) -> bool {
    if let Some(header) = HeaderLine::of(text).filter(|header| header.begins) {
        let name = header.name.trim_start_matches([' ', '"', '\'']);
        return ["state", "machine"].iter().any(|table| name.starts_with(table));
    }
    let line = text.split('\n').next().unwrap_or_default().trim_start();
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    // A dotted key: `states.idle.final = true`.
    let is_dotted = rest.starts_with('.') && matches!(key, "states" | "machines");
    let is_given = rest.trim_start().starts_with('=') && !rest.trim_start().starts_with("==");
    let is_key = || [FILE_KEYS, MACHINE_KEYS, STATE_KEYS].into_iter().flatten().any(|known| *known == key);
    is_dotted || is_given && is_key()
}

/// Returns a text in which the bytes of some parts, except for newlines, are replaced by spaces. So no position in the text
/// changes.
pub(super) fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut text = text.to_owned();
    blank(&mut text, parts);
    text
}

/// Replaces the bytes of some parts of a text, except for newlines, with spaces. So no position in the text changes.
pub(super) fn blank(text: &mut String, parts: &[Range<usize>]) {
    let mut bytes = mem::take(text).into_bytes();
    for part in parts {
        for byte in &mut bytes[part.clone()] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    *text = String::from_utf8(bytes).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::{Statements, without};

    #[track_caller]
    fn assert_statements(expected: &[&str]) {
        let text = expected.concat();
        let spans = Statements::of(&text).map(|statement| &text[statement.span]);
        assert_eq!(spans.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_statement_ends_where_its_brackets_close() {
        assert_statements(&[
            "# ä\n",
            "\n",
            "[a]\n",
            "b = [\n  { final = 1,\nfinal = 2 },\n]\n",
            "c = '''\n[states.d]\n'''\n",
        ]);
    }

    #[test]
    fn a_statement_that_does_not_end_is_cut_off_where_a_line_begins_with_a_word_of_the_format() {
        let list = "exits = [\n  { to = 'b' },\n\n";
        assert_statements(&["initial = 'a\n", "[states.a]\n", list, " [states.b\n", "c = 1\n"]);
        assert_statements(&["c = '''\n", "states.c.final = true\n", "exits = [\n", "every = 1\n", "d = 1\n"]);
    }

    #[test]
    fn nothing_moves_where_a_part_is_taken_out() {
        assert_eq!(without("a = ü\nb = 2\n", &[0..3, 4..8]), "      \n  = 2\n");
    }
}
