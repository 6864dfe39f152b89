//! States that lead to each other in one situation, so that a character that is in it changes state in every tick; or, where
//! exits with `always` do that, again and again within one tick, until the limit of rule 13.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::claim::Claim;
use super::conditions::Seen;
use super::machine::Machine;
use super::reach::Reached;
use super::solver::{ClaimAnswer, Situation, Work, holds, solve};
use super::step::{End, PossibleSteps, TickStep};
use super::telling::Telling;
use super::witness::Stage;
use crate::format::draft::When;
use crate::format::expression::Expr;
use crate::format::operand::Operand;
use crate::format::outline::StateId;

/// The most steps of a circle in the search for all circles, which begins with the short ones. Of longer circles, only one is
/// looked for.
const SHORT: usize = 8;

/// The most ways on that are looked at from one state, and in a machine.
const MOST_TRIED: u32 = 400;
const MOST_TRIED_OF_ALL: u32 = 20_000;

/// The most changes that are looked at in a tick that begins in one state.
const MOST_IN_TICK: u32 = 10_000;

/// A tick in which a change is made, from one innermost state to another or back to itself.
struct Edge {
    step: TickStep,
    /// By place among the innermost states.
    to: usize,
}

/// Looks for circles. Returns whether all were looked at.
pub(super) fn check(
    machine: &Machine<'_>,
    stage: &dyn Stage,
    reached: &Reached,
    work: &mut Work,
    found: &mut Vec<Seen>,
) -> bool {
    let tick = shortest(machine);
    let mut telling = Telling { machine, stage, tick, found, told: BTreeSet::new(), passed: BTreeSet::new() };
    let mut are_all = true;
    // A circle within a tick is reported once, as such.
    let mut left = MOST_TRIED_OF_ALL;
    for at in &reached.innermost {
        let steps = PossibleSteps::at_entry(machine, *at, left.min(MOST_TRIED), work);
        left -= steps.tried;
        are_all &= steps.are_all;
        for step in &steps.all {
            telling.at_once(*at, step, work);
        }
    }
    let number: HashMap<StateId, usize> = reached.innermost.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut edges = Vec::with_capacity(reached.innermost.len());
    for at in &reached.innermost {
        let steps = PossibleSteps::in_tick(machine, *at, tick, MOST_IN_TICK, work);
        are_all &= steps.are_all;
        let mut of = Vec::new();
        for step in steps.all {
            match (step.end, number.get(&step.to)) {
                (End::Rests, Some(to)) => of.push(Edge { step, to: *to }),
                (End::TooMany, _) => telling.at_once(*at, &step, work),
                _ => {}
            }
        }
        edges.push(of);
    }
    FlickerSearch { innermost: &reached.innermost, edges: &edges, component: components(&edges, 0), left: 0, telling }
        .all(work)
        && are_all
}

/// A tick that is shorter than all times in the machine, so that nothing which waits is taken by the next one.
fn shortest(machine: &Machine<'_>) -> f64 {
    let mut shortest: f64 = 0.4;
    let mut see = |seconds: f64| {
        if seconds > 0.0 {
            shortest = shortest.min(seconds);
        }
    };
    for state in machine.outline.states() {
        state.durations().for_each(|duration| see(duration.least()));
        let whens = state.exits.iter().filter_map(|exit| exit.when.as_deref()).chain(state.enter_when.as_deref());
        for when in whens {
            if let When::Expr { expr, .. } = when {
                numbers(expr, &mut see);
            }
        }
    }
    (shortest / 4.0).max(1e-4)
}

/// The numbers that times are compared with.
fn numbers(expr: &Expr, see: &mut impl FnMut(f64)) {
    match expr {
        Expr::Not(inner) => numbers(inner, see),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| numbers(part, see)),
        Expr::Compare { left, right, .. } if left.has_time() || right.has_time() => {
            for side in [left, right] {
                side.visit(&mut |part| {
                    if let Operand::Number(number) = part {
                        see(*number);
                    }
                });
            }
        }
        _ => {}
    }
}

