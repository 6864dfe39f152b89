//! The clock of a game loop, like XNA's.

use core::time::Duration;

/// The time of a game loop's tick: how long it is, and how long the game has run. After XNA's `GameTime`.
///
/// It is a ready-made [`Owner::Context`](crate::Owner::Context), and the fake clock of a test: time passes when
/// [`advance`](Self::advance) is called, never by itself.
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

    /// Returns the time since the last tick (XNA's `ElapsedGameTime`).
    #[inline]
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the time since the start of the game (XNA's `TotalGameTime`).
    #[inline]
    #[must_use]
    pub const fn total(&self) -> Duration {
        self.total
    }

    /// Begins the next tick: the clock advances by `elapsed`. The total time does not overflow: it stays at `Duration::MAX`.
    pub const fn advance(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
        self.total = self.total.saturating_add(elapsed);
    }
}
