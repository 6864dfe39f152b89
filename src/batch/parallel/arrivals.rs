//! The owners that have left their buckets, in parts, and how all of them are taken up by their new ones.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelRefMutIterator, ParallelDrainRange, ParallelExtend, ParallelIterator,
};
use rayon::slice::ParallelSlice;
use slotmap::SlotMap;

use super::chunks::ChunkMovers;
use super::leavers::Scratch;
use crate::batch::known::key::Key;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::columns::{Columns, Tag};
use crate::batch::rows::moves::Arrivals;
use crate::batch::rows::place::{Place, SharedPlace};
use crate::owner::Owner;

/// Up to how many owners are taken up by one thread.
const FEW_ARRIVALS: usize = 1024;

/// The owners that have left some buckets, or some chunks of a long one.
pub(super) struct Group<T: Owner> {
    /// By the bucket that they go to. A thread has a whole group while owners come to it, and one part of each group while a
    /// bucket takes them up; so no thread ever waits.
    parts: Vec<Mutex<Columns<T>>>,
    /// Of a long bucket, the chunks that these leave.
    chunks: Range<usize>,
    leavers: usize,
    pub(super) scratch: Scratch,
}

impl<T: Owner> Group<T> {
    pub(super) const fn new() -> Self {
        Self { parts: Vec::new(), chunks: 0..0, leavers: 0, scratch: Scratch::new() }
    }

    /// Makes sure that there is a part for each bucket.
    pub(super) fn make_parts(&mut self, buckets: usize) {
        if self.parts.len() < buckets {
            self.parts.resize_with(buckets, || Mutex::new(Columns::new(0)));
        }
    }

    /// Takes what has come to the buckets.
    pub(super) fn take(&mut self, arrivals: &mut [Columns<T>]) {
        self.make_parts(arrivals.len());
        for (part, columns) in self.parts.iter_mut().zip(arrivals).filter(|(_, columns)| !columns.is_empty()) {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            part.times.depth = columns.times.depth;
            part.append_kept(columns);
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

/// Shares the chunks of a long bucket out among groups: to the first ones the last ones.
pub(super) fn share_out<T: Owner>(chunks: &[ChunkMovers], groups: &mut [Group<T>]) {
    let mut left: usize = chunks.iter().map(|chunk| chunk.leavers).sum();
    let mut end = chunks.len();
    let mut shares = groups.len();
    for group in groups {
        let wanted = left.div_ceil(shares);
        (group.leavers, group.chunks) = (0, end..end);
        while end > 0 && (group.leavers < wanted || shares == 1) {
            end -= 1;
            group.leavers += chunks[end].leavers;
            group.chunks.start = end;
        }
        left -= group.leavers;
        shares -= 1;
    }
}

/// The owners at the end of a long bucket, to be moved to groups.
pub(super) struct HandOut<'a> {
    pub(super) bucket: u32,
    pub(super) chunks: &'a [ChunkMovers],
    pub(super) has_clock: bool,
}

impl HandOut<'_> {
    /// Moves the owners from the `stay`-th on to the groups, which the chunks have been shared out among.
    pub(super) fn hand_out<T: Owner + Send>(&self, columns: &mut Columns<T>, stay: usize, groups: &mut [Group<T>]) {
        let Columns { owners, tags, times, .. } = columns;
        if self.has_clock {
            times.current.truncate(stay);
        }
        let leaving = Leaving { to: self, tags: &tags[stay..], groups };
        owners.par_drain(stay..).with_producer(leaving);
        tags.truncate(stay);
    }

    fn split<T: Owner + Send, P: Producer<Item = T>>(&self, owners: P, tags: &[Tag], groups: &mut [Group<T>]) {
        if let [group] = groups {
            self.fill(owners, tags, group);
            return;
        }
        let (last, first) = groups.split_at_mut(groups.len() / 2);
        let middle = first.iter().map(|group| group.leavers).sum();
        let (first_owners, last_owners) = owners.split_at(middle);
        let (first_tags, last_tags) = tags.split_at(middle);
        rayon::join(|| self.split(last_owners, last_tags, last), || self.split(first_owners, first_tags, first));
    }

    fn fill<T: Owner, P: Producer<Item = T>>(&self, owners: P, tags: &[Tag], group: &mut Group<T>) {
        let mut rows = owners.into_iter().rev().zip(tags.iter().rev());
        for chunk in self.chunks[group.chunks.clone()].iter().rev() {
            let moved_at = self.has_clock.then_some(chunk.moved_at);
            for mover in chunk.list.iter().rev() {
                let Some((owner, tag)) = rows.next() else { return };
                group.of(mover.target()).push(owner, tag.moved(*mover, self.bucket), moved_at);
            }
        }
    }
}

struct Leaving<'a, 'h, T: Owner> {
    to: &'a HandOut<'h>,
    tags: &'a [Tag],
    groups: &'a mut [Group<T>],
}

impl<T: Owner + Send> ProducerCallback<T> for Leaving<'_, '_, T> {
    type Output = ();

    fn callback<P: Producer<Item = T>>(self, owners: P) {
        self.to.split(owners, self.tags, self.groups);
    }
}

/// Lets all buckets take up their arrivals, group by group.
pub(super) fn take_up_all<T: Owner + Send>(
    buckets: &mut [Columns<T>],
    groups: &[Group<T>],
    has_clock: bool,
    places: &SlotMap<Key, SharedPlace>,
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
    if has_clock {
        // What was moved before the clock was seen.
        groups.iter().filter_map(|group| group.part(bucket)).for_each(|mut part| part.start_clock());
    }
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

fn note_places(tags: &[Tag], bucket: usize, first: usize, places: &SlotMap<Key, SharedPlace>) {
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
