//! Ticks of whose parts the lengths are known: they show what the estimate of the serial share is worth.

use std::hint::black_box;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::stamps::Stamps;

pub(super) const NAME: &str = "made up: 10 % serial, 20 % parallel after the chunks";

/// How many pieces of work a hundredth of a tick is.
const PIECES: u64 = 3;

/// A tick: chunks, then what both threads do, then what one does.
pub(super) fn tick(stamps: Option<&Stamps>) {
    chunks(70 * PIECES, stamps);
    (0..20 * PIECES).into_par_iter().for_each(work);
    (0..10 * PIECES).for_each(work);
}

/// A tick that leaves the second thread nothing to do after the chunks.
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

/// Some ten microseconds of arithmetic, each step of which waits for the one before. Never inlined, so that it takes as long
/// wherever it is called.
#[inline(never)]
fn work(seed: u64) {
    black_box((0..10_000).fold(seed, |sum: u64, step| sum.wrapping_mul(6_364_136_223_846_793_005) ^ step));
}
