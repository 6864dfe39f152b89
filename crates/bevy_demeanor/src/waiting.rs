//! What the pass knows of those who wait: when to look at a machine next, and whether their clock stands.

use demeanor::NextWake;

/// When the pass next has to look at a machine: one word, kept beside the machine, so that a pass reads nothing else of those
/// who sleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextLook(f64);

impl NextLook {
    /// Nobody has asked the machine since it was made or edited. It may have to be started.
    pub(crate) const UNKNOWN: Self = Self(f64::NAN);

    const EVERY_TICK: f64 = f64::NEG_INFINITY;

    #[inline]
    pub(crate) fn is_every_tick(self) -> bool {
        self.0 == Self::EVERY_TICK
    }

    #[inline]
    pub(crate) fn is_unknown(self) -> bool {
        self.0.is_nan()
    }

    #[inline]
    pub(crate) fn is_never(self) -> bool {
        self.0 == f64::INFINITY
    }

    /// Whether it is time, by a clock that may show no number: what that means is for the machine to say.
    #[inline]
    pub(crate) fn is_due(self, now: f64) -> bool {
        now >= self.0 || now.is_nan()
    }
}

impl From<NextWake> for NextLook {
    fn from(next: NextWake) -> Self {
        Self(match next {
            NextWake::EveryTick => Self::EVERY_TICK,
            NextWake::At(seconds) => seconds,
            NextWake::Never => f64::INFINITY,
        })
    }
}

/// Whether a clock stands while somebody sleeps until it shows a time. A machine that is looked at sees to this itself; those
/// who sleep are not looked at.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    now: f64,
    /// In how many passes it has shown the same.
    passes: u8,
}

/// A game may be paused for a while, and may update several times at one time.
const SUSPICIOUSLY_MANY: u8 = 100;

impl Standstill {
    /// Notes what the clock of somebody asleep shows in a pass. Returns, once, that it has stood for suspiciously many.
    pub(crate) fn stands(&mut self, now: f64) -> bool {
        if self.now != now {
            *self = Self { now, passes: 0 };
        }
        self.passes = self.passes.saturating_add(1);
        self.passes == SUSPICIOUSLY_MANY
    }
}
