//! Measures contenders, which must have the same checksum, in the interleaved rounds of `bench_runner`.

use std::time::Instant;

use bench_runner::{Time, race};

use crate::contender::{Contender, Entrant};
use crate::workload::Context;

/// The approximate number of owner updates in one round, unless a table has its own.
pub(crate) const UPDATES_PER_ROUND: usize = 2_000_000;

/// The parameters of a measurement.
pub(crate) struct Race {
    pub(crate) owners: usize,
    pub(crate) churn: f64,
    pub(crate) rounds: usize,
    /// The approximate number of owner updates in one round.
    pub(crate) updates: usize,
}

impl Race {
    /// Runs the contenders. Returns their times in the given order, in nanoseconds per owner and tick, and their common
    /// checksum.
    ///
    /// # Errors
    ///
    /// When the checksums differ: then the contenders have not done the same work, and their times are meaningless.
    pub(crate) fn run(&self, mut contenders: Vec<Entrant>) -> Result<(Vec<Time>, u64), String> {
        for entrant in &mut contenders {
            entrant.contender.scatter();
        }
        agreed(&contenders)?;

        let updates = (self.ticks() * self.owners) as f64;
        let times = race(&mut contenders, self.rounds, |entrant| self.time(entrant.contender.as_mut()) / updates);
        Ok((times, agreed(&contenders)?))
    }

    fn ticks(&self) -> usize {
        (self.updates / self.owners.max(1)).clamp(2, 2_000)
    }

    /// Times one contender in one round, in nanoseconds.
    fn time(&self, contender: &mut dyn Contender) -> f64 {
        let cx = Context::with_churn(self.churn);
        // The first tick loads the caches again after the other contenders.
        contender.tick(&cx);
        let start = Instant::now();
        for _ in 0..self.ticks() {
            contender.tick(&cx);
        }
        start.elapsed().as_nanos() as f64
    }
}

fn agreed(contenders: &[Entrant]) -> Result<u64, String> {
    let sums: Vec<u64> = contenders.iter().map(|entrant| entrant.contender.checksum()).collect();
    if sums.iter().all(|sum| *sum == sums[0]) {
        return Ok(sums[0]);
    }
    let lines = contenders.iter().zip(&sums).map(|(entrant, sum)| format!("\n  {sum:016x} {}", entrant.name));
    Err(format!("the contenders' checksums differ:{}", lines.collect::<String>()))
}
