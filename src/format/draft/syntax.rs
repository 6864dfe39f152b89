//! Handles text that is not TOML. Each broken statement is reported and removed, so that the rest can be read.

use std::ops::Range;
use std::sync::OnceLock;

use super::document::{Document, RepeatedKey};
use super::foreign::{conflicts, other_format};
use super::slips::{in_words, slip};
use super::statements::{Statements, begins_statement, blank, without};
use super::tree::Table;
use crate::format::problems::{Findings, Mistake, Origin};
use crate::format::source::boundary;

/// Parses a text as far as it can be read. If parts of it cannot be read, the text without these parts is kept in `rest`.
pub(super) fn parse<'i>(text: &'i str, rest: &'i OnceLock<String>, findings: &mut Findings) -> Table<'i> {
    let whole = Document::read(text, false);
    if whole.error.is_none() {
        return finished(whole, text, findings);
    }
    drop(whole);
    if let Some(mistake) = other_format(text) {
        findings.add(mistake);
        return Table::default();
    }
    let left_out = conflicts(text, findings);
    let mut unmerged = without(text, &left_out);
    let unread = broken(&unmerged, findings);
    let is_all_read = left_out.is_empty() && unread.is_empty();
    blank(&mut unmerged, &unread);
    let rest = rest.get_or_init(|| unmerged);
    let document = Document::read(rest, true);
    if let Some((why, at)) = document.error.clone().filter(|_| is_all_read) {
        // Each statement is valid on its own, but one contradicts an earlier one, as `a.b = 2` does after `a = 1`.
        let at = boundary(rest, at.start)..boundary(rest, at.end);
        findings.add(in_words(rest, &why, at));
    }
    finished(document, rest, findings)
}

/// Returns the tree of a text, and reports the repeated keys.
fn finished<'i>(document: Document<'i>, text: &str, findings: &mut Findings) -> Table<'i> {
    duplicates(findings, text, document.repeated);
    if !findings.has_unread() {
        findings.add_unlisted(document.more_repeated);
    }
    document.table
}

/// Reports each statement that cannot be read on its own. Returns the parts that cannot be read.
fn broken(text: &str, findings: &mut Findings) -> Vec<Range<usize>> {
    let mut unread = Vec::new();
    let mut statements = Statements::of(text).peekable();
    while let Some(statement) = statements.next() {
        if !statement.is_broken() {
            continue;
        }
        let Range { start, mut end } = statement.span;
        if findings.is_full() {
            // No more mistakes are listed, so the rest of the text is not searched for any.
            unread.push(start..text.len());
            break;
        }
        // The next lines may belong to the broken statement, unless they begin with a header or a key of the format.
        while let Some(next) = statements.next_if(|next| !begins_statement(&text[next.span.start..])) {
            end = next.span.end;
        }
        if statement.error.is_none() {
            let line = start..start + text[start..].lines().next().map_or(0, |line| line.trim_end().len());
            Mistake::error("too-long", line, "the value is too long")
                .label("is longer than what can be read")
                .help("divide the state into several ones, with fewer exits, behaviors or parameters each")
                .origin(Origin::Unread)
                .report(findings);
            unread.push(start..end);
            continue;
        }
        // A line that is a comment of another language is removed, and the rest is parsed again. Any other slip makes the whole
        // statement unreadable.
        let mut rest = text[start..end].to_owned();
        for _ in 0..MOST_SLIPS {
            let Some((why, at)) = Statements::of(&rest).find_map(|statement| statement.error) else { break };
            let slip = slip(&rest, &why, at);
            findings.add(slip.mistake.moved(|part| start + part.start..start + part.end));
            unread.push(start + slip.unread.start..start + slip.unread.end);
            if slip.unread.len() == rest.len() || rest.len() > LONGEST_MENDED {
                break;
            }
            blank(&mut rest, &[slip.unread]);
        }
        if statement.header.is_some() && unread.last() == Some(&(start..end)) {
            // The lines under an unreadable header belong to no other table.
            while let Some(under) = statements.next_if(|under| under.header.is_none()) {
                unread.push(under.span);
            }
        }
    }
    unread
}

/// The maximum number of lines of a statement that are removed one after another.
const MOST_SLIPS: usize = 20;

/// The maximum length in bytes of a statement that is parsed again after a line was removed.
const LONGEST_MENDED: usize = 100_000;

/// Reports repeated states and keys.
fn duplicates(findings: &mut Findings, text: &str, repeated: Vec<RepeatedKey>) {
    let mut last_state = 0;
    for RepeatedKey { key: at, first, is_state } in repeated {
        let key = text.get(at.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        let mistake = if is_state {
            last_state = at.start;
            Mistake::error("duplicate-state", at, format!("state `{key}` is defined twice"))
                .label("defined again here")
                .second(first, "first defined here")
                .help("put both into one table, or rename one")
        } else if first.as_ref().is_some_and(|first| first.start < last_state) {
            // The key is in the second of two tables of one state. The two tables have been merged, and the second one has been
            // reported.
            continue;
        } else {
            Mistake::error("duplicate-key", at, format!("key `{key}` is given twice"))
                .label("given again here")
                .second(first, "first given here")
        };
        findings.add(mistake.origin(Origin::MayFollow));
    }
}
