//! Finds the states that can be active, and the exits that can be taken, in at least one situation.
//!
//! An exit can be taken in a tick that begins in its state, if no exit before it is taken. It can also be tried in the middle
//! of a tick, after an exit of the global state or of a parent has led to its state. An exit with `always` can also be tried
//! when its state is entered. Anything that cannot be decided counts as possible, so a state or an exit is left out only if it
//! is certainly impossible.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter;

use super::claim::Claim;
use super::machine::{Machine, Standing, StateTime};
use super::solver::ClaimAnswer;
use crate::format::expression::When;
use crate::format::leads::Leads;
use crate::format::outline::effects::CodeTargets;
use crate::format::outline::{ExitId, ExitOutline, StateId, StateOutline};
use crate::format::property::Property;

/// The maximum number of ways into a state that are checked one by one. If there are more, the way is treated as unknown.
const MOST_WAYS: usize = 64;

/// The claim under which an exit is tried after one way into its state, and a path. No state of this path has been active for
/// longer than its parent.
type ClaimedWay<'p> = (Claim, &'p [StateId]);

/// The states and exits that are possible.
#[derive(Default)]
pub(super) struct Reached {
    /// The innermost states in which the machine can be, in the order in which they were found.
    pub(super) innermost: Vec<StateId>,
    /// For each state, the innermost states inside it, including itself.
    within: Vec<Vec<StateId>>,
    /// The exits that can be taken.
    pub(super) taken: HashSet<ExitId>,
    /// The exits for which it is unknown whether they can be taken. They are also in `taken`.
    pub(super) unknown: BTreeSet<ExitId>,
    /// The states to which scripts and behaviors may change.
    pub(super) free: BTreeSet<StateId>,
    /// Whether code may write values and send messages in the middle of a tick. Always false if there are no properties.
    pub(super) has_code: bool,
    /// For each innermost state in which a tick can end and may break a property, the ways in which it can end there.
    pub(super) tick_ends: Vec<(StateId, Vec<TickEnd>)>,
}

/// A way in which a tick can end on a path: the claim under which this happens, the path at the beginning of the last change, and
/// how many of its outermost states stay active in that change.
pub(super) struct TickEnd {
    pub(super) claim: Claim,
    pub(super) from: Vec<StateId>,
    pub(super) kept: usize,
}

impl Reached {
    /// Whether a state other than the global one can be active.
    pub(super) fn is_active(&self, id: StateId) -> bool {
        !self.within[id.index()].is_empty()
    }

    /// Returns the innermost states in which the exits of a state are tried.
    pub(super) fn active_with(&self, machine: &Machine<'_>, of: StateId) -> &[StateId] {
        if machine.outline.global() == Some(of) { &self.innermost } else { &self.within[of.index()] }
    }
}

/// Finds the states and exits that are possible.
pub(super) fn reach(machine: &Machine<'_>) -> Reached {
    let outline = machine.outline;
    let within = vec![Vec::new(); outline.states().len()];
    let mut reaching = Reaching {
        machine,
        reached: Reached { within, ..Reached::default() },
        leads_to: HashMap::new(),
        waiting: Vec::new(),
        free: HashSet::new(),
        within: HashSet::new(),
        seen: HashSet::new(),
        resting: HashSet::new(),
        cut_short: cut_short(machine),
        passed_by: HashSet::new(),
        code: CodeTargets::of(outline),
    };
    reaching.enter_freely(outline.initial());
    for state in outline.states().iter().filter(|state| state.is_entry()) {
        reaching.enter_freely(state.id());
    }
    if let Some(global) = outline.global() {
        reaching.code(global);
    }
    reaching.run();
    if !outline.properties.is_empty() {
        let has_code =
            outline.states().iter().any(|state| has_code(state) || state.actions().any(|action| !action.sets));
        reaching.reached.has_code = has_code;
        for at in reaching.reached.innermost.clone() {
            let path = outline.path(at);
            let may_break = |property: &Property| {
                let broken = property.rule.unmet(machine.at(&path, StateTime::Varies));
                machine.solve(&broken, &path) != ClaimAnswer::Never
            };
            if outline.properties.iter().any(may_break) && reaching.rests(at, &path) {
                let ends = reaching.tick_ends(at);
                reaching.reached.tick_ends.push((at, ends));
            }
        }
    }
    reaching.reached
}

