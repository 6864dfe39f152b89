//! What has been found of the machines of a file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::sync::Arc;

use super::conditions::Seen;
use super::machine::{ExitId, Machine};
use super::reach::{Reached, reach};
use super::solver::Work;
use super::witness::{Stage, Witness};
use super::{conditions, flicker, never, no_way_out};
use crate::format::outline::Outline;
use crate::format::problems::problem::Problem;

/// How many tests of quantities are looked at for a file, at most.
const MOST_STEPS: u64 = 50_000_000;

/// The most findings of a file that are reported in full.
const MOST_FINDINGS: usize = 200;

/// The most names that a note lists.
const MOST_NAMED: usize = 12;

/// The findings about all situations in which the machines of a file can be.
///
/// A situation is a value for each number, flag and message that the conditions read, and the time in each active state.
/// The conditions compare these values with constants, so the situations fall into finitely many groups. All groups that
/// matter for an exit are looked at. The findings are:
///
/// - a condition that does not hold in any situation (`contradiction`, `guard-never-holds`);
/// - an exit that is never taken (`never-taken`), and a state that is never reached (`unreachable`);
/// - states that lead to each other in every tick while the values stay the same (`flicker`), without end within one tick
///   (`endless-circle`, an error), or in a chain that is too long for one tick (`too-many-changes`, an error);
/// - a state that a character can reach and then cannot leave any more (`no-way-out`).
///
/// What cannot be decided counts as possible in both ways, and the [`notes`](Self::notes) list it. The proof assumes that
/// behaviors request changes only to states that their parameters name. Behaviors may refuse changes: a finding that
/// depends on no behavior refusing a change is [assumed](Finding::is_assumed).
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Outline, Proof};
///
/// let file = "
///     initial = 'rest'
///     states.rest.exits = [{ to = 'fight', when = 'health > 20' }]
///     states.fight.exits = [{ to = 'rest', when = 'health < 50' }]
/// ";
/// let outline = Outline::parse("guard.toml", file, None)?;
/// let proof = Proof::of(&[outline]);
/// let [finding] = proof.findings() else { panic!("there is one") };
/// assert_eq!(
///     finding.problem().to_string(),
///     "states `rest` and `fight` lead to each other in every tick, with `health = 35`"
/// );
/// let changes = finding.witness().unwrap().changes();
/// assert_eq!((changes[0].from.as_str(), changes[0].to.as_str()), ("rest", "fight"));
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proof {
    findings: Vec<Finding>,
    unlisted: usize,
    notes: Vec<String>,
    steps: u64,
}

/// One thing that a [`Proof`] has found.
#[derive(Clone, Debug)]
pub struct Finding {
    problem: Problem,
    machine: Option<String>,
    witness: Option<Witness>,
    is_assumed: bool,
}

impl Finding {
    /// Returns what is wrong, and where.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the machine in which it was found, where the file has several.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns values that show the problem; they were tried on a machine. `None` if the search has found none within its
    /// bounds, or if there is nothing to show, as for a part of a condition that changes nothing.
    #[must_use]
    pub fn witness(&self) -> Option<&Witness> {
        self.witness.as_ref()
    }

    /// Returns whether the problem exists only as long as no behavior refuses a change. The file does not say what
    /// behaviors refuse, so this is an assumption, and may be different in the game.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        self.is_assumed
    }
}

impl Proof {
    /// Looks at the machines of a file. `stage` is a machine that shows what is found of an outline, if it can.
    pub(crate) fn with_stages(outlines: &[Outline], stage: impl Fn(&Outline) -> Option<Box<dyn Stage>>) -> Self {
        let mut proof = Self::with(outlines, false, &stage);
        if outlines.iter().flat_map(Outline::states).any(|state| state.behaviors().next().is_some()) {
            // What is also found where behaviors may refuse whatever they like does not depend on that.
            let careful = Self::with(outlines, true, &stage);
            let place = |finding: &Finding| (finding.problem.code_name(), finding.problem.span());
            for finding in &mut proof.findings {
                finding.is_assumed = !careful.findings.iter().any(|certain| place(certain) == place(finding));
            }
            proof.steps += careful.steps;
        }
        proof
    }

