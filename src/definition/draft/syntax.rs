//! Text that is not TOML: each broken statement is reported once, and taken out, so that the rest can be read.

use std::ops::Range;
use std::sync::OnceLock;

use toml::de::{DeTable, Error};

use super::super::findings::Findings;
use super::super::mistake::{Mistake, Origin};
use super::document::{self, Document};
use super::foreign::{Conflicts, other_format};
use super::slips::{boundary, in_words, slip};
use super::statements::{blank, statements, without};
use super::tree::{Table, Value};

/// Parses a text, as far as it can be read. Where something is taken out of it, what is left is put into `rest`.
pub(super) fn parse<'i>(text: &'i str, rest: &'i OnceLock<String>, findings: &mut Findings) -> Table<'i> {
    let whole = document::read(text, false);
    let Some((_, first)) = whole.error else { return finished(whole, findings, text) };
    drop(whole.table);
    if let Some(mistake) = other_format(text) {
        findings.add(mistake);
        return Table::default();
    }
    let Conflicts { listed, more, left_out } = Conflicts::of(text);
    for conflict in listed {
        findings.add(conflict.mistake());
    }
    findings.add_unlisted(more);
    // The marks of a merge may be all that is wrong.
    let first = if left_out.is_empty() { first.start.min(text.len() - 1) } else { 0 };
    let mut unmerged = without(text, &left_out);
    let unread = broken(&unmerged, first, findings);
    let is_all_read = left_out.is_empty() && unread.is_empty();
    blank(&mut unmerged, &unread);
    let rest = rest.get_or_init(|| unmerged);
    let document = document::read(rest, true);
    if let Some((why, at)) = document.error.clone().filter(|_| is_all_read) {
        // Of what goes on over statements, the beginning is told.
        let at = boundary(rest, at.start)..boundary(rest, at.end);
        findings.add(in_words(rest, &why, at));
    }
    finished(document, findings, rest)
}

/// The tree of what has been read, with what is given twice reported.
fn finished<'i>(document: Document<'i>, findings: &mut Findings, text: &str) -> Table<'i> {
    duplicates(findings, text, &document.table, &document.repeated);
    if !findings.has_unread() {
        findings.add_unlisted(document.more_repeated);
    }
    document.table
}

fn is_duplicate(error: &Error) -> bool {
    error.message() == document::REPEATED
}

fn start_of(error: &Error) -> usize {
    error.span().map_or(0, |at| at.start)
}

/// Reports each statement that is no TOML by itself. Returns what cannot be read. The parser finds nothing before `first`.
fn broken(text: &str, first: usize, findings: &mut Findings) -> Vec<Range<usize>> {
    let mut unread = Vec::new();
    let statements = statements(text);
    let mut all = statements.iter().enumerate().peekable();
    while let Some((i, at)) = all.next() {
        let statement = &text[at.clone()];
        // What is not closed is found in the next one; a text over many lines, at the end.
        let next_end = statements.get(i + 1).map_or(text.len(), |next| next.end);
        let may_be_broken = next_end > first || statement.contains("\"\"\"") || statement.contains("'''");
        if !may_be_broken {
            continue;
        }
        if findings.is_full() {
            // More of the same.
            unread.push(at.start..text.len());
            break;
        }
        if let Some(line) = too_long(statement) {
            findings.add(
                Mistake::error("too-long", at.start + line.start..at.start + line.end, "the value is too long")
                    .label("is longer than what can be read")
                    .help("divide the state into several ones, with fewer exits, behaviors or parameters each")
                    .origin(Origin::Unread),
            );
            unread.push(at.clone());
            continue;
        }
        // Junk is taken out line by line.
        let mut rest = statement.to_owned();
        for _ in 0..MOST_SLIPS {
            let Some(error) = first_error(&rest) else { break };
            let slip = slip(&rest, &error.0, error.1);
            findings.add(slip.mistake.moved(|part| at.start + part.start..at.start + part.end));
            unread.push(at.start + slip.unread.start..at.start + slip.unread.end);
            if slip.unread.len() == rest.len() || rest.len() > LONGEST_MENDED {
                break;
            }
            rest = without(&rest, &[slip.unread]);
        }
        let is_header = statement.trim_start().starts_with('[');
        if is_header && unread.last() == Some(at) {
            // What stands under it belongs to nothing else.
            while let Some((_, under)) = all.next_if(|(_, under)| !text[(*under).clone()].trim_start().starts_with('['))
            {
                unread.push(under.clone());
            }
        }
    }
    unread
}

