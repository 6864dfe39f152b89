//! Searches for a situation in which a claim holds. The search is exhaustive over the cells of the quantities in the claim,
//! within limits.
//!
//! First, it derives everything that follows from the claim. Then it chooses one open test and tries both answers. Parts of a
//! claim without common quantities are solved one after the other, instead of in all combinations.

use std::cell::Cell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::cells::{Cells, Division};
use super::claim::{Claim, Quantity};
use crate::format::outline::StateId;

/// The maximum number of tests that are evaluated for one claim.
const MOST_STEPS: u64 = 200_000;

/// The maximum number of constants that divide one quantity.
const MOST_CONSTANTS: usize = 4096;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimAnswer<S = Situation> {
    /// The claim holds in this situation.
    Holds(S),
    /// The claim holds in no situation.
    Never,
    /// The search was not complete.
    Unknown,
}

/// A value for each quantity of a claim. Flags are 0 or 1.
pub(super) type Situation = BTreeMap<Quantity, f64>;

/// The limit for the number of steps, shared by all claims. For example, evaluating one test is a step.
#[derive(Debug)]
pub(super) struct Work {
    most: u64,
    /// How many steps have been taken.
    pub(super) done: Cell<u64>,
    /// Whether anything was not examined, because of this limit, because of the limit for one claim, or because the constants
    /// of a claim are too many or too close to each other.
    pub(super) is_cut: Cell<bool>,
}

impl Work {
    pub(super) fn new(most: u64) -> Self {
        Self { most, done: Cell::default(), is_cut: Cell::default() }
    }

    /// Takes `steps` from the rest of the limit. Returns whether the rest was large enough.
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

/// Searches for a situation in which a claim holds. In this situation, no state of `path` has been active for longer than its
/// ancestors.
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

/// Whether a claim holds in a situation. `None` if this depends on quantities that the situation does not have.
pub(super) fn holds(claim: &Claim, situation: &Situation) -> Option<bool> {
    claim.holds(&mut |(quantity, op, with)| {
        // Times need another comparison, so they count as unknown here.
        let number = *situation.get(quantity).filter(|_| !quantity.is_clock())?;
        Some(op.holds(number, *with))
    })
}

/// Whether a claim has no quantities in common with a situation.
pub(super) fn is_apart(claim: &Claim, situation: &Situation) -> bool {
    let mut is_apart = true;
    claim.visit(&mut |(quantity, ..)| is_apart &= !situation.contains_key(quantity));
    is_apart
}

/// The cells that are still possible for each quantity.
type Domains = Vec<Cells>;

/// A test, with the index of its quantity and the index of the set of cells in which it holds.
struct CellTest {
    of: usize,
    cells: usize,
}

/// The quantities of a claim, with their cells.
struct Space {
    quantities: Vec<Quantity>,
    divisions: Vec<Division>,
    /// The sets of cells in which tests hold.
    holding: Vec<Cells>,
    /// Pairs of times, by the indices of their quantities. The first time is never longer than the second.
    order: Vec<(usize, usize)>,
}

impl Space {
    /// Creates the space of a claim, and returns it with the parts of the claim, all of which must hold. `None` if there are
    /// too many constants, or if two constants for times are too close to each other.
    fn of(claim: &Claim, path: &[StateId]) -> Option<(Self, Vec<Claim<CellTest>>)> {
        let mut of: FxHashMap<&Quantity, usize> = FxHashMap::default();
        let mut quantities = Vec::new();
        let mut constants: Vec<Vec<f64>> = Vec::new();
        let mut times = Vec::new();
        claim.visit(&mut |(quantity, _, with)| {
            let at = *of.entry(quantity).or_insert_with(|| {
                quantities.push(quantity.clone());
                constants.push(Vec::new());
                constants.len() - 1
            });
            if quantity.is_clock() { times.push(*with) } else { constants[at].push(*with) }
        });
        // Times are compared with each other, so all of them have the same cells.
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
        // The sets of cells that already exist, by the quantity, the comparison, and the bits of the constant.
        let mut known = FxHashMap::default();
        let mut holding = Vec::new();
        let claim = claim.map(&mut |(quantity, op, with)| {
            let of = of[quantity];
            let cells = *known.entry((of, *op as u8, with.to_bits())).or_insert_with(|| {
                holding.push(divisions[of].holding(*op, *with));
                holding.len() - 1
            });
            CellTest { of, cells }
        });
        let parts = if let Claim::Joined(false, parts) = claim { parts } else { vec![claim] };
        Some((Self { quantities, divisions, holding, order }, parts))
    }

