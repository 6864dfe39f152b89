//! How a state chooses among the exits that hold, by their scores or weights (rule 33).

use std::sync::atomic::AtomicBool;

use super::closures::Random;
use super::formula::Formula;
use crate::owner::Owner;

/// How a state chooses among the exits that hold, if it does not take the first one.
pub(crate) enum Choice<T: Owner> {
    /// The exit with the highest score. Of equal scores, the first.
    Best,
    /// A random exit, by weight.
    Random(Random<T>),
}

/// The score or the weight of an exit.
pub(crate) struct Ranking<T: Owner> {
    pub(crate) formula: Formula<T>,
    /// Whether it has been logged that the result is not a score or weight.
    pub(super) is_told: AtomicBool,
}

impl<T: Owner> Ranking<T> {
    pub(crate) fn new(formula: Formula<T>) -> Self {
        Self { formula, is_told: AtomicBool::new(false) }
    }
}

impl<T: Owner> Choice<T> {
    /// Returns the score or weight of an exit for which the file gives none.
    pub(super) fn otherwise(&self) -> f64 {
        if let Self::Random(_) = self { 1.0 } else { 0.0 }
    }

    /// Whether an exit with this score or weight can be taken.
    pub(super) fn takes(&self, rank: f64) -> bool {
        match self {
            Self::Best => !rank.is_nan(),
            Self::Random(_) => rank > 0.0 && rank.is_finite(),
        }
    }

    /// Returns the index of the exit that is chosen, from the scores or weights of the exits. `luck` is a random number from 0 to
    /// below 1. It is replaced by a number that does not depend on this choice, for the next choice.
    pub(super) fn next(&self, ranks: impl ExactSizeIterator<Item = f64> + Clone, luck: &mut f64) -> usize {
        match self {
            Self::Best => {
                let first = (0, f64::NEG_INFINITY);
                let best = ranks.enumerate().fold(first, |best, next| if next.1 > best.1 { next } else { best });
                best.0
            }
            Self::Random(_) => {
                // As parts of the largest weight, very large and very small weights can be added and multiplied, too.
                let most = ranks.clone().fold(0.0, f64::max);
                let parts = ranks.map(|weight| weight / most);
                let (len, mut at) = (parts.len(), *luck * parts.clone().sum::<f64>());
                for (nth, part) in parts.enumerate() {
                    if at < part {
                        *luck = at / part;
                        return nth;
                    }
                    at -= part;
                }
                // Only rounding, or a random number outside of the range, leads here.
                len - 1
            }
        }
    }
}
