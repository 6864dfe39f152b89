//! Ticks and updates that have nothing to do, and so end at once.
//!
//! A machine that is asleep has nothing to do until its next timer is due or its sleep is over. A state from a file that only
//! tries its exits has nothing to do until one of them can open. A full tick finds this out. The next ticks only compare the
//! clock with a stored time: they have the same effect as full ticks, but take less time. After any other call to the
//! machine, the next tick is a full one again.

use super::seat::Seat;
use super::waiting::Scope;
use crate::fsm::time_or_zero;
use crate::owner::Owner;
use crate::span::opens_at;
use crate::state::StateRef;

/// Until when the ticks of a machine without a global state have nothing to do.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    /// The time of the last tick, in seconds, if the next tick may have nothing to do; otherwise NaN. If the clock stands
    /// still, the tick is run in full, because it may have to log this.
    seen: f64,
    /// Until when the states have declared that they have nothing to do, or until when the machine sleeps.
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

    /// Returns whether a tick has nothing to do in a machine whose current state is `current`.
    #[inline]
    pub(crate) fn lasts<T: Owner>(&mut self, current: &StateRef<T>, now: impl FnOnce() -> f64) -> bool {
        if self.seen.is_nan() {
            return false;
        }
        let now = now();
        let lasts = self.seen < now && self.quiet.is_so(current, now);
        if lasts {
            self.seen = now;
        }
        lasts
    }

    /// Returns what the states declared in earlier ticks, without those that have something to do now.
    #[inline]
    pub(crate) fn quiet(&self, now: impl FnOnce() -> f64) -> Quiet {
        if self.quiet.states == 0 { Quiet::NONE } else { self.quiet.at(now()) }
    }

    /// Returns what is known about the next ticks, after a tick in which the states have declared `quiet`.
    #[inline]
    pub(crate) fn after<T: Owner>(seat: &Seat<T>, quiet: Quiet, now: impl FnOnce() -> f64) -> Self {
        if seat.has_open_regions() {
            // The states in the regions have declared nothing.
            return Self { seen: f64::NAN, quiet };
        }
        if seat.is_asleep() {
            if seat.is_outdated() {
                return Self::NOT;
            }
            let quiet = Quiet { until: [next(seat); 2], states: 0, revision: seat.current.revision() };
            return Self { seen: now(), quiet };
        }
        if quiet.is_all(seat.depth()) {
            let [outermost, others] = quiet.until;
            return Self { seen: now(), quiet: Quiet { until: [outermost.min(next(seat)), others], ..quiet } };
        }
        Self { seen: f64::NAN, quiet }
    }
}

/// Returns when the next timer or the end of the sleep is due, in seconds; infinity if never.
fn next<T: Owner>(seat: &Seat<T>) -> f64 {
    seat.rare.as_ref().map_or(f64::INFINITY, |rare| rare.waiting.next())
}

/// For how long the active states of a machine have declared that they have nothing to do.
#[derive(Clone, Copy)]
pub(crate) struct Quiet {
    /// The earliest times, in seconds, at which the outermost state has something to do, and at which one of the others has.
    /// Infinity where no state has declared this.
    until: [f64; 2],
    /// The states that have declared this, one bit for each depth.
    states: u64,
    /// The revision of the states when they declared it. At another revision they may have something to do.
    revision: usize,
}

impl Quiet {
    /// No state has declared anything. `states` alone says so.
    pub(crate) const NONE: Self = Self { until: [0.0; 2], states: 0, revision: 0 };

    /// Returns whether no state has declared anything.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.states == 0
    }

    /// Forgets what the states have declared, except for the outermost `kept` ones.
    #[inline]
    pub(crate) fn keep(&mut self, kept: usize) {
        if kept == 0 {
            self.states = 0;
        } else {
            self.states &= OUTERMOST;
            self.until[1] = f64::INFINITY;
        }
    }

    /// Returns what the states have declared that have nothing to do at a time.
    fn at(mut self, now: f64) -> Self {
        if now >= self.until[0] {
            self.states &= !OUTERMOST;
            self.until[0] = f64::INFINITY;
        }
        if now >= self.until[1] {
            self.keep(1);
        }
        self
    }

    /// Records that a state has nothing to do for `seconds` after its entry.
    #[inline]
    pub(crate) fn note<T: Owner>(&mut self, seat: &Seat<T>, of: Scope, seconds: f64, revision: usize) {
        let Scope::State(depth) = of else { return };
        if self.states == 0 || self.revision != revision {
            *self = Self { until: [f64::INFINITY; 2], states: 0, revision };
        }
        let entered_at = time_or_zero(seat.view(&StateRef::NONE).entered_at(depth.into()));
        let until = opens_at(seconds, entered_at);
        match depth {
            0 => self.until[0] = until,
            _ => self.until[1] = self.until[1].min(until),
        }
        self.states |= bit(depth.into());
    }

    /// Returns whether the state at a depth has nothing to do now.
    #[inline]
    pub(crate) fn has<T: Owner>(&self, depth: usize, state: &StateRef<T>, now: impl FnOnce() -> f64) -> bool {
        self.states & bit(depth) != 0 && self.is_so(state, now())
    }

    #[inline]
    fn is_so<T: Owner>(&self, state: &StateRef<T>, now: f64) -> bool {
        now < self.until[0] && now < self.until[1] && self.revision == state.revision()
    }

    /// Returns whether all `depth` active states have declared that they have nothing to do.
    #[inline]
    fn is_all(&self, depth: usize) -> bool {
        (1..=64).contains(&depth) && self.states == bit(depth).wrapping_sub(1)
    }
}

const OUTERMOST: u64 = 1;

/// Returns the bit of a depth. A state at depth 64, the greatest, has no bit.
#[inline]
fn bit(depth: usize) -> u64 {
    if depth < 64 { 1 << depth } else { 0 }
}
