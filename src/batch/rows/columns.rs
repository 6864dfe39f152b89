//! The rows of one bucket as columns: the owners, and beside them the data that the batch stores for each owner.

use std::mem;
use std::ops::Range;

use crate::batch::known::key::{Key, Place, Places};
use crate::batch::known::slots::CHUNK;
use crate::batch::known::states::MOST_STATES;
use crate::fsm::time_or_zero;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::Mover;

/// The columns of one bucket. A tick in which no owner changes reads and writes only `owners`.
pub(crate) struct Columns<T: Owner> {
    pub(crate) owners: Vec<T>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) times: Times,
    /// In a bucket with seats: the seats of the owners. They contain the times of the owners, so `times` is empty. In other
    /// buckets, `seats` is empty.
    pub(crate) seats: Vec<Seat<T>>,
    /// Empty seats that were left over when `clone_from` had fewer seats to copy. Their memory is reused.
    spare_seats: Vec<Seat<T>>,
    /// The number of sleeping owners. Their rows come first, so that other rows are added and removed at the end.
    pub(crate) asleep: usize,
    /// The revision of the bucket's state when the sleepers were last checked. All of them fell asleep at this revision or at a
    /// later one. Without sleepers, it may be any number.
    pub(crate) revision: usize,
    /// The slots of the owners for which something is due in the current tick, in ascending order.
    pub(crate) due: Vec<u32>,
    /// The changes that are due in the current tick: the owner's slot, and the number of its target. Empty once these changes
    /// have been made.
    pub(crate) changes_due: Vec<(u32, u32)>,
    /// The pairs of rows that have exchanged their tags, but not yet their other data. Empty between two ticks.
    exchanges: Vec<(u32, u32)>,
    /// The rows that leave in the current tick.
    pub(crate) leavers: Leavers<T>,
}

/// The data of some consecutive rows of a bucket, without the owners and their seats.
#[derive(Clone, Copy)]
pub(crate) struct NotedColumns<'a> {
    /// The slot of the first of these rows in the bucket. In a chunk, this row has the slot 0.
    pub(crate) first: usize,
    pub(crate) tags: &'a [Tag],
    /// When the current states were entered, in seconds. `ancestors` has the times of their ancestors, row by row, outermost
    /// first. Both are empty if no times are kept.
    pub(crate) current: &'a [f64],
    pub(crate) ancestors: &'a [f64],
    pub(crate) depth: usize,
    pub(crate) asleep: usize,
    /// The earliest revision of the state at which the sleepers may have fallen asleep.
    pub(crate) revision: usize,
    /// The slots of the owners for which something is due, in ascending order. These are slots in the bucket.
    pub(crate) due: &'a [u32],
}

impl NotedColumns<'_> {
    /// Returns a part of the rows. `range` counts slots in the bucket.
    #[inline]
    pub(crate) fn narrow(self, range: &Range<usize>) -> Self {
        let Self { first, tags, current, ancestors, depth, due, .. } = self;
        let (start, end) = (range.start - first, range.end - first);
        let due_before = |slot: usize| due.partition_point(|&due| (due as usize) < slot);
        Self {
            first: range.start,
            tags: &tags[start..end],
            current: current.get(start..end).unwrap_or_default(),
            ancestors: ancestors.get(start * depth..end * depth).unwrap_or_default(),
            due: if due.is_empty() { due } else { &due[due_before(range.start)..due_before(range.end)] },
            ..self
        }
    }
}

/// The key and the previous state of an owner. They are in one column because a move needs both.
#[derive(Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) key: Key,
    /// The number of the previous state, or `MOST_STATES`. The highest bit says whether the current state has been entered, and
    /// the next bit whether there may be timers.
    previous: u32,
}

const ENTERED: u32 = 1 << 31;
const HAS_TIMERS: u32 = 1 << 30;
const NUMBER: u32 = HAS_TIMERS - 1;

impl Tag {
    /// Creates the tag of an owner. `previous` is the number of its previous state, or `None` if this state is kept elsewhere.
    #[inline]
    pub(crate) fn new(key: Key, previous: Option<u32>, is_entered: bool) -> Self {
        Self { key, previous: previous.unwrap_or(MOST_STATES) | if is_entered { ENTERED } else { 0 } }
    }

    /// Returns the number of the previous state; `None` if it is kept elsewhere.
    #[inline]
    pub(crate) fn previous(self) -> Option<u32> {
        let index = self.previous & NUMBER;
        (index != MOST_STATES).then_some(index)
    }