    /// Returns the parts in groups. Parts in different groups have no common quantities.
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
        let mut group_of: FxHashMap<usize, usize> = FxHashMap::default();
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

    /// Returns the answer of a test if it is the same in all cells that are still possible. `None` if both answers are
    /// possible.
    fn answer(&self, test: &CellTest, domains: &Domains) -> Option<bool> {
        let (domain, holding) = (&domains[test.of], &self.holding[test.cells]);
        let is_within = domain.is_within(holding);
        (is_within || !domain.meets(holding)).then_some(is_within)
    }
}

/// Returns the quantity that represents the group of a quantity.
fn lead(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

/// Joins the groups of two quantities.
fn join(leader: &mut [usize], a: usize, b: usize) {
    let (a, b) = (lead(leader, a), lead(leader, b));
    leader[a] = b;
}

struct Search<'s> {
    space: &'s Space,
    work: &'s Work,
    /// How many tests may still be evaluated for this claim.
    left: u64,
    /// Whether this limit, or the limit for all claims, has been exceeded.
    is_over: bool,
}

impl<'s> Search<'s> {
    /// Searches for cells of all quantities in which all parts hold.
    fn find(&mut self, parts: &[&'s Claim<CellTest>], domains: Domains) -> ClaimAnswer<Domains> {
        // A stack of branches instead of recursion, because a claim may have a thousand tests.
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

    /// Removes the cells in which the parts cannot all hold, until nothing changes. Returns false if the parts cannot all
    /// hold, or if a limit has been exceeded.
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

    /// Removes the cells in which a part cannot hold. Returns false as [`narrow`](Self::narrow) does.
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
                // All other parts are false, so the open one must hold.
                open.is_some_and(|part| self.force(part, domains, has_changed))
            }
        }
    }

    /// Whether a part holds in all cells that are still possible. `None` if it may hold or not.
    fn standing(&mut self, part: &Claim<CellTest>, domains: &Domains) -> Option<bool> {
        part.holds(&mut |test| {
            self.spend();
            if self.is_over { None } else { self.space.answer(test, domains) }
        })
    }

    /// Returns an open test on which the part depends, with the answer that makes it hold. `None` if the part already holds.
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

    /// Removes the cells in which a state would be active for longer than one of its ancestors.
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
        // NaN is neither below a constant nor at or above it.
        let not = Claim::all([low().negated(), Claim::compared(number("health"), Greater, 19.0).negated()]);
        let ClaimAnswer::Holds(found) = answer(&not) else { panic!("it can hold") };
        assert!(found[&number("health")].is_nan());
    }

    #[test]
    fn parts_that_have_nothing_in_common_are_not_combined() {
        // Twenty parts with three alternatives each, and one that never holds.
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
        // Nine items are put into eight holes, and no two items may share a hole.
        let in_hole = |i: usize, hole: usize| Claim::is(Quantity::Flag(format!("{i} in {hole}").into()));
        let placed = (0..9).map(|i| Claim::any((0..8).map(|hole| in_hole(i, hole))));
        let apart = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).flat_map(|(i, j)| {
            (0..8).map(move |hole| Claim::any([in_hole(i, hole).negated(), in_hole(j, hole).negated()]))
        });
        let work = Work::new(10_000_000);
        assert_eq!(solve(&Claim::all(placed.chain(apart)), &[], &work), ClaimAnswer::Unknown);
        assert!(work.is_cut.get() && work.done.get() < 1_000_000, "{}", work.done.get());
    }
}
