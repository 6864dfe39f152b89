//! The owners that have left their buckets, in groups and parts, and their move into the new buckets.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::plumbing::{Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelRefMutIterator, ParallelDrainRange, ParallelExtend, ParallelIterator,
};
use rayon::slice::ParallelSlice;

use crate::batch::known::key::{Place, Places};
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::columns::{Columns, Tag};
use crate::batch::rows::gaps::{Arrivals, LastRows};
use crate::owner::Owner;

/// If at most this many owners arrive in a bucket, a single thread moves them.
const FEW_ARRIVALS: usize = 1024;

/// Owners that have left their buckets: all leavers of some short buckets, or a share of the leavers of a long one.
pub(super) struct Group<T: Owner> {
    /// The owners, by their new bucket. No thread ever waits for a lock: while owners leave their buckets, only one thread uses
    /// a group, and while the buckets take up the owners, no two threads use the same part at the same time.
    parts: Vec<Mutex<Columns<T>>>,
}

impl<T: Owner> Group<T> {
    pub(super) const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// Makes sure that there is a part for each bucket.
    pub(super) fn make_parts(&mut self, buckets: &[Columns<T>]) {
        self.parts.resize_with(self.parts.len().max(buckets.len()), || Mutex::new(Columns::new(0)));
        for (part, columns) in self.parts.iter_mut().zip(buckets) {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).times.depth = columns.times.depth;
        }
    }

    fn part(&self, bucket: usize) -> Option<MutexGuard<'_, Columns<T>>> {
        Some(self.parts.get(bucket)?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Owner> Arrivals<T> for Group<T> {
    #[inline]
    fn of(&mut self, bucket: u32) -> &mut Columns<T> {
        self.parts[bucket as usize].get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Distributes the leavers of a long bucket, which are its last rows, evenly over several groups. If all rows can be exchanged
/// at once, they go to the first group.
pub(super) fn hand_out_together<T: Owner + Send>(columns: &mut Columns<T>, groups: &mut [Group<T>]) {
    let stay = columns.len() - columns.leavers.list.len();
    if groups.first_mut().is_some_and(|first| columns.leave_together(stay, first)) {
        return;
    }
    let Columns { owners, tags, times, leavers, .. } = columns;
    let times = times.current.get(stay..).unwrap_or_default();
    let rows = LastRows { tags: &tags[stay..], times, leavers: &leavers.list };
    owners.par_drain(stay..).with_producer(Leaving { rows, groups });
    columns.forget_leavers(stay);
}

struct Leaving<'a, T: Owner> {
    rows: LastRows<'a>,
    groups: &'a mut [Group<T>],
}

impl<T: Owner + Send> ProducerCallback<T> for Leaving<'_, T> {
    type Output = ();

    fn callback<P: Producer<Item = T>>(self, owners: P) {
        let Self { rows, groups } = self;
        if let [group] = groups {
            rows.hand_out(owners.into_iter(), group);
            return;
        }
        let middle = rows.leavers.len() / 2;
        let (first, last) = groups.split_at_mut(groups.len() / 2);
        let (owners, last_owners) = owners.split_at(middle);
        let (rows, last_rows) = rows.split_at(middle);
        rayon::join(
            || Self { rows, groups: first }.callback(owners),
            || Self { rows: last_rows, groups: last }.callback(last_owners),
        );
    }
}

/// Moves all arrivals into their buckets, group by group.
pub(super) fn take_up_all<T: Owner + Send>(
    buckets: &mut [Columns<T>],
    groups: &[Group<T>],
    has_clock: bool,
    places: &Places,
) {
    buckets.par_iter_mut().enumerate().for_each(|(bucket, columns)| {
        let (first, len) = (columns.len(), parts(groups, bucket).map(|part| part.len()).sum());
        if len > 0 {
            take_up(columns, bucket, groups, len, has_clock);
            note_places(&columns.tags[first..], bucket, first, places);
        }
    });
}

/// Iterates over the parts that go to a bucket and are not empty.
fn parts<T: Owner>(groups: &[Group<T>], bucket: usize) -> impl Iterator<Item = MutexGuard<'_, Columns<T>>> {
    groups.iter().filter_map(move |group| group.part(bucket)).filter(|part| !part.is_empty())
}

fn take_up<T: Owner + Send>(columns: &mut Columns<T>, bucket: usize, groups: &[Group<T>], len: usize, has_clock: bool) {
    let mut only = parts(groups, bucket).next().filter(|part| part.len() == len && columns.is_empty());
    if let Some(part) = only.as_mut().filter(|part| part.owners.capacity() >= columns.owners.capacity()) {
        // The rows can be exchanged as they are: the bucket loses no capacity.
        return columns.swap_rows(part);
    }
    drop(only);
    if len > FEW_ARRIVALS {
        columns.owners.par_extend(ColumnParts { groups, bucket, len, column: |part| &mut part.owners });
        columns.tags.par_extend(ColumnParts { groups, bucket, len, column: |part| &mut part.tags });
        if has_clock {
            let times = &mut columns.times.current;
            times.par_extend(ColumnParts { groups, bucket, len, column: |part| &mut part.times.current });
        }
    }
    // This moves the columns that have not been moved yet: all columns if few owners arrive, otherwise only the seats and the
    // ancestors' times, which are both empty for a flat state.
    groups.iter().filter_map(|group| group.part(bucket)).for_each(|mut part| columns.append_kept(&mut part));
}

fn note_places(tags: &[Tag], bucket: usize, first: usize, places: &Places) {
    let bucket = Place::new(0, bucket).slot;
    let note = |(first, tags): (usize, &[Tag])| {
        for (slot, tag) in (first..).zip(tags) {
            places[tag.key].set(Place::new(bucket, slot));
        }
    };
    if tags.len() <= FEW_ARRIVALS {
        note((first, tags));
    } else {
        tags.par_chunks(CHUNK).enumerate().map(|(nth, tags)| (first + nth * CHUNK, tags)).for_each(note);
    }
}

/// One column of all the parts that go to a bucket, group by group.
struct ColumnParts<'a, T: Owner, X> {
    groups: &'a [Group<T>],
    bucket: usize,
    /// The length of all parts together.
    len: usize,
    column: fn(&mut Columns<T>) -> &mut Vec<X>,
}

impl<T: Owner + Send, X: Send> ParallelIterator for ColumnParts<'_, T, X> {
    type Item = X;

    fn opt_len(&self) -> Option<usize> {
        Some(self.len)
    }

    fn drive_unindexed<D: UnindexedConsumer<X>>(self, consumer: D) -> D::Result {
        let Self { groups, bucket, len, column } = self;
        if let [group] = groups {
            let folder = consumer.into_folder();
            return match group.part(bucket) {
                Some(mut part) => folder.consume_iter(column(&mut part).drain(..)).complete(),
                None => folder.complete(),
            };
        }
        let (first, last) = groups.split_at(groups.len() / 2);
        let half = first.iter().filter_map(|group| group.part(bucket)).map(|mut part| column(&mut part).len()).sum();
        let (left, right, reducer) = consumer.split_at(half);
        let (left, right) = rayon::join(
            || Self { groups: first, bucket, len: half, column }.drive_unindexed(left),
            || Self { groups: last, bucket, len: len - half, column }.drive_unindexed(right),
        );
        reducer.reduce(left, right)
    }
}
