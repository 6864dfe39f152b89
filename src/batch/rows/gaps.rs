//! How rows leave their bucket.
//!
//! After the tick of a chunk, a row that leaves is only marked: it gets the tag that it will have in its new bucket, and its
//! target is added to a list. After the last chunk, the gaps are closed: the last of the rows that stay take the slots of the
//! leavers before them, in the same order. Then the leavers are the last rows of the bucket, and move to the arrivals of their
//! new buckets. Leavers in the sleeping part of the bucket are moved to the awake part before.

use std::mem;

use super::columns::{Columns, Leaver, Leavers, NOTHING, RowsMut, Tag, append_kept};
use crate::batch::known::key::{Place, Places};
use crate::batch::known::states::States;
use crate::fsm::time_or_zero;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::Mover;

/// The rows that have arrived for each bucket, by the bucket's number.
pub(crate) trait Arrivals<T: Owner> {
    fn of(&mut self, bucket: u32) -> &mut Columns<T>;
}

impl<T: Owner> Arrivals<T> for Vec<Columns<T>> {
    #[inline]
    fn of(&mut self, bucket: u32) -> &mut Columns<T> {
        &mut self[bucket as usize]
    }
}

/// Marking rows.
impl<T: Owner> Columns<T> {
    /// Marks the rows of the movers of a chunk that begins at `start`. Movers that change to their own state are marked, but do
    /// not leave `bucket`.
    pub(crate) fn mark(&mut self, bucket: u32, start: usize, movers: &[Mover], moved_at: f64, states: &States<T>) {
        self.list_leavers(bucket, start, movers, moved_at, states);
        let times = self.times.current.get_mut(start..).unwrap_or_default();
        mark_rows(bucket, &mut self.tags[start..], times, movers, moved_at);
    }

    /// Adds the movers that leave `bucket` to the leavers, and notes the times of nested states. The rows of movers from or to
    /// nested states must not have been marked yet, because marking overwrites their times.
    pub(crate) fn list_leavers(
        &mut self,
        bucket: u32,
        start: usize,
        movers: &[Mover],
        moved_at: f64,
        states: &States<T>,
    ) {
        let Self { times, leavers, .. } = self;
        for mover in movers.iter().filter(|mover| mover.target() != bucket) {
            let (slot, target) = (start + mover.slot(), mover.target());
            leavers.add(slot, target);
            if !states.is_nested(bucket) && !states.is_nested(target) {
                continue;
            }
            leavers.are_mixed = true;
            if !times.current.is_empty() {
                let depth = states.get(target).ancestors.len();
                let kept = states.kept(bucket, target).min(depth);
                let ancestors = &times.ancestors[slot * times.depth..(slot + 1) * times.depth];
                let kept = |to: &mut Vec<f64>| append_kept(ancestors, times.current[slot], kept, to);
                leavers.add_times(moved_at, kept, (depth, moved_at));
            }
        }
    }

    /// Marks the row at a slot, which leaves with `tag` and with the data of `seat`. The caller updates the map of extras.
    pub(crate) fn mark_with(
        &mut self,
        (slot, tag): (usize, Tag),
        (target, states): (u32, &States<T>),
        seat: &mut Seat<T>,
        has_clock: bool,
    ) {
        let Self { tags, times, seats, leavers, .. } = self;
        let known = states.get(target);
        let depth = known.ancestors.len();
        tags[slot] = tag;
        leavers.add(slot, target);
        let is_mixed = known.has_seats || depth > 0 || times.depth > 0 || !seats.is_empty();
        leavers.are_mixed |= is_mixed;
        if known.has_seats {
            if let Some(own) = seats.get_mut(slot) {
                mem::swap(own, seat);
            } else {
                leavers.seats.push(mem::replace(seat, Seat::empty()));
                leavers.note_beside(leavers.seats.len() - 1);
            }
        } else if has_clock && is_mixed {
            let ancestors = seat.rare.as_ref().map_or(&[][..], |rare| &rare.ancestors_entered_at);
            let kept = |to: &mut Vec<f64>| to.extend(ancestors.iter().take(depth).map(|at| time_or_zero(*at)));
            leavers.add_times(seat.entered_at, kept, (depth, 0.0));
        } else if has_clock {
            times.current[slot] = time_or_zero(seat.entered_at);
        }
    }
}

/// Marks the rows of a chunk's movers: their tags, and the times of their current states, if times are kept.
pub(crate) fn mark_rows(bucket: u32, tags: &mut [Tag], times: &mut [f64], movers: &[Mover], moved_at: f64) {
    for mover in movers {
        let slot = mover.slot();
        tags[slot] = tags[slot].moved(*mover, bucket);
        if let Some(time) = times.get_mut(slot) {
            *time = moved_at;
        }
    }
}

