//! States that lead to each other in one situation, so that a character that is in it changes state in every tick; or, where
//! exits with `always` do that, again and again within one tick, until the limit of rule 13.

use std::collections::{BTreeSet, HashMap};

use super::super::draft::When;
use super::super::expression::Expr;
use super::super::mistake::Mistake;
use super::super::operand::Operand;
use super::super::outline::StateId;
use super::claim::Claim;
use super::conditions::Seen;
use super::machine::{ExitId, Machine, Standing};
use super::reach::Reached;
use super::reading::Time;
use super::replay::Stage;
use super::solver::{Answer, Work, solve};
use super::witness::Witness;

mod chain;

/// The most changes in a circle that is looked for.
const LONGEST: usize = 8;

/// The most ways on that are looked at from one state, and in a machine.
const MOST_TRIED: u32 = 400;
const MOST_TRIED_OF_ALL: u32 = 20_000;

/// A change that is made as soon as the state before has been entered.
struct Edge {
    id: ExitId,
    /// By place among the innermost states.
    to: usize,
    claim: Claim,
}

/// Where circles are looked for.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// Exits that are tried in each tick.
    Tick,
    /// Exits that are tried as soon as their state is entered.
    Entry,
}

/// Looks for circles. Returns whether all were looked at.
pub(super) fn check(
    machine: &Machine<'_>,
    stage: &Stage,
    reached: &Reached,
    work: &mut Work,
    found: &mut Vec<Seen>,
) -> bool {
    let tick = shortest(machine);
    let mut are_all = true;
    // A circle within a tick is told once, as that.
    let mut told = BTreeSet::new();
    for pace in [Pace::Entry, Pace::Tick] {
        let edges = edges(machine, reached, pace, tick, work);
        let component = components(&edges);
        if pace == Pace::Entry {
            are_all &= chain::check(machine, stage, reached, &edges, tick, work, found);
        }
        let mut left = MOST_TRIED_OF_ALL;
        for start in 0..edges.len() {
            let edges = &edges;
            let component = &component;
            let most = left.min(MOST_TRIED);
            let mut search =
                Search { machine, stage, reached, edges, component, pace, tick, left: most, told: &mut told };
            are_all &= search.from(start, work, found);
            left -= most - search.left;
        }
    }
    are_all
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
        let whens = state.exits.iter().filter_map(|exit| exit.when.as_ref()).chain(&state.enter_when);
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

/// What leads on from each innermost state as soon as it has been entered.
fn edges(machine: &Machine<'_>, reached: &Reached, pace: Pace, tick: f64, work: &mut Work) -> Vec<Vec<Edge>> {
    let number: HashMap<StateId, usize> = reached.innermost.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let time = |_: StateId| Time::Known(if pace == Pace::Tick { tick } else { 0.0 });
    let mut all = Vec::with_capacity(reached.innermost.len());
    for at in &reached.innermost {
        let mut edges = Vec::new();
        all.push(Vec::new());
        if work.is_over() {
            continue;
        }
        let path = machine.outline.path(*at);
        let mut not = Vec::new();
        let tried = match pace {
            Pace::Tick => machine.in_tick(&path).into_iter().map(|id| (id, path.len())).collect(),
            Pace::Entry => machine.at_entry(&path),
        };
        for (id, depth) in tried {
            let exit = machine.exit(id);
            let standing = Standing { path: &path[..depth], time: &time };
            // It cannot be its turn in each tick.
            let waits = pace == Pace::Tick && machine.state(id.of).every.is_some();
            let taken = machine.taken(id, &standing);
            let first = Claim::all(not.iter().cloned().chain([taken.clone()])).certain();
            let to = number.get(&machine.innermost(exit.to));
            if let Some(to) = to.filter(|_| !waits && (pace == Pace::Entry || exit.to != id.of)) {
                if let Answer::Holds(_) = solve(&first, &[], work) {
                    edges.push(Edge { id, to: *to, claim: first });
                }
            }
            if taken == Claim::Always {
                break;
            }
            not.push(taken.negated());
        }
        if let Some(last) = all.last_mut() {
            *last = edges;
        }
    }
    all
}

/// The strongly connected component of each state: only within one there are circles.
fn components(edges: &[Vec<Edge>]) -> Vec<usize> {
    // Tarjan's, with a stack of its own.
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut component = vec![NEW; edges.len()];
    let (mut count, mut components) = (0, 0);
    let mut open = Vec::new();
    for start in 0..edges.len() {
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

struct Search<'s, 'o> {
    machine: &'s Machine<'o>,
    stage: &'s Stage,
    reached: &'s Reached,
    edges: &'s [Vec<Edge>],
    component: &'s [usize],
    pace: Pace,
    tick: f64,
    /// How many ways on may still be looked at.
    left: u32,
    /// The exits of the circles that have been told.
    told: &'s mut BTreeSet<Vec<usize>>,
}

impl Search<'_, '_> {
    /// Looks for circles of which a state is the first: short ones first. Returns whether all were looked at.
    fn from(&mut self, start: usize, work: &mut Work, found: &mut Vec<Seen>) -> bool {
        // Ways on from the first state, by the numbers of the edges.
        let mut ways: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let at = way.last().map_or(start, |(from, nth)| self.edges[*from][*nth].to);
                for (nth, edge) in self.edges[at].iter().enumerate() {
                    // Each circle is found from the first of its states.
                    let is_new = edge.to > start && !way.iter().any(|(from, _)| *from == edge.to);
                    let is_closed = edge.to == start && (self.pace == Pace::Entry || !way.is_empty());
                    if self.component[edge.to] != self.component[start] || !(is_new || is_closed) {
                        continue;
                    }
                    if self.left == 0 || work.is_over() {
                        return false;
                    }
                    self.left -= 1;
                    let mut on = way.clone();
                    on.push((at, nth));
                    // Of one way on it is known that it can be.
                    if on.len() == 1 && !is_closed {
                        longer.push(on);
                        continue;
                    }
                    let claims = on.iter().map(|(from, nth)| self.edges[*from][*nth].claim.clone());
                    let Answer::Holds(situation) = solve(&Claim::all(claims), &[], work) else { continue };
                    if is_closed {
                        self.tell(&on, &situation, found);
                    } else if on.len() < LONGEST {
                        longer.push(on);
                    } else {
                        return false;
                    }
                }
            }
            ways = longer;
        }
        true
    }

    /// Tells a circle, if a machine goes round in it.
    fn tell(&mut self, circle: &[(usize, usize)], situation: &super::solver::Situation, found: &mut Vec<Seen>) {
        let exits: Vec<_> = circle.iter().map(|(from, nth)| self.edges[*from][*nth].id).collect();
        let mut key: Vec<_> = exits.iter().map(|id| self.machine.exit(*id).span.start).collect();
        key.sort_unstable();
        if self.told.contains(&key) {
            return;
        }
        let start = self.reached.innermost[circle[0].0];
        let row = Stage::row(0.0, situation, None);
        let ticks = u32::try_from(2 * circle.len() + 2).unwrap_or(u32::MAX);
        let Some(seen) = self.stage.play(Some(start), vec![row], self.tick, ticks) else { return };
        let is_seen = match self.pace {
            Pace::Entry => within_a_tick(&seen),
            Pace::Tick => in_every_tick(&seen, self.machine.state(start).name()),
        };
        if !is_seen {
            return;
        }
        self.told.insert(key);
        let mut names: Vec<String> = Vec::new();
        for (from, _) in circle {
            let name = format!("`{}`", self.machine.state(self.reached.innermost[*from]).name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let last = names.pop().unwrap_or_default();
        let who = if names.is_empty() {
            format!("state {last} leads to itself")
        } else {
            format!("states {} and {last} lead to each other", names.join(", "))
        };
        let when = said(situation);
        let first = self.machine.exit(exits[0]);
        let second = exits.get(1).map(|id| self.machine.exit(*id).span.clone());
        let is_foreign = |id: &ExitId| self.machine.state(id.of).is_foreign;
        let second = second.filter(|_| !is_foreign(&exits[1]));
        let mistake = match self.pace {
            Pace::Entry => Mistake::error(
                "endless-circle",
                first.span.clone(),
                format!("{who} without end within one tick{when}"),
            )
            .label("as soon as the state is entered")
            .help("after 64 changes the character stays where it is, with an error in the log: make the conditions exclude each other"),
            Pace::Tick => Mistake::warning("flicker", first.span.clone(), format!("{who} in every tick{when}"))
                .label("leads there")
                .help("make the conditions exclude each other, or let one of the states last: `after = 0.5`"),
        };
        found.push((mistake.second(second, "leads on"), Some(seen)));
    }
}

/// A situation in words.
fn said(situation: &super::solver::Situation) -> String {
    use super::claim::Quantity;
    let said: Vec<_> = situation
        .iter()
        .filter_map(|(quantity, number)| match quantity {
            Quantity::Number(name) => Some(format!("`{name} = {number}`")),
            Quantity::Flag(name) => Some(format!("`{name} = {}`", *number != 0.0)),
            _ => None,
        })
        .collect();
    match &said[..] {
        [] => String::new(),
        said if said.len() <= 6 => format!(", with {}", said.join(", ")),
        said => format!(", with {} and {} more", said[..6].join(", "), said.len() - 6),
    }
}

/// Whether changes are made until the limit, within one tick.
fn within_a_tick(seen: &Witness) -> bool {
    let changes = seen.changes();
    #[expect(clippy::float_cmp, reason = "it is the same tick")]
    changes.windows(64).any(|changes| changes[0].time == changes[63].time)
}

/// Whether a change is made in every tick but the first, in which no time has passed, and the first state comes back.
fn in_every_tick(seen: &Witness, start: &str) -> bool {
    #[expect(clippy::float_cmp, reason = "it is the same tick")]
    let changes_at = |tick: u32| seen.changes().iter().any(|change| change.time == f64::from(tick) * seen.tick());
    let comes_back = seen.changes().iter().filter(|change| change.from == start).count() >= 2;
    comes_back && (1..=seen.ticks).all(changes_at)
}