/// The strongly connected component of each state from a first one on: only within one there are circles.
fn components(edges: &[Vec<Edge>], first: usize) -> Vec<usize> {
    // Tarjan's, with a stack of its own.
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut component = vec![NEW; edges.len()];
    let (mut count, mut components) = (0, 0);
    let mut open = Vec::new();
    for start in first..edges.len() {
        if index[start] != NEW {
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((at, next)) = calls.pop() {
            if next == 0 {
                index[at] = count;
                low[at] = count;
                count += 1;
                open.push(at);
            }
            if let Some(edge) = edges[at].get(next) {
                calls.push((at, next + 1));
                if edge.to < first {
                    continue;
                }
                if index[edge.to] == NEW {
                    calls.push((edge.to, 0));
                } else if component[edge.to] == NEW {
                    low[at] = low[at].min(index[edge.to]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(last) = open.pop() {
                    component[last] = components;
                    if last == at {
                        break;
                    }
                }
                components += 1;
            }
            if let Some((around, _)) = calls.last() {
                low[*around] = low[*around].min(low[at]);
            }
        }
    }
    component
}

struct FlickerSearch<'s, 'o> {
    innermost: &'s [StateId],
    edges: &'s [Vec<Edge>],
    component: Vec<usize>,
    /// How many ways on may still be looked at.
    left: u32,
    telling: Telling<'s, 'o>,
}

/// A way on from the first state: each edge by the state that it leads from, and its place there.
type Way = Vec<(usize, usize)>;

impl<'s> FlickerSearch<'s, '_> {
    fn all(mut self, work: &mut Work) -> bool {
        let mut are_all = true;
        let mut left = MOST_TRIED_OF_ALL;
        for start in 0..self.edges.len() {
            let most = left.min(MOST_TRIED);
            self.left = most;
            let (is_all, is_long) = self.from(start, work);
            are_all &= is_all;
            left -= most - self.left;
            if is_long {
                // What is left without the state may be in no circle any more.
                let edges: usize = self.edges.iter().map(Vec::len).sum();
                if work.spend(edges as u64) {
                    self.component = components(self.edges, start + 1);
                }
            }
        }
        are_all
    }

    fn edge(&self, (from, nth): (usize, usize)) -> &'s Edge {
        &self.edges[from][nth]
    }

    /// Whether a way that has come to a state can go on by an edge, and whether that closes it. Each circle is found from the
    /// first of its states.
    fn leads_on(&self, start: usize, way: &[(usize, usize)], edge: &Edge) -> Option<bool> {
        if self.component[edge.to] != self.component[start] {
            return None;
        }
        if edge.to == start {
            // A state that leads to itself and to no other is meant to begin again.
            let passes_others = edge.step.exits.iter().any(|(_, from)| *from != self.innermost[start]);
            return (!way.is_empty() || passes_others).then_some(true);
        }
        (edge.to > start).then_some(false)
    }

    /// Looks for circles of which a state is the first: short ones first. Returns whether all were looked at, and whether there
    /// are long ways.
    fn from(&mut self, start: usize, work: &mut Work) -> (bool, bool) {
        let mut long = Vec::new();
        let mut ways: Vec<Way> = vec![Vec::new()];
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let at = way.last().map_or(start, |last| self.edge(*last).to);
                for (nth, edge) in self.edges[at].iter().enumerate() {
                    let Some(is_closed) = self.leads_on(start, &way, edge) else { continue };
                    if way.iter().any(|(from, _)| *from == edge.to) && !is_closed {
                        continue;
                    }
                    if self.left == 0 || work.is_over() {
                        return (false, !long.is_empty());
                    }
                    self.left -= 1;
                    let mut on = way.clone();
                    on.push((at, nth));
                    // Of one way on it is known that it can be.
                    if on.len() == 1 && !is_closed {
                        longer.push(on);
                        continue;
                    }
                    let claims = on.iter().map(|edge| self.edge(*edge).step.claim.clone());
                    let ClaimAnswer::Holds(situation) = solve(&Claim::all(claims), &[], work) else { continue };
                    if is_closed {
                        self.close(&on, &situation);
                    } else if on.len() < SHORT {
                        longer.push(on);
                    } else {
                        long.push((on, situation));
                    }
                }
            }
            ways = longer;
        }
        let is_long = !long.is_empty();
        let are_all =
            long.into_iter().fold(true, |are_all, (way, situation)| are_all & self.far(start, way, situation, work));
        (are_all, is_long)
    }

    /// Looks for the circles that begin with a way: to its end first, as the situation has it, then otherwise. Returns whether
    /// all were looked at.
    fn far(&mut self, start: usize, mut way: Way, situation: Situation, work: &mut Work) -> bool {
        let mut on_way: HashSet<usize> = way.iter().map(|(from, _)| *from).collect();
        let given = way.len();
        let mut open = vec![self.fork(&way, Rc::new(situation), work)];
        while let Some(fork) = open.last_mut() {
            let Some((at, nth)) = fork.ways.pop() else {
                open.pop();
                if way.len() > given {
                    way.pop();
                    on_way.remove(&way.last().map_or(start, |last| self.edge(*last).to));
                }
                continue;
            };
            let edge = self.edge((at, nth));
            let Some(is_closed) = self.leads_on(start, &way, edge) else { continue };
            if edge.to == at || on_way.contains(&edge.to) && !is_closed {
                continue;
            }
            if work.is_over() {
                return false;
            }
            let known = Rc::clone(&fork.situation);
            let is_first = std::mem::take(&mut fork.is_first);
            way.push((at, nth));
            let claim = &edge.step.claim;
            let situation = match holds(claim, &known) {
                Some(true) => Some(known),
                Some(false) | None if is_first && is_apart(claim, &known) => more(claim, &known, work).map(Rc::new),
                _ if self.left == 0 => return false,
                _ => {
                    self.left -= 1;
                    let claims = way.iter().map(|edge| self.edge(*edge).step.claim.clone());
                    match solve(&Claim::all(claims), &[], work) {
                        ClaimAnswer::Holds(situation) => Some(Rc::new(situation)),
                        _ => None,
                    }
                }
            };
            match situation {
                Some(situation) if !is_closed => {
                    on_way.insert(at);
                    open.push(self.fork(&way, situation, work));
                    continue;
                }
                Some(situation) => self.close(&way, &situation),
                None => {}
            }
            way.pop();
        }
        !work.is_over()
    }

    /// The ways on from the end of a way: first the one by which it goes on in the situation.
    fn fork(&self, way: &[(usize, usize)], situation: Rc<Situation>, work: &mut Work) -> Fork {
        let at = way.last().map(|last| self.edge(*last).to);
        let edges = at.map_or(&[][..], |at| &self.edges[at]);
        let mut ways: Way = Vec::new();
        if work.spend(edges.iter().map(|edge| edge.step.claim.size()).sum()) {
            ways.extend((0..edges.len()).rev().filter_map(|nth| Some((at?, nth))));
            let first = ways.iter().position(|edge| holds(&self.edge(*edge).step.claim, &situation) == Some(true));
            let first =
                first.or_else(|| ways.iter().rposition(|edge| is_apart(&self.edge(*edge).step.claim, &situation)));
            if let Some(first) = first {
                let first = ways.remove(first);
                ways.push(first);
            }
        }
        Fork { situation, is_first: true, ways }
    }

    fn close(&mut self, circle: &[(usize, usize)], situation: &Situation) {
        let steps: Vec<_> = circle.iter().map(|edge| &self.edge(*edge).step).collect();
        self.telling.in_each_tick(self.innermost[circle[0].0], &steps, situation);
    }
}

/// Where a way can go on.
struct Fork {
    situation: Rc<Situation>,
    /// Whether none has been tried.
    is_first: bool,
    /// The ones that have not been tried, the next one last.
    ways: Way,
}

/// Whether a claim asks for nothing that a situation has.
fn is_apart(claim: &Claim, situation: &Situation) -> bool {
    let mut is_apart = true;
    claim.visit(&mut |quantity, _| is_apart &= !situation.contains_key(quantity));
    is_apart
}

/// A situation with what a claim asks for besides.
fn more(claim: &Claim, situation: &Situation, work: &mut Work) -> Option<Situation> {
    let ClaimAnswer::Holds(mut more) = solve(claim, &[], work) else { return None };
    more.extend(situation.iter().map(|(quantity, number)| (quantity.clone(), *number)));
    Some(more)
}
