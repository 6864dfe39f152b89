//! Looks for a situation in which a claim holds: exhaustively over the cells of what the claim mentions, and within bounds.
//!
//! What the claim forces is drawn first; then one test that is still open is answered both ways. Parts of a claim that have no
//! quantity in common are looked at one after the other, not in all combinations.

use std::collections::{BTreeMap, HashMap};

use super::cells::{Cells, Division};
use super::claim::{Claim, ClaimTest, Quantity};

/// How many tests are looked at for one claim, at most.
const MOST_STEPS: u64 = 200_000;

/// The most constants that one quantity is divided at.
const MOST_CONSTANTS: usize = 4096;

/// What has been found of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimAnswer {
    /// It holds in this situation.
    Holds(Situation),
    /// It holds in none.
    Never,
    /// It has not been looked at everywhere.
    Unknown,
}

/// A value for each quantity that a claim mentions. Flags are 0 or 1.
pub(super) type Situation = BTreeMap<Quantity, f64>;

/// How many tests may still be looked at, in all claims together.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
    /// How many have been looked at.
    pub(super) done: u64,
    /// Whether there was too much to do.
    pub(super) is_cut: bool,
}

impl Work {
    pub(super) fn new(most: u64) -> Self {
        Self { left: most, done: 0, is_cut: false }
    }

    /// Whether there is enough left, and so much less from now on.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.done += steps.min(self.left);
        let is_enough = self.left >= steps;
        self.left = self.left.saturating_sub(steps);
        self.is_cut |= !is_enough;
        is_enough
    }

    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }
}

