//! Brings the owners that leave a long bucket to its end on all cores, so that the owners that stay lie as they would
//! had the others left one by one, from the last to the first, each time with the last row in the place that was left.
//!
//! Let so many rows stay. Of the rows behind that many, the *tail*, some stay as well: exactly as many as there are leavers
//! before the tail, and they are to take their places. First the tail is brought into order by itself, in the same way: then
//! it begins with the rows that stay, and behind them are its leavers. One by one, the leavers before the tail are taken from
//! the last to the first, and get the rows at the beginning of the tail from the last to the first: so the j-th leaver
//! changes places with the j-th row of the tail. That leaves the leavers in their old order, and any two ranges of leavers
//! can change places at the same time.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use slotmap::SlotMap;

use super::chunks::ChunkMovers;
use crate::batch::known::key::Key;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::columns::{Columns, Tag};
use crate::batch::rows::movers;
use crate::batch::rows::place::{Place, SharedPlace};
use crate::owner::Owner;
use crate::state::Mover;

/// Up to how many rows change places on one thread.
const FEW_SWAPS: usize = 2048;

/// Up to how many rows that stay are put into order one by one, where nearly all leave.
const FEW_STAY: usize = 256;

/// How many times as many leave, then.
const NEARLY_ALL: usize = 64;

/// How many levels there is room for from one tick to the next. Even where half of the rows leave there are fewer.
const MOST_LEVELS: usize = 64;

/// What is kept from one tick to the next, so that nothing is allocated.
pub(super) struct Scratch {
    levels: Vec<Level>,
    order: VecDeque<Key>,
}

impl Scratch {
    pub(super) const fn new() -> Self {
        Self { levels: Vec::new(), order: VecDeque::new() }
    }
}

/// Rows before a tail.
struct Level {
    rows: Range<usize>,
    leavers: usize,
}

/// The leavers of a bucket. Their chunks' movers all leave.
pub(super) struct Leavers<'a> {
    bucket: u32,
    chunks: &'a [ChunkMovers],
    places: &'a SlotMap<Key, SharedPlace>,
    count: usize,
    /// How many rows stay.
    stay: usize,
}

/// Some consecutive rows.
struct RowsMut<'a, T> {
    owners: &'a mut [T],
    tags: &'a mut [Tag],
    /// Empty where no times are kept.
    entered_at: &'a mut [f64],
}

impl<T> RowsMut<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let Self { owners, tags, entered_at } = self;
        let (owners, other_owners) = owners.split_at_mut(at);
        let (tags, other_tags) = tags.split_at_mut(at);
        let (entered_at, other_entered_at) = entered_at.split_at_mut(at.min(entered_at.len()));
        let other = Self { owners: other_owners, tags: other_tags, entered_at: other_entered_at };
        (Self { owners, tags, entered_at }, other)
    }

    /// Exchanges two rows, all but the time of the one that moves behind: that one leaves.
    #[inline]
    fn swap(&mut self, slot: usize, tail: &mut RowsMut<'_, T>, slot_in_tail: usize) {
        mem::swap(&mut self.owners[slot], &mut tail.owners[slot_in_tail]);
        mem::swap(&mut self.tags[slot], &mut tail.tags[slot_in_tail]);
        if let Some(entered_at) = self.entered_at.get_mut(slot) {
            *entered_at = tail.entered_at[slot_in_tail];
        }
    }
}

