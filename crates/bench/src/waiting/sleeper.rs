//! An owner that works or sleeps.

use bevy_ecs::component::Component;

/// The range of a nap's length, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Naps {
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// A character of 64 bytes.
#[derive(Clone, Component)]
#[repr(C)]
pub(crate) struct Sleeper {
    position: [f32; 2],
    velocity: [f32; 2],
    /// The end of the nap, in seconds, for owners that poll.
    pub(crate) until: f64,
    random: u32,
    worked: u32,
    naps: u32,
    stretched: u32,
    least: f32,
    span: f32,
    rest: [u32; 2],
}

impl Sleeper {
    pub(crate) fn new(number: usize, naps: Naps) -> Self {
        let mut random = fastrand::Rng::with_seed(number as u64);
        Self {
            position: [random.f32(), random.f32()],
            velocity: [random.f32() - 0.5, random.f32() - 0.5],
            until: 0.0,
            random: random.u32(..),
            worked: 0,
            naps: 0,
            stretched: 0,
            least: naps.least as f32,
            span: (naps.most - naps.least) as f32,
            rest: [0; 2],
        }
    }

    /// The work of an awake owner in a tick.
    #[inline(always)]
    pub(crate) fn work(&mut self) {
        self.worked = self.worked.wrapping_add(1);
        for axis in 0..2 {
            self.position[axis] += self.velocity[axis] * 0.016;
            if !(-1.0..=1.0).contains(&self.position[axis]) {
                self.velocity[axis] = -self.velocity[axis];
            }
        }
    }

    /// The work of an owner that has just woken up.
    #[inline(always)]
    pub(crate) fn stretch(&mut self) {
        self.stretched = self.stretched.wrapping_add(1);
        self.position[0] += 0.001;
    }

    /// Starts a nap. Returns its length in seconds. A nap ends half-way between two ticks, because the library's times have a
    /// tolerance, and the other contenders have none.
    #[inline(always)]
    pub(crate) fn nap(&mut self) -> f64 {
        self.naps = self.naps.wrapping_add(1);
        let seconds = if self.naps == 1 { self.rest_of_nap() } else { self.least() + self.span() * self.draw() };
        ((seconds * TICKS_PER_SECOND).floor() + 0.5) / TICKS_PER_SECOND
    }

    /// Returns what is left of a nap that an owner is in when the measurement begins. It is more likely to be in a long nap than in
    /// a short one. So as many owners come due in each of the first ticks as later.
    #[cold]
    fn rest_of_nap(&mut self) -> f64 {
        let (least, most) = (self.least(), self.least() + self.span());
        let whole = (least * least + (most * most - least * least) * self.draw()).sqrt();
        whole * self.draw()
    }

    fn least(&self) -> f64 {
        f64::from(self.least)
    }

    fn span(&self) -> f64 {
        f64::from(self.span)
    }

    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.random >> 8) / f64::from(1_u32 << 24)
    }

    pub(crate) fn checksum(&self) -> u64 {
        let [x, y] = self.position.map(f32::to_bits);
        [x, y, self.random, self.worked, self.naps, self.stretched]
            .iter()
            .fold(0, |sum: u64, &field| (sum ^ u64::from(field)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
    }
}

const TICKS_PER_SECOND: f64 = 60.0;

/// The clock.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    ticks: u32,
}

impl Clock {
    pub(crate) fn tick(&mut self) {
        self.ticks += 1;
    }

    /// Returns the time in seconds.
    #[inline(always)]
    pub(crate) fn now(self) -> f64 {
        f64::from(self.ticks) / TICKS_PER_SECOND
    }
}
