//! What stands at a place of a text that may be broken: in which table, under which key, in which string. It looks at one section of
//! the file, from a header of a table to the next.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::lexer::{Token, TokenKind};

/// How much of a section is looked at before and behind the place, in bytes.
const MOST_LOOKED_AT: usize = 1_000_000;

/// What stands at a place.
#[derive(Debug, PartialEq)]
pub(super) struct Context {
    /// The keys that lead to the table, from the file's.
    pub(super) path: Vec<String>,
    pub(super) at: At,
    /// What else the table has: its keys, and their values where these are strings.
    pub(super) beside: Vec<(String, Option<String>)>,
    /// The same of the table that the list or table stands in, if there is one in this section.
    pub(super) around: Vec<(String, Option<String>)>,
}

/// What is written at a place.
#[derive(Debug, PartialEq)]
pub(super) enum At {
    /// The name of a table in its header, up to the place.
    Header(Range<usize>),
    /// A key, or where one may be written.
    Key(Range<usize>),
    /// The value of a key.
    Value { key: String, written: Written },
}

/// How a value is written.
#[derive(Debug, PartialEq)]
pub(super) enum Written {
    /// Without quotes, or not yet.
    Bare(Range<usize>),
    /// In quotes: what stands in them, and which they are.
    Quoted { inner: Range<usize>, quote: &'static str },
}

impl Context {
    /// What stands at a byte of a text.
    pub(super) fn at(text: &str, byte: usize) -> Self {
        let byte = floor(text, byte);
        let section = section(text, byte);
        let header = header(text, &section);
        if let Some(header) = header.as_ref().filter(|header| byte <= header.end) {
            let start = header.start + text[header.clone()].len() - text[header.clone()].trim_start_matches('[').len();
            let start = start.min(byte);
            let path = keys(text, start..byte);
            return Self { path, at: At::Header(start..byte), beside: Vec::new(), around: Vec::new() };
        }
        let path = header.as_ref().map(|header| keys(text, header.clone())).unwrap_or_default();
        let body = header.map_or(section.start, |header| header.end)..section.end;
        Scan::new(path).run(text, body, byte)
    }

    /// The string that is the value of a key beside the place.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.beside.iter().find(|(name, _)| name == key)?.1.as_deref()
    }
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

/// From the header of the table in which a byte is up to the next one.
fn section(text: &str, byte: usize) -> Range<usize> {
    let least = floor(text, byte.saturating_sub(MOST_LOOKED_AT));
    let most = floor(text, byte.saturating_add(MOST_LOOKED_AT));
    let line = text[..byte].rfind('\n').map_or(0, |end| end + 1);
    let mut start = line;
    while start > least && !is_header(&text[start..]) {
        start = text[..start - 1].rfind('\n').map_or(0, |end| end + 1);
    }
    let mut end = most;
    let mut at = byte;
    while let Some(newline) = text[at..most].find('\n') {
        at += newline + 1;
        if is_header(&text[at..]) {
            end = at;
            break;
        }
    }
    start.max(least)..end
}

/// The keys of the headers of all tables.
pub(super) fn headers(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.lines().filter(|line| is_header(line)).map(|line| keys(line, 0..line.len()))
}

/// Whether a line is the header of a table: a list in a list begins with a bracket, too, but is no name.
fn is_header(line: &str) -> bool {
    let line = line.lines().next().unwrap_or_default().trim_start();
    let Some(name) = line.strip_prefix('[') else { return false };
    let name = name.strip_prefix('[').unwrap_or(name).trim_start();
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_named = match name.chars().next() {
        // A string in a list is followed by a comma.
        Some('"' | '\'') => !line.contains(','),
        Some(c) => begins(c) && !line.contains(','),
        None => true,
    };
    is_named && !line.trim_end().ends_with(',')
}

/// The line of the header with which a section begins.
fn header(text: &str, section: &Range<usize>) -> Option<Range<usize>> {
    let line = text[section.clone()].lines().next().filter(|line| is_header(line))?;
    Some(section.start..section.start + line.len())
}

/// The keys of a header.
fn keys(text: &str, header: Range<usize>) -> Vec<String> {
    let written = &text[header];
    let tokens = Source::new(written).lex();
    let is_key =
        |token: &Token| matches!(token.kind(), TokenKind::Atom | TokenKind::BasicString | TokenKind::LiteralString);
    tokens.filter(is_key).map(|token| unquoted(&written[bytes(&token)]).to_owned()).collect()
}

fn bytes(token: &Token) -> Range<usize> {
    token.span().start()..token.span().end()
}

fn unquoted(written: &str) -> &str {
    let quote = quote_of(written);
    let inner = &written[quote.len()..];
    inner.strip_suffix(quote).unwrap_or(inner)
}

/// The quotes with which a text begins.
fn quote_of(written: &str) -> &'static str {
    ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| written.starts_with(quote)).unwrap_or("")
}