    #[inline]
    pub(crate) fn is_entered(self) -> bool {
        self.previous & ENTERED != 0
    }

    /// Returns whether the owner may have data beside its row that a change can end: timers, or a previous state without a
    /// number.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        self.has_timers() || self.previous().is_none()
    }

    /// Returns whether the owner may have timers, or wakes by itself.
    #[inline]
    pub(crate) fn has_timers(self) -> bool {
        self.previous & HAS_TIMERS != 0
    }

    pub(crate) fn set_has_timers(&mut self, has_timers: bool) {
        self.previous = self.previous & !HAS_TIMERS | if has_timers { HAS_TIMERS } else { 0 };
    }

    /// Returns the tag that a mover's owner has after its change from the state of `bucket`.
    #[inline]
    pub(crate) fn moved(self, mover: Mover, bucket: u32) -> Self {
        let Self { previous, .. } = Self::new(self.key, Some(mover.previous_or(bucket)), true);
        Self { previous: previous | self.previous & HAS_TIMERS, ..self }
    }
}

/// When each owner's states were entered, in seconds. Empty until the batch has seen a clock.
#[derive(Clone, Default)]
pub(crate) struct Times {
    /// When the current state was entered.
    pub(crate) current: Vec<f64>,
    /// When the ancestors of the current state were entered, row by row, outermost first.
    pub(crate) ancestors: Vec<f64>,
    /// The number of ancestors in each row.
    pub(crate) depth: usize,
}

impl Times {
    /// Adds a row's times.
    pub(crate) fn push(&mut self, current: f64, ancestors: &[f64]) {
        self.current.push(time_or_zero(current));
        let len = self.ancestors.len() + self.depth;
        self.ancestors.extend(ancestors.iter().take(self.depth).map(|at| time_or_zero(*at)));
        self.ancestors.resize(len, 0.0);
    }

    /// Sets a row's times.
    pub(crate) fn set(&mut self, slot: usize, current: f64, ancestors: &[f64]) {
        self.current[slot] = time_or_zero(current);
        let row = self.ancestors.iter_mut().skip(slot * self.depth).take(self.depth);
        row.zip(ancestors).for_each(|(at, entered_at)| *at = time_or_zero(*entered_at));
    }

    /// Returns when a row's owner entered the active state at a depth.
    #[cfg(feature = "serde")]
    pub(crate) fn at(&self, slot: usize, depth: usize) -> f64 {
        let at =
            if depth == self.depth { self.current.get(slot) } else { self.ancestors.get(slot * self.depth + depth) };
        at.copied().unwrap_or(0.0)
    }

    fn append(&mut self, other: &mut Self) {
        self.current.append(&mut other.current);
        self.ancestors.append(&mut other.ancestors);
    }
}

/// Appends the times at which the outermost `kept` active states of a row were entered. `ancestors` and `current` are the times
/// of this row.
#[inline]
pub(crate) fn append_kept(ancestors: &[f64], current: f64, kept: usize, to: &mut Vec<f64>) {
    if let Some(outermost) = ancestors.get(..kept) {
        to.extend_from_slice(outermost);
    } else {
        to.extend_from_slice(ancestors);
        to.push(current);
    }
}

impl<T: Owner> Columns<T> {
    /// Creates columns for owners whose states have `depth` ancestors.
    pub(crate) const fn new(depth: usize) -> Self {
        let times = Times { current: Vec::new(), ancestors: Vec::new(), depth };
        Self {
            owners: Vec::new(),
            tags: Vec::new(),
            times,
            seats: Vec::new(),
            spare_seats: Vec::new(),
            asleep: 0,
            revision: 0,
            due: Vec::new(),
            changes_due: Vec::new(),
            exchanges: Vec::new(),
            leavers: Leavers::new(),
        }
    }

    /// Returns the owners, their seats, and the other columns.
    pub(crate) fn split(&mut self) -> (&mut [T], &mut [Seat<T>], NotedColumns<'_>) {
        let Self { owners, tags, times: Times { current, ancestors, depth }, seats, asleep, revision, due, .. } = self;
        let (depth, asleep, revision) = (*depth, *asleep, *revision);
        (owners, seats, NotedColumns { first: 0, tags, current, ancestors, depth, asleep, revision, due })
    }

