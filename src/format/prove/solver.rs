//! Looks for a situation in which a claim holds: exhaustively over the cells of what the claim mentions, and within bounds.
//!
//! What the claim forces is drawn first; then one test that is still open is answered both ways. Parts of a claim that have no
//! quantity in common are looked at one after the other, not in all combinations.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use super::cells::{Cells, Division};
use super::claim::{Claim, ClaimTest, Quantity};
use crate::format::outline::StateId;

/// How many tests are looked at for one claim, at most.
const MOST_STEPS: u64 = 200_000;

/// The most constants that one quantity is divided at.
const MOST_CONSTANTS: usize = 4096;

/// What has been found of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimAnswer<S = Situation> {
    /// It holds in this situation.
    Holds(S),
    /// It holds in none.
    Never,
    /// It has not been looked at everywhere.
    Unknown,
}

/// A value for each quantity that a claim mentions. Flags are 0 or 1.
pub(super) type Situation = BTreeMap<Quantity, f64>;

/// How many tests may be looked at, in all claims together.
#[derive(Debug)]
pub(super) struct Work {
    most: u64,
    /// How many have been looked at.
    pub(super) done: Cell<u64>,
    /// Whether there was too much to do.
    pub(super) is_cut: Cell<bool>,
}

impl Work {
    pub(super) fn new(most: u64) -> Self {
        Self { most, done: Cell::default(), is_cut: Cell::default() }
    }

    /// Whether there is enough left, and so much less from now on.
    pub(super) fn spend(&self, steps: u64) -> bool {
        let left = self.most - self.done.get();
        self.done.set(self.done.get() + steps.min(left));
        self.is_cut.set(self.is_cut.get() || left < steps);
        left >= steps
    }

    pub(super) fn is_over(&self) -> bool {
        self.done.get() == self.most
    }
}

/// Looks for a situation in which a claim holds. The time in a state of `path` is never longer than in the states before it.
pub(super) fn solve(claim: &Claim, path: &[StateId], work: &Work) -> ClaimAnswer {
    match claim {
        Claim::Joined(true, parts) if parts.is_empty() => return ClaimAnswer::Never,
        Claim::Joined(false, parts) if parts.is_empty() => return ClaimAnswer::Holds(Situation::new()),
        _ => {}
    }
    if !work.spend(claim.size()) {
        return ClaimAnswer::Unknown;
    }
    let Some((space, parts)) = Space::of(claim, path) else {
        work.is_cut.set(true);
        return ClaimAnswer::Unknown;
    };
    let mut domains: Domains = space.divisions.iter().map(Division::all).collect();
    let mut search = Search { space: &space, work, left: MOST_STEPS, is_over: false };
    for group in space.groups(&parts) {
        match search.find(&group, domains) {
            ClaimAnswer::Holds(found) => domains = found,
            ClaimAnswer::Never => return ClaimAnswer::Never,
            ClaimAnswer::Unknown => return ClaimAnswer::Unknown,
        }
    }
    let value = |(at, quantity): (usize, &Quantity)| {
        let cell = domains[at].first().unwrap_or(0);
        (quantity.clone(), space.divisions[at].sample(cell))
    };
    ClaimAnswer::Holds(space.quantities.iter().enumerate().map(value).collect())
}

/// Whether a claim holds in a situation. `None` where that depends on what the situation does not have.
pub(super) fn holds(claim: &Claim, situation: &Situation) -> Option<bool> {
    claim.holds(&mut |(quantity, test)| {
        // Times are compared otherwise.
        let number = *situation.get(quantity).filter(|_| !quantity.is_clock())?;
        Some(match test {
            ClaimTest::Is => number != 0.0,
            ClaimTest::Compared(op, with) => op.holds(number, *with),
        })
    })
}

/// Which cells are still possible for each quantity.
type Domains = Vec<Cells>;

/// A test by the numbers of its quantity and of the set of cells in which it holds.
struct CellTest {
    of: usize,
    cells: usize,
}

