//! A machine as games keep it in tables: 200 states that each last some ticks and then go on to the next.
//!
//! Twenty kinds of states follow each other in circles of ten. A state acts when it is entered; in the tables that say so, in
//! each tick, too, in one of four ways. Owners begin at different times, so that in each tick about an eighth of them change,
//! out of all states.
//!
//! In the nested table each circle lies in a parent state, which is left for the next circle when the owner is exhausted: in
//! each tick that is asked of everybody, and holds for one owner in a thousand.
//!
//! In the turning table that is asked only in every sixth tick that an owner has been in the circle: its parent state has turns,
//! which come too often to sleep in between.
//!
//! In the slow table a state lasts sixty times as long, so that one owner in five hundred changes in a tick. There it is
//! written once with conditions on the time, which are asked in each tick, and once with `after`, for which owners sleep.

mod by_hand;
mod from_file;
mod in_rust;

pub(super) use self::by_hand::ByHand;
pub(super) use self::from_file::{InBatch, OnMachines};
pub(super) use self::in_rust::in_rust;

/// The ways in which a state acts in each tick.
const ACTS: usize = 4;

/// Ticks of the game per second.
const RATE: f64 = 35.0;

const KINDS: usize = 20;

const STATES: usize = KINDS * CIRCLE.len();

/// How many ticks the states of a circle last. Each kind begins elsewhere in it.
const CIRCLE: [u32; 10] = [10, 8, 10, 4, 10, 9, 10, 1, 10, 6];

/// How long it takes to go round a circle.
const ROUND: usize = 78;

/// The same where states last longer.
const fn round(stretch: u32) -> usize {
    ROUND * stretch as usize
}

/// After how many states an owner is exhausted.
const STRENGTH: u32 = 100;

/// How many times as long the states of the slow table last: two to seventeen seconds, most of which every owner waits.
pub(super) const SLOW: u32 = 60;

/// In how many ticks the parent states of the turning table have one turn.
pub(super) const TURN: u32 = 6;

/// How many ticks a state lasts.
const fn duration(state: usize) -> u32 {
    CIRCLE[(state + state / CIRCLE.len()) % CIRCLE.len()]
}

/// How long a state lasts, in seconds.
fn seconds(state: usize, stretch: u32) -> f64 {
    f64::from(duration(state) * stretch) / RATE
}

/// The state behind a state.
const fn next(state: usize) -> usize {
    let first = state - state % CIRCLE.len();
    first + (state + 1) % CIRCLE.len()
}

/// The kind that an exhausted owner goes on to.
const fn next_kind(kind: usize) -> usize {
    (kind + 1) % KINDS
}

/// The first state of a kind.
const fn first(kind: usize) -> usize {
    kind * CIRCLE.len()
}

/// A character of 32 bytes and `PAD` more, which stand for all that states seldom touch.
#[derive(Clone)]
#[repr(C)]
struct Creature<const PAD: usize> {
    position: [f32; 2],
    velocity: [f32; 2],
    /// Every state that it has entered, one after the other, hashed.
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

    /// The state that the `number`-th creature begins in.
    const fn begins_in(number: usize) -> usize {
        // Neighbors are in different states, as in a game.
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % STATES
    }

    /// What a state does when it is entered.
    #[inline(always)]
    fn arrive(&mut self, state: usize) {
        self.trace = self.trace.rotate_left(5) ^ state as u64;
        self.strength = self.strength.saturating_sub(1);
    }

    /// What a state does in a tick, in the tables in which it does anything.
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

    /// What a parent state does when it is entered.
    #[inline(always)]
    fn recover(&mut self) {
        self.strength = STRENGTH;
    }

    #[inline(always)]
    fn is_exhausted(&self) -> bool {
        self.strength == 0
    }
}

/// The creatures that join in each of the first ticks, so that they do not all change at once.
fn joining(tick: usize, owners: usize, stretch: u32) -> impl Iterator<Item = usize> {
    (tick..owners).step_by(round(stretch))
}

/// Sums the creatures up, in no particular order.
fn checksum<'a, const PAD: usize>(creatures: impl IntoIterator<Item = &'a Creature<PAD>>) -> u64 {
    creatures.into_iter().fold(0, |sum: u64, creature| {
        let [x, y] = creature.position.map(|at| u64::from(at.to_bits()));
        let fields = [creature.number.into(), creature.trace, creature.strength.into(), x, y];
        let own =
            fields.iter().fold(0, |sum: u64, field| (sum ^ field).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        sum.wrapping_add(own)
    })
}
