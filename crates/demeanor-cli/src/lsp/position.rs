//! Positions: an editor counts lines, and UTF-16 units or bytes in a line; the rest of the server counts the bytes of the text.

use std::ops::Range;
use std::sync::Arc;

use lsp_types::{Position, PositionEncodingKind, TextDocumentContentChangeEvent};

/// The largest distance between known places, in bytes.
const STRIDE: usize = 4096;

/// The unit in which the columns of a line are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

/// A text, with its lines.
pub(super) struct Text {
    pub(super) text: Arc<str>,
    lines: Lines,
}

/// The beginnings of lines, and places in long lines, so that each position is near a known place.
struct Lines {
    encoding: Encoding,
    /// In the order of the text. The first is the beginning of the text.
    known: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    byte: usize,
    line: u32,
    column: u32,
}

impl Encoding {
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, c: char) -> u32 {
        // The length is at most 4.
        u32::try_from(match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
        })
        .unwrap_or(1)
    }
}

impl Text {
    pub(super) fn new(text: Arc<str>, encoding: Encoding) -> Self {
        let lines = Lines::new(&text, encoding);
        Self { text, lines }
    }

    pub(super) fn byte(&self, position: Position) -> usize {
        self.lines.byte(&self.text, position)
    }

    pub(super) fn range(&self, bytes: &Range<usize>) -> lsp_types::Range {
        let position = |byte| self.lines.position(&self.text, byte);
        lsp_types::Range::new(position(bytes.start), position(bytes.end))
    }
}

/// Applies changes to a text, in their order. The lines before a change are not counted again for the next change.
pub(super) fn change(text: &mut String, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) {
    let mut lines = Lines::unread(encoding);
    for TextDocumentContentChangeEvent { range, text: new, .. } in changes {
        let Some(range) = range else {
            *text = new;
            lines = Lines::unread(encoding);
            continue;
        };
        lines.read(text, range.end.max(range.start).line);
        let start = lines.byte(text, range.start);
        text.replace_range(start..lines.byte(text, range.end).max(start), &new);
        // Only the places before the change stay known.
        let before = lines.known.partition_point(|known| known.byte < start);
        lines.known.truncate(before.max(1));
    }
}

impl Lines {
    fn new(text: &str, encoding: Encoding) -> Self {
        let mut lines = Self::unread(encoding);
        lines.read(text, u32::MAX);
        lines
    }

    fn unread(encoding: Encoding) -> Self {
        Self { encoding, known: vec![Known { byte: 0, line: 0, column: 0 }] }
    }

    /// Adds the places behind the last known place, up to the end of a line.
    fn read(&mut self, text: &str, line: u32) {
        let Self { encoding, known } = self;
        let Some(mut at) = known.last().copied() else { return };
        let mut last = at.byte;
        let mut chars = text.get(last..).unwrap_or_default().chars().peekable();
        while at.line <= line {
            let Some(c) = chars.next() else { return };
            at.byte += c.len_utf8();
            if ends_line(c, chars.peek().copied()) {
                at.line = at.line.saturating_add(1);
                at.column = 0;
            } else {
                at.column = at.column.saturating_add(encoding.width(c));
                if at.byte - last < STRIDE {
                    continue;
                }
            }
            last = at.byte;
            known.push(at);
        }
    }

    /// Returns the byte of a position. A position after the end of its line is the end of the line; a position after the text
    /// is the end of the text.
    fn byte(&self, text: &str, position: Position) -> usize {
        let is_before = |known: &Known| (known.line, known.column) <= (position.line, position.character);
        let Some(known) = self.known[..self.known.partition_point(is_before)].last() else { return 0 };
        if known.line < position.line {
            // The beginnings of all lines are known, so this line does not exist.
            let is_last = self.known.last().is_some_and(|last| last.line < position.line);
            if is_last {
                return text.len();
            }
        }
        let mut column = known.column;
        let mut byte = known.byte;
        for c in text.get(known.byte..).unwrap_or_default().chars() {
            let next = column.saturating_add(self.encoding.width(c));
            if matches!(c, '\n' | '\r') || next > position.character {
                break;
            }
            column = next;
            byte += c.len_utf8();
        }
        byte
    }

