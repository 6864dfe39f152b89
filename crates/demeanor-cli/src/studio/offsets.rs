//! Positions in a text for the page: JavaScript counts UTF-16 units, and Rust counts bytes.

use std::ops::Range;

/// The characters of a text that are more than one byte, each with its end: in bytes, and in UTF-16 units.
pub(super) struct Offsets(Vec<(usize, usize)>);

impl Offsets {
    pub(super) fn new(text: &str) -> Self {
        let mut units = 0;
        let mut ends = Vec::new();
        for (at, c) in text.char_indices() {
            units += c.len_utf16();
            if !c.is_ascii() {
                ends.push((at + c.len_utf8(), units));
            }
        }
        Self(ends)
    }

    /// Returns the position of a byte, in UTF-16 units.
    pub(super) fn unit(&self, byte: usize) -> usize {
        let before = self.0.partition_point(|(end, _)| *end <= byte);
        match before.checked_sub(1).map(|last| self.0[last]) {
            Some((end, units)) => units + (byte - end),
            None => byte,
        }
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
