//! The logic of the entities, the same functions for every row of the table.

/// Number of states.
pub const STATES: u8 = 6;

/// Returns a pseudorandom number (the finalizer of MurmurHash3). With a simpler function, the processor's branch predictor
/// learns which state comes next, which it cannot do in a game.
pub fn chance(i: u32) -> u32 {
    let mut hash = i;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

/// The data of each entity, the same in every row of the table: 64 bytes.
#[derive(Clone, Copy)]
pub struct Body {
    place: [f32; 4],
    speed: [f32; 4],
    stamina: f32,
    /// Ticks until the next change of state.
    countdown: u32,
    /// Ticks from one change to the next.
    period: u32,
    entered: u32,
    exited: u32,
    rest: [u32; 3],
}

impl Body {
    /// Creates the `i`-th body. Bodies change state every `period` ticks, but not all in the same tick.
    pub fn new(i: u32, period: u32) -> Self {
        let at = (i % 97) as f32;
        Self {
            place: [at, at + 1.0, at + 2.0, 0.0],
            speed: [1.0, 0.5, 0.25, 0.0],
            stamina: 1.0,
            countdown: chance(i) / u32::from(STATES) % period + 1,
            period,
            entered: 0,
            exited: 0,
            rest: [0; 3],
        }
    }

    /// Returns the first state of the `i`-th body. The states are shuffled, as in a game.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 256")]
    pub fn first_state(i: u32) -> u8 {
        (chance(i) % u32::from(STATES)) as u8
    }

    /// Runs one tick in state `N`: idle, patrol, chase, flee, fight, rest. Returns whether it is time for the next state.
    #[inline]
    pub fn update<const N: u8>(&mut self) -> bool {
        match N {
            0 => self.stamina = (self.stamina + 0.5).min(100.0),
            1 => {
                self.travel();
                if self.place[0].abs() > 100.0 {
                    self.speed[0] = -self.speed[0];
                }
            }
            2 => {
                let (x, y) = (50.0 - self.place[0], 20.0 - self.place[1]);
                let far = (x * x + y * y).sqrt() + 1.0;
                self.speed[0] += x / far;
                self.speed[1] += y / far;
                self.travel();
            }
            3 => {
                self.speed[1] = self.speed[1] * 0.5 + (self.place[1] - 20.0).clamp(-1.0, 1.0);
                self.travel();
                self.stamina -= 0.25;
            }
            4 => {
                self.rest[0] = self.rest[0].wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if self.rest[0] >> 31 == 0 {
                    self.stamina -= 1.0;
                }
            }
            _ => {
                for speed in &mut self.speed {
                    *speed *= 0.9;
                }
                self.stamina = (self.stamina * 1.01).min(100.0);
            }
        }
        self.countdown -= 1;
        self.countdown == 0
    }

    #[inline]
    fn travel(&mut self) {
        for (place, speed) in self.place.iter_mut().zip(self.speed) {
            *place += speed * 0.016;
        }
    }

    #[inline]
    pub fn enter<const N: u8>(&mut self) {
        self.countdown = self.period;
        self.entered += 1 + u32::from(N);
    }

    #[inline]
    pub fn exit<const N: u8>(&mut self) {
        self.stamina *= 0.5;
        self.exited += 1 + u32::from(N);
    }

    /// The work of a system that visits the entities in one of the states.
    #[inline]
    pub fn visit(&mut self) {
        self.rest[1] += 1;
    }

    /// Returns a checksum. It is the same in two rows that did the same work.
    pub fn checksum(&self) -> u64 {
        let floats = self.place.iter().chain(&self.speed).chain([&self.stamina]);
        let mix = |sum: u64, word: u32| sum.rotate_left(5) ^ u64::from(word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let sum = floats.fold(0, |sum, float| mix(sum, float.to_bits()));
        [self.countdown, self.entered, self.exited, self.rest[0], self.rest[1]].into_iter().fold(sum, mix)
    }
}