/// Looks for a situation in which a claim holds. `order` are times of which the first is never longer than the second.
pub(super) fn solve(claim: &Claim, order: &[(Quantity, Quantity)], work: &mut Work) -> ClaimAnswer {
    match claim {
        Claim::Always => return ClaimAnswer::Holds(Situation::new()),
        Claim::Never => return ClaimAnswer::Never,
        _ => {}
    }
    if !work.spend(claim.size()) {
        return ClaimAnswer::Unknown;
    }
    let Some((space, parts)) = Space::of(claim, order) else {
        work.is_cut = true;
        return ClaimAnswer::Unknown;
    };
    let mut domains: Domains = space.divisions.iter().map(Division::all).collect();
    let mut steps = MOST_STEPS;
    for group in space.groups(&parts) {
        let mut search = Search { space: &space, work, steps: &mut steps };
        match search.find(&group, domains.clone()) {
            Found::Some(found) => domains = found,
            Found::None => return ClaimAnswer::Never,
            Found::Unknown => return ClaimAnswer::Unknown,
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
    match claim {
        Claim::Always => Some(true),
        Claim::Never => Some(false),
        // Times are compared otherwise.
        Claim::Answer(quantity, ..) if quantity.is_clock() => None,
        Claim::Answer(quantity, test, is) => {
            let number = *situation.get(quantity)?;
            let holds = match test {
                ClaimTest::Is => number != 0.0,
                ClaimTest::Compared(op, with) => op.holds(number, *with),
            };
            Some(holds == *is)
        }
        Claim::All(parts) => unless(parts, situation, false),
        Claim::Any(parts) => unless(parts, situation, true),
    }
}

/// The answer that one of the parts gives, or else the other one.
fn unless(parts: &[Claim], situation: &Situation, one: bool) -> Option<bool> {
    let mut is_known = true;
    for part in parts {
        match holds(part, situation) {
            Some(answer) if answer == one => return Some(one),
            Some(_) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(!one)
}

/// Which cells are still possible for each quantity.
type Domains = Vec<Cells>;

/// A claim by the numbers of quantities and of sets of cells.
enum ClaimPart {
    Answer { of: usize, cells: usize, is: bool },
    All(Vec<ClaimPart>),
    Any(Vec<ClaimPart>),
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
    /// `None` if there are too many constants.
    fn of(claim: &Claim, order: &[(Quantity, Quantity)]) -> Option<(Self, Vec<ClaimPart>)> {
        let mut of: HashMap<&Quantity, usize> = HashMap::new();
        let mut quantities = Vec::new();
        let mut constants: Vec<Vec<f64>> = Vec::new();
        let mut times = Vec::new();
        claim.visit(&mut |quantity, test| {
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
        let divisions: Vec<_> = quantities
            .iter()
            .zip(constants)
            .map(|(quantity, constants)| match quantity {
                quantity if quantity.is_flag() => Some(Division::Flag),
                quantity if quantity.is_clock() => time.clone(),
                _ => Some(Division::number(constants)),
            })
            .collect::<Option<_>>()?;
        if divisions.iter().any(|division| division.count() > 2 * MOST_CONSTANTS) {
            return None;
        }
        let order =
            order.iter().filter_map(|(short, long)| Some((*of.get(short)?, *of.get(long)?))).collect::<Vec<_>>();
        let mut reader = ClaimReader { of: &of, divisions: &divisions, known: HashMap::new(), holding: Vec::new() };
        let parts = match claim {
            Claim::All(parts) => parts.iter().map(|part| reader.part(part)).collect(),
            claim => vec![reader.part(claim)],
        };
        let holding = reader.holding;
        Some((Self { quantities, divisions, holding, order }, parts))
    }

    /// The parts in groups that have no quantity in common.
    fn groups<'p>(&self, parts: &'p [ClaimPart]) -> Vec<Vec<&'p ClaimPart>> {
        let mut leader: Vec<usize> = (0..self.quantities.len()).collect();
        for (a, b) in &self.order {
            join(&mut leader, *a, *b);
        }
        let mut firsts = Vec::with_capacity(parts.len());
        for part in parts {
            let mut first = None;
            part.visit(&mut |of| {
                let first = *first.get_or_insert(of);
                join(&mut leader, first, of);
            });
            firsts.push(first);
        }
        let mut groups: Vec<Vec<&ClaimPart>> = Vec::new();
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

impl ClaimPart {
    fn visit(&self, see: &mut impl FnMut(usize)) {
        match self {
            Self::Answer { of, .. } => see(*of),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }
}

/// Turns a claim into numbers.
struct ClaimReader<'c> {
    of: &'c HashMap<&'c Quantity, usize>,
    divisions: &'c [Division],
    /// The number of the cells of a test that has been met: by the quantity, the comparison, and the bits of the constant.
    known: HashMap<(usize, u8, u64), usize>,
    holding: Vec<Cells>,
}

impl ClaimReader<'_> {
    fn part(&mut self, claim: &Claim) -> ClaimPart {
        match claim {
            Claim::Always => ClaimPart::All(Vec::new()),
            Claim::Never => ClaimPart::Any(Vec::new()),
            Claim::Answer(quantity, test, is) => {
                let of = self.of[quantity];
                ClaimPart::Answer { of, cells: self.cells(of, test), is: *is }
            }
            Claim::All(parts) => ClaimPart::All(parts.iter().map(|part| self.part(part)).collect()),
            Claim::Any(parts) => ClaimPart::Any(parts.iter().map(|part| self.part(part)).collect()),
        }
    }

    fn cells(&mut self, of: usize, test: &ClaimTest) -> usize {
        let key = match test {
            ClaimTest::Is => (of, 0, 0),
            ClaimTest::Compared(op, with) => (of, *op as u8 + 1, with.to_bits()),
        };
        if let Some(cells) = self.known.get(&key) {
            return *cells;
        }
        let division = &self.divisions[of];
        self.holding.push(match test {
            ClaimTest::Is => division.yes(),
            ClaimTest::Compared(op, with) => division.compared(*op, *with),
        });
        self.known.insert(key, self.holding.len() - 1);
        self.holding.len() - 1
    }
}

enum Found {
    Some(Domains),
    None,
    Unknown,
}

/// How a part stands with what is still possible.
enum PartStanding {
    Holds,
    Fails,
    Open,
}

struct Search<'s> {
    space: &'s Space,
    work: &'s mut Work,
    steps: &'s mut u64,
}

impl Search<'_> {
    /// Cells for all quantities, in each of which all parts hold.
    fn find(&mut self, parts: &[&ClaimPart], domains: Domains) -> Found {
        // What is still to be tried, instead of a function that calls itself: a claim may have a thousand tests.
        let mut waiting = vec![domains];
        while let Some(mut domains) = waiting.pop() {
            match self.narrow(parts, &mut domains) {
                None => return Found::Unknown,
                Some(false) => continue,
                Some(true) => {}
            }
            let Some((of, cells, is)) = parts.iter().find_map(|part| self.open(part, &domains)) else {
                return Found::Some(domains);
            };
            let mut other = domains.clone();
            other[of].keep(&self.space.holding[cells], !is);
            waiting.push(other);
            domains[of].keep(&self.space.holding[cells], is);
            waiting.push(domains);
        }
        Found::None
    }

    /// Draws what the parts force, until there is no more. `Some(false)` if they cannot all hold, `None` if that takes too long.
    fn narrow(&mut self, parts: &[&ClaimPart], domains: &mut Domains) -> Option<bool> {
        loop {
            let mut has_changed = false;
            for part in parts {
                if !self.force(part, domains, &mut has_changed)? {
                    return Some(false);
                }
            }
            if !self.in_order(domains, &mut has_changed) {
                return Some(false);
            }
            if !has_changed {
                return Some(true);
            }
        }
    }

    fn force(&mut self, part: &ClaimPart, domains: &mut Domains, has_changed: &mut bool) -> Option<bool> {
        match part {
            ClaimPart::Answer { of, cells, is } => {
                self.spend(1)?;
                let holding = &self.space.holding[*cells];
                let is_forced = if *is { domains[*of].is_within(holding) } else { !domains[*of].meets(holding) };
                if !is_forced {
                    domains[*of].keep(holding, *is);
                    *has_changed = true;
                }
                Some(!domains[*of].is_empty())
            }
            ClaimPart::All(parts) => {
                for part in parts {
                    if !self.force(part, domains, has_changed)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            ClaimPart::Any(parts) => {
                let mut open = None;
                for part in parts {
                    match self.standing(part, domains)? {
                        PartStanding::Holds => return Some(true),
                        PartStanding::Fails => {}
                        PartStanding::Open if open.is_some() => return Some(true),
                        PartStanding::Open => open = Some(part),
                    }
                }
                // The only one that is left has to hold.
                open.map_or(Some(false), |part| self.force(part, domains, has_changed))
            }
        }
    }

    fn standing(&mut self, part: &ClaimPart, domains: &Domains) -> Option<PartStanding> {
        match part {
            ClaimPart::Answer { of, cells, is } => {
                self.spend(1)?;
                let holding = &self.space.holding[*cells];
                let (all, none) = (domains[*of].is_within(holding), !domains[*of].meets(holding));
                Some(match (all, none, is) {
                    (true, _, true) | (_, true, false) => PartStanding::Holds,
                    (true, _, false) | (_, true, true) => PartStanding::Fails,
                    _ => PartStanding::Open,
                })
            }
            ClaimPart::All(parts) => {
                let mut standing = PartStanding::Holds;
                for part in parts {
                    match self.standing(part, domains)? {
                        PartStanding::Holds => {}
                        PartStanding::Fails => return Some(PartStanding::Fails),
                        PartStanding::Open => standing = PartStanding::Open,
                    }
                }
                Some(standing)
            }
            ClaimPart::Any(parts) => {
                let mut standing = PartStanding::Fails;
                for part in parts {
                    match self.standing(part, domains)? {
                        PartStanding::Fails => {}
                        PartStanding::Holds => return Some(PartStanding::Holds),
                        PartStanding::Open => standing = PartStanding::Open,
                    }
                }
                Some(standing)
            }
        }
    }

    /// The first test of a part on which it depends whether the part holds, with the answer that it should have.
    fn open(&mut self, part: &ClaimPart, domains: &Domains) -> Option<(usize, usize, bool)> {
        match part {
            ClaimPart::Answer { of, cells, is } => {
                let holding = &self.space.holding[*cells];
                let is_open = domains[*of].meets(holding) && !domains[*of].is_within(holding);
                is_open.then_some((*of, *cells, *is))
            }
            ClaimPart::All(parts) => parts.iter().find_map(|part| self.open(part, domains)),
            ClaimPart::Any(parts) => {
                let holds =
                    |search: &mut Self, part| matches!(search.standing(part, domains), Some(PartStanding::Holds));
                if parts.iter().any(|part| holds(self, part)) {
                    return None;
                }
                let fails =
                    |search: &mut Self, part| matches!(search.standing(part, domains), Some(PartStanding::Fails));
                parts.iter().find_map(|part| if fails(self, part) { None } else { self.open(part, domains) })
            }
        }
    }

    /// Keeps the cells of two times in which the first can be no longer than the second.
    fn in_order(&self, domains: &mut Domains, has_changed: &mut bool) -> bool {
        for (short, long) in &self.space.order {
            let (Some(first), Some(last)) = (domains[*short].first(), domains[*long].last()) else { return false };
            if domains[*long].first().is_some_and(|cell| cell < first) {
                domains[*long].bound(first, usize::MAX);
                *has_changed = true;
            }
            if domains[*short].last().is_some_and(|cell| cell > last) {
                domains[*short].bound(0, last);
                *has_changed = true;
            }
            if domains[*short].is_empty() || domains[*long].is_empty() {
                return false;
            }
        }
        true
    }

    fn spend(&mut self, steps: u64) -> Option<()> {
        let is_enough = *self.steps >= steps && self.work.spend(steps);
        *self.steps = self.steps.saturating_sub(steps);
        self.work.is_cut |= !is_enough;
        is_enough.then_some(())
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
        solve(claim, &[], &mut Work::new(1_000_000))
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
        let mut work = Work::new(10_000);
        assert_eq!(solve(&Claim::all((0..20).map(free).chain([never])), &[], &mut work), ClaimAnswer::Never);
        assert!(work.done < 1_000, "{}", work.done);
    }

    #[test]
    fn the_time_in_a_parent_is_no_shorter_than_that_in_its_child() {
        let [parent, child] = [0, 1].map(|id| Quantity::Clock(StateId::new(id), 0));
        let claim =
            Claim::all([Claim::compared(parent.clone(), Less, 2.0), Claim::compared(child.clone(), Greater, 3.0)]);
        assert_eq!(solve(&claim, &[(child, parent)], &mut Work::new(1_000)), ClaimAnswer::Never);
    }

    #[test]
    fn what_takes_too_long_is_unknown() {
        // Each of nine is in one of eight holes, and no two are in one.
        let in_hole = |i: usize, hole: usize| Claim::is(Quantity::Flag(format!("{i} in {hole}")));
        let placed = (0..9).map(|i| Claim::any((0..8).map(|hole| in_hole(i, hole))));
        let apart = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).flat_map(|(i, j)| {
            (0..8).map(move |hole| Claim::any([in_hole(i, hole).negated(), in_hole(j, hole).negated()]))
        });
        let mut work = Work::new(10_000_000);
        assert_eq!(solve(&Claim::all(placed.chain(apart)), &[], &mut work), ClaimAnswer::Unknown);
        assert!(work.is_cut && work.done < 1_000_000, "{}", work.done);
    }
}
