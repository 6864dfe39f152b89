//! Decides whether a span of time has passed, with a tolerance. No other file has a tolerance for times.
//!
//! In a game that ticks 30 times a second, a state that lasts half a second should last 15 ticks. But after 15 ticks no clock
//! shows exactly half a second: a [`GameTime`](crate::GameTime) adds up durations that are rounded to nanoseconds (15 times
//! 33 333 333 ns), and a clock in floats adds up a rounded 1/30 s. So two times count as equal if they differ by no more than a
//! tolerance, which is the sum of two parts:
//!
//! - [`RELATIVE`] times the span, because each tick adds the same error. For a clock in nanoseconds, the error is at most 0.5 ns
//!   a tick: 7e-8 of the span at 144 ticks a second, and 5e-7 of it at 1000 ticks a second. For a tick length stored as an
//!   `f32`, the error is at most 6e-8 of the span.
//! - [`ABSOLUTE`], because a clock that counts from 1970 in an `f64` has a resolution of 2.4e-7 s.
//!
//! The tolerance is far below the length of a tick, so a span does not end one tick early, unless it lasts about a million ticks
//! or more. The tolerance does not cover a clock that adds up an `f32`: after 1000 seconds, each tick adds an error of up to
//! 3e-5 s.

use core::cmp::Ordering;

/// The part of the tolerance that grows with the span, as a fraction of the span.
const RELATIVE: f64 = 1e-6;

/// The part of the tolerance that does not depend on the span, in seconds.
const ABSOLUTE: f64 = 1e-6;

/// Returns after how many seconds a span of `seconds` counts as over. The tolerance is subtracted from the due time of a timer or
/// a sleep once, when the timer or the sleep begins. So a machine, the timing wheel of a batch and a saved game need only the due
/// time, not the span.
#[inline]
pub(crate) fn shortened(seconds: f64) -> f64 {
    (seconds - tolerance(seconds)).max(0.0)
}

/// Returns when a timer of `seconds` that is set at `now` is due, in seconds (rule 18).
#[inline]
pub(crate) fn due_after(seconds: f64, now: f64) -> f64 {
    now + shortened(seconds)
}

/// Returns when a repeating timer is next due after `now`, and the span from its start until then, without the tolerance: the
/// smallest multiple of the period whose end is ahead (rule 39). At the end of n periods, the timer is due like a timer of n
/// periods that was set at the same time. The pair `(due, span)` is the result for the last message. If the period is 0, or too
/// short for the clock to show, the timer is due at `now`, and so in the next tick. All times are in seconds.
pub(crate) fn due_again((due, span): (f64, f64), seconds: f64, now: f64) -> (f64, f64) {
    let started = due - shortened(span);
    let elapsed = now - started;
    // With a period of 0, this is NaN, and then no due time is ahead.
    let passed = whole((elapsed + tolerance(elapsed)) / seconds).max(whole(span / seconds + 0.5));
    let ends = [1.0, 2.0].map(|more| (passed + more) * seconds);
    let again = ends.map(|span| (started + shortened(span), span)).into_iter().find(|&(due, _)| due > now);
    again.unwrap_or((now, span))
}

/// Rounds a due time to about a microsecond, toward 0. Two due times that are equal after rounding may differ only by the
/// rounding errors of sums.
pub(crate) fn rounded(due: f64) -> f64 {
    const IN_A_SECOND: f64 = 1_048_576.0;
    let count = due * IN_A_SECOND;
    if count.abs() < INTEGERS_FROM { whole(count) / IN_A_SECOND } else { due }
}

/// From here on, all numbers are integers.
const INTEGERS_FROM: f64 = 9_007_199_254_740_992.0;

/// Rounds a number toward 0 to an integer. Returns NaN for a number that is not finite. (`f64::trunc` needs the standard library.)
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "an `i64` has all integers below `INTEGERS_FROM`"
)]
fn whole(number: f64) -> f64 {
    // A remainder takes 130 instructions.
    if number.abs() < INTEGERS_FROM { number as i64 as f64 } else { number - number % 1.0 }
}

/// Returns the time, in seconds, from which an exit must be tried that opens `seconds` after its state was entered. The exit
/// cannot open before this time.
#[inline]
pub(crate) fn opens_at(seconds: f64, entered_at: f64) -> f64 {
    // The tolerance is doubled because sums and differences are rounded.
    entered_at + seconds - 2.0 * tolerance(seconds)
}