/// A table or a list that is open.
struct Frame {
    path: Vec<String>,
    is_list: bool,
    beside: Vec<(String, Option<String>)>,
    /// The key that is being read, part by part, or whose value is.
    key: Vec<String>,
    /// Whether the `=` behind the key has been read.
    has_equals: bool,
    /// Whether the value has.
    has_value: bool,
    /// The frame around it.
    around: Option<usize>,
}

/// Reads a section once, from its beginning to its end.
struct Scan {
    /// All frames, also closed ones.
    frames: Vec<Frame>,
    open: usize,
}

impl Scan {
    fn new(path: Vec<String>) -> Self {
        let frame = Frame {
            path,
            is_list: false,
            beside: Vec::new(),
            key: Vec::new(),
            has_equals: false,
            has_value: false,
            around: None,
        };
        Self { frames: vec![frame], open: 0 }
    }

    fn run(mut self, text: &str, body: Range<usize>, byte: usize) -> Context {
        let mut found = None;
        for token in Source::new(&text[body.clone()]).lex() {
            let Range { start, end } = bytes(&token);
            let at = body.start + start..body.start + end;
            if found.is_none() && at.end >= byte {
                let is_in = at.start < byte && (at.end > byte || is_open_at_its_end(text, &token, &at));
                if is_in || at.end > byte {
                    found = Some((self.open, self.at(text, &token, &at, byte)));
                }
            }
            self.token(text, &token, &at);
        }
        let (frame, (path, at)) = found.unwrap_or_else(|| (self.open, self.between(byte..byte)));
        let around = self.frames[frame].around.map(|around| self.table(around).beside.clone()).unwrap_or_default();
        Context { path, at, beside: self.frames[frame].beside.clone(), around }
    }

    /// The table that a frame is, or in which the list is.
    fn table(&self, mut frame: usize) -> &Frame {
        while let (true, Some(around)) = (self.frames[frame].is_list, self.frames[frame].around) {
            frame = around;
        }
        &self.frames[frame]
    }

    /// What stands at a byte of a token, or right behind it.
    fn at(&self, text: &str, token: &Token, at: &Range<usize>, byte: usize) -> (Vec<String>, At) {
        if at.start >= byte {
            return self.between(byte..byte);
        }
        match token.kind() {
            TokenKind::BasicString
            | TokenKind::LiteralString
            | TokenKind::MlBasicString
            | TokenKind::MlLiteralString => {
                let written = &text[at.clone()];
                let quote = quote_of(written);
                let start = at.start + quote.len();
                let is_closed = written.len() >= 2 * quote.len() && written.ends_with(quote);
                // What an open string swallows is not a part of it.
                let end = if is_closed { at.end - quote.len() } else { byte };
                let inner = start.min(byte)..end.max(start.min(byte));
                let (path, place) = self.between(inner.clone());
                let place = match place {
                    At::Value { key, .. } => At::Value { key, written: Written::Quoted { inner, quote } },
                    other => other,
                };
                (path, place)
            }
            TokenKind::Atom => self.between(at.clone()),
            _ => self.between(byte..byte),
        }
    }

    fn between(&self, at: Range<usize>) -> (Vec<String>, At) {
        let frame = &self.frames[self.open];
        let mut path = frame.path.clone();
        if frame.is_list {
            let key = path.pop().unwrap_or_default();
            return (path, At::Value { key, written: Written::Bare(at) });
        }
        if frame.has_equals {
            let mut key = frame.key.clone();
            let last = key.pop().unwrap_or_default();
            path.extend(key);
            return (path, At::Value { key: last, written: Written::Bare(at) });
        }
        path.extend(frame.key.iter().cloned());
        (path, At::Key(at))
    }

    fn token(&mut self, text: &str, token: &Token, at: &Range<usize>) {
        let open = self.open;
        let frame = &mut self.frames[open];
        match token.kind() {
            TokenKind::Equals => frame.has_equals = true,
            TokenKind::Comma => frame.next(),
            TokenKind::Newline if open == 0 || frame.has_value && !frame.is_list => frame.next(),
            TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket => {
                let is_list = token.kind() == TokenKind::LeftSquareBracket;
                let path = frame.path_of_value();
                if !frame.is_list {
                    frame.beside.push((frame.key.first().cloned().unwrap_or_default(), None));
                }
                let (beside, key) = (Vec::new(), Vec::new());
                let inner =
                    Frame { path, is_list, beside, key, has_equals: false, has_value: false, around: Some(open) };
                self.open = self.frames.len();
                self.frames.push(inner);
            }
            TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket => {
                if let Some(around) = frame.around {
                    self.open = around;
                    self.frames[around].has_value = true;
                }
            }
            TokenKind::Atom
            | TokenKind::BasicString
            | TokenKind::LiteralString
            | TokenKind::MlBasicString
            | TokenKind::MlLiteralString => {
                let written = &text[at.clone()];
                if frame.is_list {
                    return;
                }
                if frame.has_equals {
                    let is_string = token.kind() != TokenKind::Atom;
                    let value = is_string.then(|| unquoted(written).to_owned());
                    frame.beside.push((frame.key.first().cloned().unwrap_or_default(), value));
                    frame.has_value = true;
                } else {
                    frame.key.push(unquoted(written).to_owned());
                }
            }
            _ => {}
        }
    }
}

