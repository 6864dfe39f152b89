//! The owners that have left their buckets, in parts, and how all of them are taken up by their new ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelRefMutIterator, ParallelDrainRange, ParallelExtend, ParallelIterator,
};
use rayon::slice::ParallelSlice;

use crate::batch::known::slots::CHUNK;
use crate::batch::rows::columns::{Columns, Tag};
use crate::batch::rows::gaps::{Arrivals, LastRows};
use crate::batch::rows::store::{Place, Places};
use crate::owner::Owner;

/// Up to how many owners are taken up by one thread.
const FEW_ARRIVALS: usize = 1024;

/// The owners that have left some buckets, or a part of those that have left a long one.
pub(super) struct Group<T: Owner> {
    /// By the bucket that they go to. A thread has a whole group while owners come to it, and one part of each group while a
    /// bucket takes them up; so no thread ever waits.
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

/// Hands the leavers of a long bucket, which are its last rows, out to several groups, to each the same share.
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

/// Lets all buckets take up their arrivals, group by group.
pub(super) fn take_up_all<T: Owner + Send>(
    buckets: &mut [Columns<T>],
    groups: &[Group<T>],
    has_clock: bool,
    places: &Places,
) {
    buckets.par_iter_mut().enumerate().for_each(|(bucket, columns)| {
        let count = count(groups, bucket);
        if count > 0 {
            take_up(columns, bucket, groups, has_clock, count > FEW_ARRIVALS);
            let first = columns.len() - count;
            note_places(&columns.tags[first..], bucket, first, places);
        }
    });
}

fn count<T: Owner>(groups: &[Group<T>], bucket: usize) -> usize {
    groups.iter().filter_map(|group| group.part(bucket)).map(|part| part.len()).sum()
}

fn take_up<T: Owner + Send>(
    columns: &mut Columns<T>,
    bucket: usize,
    groups: &[Group<T>],
    has_clock: bool,
    are_many: bool,
) {
    if columns.is_empty() && swap_only_part(columns, bucket, groups) {
        return;
    }
    if are_many {
        columns.owners.par_extend(ColumnParts { groups, bucket, column: Columns::owners_mut });
        columns.tags.par_extend(ColumnParts { groups, bucket, column: Columns::tags_mut });
        if has_clock {
            columns.times.current.par_extend(ColumnParts { groups, bucket, column: Columns::times_mut });
        }
    }
    // The rest, which for flat states is nothing.
    groups.iter().filter_map(|group| group.part(bucket)).for_each(|mut part| columns.append_kept(&mut part));
}

/// Takes the rows of the only part that goes to an empty bucket as they are, unless the bucket would lose room.
fn swap_only_part<T: Owner>(columns: &mut Columns<T>, bucket: usize, groups: &[Group<T>]) -> bool {
    let mut parts = groups.iter().filter_map(|group| group.part(bucket)).filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(mut part), None) if part.owners.capacity() >= columns.owners.capacity() => {
            columns.swap_rows(&mut part);
            true
        }
        _ => false,
    }
}

/// The columns of a part.
impl<T: Owner> Columns<T> {
    fn owners_mut(&mut self) -> &mut Vec<T> {
        &mut self.owners
    }

    fn tags_mut(&mut self) -> &mut Vec<Tag> {
        &mut self.tags
    }

    fn times_mut(&mut self) -> &mut Vec<f64> {
        &mut self.times.current
    }
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
struct ColumnParts<'a, T: Owner, C> {
    groups: &'a [Group<T>],
    bucket: usize,
    column: C,
}

impl<T, X, C> ParallelIterator for ColumnParts<'_, T, C>
where
    T: Owner + Send,
    X: Send,
    C: Fn(&mut Columns<T>) -> &mut Vec<X> + Send + Sync,
{
    type Item = X;

    fn opt_len(&self) -> Option<usize> {
        Some(len_of(self.groups, self.bucket, &self.column))
    }

    fn drive_unindexed<D: UnindexedConsumer<X>>(self, consumer: D) -> D::Result {
        let Self { groups, bucket, column } = self;
        drain(groups, bucket, &column, consumer)
    }
}

fn len_of<T: Owner, X>(groups: &[Group<T>], bucket: usize, column: &impl Fn(&mut Columns<T>) -> &mut Vec<X>) -> usize {
    groups.iter().filter_map(|group| group.part(bucket)).map(|mut part| column(&mut part).len()).sum()
}

fn drain<T, X, D>(
    groups: &[Group<T>],
    bucket: usize,
    column: &(impl Fn(&mut Columns<T>) -> &mut Vec<X> + Sync),
    consumer: D,
) -> D::Result
where
    T: Owner + Send,
    X: Send,
    D: Consumer<X>,
{
    if let [group] = groups {
        let folder = consumer.into_folder();
        return match group.part(bucket) {
            Some(mut part) => folder.consume_iter(column(&mut part).drain(..)).complete(),
            None => folder.complete(),
        };
    }
    let (first, last) = groups.split_at(groups.len() / 2);
    let (left, right, reducer) = consumer.split_at(len_of(first, bucket, column));
    let (left, right) = rayon::join(|| drain(first, bucket, column, left), || drain(last, bucket, column, right));
    reducer.reduce(left, right)
}
