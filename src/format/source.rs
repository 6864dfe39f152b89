//! A file's name and text, to which problems refer.

use std::ops::Range;
use std::sync::OnceLock;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::shown::{is_control, shown};

/// The longest line that is drawn, in bytes. Report handlers indent the underline by the width of the text before it, and panic
/// if this width is more than they can format.
const LONGEST_DRAWN: usize = 1_500;

/// The maximum number of lines that are drawn between two parts.
const MOST_BETWEEN: usize = 3;

/// A file's name and text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    /// The text with a newline at its end. Without it, the end of the last line could not be underlined.
    ended: String,
    /// The length of the original text, without an added newline.
    length: usize,
    /// The start of each line, in bytes.
    lines: OnceLock<Vec<usize>>,
    /// The text with its control characters replaced, if it has any.
    plain: OnceLock<Option<String>>,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let ended = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        Self { name: name.into(), ended, length: text.len(), lines: OnceLock::new(), plain: OnceLock::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.ended[..self.length]
    }

    /// Returns the line and the column of a byte. The column is in characters, and both are counted from 1.
    pub(crate) fn position(&self, at: usize) -> (usize, usize) {
        let at = boundary(self.text(), at);
        let line = self.line_of(at);
        (line + 1, self.ended[self.lines()[line]..at].chars().count() + 1)
    }

    /// Whether a report handler can draw the lines around a part of the text.
    pub(crate) fn can_be_drawn(&self, part: &Range<usize>) -> bool {
        let lines = self.around(part, 1, 1);
        self.ended[lines].lines().all(|line| line.len() <= LONGEST_DRAWN)
    }

    /// Returns the range to underline for a part of the text. If the part has many lines, only the first line is underlined.
    pub(crate) fn underlined(&self, part: &Range<usize>) -> Range<usize> {
        const MOST_LINES: usize = 8;
        let first = self.line_of(part.start);
        if self.line_of(part.end) - first < MOST_LINES {
            return part.clone();
        }
        let end = self.lines().get(first + 1).map_or(self.length, |next| next - 1);
        part.start..end.max(part.start)
    }

    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let newlines = self.ended.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).filter(|at| *at < self.ended.len()).collect()
        })
    }

    /// Returns the line of a byte, counted from 0.
    fn line_of(&self, at: usize) -> usize {
        self.lines().partition_point(|begin| *begin <= at).saturating_sub(1)
    }

    /// Returns the range of the lines of a part of the text, with some lines before and after it.
    fn around(&self, part: &Range<usize>, before: usize, behind: usize) -> Range<usize> {
        let (lines, end) = (self.lines(), part.end.saturating_sub(1).max(part.start));
        let start = lines[self.line_of(part.start).saturating_sub(before)];
        // One more line is needed if the part ends at the end of a line.
        let end = lines.get(self.line_of(end) + behind + 2).copied().unwrap_or(self.ended.len());
        start..end
    }

    /// Returns the text in a form that can be shown. Each replacement character has as many bytes as the character it replaces.
    fn plain(&self) -> &str {
        let plain = self.plain.get_or_init(|| {
            let is_shown = |c| !is_control(c) || matches!(c, '\n' | '\t' | '\r');
            let of = |c: char| match c.len_utf8() {
                _ if is_shown(c) => c,
                1 => '?',
                2 => '¿',
                _ => char::REPLACEMENT_CHARACTER,
            };
            // A carriage return without a newline would make the terminal overwrite the line.
            let has_controls = self.ended.contains(|c| !is_shown(c)) || self.ended.contains('\r');
            has_controls.then(|| {
                let mut rest = self.ended.chars().peekable();
                let mut text = String::with_capacity(self.ended.len());
                while let Some(c) = rest.next() {
                    text.push(if c == '\r' && rest.peek() != Some(&'\n') { '?' } else { of(c) });
                }
                text
            })
        });
        plain.as_ref().unwrap_or(&self.ended)
    }
}

/// Returns the start of the character to which a byte belongs. After the end, returns the end.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Reads only the lines that are drawn, not the whole text before them.
impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        behind: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let part = span.offset()..span.offset() + span.len();
        if part.end > self.ended.len() {
            return Err(MietteError::OutOfBounds);
        }
        let lines = self.around(&part, before, behind);
        let within = SourceSpan::new((part.start - lines.start).into(), span.len());
        let text = &self.plain()[lines.clone()];
        let read = text.as_bytes().read_span(&within, before, behind)?;
        let at = SourceSpan::new((lines.start + read.span().offset()).into(), read.span().len());
        let (line, column) = (self.line_of(lines.start) + read.line(), read.column());
        // The read content borrows the text, but the type of the box does not say so. So the slice is taken again.
        let begin = read.span().offset();
        let data = &text.as_bytes()[begin..begin + read.span().len()];
        // Two parts are drawn together if the lines of the first one reach the second one. The count is increased by a few
        // lines, so that parts with only a few lines between them are drawn together.
        let count = read.line_count() + MOST_BETWEEN;
        Ok(Box::new(MietteSpanContents::new_named(shown(&self.name, usize::MAX).into(), data, at, line, column, count)))
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn a_position_is_a_line_and_a_column_in_characters() {
        let source = Source::new("a.toml", "ä = 1\n\nb = 'ü'");
        let positions: Vec<_> = [0, 2, 6, 7, 8, 12, 15, 99].map(|at| source.position(at)).into();
        assert_eq!(positions, [(1, 1), (1, 2), (1, 6), (2, 1), (3, 1), (3, 5), (3, 7), (3, 8)]);
        assert_eq!(Source::new("a.toml", "").position(0), (1, 1));
    }

    #[test]
    fn control_characters_are_shown_as_others_of_the_same_length() {
        let source = Source::new("a.toml", "a\0\u{1b}b\u{85}c\u{202e}d\te\r\nf\rg");
        assert_eq!(source.plain(), "a??b¿c\u{fffd}d\te\r\nf?g\n");
        assert_eq!(source.plain().len(), source.ended.len());
        assert_eq!(Source::new("a.toml", "a\n").plain(), "a\n");
    }
}