/// Moving marked rows out of the bucket.
impl<T: Owner> Columns<T> {
    /// Moves the leavers to the end of the rows. Afterwards, the list of leavers has the order of these rows.
    pub(crate) fn close_gaps(&mut self, bucket: u32, places: &Places) {
        if let Some(gaps) = self.prepare_gaps(bucket, places) {
            gaps.close();
        }
    }

    /// Moves sleeping leavers to the awake rows, and sorts the leavers into the order that they will have as the last rows. Returns
    /// the gaps, if there are any.
    #[inline]
    pub(crate) fn prepare_gaps<'a>(&'a mut self, bucket: u32, places: &'a Places) -> Option<Gaps<'a, T>> {
        Leaver::sort(&mut self.leavers.list);
        if self.asleep > 0 {
            self.wake_leavers(bucket, places);
        }
        let stay = self.len() - self.leavers.list.len();
        let (rows, _, Leavers { list, order, .. }) = self.rows_mut();
        let (mut before, in_tail) = list.split_at(list.partition_point(|leaver| (leaver.slot as usize) < stay));
        if before.is_empty() {
            return None;
        }
        if !in_tail.is_empty() {
            order.clear();
            for own in in_tail {
                let (gaps, rest) = before.split_at(own.slot as usize - stay - order.len());
                order.extend_from_slice(gaps);
                order.push(*own);
                before = rest;
            }
            order.extend_from_slice(before);
            mem::swap(list, order);
        }
        let (rows, tail) = rows.split_at(stay);
        Some(Gaps { bucket, places, rows, tail, order: list })
    }

    /// Moves the sleeping leavers to the awake rows.
    fn wake_leavers(&mut self, bucket: u32, places: &Places) {
        let asleep = self.leavers.list.partition_point(|leaver| self.is_asleep(leaver.slot as usize));
        // From the last to the first, so that each leaver is exchanged with a row that stays.
        for nth in (0..asleep).rev() {
            let slot = self.leavers.list[nth].slot;
            self.leavers.list[nth].slot = self.set_asleep(Place { bucket, slot }, false, places);
        }
        self.finish_exchanges();
    }

    /// Moves the leavers, which are the last rows, to the arrivals, from the first to the last.
    pub(crate) fn hand_out(&mut self, states: &States<T>, has_clock: bool, arrivals: &mut impl Arrivals<T>) {
        let stay = self.len() - self.leavers.list.len();
        if self.leave_together(stay, arrivals) {
            return;
        }
        let Self { owners, tags, times, seats, leavers, .. } = self;
        let current = if leavers.are_mixed { None } else { times.current.get(stay..) };
        let rows = LastRows { tags: &tags[stay..], times: current.unwrap_or_default(), leavers: &leavers.list };
        rows.hand_out(owners.drain(stay..), arrivals);
        for (leaver, slot) in leavers.list.iter().zip(stay..).filter(|_| leavers.are_mixed) {
            let (target, beside) = (leaver.target, leaver.beside as usize);
            if states.get(target).has_seats {
                let seat = seats.get_mut(slot).unwrap_or_else(|| &mut leavers.seats[beside]);
                arrivals.of(target).seats.push(mem::replace(seat, Seat::empty()));
            } else if has_clock && leaver.beside == NOTHING {
                arrivals.of(target).times.push(times.current.get(slot).copied().unwrap_or(0.0), &[]);
            } else if has_clock {
                arrivals.of(target).times.push(leavers.times[beside], &leavers.times[beside + 1..]);
            }
        }
        self.forget_leavers(stay);
    }

    /// Moves all rows at once by exchanging the columns, if all of them leave for the same flat state and no row has arrived
    /// there yet. Returns whether it has moved the rows.
    pub(crate) fn leave_together(&mut self, stay: usize, arrivals: &mut impl Arrivals<T>) -> bool {
        let list = &self.leavers.list;
        let Some(first) = list.first().filter(|_| stay == 0 && !self.leavers.are_mixed) else { return false };
        let to = arrivals.of(first.target);
        let are_together = to.is_empty() && list.iter().all(|leaver| leaver.target == first.target);
        if are_together {
            self.swap_rows(to);
            self.leavers.clear();
        }
        are_together
    }

    /// Removes the rows after the first `stay` rows, whose owners have already been moved out.
    pub(crate) fn forget_leavers(&mut self, stay: usize) {
        let Self { tags, times, seats, leavers, .. } = self;
        tags.truncate(stay);
        times.current.truncate(stay);
        times.ancestors.truncate(stay * times.depth);
        seats.truncate(stay);
        leavers.clear();
    }