/// The quantities of a claim, and how they are divided.
struct Space {
    quantities: Vec<Quantity>,
    divisions: Vec<Division>,
    /// The cells in which each test holds.
    holding: Vec<Cells>,
    /// Times of which the first is never longer than the second.
    order: Vec<(usize, usize)>,
}

impl Space {
    /// The space of a claim, and the parts of the claim, which all have to hold. `None` if there are too many constants.
    fn of(claim: &Claim, path: &[StateId]) -> Option<(Self, Vec<Claim<CellTest>>)> {
        let mut of: HashMap<&Quantity, usize> = HashMap::new();
        let mut quantities = Vec::new();
        let mut constants: Vec<Vec<f64>> = Vec::new();
        let mut times = Vec::new();
        claim.visit(&mut |(quantity, test)| {
            let at = *of.entry(quantity).or_insert_with(|| {
                quantities.push(quantity.clone());
                constants.push(Vec::new());
                constants.len() - 1
            });
            if let ClaimTest::Compared(_, with) = test {
                if quantity.is_clock() { times.push(*with) } else { constants[at].push(*with) }
            }
        });
        // Times are compared with one another, so that all of them have the same cells.
        let time = Division::time(times);
        let divided = quantities.iter().zip(constants).map(|(quantity, constants)| match quantity {
            quantity if quantity.is_flag() => Some(Division::Flag),
            quantity if quantity.is_clock() => time.clone(),
            _ => Some(Division::number(constants)),
        });
        let divisions = divided.collect::<Option<Vec<_>>>()?;
        if divisions.iter().any(|division| division.count() > 2 * MOST_CONSTANTS) {
            return None;
        }
        let clock = |depth: usize| of.get(&Quantity::Clock(path[depth])).copied();
        let pairs = (0..path.len()).flat_map(|inner| (0..inner).map(move |outer| (inner, outer)));
        let order = pairs.filter_map(|(inner, outer)| Some((clock(inner)?, clock(outer)?))).collect();
        // The cells of each test that has been met: by the quantity, the comparison, and the bits of the constant.
        let mut known = HashMap::new();
        let mut holding = Vec::new();
        let claim = claim.map(&mut |(quantity, test)| {
            let of = of[quantity];
            let key = match test {
                ClaimTest::Is => (of, 0, 0),
                ClaimTest::Compared(op, with) => (of, *op as u8 + 1, with.to_bits()),
            };
            let cells = *known.entry(key).or_insert_with(|| {
                holding.push(divisions[of].holding(test));
                holding.len() - 1
            });
            CellTest { of, cells }
        });
        let parts = if let Claim::Joined(false, parts) = claim { parts } else { vec![claim] };
        Some((Self { quantities, divisions, holding, order }, parts))
    }

    /// The parts in groups that have no quantity in common.
    fn groups<'p>(&self, parts: &'p [Claim<CellTest>]) -> Vec<Vec<&'p Claim<CellTest>>> {
        let mut leader: Vec<usize> = (0..self.quantities.len()).collect();
        for (a, b) in &self.order {
            join(&mut leader, *a, *b);
        }
        let mut firsts = Vec::with_capacity(parts.len());
        for part in parts {
            let mut first = None;
            part.visit(&mut |test| {
                let first = *first.get_or_insert(test.of);
                join(&mut leader, first, test.of);
            });
            firsts.push(first);
        }
        let mut groups: Vec<Vec<_>> = Vec::new();
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        for (part, first) in parts.iter().zip(firsts) {
            let Some(first) = first else { continue };
            let group = *group_of.entry(lead(&mut leader, first)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(part);
        }
        groups
    }

    /// The answer that a test has in all cells that are still possible. `None` if it has both.
    fn answer(&self, test: &CellTest, domains: &Domains) -> Option<bool> {
        let (domain, holding) = (&domains[test.of], &self.holding[test.cells]);
        let is_within = domain.is_within(holding);
        (is_within || !domain.meets(holding)).then_some(is_within)
    }
}

