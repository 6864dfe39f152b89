//! Code actions: what the help of a problem says to write, as an edit of the file.
//!
//! The help is a text for people. So each edit that it may mean is tried on the file. It is offered only if the file then has
//! fewer problems, or if only the next problem behind a syntax error appears.

use std::collections::HashMap;
use std::ops::Range;

use demeanor::definition::{ExitOutline, Key, Outline, Problem, Survey};
use lsp_types::{CodeAction, CodeActionKind, TextEdit, WorkspaceEdit};

use super::documents::{Documents, by_uri};
use crate::workspace::File;

/// The longest file for which edits are tried, in bytes. For a longer one, the editor would have to wait.
const LONGEST: usize = 300_000;

/// The largest number of edits that are tried for one request.
const MOST_TRIED: usize = 64;

/// Returns the code actions for a range of a document, in bytes.
pub(super) fn fixes(documents: &mut Documents, file: &File, range: &Range<usize>) -> Option<Vec<CodeAction>> {
    let workspace = &mut documents.workspace;
    let survey = workspace.survey(file)?;
    let words = workspace.words(file);
    let source = documents.source(file)?;
    let text = &source.text;
    let (errors, warnings) = (survey.problems().errors(), survey.problems().warnings());
    let mut fixes: Vec<CodeAction> = Vec::new();
    let mut left = MOST_TRIED;
    let is_here = |problem: &&Problem| {
        let at = problem.span();
        problem.file() == survey.problems().file() && at.start <= range.end && range.start <= at.end
    };
    for problem in survey.problems().iter().filter(is_here).filter(|_| text.len() <= LONGEST) {
        let advice = problem.advice().unwrap_or_default();
        for meant in meant(&advice) {
            let fix = fixes_of(&survey, text, problem, &advice, &meant).into_iter().find(|edits| {
                left = left.saturating_sub(1);
                let Some(after) = edited(text, edits).filter(|_| left > 0) else { return false };
                let after = documents.workspace.read(file, &after, words.as_deref(), &HashMap::new());
                let problems = after.problems();
                // As long as a file has errors, some warnings are not looked for.
                let are_fewer = problems.errors() < errors || problems.warnings() < warnings;
                let (at, new) = &edits[0];
                let is_gone = || {
                    let is_left = |other: &Problem| {
                        let other_at = other.span();
                        let is_in_edit = other_at.start < at.start + new.len() && at.start <= other_at.end;
                        is_in_edit && !other.is_warning() || other.located() == problem.located()
                    };
                    !problems.iter().any(is_left)
                };
                let is_syntax = matches!(problem.code_name(), "syntax" | "condition");
                problems.errors() <= errors && (are_fewer || is_syntax && is_gone())
            });
            let Some(edits) = fix else { continue };
            let title = format!("write `{meant}`");
            if fixes.iter().all(|other| other.title != title) {
                let edits = edits.into_iter().map(|(at, new)| TextEdit::new(source.range(&at), new)).collect();
                fixes.push(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    edit: Some(WorkspaceEdit::new(by_uri(documents, [(file.clone(), edits)]))),
                    is_preferred: Some(true),
                    ..CodeAction::default()
                });
            }
        }
    }
    Some(fixes)
}

/// A text that replaces a range.
type Edit = (Range<usize>, String);

/// Returns a text with some edits, the last one in the text first. `None` if they do not fit.
fn edited(text: &str, edits: &[Edit]) -> Option<String> {
    let mut after = text.to_owned();
    for (at, new) in edits {
        let (before, behind) = after.get(..at.start).zip(after.get(at.end..))?;
        after = format!("{before}{new}{behind}");
    }
    Some(after)
}

