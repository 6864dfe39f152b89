//! Checks that saved columns and numbers fit together.

use std::mem;

use super::data::{SavedBucket, SavedRow};
use crate::batch::known::states::NOWHERE;
use crate::machine::seat::DEEPEST;
use crate::save::{LoadError, time};

/// Checks that the columns of a bucket have the right lengths, that all times in them are numbers, and that the numbers of
/// sleeping owners and of ancestors are possible.
pub(super) fn check<O>(bucket: &SavedBucket<O>, has_clock: bool) -> Result<(), LoadError> {
    let rows = bucket.owners.len();
    let has_seats = bucket.is_of_owned || !bucket.seats.is_empty();
    let (of_columns, of_seats) = if has_seats { (0, rows) } else { (rows, 0) };
    let depth = bucket.ancestors.len();
    let times = if has_clock { of_columns } else { 0 };
    let columns = [
        ("indices", bucket.indices.len(), rows),
        ("versions", bucket.versions.len(), rows),
        ("previous", bucket.previous.len(), of_columns),
        ("is_entered", bucket.is_entered.len(), of_columns),
        ("entered_at", bucket.entered_at.len(), times),
        ("ancestors_entered_at", bucket.ancestors_entered_at.len(), times.saturating_mul(depth)),
        ("seats", bucket.seats.len(), of_seats),
    ];
    if let Some((name, len, expected)) = columns.into_iter().find(|(_, len, expected)| len != expected) {
        return Err(LoadError::damaged(name, format_args!("the column has {len} rows, not {expected}")));
    }
    if bucket.asleep as usize > rows {
        return Err(LoadError::damaged("asleep", format_args!("there are {} of {rows}", bucket.asleep)));
    }
    if depth > DEEPEST {
        return Err(LoadError::damaged("ancestors", format_args!("there are more than {DEEPEST}")));
    }
    let mut times = bucket.entered_at.iter().chain(&bucket.ancestors_entered_at);
    times.try_for_each(|at| time(*at, "entered_at").map(|_| ()))
}

/// Checks that the rows with additional data are in the bucket, and are in ascending order.
pub(super) fn check_rows(rows: &[SavedRow], count: usize) -> Result<(), LoadError> {
    let is_ascending = rows.windows(2).all(|pair| pair[0].row < pair[1].row);
    match rows.last() {
        Some(last) if !is_ascending || last.row as usize >= count => {
            Err(LoadError::damaged("rows", "they are not rows of the bucket, in ascending order"))
        }
        _ => Ok(()),
    }
}

/// Checks that each bucket's number is exactly once in one list: in `free` if the bucket has no state, and otherwise in `order`.
/// The bucket for owners without a state belongs in `order`, too.
pub(super) fn check_numbers<O>(buckets: &[SavedBucket<O>], order: &[u32], free: &[u32]) -> Result<(), LoadError> {
    let mut seen = vec![false; buckets.len()];
    for (of, numbers) in [("order", order), ("free", free)] {
        for &number in numbers {
            let bucket = buckets.get(number as usize).ok_or_else(|| no_bucket(of, number))?;
            let is_free = number != NOWHERE && bucket.state == 0;
            if mem::replace(&mut seen[number as usize], true) || is_free != (of == "free") {
                return Err(LoadError::damaged(of, format_args!("bucket {number} cannot be in it, or is in it twice")));
            }
        }
    }
    match seen.iter().position(|is_seen| !is_seen) {
        Some(number) => Err(LoadError::damaged("order", format_args!("bucket {number} is missing"))),
        None => Ok(()),
    }
}

pub(super) fn no_bucket(at: &str, number: u32) -> LoadError {
    LoadError::damaged(at, format_args!("bucket {number} cannot be there"))
}
