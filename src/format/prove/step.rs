//! Simulates what a machine does in one tick, or when it enters a state, while the values stay the same: which exits it takes
//! one after the other, and where it ends.

use super::claim::Claim;
use super::machine::{ExitId, Machine, Standing, StateTime};
use crate::format::action::WrittenAction;
use crate::format::outline::StateId;

/// The maximum number of changes in one step. A machine may make more (rule 13).
pub(super) const MOST_IN_STEP: usize = 64;

/// How a step ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The machine has reached a state in which it stays until the next tick.
    Rests,
    /// Exits that are tried at entry have led to a path for the second time. The circle begins with the exit at this index.
    Circle(usize),
}

/// A simulated tick, or a simulated entry into a state.
#[derive(Clone, Debug)]
pub(super) struct TickStep {
    /// The exits that are taken, in this order, each with the innermost state that it leaves.
    pub(super) exits: Vec<(ExitId, StateId)>,
    /// The innermost state in which it ends.
    pub(super) to: StateId,
    /// The claim that all of this happens. There is a situation in which it holds.
    pub(super) claim: Claim,
    pub(super) end: End,
}

impl TickStep {
    /// Returns the actions that may run in the step, which begins in the innermost state `from`: those of its exits, and those
    /// of all states on the way.
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
    /// have been active for `tick` seconds. At most `most` changes are checked.
    pub(super) fn in_tick(machine: &Machine<'_>, at: StateId, tick: f64, most: u32) -> Self {
        let path = machine.outline.path(at);
        let run = PartialStep { fresh: path.len(), path, ..PartialStep::default() };
        let mut stepping = Stepping { machine, tick, left: most, steps: Self::default() };
        stepping.turn(0, &run);
        stepping.steps
    }

    /// Finds the steps that begin when all states on the path of `at` are entered, except those without a change. At most
    /// `most` changes are checked.
    pub(super) fn at_entry(machine: &Machine<'_>, at: StateId, most: u32) -> Self {
        let run = PartialStep { path: machine.outline.path(at), ..PartialStep::default() };
        let mut stepping = Stepping { machine, tick: 0.0, left: most, steps: Self::default() };
        stepping.enter(&mut Callback { is_entry: true, ..Callback::default() }, 0, run);
        stepping.steps
    }
}

/// An incomplete step.
#[derive(Clone, Default)]
struct PartialStep {
    path: Vec<StateId>,
    /// The depth of the first state that has been entered in this step.
    fresh: usize,
    claims: Vec<Claim>,
    exits: Vec<(ExitId, StateId)>,
    /// Whether it contains claims that have not been checked yet.
    is_new: bool,
}

impl PartialStep {
    fn innermost(&self) -> StateId {
        self.path[self.path.len() - 1]
    }

    /// Returns the path with the time in each state: 0 in the states that this step has entered, and one tick in the others.
    fn standing<'a>(&'a self, machine: &'a Machine<'_>, tick: f64) -> Standing<'a> {
        machine.at(&self.path, StateTime::Known(tick)).entered(self.fresh)
    }

    /// Returns the step with more claims.
    fn with(&self, claims: impl IntoIterator<Item = Claim>) -> Self {
        let mut run = self.clone();
        run.claims.extend(claims.into_iter().map(Claim::certain).filter(|claim| *claim != Claim::ALWAYS));
        run.is_new |= run.claims.len() > self.claims.len();
        run
    }
}

/// The callback whose requests are being carried out.
#[derive(Default)]
struct Callback {
    /// The entries in this callback: for each, the path, and the depth of the outermost new state with exits that are tried at
    /// entry.
    entered: Vec<(Vec<StateId>, usize)>,
    /// Whether it is an entry outside of a tick.
    is_entry: bool,
    /// The level whose turn comes next: 0 is the global state, other levels are depths plus 1. `None` if the tick is over.
    next: Option<usize>,
}

