//! Compares what two implementations count, over many runs.
//!
//! With other random numbers, no two runs are alike. So a run is summed up by the mean numbers of sheep, wolves and grown patches in
//! each quarter of its steps. If two implementations have the same rules, these numbers have the same distributions, and their means
//! over many runs differ only by chance.

use crate::model::Counts;

/// The number of standard errors by which two means may differ. By chance, one of the means of 20 runs differs by more in about one
/// comparison in a thousand.
pub const TOLERANCE: f64 = 5.0;

const PARTS: usize = 4;
const NAMES: [&str; 3] = ["sheep", "wolves", "grass"];

/// The numbers that sum up a run: for each quarter, the means of what is counted.
type Summary = [[f64; 3]; PARTS];

/// The mean of a number over the runs, and the variance of this mean.
#[derive(Clone, Copy)]
struct Mean {
    mean: f64,
    variance: f64,
}

/// The runs of one implementation.
#[derive(Default)]
pub struct Runs(Vec<Summary>);

/// How far two implementations are apart in the number in which they differ most.
pub struct Difference {
    /// The number: what was counted, and in which quarter.
    pub of: String,
    /// In standard errors of the difference.
    pub errors: f64,
    /// The standard error of the difference, relative to the mean: what could be noticed.
    pub resolution: f64,
}

impl Runs {
    pub fn push(&mut self, run: &[Counts]) {
        let mut summary = Summary::default();
        for (part, steps) in summary.iter_mut().zip(run.chunks(run.len().div_ceil(PARTS))) {
            for counts in steps {
                for (mean, count) in part.iter_mut().zip([counts.sheep, counts.wolves, counts.grass]) {
                    *mean += count as f64 / steps.len() as f64;
                }
            }
        }
        self.0.push(summary);
    }

    /// Returns the mean numbers of sheep, wolves and grown patches over all runs and steps.
    pub fn means(&self) -> [f64; 3] {
        let all = |of| (0..PARTS).map(|part| self.mean(part, of).mean).sum::<f64>() / PARTS as f64;
        [all(0), all(1), all(2)]
    }

    /// Returns the largest difference from other runs.
    pub fn difference(&self, other: &Self) -> Difference {
        let differences = (0..PARTS).flat_map(|part| (0..NAMES.len()).map(move |of| (part, of))).map(|(part, of)| {
            let (own, others) = (self.mean(part, of), other.mean(part, of));
            let error = (own.variance + others.variance).sqrt();
            Difference {
                of: format!("{} in quarter {}", NAMES[of], part + 1),
                errors: (own.mean - others.mean).abs() / error,
                resolution: error / others.mean,
            }
        });
        differences.max_by(|a, b| a.errors.total_cmp(&b.errors)).expect("there are quarters")
    }

    fn mean(&self, part: usize, of: usize) -> Mean {
        let values = || self.0.iter().map(|summary| summary[part][of]);
        let runs = self.0.len() as f64;
        let mean = values().sum::<f64>() / runs;
        let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / (runs - 1.0) / runs;
        Mean { mean, variance }
    }
}
