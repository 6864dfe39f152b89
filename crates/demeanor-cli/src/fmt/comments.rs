//! The comments around a key or a value.

use toml_edit::RawString;

/// Returns the comments in a text of white space and comments, a line each, with at most one empty line between them.
pub(super) fn comments(decor: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in decor.lines().map(str::trim) {
        if line.starts_with('#') {
            lines.push(line.to_owned());
        } else if lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(String::new());
        }
    }
    // An empty line behind the comments stays.
    if lines.last().is_some_and(String::is_empty) && !decor.trim_end_matches([' ', '\t']).ends_with("\n\n") {
        lines.pop();
    }
    lines
}

pub(super) fn raw(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}