struct Stepping<'m> {
    machine: &'m Machine<'m>,
    tick: f64,
    /// How many changes may still be checked.
    left: u32,
    steps: PossibleSteps,
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
                let taken = at.taken(id);
                if taken != Claim::NEVER && !waits {
                    let mut on = run.with(not.iter().cloned().chain([taken.clone()]));
                    if self.can_be(&mut on) {
                        self.take(&mut Callback { next, ..Callback::default() }, id, on);
                    }
                }
                if taken == Claim::ALWAYS {
                    return;
                }
                not.push(taken.negated());
            }
        }
        self.go_on(next, run.with(not));
    }

    /// Carries out a change.
    fn take(&mut self, callback: &mut Callback, id: ExitId, mut run: PartialStep) {
        if run.exits.len() == MOST_IN_STEP {
            self.steps.has_more = true;
            return;
        }
        let innermost = run.innermost();
        let change = self.machine.route(&run.path, self.machine.exit(id).to);
        run.exits.push((id, innermost));
        run.path.truncate(change.kept);
        run.path.extend(change.entered);
        run.fresh = run.fresh.min(change.kept);
        self.enter(callback, change.kept, run);
    }

    /// Tries the exits that are tried at entry, for the new states from depth `kept` on.
    fn enter(&mut self, callback: &mut Callback, kept: usize, run: PartialStep) {
        let machine = self.machine;
        let first = (kept..run.path.len()).find(|depth| machine.at_entry(run.path[*depth]).next().is_some());
        let Some(first) = first else { return self.go_on(callback.next, run) };
        let entered = (run.path.clone(), first);
        let before = callback.entered.iter().position(|before| *before == entered);
        // In a tick, the simulation follows the circle until the step has too many changes.
        if let Some(since) = before.filter(|_| callback.is_entry) {
            let around = callback.entered.len() - since;
            let from = run.exits.len() - around;
            return self.end(run, End::Circle(from));
        }
        callback.entered.push(entered);
        let mut not = Vec::new();
        let whole = run.standing(machine, self.tick);
        for depth in first..run.path.len() {
            let at = whole.up_to(depth);
            for id in machine.at_entry(run.path[depth]) {
                let Ok(change) = machine.change(at.path, id) else { continue };
                let taken = at.taken(id);
                let before = not.iter().cloned().chain([taken.clone()]);
                // The guards are evaluated again after all states have been entered.
                let admitted = whole.admitted(&change);
                if at.admitted(&change) != admitted {
                    self.go_on(callback.next, run.with(before.clone().chain([admitted.clone().negated()])));
                }
                let mut on = run.with(before.chain([admitted]));
                if taken != Claim::NEVER && self.can_be(&mut on) {
                    self.take(callback, id, on);
                }
                not.push(taken.negated());
            }
        }
        self.go_on(callback.next, run.with(not));
        callback.entered.pop();
    }

    /// Continues the tick after the requests of a callback have been carried out.
    fn go_on(&mut self, next: Option<usize>, run: PartialStep) {
        match next {
            _ if run.claims.contains(&Claim::NEVER) => {}
            Some(next) if next <= run.path.len() => self.turn(next, &run),
            _ => self.end(run, End::Rests),
        }
    }

    fn end(&mut self, mut run: PartialStep, end: End) {
        if run.exits.is_empty() || run.is_new && !self.can_be(&mut run) {
            return;
        }
        let to = run.innermost();
        self.steps.all.push(TickStep { exits: run.exits, to, claim: Claim::all(run.claims), end });
    }

    /// Whether an incomplete step is possible. False if a limit has been reached.
    fn can_be(&mut self, run: &mut PartialStep) -> bool {
        if run.claims.contains(&Claim::NEVER) {
            return false;
        }
        if self.left == 0 || !self.machine.work.spend(1) {
            self.steps.has_more = true;
            return false;
        }
        self.left -= 1;
        self.steps.tried += 1;
        run.is_new = false;
        self.machine.situation(&Claim::all(run.claims.iter().cloned())).is_some()
    }
}
