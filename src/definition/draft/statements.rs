//! The statements of a file that TOML's parser cannot read: headers, and keys with their values.
//!
//! The parser does not know where a broken statement ends, and so takes what follows for a part of it. A definition has few
//! words, though, and a line that begins with one of them begins a statement. Each is read by itself to find the broken ones.

use std::mem;
use std::ops::Range;

use super::format::{FILE_KEYS, MACHINE_KEYS, STATE_KEYS};

/// Where each statement stands, with the lines up to the next one.
pub(super) fn statements(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0 && begins_statement(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts[1..].iter().copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Whether a line is a header, or begins with a key of a file, a machine or a state.
fn begins_statement(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(header) = line.strip_prefix('[') {
        let header = header.trim_start_matches(['[', ' ', '"', '\'']);
        return ["state", "machine"].iter().any(|table| header.starts_with(table));
    }
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    // A dotted key: `states.idle.final = true`.
    let is_dotted = rest.starts_with('.') && matches!(key, "states" | "machines");
    let is_given = rest.trim_start().starts_with('=') && !rest.trim_start().starts_with("==");
    let is_key = || [FILE_KEYS, MACHINE_KEYS, STATE_KEYS].into_iter().flatten().any(|known| *known == key);
    is_dotted || is_given && is_key()
}

/// A text with parts of it taken out: nothing else moves.
pub(super) fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut text = text.to_owned();
    blank(&mut text, parts);
    text
}

/// Takes parts out of a text: nothing else moves.
pub(super) fn blank(text: &mut String, parts: &[Range<usize>]) {
    let mut bytes = mem::take(text).into_bytes();
    for part in parts {
        for byte in &mut bytes[part.clone()] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    *text = String::from_utf8(bytes).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::{statements, without};

    #[test]
    fn a_statement_goes_on_to_the_next_one() {
        let text = "# ä\ninitial = 'a\n[states.a]\nexits = [\n  { to = 'b' },\n\n [states.b\nstates.c.final = true\n";
        let parts: Vec<_> = statements(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(
            parts,
            [
                "# ä\n",
                "initial = 'a\n",
                "[states.a]\n",
                "exits = [\n  { to = 'b' },\n\n",
                " [states.b\n",
                "states.c.final = true\n"
            ]
        );
        assert_eq!(without("a = ü\nb = 2\n", &[0..3, 4..8]), "      \n  = 2\n");
    }
}
