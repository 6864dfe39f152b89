//! Measures contenders in interleaved rounds, so that noise on the machine affects all of them alike, and writes tables of
//! their times.
//!
//! This crate does not depend on anything that is measured: `bench` is built without Bevy's plugin, and `bench-bevy` without
//! the peers of `bench`.

mod table;

pub use table::table;

/// The time of a contender, in the unit in which it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The median of the rounds.
    pub median: f64,
    /// The fastest round.
    pub fastest: f64,
    /// The median of the rounds' ratios to the first contender. A change of the machine's speed between two rounds cancels out.
    pub ratio: f64,
}

/// Times each contender once per round, and returns the times in the order of the contenders.
///
/// Each round begins with a different contender, so that a contender does not always find the caches as the same other one left
/// them.
///
/// # Panics
///
/// If `rounds` is 0.
///
/// # Examples
///
/// ```
/// use bench_runner::{Time, race};
///
/// let mut contenders = [2.0, 3.0];
/// let times = race(&mut contenders, 5, |contender| *contender);
/// assert_eq!(times[1], Time { median: 3.0, fastest: 3.0, ratio: 1.5 });
/// ```
pub fn race<C>(contenders: &mut [C], rounds: usize, mut time: impl FnMut(&mut C) -> f64) -> Vec<Time> {
    let mut taken = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let nth = (round + turn) % contenders.len();
            taken[nth].push(time(&mut contenders[nth]));
        }
    }
    let times = taken.iter().map(|rounds| Time {
        median: median(rounds.iter().copied()),
        fastest: rounds.iter().copied().fold(f64::INFINITY, f64::min),
        ratio: median(rounds.iter().zip(&taken[0]).map(|(own, first)| own / first)),
    });
    times.collect()
}

/// Returns the median. For an even number of values, it is the upper one of the two in the middle.
///
/// # Panics
///
/// If there is no value.
///
/// # Examples
///
/// ```
/// assert_eq!(bench_runner::median([9.0, 1.0, 2.0]), 2.0);
/// ```
pub fn median(of: impl IntoIterator<Item = f64>) -> f64 {
    quantile(0.5, of)
}

/// Returns the quantile for `share`: with 0.9, nine in ten values are below it.
///
/// # Panics
///
/// If there is no value.
///
/// # Examples
///
/// ```
/// assert_eq!(bench_runner::quantile(0.9, (0..10).map(f64::from)), 9.0);
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "there are few values, and a share is not negative"
)]
pub fn quantile(share: f64, of: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = of.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}
