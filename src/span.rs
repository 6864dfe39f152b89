//! Whether a span of time has passed: the one place where times are compared.
//!
//! A game that ticks 30 times a second says that a state lasts half a second, and means 15 ticks. But no clock shows exactly
//! half a second then: a [`GameTime`](crate::GameTime) adds up durations that are rounded to nanoseconds (33 333 333, fifteen
//! times), and a clock in floats adds up a rounded 1/30. So two times count as equal that are hardly apart:
//!
//! - by [`RELATIVE`] of the span, for each tick adds the same error. That of a nanosecond clock is at most 0.5 ns a tick: 7e-8
//!   of the span at 144 ticks a second, 5e-7 at 1000. That of a tick's length as an `f32` is at most 6e-8.
//! - by [`ABSOLUTE`], for a clock that counts from 1970 shows a time as an `f64` to 2.4e-7 s.
//!
//! Both are far below a tick, so that no tick is counted twice: only spans of more than a million ticks may end one early. What
//! is not covered is a clock that itself adds up in `f32`: after 1000 seconds it is wrong by up to 3e-5 s in every tick.

use core::cmp::Ordering;

/// How far apart two times may be and count as equal, as a share of the span.
const RELATIVE: f64 = 1e-6;

/// How far apart two times may be and count as equal, in seconds, whatever the span.
const ABSOLUTE: f64 = 1e-6;

/// After how many seconds a span of so many counts as over. A timer and a sleep take the tolerance off their due time once, when
/// they begin. So a machine, the wheel of a batch and a saved game need not know the span.
#[inline]
pub(crate) fn shortened(seconds: f64) -> f64 {
    (seconds - tolerance(seconds)).max(0.0)
}

/// The time from which on a timer is due that is set now for so many seconds (rule 18).
#[inline]
pub(crate) fn due_after(seconds: f64, now: f64) -> f64 {
    now + shortened(seconds)
}

/// The time from which on an exit is tried that opens so many seconds after an entry. Before this time, it cannot open.
#[inline]
pub(crate) fn opens_at(seconds: f64, entered_at: f64) -> f64 {
    // Twice the tolerance: sums and differences are rounded.
    entered_at + seconds - 2.0 * tolerance(seconds)
}

/// The first multiple of so many seconds that is still to come when so many have passed.
#[cfg(feature = "std")]
pub(crate) fn next_multiple(seconds: f64, passed: f64) -> f64 {
    // As a turn comes: a tolerance before a multiple, it has passed.
    ((passed + 2.0 * tolerance(passed)) / seconds).floor().max(0.0).mul_add(seconds, seconds)
}

/// Not more than a second, so that an endless span stays one.
#[inline]
fn tolerance(seconds: f64) -> f64 {
    (ABSOLUTE + RELATIVE * seconds.abs()).min(1.0)
}

/// A span of time up to now, as the moments of entry from which it has just passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// An owner that entered before this has been there for longer than the span.
    earliest: f64,
    /// An owner that entered after this has been there for less than the span.
    latest: f64,
}

impl Span {
    /// The span of so many seconds, up to what the clock shows.
    #[inline]
    pub(crate) fn of(seconds: f64, now: f64) -> Self {
        let tolerance = tolerance(seconds);
        Self { earliest: now - (seconds + tolerance), latest: now - (seconds - tolerance) }
    }

    /// Whether the span has passed since then.
    #[inline]
    pub(crate) fn has_passed(self, entered_at: f64) -> bool {
        entered_at <= self.latest
    }

    /// Whether less than the span has passed since then.
    #[inline]
    pub(crate) fn is_less(self, entered_at: f64) -> bool {
        entered_at > self.latest
    }

    /// Whether more than the span has passed since then.
    #[inline]
    pub(crate) fn is_more(self, entered_at: f64) -> bool {
        entered_at < self.earliest
    }

    /// Whether no more than the span has passed since then.
    #[inline]
    pub(crate) fn is_at_most(self, entered_at: f64) -> bool {
        entered_at >= self.earliest
    }
}

/// When something is due, in seconds, and its number. It is ordered by the time, and for equal times by the number.
#[derive(Clone, Copy)]
pub(crate) struct DueTime<N> {
    pub(crate) at: f64,
    pub(crate) nth: N,
}

impl<N: Ord> Ord for DueTime<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then_with(|| self.nth.cmp(&other.nth))
    }
}

impl<N: Ord> PartialOrd for DueTime<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N: Ord> PartialEq for DueTime<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<N: Ord> Eq for DueTime<N> {}

#[cfg(all(test, feature = "definition"))]
mod tests {
    use super::Span;

    /// Whether so many seconds are less than, no more than, at least, more than a span.
    fn compared(seconds: f64, span: f64) -> [bool; 4] {
        let span = Span::of(span, 100.0);
        let at = 100.0 - seconds;
        [span.is_less(at), span.is_at_most(at), span.has_passed(at), span.is_more(at)]
    }

    #[test]
    fn times_that_are_hardly_apart_are_equal() {
        for seconds in [0.5 - 1e-6, 0.5, 0.5 + 1e-6] {
            assert_eq!(compared(seconds, 0.5), [false, true, true, false], "{seconds}");
        }
        assert_eq!(compared(0.5 - 2e-6, 0.5), [true, true, false, false]);
        assert_eq!(compared(0.5 + 2e-6, 0.5), [false, false, true, true]);
    }

    #[test]
    fn an_endless_span_never_passes() {
        assert_eq!(compared(50.0, f64::INFINITY), [true, true, false, false]);
        assert_eq!(compared(50.0, f64::NEG_INFINITY), [false, false, true, true]);
    }

    #[test]
    fn a_span_or_a_clock_that_is_no_number_compares_false() {
        assert_eq!(compared(50.0, f64::NAN), [false; 4]);
        assert_eq!(compared(f64::NAN, 50.0), [false; 4]);
    }
}
