//! The slots of the wheel: which slot a time belongs to, and the list of each slot.
//!
//! Time is counted in ticks. A slot of the lowest level stands for one tick. A slot of the next level stands for as many ticks
//! as the lowest level has slots, and so on. The slots of a level are used in turn, again and again. A timer is at the lowest
//! level whose slots reach as far as the timer's tick. When the current tick advances, only the slots that it has passed are
//! visited, at each level up to the first one where the tick is still in the same slot.

use std::ops::Range;

use super::blocks::List;

/// The number of ticks in a second. With 64 ticks, more timers would be in the list `near`, and one call would sort more of
/// them.
const TICKS_PER_SECOND: f64 = 256.0;
/// The number of bits of a tick that select the slot of a level. So a level has as many slots as a word has bits.
const BITS: u32 = 6;
/// The number of slots of a level.
const SLOTS: usize = 1 << BITS;
pub(super) const LEVELS: u32 = u64::BITS.div_ceil(BITS);

pub(super) struct Levels {
    /// The list of each slot, by level and slot. The list of a slot that is not occupied is out of date. Empty until the first
    /// timer.
    lists: Vec<List>,
    /// For each level, one bit for each slot. The bit is set if the slot has a list.
    occupied: [u64; LEVELS as usize],
}

/// Returns the tick of a time in seconds.
///
/// The tick must never fall when the time rises; nothing else is required. So the time may be rounded towards zero, and all
/// times that are too far away may have the same tick.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, as it should")]
#[expect(clippy::cast_sign_loss, reason = "the sign becomes the highest bit, inverted, so that past times are lower")]
pub(super) fn tick(seconds: f64) -> u64 {
    (seconds * TICKS_PER_SECOND) as i64 as u64 ^ 1 << (u64::BITS - 1)
}

/// Returns the number of the slot of a level in which a tick lies, counted from tick 0, not within a turn.
fn nth(tick: u64, level: u32) -> u64 {
    tick >> (level * BITS)
}

#[expect(clippy::cast_possible_truncation, reason = "it is less than the number of slots")]
fn slot(nth: u64) -> usize {
    (nth % SLOTS as u64) as usize
}

/// Returns the level and the slot of a tick after the current tick. The slot is 1 to 64 slots after the slot of the current tick.
/// A slot 64 slots later is the slot of the current tick again. Timers for the rest of the current slot are at lower levels, so
/// they are not mixed with the timers of the next turn.
fn place(tick: u64, current: u64) -> (u32, usize) {
    let level = (tick - current).ilog2() / BITS;
    (level, slot(nth(tick, level)))
}

impl Levels {
    pub(super) const fn new() -> Self {
        Self { lists: Vec::new(), occupied: [0; LEVELS as usize] }
    }

    /// Returns the list for a tick after the current tick.
    pub(super) fn list(&mut self, tick: u64, current: u64) -> &mut List {
        if self.lists.is_empty() {
            self.lists = vec![List::EMPTY; LEVELS as usize * SLOTS];
        }
        let (level, slot) = place(tick, current);
        let list = &mut self.lists[level as usize * SLOTS + slot];
        let occupied = &mut self.occupied[level as usize];
        if *occupied >> slot & 1 == 0 {
            *occupied |= 1 << slot;
            *list = List::EMPTY;
        }
        list
    }

    /// Takes a list out of a slot of a level that was passed on the way from the tick `last` to the tick `current`.
    pub(super) fn take_passed(&mut self, level: u32, last: u64, current: u64) -> Option<List> {
        let (last, current) = (nth(last, level), nth(current, level));
        if current - last >= SLOTS as u64 {
            return self.take(level, 0..SLOTS);
        }
        let (first, end) = (slot(last + 1), slot(current) + 1);
        if current == last {
            None
        } else if first < end {
            self.take(level, first..end)
        } else {
            self.take(level, first..SLOTS).or_else(|| self.take(level, 0..end))
        }
    }

    /// Takes the first list among some slots of a level.
    fn take(&mut self, level: u32, slots: Range<usize>) -> Option<List> {
        let occupied = &mut self.occupied[level as usize];
        let slot = slots.start + (*occupied >> slots.start).trailing_zeros() as usize;
        if slot >= slots.end {
            return None;
        }
        *occupied &= !(1 << slot);
        Some(self.lists[level as usize * SLOTS + slot])
    }

    /// Copies `source`, and reuses the existing memory.
    pub(super) fn copy_from(&mut self, source: &Self) {
        // A source that has never had a timer has no lists. In this case, the existing lists are kept.
        if !source.lists.is_empty() {
            self.lists.clone_from(&source.lists);
        }
        self.occupied = source.occupied;
    }

    pub(super) fn clear(&mut self) {
        self.occupied = [0; LEVELS as usize];
    }
}
