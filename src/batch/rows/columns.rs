//! The rows of one bucket, as columns: the owners side by side, and what the batch notes of each beside them.

use std::ops::Range;
use std::{iter, mem};

use super::gaps::Leavers;
use crate::batch::known::key::Key;
use crate::batch::known::states::MOST_STATES;
use crate::fsm::time_or_zero;
use crate::machine::seat::Seat;
use crate::owner::Owner;
use crate::state::Mover;

/// A tick in which no owner changes touches `owners` alone.
pub(crate) struct Columns<T: Owner> {
    pub(crate) owners: Vec<T>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) times: Times,
    /// The seats of the owners in a bucket of owned states, which keeps no times beside them; elsewhere empty.
    pub(crate) seats: Vec<Seat<T>>,
    /// Empty seats that were left over when `clone_from` had fewer to copy; their room is used again.
    spare_seats: Vec<Seat<T>>,
    /// How many owners are asleep. Their rows are the first ones, so that rows come and go at the other end.
    pub(crate) asleep: usize,
    /// The state's revision when the sleepers were last looked at. All of them have fallen asleep in this one or a later one.
    pub(crate) revision: usize,
    /// The slots of the owners for which something is due in the tick under way, ascending.
    pub(crate) due: Vec<u32>,
    /// The changes that are due in the tick under way: the owner's slot, and the number of the state that it changes to. Empty in
    /// between.
    pub(crate) changes_due: Vec<(u32, u32)>,
    /// The rows that leave in the tick under way.
    pub(crate) leavers: Leavers<T>,
}

/// All that is noted of some consecutive owners of a bucket, but their seats.
#[derive(Clone, Copy)]
pub(crate) struct NotedColumns<'a> {
    /// The slot of the first of them.
    pub(crate) first: usize,
    pub(crate) tags: &'a [Tag],
    /// When their current states were entered; empty where no times are kept. So are the ancestors' times, row by row.
    pub(crate) current: &'a [f64],
    pub(crate) ancestors: &'a [f64],
    pub(crate) depth: usize,
    pub(crate) asleep: usize,
    /// The earliest revision of the state in which the sleepers may have fallen asleep.
    pub(crate) revision: usize,
    /// The slots of the owners for which something is due, ascending.
    pub(crate) due: &'a [u32],
}

impl NotedColumns<'_> {
    /// A part of them, by the slots in the bucket.
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

/// The key and the previous state of an owner. They are in one column, since a move needs both.
#[derive(Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) key: Key,
    /// The number of the previous state, or `MOST_STATES`; in the highest bit whether current has been entered, and in the next
    /// whether there may be timers.
    previous: u32,
}

const ENTERED: u32 = 1 << 31;
const HAS_TIMERS: u32 = 1 << 30;
const NUMBER: u32 = HAS_TIMERS - 1;

impl Tag {
    /// The tag of an owner whose previous state has a number; with `None`, the previous state is kept elsewhere.
    #[inline]
    pub(crate) fn new(key: Key, previous: Option<u32>, is_entered: bool) -> Self {
        Self { key, previous: previous.unwrap_or(MOST_STATES) | if is_entered { ENTERED } else { 0 } }
    }

    /// The number of the previous state; `None` if it is kept elsewhere.
    #[inline]
    pub(crate) fn previous(self) -> Option<u32> {
        let index = self.previous & NUMBER;
        (index != MOST_STATES).then_some(index)
    }

    #[inline]
    pub(crate) fn is_entered(self) -> bool {
        self.previous & ENTERED != 0
    }

    /// Whether the owner may have data beside its row.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        self.has_timers() || self.previous().is_none()
    }

    /// Whether the owner may have timers, or wakes by itself.
    #[inline]
    pub(crate) fn has_timers(self) -> bool {
        self.previous & HAS_TIMERS != 0
    }

    pub(crate) fn set_has_timers(&mut self, has_timers: bool) {
        self.previous = self.previous & !HAS_TIMERS | if has_timers { HAS_TIMERS } else { 0 };
    }

    /// The tag that a mover has when it has left a bucket.
    #[inline]
    pub(crate) fn moved(self, mover: Mover, bucket: u32) -> Self {
        let Self { previous, .. } = Self::new(self.key, Some(mover.previous_or(bucket)), true);
        Self { previous: previous | self.previous & HAS_TIMERS, ..self }
    }
}

/// When each owner's states were entered, in seconds. Empty until the batch has seen a clock.
#[derive(Clone, Default)]
pub(crate) struct Times {
    /// Current.
    pub(crate) current: Vec<f64>,
    /// Its ancestors, row by row.
    pub(crate) ancestors: Vec<f64>,
    /// How many ancestors there are.
    pub(crate) depth: usize,
}

impl Times {
    /// Adds a row's times.
    pub(crate) fn push(&mut self, current: f64, ancestors: &[f64]) {
        self.current.push(time_or_zero(current));
        self.ancestors.extend(ancestors.iter().chain(iter::repeat(&0.0)).take(self.depth).map(|at| time_or_zero(*at)));
    }

