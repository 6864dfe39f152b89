//! Chooses among the exits that hold, by their scores or weights (rule 33).

use std::sync::atomic::Ordering;

use log::warn;
use smallvec::SmallVec;

use super::{Decider, Taken};
use crate::definition::choice::{Choice, Ranking};
use crate::definition::graph::Exit;
use crate::definition::record::{Record, Trial};
use crate::fsm::Fsm;
use crate::owner::{Label, Owner};

/// An exit that holds.
struct Candidate<'e, T: Owner> {
    exit: &'e Exit<T>,
    /// The index of the exit among the exits that are tried.
    nth: usize,
    rank: f64,
}

impl<T: Owner> Decider<'_, T> {
    /// Like [`decide`](Self::decide), by scores or weights: finds all exits that hold, and chooses one after the other until the
    /// guards allow its change. One random number determines all choices of a decision.
    #[inline(never)]
    pub(super) fn choose<'e>(
        &self,
        choice: &Choice<T>,
        exits: &mut dyn Iterator<Item = &'e Exit<T>>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
        record: &mut impl Record,
    ) -> Option<Taken<'e, T>> {
        let mut left = SmallVec::<[Candidate<'_, T>; 16]>::new();
        let mut moment = self.moment(fsm);
        for (nth, exit) in exits.enumerate() {
            if !self.holds(exit, owner, &mut moment, cx, record) {
                record.tried(Trial::NoCondition);
                continue;
            }
            let rank = match &exit.rank {
                Some(ranking) => ranking.formula.result(owner, cx, moment),
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
            let Candidate { exit, nth, .. } =
                left.remove(choice.next(left.iter().map(|candidate| candidate.rank), &mut luck));
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