    /// Returns the position of a byte.
    fn position(&self, text: &str, byte: usize) -> Position {
        let byte = byte.min(text.len());
        let at = self.known.partition_point(|known| known.byte <= byte);
        let known = self.known[at.saturating_sub(1)];
        let mut column = known.column;
        for (i, c) in text.get(known.byte..).unwrap_or_default().char_indices() {
            // A byte in the middle of a character belongs to the character's first byte.
            if known.byte + i + c.len_utf8() > byte {
                break;
            }
            column = column.saturating_add(self.encoding.width(c));
        }
        Position::new(known.line, column)
    }
}

/// Returns whether a character ends a line. In `\r\n`, only the second character does.
fn ends_line(c: char, next: Option<char>) -> bool {
    c == '\n' || c == '\r' && next != Some('\n')
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

    use super::{Encoding, Lines, STRIDE, change};

    #[track_caller]
    fn assert_both(text: &str, encoding: Encoding, byte: usize, line: u32, column: u32) {
        let lines = Lines::new(text, encoding);
        assert_eq!(lines.position(text, byte), Position::new(line, column));
        assert_eq!(lines.byte(text, Position::new(line, column)), byte);
    }

    #[test]
    fn columns_are_counted_in_units_of_the_encoding() {
        let text = "a\n\u{e4}\u{1f600}b";
        assert_both(text, Encoding::Utf16, 8, 1, 3);
        assert_both(text, Encoding::Utf8, 8, 1, 6);
    }

    #[test]
    fn every_kind_of_newline_ends_a_line() {
        let text = "a\r\nb\rc\nd";
        for (byte, line) in [(0, 0), (3, 1), (5, 2), (7, 3)] {
            assert_both(text, Encoding::Utf16, byte, line, 0);
        }
    }

    #[test]
    fn a_position_behind_the_end_is_the_end() {
        let text = "ab\r\ncd";
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.byte(text, Position::new(0, 9)), 2);
        assert_eq!(lines.byte(text, Position::new(1, 9)), 6);
        assert_eq!(lines.byte(text, Position::new(7, 0)), 6);
        assert_eq!(lines.position(text, 99), Position::new(1, 2));
    }

    #[test]
    fn a_position_within_a_character_is_where_it_begins() {
        let text = "\u{1f600}b";
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.byte(text, Position::new(0, 1)), 0);
        assert_eq!(lines.position(text, 2), Position::new(0, 0));
    }

    #[test]
    fn positions_in_a_long_line_are_found() {
        let text = "\u{e4}".repeat(3 * STRIDE);
        for column in [0, 1, 2047, 2048, 2049, 5000, 12287, 12288] {
            assert_both(&text, Encoding::Utf16, 2 * column as usize, 0, column);
        }
    }

    #[test]
    fn each_change_counts_lines_in_the_text_after_the_one_before() {
        let mut text = String::from("a\rb\r\nc\nd");
        let at = |line, from, to| Some(Range::new(Position::new(line, from), Position::new(line, to)));
        let changes = [
            (at(3, 0, 1), "D"),
            // A line break of two characters is one.
            (at(1, 0, 0), "\n"),
            (at(1, 1, 1), "B\u{1f600}\n"),
            (at(4, 0, 1), "E"),
            (at(1, 3, 4), ""),
            (at(3, 0, 1), "C"),
        ];
        let change_of =
            |(range, new): (_, &str)| TextDocumentContentChangeEvent { range, range_length: None, text: new.into() };
        change(&mut text, changes.map(change_of).into(), Encoding::Utf16);
        assert_eq!(text, "a\r\nbB\n\r\nC\nE");
    }

    #[test]
    fn a_text_is_read_only_up_to_the_line_of_a_change() {
        let text = "ab\n".repeat(1000);
        let mut lines = Lines::unread(Encoding::Utf16);
        lines.read(&text, 2);
        assert_eq!((lines.known.len(), lines.byte(&text, Position::new(2, 1))), (4, 7));
        lines.read(&text, 2);
        assert_eq!(lines.known.len(), 4);
    }
}
