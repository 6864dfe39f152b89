//! The table of rolling back: a batch is cloned into an existing batch with enough capacity, compared with its owners alone in
//! a `Vec`.
//!
//! Eight copies are kept, and each new copy replaces the oldest, as in a game.

use std::hint::black_box;
use std::time::{Duration, Instant};

use comfy_table::Table;
use demeanor::Batch;

use crate::saving::{self, Body};

/// The number of owners that are copied in a round, so that a round is long enough to measure.
const OWNERS_PER_ROUND: usize = 2_000_000;

/// Number of copies that are kept.
const KEPT: usize = 8;

/// Measures the rows whose names `is_wanted` accepts, in interleaved rounds.
///
/// # Errors
///
/// When a copy differs from the original.
pub(crate) fn table(owners: usize, rounds: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Table, String> {
    let bodies: Vec<_> = (0..owners).map(saving::body).collect();
    let wanted = saving::ROWS.into_iter().filter(|(name, _)| is_wanted(name));
    let batches: Vec<_> = wanted.map(|(name, asleep)| (name, saving::batch(&bodies, asleep))).collect();
    let mut alone = vec![Vec::new(); KEPT];
    let mut kept: Vec<Vec<_>> = batches.iter().map(|_| (0..KEPT).map(|_| Batch::new()).collect()).collect();
    let mut times = vec![Vec::new(); batches.len() + 1];
    let copies = OWNERS_PER_ROUND.div_ceil(owners).next_multiple_of(KEPT);
    for _ in 0..=rounds {
        times[0].push(time(copies, |nth| alone[nth].clone_from(black_box(&bodies))));
        black_box(&alone);
        for (((_, batch), kept), times) in batches.iter().zip(&mut kept).zip(&mut times[1..]) {
            times.push(time(copies, |nth| kept[nth].clone_from(black_box(batch))));
            black_box(kept);
        }
    }
    let digest = |batch: &Batch<Body>| batch.digest(|_, _| {});
    if let Some(((name, _), _)) = batches.iter().zip(&kept).find(|((_, batch), kept)| digest(batch) != digest(&kept[0]))
    {
        return Err(format!("{name}: the copy is another batch"));
    }
    // The first round allocates memory.
    let times: Vec<_> = times.iter().map(|times| Times::of(&times[1..], copies)).collect();
    let names = ["Vec<T>"].into_iter().chain(batches.iter().map(|(name, _)| *name));
    let rows = names.zip(&times).map(|(name, own)| own.row(name, &times[0]));
    Ok(bench_runner::table(["", "µs", "fastest", "beside Vec<T>"].map(String::from).to_vec(), rows))
}

fn time(copies: usize, mut copy: impl FnMut(usize)) -> Duration {
    let start = Instant::now();
    for nth in 0..copies {
        copy(nth % KEPT);
    }
    start.elapsed()
}

/// The times of one copy, in microseconds.
struct Times {
    median: f64,
    fastest: f64,
}

impl Times {
    fn of(rounds: &[Duration], copies: usize) -> Self {
        let mut times: Vec<_> = rounds.iter().map(|time| time.as_secs_f64() * 1e6 / copies as f64).collect();
        times.sort_unstable_by(f64::total_cmp);
        Self { median: times[times.len() / 2], fastest: times[0] }
    }

    fn row(&self, name: &str, alone: &Self) -> Vec<String> {
        let numbers = [self.median, self.fastest].map(|time| format!("{time:.1}"));
        let ratio = format!("{:.2}x", self.fastest / alone.fastest);
        [name.to_owned()].into_iter().chain(numbers).chain([ratio]).collect()
    }
}
