//! Positions in a text for the page: JavaScript counts UTF-16 units, and Rust counts bytes.

use std::ops::Range;

/// A text, with its positions.
pub(super) struct Offsets<'t> {
    text: &'t str,
    /// The ends of the characters that are more than one byte: in bytes, and in UTF-16 units.
    wide: Vec<(usize, usize)>,
}

impl<'t> Offsets<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut units = 0;
        let mut ends = Vec::new();
        for (at, c) in text.char_indices() {
            units += c.len_utf16();
            if !c.is_ascii() {
                ends.push((at + c.len_utf8(), units));
            }
        }
        Self { text, wide: ends }
    }

    /// Returns the position of a byte, in UTF-16 units.
    pub(super) fn unit(&self, byte: usize) -> usize {
        let before = self.wide.partition_point(|(end, _)| *end <= byte);
        match before.checked_sub(1).map(|last| self.wide[last]) {
            Some((end, units)) => units + (byte - end),
            None => byte,
        }
    }

    /// Returns whether a byte is in a table of states, and not in one of properties or of words.
    pub(super) fn is_among_states(&self, byte: usize) -> bool {
        let before = self.text.get(..byte).unwrap_or_default();
        let table = before.lines().rev().find(|line| line.starts_with('['));
        table.is_none_or(|table| ["[states", "[[states", "[machines"].iter().any(|name| table.starts_with(name)))
    }

    pub(super) fn units(&self, bytes: &Range<usize>) -> [usize; 2] {
        [self.unit(bytes.start), self.unit(bytes.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::Offsets;

    #[test]
    fn a_position_counts_utf16_units() {
        let text = "aä€😀b";
        let offsets = Offsets::new(text);
        for (byte, _) in text.char_indices() {
            assert_eq!(offsets.unit(byte), text[..byte].encode_utf16().count(), "{byte}");
        }
        assert_eq!(offsets.unit(text.len()), 6);
    }
}
