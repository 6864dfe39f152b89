//! Files that are something else altogether, and those that a version control system has left halfway.

use std::ops::Range;

use super::super::mistake::{Mistake, Origin};

/// What is said of a text of another format.
pub(super) fn other_format(text: &str) -> Option<Mistake> {
    let first = text.find(|c: char| !c.is_whitespace() && c != '\u{feff}')?;
    let line = text[first..].lines().next()?.trim_end();
    let format = if line.starts_with('{') || line.starts_with("[{") || line == "[" {
        "JSON"
    } else if line.starts_with("<?xml") || line.starts_with("<!") || line.starts_with('<') && line.ends_with('>') {
        "XML"
    } else if line.starts_with('(') || line.starts_with("#![") {
        "RON"
    } else if is_yaml(text) {
        "YAML"
    } else {
        return None;
    };
    let at = first..first + line.len();
    Some(
        Mistake::error("syntax", at, format!("this is {format}: a definition is written in TOML"))
            .label("the first line")
            .help("begin with `initial = \"idle\"`, and write a state as `[states.idle]`")
            .origin(Origin::Unread),
    )
}

/// Whether the lines are keys of YAML, `initial: idle`, and none is a key of TOML.
fn is_yaml(text: &str) -> bool {
    let mut keys = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(20) {
        let line = line.trim_start_matches("- ");
        let key = line.find(|c: char| !(c.is_alphanumeric() || "_-\"'".contains(c))).unwrap_or(line.len());
        match line[key..].trim_start().chars().next() {
            Some('=') => return false,
            _ if line.starts_with('[') => return false,
            Some(':') if key > 0 => keys += 1,
            _ => {}
        }
    }
    keys > 1
}

/// Two versions of some lines, which a merge has left.
pub(super) struct Conflict {
    begin: Range<usize>,
    end: Range<usize>,
    /// What is left out for one version to remain.
    pub(super) left_out: Vec<Range<usize>>,
}

impl Conflict {
    pub(super) fn mistake(&self) -> Mistake {
        let second = (self.begin != self.end).then(|| self.end.clone());
        Mistake::error("merge", self.begin.clone(), "two versions of this part have not been merged")
            .label("a mark of the version control")
            .second(second, "up to here")
            .help("keep one of them, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`")
            .origin(Origin::Unread)
    }
}

/// Finds the marks of a merge.
pub(super) fn conflicts(text: &str) -> Vec<Conflict> {
    let mut found = Vec::new();
    // Where the conflict begins, and where its second version does.
    let mut open: Option<(Range<usize>, Option<usize>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let whole = at..at + line.trim_end().len();
        let is_mark = |mark: &str| {
            line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
        };
        if is_mark("<<<<<<<") {
            if let Some((begin, second)) = open.replace((whole.clone(), None)) {
                // It has no end.
                note(&mut found, without_end(text, begin, second));
            }
        } else if is_mark("=======") || is_mark("|||||||") {
            let (_, second) = open.get_or_insert((whole.clone(), None));
            second.get_or_insert(at);
        } else if is_mark(">>>>>>>") {
            let (begin, second) = open.take().unwrap_or((whole.clone(), None));
            let left_out = vec![begin.clone(), second.unwrap_or(whole.start)..whole.end];
            note(&mut found, Conflict { begin, end: whole.clone(), left_out });
        }
        at += line.len();
    }
    if let Some((begin, second)) = open {
        note(&mut found, without_end(text, begin, second));
    }
    found
}

/// Keeps a conflict; of very many, only what is left out.
fn note(found: &mut Vec<Conflict>, conflict: Conflict) {
    const MOST: usize = 300;
    let is_full = found.len() == MOST;
    match found.last_mut() {
        Some(last) if is_full => last.left_out.extend(conflict.left_out),
        _ => found.push(conflict),
    }
}

fn without_end(text: &str, begin: Range<usize>, second: Option<usize>) -> Conflict {
    let left_out = vec![begin.clone(), second.map_or(begin.clone(), |second| line_at(text, second))];
    Conflict { end: begin.clone(), begin, left_out }
}

fn line_at(text: &str, start: usize) -> Range<usize> {
    start..text[start..].find('\n').map_or(text.len(), |end| start + end)
}
