//! How long owners stayed in a state.

use std::ops::Range;

/// The number of ranges of lengths. The first range ends at 1/1024 of a second. Each later range ends at twice the length at
/// which it begins, but the last one has no end.
const LENGTHS: usize = 32;

/// The power of two, in seconds, at which the second range begins.
const SHORTEST: i32 = -10;

/// The largest exponent in the first range, as a float stores it.
const BEFORE_SECOND: usize = (1023 + SHORTEST - 1).unsigned_abs() as usize;

/// The most seconds that one stay adds to the sum, so that the sum remains finite.
const LONGEST: f64 = f32::MAX as f64;

/// How long owners stayed in a state before they left it, as a histogram. It counts the stays in ranges of lengths, such as 0.5
/// to 1 second. Each range ends at twice the length at which it begins, except for the first, which is 0 to 1/1024 second, and
/// the last, which has no end.
///
/// # Examples
///
/// ```
/// use demeanor::journal::Stays;
///
/// let mut stays = Stays::default();
/// [0.5, 0.75, 4.0].into_iter().for_each(|seconds| stays.note(seconds));
/// assert_eq!(stays.count(), 3);
/// assert_eq!(stays.mean(), Some(1.75));
/// assert_eq!(stays.lengths().collect::<Vec<_>>(), [(0.5..1.0, 2), (4.0..8.0, 1)]);
/// assert_eq!(stays.quantile(0.5), Some(0.5..1.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stays {
    pub(super) counts: [u64; LENGTHS],
    /// The sum of all stays, in seconds.
    pub(super) seconds: f64,
}

impl Stays {
    /// Counts one more stay of this many seconds. A negative number and NaN count as 0, and a number above [`f32::MAX`], such
    /// as infinity, counts as [`f32::MAX`].
    #[inline]
    pub fn note(&mut self, seconds: f64) {
        let seconds = seconds.clamp(0.0, LONGEST);
        let seconds = if seconds.is_nan() { 0.0 } else { seconds };
        let count = &mut self.counts[length_of(seconds)];
        // A number from a file may be of any size.
        *count = count.saturating_add(1);
        self.seconds += seconds;
    }

    /// Returns how often an owner has left the state.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |all: u64, count| all.saturating_add(*count))
    }

    /// Returns how many seconds owners stayed on average; `None` if no owner has left the state.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean of so many is right to as many digits")]
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.seconds / count as f64)
    }

    /// Iterates over the ranges of lengths that occurred, in seconds, with the number of stays in each; the shortest first.
    pub fn lengths(&self) -> impl Iterator<Item = (Range<f64>, u64)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(nth, count)| (length(nth), *count))
    }

    /// Returns the range of lengths, in seconds, that contains a quantile of the stays. A `share` of 0 gives the shortest
    /// stay, 0.5 the median, and 1 the longest. `None` if no owner has left the state.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share of so many is right to as many digits")]
    pub fn quantile(&self, share: f64) -> Option<Range<f64>> {
        let wanted = share * self.count() as f64;
        let mut passed = 0;
        let found = self.lengths().find(|(_, count)| {
            passed = count.saturating_add(passed);
            passed as f64 >= wanted
        });
        found.map(|(length, _)| length)
    }

    /// Adds other stays, for example those in another state or of another run.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count = count.saturating_add(other));
        self.seconds = (self.seconds + other.seconds).min(f64::MAX);
    }
}

/// Returns the index of the range that contains a number of seconds, which must not be negative.
#[inline]
fn length_of(seconds: f64) -> usize {
    // The bits above the 52 bits of the fraction are the exponent, with its bias of 1023.
    let power = (seconds.to_bits() >> 52) as u16;
    usize::from(power).saturating_sub(BEFORE_SECOND).min(LENGTHS - 1)
}

/// Returns the range with an index, in seconds.
fn length(nth: usize) -> Range<f64> {
    let power = |nth: usize| 2_f64.powi(i32::try_from(nth).unwrap_or(0) + SHORTEST - 1);
    let start = if nth == 0 { 0.0 } else { power(nth) };
    start..if nth == LENGTHS - 1 { f64::INFINITY } else { power(nth + 1) }
}
