//! Text that is not TOML: what the parser says of it, in the format's own words where it has some.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::super::findings::Findings;
use super::super::mistake::{Mistake, Origin};

/// Adds what the parser has found.
pub(crate) fn add(findings: &mut Findings, text: &str, table: &DeTable<'_>, mut errors: Vec<toml::de::Error>) {
    // Of two errors at one point only the first is reported: an unclosed string, not the list and the table around it.
    errors.sort_by_key(|error| error.message().starts_with("unclosed"));
    let mut last_state = 0;
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        if error.message() != "duplicate key" {
            // Errors beyond those that are reported are only counted.
            let meant = if findings.is_full() { None } else { meant(text, error.message(), at.clone()) };
            findings.add(not_toml(error.message(), at, meant));
            continue;
        }
        let key = text.get(at.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        let before = text.get(..at.start).unwrap_or_default();
        if before.ends_with("[states.") {
            last_state = at.start;
            let first = || header_of(&key, before).or_else(|| last_given(table, &key, at.start));
            let first = if findings.is_full() { None } else { first() };
            findings.add(
                Mistake::error("duplicate-state", at, format!("state `{key}` is defined twice"))
                    .label("defined again here")
                    .second(first, "first defined here")
                    .help("put both into one table, or rename one"),
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

/// What was probably meant by text that is not TOML.
enum Meant {
    /// A text, without its quotes.
    Text(String),
    /// `yes` and its like.
    Flag(bool),
    /// The name of a state, without its quotes.
    Header(String),
}

fn not_toml(why: &str, at: Range<usize>, meant: Option<Meant>) -> Mistake {
    let why = if matches!(meant, Some(Meant::Text(_))) { "a text stands in quotes" } else { why };
    let mistake = Mistake::error("syntax", at, format!("this is not TOML: {why}")).origin(Origin::Unread);
    match meant {
        Some(Meant::Text(text)) => mistake.help(format!("write `\"{text}\"`")),
        Some(Meant::Flag(yes)) => mistake.help(format!("write `{yes}`")),
        Some(Meant::Header(name)) => mistake.help(format!("write a name with spaces in quotes: `[states.\"{name}\"]`")),
        None => mistake,
    }
}

/// What a beginner means who leaves quotes out.
fn meant(text: &str, message: &str, at: Range<usize>) -> Option<Meant> {
    let before = text.get(..at.start)?;
    let line = text[before.rfind('\n').map_or(0, |end| end + 1)..].lines().next()?;
    if message.starts_with("unclosed table") {
        let name = line.trim_start().strip_prefix("[states.")?.split_once(']')?.0;
        return Some(Meant::Header(name.into()));
    }
    let word = text.get(at)?;
    let is_value = before.trim_end().ends_with(['=', '[', ',']);
    let is_text = |c: char| c.is_alphanumeric() || " _-.<>=!()".contains(c);
    if !is_value || !word.starts_with(char::is_alphabetic) || !word.chars().all(is_text) {
        return None;
    }
    Some(match word.to_lowercase().as_str() {
        "yes" | "true" => Meant::Flag(true),
        "no" | "false" => Meant::Flag(false),
        _ => Meant::Text(word.into()),
    })
}

/// Where the table of a state begins. The parser has joined the two into one, with the span of the second.
fn header_of(state: &str, text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name =
            line.trim_start().strip_prefix("[states.").and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| name.trim_matches(['"', '\'']) == state) {
            let start = at + line.find(name).unwrap_or_default();
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
