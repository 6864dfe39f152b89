//! A machine as games store it in tables: 200 states that each last some ticks and then change to the next.
//!
//! There are twenty kinds of states, with a circle of ten states each. A state acts when it is entered. In some tables it also
//! acts in each tick, in one of four ways. The owners begin at different times, so that about an eighth of them change state in
//! each tick, from all states.
//!
//! In the nested table each circle has a parent state. An exhausted owner leaves it for the next circle: this condition is
//! checked for every owner in each tick, and is true for one owner in a thousand.
//!
//! In the turning table this condition is checked only in every sixth tick since the owner entered the circle: its parent state
//! has turns, which are too frequent for an owner to sleep between them.
//!
//! In the slow table a state lasts sixty times as long, so that one owner in five hundred changes in a tick. One contender has
//! conditions on the time, which are checked in each tick; another has `after`, with which owners sleep.

mod by_hand;
mod from_file;
mod in_rust;

pub(super) use self::by_hand::ByHand;
pub(super) use self::from_file::{InBatch, OnMachines};
pub(super) use self::in_rust::{in_rust, machines_in_rust};

/// The ways in which a state acts in each tick.
const ACTS: usize = 4;

/// Ticks of the game per second.
const RATE: f64 = 35.0;

const KINDS: usize = 20;

const STATES: usize = KINDS * CIRCLE.len();

/// How many ticks the states of a circle last. Each kind begins at a different state of the circle.
const CIRCLE: [u32; 10] = [10, 8, 10, 4, 10, 9, 10, 1, 10, 6];

/// The number of ticks for one round of a circle.
const ROUND: usize = 78;

/// The number of ticks for one round where states last `stretch` times as long.
const fn round(stretch: u32) -> usize {
    ROUND * stretch as usize
}

/// The number of states after which an owner is exhausted.
const STRENGTH: u32 = 100;

/// The factor by which the states of the slow table last longer: two to seventeen seconds, in which an owner mostly waits.
pub(super) const SLOW: u32 = 60;

/// The number of ticks between two turns of a parent state in the turning table.
pub(super) const TURN: u32 = 6;

/// Returns how many ticks a state lasts.
const fn duration(state: usize) -> u32 {
    CIRCLE[(state + state / CIRCLE.len()) % CIRCLE.len()]
}

/// Returns how long a state lasts, in seconds.
fn seconds(state: usize, stretch: u32) -> f64 {
    f64::from(duration(state) * stretch) / RATE
}

/// Returns the next state of a state.
const fn next(state: usize) -> usize {
    let first = state - state % CIRCLE.len();
    first + (state + 1) % CIRCLE.len()
}

/// Returns the next kind for an exhausted owner.
const fn next_kind(kind: usize) -> usize {
    (kind + 1) % KINDS
}

/// Returns the first state of a kind.
const fn first(kind: usize) -> usize {
    kind * CIRCLE.len()
}

/// A character of 32 bytes, and `PAD` more bytes for the data that states seldom use.
#[derive(Clone)]
#[repr(C)]
struct Creature<const PAD: usize> {
    position: [f32; 2],
    velocity: [f32; 2],
    /// A hash of all states that the owner has entered, in order.
    trace: u64,
    number: u32,
    strength: u32,
    rest: [u8; PAD],
}

impl<const PAD: usize> Creature<PAD> {
    fn new(number: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(number as u64);
        Self {
            position: [random.f32(), random.f32()],
            velocity: [random.f32() - 0.5, random.f32() - 0.5],
            trace: 0,
            number: number as u32,
            strength: STRENGTH,
            rest: [0; PAD],
        }
    }

    /// Returns the first state of the `number`-th creature.
    const fn begins_in(number: usize) -> usize {
        // Creatures with neighboring numbers begin in different states, as in a game.
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % STATES
    }

    /// The work of a state when it is entered.
    #[inline(always)]
    fn arrive(&mut self, state: usize) {
        self.trace = self.trace.rotate_left(5) ^ state as u64;
        self.strength = self.strength.saturating_sub(1);
    }

    /// The work of a state in a tick, in the tables in which it has work.
    #[inline(always)]
    fn act(&mut self, state: usize) {
        const SECONDS: f32 = 1.0 / 32.0;
        match state % ACTS {
            0 => self.position[0] += self.velocity[0] * SECONDS,
            1 => self.position[1] += self.velocity[1] * SECONDS,
            2 => self.velocity.swap(0, 1),
            _ => self.position[0] -= (self.position[0] - 1.0) * SECONDS,
        }
    }

    /// The work of a parent state when it is entered.
    #[inline(always)]
    fn recover(&mut self) {
        self.strength = STRENGTH;
    }

    #[inline(always)]
    fn is_exhausted(&self) -> bool {
        self.strength == 0
    }
}

/// Returns the creatures that join in a tick. They join during the first ticks, so that they do not all change at the same
/// time.
fn joining(tick: usize, owners: usize, stretch: u32) -> impl Iterator<Item = usize> {
    (tick..owners).step_by(round(stretch))
}

/// Returns the sum over the creatures; their order does not matter.
fn checksum<'a, const PAD: usize>(creatures: impl IntoIterator<Item = &'a Creature<PAD>>) -> u64 {
    creatures.into_iter().fold(0, |sum: u64, creature| {
        let [x, y] = creature.position.map(|at| u64::from(at.to_bits()));
        let fields = [creature.number.into(), creature.trace, creature.strength.into(), x, y];
        let own =
            fields.iter().fold(0, |sum: u64, field| (sum ^ field).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        sum.wrapping_add(own)
    })
}
