//! The statements of a text: headers, and keys with their values, each parsed by itself.
//!
//! A statement ends with its line, or with the line in which its last bracket closes. Where a bracket or a quote is missing, the
//! parser takes what follows for a part of the statement. A definition has few words, though, and a line that begins with one of
//! them begins a statement: there, a statement that cannot be parsed is cut off.

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

/// The most tokens of one statement: names, numbers, signs.
const MOST_TOKENS: usize = 200_000;

/// A mistake at most so many bytes before the end of a statement that is cut off may be caused by the cut.
const CUT: usize = 1000;

/// How deep lists and tables may be nested, and how many parts a key may have.
const DEEPEST: usize = 80;

/// A header, or a key with its value; an empty line or a comment has neither.
#[derive(Default)]
pub(crate) struct Statement<'i> {
    /// Its lines.
    pub(crate) span: Range<usize>,
    pub(crate) header: Option<Header>,
    /// The parts of its key, or of the name in the header.
    pub(crate) keys: Vec<Key<'i>>,
    /// Is there even if it is mistaken, if there is a `=`.
    pub(crate) value: Option<SpannedValue<'i>>,
    /// The first thing in it that is no TOML: why, and where.
    pub(super) error: Option<(String, Range<usize>)>,
    /// Whether it has more tokens than are parsed.
    pub(super) is_too_long: bool,
    /// Keys that cannot be added to a table between `{` and `}`.
    pub(super) refused: Vec<RefusedKey>,
}

/// The brackets around the name of a table.
#[derive(Clone)]
pub(crate) struct Header {
    /// Whether they are double: the table is one of a list.
    pub(crate) is_list: bool,
    pub(crate) span: Range<usize>,
}

/// A line that is meant as a header, even if it does not begin or end as one.
pub(super) struct HeaderLine<'i> {
    /// Without spaces around it.
    pub(super) line: &'i str,
    pub(super) name: &'i str,
    /// Whether it begins with a bracket.
    pub(super) begins: bool,
    /// Whether it has a bracket that closes it.
    pub(super) ends: bool,
}

impl<'i> HeaderLine<'i> {
    /// The first line of a text, if it is a header.
    pub(super) fn of(text: &'i str) -> Option<Self> {
        let line = text.lines().next().unwrap_or_default().trim();
        let begins = line.starts_with('[');
        let is_header = begins || line.ends_with(']') && !line.contains(['=', '[', '{', '}', ',']);
        let name = line.trim_start_matches('[').trim_end_matches([']', ' ']);
        is_header.then_some(Self { line, name, begins, ends: line.contains(']') })
    }
}

impl Statement<'_> {
    /// Whether it cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        self.is_too_long || self.error.is_some()
    }
}

/// Goes through the statements of a text.
pub(crate) struct Statements<'i> {
    text: &'i str,
    /// Where the next statement begins.
    at: usize,
    /// Where the next line is that begins with a word of the format, as far as it has been looked for.
    next: usize,
    /// How far a statement reached that has been cut off. Up to there, the next ones are cut off, too.
    reach: usize,
    tokens: Vec<Token>,
}

impl<'i> Statements<'i> {
    pub(crate) fn of(text: &'i str) -> Self {
        Self { text, at: 0, next: 0, reach: 0, tokens: Vec::new() }
    }

    /// Where a statement that begins here is cut off.
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

    /// Parses the next statement, which ends at `end` at the latest.
    fn parse(&mut self, end: usize) -> Statement<'i> {
        // With the newline before it: the lexer skips a byte order mark, which may only stand at the beginning of a file.
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
            // What is not parsed is no mistake: it ends in the middle of a list or a string, then.
            let may_be_cut = is_too_long && (is_unclosed || at + CUT >= parsed);
            // Of two errors at one point only the first counts: an unclosed string, not the list and the table around it.
            if !may_be_cut && first.as_ref().is_none_or(|(known, _)| (at, is_unclosed) < *known) {
                first = Some(((at, is_unclosed), error));
            }
        };
        let mut take = |event: Event| reader.take(&event);
        let mut validated = ValidateWhitespace::new(&mut take, Source::new(text));
        // At most 80.
        let deepest = u32::try_from(DEEPEST).unwrap_or_default();
        parse_document(&self.tokens, &mut RecursionGuard::new(&mut validated, deepest), &mut errors);
        // Behind the parser's mistakes: one at the same point says more.
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

/// What the parser says.
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

/// Builds a statement from what the parser finds.
struct StatementReader<'i> {
    /// In which the parser counts; it begins at `start` of the file.
    text: &'i str,
    start: usize,
    statement: Statement<'i>,
    /// The lists and tables that are not closed yet, from the outermost one, and where they begin.
    open: Vec<(usize, Open<'i>)>,
    /// The first name or value that is not valid.
    error: Option<ParseError>,
}

enum Open<'i> {
    List(Vec<SpannedValue<'i>>),
    /// With the parts of the key that is being read, or whose value is.
    Table(Table<'i>, Vec<Key<'i>>),
}

impl<'i> StatementReader<'i> {
    /// Takes up the next thing that the parser finds.
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

    /// Closes a list or a table. One that the file does not close goes on to the end of the statement.
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

/// Whether a text begins with a header, or with a key of a file, a machine or a state.
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

/// A text with parts of it taken out: nothing else moves.
pub(super) fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut text = text.to_owned();
    blank(&mut text, parts);
    text
}

/// Takes parts out of a text: nothing else moves.
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