    /// The same where behaviors refuse no change, or where they may.
    fn with(outlines: &[Outline], may_refuse: bool, stage: impl Fn(&Outline) -> Option<Box<dyn Stage>>) -> Self {
        let mut work = Work::new(MOST_STEPS);
        let mut all = Vec::new();
        let mut notes = ProofNotes::default();
        let mut unlisted = 0;
        let mut looked: Vec<Looked<'_>> = Vec::new();
        for outline in outlines {
            let machine = Machine::new(outline, may_refuse);
            let reached = reach(&machine, &mut work);
            looked.push(Looked { machine, reached });
        }
        let unused = UnusedNames::of(&looked);
        for Looked { machine, reached } in &looked {
            let stage = stage(machine.outline);
            let mut found = Vec::new();
            let impossible = conditions::check(machine, stage.as_deref(), &mut work, &mut found);
            add(&mut all, machine, mem::take(&mut found));
            for state in machine.outline.states() {
                let is_global = machine.outline.global() == Some(state.id());
                if !reached.is_active[state.id().index()] && !is_global {
                    if unused.states.contains(&state.name.span.start) && !state.is_foreign {
                        // Why it is so is looked for only where it is said.
                        if all.len() + found.len() >= MOST_FINDINGS {
                            unlisted += 1;
                            continue;
                        }
                        found.push(never::state(machine, stage.as_deref(), reached, state.id(), &mut work));
                    }
                    continue;
                }
                for id in machine.exits_of(state.id()) {
                    if unused.has(machine, id) && is_new(&all, machine, id) {
                        if all.len() + found.len() >= MOST_FINDINGS {
                            unlisted += 1;
                            continue;
                        }
                        found.extend(never::exit(machine, stage.as_deref(), reached, &impossible, id, &mut work));
                    }
                }
            }
            if let Some(stage) = stage.as_deref() {
                notes.has_more_circles |= !flicker::check(machine, stage, reached, &mut work, &mut found);
            }
            no_way_out::check(machine, stage.as_deref(), reached, &mut work, &mut found);
            notes.add(machine, reached);
            add(&mut all, machine, found);
        }
        notes.is_cut = work.is_cut;
        all.sort_by_key(|finding| finding.problem.span().start);
        unlisted += all.len().saturating_sub(MOST_FINDINGS);
        all.truncate(MOST_FINDINGS);
        Self { findings: all, unlisted, notes: notes.said(), steps: work.done }
    }

    /// Returns the findings, in the order of the file. The list has at most 200.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns how many findings are not in the list.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Returns what could not be decided and what was not looked at, each once. Neither leads to a wrong finding. The
    /// assumption about behaviors is listed, too.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns how many tests the proof has made. The number does not depend on the speed of the computer.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// A machine, and what can be in it.
struct Looked<'o> {
    machine: Machine<'o>,
    reached: Reached,
}

/// What no machine of the file uses, by the places in the text.
struct UnusedNames {
    exits: HashSet<usize>,
    states: HashSet<usize>,
}