impl Frame {
    fn next(&mut self) {
        self.key.clear();
        self.has_equals = false;
        self.has_value = false;
    }

    /// Where a table or a list is that is the value, or an element of this list.
    fn path_of_value(&self) -> Vec<String> {
        self.path.iter().chain(&self.key).cloned().collect()
    }
}

/// Whether a byte right behind a token is a part of it: a word goes on, and a string that is not closed.
fn is_open_at_its_end(text: &str, token: &Token, at: &Range<usize>) -> bool {
    match token.kind() {
        TokenKind::Atom => true,
        TokenKind::BasicString | TokenKind::LiteralString | TokenKind::MlBasicString | TokenKind::MlLiteralString => {
            let written = &text[at.clone()];
            let quote = quote_of(written);
            written.len() < 2 * quote.len() || !written.ends_with(quote)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{At, Context, Written};

    /// What stands at the `|` of a text.
    fn at(text: &str) -> (String, String, String) {
        let byte = text.find('|').unwrap();
        let text = text.replace('|', "");
        let context = Context::at(&text, byte);
        let (kind, span) = match context.at {
            At::Header(span) => ("header".to_owned(), span),
            At::Key(span) => ("key".to_owned(), span),
            At::Value { key, written: Written::Bare(span) } => (format!("{key} ="), span),
            At::Value { key, written: Written::Quoted { inner, quote } } => (format!("{key} = {quote}"), inner),
        };
        (context.path.join("/"), kind, text[span].to_owned())
    }

    #[track_caller]
    fn assert_at(text: &str, path: &str, kind: &str, written: &str) {
        assert_eq!(at(text), (path.to_owned(), kind.to_owned(), written.to_owned()), "{text}");
    }

    #[test]
    fn a_key_is_found_in_every_table() {
        assert_at("|", "", "key", "");
        assert_at("ini|", "", "key", "ini");
        assert_at("a = 1\nini|tial = 'x'\n[states.a]\n", "", "key", "initial");
        assert_at("[states.a]\n|\nfinal = true", "states/a", "key", "");
        assert_at("[states.'a b']\nexits = [{ to = 'x', | }]", "states/a b/exits", "key", "");
        assert_at("[states.a]\nexits = [\n  { to = 'x' },\n  { wh|\n]\n[states.b]\n", "states/a/exits", "key", "wh");
        assert_at("[[states.a.exits]]\n|", "states/a/exits", "key", "");
        assert_at("[states.a]\nbehavior = { name = 'x', sp| }", "states/a/behavior", "key", "sp");
        assert_at("states.a.fi|", "states/a", "key", "fi");
    }

    #[test]
    fn a_value_is_found_with_its_quotes_and_without() {
        assert_at("initial = |", "", "initial =", "");
        assert_at("initial = 'a|", "", "initial = '", "a");
        assert_at("initial = \"a|bc\"\n", "", "initial = \"", "abc");
        assert_at("[states.a]\nexits = [{ to = \"| }]\n", "states/a/exits", "to = \"", "");
        assert_at("[states.a]\nexits = [{ to = |", "states/a/exits", "to =", "");
        assert_at("[states.a]\nbehavior = ['x', '|']\n", "states/a", "behavior = '", "");
        assert_at("[states.a]\nfinal = t|\n", "states/a", "final =", "t");
    }

    #[test]
    fn a_line_that_is_broken_does_not_reach_into_the_next_table() {
        assert_at("[states.a]\nexits = [{ to = 'x\n[states.b]\n|", "states/b", "key", "");
        assert_at("[states.a]\nx = '''\n[states.b]\npar|", "states/b", "key", "par");
    }

    #[test]
    fn what_is_beside_a_place_is_known_also_behind_it() {
        let text = "[states.a]\nexits = [{ when = \"\", on = 'hit' }]";
        let context = Context::at(text, text.find("\",").unwrap());
        assert_eq!(context.value("on"), Some("hit"));
    }

    #[test]
    fn a_header_is_found_up_to_the_place() {
        assert_at("[states.a|]\n", "states/a", "header", "states.a");
        assert_at("[[sta|", "sta", "header", "sta");
    }
}
