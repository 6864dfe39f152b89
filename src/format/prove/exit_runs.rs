//! Finds runs that take the exits of a machine, and leaves out runs that other runs make unnecessary.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::proof::{Looked, MOST_STEPS};
use super::search::{self, Found, FoundRun};
use super::solver::Work;
use super::witness::{Stage, Witness};
use super::{conditions, never};
use crate::format::outline::{ExitId, Outline, StateId};

/// Runs of a machine that take its exits, with the exits that none of them takes.
///
/// Each run is the shortest run that was found for one of its exits. Together, the runs take all exits for which a run was found.
/// A run is left out if other runs take all of its exits. The machine runs without behaviors, scripts and actions of the game. A
/// random number is the value `chance` of the rows.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{ExitRuns, Outline};
///
/// let file = "
///     initial = 'sit'
///     states.sit.exits = [{ to = 'run', when = 'fear > 2' }, { to = 'hide', when = 'fear > 5' }]
///     states.run.exits = [{ to = 'sit', after = 2 }]
///     states.hide.final = true
/// ";
/// let outline = Outline::parse("hare.toml", file, None)?;
/// let runs = ExitRuns::of(&outline);
/// let [run] = runs.runs() else { panic!("there is one") };
/// assert_eq!(run.witness().to_csv(), "time,fear\n0,3\n");
/// assert_eq!(run.exits().count(), 2);
/// let [hide] = runs.untaken() else { panic!("there is one") };
/// assert_eq!(hide.never(), Some("an earlier exit, to `run`, is taken whenever this condition holds"));
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExitRuns {
    runs: Vec<ExitRun>,
    untaken: Vec<UntakenExit>,
}

/// A run of [`ExitRuns`].
#[derive(Clone, Debug)]
pub struct ExitRun {
    witness: Witness,
    exits: Vec<ExitId>,
}

/// An exit that no run of [`ExitRuns`] takes.
#[derive(Clone, Debug)]
pub struct UntakenExit {
    exit: ExitId,
    never: Option<String>,
    unfound: Option<String>,
}

impl ExitRuns {
    pub(crate) fn with_stage(outline: &Outline, stage: Option<Box<dyn Stage>>) -> Self {
        let (work, undecided) = (Work::new(MOST_STEPS), RefCell::default());
        let Looked { machine, reached } = Looked::of(outline, false, stage, &work, &undecided);
        let impossible = conditions::check(&machine);
        let all = || outline.states().iter().flat_map(|state| machine.exits_of(state.id()));
        let never = |id: ExitId| {
            if reached.taken.contains(&id) {
                return None;
            }
            if reached.active_with(&machine, id.of).is_empty() {
                return Some(format!("`{}` is never active", machine.state(id.of).name()));
            }
            let Some((mistake, _)) = never::exit(&machine, &reached, &impossible, id) else {
                return Some("its condition never holds".into());
            };
            Some(mistake.message.split_once(": ").map_or(mistake.message.clone(), |(_, why)| why.into()))
        };
        let Found { runs: mut found, longest, is_cut } =
            search::takes(&machine, all().filter(|id| reached.taken.contains(id)));
        let mut runs = Vec::new();
        let mut left: BTreeSet<_> = found.iter().flat_map(|run| run.taken.iter().copied()).collect();
        let count = |run: &FoundRun, left: &BTreeSet<ExitId>| {
            run.taken.iter().filter(|id| left.contains(id)).collect::<BTreeSet<_>>().len()
        };
        while !left.is_empty() {
            // Of the runs that take equally many new exits, this finds the first one, which is the shortest.
            let Some(at) = (0..found.len()).rev().max_by_key(|at| count(&found[*at], &left)) else { break };
            let FoundRun { witness, mut taken, .. } = found.remove(at);
            taken.retain(|id| left.remove(id));
            runs.push(ExitRun { witness, exits: taken });
        }
        let taken: BTreeSet<_> = runs.iter().flat_map(|run| &run.exits).collect();
        // Whether an exit without a run can be taken depends on the game, or on the limits of the search.
        let unfound = |id: ExitId| {
            let of = machine.state(id.of);
            let name = of.name();
            let after = machine.exit(id).after.as_ref();
            match longest.get(&id.of) {
                _ if outline.global() == Some(id.of) => {}
                None if of.is_entry() => return Some(format!("only the game's code changes to `{name}`")),
                None => return Some(format!("no run reached `{name}`")),
                Some(longest) => {
                    if let Some(after) = after.filter(|after| after.least() > longest + 1e-9) {
                        return Some(format!("no run stayed in `{name}` for {after}"));
                    }
                }
            }
            is_cut.then(|| "the search was given up, because there are too many runs".into())
        };
        // In the outline, an exit with a list of messages is one exit for each message, all at the same place. If one of them can
        // be taken, the others are not reported as never taken.
        let is_listed = |id: ExitId| {
            let is_same = |same: &ExitId| machine.exit(*same).span == machine.exit(id).span;
            machine.exits_of(id.of).filter(is_same).any(|same| reached.taken.contains(&same))
        };
        let untaken = all().filter(|id| !taken.contains(id)).filter_map(|exit| match never(exit) {
            Some(_) if is_listed(exit) => None,
            never => Some(UntakenExit { exit, unfound: unfound(exit).filter(|_| never.is_none()), never }),
        });
        let untaken = untaken.collect();
        Self { runs, untaken }
    }

    /// Returns the runs. Each is the run that takes the most exits that no earlier run has taken.
    #[must_use]
    pub fn runs(&self) -> &[ExitRun] {
        &self.runs
    }

    /// Returns the exits that no run takes, in the order of the file.
    #[must_use]
    pub fn untaken(&self) -> &[UntakenExit] {
        &self.untaken
    }
}

impl ExitRun {
    /// Returns the values over time of the run, and the changes that it leads to.
    #[must_use]
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Returns the exits that the run takes and no earlier run has taken: for each its state, and its index among the
    /// [exits](crate::definition::StateOutline::exits) of the state.
    pub fn exits(&self) -> impl Iterator<Item = (StateId, usize)> {
        self.exits.iter().map(|id| (id.of, id.nth))
    }
}

impl UntakenExit {
    /// Returns the state of the exit, and the index of the exit among the [exits](crate::definition::StateOutline::exits) of the
    /// state.
    #[must_use]
    pub fn exit(&self) -> (StateId, usize) {
        (self.exit.of, self.exit.nth)
    }

    /// Returns why the exit is never taken, if this is certain. `None` if no run was found: there may be one.
    #[must_use]
    pub fn never(&self) -> Option<&str> {
        self.never.as_deref()
    }

    /// Returns why no run was found, if the search knows the reason.
    #[must_use]
    pub fn unfound(&self) -> Option<&str> {
        self.unfound.as_deref()
    }
}
