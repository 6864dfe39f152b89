//! How much time scripts may take, in one call and in a tick.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use log::warn;

use super::LOG;

/// How much real time the scripts of a definition may take, for
/// [`Vocabulary::script_budget`](crate::definition::Vocabulary::script_budget).
///
/// A call that takes longer is stopped, and changes nothing. When the scripts of all owners together have used up the time of
/// a tick, the other calls of this tick are skipped: conditions do not hold, and functions of states do not run. Both are
/// logged.
///
/// A tick lasts as long as [`Owner::now`](crate::Owner::now) returns the same time. If the clock does not advance, the tick ends
/// when twice its budget of real time has passed.
///
/// # Examples
///
/// ```
/// use demeanor::definition::ScriptBudget;
/// use std::time::Duration;
///
/// let budget = ScriptBudget::default().call(Duration::from_millis(2));
/// assert_eq!(budget, ScriptBudget::new(Duration::from_millis(2), Duration::from_millis(100)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptBudget {
    call: Duration,
    tick: Duration,
}

impl ScriptBudget {
    /// Creates a budget: how long one call may take, and how long all calls of a tick may take together.
    #[must_use]
    pub const fn new(call: Duration, tick: Duration) -> Self {
        Self { call, tick }
    }

    /// Changes how long a call may take. By default 10 ms.
    #[must_use]
    pub const fn call(self, call: Duration) -> Self {
        Self { call, ..self }
    }

    /// Changes how long all calls of a tick may take together. By default 100 ms. The last one of them may go beyond it.
    #[must_use]
    pub const fn tick(self, tick: Duration) -> Self {
        Self { tick, ..self }
    }
}

impl Default for ScriptBudget {
    fn default() -> Self {
        Self::new(Duration::from_millis(10), Duration::from_millis(100))
    }
}

/// What the scripts of a definition have used of their budget.
///
/// Threads that run scripts at the same time may count a call in the wrong tick, which does no harm.
pub(crate) struct Budget {
    /// The definition's file, for the log.
    file: String,
    limits: ScriptBudget,
    made: Instant,
    /// The game's time in this tick, by its bits.
    now: AtomicU64,
    /// When the tick began, and how long scripts have run in it, in nanoseconds.
    began: AtomicU64,
    spent: AtomicU64,
    /// Whether calls of this tick have been left out.
    is_short: AtomicBool,
    /// In how many ticks that was.
    short_ticks: AtomicU64,
}

impl Budget {
    pub(crate) fn new(file: &str, limits: ScriptBudget) -> Self {
        Self {
            file: file.into(),
            limits,
            made: Instant::now(),
            now: AtomicU64::new(f64::NAN.to_bits()),
            began: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            is_short: AtomicBool::new(false),
            short_ticks: AtomicU64::new(0),
        }
    }

    /// How long one call may take.
    pub(super) fn of_call(&self) -> Duration {
        self.limits.call
    }

    /// Runs a call at a time of the game, unless the time of the tick is used up.
    pub(super) fn spend<R>(&self, now: f64, call: impl FnOnce() -> R) -> Option<R> {
        let begun = self.made.elapsed();
        self.begin_tick(now, nanos(begun));
        if self.spent.load(Ordering::Relaxed) >= nanos(self.limits.tick) {
            self.leave_out();
            return None;
        }
        let result = call();
        self.spent.fetch_add(nanos(self.made.elapsed().saturating_sub(begun)), Ordering::Relaxed);
        Some(result)
    }

    fn begin_tick(&self, now: f64, elapsed: u64) {
        // Calls that are left out take no time, so that a tick that is short of it is soon over.
        let longest = nanos(self.limits.tick.saturating_mul(2));
        let is_later = elapsed.saturating_sub(self.began.load(Ordering::Relaxed)) >= longest;
        if is_later || self.now.load(Ordering::Relaxed) != now.to_bits() {
            self.now.store(now.to_bits(), Ordering::Relaxed);
            self.began.store(elapsed, Ordering::Relaxed);
            self.spent.store(0, Ordering::Relaxed);
            self.is_short.store(false, Ordering::Relaxed);
        }
    }

    /// Logs that calls are left out: in the first tick, the second, the fourth and so on.
    #[cold]
    fn leave_out(&self) {
        if self.is_short.swap(true, Ordering::Relaxed) {
            return;
        }
        let times = self.short_ticks.fetch_add(1, Ordering::Relaxed) + 1;
        if times.is_power_of_two() {
            let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
            let (file, most) = (&self.file, self.limits.tick);
            warn!(target: LOG, "{file}: scripts run longer than {most:?} in a tick: the remaining scripts do not run in this tick{times}");
        }
    }
}

fn nanos(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::{Budget, ScriptBudget, nanos};

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn calls_are_left_out_until_the_clock_of_the_game_goes_on() {
        let budget = Budget::new("guard.toml", ScriptBudget::new(HOUR, HOUR));
        assert_eq!(budget.spend(1.0, || "called"), Some("called"));
        budget.spent.store(nanos(HOUR), Ordering::Relaxed);
        assert_eq!(budget.spend(1.0, || "called"), None);
        assert_eq!(budget.spend(1.0, || "called"), None);
        assert_eq!(budget.short_ticks.load(Ordering::Relaxed), 1);
        assert_eq!(budget.spend(2.0, || "called"), Some("called"));
        assert!(budget.spent.load(Ordering::Relaxed) < nanos(HOUR));
    }

    #[test]
    fn where_the_clock_stands_still_a_tick_is_over_after_twice_its_budget() {
        let budget = Budget::new("guard.toml", ScriptBudget::new(HOUR, Duration::from_secs(1)));
        budget.begin_tick(0.0, nanos(HOUR));
        budget.spent.store(nanos(HOUR), Ordering::Relaxed);
        budget.begin_tick(0.0, nanos(HOUR + Duration::from_millis(1999)));
        assert_eq!(budget.spent.load(Ordering::Relaxed), nanos(HOUR));
        budget.begin_tick(0.0, nanos(HOUR + Duration::from_secs(2)));
        assert_eq!(budget.spent.load(Ordering::Relaxed), 0);
    }
}