/// The most lines of a statement that are taken out one by one.
const MOST_SLIPS: usize = 20;

/// The longest statement of which lines are taken out, in bytes: it is read again each time.
const LONGEST_MENDED: usize = 100_000;

/// Where the first line of a statement is that is too long to be read, and as far as it can be, has no mistake.
fn too_long(statement: &str) -> Option<Range<usize>> {
    let end = readable_end(statement);
    if end == statement.len() || first_error(statement).is_some() {
        return None;
    }
    let start = statement.len() - statement.trim_start().len();
    Some(start..start + statement[start..].lines().next().map_or(0, |line| line.trim_end().len()))
}

/// How many bytes before the end of what is read a mistake may come from what is not.
const CUT: usize = 1000;

/// How far a statement can be read at once.
fn readable_end(statement: &str) -> usize {
    let mut tokens = toml_parser::Source::new(statement).lex();
    tokens.nth(document::MOST_TOKENS).map_or(statement.len(), |token| token.span().end())
}

/// What the parser finds first in a statement, and where.
fn first_error(statement: &str) -> Option<(String, Range<usize>)> {
    let whole = statement.len();
    let statement = &statement[..readable_end(statement)];
    let (_, errors) = DeTable::parse_recoverable(statement);
    // Of two errors at one point only the first is reported: an unclosed string, not the list and the table around it.
    let end = statement.len();
    // What is not read is no mistake: it ends in the middle of a list or a string, then.
    let may_be_cut =
        |error: &Error| end < whole && (error.message().starts_with("unclosed") || start_of(error) + CUT >= end);
    let errors = errors.into_iter().filter(|error| !is_duplicate(error) && !may_be_cut(error));
    let first = errors.min_by_key(|error| (start_of(error).min(end), error.message().starts_with("unclosed")))?;
    Some((first.message().to_owned(), first.span().unwrap_or(0..0)))
}

/// Reports states and keys that are given twice.
fn duplicates(findings: &mut Findings, text: &str, table: &Table<'_>, repeated: &[Range<usize>]) {
    let mut last_state = 0;
    for at in repeated.iter().cloned() {
        let key = text.get(at.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        let before = text.get(..at.start).unwrap_or_default();
        let header = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        if header.trim_start().starts_with('[') && header.ends_with("states.") {
            last_state = at.start;
            let first = || header_of(header.trim_start(), &key, before).or_else(|| last_given(table, &key, at.start));
            let first = if findings.is_full() { None } else { first() };
            findings.add(
                Mistake::error("duplicate-state", at, format!("state `{key}` is defined twice"))
                    .label("defined again here")
                    .second(first, "first defined here")
                    .help("put both into one table, or rename one")
                    .origin(Origin::MayFollow),
            );
            continue;
        }
        // Of a dotted key, which may go on in another table, the first is not easily found.
        let is_looked_for = !before.ends_with('.') && !findings.is_full();
        let first = if is_looked_for { last_given(table, &key, at.start) } else { None };
        if first.as_ref().is_some_and(|first| first.start < last_state) {
            // It is in the second of two tables of one state, which the parser has joined and which have been reported.
            continue;
        }
        findings.add(
            Mistake::error("duplicate-key", at, format!("key `{key}` is given twice"))
                .label("given again here")
                .second(first, "first given here")
                .origin(Origin::MayFollow),
        );
    }
}

/// Where the table of a state begins. The parser has joined the two into one, with the span of the second.
fn header_of(header: &str, state: &str, text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name = line.trim_start().strip_prefix(header).and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| name.trim_matches(['"', '\'']) == state) {
            let start = at + line.len() - line.trim_start().len() + header.len();
            return Some(start..start + name.len());
        }
        at += line.len();
    }
    None
}

/// Where a key is last given before byte `before` of the file, in any table.
fn last_given(table: &Table<'_>, key: &str, before: usize) -> Option<Range<usize>> {
    let here = table.get_key_value(key).map(|(key, _)| key.span());
    let within = table.values().filter_map(|value| match value.get_ref() {
        Value::Table(table) => last_given(table, key, before),
        Value::Array(array) => array
            .iter()
            .filter_map(|item| last_given(item.get_ref().as_table()?, key, before))
            .max_by_key(|at| at.start),
        _ => None,
    });
    here.into_iter().chain(within).filter(|at| at.end <= before).max_by_key(|at| at.start)
}
