//! Finds states that lead to each other while the values stay the same, so that a character changes its state in every tick. With
//! exits that are tried at entry, the changes happen again and again within one tick, up to the limit of rule 13.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;
use std::rc::Rc;

use super::claim::Claim;
use super::machine::{ActedOn, Machine};
use super::reach::Reached;
use super::solver::{Situation, holds, is_apart};
use super::step::{PossibleSteps, TickStep};
use super::telling::Telling;
use crate::format::expression::{Expr, When};
use crate::format::operand::{Atom, Operand};
use crate::format::outline::StateId;

/// The maximum number of ticks in a short circle. Short circles are searched breadth-first, longer ones depth-first.
const SHORT: usize = 8;

/// The maximum number of continuations that are checked for the ways from one state, and for those from all states of a
/// machine. A continuation of a long way counts several times. Changes at entry have the same limits.
const MOST_TRIED: u32 = 400;
const MOST_TRIED_OF_ALL: u32 = 20_000;

/// The maximum number of changes that are checked in ticks that begin in one state, and in any state of a machine. Each state has
/// an equal share, but at least `LEAST_IN_TICK`.
const MOST_IN_TICK: u32 = 10_000;
const MOST_IN_TICK_OF_ALL: u32 = 50_000;
const LEAST_IN_TICK: u32 = 8;

/// A tick with a change, from one innermost state to another or back to itself.
struct Edge {
    step: TickStep,
    /// The states in which the tick begins and ends, as indices among the innermost states.
    from: usize,
    to: usize,
}

/// Searches for circles. Returns whether all of them were checked.
pub(super) fn check(machine: &Machine<'_>, reached: &Reached) -> bool {
    let tick = shortest(machine);
    let mut telling = Telling { machine, tick, told: BTreeSet::new() };
    let mut are_all = true;
    // Circles within one tick are searched first, so that they are reported as such, and not as circles of several ticks.
    let mut left = MOST_TRIED_OF_ALL;
    for at in &reached.innermost {
        let steps = PossibleSteps::at_entry(machine, *at, left.min(MOST_TRIED));
        left -= steps.tried;
        are_all &= !steps.has_more;
        for step in &steps.all {
            telling.at_once(*at, step);
        }
    }
    let number: HashMap<StateId, usize> = reached.innermost.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut edges = Vec::with_capacity(reached.innermost.len());
    let share = MOST_IN_TICK_OF_ALL / u32::try_from(number.len().max(1)).unwrap_or(u32::MAX);
    for (from, at) in reached.innermost.iter().enumerate() {
        let steps = PossibleSteps::in_tick(machine, *at, tick, share.clamp(LEAST_IN_TICK, MOST_IN_TICK));
        are_all &= !steps.has_more;
        let mut of = Vec::new();
        for step in steps.all {
            if let (None, Some(to)) = (step.circle, number.get(&step.to)) {
                of.push(Edge { step, from, to: *to });
            }
        }
        edges.push(of);
    }
    let component = components(&edges, 0);
    FlickerSearch { innermost: &reached.innermost, edges: &edges, component, left: 0, telling }.all() && are_all
}

/// Returns the length of a tick, in seconds. It is at most a quarter of the shortest time in the machine, so that no waiting
/// exit opens in the next tick. But it is at least 0.0001 s.
pub(super) fn shortest(machine: &Machine<'_>) -> f64 {
    let mut shortest: f64 = 0.4;
    let mut see = |seconds: f64| {
        if seconds > 0.0 {
            shortest = shortest.min(seconds);
        }
    };
    for state in machine.outline.states() {
        state.durations().for_each(|duration| see(duration.least()));
        for when in state.conditions() {
            if let When::Expr { expr, .. } = when {
                numbers(expr).for_each(&mut see);
            }
        }
    }
    (shortest / 4.0).max(1e-4)
}

/// Returns the numbers in comparisons with times.
fn numbers(expr: &Expr) -> impl Iterator<Item = f64> {
    let timed = expr.tests().filter_map(|test| match test {
        Expr::Compare { left, right, .. } if left.has_time() || right.has_time() => Some([left, right]),
        _ => None,
    });
    let atoms = timed.flatten().flat_map(Operand::atoms);
    atoms.filter_map(|atom| if let Atom::Number(number) = atom { Some(*number) } else { None })
}