    pub(crate) fn noted(&self) -> NotedColumns<'_> {
        let Self { tags, times: Times { current, ancestors, depth }, asleep, revision, due, .. } = self;
        let (depth, asleep, revision) = (*depth, *asleep, *revision);
        NotedColumns { first: 0, tags, current, ancestors, depth, asleep, revision, due }
    }

    /// Returns all rows, the slots of the owners for which something is due, and the rows that leave.
    pub(crate) fn rows_mut(&mut self) -> (RowsMut<'_, T>, &[u32], &mut Leavers<T>) {
        let Self { owners, tags, times: Times { current, ancestors, depth }, seats, due, leavers, .. } = self;
        (RowsMut { first: 0, owners, tags, current, ancestors, depth: *depth, seats }, due, leavers)
    }

    pub(crate) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    pub(crate) fn reserve(&mut self, additional: usize, has_clock: bool) {
        self.owners.reserve(additional);
        self.tags.reserve(additional);
        if has_clock {
            self.times.current.reserve(additional);
            self.times.ancestors.reserve(additional * self.times.depth);
        }
    }

    /// Frees memory that no row uses.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.owners.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.times.current.shrink_to_fit();
        self.times.ancestors.shrink_to_fit();
        self.seats.shrink_to_fit();
        self.spare_seats = Vec::new();
    }

    /// Copies `source` into the existing seats, and keeps the memory of seats that are left over.
    fn clone_seats_from(&mut self, source: &[Seat<T>]) {
        let kept = source.len().min(self.seats.len());
        let nothing = Seat::empty();
        self.seats[kept..].iter_mut().for_each(|seat| seat.clone_from(&nothing));
        self.spare_seats.extend(self.seats.drain(kept..));
        self.seats.resize_with(source.len(), || self.spare_seats.pop().unwrap_or(Seat::empty()));
        self.seats.iter_mut().zip(source).for_each(|(seat, source)| seat.clone_from(source));
        // The next call may copy fewer seats, and moves the others here.
        self.spare_seats.reserve(self.seats.len());
    }

    /// Frees the memory of an empty bucket, because the bucket may stay empty. Memory for 64 owners or fewer is kept.
    pub(crate) fn give_back(&mut self) {
        if self.owners.capacity() > 64 {
            *self = Self::new(self.times.depth);
        }
    }

    /// Starts to keep times, and gives every row the time 0. In a bucket with seats, the seats already contain the times.
    pub(crate) fn start_clock(&mut self) {
        if !self.seats.is_empty() {
            return;
        }
        self.times.current.resize(self.owners.len(), 0.0);
        self.times.ancestors.resize(self.owners.len() * self.times.depth, 0.0);
    }

    pub(crate) fn is_asleep(&self, slot: usize) -> bool {
        slot < self.asleep
    }

    /// Moves the tag of the row at a place to the sleeping or to the awake rows. The tag at their boundary takes its place. Updates
    /// the `places` of both, and returns the new slot. [`finish_exchanges`](Self::finish_exchanges) moves the other data of the
    /// rows.
    pub(crate) fn set_asleep(&mut self, place: Place, is_asleep: bool, places: &Places) -> u32 {
        if self.is_asleep(place.slot()) == is_asleep {
            return place.slot;
        }
        self.asleep -= usize::from(!is_asleep);
        let other = Place::new(place.bucket, self.asleep);
        self.asleep += usize::from(is_asleep);
        if other != place {
            self.tags.swap(place.slot(), other.slot());
            self.exchanges.push((place.slot, other.slot));
            places[self.tags[place.slot()].key].set(place);
            places[self.tags[other.slot()].key].set(other);
        }
        other.slot
    }

    /// Exchanges the other data of the rows whose tags have been exchanged. The loops are so short that the processor fetches
    /// the data of many rows at a time.
    pub(crate) fn finish_exchanges(&mut self) {
        let Self { owners, times: Times { current, ancestors, depth }, seats, exchanges, .. } = self;
        let pairs = exchanges.iter().map(|&(slot, other)| (slot as usize, other as usize));
        pairs.clone().for_each(|(slot, other)| owners.swap(slot, other));
        if !current.is_empty() {
            pairs.clone().for_each(|(slot, other)| current.swap(slot, other));
        }
        let depth = if ancestors.is_empty() { 0 } else { *depth };
        for nth in 0..depth {
            pairs.clone().for_each(|(slot, other)| ancestors.swap(slot * depth + nth, other * depth + nth));
        }
        if !seats.is_empty() {
            pairs.for_each(|(slot, other)| seats.swap(slot, other));
        }
        exchanges.clear();
    }

    /// Moves all rows of `other` to the end of these rows.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            self.swap_rows(other);
        } else {
            self.append_kept(other);
        }
    }

    /// Moves all rows of `other` to the end of these rows. Both keep their memory.
    pub(crate) fn append_kept(&mut self, other: &mut Self) {
        self.owners.append(&mut other.owners);
        self.tags.append(&mut other.tags);
        self.times.append(&mut other.times);
        self.seats.append(&mut other.seats);
    }

    /// Exchanges all rows, with their memory.
    pub(crate) fn swap_rows(&mut self, other: &mut Self) {
        mem::swap(&mut self.owners, &mut other.owners);
        mem::swap(&mut self.tags, &mut other.tags);
        mem::swap(&mut self.times.current, &mut other.times.current);
        mem::swap(&mut self.times.ancestors, &mut other.times.ancestors);
        mem::swap(&mut self.seats, &mut other.seats);
    }
}

