//! Simulates what a machine does in one tick, or when it enters a state, while the values stay the same: which exits it takes
//! one after the other, and where it ends.

use std::rc::Rc;

use super::claim::Claim;
use super::machine::{Machine, Standing, StateTime};
use super::solver::Situation;
use crate::format::action::WrittenAction;
use crate::format::outline::{ExitId, StateId};

/// The maximum number of changes that are simulated in one step. A machine may make more (rule 13).
pub(super) const MOST_IN_STEP: usize = 64;

/// A simulated tick, or a simulated entry into a state.
#[derive(Clone, Debug)]
pub(super) struct TickStep {
    /// The exits that are taken, in this order, each with the innermost state that it leaves.
    pub(super) exits: Vec<(ExitId, StateId)>,
    /// The innermost state in which the step ends.
    pub(super) to: StateId,
    /// The claim that the machine does this step. There is a situation in which the claim holds.
    pub(super) claim: Claim,
    /// The index of the exit with which a circle begins: exits that are tried at entry have led to a path of states for the
    /// second time. `None` if the machine stays in the state until the next tick.
    pub(super) circle: Option<usize>,
}

impl TickStep {
    /// Returns the actions that may run in the step, which begins in the innermost state `from`: the actions of its exits,
    /// and the actions of all states on the way.
    pub(super) fn actions<'o>(&self, machine: &Machine<'o>, from: StateId) -> Vec<&'o WrittenAction> {
        let outline = machine.outline;
        let of_exits = self.exits.iter().flat_map(|(id, _)| machine.exit(*id).actions.iter());
        let left = self.exits.iter().map(|(_, left)| *left);
        let states = left.chain([from, self.to]).flat_map(|id| outline.path(id)).map(|id| machine.state(id));
        let of_states = states.flat_map(|state| [&state.enter, &state.exit]).flatten();
        of_exits.chain(of_states).flat_map(|actions| actions.iter()).collect()
    }
}

/// The possible steps that were found.
#[derive(Default)]
pub(super) struct PossibleSteps {
    pub(super) all: Vec<TickStep>,
    /// Whether there may be more steps.
    pub(super) has_more: bool,
    /// How many changes were checked.
    pub(super) tried: u32,
}

impl PossibleSteps {
    /// Finds the steps of a tick that begins in the innermost state `at`, except those without a change. All active states
    /// have been active for `tick` seconds. If more than `most` changes would have to be checked, it may miss steps with several
    /// changes.
    pub(super) fn in_tick(machine: &Machine<'_>, at: StateId, tick: f64, most: u32) -> Self {
        let path = machine.outline.path(at);
        let run = PartialStep { fresh: path.len(), path, ..PartialStep::default() };
        let steps = |left, longest| {
            let mut stepping = Stepping { machine, tick, left, longest, steps: Self::default() };
            stepping.turn(0, &run);
            stepping.steps
        };
        let mut found = steps(most, MOST_IN_STEP);
        if found.has_more {
            let singles = steps(u32::MAX, 1);
            found.all.retain(|step| step.exits.len() > 1);
            found.all.extend(singles.all);
        }
        found
    }

    /// Finds the steps that begin when all states on the path of `at` are entered, except those without a change. At most
    /// `most` changes are checked.
    pub(super) fn at_entry(machine: &Machine<'_>, at: StateId, most: u32) -> Self {
        let run = PartialStep { path: machine.outline.path(at), ..PartialStep::default() };
        let mut stepping = Stepping { machine, tick: 0.0, left: most, longest: MOST_IN_STEP, steps: Self::default() };
        stepping.enter(&mut StepCallback { is_entry: true, ..StepCallback::default() }, 0, run);
        stepping.steps
    }
}

/// An incomplete step.
#[derive(Clone, Default)]
struct PartialStep {
    path: Vec<StateId>,
    /// The depth of the outermost active state that has been entered in this step.
    fresh: usize,
    claims: Vec<Rc<Claim>>,
    exits: Vec<(ExitId, StateId)>,
    /// How many of the claims have been checked.
    checked: usize,
    /// A situation in which the checked claims hold.
    situation: Rc<Situation>,
}

impl PartialStep {
    fn innermost(&self) -> StateId {
        self.path[self.path.len() - 1]
    }

    /// Returns the path with the time in each state: 0 in the states that this step has entered, and one tick in the others.
    fn standing<'a>(&'a self, machine: &'a Machine<'_>, tick: f64) -> Standing<'a> {
        machine.at(&self.path, StateTime::Known(tick)).entered(self.fresh)
    }

    fn is_impossible(&self) -> bool {
        self.claims[self.checked..].iter().any(|claim| **claim == Claim::NEVER)
    }

    /// Returns the step with these claims added.
    fn with(&self, claims: impl IntoIterator<Item = Rc<Claim>>) -> Self {
        let mut run = self.clone();
        run.claims.extend(claims.into_iter().filter(|claim| **claim != Claim::ALWAYS));
        run
    }
}

/// The callback whose requests are being carried out.
#[derive(Default)]
struct StepCallback {
    /// The entries in this callback: for each, the path, and the depth of the outermost new state with exits that are tried at
    /// entry.
    entered: Vec<(Vec<StateId>, usize)>,
    /// Whether the callback is an entry outside of a tick.
    is_entry: bool,
    /// The level whose turn comes next: 0 is the global state, other levels are depths plus 1. `None` if the tick is over.
    next: Option<usize>,
}

