//! Recognizes files in other formats, and files with unresolved merge conflicts.

use std::ops::Range;

use crate::format::problems::{Findings, Mistake, Origin};

/// Returns the mistake for a text in another format.
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

/// Whether the first lines contain at least two keys of YAML, such as `initial: idle`, and no key or header of TOML.
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

/// Reports merge conflicts. Returns the parts to leave out of the text, so that the first version of each complete conflict
/// remains.
pub(super) fn conflicts(text: &str, findings: &mut Findings) -> Vec<Range<usize>> {
    let mut left_out = Vec::new();
    let mut add = |begin: Range<usize>, second_version: Option<Range<usize>>, end: Option<Range<usize>>| {
        left_out.push(begin.clone());
        left_out.extend(second_version);
        if findings.is_full() {
            findings.add_unlisted(1);
            return;
        }
        let end = end.filter(|end| *end != begin);
        Mistake::error("merge", begin, "two versions of this part have not been merged")
            .label("a mark of the version control")
            .second(end, "up to here")
            .help("keep one of them, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`")
            .origin(Origin::Unread)
            .report(findings);
    };
    // The first line of the conflict, and the line at which its other versions begin.
    let mut open: Option<(Range<usize>, Option<Range<usize>>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let whole = at..at + line.trim_end().len();
        let is_mark = |mark: &str| {
            line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
        };
        if is_mark("<<<<<<<") {
            if let Some((begin, second)) = open.replace((whole, None)) {
                add(begin, second, None);
            }
        } else if is_mark("=======") || is_mark("|||||||") {
            let (_, second) = open.get_or_insert((whole.clone(), None));
            second.get_or_insert(whole);
        } else if is_mark(">>>>>>>") {
            let (begin, second) = open.take().unwrap_or((whole.clone(), None));
            let start = second.map_or(whole.start, |second| second.start);
            add(begin, Some(start..whole.end), Some(whole));
        }
        at += line.len();
    }
    if let Some((begin, second)) = open {
        add(begin, second, None);
    }
    left_out
}