struct Reaching<'m> {
    machine: &'m Machine<'m>,
    reached: Reached,
    /// The exits that can be taken, by the innermost state to which they lead.
    leads_to: HashMap<StateId, Vec<ExitId>>,
    /// The innermost states whose exits must still be checked.
    waiting: Vec<StateId>,
    /// The innermost states that can be entered between two ticks by a change that no exit makes.
    free: HashSet<StateId>,
    /// The innermost states that can be entered in the middle of a tick by a change that no exit makes.
    within: HashSet<StateId>,
    /// The innermost states that have been found. They may have children, because a state with children need not have an
    /// initial child.
    seen: HashSet<StateId>,
    /// The innermost states in which the machine can stay until the next tick. It does not stay where an exit with `always`
    /// leads on at once.
    resting: HashSet<StateId>,
    /// The result of [`cut_short`].
    cut_short: HashSet<StateId>,
    /// The exits that are not taken in a tick on a path that has been checked.
    passed_by: HashSet<ExitId>,
    code: CodeTargets<'m>,
}

impl Reaching<'_> {
    fn run(&mut self) {
        // An exit that cannot be taken now may become possible when another way into its state is found.
        loop {
            while let Some(at) = self.waiting.pop() {
                self.look(at, false);
            }
            let before = self.reached.taken.len();
            for at in 0..self.reached.innermost.len() {
                let at = self.reached.innermost[at];
                if !self.resting.contains(&at) {
                    self.waiting.push(at);
                }
                self.look(at, true);
            }
            let resting = self.resting.len();
            while let Some(at) = self.waiting.pop() {
                self.look(at, false);
            }
            if self.reached.taken.len() == before && self.resting.len() == resting {
                return;
            }
        }
    }

    /// Adds a change to `to` that no exit makes, and that happens between two ticks.
    fn enter_freely(&mut self, to: StateId) {
        for at in self.machine.innermost_of(to) {
            self.free.insert(at);
            self.enter(at);
        }
    }

    /// Adds a change to `to` that no exit makes, and that may happen between two ticks or in the middle of a tick.
    fn enter_within(&mut self, to: StateId) {
        self.within.extend(self.machine.innermost_of(to));
        self.reached.free.insert(to);
        self.enter_freely(to);
    }

    fn enter(&mut self, at: StateId) {
        // An exit of the global state that leads back names no state, so it counts as one to the global state.
        if self.machine.outline.global() == Some(at) || !self.seen.insert(at) {
            return;
        }
        self.reached.innermost.push(at);
        self.waiting.push(at);
        // If an exit leads back, any state may be entered or resumed at any time, from any path. So may a state in a region, from
        // the view of the other regions.
        if self.machine.has_memory || self.machine.is_in_region(&self.machine.outline.path(at)) {
            self.free.insert(at);
            self.within.insert(at);
            self.resting.insert(at);
        }
        for id in self.machine.outline.path(at) {
            // An exit that leads back to a state with regions starts each region in its initial state.
            if self.machine.has_memory && !self.machine.state(id).regions.is_empty() {
                self.machine.innermost_of(id).into_iter().for_each(|inner| self.enter(inner));
            }
            let is_new = !self.reached.is_active(id);
            self.reached.within[id.index()].push(at);
            if is_new {
                self.code(id);
            }
        }
    }

    /// Adds the changes that a state's script may ask for, and changes to the states that the parameters of its behaviors name.
    fn code(&mut self, of: StateId) {
        for to in self.code.find(self.machine.state(of)) {
            self.enter_within(to);
        }
    }

    /// Checks the exits that are tried while `at` is the innermost state, and that are not known to be taken: in a tick that
    /// begins there or, with `by_all_ways`, in the middle of a tick and at the entry.
    fn look(&mut self, at: StateId, by_all_ways: bool) {
        let machine = self.machine;
        let path = machine.outline.path(at);
        let is_possible = |id: &ExitId| machine.configurations.as_ref().is_none_or(|all| all.taken.contains(id));
        let left = machine.exits_on(&path).filter(|id| !self.reached.taken.contains(id));
        let left: Vec<_> = left.filter(is_possible).collect();
        if left.is_empty() || !by_all_ways && !self.rests(at, &path) {
            return;
        }
        let mut passed = HashMap::new();
        for id in left {
            let answer = if machine.work.is_over() {
                ClaimAnswer::Unknown
            } else if self.is_covered(id, &path) {
                ClaimAnswer::Never
            } else if by_all_ways {
                self.by_other_ways(id, &path)
            } else {
                self.by_itself(id, &path, &mut passed)
            };
            if answer == ClaimAnswer::Never {
                self.passed_by.insert(id);
                continue;
            }
            // An unknown exit counts as possible, so that no finding depends on it being impossible.
            if answer == ClaimAnswer::Unknown {
                self.reached.unknown.insert(id);
            }
            self.reached.taken.insert(id);
            for to in machine.innermost_of(machine.exit(id).to) {
                self.leads_to.entry(to).or_default().push(id);
                self.enter(to);
            }
        }
    }

    /// Whether the earlier exits of its state, or its own condition, certainly prevent an exit on the path. This is checked
    /// only if the exit is not taken on another path: then the reason is often the same here, and the check is quick.
    fn is_covered(&self, id: ExitId, path: &[StateId]) -> bool {
        let exit = self.machine.exit(id);
        let led = || self.machine.at(path, StateTime::Varies).led(id);
        let is_tried_in_order = !exit.is_done && !exit.is_always;
        is_tried_in_order && self.passed_by.contains(&id) && self.machine.solve(&led(), path) == ClaimAnswer::Never
    }

    /// Checks an exit in a tick that begins on the path, or for a message that is sent there. `passed` caches the claims that
    /// exits are not taken in a tick, also if a behavior may write values afterwards.
    fn by_itself(&self, id: ExitId, path: &[StateId], passed: &mut HashMap<(ExitId, bool), Claim>) -> ClaimAnswer {
        let machine = self.machine;
        let exit = machine.exit(id);
        let at = machine.at(path, StateTime::Varies);
        let own = at.taken(id);
        if own == Claim::NEVER {
            return ClaimAnswer::Never;
        }
        let claim = if exit.is_done {
            // The linked machine may end at any time.
            own
        } else if exit.on.is_some() {
            let before = machine.before(id, path).into_iter();
            Claim::all(before.map(|before| at.taken_before(before, id).negated()).chain([own]))
        } else {
            let mut pass = |before| {
                let place = (before, machine.may_write_between(path, before, id));
                passed.entry(place).or_insert_with(|| at.taken_before(before, id).negated()).clone()
            };
            Claim::all(machine.before(id, path).into_iter().map(&mut pass).chain([at.tried(id)]))
        };
        machine.solve(&claim, path)
    }

    /// Checks an exit in the middle of a tick that has led to the path, or while the exit's state is being entered.
    fn by_other_ways(&self, id: ExitId, path: &[StateId]) -> ClaimAnswer {
        let exit = self.machine.exit(id);
        if exit.on.is_some() {
            return ClaimAnswer::Never;
        }
        let at = path[path.len() - 1];
        let level = Machine::level(path, id.of);
        let (ways, are_all) = self.ways(at);
        let mut claims = Vec::new();
        if are_all {
            for (way, from) in &ways {
                claims.extend(self.after(*way, from, id, path));
            }
        }
        let is_cut_short = self.cut_short.contains(&at);
        if !are_all || is_cut_short || self.within.contains(&at) {
            claims.push((self.anyhow_in_tick(id, path, is_cut_short), path));
        }
        if exit.is_always && level > 0 && (!are_all || self.free.contains(&at)) {
            claims.push((self.anyhow_at_entry(id, path, level - 1), path));
        }
        self.first(claims)
    }

    /// Returns the first answer that is `Holds`. If there is none, returns `Unknown` if one answer is unknown, and otherwise
    /// `Never`.
    fn first<'p>(&self, claims: impl IntoIterator<Item = ClaimedWay<'p>>) -> ClaimAnswer {
        let mut answer = ClaimAnswer::Never;
        for (claim, path) in claims {
            match self.machine.solve(&claim, path) {
                ClaimAnswer::Never => {}
                ClaimAnswer::Unknown => answer = ClaimAnswer::Unknown,
                found @ ClaimAnswer::Holds(_) => return found,
            }
        }
        answer
    }

    /// Whether the machine can be on a path from one tick to the next.
    fn rests(&mut self, at: StateId, path: &[StateId]) -> bool {
        let machine = self.machine;
        if self.resting.contains(&at) {
            return true;
        }
        let is_left = path.iter().any(|of| machine.always_of(*of).next().is_some()) && !self.cut_short.contains(&at);
        let is_free = self.free.contains(&at);
        let (mut ways, are_all) = if is_free && !is_left { (Vec::new(), false) } else { self.ways(at) };
        ways.retain(|(way, from)| machine.change(from, *way).is_ok());
        let is_known = are_all && !is_free;
        let ends_tick = |(way, from): &(ExitId, Vec<StateId>)| !self.is_between(*way, from);
        let is_certain = if is_left { is_known && ways.is_empty() } else { !is_known || ways.iter().any(ends_tick) };
        let rests = is_certain || ways.is_empty() && !is_left || {
            let after = ways.iter().filter_map(|(way, from)| {
                let kept = machine.change(from, *way).ok()?.kept;
                Some((self.stays_after(*way, from, path, kept, is_left), &from[..]))
            });
            let anyhow = || (stays(machine.at(path, StateTime::Varies).entered(path.len() - 1)), path);
            self.first(after.chain((is_left && !is_known).then(anyhow))) != ClaimAnswer::Never
        };
        if rests {
            self.resting.insert(at);
        }
        rests
    }

    /// Whether an exit is taken in the middle of a tick, so that the rest of the tick may take another exit.
    fn is_between(&self, way: ExitId, from: &[StateId]) -> bool {
        self.machine.exit(way).on.is_none() && from.last() != Some(&way.of)
    }

    /// Returns the claim that the exit `way` leads from a path to another one, and that the machine stays there until the end
    /// of the tick. `is_left` says whether exits with `always` may lead on.
    fn stays_after(&self, way: ExitId, from: &[StateId], path: &[StateId], kept: usize, is_left: bool) -> Claim {
        let machine = self.machine;
        let entered = machine.at(path, StateTime::Varies).entered(kept);
        let acts = machine.acts(from.iter().chain(path));
        let then = |claim: Claim| if acts { claim.perhaps() } else { claim };
        let mut claim = vec![then(machine.at(from, StateTime::Varies).led(way))];
        if is_left {
            claim.push(stays(entered));
        }
        if self.is_between(way, from) {
            let level = Machine::level(from, way.of);
            let left = machine.in_tick(path).into_iter().filter(|id| Machine::level(path, id.of) > level);
            claim.push(then(entered.none_tried(left)));
        }
        Claim::all(claim)
    }

    /// Returns the ways in which a tick can end while `at` is the innermost state. The first one is that of a tick without a
    /// change.
    fn tick_ends(&self, at: StateId) -> Vec<TickEnd> {
        let machine = self.machine;
        let path = machine.outline.path(at);
        let end = |claim, from: &[StateId], kept| TickEnd { claim, from: from.to_vec(), kept };
        let is_left = path.iter().any(|of| machine.always_of(*of).next().is_some()) && !self.cut_short.contains(&at);
        let (ways, are_all) = self.ways(at);
        if self.reached.has_code || !are_all || self.within.contains(&at) || self.cut_short.contains(&at) {
            if self.may_skip_exits(&path) {
                return vec![end(Claim::ALWAYS, &path, path.len())];
            }
            // Code may write values after the exits have been tried, but it cannot write times.
            let runs_code = path.iter().copied().chain(machine.outline.global()).any(|id| has_code(machine.state(id)));
            let not_taken = |id| {
                let taken = machine.at(&path, StateTime::Varies).tried(id);
                if runs_code { taken.timed().negated() } else { taken.negated() }
            };
            let stays = Claim::all(machine.in_tick(&path).into_iter().map(not_taken));
            // If there is a change, the innermost state is entered.
            return vec![end(stays, &path, path.len()), end(Claim::ALWAYS, &path, path.len() - 1)];
        }
        let mut ends =
            vec![end(machine.at(&path, StateTime::Varies).none_tried(machine.in_tick(&path)), &path, path.len())];
        for (way, from) in ways.iter().filter(|(way, _)| machine.exit(*way).on.is_none()) {
            let Ok(change) = machine.change(from, *way) else { continue };
            let stays = self.stays_after(*way, from, &path, change.kept, is_left);
            ends.push(end(Claim::all([stays, self.passed(*way, from)]), from, change.kept));
        }
        ends
    }

    /// Whether code may lead back to a path without entering its innermost state, or put the machine to sleep in a tick in which
    /// a global state is updated. Then a tick can end on the path although its exits have not been tried.
    fn may_skip_exits(&self, path: &[StateId]) -> bool {
        let outline = self.machine.outline;
        let returns = |exit: &ExitOutline| matches!(exit.leads, Leads::Push | Leads::Pop);
        !self.reached.free.is_empty()
            || outline.has_regions()
            || outline.states().iter().any(|state| state.is_entry() || state.exits.iter().any(returns))
            || outline.global().is_some()
                && path.iter().copied().chain(outline.global()).any(|id| has_code(outline.state(id)))
    }

    /// Returns the claim that no exit is taken before the state of the exit `way` has its turn. This is known only if a tick
    /// certainly begins on the path: if no exit leads there in the middle of a tick, or as soon as another state is entered.
    /// Otherwise, returns [`Claim::ALWAYS`].
    fn passed(&self, way: ExitId, from: &[StateId]) -> Claim {
        let machine = self.machine;
        let at = from[from.len() - 1];
        let leads_between_ticks = |way: &ExitId| {
            let exit = machine.exit(*way);
            let is_outer = machine.state(way.of).is_composite() || machine.outline.global() == Some(way.of);
            !exit.is_always && !exit.is_done && (exit.on.is_some() || !is_outer)
        };
        let is_tried_in_tick = machine.exit(way).on.is_none() && !machine.exit(way).is_always;
        let mut ways = self.leads_to.get(&at).into_iter().flatten();
        if !is_tried_in_tick || self.within.contains(&at) || !ways.all(leads_between_ticks) {
            return Claim::ALWAYS;
        }
        let before = machine.before(way, from).into_iter().filter(|before| before.of != way.of);
        machine.at(from, StateTime::Varies).none_tried(before)
    }

    /// Returns the exits that lead to an innermost state, each with a path on which it may be taken. Also returns whether the
    /// list is complete, apart from changes that no exit makes.
    fn ways(&self, at: StateId) -> (Vec<(ExitId, Vec<StateId>)>, bool) {
        let machine = self.machine;
        let (mut ways, mut are_all) = (Vec::new(), true);
        for way in self.leads_to.get(&at).into_iter().flatten().copied() {
            let of_way = machine.exit(way);
            // If an exit with `always` may be taken while its state is being entered, the path before it is unknown.
            are_all &= !of_way.is_done && !self.leads_on_at_entry(way);
            let from = self.reached.active_with(machine, way.of).iter().take(MOST_WAYS + 1);
            ways.extend(from.map(|from| (way, machine.outline.path(*from))));
            if ways.len() > MOST_WAYS {
                are_all = false;
                break;
            }
        }
        (ways, are_all)
    }

    /// Whether an exit may be taken when its state is entered.
    fn leads_on_at_entry(&self, way: ExitId) -> bool {
        let machine = self.machine;
        if !machine.exit(way).is_always {
            return false;
        }
        let path = machine.outline.path(way.of);
        let at = machine.at(&path, StateTime::Varies).entered(path.len() - 1);
        machine.solve(&at.taken(way), &path) != ClaimAnswer::Never
    }

    /// Returns the claims under which the exit `id` is tried after `way` has been taken on the path `from`.
    fn after<'p>(&self, way: ExitId, from: &'p [StateId], id: ExitId, path: &[StateId]) -> Vec<ClaimedWay<'p>> {
        let machine = self.machine;
        let Ok(change) = machine.change(from, way) else { return Vec::new() };
        let acts = machine.acts(from.iter().chain(path));
        let then = |claim: Claim| if acts { claim.perhaps() } else { claim };
        let led = then(Claim::all([machine.at(from, StateTime::Varies).led(way), self.passed(way, from)]));
        let at = machine.at(path, StateTime::Varies).entered(change.kept);
        let (from_level, level) = (Machine::level(from, way.of), Machine::level(path, id.of));
        let mut claims = Vec::new();
        // In the same tick, if the level of the exit `id` has its turn after the level of `way`.
        if machine.exit(way).on.is_none() && from_level < level && from.last() != Some(&way.of) {
            let mut before = machine.before(id, path);
            before.retain(|before| Machine::level(path, before.of) > from_level);
            let before = before.into_iter().map(|before| at.taken_before(before, id).negated());
            claims.push(Claim::all([led.clone(), then(stays(at)), at.tried(id)].into_iter().chain(before)));
        }
        // While the state of the exit `id` is being entered.
        if machine.exit(id).is_always && level > change.kept {
            let not = (change.kept..level).map(|depth| {
                let not = at.up_to(depth).none_taken(machine.always_of(path[depth]).take_while(|always| *always != id));
                if depth + 1 < level { then(not) } else { not }
            });
            claims.push(Claim::all(iter::once(led).chain(not).chain([at.up_to(level - 1).taken(id)])));
        }
        claims.into_iter().map(|claim| (claim, from)).collect()
    }

    /// Returns the claim for an exit in the middle of a tick, if the way to the path is unknown. `is_cut_short` says whether an
    /// exit with `always` may not be tried, because it would lead to too many changes.
    fn anyhow_in_tick(&self, id: ExitId, path: &[StateId], is_cut_short: bool) -> Claim {
        let machine = self.machine;
        // A pop leads back to a path without entering it: the times of its states go on.
        let pops = machine.outline.states().iter().flat_map(|state| &state.exits).any(|exit| exit.leads == Leads::Pop);
        let at = machine.at(path, StateTime::Varies).entered(path.len() - usize::from(!pops));
        let same = machine.exits_of(id.of).take_while(|same| *same != id);
        let same = same.filter(|same| machine.exit(*same).on.is_none());
        let stays = if is_cut_short { Claim::ALWAYS } else { stays(at) };
        let stays = if machine.acts(path) { stays.perhaps() } else { stays };
        Claim::all([at.none_taken(same), stays, at.tried(id)])
    }

    /// Returns the claim for an exit while its state, at `depth`, is being entered, if the way to the path is unknown.
    fn anyhow_at_entry(&self, id: ExitId, path: &[StateId], depth: usize) -> Claim {
        let at = self.machine.at(path, StateTime::Varies).entered(depth).up_to(depth);
        Claim::all([at.none_taken(self.machine.always_of(id.of).take_while(|same| *same != id)), at.taken(id)])
    }
}

