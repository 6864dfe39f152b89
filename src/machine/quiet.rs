//! For how long the states of a machine have declared that they have nothing to do.

/// For how long the active states of a machine have declared that they have nothing to do.
#[derive(Clone, Copy)]
pub(crate) struct Quiet {
    /// The earliest time, in seconds, at which the outermost state has something to do, and the earliest time for the states
    /// inside it. Infinity if no state has declared a time.
    pub(super) until: [f64; 2],
    /// The states that have declared a time, one bit for each depth.
    pub(super) states: u64,
    /// The revision of the states when they declared the times. At another revision, they may have something to do.
    pub(super) revision: usize,
}

impl Quiet {
    /// No state has declared anything: `states` is 0. The other fields of this value are not read.
    pub(crate) const NONE: Self = Self { until: [0.0; 2], states: 0, revision: 0 };

    /// Returns whether no state has declared anything.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.states == 0
    }

    /// Forgets the declarations of all states if `kept` is 0, and otherwise those of all states but the outermost: the times of
    /// the inner states are not stored separately.
    #[inline]
    pub(crate) fn keep(&mut self, kept: usize) {
        if kept == 0 {
            self.states = 0;
        } else {
            self.states &= OUTERMOST;
            self.until[1] = f64::INFINITY;
        }
    }

    /// Returns the declarations of the states that have nothing to do at the time `now`.
    pub(super) fn at(mut self, now: f64) -> Self {
        if now >= self.until[0] {
            self.states &= !OUTERMOST;
            self.until[0] = f64::INFINITY;
        }
        if now >= self.until[1] {
            self.keep(1);
        }
        self
    }

    /// Records that the state at a depth has nothing to do until a time.
    #[inline]
    pub(crate) fn note(&mut self, depth: u8, until: f64, revision: usize) {
        if self.states == 0 || self.revision != revision {
            *self = Self { until: [f64::INFINITY; 2], states: 0, revision };
        }
        match depth {
            0 => self.until[0] = until,
            _ => self.until[1] = self.until[1].min(until),
        }
        self.states |= bit(depth.into());
    }

    /// Returns whether the state at a depth has nothing to do now.
    #[inline]
    pub(crate) fn has(&self, depth: usize, revision: impl FnOnce() -> usize, now: impl FnOnce() -> f64) -> bool {
        self.states & bit(depth) != 0 && self.is_so(revision, now())
    }

    #[inline]
    pub(super) fn is_so(&self, revision: impl FnOnce() -> usize, now: f64) -> bool {
        now < self.until[0] && now < self.until[1] && self.revision == revision()
    }

    /// Returns whether all `depth` active states have declared that they have nothing to do.
    #[inline]
    pub(super) fn is_all(&self, depth: usize) -> bool {
        (1..=64).contains(&depth) && self.states == bit(depth).wrapping_sub(1)
    }
}

const OUTERMOST: u64 = 1;

/// Returns the bit of a depth. A state at depth 64, the greatest, has no bit.
#[inline]
fn bit(depth: usize) -> u64 {
    if depth < 64 { 1 << depth } else { 0 }
}