struct Stepping<'m> {
    machine: &'m Machine<'m>,
    tick: f64,
    /// How many changes may still be checked.
    left: u32,
    /// The maximum number of changes in a step.
    longest: usize,
    steps: PossibleSteps,
}

/// Returns a claim and its opposite, both without open quantities, which the proof cannot decide.
fn answers(claim: Claim) -> (Rc<Claim>, Rc<Claim>) {
    (Rc::new(claim.clone().certain()), Rc::new(claim.negated().certain()))
}

impl Stepping<'_> {
    /// Simulates the turn of the global state (level 0), or of the state at depth `level - 1`.
    fn turn(&mut self, level: usize, run: &PartialStep) {
        let machine = self.machine;
        let of = level.checked_sub(1).map_or(machine.outline.global(), |depth| Some(run.path[depth]));
        // The tick ends with the turn of the state that is innermost when its turn begins.
        let next = (level != run.path.len()).then_some(level + 1);
        let mut not = Vec::new();
        if let Some(of) = of {
            // A state with `every` does not have its turn in each tick, so its exits are not followed.
            let waits = machine.state(of).every.is_some();
            let at = run.standing(machine, self.tick);
            for id in machine.exits_of(of).filter(|id| machine.exit(*id).on.is_none()) {
                let (taken, is_not) = answers(at.taken(id));
                let is_always = *taken == Claim::ALWAYS;
                if *taken != Claim::NEVER && !waits {
                    let mut on = run.with(not.iter().cloned().chain([taken]));
                    if self.can_go_on(&mut on) {
                        self.take(&mut StepCallback { next, ..StepCallback::default() }, id, on);
                    }
                }
                if is_always {
                    return;
                }
                not.push(is_not);
            }
        }
        self.go_on(next, run.with(not));
    }

    /// Carries out a change.
    fn take(&mut self, callback: &mut StepCallback, id: ExitId, mut run: PartialStep) {
        let innermost = run.innermost();
        let change = self.machine.route(&run.path, self.machine.exit(id).to);
        run.exits.push((id, innermost));
        run.path.truncate(change.kept);
        run.path.extend(change.entered);
        run.fresh = run.fresh.min(change.kept);
        self.enter(callback, change.kept, run);
    }

    /// Tries the exits that are tried at entry, for the new states from depth `kept` on.
    fn enter(&mut self, callback: &mut StepCallback, kept: usize, run: PartialStep) {
        let machine = self.machine;
        let first = (kept..run.path.len()).find(|depth| machine.at_entry(run.path[*depth]).next().is_some());
        let Some(first) = first else { return self.go_on(callback.next, run) };
        let entered = (run.path.clone(), first);
        let before = callback.entered.iter().position(|before| *before == entered);
        // Within a tick, the simulation does not stop here: it follows the circle until the step has too many changes.
        if let Some(since) = before.filter(|_| callback.is_entry) {
            let around = callback.entered.len() - since;
            let from = run.exits.len() - around;
            return self.end(run, Some(from));
        }
        callback.entered.push(entered);
        let mut not = Vec::new();
        let whole = run.standing(machine, self.tick);
        for depth in first..run.path.len() {
            let at = whole.up_to(depth);
            for id in machine.at_entry(run.path[depth]) {
                let Ok(change) = machine.change(at.path, id) else { continue };
                let (taken, is_not) = answers(at.taken(id));
                let before = not.iter().cloned().chain([Rc::clone(&taken)]);
                // The guards are evaluated again after all states have been entered.
                let may_differ = at.admitted(&change) != whole.admitted(&change);
                let (admitted, is_refused) = answers(whole.admitted(&change));
                if may_differ {
                    self.go_on(callback.next, run.with(before.clone().chain([is_refused])));
                }
                let mut on = run.with(before.chain([admitted]));
                if *taken != Claim::NEVER && self.can_go_on(&mut on) {
                    self.take(callback, id, on);
                }
                not.push(is_not);
            }
        }
        self.go_on(callback.next, run.with(not));
        callback.entered.pop();
    }

    /// Continues the tick after the requests of a callback have been carried out.
    fn go_on(&mut self, next: Option<usize>, run: PartialStep) {
        match next {
            _ if run.is_impossible() => {}
            Some(next) if next <= run.path.len() => self.turn(next, &run),
            _ => self.end(run, None),
        }
    }

    fn end(&mut self, mut run: PartialStep, circle: Option<usize>) {
        if run.exits.is_empty() || run.checked < run.claims.len() && !self.can_be(&mut run) {
            return;
        }
        let to = run.innermost();
        let claim = Claim::all(run.claims.iter().map(|claim| Claim::clone(claim)));
        self.steps.all.push(TickStep { exits: run.exits, to, claim, circle });
    }

    /// Whether an incomplete step with one more change is possible. False if a limit has been reached.
    fn can_go_on(&mut self, run: &mut PartialStep) -> bool {
        let is_too_long = run.exits.len() == self.longest;
        self.steps.has_more |= is_too_long;
        !is_too_long && self.can_be(run)
    }

    /// Whether an incomplete step is possible. False if a limit has been reached.
    fn can_be(&mut self, run: &mut PartialStep) -> bool {
        if run.is_impossible() {
            return false;
        }
        if self.left == 0 || !self.machine.work.spend(1) {
            self.steps.has_more = true;
            return false;
        }
        self.left -= 1;
        self.steps.tried += 1;
        let (checked, new) = run.claims.split_at(run.checked);
        let Some(situation) = self.machine.further(&run.situation, checked, new) else { return false };
        (run.situation, run.checked) = (situation, run.claims.len());
        true
    }
}
