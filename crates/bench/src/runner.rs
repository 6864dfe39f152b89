//! Measures contenders in interleaved rounds, so that a noisy machine favours none.

use std::time::Instant;

use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// About how many updates of an owner one round times, unless a table says otherwise.
pub(crate) const UPDATES_PER_ROUND: usize = 2_000_000;

/// How contenders are measured.
pub(crate) struct Race {
    pub(crate) owners: usize,
    pub(crate) churn: f64,
    pub(crate) rounds: usize,
    /// About how many updates of an owner one round times.
    pub(crate) updates: usize,
}

/// What a contender took, in nanoseconds per owner and tick.
pub(crate) struct Time {
    pub(crate) median: f64,
    pub(crate) fastest: f64,
    /// The median of the rounds' ratios to the first contender: what changes from one round to the next cancels out.
    pub(crate) ratio: f64,
}

impl Race {
    /// Runs the contenders, and returns their times in their order, with the sum they agreed on.
    ///
    /// # Errors
    ///
    /// When they do not agree: then they have not done the same work, and their times mean nothing.
    pub(crate) fn run(&self, mut contenders: Vec<Entrant>) -> Result<(Vec<Time>, u64), String> {
        for entrant in &mut contenders {
            entrant.contender.scatter();
        }
        agreed(&contenders)?;

        let mut taken = vec![Vec::with_capacity(self.rounds); contenders.len()];
        for round in 0..self.rounds {
            for turn in 0..contenders.len() {
                let i = (round + turn) % contenders.len();
                taken[i].push(self.time(contenders[i].contender.as_mut()));
            }
        }
        let sum = agreed(&contenders)?;
        let updates = (self.ticks() * self.owners) as f64;
        let times = taken.iter().map(|rounds| Time {
            median: median(rounds.iter().copied()) / updates,
            fastest: rounds.iter().copied().fold(f64::INFINITY, f64::min) / updates,
            ratio: median(rounds.iter().zip(&taken[0]).map(|(own, first)| own / first)),
        });
        Ok((times.collect(), sum))
    }

    fn ticks(&self) -> usize {
        (self.updates / self.owners.max(1)).clamp(2, 2_000)
    }

    /// Times one contender in one round, in nanoseconds.
    fn time(&self, contender: &mut dyn Contender) -> f64 {
        let cx = Context::with_churn(self.churn);
        // The first tick brings back into the caches what the contenders before have driven out.
        contender.tick(&cx);
        let start = Instant::now();
        for _ in 0..self.ticks() {
            contender.tick(&cx);
        }
        start.elapsed().as_nanos() as f64
    }
}

/// The one in the middle.
pub(crate) fn median(of: impl IntoIterator<Item = f64>) -> f64 {
    quantile(0.5, of)
}

/// The one that so large a share of the others is below: 0.9 for nine in ten.
pub(crate) fn quantile(share: f64, of: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = of.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}

fn agreed(contenders: &[Entrant]) -> Result<u64, String> {
    let sums: Vec<u64> = contenders.iter().map(|entrant| entrant.contender.checksum()).collect();
    if sums.iter().all(|sum| *sum == sums[0]) {
        return Ok(sums[0]);
    }
    let lines = contenders.iter().zip(&sums).map(|(entrant, sum)| format!("\n  {sum:016x} {}", entrant.name));
    Err(format!("the contenders' checksums differ:{}", lines.collect::<String>()))
}
