//! Cells of a quantity. The constants with which the quantity is compared divide its values into cells. For all values in one
//! cell, a comparison has the same answer.

use std::iter;
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::format::expression::Comparison;
use crate::span::Span;

/// A set of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cells(SmallVec<[u64; 2]>);

/// The cells of one quantity.
#[derive(Clone, Debug)]
pub(super) enum Division {
    /// False and true.
    Flag,
    /// The numbers below the first constant, the first constant itself, the numbers between it and the second constant, and so
    /// on. The last cell contains only NaN.
    Number(Vec<f64>),
    /// The same for a time. A time is never NaN and never negative.
    Time(Vec<f64>),
}

impl Cells {
    #[cfg(test)]
    fn has(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(super) fn is_within(&self, of: &Self) -> bool {
        self.0.iter().zip(&of.0).all(|(word, of)| word & !of == 0)
    }

    pub(super) fn meets(&self, of: &Self) -> bool {
        self.0.iter().zip(&of.0).any(|(word, of)| word & of != 0)
    }

    /// Keeps only the cells that are in `of`, or, if `is_in` is false, only those that are not in `of`.
    pub(super) fn keep(&mut self, of: &Self, is_in: bool) {
        for (word, of) in self.0.iter_mut().zip(&of.0) {
            *word &= if is_in { *of } else { !of };
        }
    }

    pub(super) fn first(&self) -> Option<usize> {
        let (at, word) = self.0.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    pub(super) fn last(&self) -> Option<usize> {
        let (at, word) = self.0.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(at * 64 + 63 - word.leading_zeros() as usize)
    }

    /// Removes all cells below `from` and above `to`. Returns whether there were such cells.
    pub(super) fn bound(&mut self, from: usize, to: usize) -> bool {
        let kept = from..to.saturating_add(1);
        let mut has_changed = false;
        for (at, word) in self.0.iter_mut().enumerate() {
            let within = *word & bits(&kept, at);
            has_changed |= within != *word;
            *word = within;
        }
        has_changed
    }
}

/// Returns the bits of a range of cells in the word at index `at`.
fn bits(range: &Range<usize>, at: usize) -> u64 {
    let below = |end: usize| match end.saturating_sub(64 * at) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    };
    below(range.end) & !below(range.start)
}

impl Division {
    /// Divides the numbers at the constants with which they are compared.
    pub(super) fn number(mut constants: Vec<f64>) -> Self {
        sort(&mut constants);
        Self::Number(constants)
    }

    /// Divides the times, in seconds, at the constants with which they are compared. `None` if two constants are too close to
    /// each other: comparisons of times must be able to tell a time between them from both.
    pub(super) fn time(mut constants: Vec<f64>) -> Option<Self> {
        constants.retain(|constant| *constant >= 0.0);
        sort(&mut constants);
        let before = iter::once(0.0).chain(constants.iter().copied());
        let are_apart = before.zip(&constants).all(|(before, constant)| {
            let between = before + (constant - before) / 2.0;
            *constant <= before || is_after(between, before) && is_after(*constant, between)
        });
        are_apart.then_some(Self::Time(constants))
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Flag => 2,
            Self::Number(constants) => 2 * constants.len() + 2,
            Self::Time(constants) => 2 * constants.len() + 1,
        }
    }

    /// Returns all cells that contain values.
    pub(super) fn all(&self) -> Cells {
        // No time is below 0, so the first cell is empty if the first constant is 0.
        let begins_at_zero = matches!(self, Self::Time(constants) if constants.first() == Some(&0.0));
        self.cells(iter::once(usize::from(begins_at_zero)..self.count()))
    }

    /// Returns the cells in which a comparison with one of the constants holds.
    pub(super) fn holding(&self, op: Comparison, with: f64) -> Cells {
        match self {
            Self::Number(constants) => {
                // The cells have the order of their numbers, except the last one.
                let equal = 2 * constants.partition_point(|constant| *constant < with) + 1;
                let parts = [0..equal, equal..equal + 1, equal + 1..self.count() - 1];
                self.cells(parts.into_iter().filter(|part| op.holds(part.start, equal)))
            }
            Self::Flag => self.cells_if(|cell| op.holds(self.sample(cell), with)),
            Self::Time(_) => self.cells_if(|cell| op.holds_since(Span::of(with, self.sample(cell)), 0.0)),
        }
    }

    /// Returns the cells for which `has` is true.
    fn cells_if(&self, has: impl Fn(usize) -> bool) -> Cells {
        self.cells((0..self.count()).filter(|cell| has(*cell)).map(|cell| cell..cell + 1))
    }

