//! The random number generator. It replaces C's `rand`, so that a seed gives the same output in every language.

pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a random number from 0 to 1, without 1.
    pub(crate) fn float(&mut self) -> f64 {
        f64::from(self.next()) / 4_294_967_296.0
    }

    /// Returns a random number from `least` to `most`, including both.
    pub(crate) fn integer(&mut self, least: u32, most: u32) -> u32 {
        least + self.next() % (most - least + 1)
    }

    /// A linear congruential step: the upper half of the new state.
    fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as u32
    }
}