/// Some consecutive rows.
pub(crate) struct RowsMut<'a, T: Owner> {
    /// The slot of the first of these rows in the bucket.
    pub(crate) first: usize,
    pub(crate) owners: &'a mut [T],
    pub(crate) tags: &'a mut [Tag],
    /// When the current states were entered, in seconds. `ancestors` has the times of their ancestors, row by row, outermost
    /// first. Both are empty if no times are kept.
    pub(crate) current: &'a mut [f64],
    pub(crate) ancestors: &'a mut [f64],
    pub(crate) depth: usize,
    /// Empty in buckets without seats.
    pub(crate) seats: &'a mut [Seat<T>],
}

impl<T: Owner> RowsMut<'_, T> {
    /// Splits the rows before a slot.
    pub(crate) fn split_at(self, slot: usize) -> (Self, Self) {
        let Self { first, owners, tags, current, ancestors, depth, seats } = self;
        let at = slot - first;
        let (owners, other_owners) = owners.split_at_mut(at);
        let (tags, other_tags) = tags.split_at_mut(at);
        let (current, other_current) = current.split_at_mut(at.min(current.len()));
        let (ancestors, other_ancestors) = ancestors.split_at_mut((at * depth).min(ancestors.len()));
        let (seats, other_seats) = seats.split_at_mut(at.min(seats.len()));
        (
            Self { first, owners, tags, current, ancestors, depth, seats },
            Self {
                first: slot,
                owners: other_owners,
                tags: other_tags,
                current: other_current,
                ancestors: other_ancestors,
                depth,
                seats: other_seats,
            },
        )
    }
}

impl<T: Owner + Clone> Clone for Columns<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::new(0);
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        self.owners.clone_from(&source.owners);
        self.tags.clone_from(&source.tags);
        self.times.current.clone_from(&source.times.current);
        self.times.ancestors.clone_from(&source.times.ancestors);
        self.times.depth = source.times.depth;
        self.clone_seats_from(&source.seats);
        self.asleep = source.asleep;
        self.revision = source.revision;
    }
}

/// Iterates over the buckets with their numbers, in the order of the states. `order` contains the numbers of the states.
pub(crate) fn in_order<'a, T: Owner>(
    buckets: &'a mut [Columns<T>],
    order: &'a [u32],
) -> impl Iterator<Item = (u32, &'a mut Columns<T>)> {
    let mut buckets: Vec<_> = buckets.iter_mut().map(Some).collect();
    order.iter().filter_map(move |&bucket| Some((bucket, buckets[bucket as usize].take()?)))
}

/// The largest number of leavers for which a bucket keeps memory from one tick to the next.
const MOST_ROOM: usize = 16 * CHUNK;

/// A row that leaves.
#[derive(Clone, Copy)]
pub(crate) struct Leaver {
    pub(crate) slot: u32,
    pub(crate) target: u32,
    /// The index of its data in `times` or `seats` of [`Leavers`]; `NOTHING` if all its data is in the row.
    pub(crate) beside: u32,
}

pub(crate) const NOTHING: u32 = u32::MAX;

impl Leaver {
    #[inline]
    fn new(slot: usize, target: u32) -> Self {
        Self { slot: Place::new(target, slot).slot, target, beside: NOTHING }
    }
}