/// Returns the first multiple of `seconds`, in seconds, that is still ahead when `passed` seconds have passed.
#[cfg(feature = "std")]
pub(crate) fn next_multiple(seconds: f64, passed: f64) -> f64 {
    // A multiple that is ahead by less than twice the tolerance counts as passed. The tolerance is doubled as in `opens_at`.
    // The quotient is kept finite, so that a multiple of a very short span is due at once instead of never.
    ((passed + 2.0 * tolerance(passed)) / seconds).floor().clamp(0.0, f64::MAX).mul_add(seconds, seconds)
}

/// Returns the tolerance of a span, in seconds. It is at most one second, so that an infinite span stays infinite.
#[inline]
fn tolerance(seconds: f64) -> f64 {
    (ABSOLUTE + RELATIVE * seconds.abs()).min(1.0)
}

/// A span of time that ends now, for comparison with the time that an owner has been in a state. The span is stored as the two
/// entry times between which the owner has been in the state for exactly the span, within the tolerance. Both are in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// An owner that entered the state before this time has been in it for longer than the span.
    earliest: f64,
    /// An owner that entered the state after this time has been in it for less than the span.
    latest: f64,
}

impl Span {
    /// Creates the span of `seconds` that ends at `now`.
    #[inline]
    pub(crate) fn of(seconds: f64, now: f64) -> Self {
        let tolerance = tolerance(seconds);
        Self { earliest: now - (seconds + tolerance), latest: now - (seconds - tolerance) }
    }

    /// Returns whether the span has passed since `entered_at`.
    #[inline]
    pub(crate) fn has_passed(self, entered_at: f64) -> bool {
        entered_at <= self.latest
    }

    /// Returns whether less than the span has passed since `entered_at`.
    #[inline]
    pub(crate) fn is_less(self, entered_at: f64) -> bool {
        entered_at > self.latest
    }

    /// Returns whether at most the span has passed since `entered_at`.
    #[inline]
    pub(crate) fn is_at_most(self, entered_at: f64) -> bool {
        entered_at >= self.earliest
    }
}

/// A due time in seconds, with a number. Due times are ordered by time, and equal times by the number.
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
    use super::{INTEGERS_FROM, due_after, due_again, rounded, whole};

    #[test]
    fn a_repeating_timer_is_due_again_ahead_of_the_clock_unless_its_period_is_too_short() {
        // The timer was set at 100, and has sent the message of the first period.
        let again = |seconds, now| due_again((due_after(seconds, 100.0), seconds), seconds, now);
        for (now, span) in
            [(101.99, 4.0), (102.0, 4.0), (103.99, 4.0), (104.0, 6.0), (1100.0, 1002.0), (1101.99, 1002.0)]
        {
            let (due, ended) = again(2.0, now);
            assert_eq!((due.to_bits(), ended), (due_after(span, 100.0).to_bits(), span), "at {now}");
        }
        // After 2 million periods the tolerance is several periods long. None of them is left out.
        let (mut due, mut sent) = ((due_after(0.1, 0.0), 0.1), 1);
        for tick in 0..100_000 {
            let now = 200_000.0 + f64::from(tick) / 50.0;
            if due.0 <= now {
                (due, sent) = (due_again(due, 0.1, now), sent + 1);
            }
        }
        assert_eq!(sent, 20_001);

        assert_eq!(due_again((2.0, 2.0), f64::INFINITY, 3.0), (f64::INFINITY, f64::INFINITY));
        // A period of 0, and one that is shorter than the clock can show.
        assert_eq!(again(0.0, 103.0), (103.0, 0.0));
        assert_eq!(due_again((1e17, 1.0), 1.0, 1e17), (1e17, 1.0));
    }

    #[test]
    fn a_number_is_rounded_toward_0_as_by_its_remainder() {
        let near = [INTEGERS_FROM - 1.0, INTEGERS_FROM, INTEGERS_FROM + 2.0, f64::MAX, f64::MIN_POSITIVE];
        let others = [0.0, 0.3, 0.5, 1.0 - f64::EPSILON, 2.5, 1e9 + 0.75, 8_589_934_591.999_999, 8_589_934_592.0];
        for number in near.into_iter().chain(others).flat_map(|number| [number, -number]) {
            assert_eq!(whole(number).to_bits(), (number - number % 1.0).to_bits(), "{number}");
            assert_eq!(rounded(number).to_bits(), (number - number % (1.0 / 1_048_576.0)).to_bits(), "{number}");
        }
        assert!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().all(|number| whole(number).is_nan()));
        assert!(rounded(f64::NAN).is_nan() && rounded(f64::INFINITY) == f64::INFINITY);
    }
}