impl Leavers<'_> {
    /// Brings the leavers of a bucket to its end, by ascending slot. Returns how many rows stay.
    pub(super) fn bring_to_end<T: Owner + Send>(
        (bucket, columns): (u32, &mut Columns<T>),
        chunks: &[ChunkMovers],
        places: &SlotMap<Key, SharedPlace>,
        scratch: &mut Scratch,
    ) -> usize {
        let count = chunks.iter().map(|chunk| chunk.leavers).sum();
        let stay = columns.len() - count;
        Leavers { bucket, chunks, places, count, stay }.bring_all(columns, scratch);
        stay
    }

    fn bring_all<T: Owner + Send>(&self, columns: &mut Columns<T>, scratch: &mut Scratch) {
        let Scratch { levels, order } = scratch;
        let len = columns.len();
        let mut leavers = self.count;
        let mut start = 0;
        while leavers > 0 && start + leavers < len {
            let staying = len - start - leavers;
            if staying <= FEW_STAY && leavers > NEARLY_ALL * staying {
                self.bring_nearly_all(start, columns, order);
                break;
            }
            let rows = start..start + staying;
            start = rows.end;
            let before = self.count_in(rows.clone());
            leavers -= before;
            levels.push(Level { rows, leavers: before });
        }
        while let Some(Level { rows, leavers }) = levels.pop() {
            let Columns { owners, tags, times, .. } = &mut *columns;
            let (start, end) = (rows.start, rows.end);
            let all = RowsMut { owners, tags, entered_at: &mut times.current };
            let (_, behind) = all.split_at(start);
            let (rows, tail) = behind.split_at(end - start);
            let (tail, _) = tail.split_at(leavers);
            self.change_places(start, rows, tail);
        }
        levels.shrink_to(MOST_LEVELS);
    }

    /// Lets each leaver among the rows from `start` on change places with a row of the tail.
    fn change_places<T: Send>(&self, start: usize, mut rows: RowsMut<'_, T>, mut tail: RowsMut<'_, T>) {
        let end = start + rows.owners.len();
        let chunks = start / CHUNK..end.div_ceil(CHUNK);
        if tail.owners.len() > FEW_SWAPS && chunks.len() > 1 {
            let middle = (chunks.start + chunks.len() / 2) * CHUNK;
            let (left, right) = rows.split_at(middle - start);
            let (left_tail, right_tail) = tail.split_at(self.count_in(start..middle));
            rayon::join(
                || self.change_places(start, left, left_tail),
                || self.change_places(middle, right, right_tail),
            );
            return;
        }
        let mut at = 0;
        for chunk in chunks {
            let first = chunk * CHUNK;
            // As in `move_each`: the second loop's look-ups are under way together.
            for movers in self.movers(chunk, &(start..end)).chunks(64) {
                for mover in movers {
                    rows.swap(first + mover.slot() - start, &mut tail, at);
                    at += 1;
                }
                // Rows that now lie among the first that stay, lie there for good.
                if start < self.stay {
                    for mover in movers {
                        let slot = first + mover.slot();
                        self.places[rows.tags[slot - start].key].set(Place::new(self.bucket, slot));
                    }
                }
            }
        }
    }

    /// Does the same for the rows from `start` on, of which few stay: at the cost of an exchange for each leaver, where the
    /// other way would have very many short tails.
    fn bring_nearly_all<T: Owner>(&self, start: usize, columns: &mut Columns<T>, order: &mut VecDeque<Key>) {
        let len = columns.len();
        // Their order: each leaver is replaced by the last row behind it, which is then the first.
        order.clear();
        let (mut seen, mut turns) = (len, 0);
        for slot in self.slots_from_last(start) {
            order_staying(columns, slot + 1..seen, &mut turns, order);
            seen = slot;
            turns += 1;
        }
        order_staying(columns, start..seen, &mut turns, order);
        turn(order, turns);
        let mut end = len;
        for slot in self.slots_from_last(start) {
            end -= 1;
            swap_rows(columns, slot, end);
        }
        for (slot, key) in (start..).zip(order.iter()) {
            if let Some(at) = columns.tags[slot..end].iter().position(|tag| tag.key == *key) {
                swap_rows(columns, slot, slot + at);
            }
            if start == 0 {
                self.places[*key].set(Place::new(self.bucket, slot));
            }
        }
    }

    /// The slots of the leavers from `start` on, from the last to the first.
    fn slots_from_last(&self, start: usize) -> impl Iterator<Item = usize> {
        let slots = self
            .chunks
            .iter()
            .enumerate()
            .rev()
            .flat_map(|(chunk, ticked)| ticked.list.iter().rev().map(move |mover| chunk * CHUNK + mover.slot()));
        slots.take_while(move |slot| *slot >= start)
    }

    /// How many of some rows leave.
    fn count_in(&self, rows: Range<usize>) -> usize {
        (rows.start / CHUNK..rows.end.div_ceil(CHUNK)).map(|chunk| self.movers(chunk, &rows).len()).sum()
    }

    /// The movers of a chunk that are among some rows.
    fn movers(&self, chunk: usize, rows: &Range<usize>) -> &[Mover] {
        let movers = &self.chunks[chunk].list;
        let first = chunk * CHUNK;
        let behind = |row: usize| match row.checked_sub(first) {
            None => 0,
            Some(slot) if slot >= CHUNK => movers.len(),
            Some(slot) => movers::count_before(movers, slot),
        };
        &movers[behind(rows.start)..behind(rows.end)]
    }
}

/// Puts rows that stay before the rows behind them, which leavers have rotated so many times.
fn order_staying<T: Owner>(columns: &Columns<T>, rows: Range<usize>, turns: &mut usize, order: &mut VecDeque<Key>) {
    if !rows.is_empty() {
        turn(order, mem::take(turns));
        rows.rev().for_each(|slot| order.push_front(columns.tags[slot].key));
    }
}

fn turn(order: &mut VecDeque<Key>, turns: usize) {
    if let Some(turns) = turns.checked_rem(order.len()) {
        order.rotate_right(turns);
    }
}

fn swap_rows<T: Owner>(columns: &mut Columns<T>, slot: usize, other: usize) {
    columns.owners.swap(slot, other);
    columns.tags.swap(slot, other);
    if !columns.times.current.is_empty() {
        columns.times.current.swap(slot, other);
    }
}