    /// Removes the row at a place, and returns its owner. The row's seat, if it has one, must be empty.
    pub(crate) fn take_out(&mut self, place: Place, places: &Places) -> Option<T> {
        self.leavers.add(place.slot(), place.bucket);
        self.close_gaps(place.bucket, places);
        let owner = self.owners.pop();
        self.forget_leavers(self.owners.len());
        owner
    }
}

/// The last rows of a bucket, which leave it: all columns but the owners.
pub(crate) struct LastRows<'a> {
    pub(crate) tags: &'a [Tag],
    /// Empty if no times are kept, or if some rows leave a nested or an owned state, or enter one.
    pub(crate) times: &'a [f64],
    pub(crate) leavers: &'a [Leaver],
}

impl LastRows<'_> {
    /// Splits the rows before the `nth`.
    #[cfg(feature = "parallel")]
    pub(crate) fn split_at(self, nth: usize) -> (Self, Self) {
        let Self { tags, times, leavers } = self;
        let (tags, other_tags) = tags.split_at(nth);
        let (times, other_times) = times.split_at(nth.min(times.len()));
        let (leavers, other_leavers) = leavers.split_at(nth);
        (Self { tags, times, leavers }, Self { tags: other_tags, times: other_times, leavers: other_leavers })
    }

    /// Adds the rows to the arrivals of their new buckets. A loop for each column is faster than one loop, whose data would not
    /// fit into the registers of the processor.
    pub(crate) fn hand_out<T: Owner>(&self, owners: impl Iterator<Item = T>, arrivals: &mut impl Arrivals<T>) {
        let Self { tags, times, leavers } = self;
        for (owner, leaver) in owners.zip(*leavers) {
            arrivals.of(leaver.target).owners.push(owner);
        }
        for (tag, leaver) in tags.iter().zip(*leavers) {
            arrivals.of(leaver.target).tags.push(*tag);
        }
        for (time, leaver) in times.iter().zip(*leavers) {
            arrivals.of(leaver.target).times.current.push(*time);
        }
    }
}

/// Rows of a bucket, and the tail after them.
pub(crate) struct Gaps<'a, T: Owner> {
    bucket: u32,
    places: &'a Places,
    rows: RowsMut<'a, T>,
    tail: RowsMut<'a, T>,
    /// For each row of the tail, the leaver that takes its place when the gaps are closed: a leaver among `rows` if the row
    /// stays, otherwise the row itself.
    order: &'a [Leaver],
}

impl<T: Owner> Gaps<'_, T> {
    /// Returns how many rows the tail has.
    #[cfg(feature = "parallel")]
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Splits the gaps into two parts that can be closed at the same time.
    #[cfg(feature = "parallel")]
    pub(crate) fn split(self) -> (Self, Self) {
        let Self { bucket, places, rows, tail, order } = self;
        let (order, other_order) = order.split_at(order.len() / 2);
        let (first, end) = (tail.first, rows.first + rows.owners.len());
        let (tail, other_tail) = tail.split_at(first + order.len());
        let gap = other_order.iter().find(|leaver| (leaver.slot as usize) < first);
        let (rows, other_rows) = rows.split_at(gap.map_or(end, |gap| gap.slot as usize));
        (
            Self { bucket, places, rows, tail, order },
            Self { bucket, places, rows: other_rows, tail: other_tail, order: other_order },
        )
    }

    /// Exchanges each leaver before the tail with a row of the tail that stays.
    #[inline]
    pub(crate) fn close(self) {
        let Self { bucket, places, rows, tail, order } = self;
        let (first, depth) = (rows.first, rows.depth);
        exchange(rows.owners, tail.owners, (first, order));
        exchange(rows.tags, tail.tags, (first, order));
        exchange(rows.current, tail.current, (first, order));
        exchange(rows.seats, tail.seats, (first, order));
        if !rows.ancestors.is_empty() {
            for (leaver, other) in order.iter().zip(tail.ancestors.chunks_exact_mut(depth)) {
                let at = (leaver.slot as usize - first) * depth;
                if let Some(row) = rows.ancestors.get_mut(at..at + depth) {
                    row.swap_with_slice(other);
                }
            }
        }
        // This is a loop of its own because it is so short that the processor runs several of its look-ups at the same time.
        for leaver in order {
            if let Some(tag) = rows.tags.get(leaver.slot as usize - first) {
                places[tag.key].set(Place { bucket, slot: leaver.slot });
            }
        }
    }
}

/// In one column, exchanges each leaver among the rows with its row of the tail. `first` is the slot of the first row. Leavers that
/// are already in the tail stay where they are.
fn exchange<X>(rows: &mut [X], tail: &mut [X], (first, order): (usize, &[Leaver])) {
    for (leaver, other) in order.iter().zip(tail) {
        if let Some(row) = rows.get_mut(leaver.slot as usize - first) {
            mem::swap(row, other);
        }
    }
}
