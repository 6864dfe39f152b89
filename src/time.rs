//! The clock that a game loop advances, after XNA's `GameTime`.

use core::time::Duration;

/// The time of a game loop: how long the current tick is, and how long the game has run. Modeled on XNA's `GameTime`.
///
/// It can be the [`Owner::Context`](crate::Owner::Context) of an owner, in a game and, as a fake clock, in a test: time passes
/// when [`advance`](Self::advance) is called, never by itself.
///
/// # Examples
///
/// ```
/// use demeanor::GameTime;
/// use std::time::Duration;
///
/// let mut time = GameTime::new();
/// time.advance(Duration::from_millis(16));
/// time.advance(Duration::from_millis(17));
/// assert_eq!(time.elapsed(), Duration::from_millis(17));
/// assert_eq!(time.total(), Duration::from_millis(33));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GameTime {
    elapsed: Duration,
    total: Duration,
}

impl GameTime {
    /// Creates a clock at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { elapsed: Duration::ZERO, total: Duration::ZERO }
    }

    /// Returns the length of the current tick: the duration given to the last [`advance`](Self::advance), or zero before the
    /// first (XNA's `ElapsedGameTime`).
    #[inline]
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the sum of the lengths of all ticks (XNA's `TotalGameTime`).
    #[inline]
    #[must_use]
    pub const fn total(&self) -> Duration {
        self.total
    }

    /// Begins the next tick: the clock advances by `elapsed`. The total time does not overflow: it stops at [`Duration::MAX`].
    pub const fn advance(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
        self.total = self.total.saturating_add(elapsed);
    }
}