    /// Returns the cells of these ranges.
    fn cells(&self, ranges: impl IntoIterator<Item = Range<usize>>) -> Cells {
        let mut cells = Cells(smallvec![0; self.count().div_ceil(64)]);
        for range in ranges {
            let words = range.start / 64..range.end.div_ceil(64);
            for (word, at) in cells.0[words.clone()].iter_mut().zip(words) {
                *word |= bits(&range, at);
            }
        }
        cells
    }

    /// Returns a value in a cell, if possible one with few digits.
    pub(super) fn sample(&self, cell: usize) -> f64 {
        let (constants, least) = match self {
            Self::Flag => return if cell == 1 { 1.0 } else { 0.0 },
            Self::Number(_) if cell + 1 == self.count() => return f64::NAN,
            Self::Number(constants) => (constants, None),
            Self::Time(constants) => (constants, Some(0.0)),
        };
        if cell % 2 == 1 {
            return constants[cell / 2];
        }
        let below = (cell / 2).checked_sub(1).map(|at| constants[at]).or(least);
        match (below, constants.get(cell / 2)) {
            (None, None) => 0.0,
            (None, Some(above)) if *above > 0.0 => 0.0,
            (None, Some(above)) => beyond(*above, -1.0),
            (Some(below), None) => beyond(below, 1.0),
            (Some(below), Some(above)) => between(below, *above),
        }
    }
}

/// Whether a time is longer than a span. Both are in seconds.
fn is_after(time: f64, span: f64) -> bool {
    Comparison::Greater.holds_since(Span::of(span, time), 0.0)
}

fn sort(constants: &mut Vec<f64>) {
    for constant in constants.iter_mut() {
        // Turns -0 into 0.
        *constant += 0.0;
    }
    constants.sort_by(f64::total_cmp);
    constants.dedup();
}

/// Returns a number above `number` if `step` is 1, or below it if `step` is -1. Adding 1 to a very large number does not
/// change it. Then the distance grows with the number.
fn beyond(number: f64, step: f64) -> f64 {
    let next = (number + step).round();
    if (next - number).abs() > 0.5 { next } else { number + step * number.abs().max(1.0) }
}

fn between(below: f64, above: f64) -> f64 {
    let middle = below + (above - below) / 2.0;
    let digits = [1.0, 10.0, 100.0, 1000.0].into_iter();
    let mut short = digits.map(|unit| (middle * unit).round() / unit);
    short.find(|short| below < *short && *short < above).unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::Division;
    use crate::format::expression::Comparison;

    #[test]
    fn constants_divide_numbers_into_cells_with_short_samples() {
        let division = Division::number(vec![20.0, 0.5, 20.0, 3.0]);
        let samples: Vec<_> = (0..division.count()).map(|cell| division.sample(cell)).collect();
        assert_eq!(samples[..7], [0.0, 0.5, 2.0, 3.0, 12.0, 20.0, 21.0]);
        assert!(samples[7].is_nan());
        let holding = division.holding(Comparison::NotEqual, 3.0);
        let holding: Vec<_> = (0..division.count()).filter(|cell| holding.has(*cell)).collect();
        assert_eq!(holding, [0, 1, 2, 4, 5, 6]);
    }

    #[test]
    fn a_comparison_holds_in_the_cells_whose_numbers_satisfy_it() {
        let division = Division::number((0..100).map(f64::from).collect());
        for (op, with) in Comparison::ALL.into_iter().flat_map(|op| [0.0, 31.0, 32.0, 99.0].map(|with| (op, with))) {
            let holding = division.holding(op, with);
            for cell in 0..division.count() {
                let sample = division.sample(cell);
                assert_eq!(holding.has(cell), op.holds(sample, with) && !sample.is_nan(), "{sample} {op:?} {with}");
            }
        }
    }

    #[test]
    fn cells_below_and_above_a_bound_are_removed() {
        let mut cells = Division::number((0..100).map(f64::from).collect()).all();
        assert!(!cells.bound(0, usize::MAX));
        assert!(cells.bound(63, 128));
        let left: Vec<_> = (0..202).filter(|cell| cells.has(*cell)).collect();
        assert_eq!(left, (63..=128).collect::<Vec<_>>());
    }

    #[test]
    fn times_begin_at_zero_and_are_numbers() {
        let division = Division::time(vec![2.0, 0.0, -1.0]).unwrap();
        let all = division.all();
        let cells: Vec<_> = (0..division.count()).filter(|cell| all.has(*cell)).collect();
        assert_eq!(cells, [1, 2, 3, 4]);
        assert_eq!(
            [1, 2, 3, 4].map(|cell| division.sample(cell).to_bits()),
            [0.0, 1.0, 2.0, 3.0_f64].map(f64::to_bits)
        );
        assert!(Division::time(vec![2.0, 2.000_001]).is_none());
    }
}