fn lead(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

fn join(leader: &mut [usize], a: usize, b: usize) {
    let (a, b) = (lead(leader, a), lead(leader, b));
    leader[a] = b;
}

struct Search<'s> {
    space: &'s Space,
    work: &'s Work,
    /// How many tests may still be looked at for this claim.
    left: u64,
    /// Whether there were too many.
    is_over: bool,
}

impl<'s> Search<'s> {
    /// Cells for all quantities, in each of which all parts hold.
    fn find(&mut self, parts: &[&'s Claim<CellTest>], domains: Domains) -> ClaimAnswer<Domains> {
        // What is still to be tried, instead of a function that calls itself: a claim may have a thousand tests.
        let mut waiting = vec![domains];
        while let Some(mut domains) = waiting.pop() {
            let can_hold = self.narrow(parts, &mut domains);
            if self.is_over {
                return ClaimAnswer::Unknown;
            }
            if !can_hold {
                continue;
            }
            let Some((test, is)) = parts.iter().find_map(|part| self.open(part, &domains)) else {
                return ClaimAnswer::Holds(domains);
            };
            let holding = &self.space.holding[test.cells];
            let mut other = domains.clone();
            other[test.of].keep(holding, !is);
            waiting.push(other);
            domains[test.of].keep(holding, is);
            waiting.push(domains);
        }
        ClaimAnswer::Never
    }

    /// Draws what the parts force, until there is no more. Returns false if they cannot all hold.
    fn narrow(&mut self, parts: &[&Claim<CellTest>], domains: &mut Domains) -> bool {
        loop {
            let mut has_changed = false;
            let can_hold = parts.iter().all(|part| self.force(part, domains, &mut has_changed))
                && self.in_order(domains, &mut has_changed);
            if !can_hold || !has_changed {
                return can_hold;
            }
        }
    }

    fn force(&mut self, part: &Claim<CellTest>, domains: &mut Domains, has_changed: &mut bool) -> bool {
        match part {
            Claim::Answer(test, is) => {
                self.spend();
                if self.space.answer(test, domains) != Some(*is) {
                    domains[test.of].keep(&self.space.holding[test.cells], *is);
                    *has_changed = true;
                }
                !self.is_over && !domains[test.of].is_empty()
            }
            Claim::Joined(false, parts) => parts.iter().all(|part| self.force(part, domains, has_changed)),
            Claim::Joined(true, parts) => {
                let mut open = None;
                for part in parts {
                    match self.standing(part, domains) {
                        Some(true) => return true,
                        Some(false) => {}
                        None if open.is_some() => return true,
                        None => open = Some(part),
                    }
                }
                // The only one that is left has to hold.
                open.is_some_and(|part| self.force(part, domains, has_changed))
            }
        }
    }

    /// Whether a part holds with what is still possible. `None` if it may hold or not.
    fn standing(&mut self, part: &Claim<CellTest>, domains: &Domains) -> Option<bool> {
        part.holds(&mut |test| {
            self.spend();
            if self.is_over { None } else { self.space.answer(test, domains) }
        })
    }

    /// The first test of a part on which it depends whether the part holds, with the answer that it should have.
    fn open(&mut self, part: &'s Claim<CellTest>, domains: &Domains) -> Option<(&'s CellTest, bool)> {
        match part {
            Claim::Answer(test, is) => self.space.answer(test, domains).is_none().then_some((test, *is)),
            Claim::Joined(false, parts) => parts.iter().find_map(|part| self.open(part, domains)),
            Claim::Joined(true, parts) => {
                if parts.iter().any(|part| self.standing(part, domains) == Some(true)) {
                    return None;
                }
                let mut parts = parts.iter();
                parts.find_map(|part| match self.standing(part, domains) {
                    Some(false) => None,
                    _ => self.open(part, domains),
                })
            }
        }
    }

    /// Keeps the cells of two times in which the first can be no longer than the second.
    fn in_order(&self, domains: &mut Domains, has_changed: &mut bool) -> bool {
        self.space.order.iter().all(|(short, long)| {
            let (Some(first), Some(last)) = (domains[*short].first(), domains[*long].last()) else { return false };
            *has_changed |= domains[*long].bound(first, usize::MAX) | domains[*short].bound(0, last);
            !domains[*short].is_empty() && !domains[*long].is_empty()
        })
    }

    /// Counts a test.
    fn spend(&mut self) {
        if self.left == 0 || !self.work.spend(1) {
            self.is_over = true;
            self.work.is_cut.set(true);
        }
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{ClaimAnswer, Work, solve};
    use crate::format::expression::Comparison::{Equal, Greater, Less};
    use crate::format::outline::StateId;
    use crate::format::prove::claim::{Claim, Quantity};

    fn number(name: &str) -> Quantity {
        Quantity::Number(name.into())
    }

    fn answer(claim: &Claim) -> ClaimAnswer {
        solve(claim, &[], &Work::new(1_000_000))
    }

    #[test]
    fn a_claim_holds_in_a_situation_or_never() {
        let low = || Claim::compared(number("health"), Less, 20.0);
        let high = Claim::compared(number("health"), Greater, 50.0);
        assert_eq!(answer(&Claim::all([low(), high.clone()])), ClaimAnswer::Never);
        let ClaimAnswer::Holds(found) = answer(&Claim::any([low().negated(), high])) else { panic!("it can hold") };
        assert!(found[&number("health")] >= 20.0);
        // What is no number is neither below a constant nor not.
        let not = Claim::all([low().negated(), Claim::compared(number("health"), Greater, 19.0).negated()]);
        let ClaimAnswer::Holds(found) = answer(&not) else { panic!("it can hold") };
        assert!(found[&number("health")].is_nan());
    }

    #[test]
    fn parts_that_have_nothing_in_common_are_not_combined() {
        // Twenty parts with three ways each, and one that never holds.
        let free =
            |i: usize| Claim::any((0..3).map(|at| Claim::compared(number(&format!("v{i}")), Equal, f64::from(at))));
        let never =
            Claim::all([Claim::is(Quantity::Flag("x".into())), Claim::is(Quantity::Flag("x".into())).negated()]);
        let work = Work::new(10_000);
        assert_eq!(solve(&Claim::all((0..20).map(free).chain([never])), &[], &work), ClaimAnswer::Never);
        assert!(work.done.get() < 1_000, "{}", work.done.get());
    }

    #[test]
    fn the_time_in_a_parent_is_no_shorter_than_that_in_its_child() {
        let path = [0, 1].map(StateId::new);
        let [parent, child] = path.map(Quantity::Clock);
        let claim = Claim::all([Claim::compared(parent, Less, 2.0), Claim::compared(child, Greater, 3.0)]);
        assert_eq!(solve(&claim, &path, &Work::new(1_000)), ClaimAnswer::Never);
    }

    #[test]
    fn what_takes_too_long_is_unknown() {
        // Each of nine is in one of eight holes, and no two are in one.
        let in_hole = |i: usize, hole: usize| Claim::is(Quantity::Flag(format!("{i} in {hole}")));
        let placed = (0..9).map(|i| Claim::any((0..8).map(|hole| in_hole(i, hole))));
        let apart = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).flat_map(|(i, j)| {
            (0..8).map(move |hole| Claim::any([in_hole(i, hole).negated(), in_hole(j, hole).negated()]))
        });
        let work = Work::new(10_000_000);
        assert_eq!(solve(&Claim::all(placed.chain(apart)), &[], &work), ClaimAnswer::Unknown);
        assert!(work.is_cut.get() && work.done.get() < 1_000_000, "{}", work.done.get());
    }
}
