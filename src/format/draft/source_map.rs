//! Maps positions in a decoded string to positions in the file. The distance between the two changes at each escape and at each
//! line continuation.

use std::ops::Range;

/// The places in the file of the parts of a string.
pub(crate) struct SourceMap {
    stretches: Vec<Stretch>,
    /// The start of the text in the file.
    start: usize,
}

/// A part of the text that is written verbatim, or one character that is written as an escape.
struct Stretch {
    text: Range<usize>,
    file: Range<usize>,
}

impl SourceMap {
    /// Creates a map. `text` is the decoded string. `written` is the string in the file, including its quotes. It begins at
    /// `start`.
    pub(crate) fn of(text: &str, written: &str, start: usize) -> Self {
        let mut at = if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
        if at == 3 {
            at += newline(&written[at..]);
        }
        let mut map = Self { stretches: Vec::new(), start: start + at };
        if written.starts_with('\'') || !written.contains('\\') {
            map.add(0..text.len(), start + at..start + at + text.len());
            return map;
        }
        for (i, c) in text.char_indices() {
            let rest = written.get(at..).unwrap_or_default();
            let skipped = continuation(rest);
            let length = if rest[skipped..].starts_with('\\') { escape(&rest[skipped..]) } else { c.len_utf8() };
            at += skipped;
            map.add(i..i + c.len_utf8(), start + at..start + at + length);
            at += length;
        }
        map
    }

    fn add(&mut self, text: Range<usize>, file: Range<usize>) {
        let is_verbatim = |stretch: &Stretch| stretch.text.len() == stretch.file.len();
        let next = Stretch { text, file };
        match self.stretches.last_mut() {
            Some(last) if last.file.end == next.file.start && is_verbatim(last) && is_verbatim(&next) => {
                last.text.end = next.text.end;
                last.file.end = next.file.end;
            }
            _ => self.stretches.push(next),
        }
    }

    /// Returns where a part of the text is written.
    pub(crate) fn span(&self, part: Range<usize>) -> Range<usize> {
        let end = match self.stretches.iter().rev().find(|stretch| stretch.text.start < part.end) {
            Some(last) if last.text.len() == last.file.len() => last.file.start + (part.end - last.text.start),
            Some(last) => last.file.end,
            None => self.start,
        };
        let start = match self.stretches.iter().find(|stretch| stretch.text.end > part.start) {
            Some(first) if first.text.len() == first.file.len() => first.file.start + (part.start - first.text.start),
            Some(first) => first.file.start,
            None => end,
        };
        // The end of an empty part is its start, even after a line continuation.
        if part.is_empty() { start..start } else { start..end }
    }
}

/// Returns the length of a newline at the beginning. 0 if there is none.
fn newline(written: &str) -> usize {
    ["\r\n", "\n"].into_iter().find(|newline| written.starts_with(newline)).map_or(0, str::len)
}

/// Returns the length of the line continuations at the beginning: a backslash at the end of its line, and the whitespace after
/// it. 0 if there is none.
fn continuation(written: &str) -> usize {
    let mut rest = written;
    while let Some(behind) = rest.strip_prefix('\\') {
        if newline(behind.trim_start_matches([' ', '\t'])) == 0 {
            break;
        }
        rest = behind.trim_start();
    }
    written.len() - rest.len()
}

/// Returns the length of the escape at the beginning.
fn escape(written: &str) -> usize {
    match written.as_bytes().get(1) {
        Some(b'x') => 4,
        Some(b'u') => 6,
        Some(b'U') => 10,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::SourceMap;

    /// Checks the place in the file of a word of the text.
    #[track_caller]
    fn assert_found(written: &str, word: &str, expected: &str) {
        let file = format!("when = {written}\n");
        let table: toml::Table = toml::from_str(&file).unwrap();
        let text = table["when"].as_str().unwrap();
        let at = text.find(word).unwrap();
        let span = SourceMap::of(text, written, "when = ".len()).span(at..at + word.len());
        assert_eq!(&file[span], expected, "{written}");
    }

    #[test]
    fn a_word_is_found_in_every_kind_of_string() {
        assert_found(r#""a < b""#, "b", "b");
        assert_found("'a < b'", "b", "b");
        assert_found("'a\\n < b'", "b", "b");
        assert_found("\"\"\"\n  a <\n  b\"\"\"", "b", "b");
        assert_found("\"\"\"\r\n  a <\r\n  bcd\"\"\"", "bcd", "bcd");
        assert_found("'''\n  a <\n  b'''", "b", "b");
        assert_found("\"\"\"a < \"b\" \"\"\"", "b", "b");
    }

    #[test]
    fn a_word_is_found_behind_escapes_and_within_them() {
        assert_found(r#""\u0061 < b""#, "b", "b");
        assert_found(r#""\u0061bc < b""#, "abc", r"\u0061bc");
        assert_found(r#""ab\u0063 < b""#, "abc", r"ab\u0063");
        assert_found(r#""\U00000061 <\t\"b""#, "b", "b");
        assert_found(r#""ä\u00e4 < b""#, "ää", r"ä\u00e4");
        assert_found(r#""\x61\x62 < b""#, "b", r"\x62");
        assert_found("\"\"\"a \\\n    < \\  \r\n  \\\n bcd \\\n  \"\"\"", "bcd", "bcd");
        assert_found("\"\"\"a \\\n    < \\  \r\n  \\\n bcd \\\n  \"\"\"", "a <", "a \\\n    <");
        assert_found("\"\"\"a < bcd\\\n  \"\"\"", "bcd", "bcd");
    }

    #[test]
    fn nothing_is_found_at_the_end() {
        assert_found(r#""""#, "", "");
        assert_eq!(SourceMap::of("a <", "\"\\u0061 <\"", 0).span(3..3), 9..9);
        assert_eq!(SourceMap::of("", "\"\"\"\n\"\"\"", 0).span(0..0), 4..4);
    }
}
