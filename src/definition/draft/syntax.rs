//! Text that is not TOML: each broken statement is reported once, and taken out, so that the rest can be read.

use std::ops::Range;
use std::sync::OnceLock;

use toml::de::{DeTable, DeValue, Error};
use toml_parser::ParseError;
use toml_parser::parser::{RecursionGuard, parse_document};

use super::super::findings::Findings;
use super::super::mistake::{Mistake, Origin};
use super::foreign::{conflicts, other_format};
use super::slips::{boundary, in_words, slip};
use super::statements::{statements, without};

/// Parses a text, as far as it can be read. Where something is taken out of it, what is left is put into `rest`.
pub(super) fn parse<'i>(text: &'i str, rest: &'i OnceLock<String>, findings: &mut Findings) -> DeTable<'i> {
    // So many that all of them would be too much to keep, and that the first few statements have more than are told.
    let first = if slips_in_syntax(text) > MOST_KEPT {
        0
    } else {
        let (table, errors) = DeTable::parse_recoverable(text);
        let Some(first) = errors.iter().filter(|error| !is_duplicate(error)).map(start_of).min() else {
            duplicates(findings, text, table.get_ref(), &errors);
            return table.into_inner();
        };
        first
    };
    if let Some(mistake) = other_format(text) {
        findings.add(mistake);
        return DeTable::new();
    }
    let mut left_out = Vec::new();
    for conflict in conflicts(text) {
        findings.add(conflict.mistake());
        left_out.extend(conflict.left_out);
    }
    // The marks of a merge may be all that is wrong.
    let unmerged = without(text, &left_out);
    // What is not closed may end behind the end.
    let first = if left_out.is_empty() { first.min(text.len() - 1) } else { 0 };
    left_out.extend(broken(&unmerged, first, findings));
    let rest = rest.get_or_init(|| without(text, &left_out));
    let (table, errors) = DeTable::parse_recoverable(rest);
    if let Some(error) = errors.iter().filter(|error| !is_duplicate(error)).min_by_key(|error| start_of(error)) {
        // Of what goes on over statements, the beginning is told.
        let at = error.span().unwrap_or(0..0);
        let at = boundary(rest, at.start)..boundary(rest, at.end);
        if left_out.is_empty() {
            findings.add(in_words(rest, error.message(), at));
        }
    }
    duplicates(findings, rest, table.get_ref(), &errors);
    table.into_inner()
}

/// The most errors of the parser that are kept.
const MOST_KEPT: usize = 10_000;

/// How deep a value may lie within others, as for the parser of values: deeper ones are errors.
const DEEPEST: u32 = 80;

/// How many errors of syntax the parser finds.
fn slips_in_syntax(text: &str) -> usize {
    let mut count = 0;
    let tokens = toml_parser::Source::new(text).lex().into_vec();
    parse_document(&tokens, &mut RecursionGuard::new(&mut (), DEEPEST), &mut |_: ParseError| count += 1);
    count
}

fn is_duplicate(error: &Error) -> bool {
    error.message() == "duplicate key"
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

/// What the parser finds first in a statement, and where.
fn first_error(statement: &str) -> Option<(String, Range<usize>)> {
    let (_, errors) = DeTable::parse_recoverable(statement);
    // Of two errors at one point only the first is reported: an unclosed string, not the list and the table around it.
    let errors = errors.into_iter().filter(|error| !is_duplicate(error));
    let end = statement.len();
    let first = errors.min_by_key(|error| (start_of(error).min(end), error.message().starts_with("unclosed")))?;
    Some((first.message().to_owned(), first.span().unwrap_or(0..0)))
}

/// Reports states and keys that are given twice.
fn duplicates(findings: &mut Findings, text: &str, table: &DeTable<'_>, errors: &[Error]) {
    let mut last_state = 0;
    for error in errors.iter().filter(|error| is_duplicate(error)) {
        let at = error.span().unwrap_or(0..0);
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
fn last_given(table: &DeTable<'_>, key: &str, before: usize) -> Option<Range<usize>> {
    let here = table.get_key_value(key).map(|(key, _)| key.span());
    let within = table.values().filter_map(|value| match value.get_ref() {
        DeValue::Table(table) => last_given(table, key, before),
        DeValue::Array(array) => array
            .iter()
            .filter_map(|item| last_given(item.get_ref().as_table()?, key, before))
            .max_by_key(|at| at.start),
        _ => None,
    });
    here.into_iter().chain(within).filter(|at| at.end <= before).max_by_key(|at| at.start)
}