/// Returns the strongly connected component of each state from `first` on. Every circle lies within one component.
fn components(edges: &[Vec<Edge>], first: usize) -> Vec<usize> {
    // Kosaraju's algorithm: a forward search determines the order in which the search leaves the states. Then a backward
    // search begins with the states that the first search left last.
    const NONE: usize = usize::MAX;
    let mut backward = vec![Vec::new(); edges.len()];
    let mut is_seen = vec![false; edges.len()];
    let mut left = Vec::new();
    for start in first..edges.len() {
        let mut calls = vec![(start, 0)];
        while let Some((at, next)) = calls.pop() {
            if next == 0 && mem::replace(&mut is_seen[at], true) {
                continue;
            }
            let Some(edge) = edges[at].get(next) else {
                left.push(at);
                continue;
            };
            calls.push((at, next + 1));
            if edge.to >= first {
                backward[edge.to].push(at);
                calls.push((edge.to, 0));
            }
        }
    }
    let mut component = vec![NONE; edges.len()];
    for start in left.into_iter().rev() {
        let mut waiting = vec![start];
        while let Some(at) = waiting.pop() {
            if component[at] == NONE {
                component[at] = start;
                waiting.extend(&backward[at]);
            }
        }
    }
    component
}

struct FlickerSearch<'s> {
    innermost: &'s [StateId],
    edges: &'s [Vec<Edge>],
    component: Vec<usize>,
    /// How many continuations may still be checked.
    left: u32,
    telling: Telling<'s>,
}

/// A sequence of ticks, each with a change. Each tick begins in the state in which the previous one ends.
type EdgePath<'s> = Vec<&'s Edge>;

impl<'s> FlickerSearch<'s> {
    fn all(mut self) -> bool {
        let mut are_all = true;
        let mut left = MOST_TRIED_OF_ALL;
        for start in 0..self.edges.len() {
            let most = left.min(MOST_TRIED);
            self.left = most;
            let (is_all, is_long) = self.from(start);
            are_all &= is_all;
            left -= most - self.left;
            if is_long {
                // All circles through this state have been checked. Without it, the other states may no longer be in any
                // circle.
                let edges: usize = self.edges.iter().map(Vec::len).sum();
                if self.machine().work.spend(edges as u64) {
                    self.component = components(self.edges, start + 1);
                }
            }
        }
        are_all
    }

    fn machine(&self) -> &'s Machine<'s> {
        self.telling.machine
    }

    /// Returns a situation in which the machine can follow a way.
    fn situation_of(&self, way: &[&Edge]) -> Option<Situation> {
        self.machine().situation(&Claim::all(way.iter().map(|edge| edge.step.claim.clone())))
    }

    /// Whether an edge closes a circle that begins in `start`. `None` if the way must not continue with this edge. Each circle
    /// is found only from the first of its states.
    fn leads_on(&self, start: usize, way: &[&Edge], edge: &Edge) -> Option<bool> {
        if self.component[edge.to] != self.component[start] {
            return None;
        }
        if edge.to == start {
            // A state that leads only to itself is probably meant to restart, so this is not reported as a circle.
            let passes_others = edge.step.exits.iter().any(|(_, from)| *from != self.innermost[start]);
            return (!way.is_empty() || passes_others).then_some(true);
        }
        (edge.to > start).then_some(false)
    }

