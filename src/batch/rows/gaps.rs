//! How rows leave their bucket.
//!
//! After the tick of a chunk, a row that leaves is only marked: it gets the tag that it will have in its new bucket, and its
//! target is added to a list. After the last chunk, the gaps are closed: the last of the rows that stay take the slots of the
//! leavers before them, in the same order. Then the leavers are the last rows of the bucket, and move to the arrivals of their
//! new buckets. Leavers in the sleeping part of the bucket are moved to the awake part before.
//!
//! Most buckets have few leavers in a tick, so the number of loops counts: each costs a branch that the processor cannot
//! predict.

use std::mem;

use super::columns::{Columns, Gap, Leaver, Leavers, NOTHING, RowsMut, Tag, Times, append_kept};
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
    /// Adds the movers of a chunk that begins at `start` to the leavers. Marks the rows of the movers, unless they are marked
    /// already. Movers that change to their own state are marked, but do not leave `bucket`. The rows of movers from or to nested
    /// states must not have been marked yet, because marking overwrites their times.
    pub(crate) fn mark(
        &mut self,
        bucket: u32,
        (start, movers): (usize, &[Mover]),
        moved_at: f64,
        are_marked: bool,
        states: &States<T>,
    ) {
        let Self { tags, times, leavers, .. } = self;
        let first = leavers.list.len();
        let tags = &mut tags[start..];
        if are_marked {
            leavers.add_all(bucket, start, movers, |_| {});
        } else {
            leavers.add_all(bucket, start, movers, |mover| mark_tag(bucket, tags, mover));
        }
        if states.has_nested {
            leavers.note_times(bucket, first, moved_at, times, states);
        }
        if !are_marked {
            mark_times(times.current.get_mut(start..).unwrap_or_default(), movers, moved_at);
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
        let nth = leavers.add(slot, target);
        let is_mixed = known.has_seats || depth > 0 || times.depth > 0 || !seats.is_empty();
        leavers.are_mixed |= is_mixed;
        if known.has_seats {
            if let Some(own) = seats.get_mut(slot) {
                mem::swap(own, seat);
            } else {
                leavers.add_seat(nth, mem::replace(seat, Seat::empty()));
            }
        } else if has_clock && is_mixed {
            let ancestors = seat.rare.as_ref().map_or(&[][..], |rare| &rare.ancestors_entered_at);
            let kept = |to: &mut Vec<f64>| to.extend(ancestors.iter().take(depth).map(|at| time_or_zero(*at)));
            leavers.add_times(nth, seat.entered_at, kept, (depth, 0.0));
        } else if has_clock {
            times.current[slot] = time_or_zero(seat.entered_at);
        }
    }
}

impl<T: Owner> Leavers<T> {
    /// Notes the times of the movers from or to nested states, from the index `first` on.
    fn note_times(&mut self, bucket: u32, first: usize, moved_at: f64, times: &Times, states: &States<T>) {
        for nth in first..self.list.len() {
            let Leaver { slot, target, .. } = self.list[nth];
            if !states.is_nested(bucket) && !states.is_nested(target) {
                continue;
            }
            self.are_mixed = true;
            if !times.current.is_empty() {
                let slot = slot as usize;
                let depth = states.get(target).ancestors.len();
                let kept = states.kept(bucket, target).min(depth);
                let ancestors = &times.ancestors[slot * times.depth..(slot + 1) * times.depth];
                let kept = |to: &mut Vec<f64>| append_kept(ancestors, times.current[slot], kept, to);
                self.add_times(nth, moved_at, kept, (depth, moved_at));
            }
        }
    }
}

/// Marks the rows of a chunk's movers: their tags, and the times of their current states, if times are kept.
#[cfg(feature = "parallel")]
pub(crate) fn mark_rows(bucket: u32, tags: &mut [Tag], times: &mut [f64], movers: &[Mover], moved_at: f64) {
    for mover in movers {
        mark_tag(bucket, tags, *mover);
    }
    mark_times(times, movers, moved_at);
}

#[inline]
fn mark_tag(bucket: u32, tags: &mut [Tag], mover: Mover) {
    let tag = &mut tags[mover.slot()];
    *tag = tag.moved(mover, bucket);
}

fn mark_times(times: &mut [f64], movers: &[Mover], moved_at: f64) {
    if !times.is_empty() {
        for mover in movers {
            times[mover.slot()] = moved_at;
        }
    }
}

/// Moving marked rows out of the bucket.
impl<T: Owner> Columns<T> {
    /// Moves the leavers to the end of the rows. Afterwards, the list of leavers has the order of these rows.
    pub(crate) fn close_gaps(&mut self, bucket: u32, places: &Places) {
        self.list_gaps(bucket, places);
        self.gaps(bucket, places).close();
    }

