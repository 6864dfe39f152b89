//! States of no length that follow one another, in one situation, beyond the limit of rule 13, without a circle.

use std::collections::BTreeSet;

use super::super::super::mistake::Mistake;
use super::super::claim::Claim;
use super::super::conditions::Seen;
use super::super::machine::Machine;
use super::super::reach::Reached;
use super::super::replay::Stage;
use super::super::solver::{Answer, Situation, Work, solve};
use super::{Edge, said, within_a_tick};

/// The most changes that are carried out for one callback: rule 13.
const MOST_CHANGES: usize = 64;

/// The most ways on that are looked at, in a machine.
const MOST_TRIED: u32 = 2_000;

/// Looks for chains that are too long. Returns whether all ways on were looked at.
pub(super) fn check(
    machine: &Machine<'_>,
    stage: &Stage,
    reached: &Reached,
    edges: &[Vec<Edge>],
    tick: f64,
    work: &mut Work,
    found: &mut Vec<Seen>,
) -> bool {
    let further = further(edges);
    let mut walk = Walk { edges, further: &further, left: MOST_TRIED };
    let mut told = BTreeSet::new();
    let mut is_first = vec![true; edges.len()];
    edges.iter().flatten().for_each(|edge| is_first[edge.to] = false);
    // A chain is told from its beginning.
    let (first, rest): (Vec<_>, Vec<_>) = (0..edges.len()).partition(|at| is_first[*at]);
    for start in first.into_iter().chain(rest).filter(|start| further[MOST_CHANGES][*start]) {
        if told.contains(&start) {
            continue;
        }
        let Some((chain, situation)) = walk.from(start, work) else { continue };
        let states: Vec<usize> = chain.iter().map(|(from, nth)| edges[*from][*nth].to).collect();
        told.extend(states.iter().copied().chain([start]));
        let name = |at: usize| machine.state(reached.innermost[at]).name();
        let Some(seen) = stage.play(Some(reached.innermost[start]), vec![Stage::row(0.0, &situation, None)], tick, 1)
        else {
            continue;
        };
        if !within_a_tick(&seen) {
            continue;
        }
        let (second, last) = (states[0], states[states.len() - 1]);
        let message = format!(
            "more than {MOST_CHANGES} states follow one another within one tick: `{}`, `{}` and so on, to `{}`{}",
            name(start),
            name(second),
            name(last),
            said(&situation)
        );
        let (from, nth) = chain[0];
        let exit = machine.exit(edges[from][nth].id);
        let mistake =
            Mistake::error("long-chain", exit.span.clone(), message).label("the first of these exits").help(format!(
                "after {MOST_CHANGES} changes a character stays where it is: let one of the states last, without `always`"
            ));
        found.push((mistake, Some(seen)));
    }
    walk.left > 0 && !work.is_over()
}

/// Whether so many more changes than an index may follow one from a state.
fn further(edges: &[Vec<Edge>]) -> Vec<Vec<bool>> {
    let mut further: Vec<Vec<bool>> = vec![edges.iter().map(|edges| !edges.is_empty()).collect()];
    for after in 0..MOST_CHANGES {
        let next = edges.iter().map(|edges| edges.iter().any(|edge| further[after][edge.to])).collect();
        further.push(next);
    }
    further
}

struct Walk<'e> {
    edges: &'e [Vec<Edge>],
    further: &'e [Vec<bool>],
    /// How many ways on may still be looked at.
    left: u32,
}

/// A chain by the numbers of its edges, and a situation in which it is gone along.
type Chain = (Vec<(usize, usize)>, Situation);

impl Walk<'_> {
    /// The first chain from a state that is too long.
    fn from(&mut self, start: usize, work: &mut Work) -> Option<Chain> {
        let mut chain: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        let mut nth = 0;
        loop {
            let ahead = MOST_CHANGES.checked_sub(chain.len() + 1);
            let edge = self.edges[at].get(nth);
            let Some(edge) = edge else {
                // Back to the one before, and on from there by another.
                (at, nth) = chain.pop()?;
                nth += 1;
                continue;
            };
            let is_new = edge.to != start && !chain.iter().any(|(from, _)| *from == edge.to);
            if !is_new || ahead.is_some_and(|ahead| !self.further[ahead][edge.to]) {
                nth += 1;
                continue;
            }
            if self.left == 0 || work.is_over() {
                return None;
            }
            self.left -= 1;
            chain.push((at, nth));
            let claims = chain.iter().map(|(from, nth)| self.edges[*from][*nth].claim.clone());
            match solve(&Claim::all(claims), &[], work) {
                Answer::Holds(situation) if ahead.is_none() => return Some((chain, situation)),
                Answer::Holds(_) => (at, nth) = (edge.to, 0),
                _ => {
                    chain.pop();
                    nth += 1;
                }
            }
        }
    }
}