/// The gap that a leaver leaves.
#[derive(Clone, Copy)]
pub(crate) struct Gap {
    /// The slot of the leaver.
    pub(crate) slot: u32,
    /// The slot of the row that takes its place.
    pub(crate) row: u32,
}

/// The rows of a bucket that leave it. Empty between two ticks.
pub(crate) struct Leavers<T: Owner> {
    pub(crate) list: Vec<Leaver>,
    /// Whether the list is not sorted by slot.
    is_unsorted: bool,
    /// A buffer for the list in another order.
    pub(crate) order: Vec<Leaver>,
    pub(crate) gaps: Vec<Gap>,
    /// For each leaver from or to a nested state, or from an owned state: when its new state was entered, and then when the
    /// ancestors of this state were.
    pub(crate) times: Vec<f64>,
    /// The seats of the leavers that change from a state that is not owned to an owned state.
    pub(crate) seats: Vec<Seat<T>>,
    /// Whether some leavers leave a nested or an owned state, or enter one.
    pub(crate) are_mixed: bool,
}

impl<T: Owner> Leavers<T> {
    pub(crate) const fn new() -> Self {
        Self {
            list: Vec::new(),
            is_unsorted: false,
            order: Vec::new(),
            gaps: Vec::new(),
            times: Vec::new(),
            seats: Vec::new(),
            are_mixed: false,
        }
    }

    /// Adds a leaver, and returns its index. All its data is in its row until `add_times` or `add_seat` is called.
    pub(crate) fn add(&mut self, slot: usize, target: u32) -> usize {
        let leaver = Leaver::new(slot, target);
        self.is_unsorted |= self.list.last().is_some_and(|last| leaver.slot < last.slot);
        self.list.push(leaver);
        self.list.len() - 1
    }

    /// Adds the movers of a chunk that begins at `start`, except those whose target is `bucket`. All their data is in their rows.
    /// Calls `mark` with every mover.
    #[inline]
    pub(crate) fn add_all(&mut self, bucket: u32, start: usize, movers: &[Mover], mut mark: impl FnMut(Mover)) {
        let (first, last) = (self.list.len(), self.list.last().map(|last| last.slot));
        let mut all_leave = true;
        self.list.extend(movers.iter().map(|mover| {
            mark(*mover);
            all_leave &= mover.target() != bucket;
            Leaver::new(start + mover.slot(), mover.target())
        }));
        self.is_unsorted |= self.list.get(first).map(|leaver| leaver.slot) < last;
        if !all_leave {
            self.leave_out(bucket, first);
        }
    }

    /// Removes the movers that do not leave `bucket`, from the index `first` on.
    #[cold]
    fn leave_out(&mut self, bucket: u32, first: usize) {
        let mut len = first;
        for nth in first..self.list.len() {
            if self.list[nth].target != bucket {
                self.list[len] = self.list[nth];
                len += 1;
            }
        }
        self.list.truncate(len);
    }

    /// Sorts the list by slot.
    pub(crate) fn sort(&mut self) {
        if mem::take(&mut self.is_unsorted) {
            self.list.sort_unstable_by_key(|leaver| leaver.slot);
        }
    }

    /// Notes when the states of a leaver are entered: the current state at `current`, its outermost ancestors at the times that
    /// `kept` appends, and the other ancestors at `rest`.
    pub(crate) fn add_times(
        &mut self,
        nth: usize,
        current: f64,
        kept: impl FnOnce(&mut Vec<f64>),
        (depth, rest): (usize, f64),
    ) {
        let at = self.times.len();
        self.times.push(time_or_zero(current));
        kept(&mut self.times);
        self.times.resize(at + 1 + depth, rest);
        self.list[nth].beside = Place::new(0, at).slot;
    }

    /// Adds the seat of a leaver.
    pub(crate) fn add_seat(&mut self, nth: usize, seat: Seat<T>) {
        self.list[nth].beside = Place::new(0, self.seats.len()).slot;
        self.seats.push(seat);
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.order.clear();
        self.gaps.clear();
        self.times.clear();
        self.seats.clear();
        self.are_mixed = false;
        self.list.shrink_to(MOST_ROOM);
        self.order.shrink_to(MOST_ROOM);
        self.gaps.shrink_to(MOST_ROOM);
        self.times.shrink_to(MOST_ROOM);
    }
}