    /// Moves sleeping leavers to the awake rows, and lists the gaps. Sorts the leavers into the order that they will have as the
    /// last rows.
    pub(crate) fn list_gaps(&mut self, bucket: u32, places: &Places) {
        self.leavers.sort();
        if self.asleep > 0 {
            self.wake_leavers(bucket, places);
        }
        let stay = self.len() - self.leavers.list.len();
        let Leavers { list, order, gaps, .. } = &mut self.leavers;
        let (mut before, in_tail) = list.split_at(list.partition_point(|leaver| (leaver.slot as usize) < stay));
        if before.is_empty() {
            return;
        }
        let mut row = Place::new(bucket, stay).slot;
        for own in in_tail {
            let (leaving, rest) = before.split_at((own.slot - row) as usize);
            gaps.extend(leaving.iter().zip(row..).map(|(leaver, row)| Gap { slot: leaver.slot, row }));
            order.extend_from_slice(leaving);
            order.push(*own);
            (before, row) = (rest, own.slot + 1);
        }
        gaps.extend(before.iter().zip(row..).map(|(leaver, row)| Gap { slot: leaver.slot, row }));
        if !in_tail.is_empty() {
            order.extend_from_slice(before);
            mem::swap(list, order);
        }
    }

    /// Returns the gaps that have been listed.
    #[inline]
    pub(crate) fn gaps<'a>(&'a mut self, bucket: u32, places: &'a Places) -> Gaps<'a, T> {
        let stay = self.len() - self.leavers.list.len();
        let (rows, _, Leavers { gaps, .. }) = self.rows_mut();
        let (rows, tail) = rows.split_at(stay);
        Gaps { bucket, places, rows, tail, list: gaps }
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

    /// Adds the rows to the arrivals of their new buckets.
    pub(crate) fn hand_out<T: Owner>(&self, owners: impl Iterator<Item = T>, arrivals: &mut impl Arrivals<T>) {
        let Self { tags, times, leavers } = self;
        for (owner, (tag, leaver)) in owners.zip(tags.iter().zip(*leavers)) {
            let to = arrivals.of(leaver.target);
            to.owners.push(owner);
            to.tags.push(*tag);
        }
        for (time, leaver) in times.iter().zip(*leavers) {
            arrivals.of(leaver.target).times.current.push(*time);
        }
    }
}

/// Rows of a bucket with gaps, and the tail after them.
pub(crate) struct Gaps<'a, T: Owner> {
    bucket: u32,
    places: &'a Places,
    rows: RowsMut<'a, T>,
    tail: RowsMut<'a, T>,
    /// Sorted by slot, and also by row.
    list: &'a [Gap],
}

impl<T: Owner> Gaps<'_, T> {
    /// Returns the number of gaps.
    #[cfg(feature = "parallel")]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Splits the gaps into two parts that can be closed at the same time.
    #[cfg(feature = "parallel")]
    pub(crate) fn split(self) -> (Self, Self) {
        let Self { bucket, places, rows, tail, list } = self;
        let middle = list[list.len() / 2];
        let (list, other_list) = list.split_at(list.len() / 2);
        let (rows, other_rows) = rows.split_at(middle.slot as usize);
        let (tail, other_tail) = tail.split_at(middle.row as usize);
        (
            Self { bucket, places, rows, tail, list },
            Self { bucket, places, rows: other_rows, tail: other_tail, list: other_list },
        )
    }

    /// Exchanges each leaver before the tail with a row of the tail that stays.
    #[inline]
    pub(crate) fn close(self) {
        let Self { bucket, places, rows, tail, list } = self;
        let depth = rows.depth;
        let pairs = list.iter().map(|gap| (gap.slot as usize - rows.first, gap.row as usize - tail.first));
        for (gap, row) in pairs.clone() {
            mem::swap(&mut rows.owners[gap], &mut tail.owners[row]);
            mem::swap(&mut rows.tags[gap], &mut tail.tags[row]);
            places[rows.tags[gap].key].set(Place::new(bucket, rows.first + gap));
        }
        if !rows.current.is_empty() {
            pairs.clone().for_each(|(gap, row)| mem::swap(&mut rows.current[gap], &mut tail.current[row]));
        }
        if !rows.ancestors.is_empty() {
            for (gap, row) in pairs.clone() {
                let other = &mut tail.ancestors[row * depth..(row + 1) * depth];
                rows.ancestors[gap * depth..(gap + 1) * depth].swap_with_slice(other);
            }
        }
        if !rows.seats.is_empty() {
            pairs.for_each(|(gap, row)| mem::swap(&mut rows.seats[gap], &mut tail.seats[row]));
        }
    }
}
