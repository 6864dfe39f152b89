//! The slots of the wheel: which slot a time belongs to, and the list of each.
//!
//! Times are counted in ticks, each a number of 64 bits: eleven digits of six bits. A slot stands for one digit at one level.
//! A timer is at the level of the highest digit in which its tick differs from the current one. So when the current tick
//! goes on, only the slots up to its new digit are looked at, at the level of the highest digit that has changed and below;
//! those above are as they were.

use super::nodes::NONE;

/// How many ticks there are in a second. Those 64 that differ in the last digit only are at the lowest level.
const TICKS_PER_SECOND: f64 = 64.0;
/// How many bits a digit has.
const BITS: u32 = 6;
/// How many slots a level has.
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;

pub(super) struct Levels {
    /// By level and digit, the first node in the list of that slot, if the slot is occupied. Empty until the first timer.
    lists: Vec<u32>,
    /// By level, the slots that have a list: one bit for each.
    occupied: [u64; LEVELS],
}

/// The tick of a time in seconds.
///
/// All that it has to do is never to fall when the time rises. So it may round towards zero, and there is one tick for all
/// times that are too far away.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, as it should")]
#[expect(
    clippy::cast_sign_loss,
    reason = "the sign becomes the highest bit, turned over so that past times are the lower ones"
)]
pub(super) fn tick(seconds: f64) -> u64 {
    (seconds * TICKS_PER_SECOND) as i64 as u64 ^ 1 << (u64::BITS - 1)
}

/// The level and the digit of a tick that is not the current one.
pub(super) fn place(tick: u64, current: u64) -> (usize, u32) {
    let level = (tick ^ current).ilog2() / BITS;
    let digit = tick >> (level * BITS) & (SLOTS as u64 - 1);
    (level as usize, digit as u32)
}

impl Levels {
    pub(super) const fn new() -> Self {
        Self { lists: Vec::new(), occupied: [0; LEVELS] }
    }

    /// The list for a tick after the current one.
    pub(super) fn list(&mut self, tick: u64, current: u64) -> &mut u32 {
        if self.lists.is_empty() {
            self.lists = vec![NONE; LEVELS * SLOTS];
        }
        let (level, digit) = place(tick, current);
        let list = &mut self.lists[level * SLOTS + digit as usize];
        if self.occupied[level] >> digit & 1 == 0 {
            self.occupied[level] |= 1 << digit;
            *list = NONE;
        }
        list
    }

    /// Takes the first list of a level, if its digit is not above `digit`.
    pub(super) fn take(&mut self, level: usize, digit: u32) -> Option<u32> {
        let first = self.occupied[level].trailing_zeros();
        if first > digit {
            return None;
        }
        self.occupied[level] &= !(1 << first);
        Some(self.lists[level * SLOTS + first as usize])
    }

    pub(super) fn clear(&mut self) {
        self.occupied = [0; LEVELS];
    }
}

impl Clone for Levels {
    fn clone(&self) -> Self {
        Self { lists: self.lists.clone(), occupied: self.occupied }
    }

    fn clone_from(&mut self, source: &Self) {
        // A source that has never had a timer has no lists. Those here are kept then.
        if !source.lists.is_empty() {
            self.lists.clone_from(&source.lists);
        }
        self.occupied = source.occupied;
    }
}