    /// Sets a row's times.
    pub(crate) fn set(&mut self, slot: usize, current: f64, ancestors: &[f64]) {
        self.current[slot] = time_or_zero(current);
        let row = self.ancestors.iter_mut().skip(slot * self.depth).take(self.depth);
        row.zip(ancestors).for_each(|(at, entered_at)| *at = time_or_zero(*entered_at));
    }

    /// When a row's owner entered the active state at a depth.
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

/// Appends the times at which the outermost `kept` active states of a row were entered, whose times are given.
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
    /// Columns for owners whose states have `depth` ancestors.
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
            leavers: Leavers::new(),
        }
    }

    /// Its columns: the owners, their seats, and all that is noted beside them.
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

    /// All rows, the slots of the owners for which something is due, and the rows that leave.
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

    /// Gives back room that no row uses.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.owners.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.times.current.shrink_to_fit();
        self.times.ancestors.shrink_to_fit();
        self.seats.shrink_to_fit();
        self.spare_seats = Vec::new();
    }

    /// Copies seats into the existing ones, and keeps the room of the rest.
    fn clone_seats_from(&mut self, source: &[Seat<T>]) {
        let kept = source.len().min(self.seats.len());
        let nothing = Seat::empty();
        self.seats[kept..].iter_mut().for_each(|seat| seat.clone_from(&nothing));
        self.spare_seats.extend(self.seats.drain(kept..));
        self.seats.resize_with(source.len(), || self.spare_seats.pop().unwrap_or(Seat::empty()));
        self.seats.iter_mut().zip(source).for_each(|(seat, source)| seat.clone_from(source));
        // For the next time, when there may be fewer.
        self.spare_seats.reserve(self.seats.len());
    }

    /// Gives back the room of an empty bucket, unless it is little: the bucket may stay empty.
    pub(crate) fn give_back(&mut self) {
        if self.owners.capacity() > 64 {
            *self = Self::new(self.times.depth);
        }
    }

    /// Gives every row the time 0, from when on times are kept.
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

    /// Moves the row at `slot` to the sleeping rows, or to those that are awake. The row at their boundary takes its place. Returns
    /// its new slot.
    pub(crate) fn set_asleep(&mut self, slot: usize, is_asleep: bool) -> usize {
        if self.is_asleep(slot) == is_asleep {
            return slot;
        }
        self.asleep -= usize::from(!is_asleep);
        let other = self.asleep;
        self.asleep += usize::from(is_asleep);
        self.exchange(slot, other);
        other
    }

    fn exchange(&mut self, slot: usize, other: usize) {
        if slot != other {
            let (mut rows, mut others) = self.rows_mut().0.split_at(slot.max(other));
            rows.exchange(slot.min(other), &mut others, slot.max(other));
        }
    }

    /// Moves all rows of `other` to the end of this one's.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            mem::swap(self, other);
        } else {
            self.append_kept(other);
        }
    }

    /// Moves all rows of `other` to the end of this one's. Both keep the room that they have.
    pub(crate) fn append_kept(&mut self, other: &mut Self) {
        self.owners.append(&mut other.owners);
        self.tags.append(&mut other.tags);
        self.times.append(&mut other.times);
        self.seats.append(&mut other.seats);
    }

    /// Exchanges all rows, with the room that they are in.
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
    /// The slot of the first.
    pub(crate) first: usize,
    pub(crate) owners: &'a mut [T],
    pub(crate) tags: &'a mut [Tag],
    /// Empty where no times are kept. So are the ancestors' times.
    pub(crate) current: &'a mut [f64],
    pub(crate) ancestors: &'a mut [f64],
    pub(crate) depth: usize,
    /// Empty where states are not owned.
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

    /// Exchanges the row at a slot with one of `tail`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a fourth of what closing a gap takes")]
    pub(crate) fn exchange(&mut self, slot: usize, tail: &mut Self, slot_in_tail: usize) {
        let (at, other) = (slot - self.first, slot_in_tail - tail.first);
        mem::swap(&mut self.owners[at], &mut tail.owners[other]);
        mem::swap(&mut self.tags[at], &mut tail.tags[other]);
        if let (Some(current), Some(other)) = (self.current.get_mut(at), tail.current.get_mut(other)) {
            mem::swap(current, other);
        }
        if let (Some(seat), Some(other)) = (self.seats.get_mut(at), tail.seats.get_mut(other)) {
            mem::swap(seat, other);
        }
        if !self.ancestors.is_empty() {
            let depth = self.depth;
            let ancestors = &mut self.ancestors[at * depth..(at + 1) * depth];
            ancestors.swap_with_slice(&mut tail.ancestors[other * depth..(other + 1) * depth]);
        }
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

/// The buckets in the order of the states, whose numbers are given.
pub(crate) fn in_order<'a, T: Owner>(buckets: &'a mut [Columns<T>], order: &[u32]) -> Vec<&'a mut Columns<T>> {
    let mut buckets: Vec<_> = buckets.iter_mut().map(Some).collect();
    order.iter().filter_map(|&bucket| buckets[bucket as usize].take()).collect()
}
