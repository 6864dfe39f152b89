//! Ticks of a machine that is awake, but has nothing to do, so that they end at once.
//!
//! A state from a file that only tries its exits has nothing to do until one of the exits can open. A full tick finds this out.
//! The next ticks only compare the clock with a stored time: they have the same effect as full ticks, but take less time. After
//! any other call to the machine, the next tick is a full one again.

use super::quiet::Quiet;
use super::seat::Seat;
use crate::owner::Owner;
use crate::state::StateRef;

/// Until when the ticks of a machine without a global state have nothing to do.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    /// The time of the last tick, in seconds, if the next tick may have nothing to do; otherwise NaN. If the clock stands still,
    /// the next tick is run in full, because it may have to log that the clock stands still.
    seen: f64,
    /// Until when the states have declared that they have nothing to do.
    quiet: Quiet,
}

impl Idle {
    /// The next tick has something to do.
    pub(crate) const NOT: Self = Self { seen: f64::NAN, quiet: Quiet::NONE };

    /// Returns whether there is nothing to store.
    #[inline]
    pub(crate) fn is_not(&self) -> bool {
        self.seen.is_nan() && self.quiet.states == 0
    }

    /// Returns whether a tick has nothing to do in a machine whose current state is `current`. If so, records the tick's time.
    #[inline]
    pub(crate) fn lasts<T: Owner>(&mut self, current: &StateRef<T>, now: impl FnOnce() -> f64) -> bool {
        if self.seen.is_nan() {
            return false;
        }
        let now = now();
        let lasts = self.seen < now && self.quiet.is_so(|| current.revision(), now);
        if lasts {
            self.seen = now;
        }
        lasts
    }

    /// Returns the declarations from earlier ticks, without those of states that have something to do now.
    #[inline]
    pub(crate) fn quiet(&self, now: impl FnOnce() -> f64) -> Quiet {
        if self.quiet.states == 0 { Quiet::NONE } else { self.quiet.at(now()) }
    }

    /// Returns the value for the next ticks, after a tick in which the states have declared `quiet`.
    #[inline]
    pub(crate) fn after<T: Owner>(seat: &Seat<T>, quiet: Quiet, now: impl FnOnce() -> f64) -> Self {
        // States in regions declare nothing.
        if quiet.is_all(seat.depth()) && !seat.has_open_regions() {
            let next_due = seat.rare.as_ref().map_or(f64::INFINITY, |rare| rare.waiting.next());
            let [outermost, others] = quiet.until;
            return Self { seen: now(), quiet: Quiet { until: [outermost.min(next_due), others], ..quiet } };
        }
        Self { seen: f64::NAN, quiet }
    }
}
