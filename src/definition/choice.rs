//! Chooses among the exits that hold, by their scores or weights (rule 33).

use std::sync::atomic::{AtomicBool, Ordering};

use log::warn;
use smallvec::SmallVec;

use super::decide::{Decider, Taken};
use super::formula::Formula;
use super::graph::Exit;
use super::record::{Record, Trial};
use super::vocabulary::Random;
use crate::fsm::Fsm;
use crate::owner::{Label, Owner};

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
    /// Whether it has been logged that the result is not a number.
    is_told: AtomicBool,
}

impl<T: Owner> Ranking<T> {
    pub(crate) fn new(formula: Formula<T>) -> Self {
        Self { formula, is_told: AtomicBool::new(false) }
    }
}

/// An exit that holds.
struct Candidate<'e, T: Owner> {
    exit: &'e Exit<T>,
    /// The index of the exit among those that are tried.
    nth: usize,
    rank: f64,
}

impl<T: Owner> Decider<'_, T> {
    /// Like [`decide`](Self::decide), by scores or weights: asks all exits whether they hold, and then the guards of those that
    /// it chooses, until they allow a change. One random number determines all choices of a decision.
    #[inline(never)]
    pub(super) fn choose<'e>(
        &self,
        choice: &Choice<T>,
        exits: impl IntoIterator<Item = &'e Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<Taken<'e, T>> {
        let mut left = SmallVec::<[Candidate<'_, T>; 16]>::new();
        for (nth, exit) in exits.into_iter().enumerate() {
            let Some(opened) = self.holds(exit, owner, fsm, cx, record) else {
                record.tried(Trial::NoCondition);
                continue;
            };
            let rank = match &exit.rank {
                Some(ranking) => ranking.formula.result(owner, cx, self.moment(fsm, opened)),
                None => choice.otherwise(),
            };
            record.ranked(rank);
            record.tried(Trial::NotChosen);
            if choice.takes(rank) {
                left.push(Candidate { exit, nth, rank });
            } else if rank != 0.0 {
                self.tell(exit, rank, owner);
            }
        }
        let mut luck = match choice {
            Choice::Random(draw) if !left.is_empty() => draw(owner, cx),
            _ => 0.0,
        };
        while !left.is_empty() {
            let Candidate { exit, nth, .. } = left.remove(choice.next(&left, &mut luck));
            let (trial, to) = self.try_change(exit, owner, fsm, cx, record);
            record.tried_again(nth, trial);
            match trial {
                Trial::Taken => return Some(Taken { exit, to }),
                Trial::Superseded => return None,
                _ => {}
            }
        }
        None
    }

    /// Logs once that an exit is not taken because of its score or weight.
    #[cold]
    fn tell(&self, exit: &Exit<T>, rank: f64, owner: &T) {
        let is_first = |ranking: &Ranking<T>| !ranking.is_told.swap(true, Ordering::Relaxed);
        if exit.rank.as_deref().is_some_and(is_first) {
            let [from, to] = [&*self.state.fixed.name, &*self.graph.nodes[exit.to].fixed.name];
            let owner = Label(owner);
            warn!(
                "{owner}: the exit from {from} to {to} is not taken: {rank} is not a score or weight. It is logged once"
            );
        }
    }
}

impl<T: Owner> Choice<T> {
    /// Returns the number of an exit that gives none.
    fn otherwise(&self) -> f64 {
        if let Self::Random(_) = self { 1.0 } else { 0.0 }
    }

    /// Whether an exit with this number can be taken.
    fn takes(&self, rank: f64) -> bool {
        match self {
            Self::Best => !rank.is_nan(),
            Self::Random(_) => rank > 0.0 && rank.is_finite(),
        }
    }

    /// Returns the index of the exit that is chosen. `luck` is from 0 to below 1. It is replaced by a number that does not depend
    /// on this choice, for the next one.
    fn next(&self, left: &[Candidate<'_, T>], luck: &mut f64) -> usize {
        let ranks = left.iter().map(|candidate| candidate.rank);
        match self {
            Self::Best => {
                let first = (0, f64::NEG_INFINITY);
                let best = ranks.enumerate().fold(first, |best, next| if next.1 > best.1 { next } else { best });
                best.0
            }
            Self::Random(_) => {
                let mut at = *luck * ranks.clone().sum::<f64>();
                for (nth, weight) in ranks.enumerate() {
                    if at < weight {
                        *luck = at / weight;
                        return nth;
                    }
                    at -= weight;
                }
                // Only rounding, or a random number outside of the range, leads here.
                left.len() - 1
            }
        }
    }
}
