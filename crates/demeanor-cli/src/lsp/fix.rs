//! Code actions: what the help of a problem says to write, as an edit of the file.
//!
//! The help is a text for people. So each edit that it may mean is tried on the file. It is offered only if the file then has
//! fewer problems, or if only the next problem behind a syntax error appears.

use std::collections::HashMap;
use std::ops::Range;

use demeanor::definition::{ExitOutline, Key, Outline, Problem, Survey};
use lsp_types::{CodeAction, CodeActionKind, TextEdit, Url, WorkspaceEdit};

use super::workspace::{Workspace, path_of};

/// The longest file for which edits are tried, in bytes. For a longer one, the editor would have to wait.
const LONGEST: usize = 300_000;

/// The largest number of edits that are tried for one request.
const MOST_TRIED: usize = 64;

/// Returns the code actions for a range of a document, in bytes.
pub(super) fn fixes(workspace: &mut Workspace, uri: &Url, range: &Range<usize>) -> Option<Vec<CodeAction>> {
    let survey = workspace.survey(uri)?;
    let path = path_of(uri);
    let words = workspace.words(path.as_deref());
    let source = workspace.document(uri)?.source.clone();
    let text = &source.text;
    let (errors, warnings) = (survey.problems().errors(), survey.problems().warnings());
    let mut fixes: Vec<CodeAction> = Vec::new();
    let mut left = MOST_TRIED;
    let is_here = |problem: &&Problem| {
        let at = problem.span();
        problem.file() == survey.problems().file() && at.start <= range.end && range.start <= at.end
    };
    for problem in survey.problems().iter().filter(is_here).filter(|_| text.len() <= LONGEST) {
        for meant in meant(&problem.advice().unwrap_or_default()) {
            let fix = edits(&survey, text, &problem.span(), &meant).into_iter().find(|(at, new)| {
                left = left.saturating_sub(1);
                let Some((before, behind)) = text.get(..at.start).zip(text.get(at.end..)).filter(|_| left > 0) else {
                    return false;
                };
                let after = format!("{before}{new}{behind}");
                let after = workspace.read(uri, path.as_deref(), &after, words.as_deref(), &HashMap::new());
                let problems = after.problems();
                let are_fewer = problems.errors() + problems.warnings() < errors + warnings;
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
            let Some((at, new)) = fix else { continue };
            let title = format!("write `{meant}`");
            if fixes.iter().all(|other| other.title != title) {
                let edit = TextEdit::new(source.range(&at), new);
                fixes.push(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    edit: Some(WorkspaceEdit::new(HashMap::from([(uri.clone(), vec![edit])]))),
                    is_preferred: Some(true),
                    ..CodeAction::default()
                });
            }
        }
    }
    Some(fixes)
}

/// Returns the texts in backticks of a help that says what to write.
fn meant(advice: &str) -> Vec<String> {
    if !advice.contains("write ") && !advice.contains("did you mean") {
        return Vec::new();
    }
    let parts = advice.split('`').skip(1).step_by(2);
    parts.filter(|part| !part.contains("\"..\"") && !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the edits that a help may mean: the range of each, and the new text.
fn edits(survey: &Survey, text: &str, at: &Range<usize>, meant: &str) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    let written = text.get(at.clone()).unwrap_or_default();
    if written.len() > 1 && written.starts_with(['"', '\'']) && !meant.starts_with(['"', '\'', '{', '[']) {
        edits.push((at.start + 1..at.end - 1, meant.to_owned()));
    }
    let line = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at.start..].find('\n').map_or(text.len(), |length| at.start + length);
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
    let section = survey.keys().iter().map(Key::section).filter(|section| section.contains(&at.start));
    for section in section.take(1) {
        let end = text[section.start..].find('\n').map_or(text.len(), |length| section.start + length);
        edits.push((end..end, format!("\n{meant}")));
    }
    edits.push((0..0, format!("{meant}\n")));
    edits
}