/// Returns the texts in backticks of a help that says what to write.
fn meant(advice: &str) -> Vec<String> {
    if !advice.contains("write ") && !advice.contains("did you mean") {
        return Vec::new();
    }
    let parts = advice.split('`').skip(1).step_by(2);
    parts.filter(|part| !part.contains("\"..\"") && !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the edits of each fix that a help may mean, the last edit in the text first.
fn fixes_of(survey: &Survey, text: &str, problem: &Problem, advice: &str, meant: &str) -> Vec<Vec<Edit>> {
    let at = problem.span();
    let mut fixes: Vec<_> = edits(survey, text, &at, meant).into_iter().map(|edit| vec![edit]).collect();
    // A word of the written text that the problem names.
    let message = problem.to_string();
    let written = text.get(at.clone()).unwrap_or_default();
    for wrong in message.split('`').skip(1).step_by(2).filter(|wrong| written.matches(*wrong).count() == 1) {
        let start = at.start + written.find(wrong).unwrap_or(0);
        fixes.push(vec![(start..start + wrong.len(), meant.to_owned())]);
    }
    // A key in another state.
    let of_state = advice.split_once(&format!("`{meant}` in `")).and_then(|(_, behind)| behind.split('`').next());
    for key in survey.keys().iter().filter(|key| key.state().is_some() && key.state() == of_state) {
        fixes.push(vec![behind_line(text, key.section().start, meant)]);
    }
    // A line that is moved to the top, or under another header.
    let line = line_of(text, at.start);
    let moved = text.get(line.clone()).unwrap_or_default().trim().to_owned();
    let removed = (line.start..(line.end + 1).min(text.len()), String::new());
    if moved.starts_with(meant) && advice.contains("at the top") {
        fixes.push(vec![removed.clone(), (0..0, format!("{moved}\n"))]);
    }
    if meant.starts_with('[') && advice.contains("under the header") {
        let header = text.find(meant).filter(|header| *header < line.start);
        let added =
            header.map_or_else(|| (0..0, format!("{meant}\n{moved}\n\n")), |header| behind_line(text, header, &moved));
        fixes.push(vec![removed, added]);
    }
    fixes
}

/// Returns the edit that adds a line behind the one at a byte.
fn behind_line(text: &str, byte: usize, line: &str) -> Edit {
    let end = line_of(text, byte).end;
    (end..end, format!("\n{line}"))
}

/// Returns the range of the line at a byte.
fn line_of(text: &str, byte: usize) -> Range<usize> {
    let start = text[..byte].rfind('\n').map_or(0, |end| end + 1);
    start..text[byte..].find('\n').map_or(text.len(), |length| byte + length)
}

/// Returns the edits that a help may mean: the range of each, and the new text.
fn edits(survey: &Survey, text: &str, at: &Range<usize>, meant: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let written = text.get(at.clone()).unwrap_or_default();
    // A word between two conditions.
    if matches!(meant, "and" | "or") {
        if written.starts_with(char::is_alphabetic) && !written.eq_ignore_ascii_case(meant) {
            edits.push((at.start..at.start, format!("{meant} ")));
            return edits;
        }
        let is_close = |c: char| !c.is_whitespace();
        let before = if text[..at.start].ends_with(is_close) { " " } else { "" };
        let behind = if text[at.end..].starts_with(is_close) { " " } else { "" };
        edits.push((at.clone(), format!("{before}{meant}{behind}")));
    }
    if written.len() > 1 && written.starts_with(['"', '\'']) && !meant.starts_with(['"', '\'', '{', '[']) {
        edits.push((at.start + 1..at.end - 1, meant.to_owned()));
    }
    let Range { start: line, end } = line_of(text, at.start);
    let whole = text.get(line..end).unwrap_or_default();
    // A header.
    if meant.starts_with('[') && !whole.contains('=') {
        edits.push((line..end, meant.to_owned()));
    }
    edits.push((at.clone(), meant.to_owned()));
    // A sign that is missing.
    if meant.chars().count() <= 2 {
        edits.extend([at.end..at.end, at.start..at.start].map(|at| (at, meant.to_owned())));
    }
    // The sign between a key and its value.
    if meant.ends_with(" = ..") {
        let key_end = text[..at.start].trim_end().len();
        let value = at.start + text[at.start..].find(|c: char| c != ':' && c != ' ').unwrap_or(0);
        edits.push((key_end..value, " = ".into()));
    }
    // An operator of several signs, or a number with its unit.
    let is_sign = |c: char| "<>=!&|^*".contains(c);
    let before = text[..at.start].trim_end_matches(is_sign);
    let behind = text[at.start..].find(|c| !is_sign(c)).unwrap_or(0);
    edits.push((before.len()..(at.start + behind).max(at.end), meant.to_owned()));
    let number = text[..at.start].trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    edits.push((number.len()..at.end, meant.to_owned()));
    // A list around a table.
    if meant == "[" {
        edits.push((at.clone(), format!("[{written}]")));
    }
    // A text instead of a table around the place.
    let around = text[line..at.start].rfind('{').zip(text.get(at.end..end).and_then(|behind| behind.find('}')));
    if let Some((open, close)) = around.filter(|_| meant.starts_with('"')) {
        edits.push((line + open..at.end + close + 1, meant.to_owned()));
    }
    let is_key = |c: char| c.is_alphanumeric() || c == '_';
    if !meant.split_once(" = ").is_some_and(|(key, _)| !key.is_empty() && key.chars().all(is_key)) {
        return edits;
    }
    // A key with its value: in the exit, or else in the state.
    let states = survey.outlines().iter().flat_map(Outline::states);
    let spans = states.flat_map(|state| state.exits()).map(ExitOutline::span);
    for exit in spans.filter(|exit| exit.start <= at.start && at.end <= exit.end) {
        let inner = text.get(exit.clone()).unwrap_or_default();
        if let Some(inner) = inner.strip_suffix('}') {
            let end = exit.start + inner.trim_end().len();
            edits.push((end..end, format!(", {meant}")));
        }
    }
    let section = survey.keys().iter().map(Key::section).find(|section| section.contains(&at.start));
    edits.extend(section.map(|section| behind_line(text, section.start, meant)));
    edits.push((0..0, format!("{meant}\n")));
    edits
}