    /// Searches for circles whose first state is `start`, short ones first. Returns whether all of them were checked, and
    /// whether there are ways that are too long for the breadth-first search.
    fn from(&mut self, start: usize) -> (bool, bool) {
        let mut long = Vec::new();
        let mut ways: Vec<EdgePath<'s>> = vec![Vec::new()];
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let edges = self.edges;
                for edge in &edges[way.last().map_or(start, |last| last.to)] {
                    let Some(is_closed) = self.leads_on(start, &way, edge) else { continue };
                    if way.iter().any(|passed| passed.from == edge.to) && !is_closed {
                        continue;
                    }
                    if self.left == 0 || self.machine().work.is_over() {
                        return (false, !long.is_empty());
                    }
                    self.left -= 1;
                    let mut on = way.clone();
                    on.push(edge);
                    // A single edge is possible: the search for the steps has already checked it.
                    if on.len() == 1 && !is_closed {
                        longer.push(on);
                        continue;
                    }
                    let Some(situation) = self.situation_of(&on) else { continue };
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
            long.into_iter().fold(true, |are_all, (way, situation)| are_all & self.far(start, way, situation));
        (are_all, is_long)
    }

    /// Searches depth-first for circles that begin with a long way. In each state, it first tries an edge that fits the known
    /// situation, then the others. Returns whether all circles were checked.
    fn far(&mut self, start: usize, mut way: EdgePath<'s>, situation: Situation) -> bool {
        let mut on_way: HashSet<usize> = way.iter().map(|edge| edge.from).collect();
        let mut open = vec![self.fork(way.last().map_or(start, |last| last.to), Rc::new(situation))];
        while let Some(fork) = open.last_mut() {
            let Some(edge) = fork.ways.pop() else {
                open.pop();
                if let Some(last) = way.pop() {
                    on_way.remove(&last.from);
                }
                continue;
            };
            let Some(is_closed) = self.leads_on(start, &way, edge) else { continue };
            if edge.to == edge.from || on_way.contains(&edge.to) && !is_closed {
                continue;
            }
            if self.machine().work.is_over() {
                return false;
            }
            let known = Rc::clone(&fork.situation);
            let is_first = mem::take(&mut fork.is_first);
            way.push(edge);
            let claim = &edge.step.claim;
            let situation = match holds(claim, &known) {
                Some(true) => Some(known),
                Some(false) | None if is_first && is_apart(claim, &known) => {
                    self.machine().extended(&known, claim).map(Rc::new)
                }
                _ if self.left == 0 => return false,
                _ => {
                    self.left = self.left.saturating_sub(u32::try_from(way.len() / SHORT).unwrap_or(u32::MAX));
                    self.situation_of(&way).map(Rc::new)
                }
            };
            match situation {
                Some(situation) if !is_closed => {
                    on_way.insert(edge.from);
                    open.push(self.fork(edge.to, situation));
                    continue;
                }
                Some(situation) => self.close(&way, &situation),
                None => {}
            }
            way.pop();
        }
        !self.machine().work.is_over()
    }

    /// Returns the continuations from a state. The first one is possible in the situation, if there is such a continuation.
    /// Otherwise, it has no quantities in common with the situation, if possible.
    fn fork(&self, at: usize, situation: Rc<Situation>) -> Fork<'s> {
        let mut ways: EdgePath<'s> = Vec::new();
        if self.machine().work.spend(self.edges[at].iter().map(|edge| edge.step.claim.size()).sum()) {
            ways.extend(self.edges[at].iter().rev());
            let first = ways.iter().position(|edge| holds(&edge.step.claim, &situation) == Some(true));
            let first = first.or_else(|| ways.iter().rposition(|edge| is_apart(&edge.step.claim, &situation)));
            if let Some(first) = first {
                ways[first..].rotate_left(1);
            }
        }
        Fork { situation, is_first: true, ways }
    }

    fn close(&mut self, circle: &[&Edge], situation: &Situation) {
        // If a change on the circle may write a value on which the circle depends, this value may change, so nothing is
        // reported.
        let machine = self.machine();
        let acted_on =
            ActedOn::by(circle.iter().flat_map(|edge| edge.step.actions(machine, self.innermost[edge.from])));
        let mut is_acted_on = false;
        for edge in circle {
            edge.step.claim.visit(&mut |(quantity, ..)| {
                is_acted_on |= quantity.value().is_some_and(|value| acted_on.has(value));
            });
        }
        if is_acted_on {
            return;
        }
        let steps: Vec<_> = circle.iter().map(|edge| &edge.step).collect();
        self.telling.in_each_tick(self.innermost[circle[0].from], &steps, situation);
    }
}

/// A point of the search at which a way can continue.
struct Fork<'s> {
    situation: Rc<Situation>,
    /// Whether no continuation has been tried yet.
    is_first: bool,
    /// The continuations that have not been tried. The next one is the last element.
    ways: EdgePath<'s>,
}
