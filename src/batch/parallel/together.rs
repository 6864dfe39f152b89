//! How all owners of a long bucket move to the same other one: they stay where they are, in reverse order, and the columns
//! move. Measured on two threads, this takes half as long as to copy the rows twice, which is all that memory can do.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::chunks::ChunkMovers;
use crate::batch::known::slots::CHUNK;
use crate::batch::rows::columns::Columns;
use crate::owner::Owner;

/// Up to how many pairs of rows are exchanged on one thread.
const FEW_PAIRS: usize = 2048;

/// Returns where all owners of a bucket go, if they leave together.
pub(super) fn target_of_all(chunks: &[ChunkMovers]) -> Option<u32> {
    let first = chunks.first()?.target_of_all;
    first.filter(|_| chunks.iter().all(|chunk| chunk.target_of_all == first))
}

/// Moves all rows of a bucket to an empty part.
pub(super) fn move_together<T: Owner + Send>(
    (bucket, columns): (u32, &mut Columns<T>),
    chunks: &[ChunkMovers],
    has_clock: bool,
    part: &mut Columns<T>,
) {
    columns.tags.par_chunks_mut(CHUNK).zip(chunks.par_iter()).for_each(|(tags, chunk)| {
        for (tag, mover) in tags.iter_mut().zip(&chunk.list) {
            *tag = tag.moved(*mover, bucket);
        }
    });
    if has_clock {
        let times = columns.times.current.par_chunks_mut(CHUNK).zip(chunks.par_iter());
        times.for_each(|(times, chunk)| times.fill(chunk.moved_at));
    }
    reverse(&mut columns.owners);
    reverse(&mut columns.tags);
    reverse(&mut columns.times.current);
    columns.swap_rows(part);
}

fn reverse<X: Send>(rows: &mut [X]) {
    let half = rows.len() / 2;
    let (first, rest) = rows.split_at_mut(half);
    let behind = rest.len() - half;
    exchange(first, &mut rest[behind..]);
}

/// Exchanges the first row of `first` with the last of `last`, and so on.
fn exchange<X: Send>(first: &mut [X], last: &mut [X]) {
    if first.len() <= FEW_PAIRS {
        for (row, other) in first.iter_mut().zip(last.iter_mut().rev()) {
            std::mem::swap(row, other);
        }
        return;
    }
    let middle = first.len() / 2;
    let (outer, inner) = first.split_at_mut(middle);
    let (other_inner, other_outer) = last.split_at_mut(last.len() - middle);
    rayon::join(|| exchange(outer, other_outer), || exchange(inner, other_inner));
}
