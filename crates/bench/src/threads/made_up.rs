//! Artificial ticks whose parts have known lengths: they show how accurate the estimate of the serial share is.

use std::hint::black_box;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::stamps::Stamps;

pub(super) const NAME: &str = "made up: 10 % serial, 20 % parallel after the chunks";

/// The number of pieces of work in a hundredth of a tick.
const PIECES: u64 = 3;

/// Runs a tick: chunks, then work of both threads, then work of one thread.
pub(super) fn tick(stamps: Option<&Stamps>) {
    chunks(70 * PIECES, stamps);
    (0..20 * PIECES).into_par_iter().for_each(work);
    (0..10 * PIECES).for_each(work);
}

/// Runs a tick that has no work for the second thread after the chunks.
pub(super) fn idling(stamps: Option<&Stamps>) {
    chunks(10 * PIECES, stamps);
    (0..20 * PIECES).for_each(work);
}

fn chunks(count: u64, stamps: Option<&Stamps>) {
    (0..count).into_par_iter().for_each(|chunk| {
        if let Some(stamps) = stamps {
            stamps.chunk_begins();
        }
        work(chunk);
        if let Some(stamps) = stamps {
            stamps.chunk_is_updated();
        }
    });
}

/// About ten microseconds of arithmetic, in which each step waits for the previous one. Never inlined, so that it takes equally
/// long wherever it is called.
#[inline(never)]
fn work(seed: u64) {
    black_box((0..10_000).fold(seed, |sum: u64, step| sum.wrapping_mul(6_364_136_223_846_793_005) ^ step));
}