impl UnusedNames {
    fn of(looked: &[Looked<'_>]) -> Self {
        let (mut used, mut exits) = (HashSet::new(), HashSet::new());
        let (mut reached_states, mut states) = (HashSet::new(), HashSet::new());
        for Looked { machine, reached } in looked {
            for state in machine.outline.states().iter().filter(|state| !state.is_foreign) {
                let is_active = reached.is_active[state.id().index()] || machine.outline.global() == Some(state.id());
                states.insert(state.name.span.start);
                if is_active {
                    reached_states.insert(state.name.span.start);
                }
                for id in machine.exits_of(state.id()).filter(|_| is_active) {
                    let start = machine.exit(id).span.start;
                    exits.insert(start);
                    if reached.taken.contains(&id) {
                        used.insert(start);
                    }
                }
            }
        }
        exits.retain(|start| !used.contains(start));
        states.retain(|start| !reached_states.contains(start));
        Self { exits, states }
    }

    fn has(&self, machine: &Machine<'_>, id: ExitId) -> bool {
        !machine.state(id.of).is_foreign && self.exits.contains(&machine.exit(id).span.start)
    }
}

/// Whether nothing is said of an exit yet: machines that are like one another have the same ones.
fn is_new(all: &[Finding], machine: &Machine<'_>, id: ExitId) -> bool {
    let span = &machine.exit(id).span;
    !all.iter().any(|finding| finding.problem.code_name() == "never-taken" && finding.problem.span() == *span)
}

/// Adds what has been found in a machine, unless it has been found in another one that it is like.
fn add(all: &mut Vec<Finding>, machine: &Machine<'_>, found: Vec<Seen>) {
    let source = &machine.outline.source;
    for (mistake, witness) in found {
        let mistake = mistake.within(source.text().len()).shown();
        let is_same = |finding: &Finding| {
            let problem = &finding.problem;
            problem.is(&mistake)
                || problem.code_name() == mistake.code && problem.span() == mistake.label.at && {
                    // Of one place there is one circle for each of the others.
                    !matches!(mistake.code, "flicker" | "endless-circle" | "contradiction")
                }
        };
        if !all.iter().any(is_same) {
            let problem = Problem::new(Arc::clone(source), mistake);
            all.push(Finding {
                problem,
                machine: machine.outline.machine().map(str::to_owned),
                witness,
                is_assumed: false,
            });
        }
    }
}

/// What is to be said besides the findings.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that is said or not")]
struct ProofNotes {
    comparisons: BTreeSet<String>,
    has_chances: bool,
    has_scripts: bool,
    has_durations: bool,
    has_behaviors: bool,
    has_more_circles: bool,
    is_cut: bool,
    /// The exits of which it is not known whether they are taken, by their places in the file.
    unknown: BTreeMap<usize, String>,
}

impl ProofNotes {
    fn add(&mut self, machine: &Machine<'_>, reached: &Reached) {
        let undecided = machine.undecided.borrow();
        self.comparisons.extend(undecided.comparisons.iter().cloned());
        self.has_chances |= undecided.has_chances;
        self.has_scripts |= undecided.has_scripts;
        self.has_durations |= undecided.has_durations;
        let states = machine.outline.states();
        self.has_scripts |= states.iter().any(|state| state.script.is_some());
        self.has_behaviors |= states.iter().any(|state| state.behaviors().next().is_some());
        for id in &reached.unknown {
            let exit = machine.exit(*id);
            let name = |id| machine.state(id).name();
            self.unknown.insert(exit.span.start, format!("{} -> {}", name(id.of), name(exit.to)));
        }
    }

    fn said(self) -> Vec<String> {
        let mut said = Vec::new();
        if !self.comparisons.is_empty() {
            said.push(format!("not decided: {}", listed(self.comparisons.into_iter().map(|text| format!("`{text}`")))));
        }
        let either = [
            (self.has_chances, "chances"),
            (self.has_scripts, "results of scripts"),
            (self.has_durations, "durations that are random or values of the game"),
        ];
        let either: Vec<_> = either.into_iter().filter_map(|(is, what)| is.then_some(what)).collect();
        if !either.is_empty() {
            said.push(format!("not decided: {}", either.join(", ")));
        }
        if self.has_behaviors {
            said.push("assumed: behaviors request changes only to states that their parameters name".into());
        }
        if !self.unknown.is_empty() {
            said.push(format!("not looked at in all situations: {}", listed(self.unknown.into_values())));
        } else if self.is_cut {
            said.push("not all situations were looked at: there are too many".into());
        }
        if self.has_more_circles {
            said.push("not all circles of states that lead to each other were looked at".into());
        }
        said
    }
}

fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let left = names.len().saturating_sub(MOST_NAMED);
    let names: Vec<_> = names.take(MOST_NAMED).collect();
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}