/// Returns the states in which the machine may stay although an exit leads on as soon as they are entered: the states in a
/// circle of such exits, and the states to which a circle leads. At the limit of rule 13, the machine stays in one of them.
/// Conditions are ignored.
fn cut_short(machine: &Machine<'_>) -> HashSet<StateId> {
    let states = machine.outline.states();
    // The exits of a parent are tried while any of its children is active, so each state leads to its parent.
    let leads_to = |of: StateId| {
        let exits = machine.at_entry(of).flat_map(|id| machine.innermost_of(machine.exit(id).to));
        exits.chain(machine.state(of).parent())
    };
    let mut ways = vec![0_usize; states.len()];
    for state in states {
        leads_to(state.id()).for_each(|to| ways[to.index()] += 1);
    }
    // States are removed until each remaining state has a remaining state that leads to it.
    let mut removed: Vec<_> = states.iter().map(|state| state.id()).filter(|id| ways[id.index()] == 0).collect();
    while let Some(of) = removed.pop() {
        for to in leads_to(of) {
            ways[to.index()] -= 1;
            if ways[to.index()] == 0 {
                removed.push(to);
            }
        }
    }
    states.iter().map(|state| state.id()).filter(|id| machine.has_memory || ways[id.index()] > 0).collect()
}

/// Returns the claim that no exit with `always` leads on when the new states of a path are entered.
fn stays(whole: Standing<'_>) -> Claim {
    let machine = whole.machine;
    let mut stays = Vec::new();
    let acts = machine.acts(whole.path.iter().skip(whole.fresh));
    for depth in whole.fresh..whole.path.len() {
        // What a behavior writes when its state is entered, the exits of the states around it have not seen.
        if acts && machine.always_of(whole.path[depth]).next().is_some() {
            stays = stays.into_iter().map(Claim::perhaps).collect();
        }
        let at = whole.up_to(depth);
        // A script may ask for a change when the state is entered, but not in the next update.
        if machine.may_ask(whole.path[depth]) {
            continue;
        }
        for id in machine.always_of(whole.path[depth]) {
            let Ok(change) = machine.change(at.path, id) else { continue };
            // The guards are evaluated again after all states have been entered. If their answers may then differ, the machine
            // may stay.
            if at.admitted(&change) != whole.admitted(&change) {
                return Claim::ALWAYS;
            }
            stays.push(at.taken(id).negated());
        }
    }
    Claim::all(stays)
}

/// Whether code of the game or a script runs while a state is active.
pub(super) fn has_code(state: &StateOutline) -> bool {
    let asks_script = |exit: &ExitOutline| matches!(exit.when.as_deref(), Some(When::Script(_)));
    !state.behaviors.is_empty() || state.script.is_some() || state.exits.iter().any(asks_script)
}
