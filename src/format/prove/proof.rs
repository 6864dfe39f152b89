//! The findings about the machines of a file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::configuration::Configurations;
use super::machine::Undecided;
use super::machine::{ActedOn, Machine};
use super::properties::PropertyAnswer;
use super::reach::{Reached, reach};
use super::solver::Work;
use super::witness::{Stage, Witness};
use super::{conditions, flicker, never, no_way_out, properties};
use crate::format::leads::Leads;
use crate::format::outline::{ExitId, Outline};
use crate::format::problems::mistake::Mistake;
use crate::format::problems::problem::Problem;
use crate::shown::listed;

/// The maximum number of steps for a file, under each of the two assumptions about behaviors.
pub(super) const MOST_STEPS: u64 = 50_000_000;

/// The maximum number of findings that are listed for a file.
const MOST_FINDINGS: usize = 200;

/// The maximum number of names that a note lists.
const MOST_NAMED: usize = 12;

/// The findings about all situations in which the machines of a file can be.
///
/// A situation is a value for each number, flag and message field that the conditions read, and the time in each active state.
/// The conditions compare these values with constants, so the situations fall into finitely many groups. The proof looks at
/// all groups that matter for an exit. The findings are:
///
/// - a condition that does not hold in any situation (`contradiction`, `guard-never-holds`);
/// - an exit that is never taken (`never-taken`), and a state that is never reached (`unreachable`);
/// - states whose exits form a circle: the owner changes its state in every tick while the values stay the same (`flicker`), or
///   endlessly within one tick (`endless-circle`, an error);
/// - a state that a character can reach but then can never leave (`no-way-out`).
///
/// Anything that cannot be decided counts as possible either way, and the [`notes`](Self::notes) list it. The proof assumes
/// that behaviors request changes only to states that their parameters name. Behaviors may also refuse changes: a finding that
/// is true only if no behavior refuses a change is [assumed](Finding::is_assumed).
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
    properties: Vec<PropertyProof>,
    steps: u64,
}

/// What is known of one property of a machine.
#[derive(Clone, Debug)]
pub struct PropertyProof {
    name: String,
    machine: Option<String>,
    answer: PropertyAnswer,
    is_assumed: bool,
}

impl PropertyProof {
    /// Returns the name of the property.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the machine whose property it is, if the file has several machines.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns whether the property holds.
    #[must_use]
    pub fn answer(&self) -> &PropertyAnswer {
        &self.answer
    }

    /// Returns whether the proof that the property holds assumes that no behavior refuses a change. See [`Finding::is_assumed`].
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        self.is_assumed
    }
}

/// One finding of a [`Proof`].
#[derive(Clone, Debug)]
pub struct Finding {
    problem: Problem,
    machine: Option<String>,
    witness: Option<Witness>,
    is_assumed: bool,
}

impl Finding {
    /// Returns the problem, with its place in the file.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the machine with the problem, if the file has several machines.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns values that show the problem. They have been played on a machine. `None` if the search has not found such
    /// values within its limits, or if there is nothing to show, for example for a part of a condition that has no effect.
    #[must_use]
    pub fn witness(&self) -> Option<&Witness> {
        self.witness.as_ref()
    }

    /// Returns whether the problem exists only if no behavior refuses a change. The file does not say which changes behaviors
    /// refuse, so the assumption may be wrong in the game.
    #[must_use]
    pub fn is_assumed(&self) -> bool {
        self.is_assumed
    }
}

impl Proof {
    /// Examines the machines of a file. `stage` returns a machine on which the findings of an outline can be played, if the
    /// outline can run.
    pub(crate) fn with_stages(outlines: &[Outline], stage: impl Fn(&Outline) -> Option<Box<dyn Stage>>) -> Self {
        let mut proof = Self::with(outlines, false, &stage);
        if outlines.iter().flat_map(Outline::states).any(|state| state.behaviors().next().is_some()) {
            // A finding that also appears if behaviors may refuse any change does not depend on the assumption.
            let careful = Self::with(outlines, true, &stage);
            let place = |finding: &Finding| (finding.problem.code_name(), finding.problem.span());
            for finding in &mut proof.findings {
                finding.is_assumed = !careful.findings.iter().any(|certain| place(certain) == place(finding));
            }
            for (property, careful) in proof.properties.iter_mut().zip(careful.properties) {
                let holds = [&property.answer, &careful.answer].map(|answer| *answer == PropertyAnswer::Holds);
                property.is_assumed = holds == [true, false];
            }
            proof.steps += careful.steps;
        }
        proof
    }

    /// Examines the machines under one assumption: `may_refuse` says whether behaviors may refuse changes.
    fn with(outlines: &[Outline], may_refuse: bool, stage: impl Fn(&Outline) -> Option<Box<dyn Stage>>) -> Self {
        let work = &Work::new(MOST_STEPS);
        let undecided = &RefCell::default();
        let of = |outline| Looked::of(outline, may_refuse, stage(outline), work, undecided);
        let looked: Vec<_> = outlines.iter().map(of).collect();
        let unused = UnusedNames::of(&looked);
        let left = looked.iter().flat_map(|looked| no_way_out::left(&looked.machine, &looked.reached)).collect();
        let mut all = Vec::new();
        let mut unlisted = 0;
        let mut has_more_circles = false;
        let mut properties = Vec::new();
        for Looked { machine, reached } in &looked {
            let impossible = conditions::check(machine);
            add(&mut all, machine);
            // The reason for a finding is searched for only if the finding is listed.
            let mut is_full = || {
                let is_full = all.len() + machine.found.borrow().len() >= MOST_FINDINGS;
                unlisted += usize::from(is_full);
                is_full
            };
            for state in machine.outline.states() {
                if reached.active_with(machine, state.id()).is_empty() {
                    if unused.states.contains(&state.name.span.start) && !state.is_foreign && !is_full() {
                        machine.found.borrow_mut().push(never::state(machine, reached, state.id()));
                    }
                    continue;
                }
                for id in machine.exits_of(state.id()) {
                    if unused.has(machine, id) && is_new(&all, machine, id) && !is_full() {
                        machine.found.borrow_mut().extend(never::exit(machine, reached, &impossible, id));
                    }
                }
            }
            // The search may miss circles that need a certain state in another region.
            has_more_circles |= machine.outline.has_regions();
            if machine.stage.is_some() {
                has_more_circles |= !flicker::check(machine, reached);
            }
            no_way_out::check(machine, reached, &left);
            for (property, answer) in machine.outline.properties.iter().zip(properties::decide(machine, reached)) {
                if let PropertyAnswer::Fails(run) = &answer {
                    let message = format!("property `{}` fails", property.name);
                    let mistake = Mistake::error("property-fails", property.name.span.clone(), message);
                    machine.report(mistake.label("a run breaks it"), Some(run.clone()));
                }
                let machine = machine.outline.machine().map(str::to_owned);
                let name = property.name.text.clone();
                properties.push(PropertyProof { name, machine, answer, is_assumed: false });
            }
            add(&mut all, machine);
        }
        all.sort_by_key(|finding| finding.problem.span().start);
        unlisted += all.len().saturating_sub(MOST_FINDINGS);
        all.truncate(MOST_FINDINGS);
        let notes = notes(&looked, &undecided.borrow(), has_more_circles, work.is_cut.get());
        Self { findings: all, unlisted, notes, properties, steps: work.done.get() }
    }

    /// Returns the findings, in the order of the file. The list has at most 200 of them.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns how many findings are not in the list.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Returns what could not be decided and what was not examined. Neither makes a finding wrong. Each note is listed once.
    /// If the machines have behaviors, a note states what is assumed about them.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the properties of the machines, in the order of the file.
    #[must_use]
    pub fn properties(&self) -> &[PropertyProof] {
        &self.properties
    }

    /// Returns how many steps the proof has taken. For example, evaluating one test is a step. The number does not depend on
    /// the speed of the computer.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// A machine, with the states that can be active and the exits that can be taken.
pub(super) struct Looked<'o> {
    pub(super) machine: Machine<'o>,
    pub(super) reached: Reached,
}

impl<'o> Looked<'o> {
    pub(super) fn of(
        outline: &'o Outline,
        may_refuse: bool,
        stage: Option<Box<dyn Stage>>,
        work: &'o Work,
        undecided: &'o RefCell<Undecided>,
    ) -> Self {
        let states = outline.states().iter().map(|state| (state.name(), state.id())).collect();
        let writes = outline.scripts.values().any(|script| script.writes != Some(BTreeSet::new()));
        let has_script = writes || outline.states().iter().any(|state| outline.script_may_lead(state));
        let mut exits = outline.states().iter().flat_map(|state| &state.exits);
        let has_memory = exits.any(|exit| exit.leads != Leads::To);
        let acted_on = ActedOn::by(outline.states().iter().flat_map(|state| state.actions()));
        let mut machine = Machine {
            outline,
            states,
            has_script,
            acted_on,
            has_memory,
            may_refuse,
            configurations: None,
            stage,
            work,
            undecided,
            found: RefCell::default(),
        };
        let has_regions = undecided.borrow().has_regions;
        let mut reached = reach(&machine);
        if let Some(configurations) = Configurations::of(&machine, &reached) {
            machine.configurations = Some(configurations);
            undecided.borrow_mut().has_regions = has_regions;
            reached = reach(&machine);
        }
        Self { machine, reached }
    }
}

/// The states that can be active in no machine of the file, and the exits of the other states that no machine takes. Each is
/// given by its start in the text.
struct UnusedNames {
    exits: HashSet<usize>,
    states: HashSet<usize>,
}

impl UnusedNames {
    fn of(looked: &[Looked<'_>]) -> Self {
        let (mut exits, mut taken) = (HashSet::new(), HashSet::new());
        let (mut states, mut active) = (HashSet::new(), HashSet::new());
        for Looked { machine, reached } in looked {
            for state in machine.outline.states().iter().filter(|state| !state.is_foreign) {
                let start = state.name.span.start;
                states.insert(start);
                if reached.active_with(machine, state.id()).is_empty() {
                    continue;
                }
                active.insert(start);
                for id in machine.exits_of(state.id()) {
                    let start = machine.exit(id).span.start;
                    exits.insert(start);
                    if reached.taken.contains(&id) {
                        taken.insert(start);
                    }
                }
            }
        }
        Self { exits: &exits - &taken, states: &states - &active }
    }

    fn has(&self, machine: &Machine<'_>, id: ExitId) -> bool {
        !machine.state(id.of).is_foreign && self.exits.contains(&machine.exit(id).span.start)
    }
}

/// Whether there is no finding for an exit yet. A machine and the machine that it names with `like` share exits.
fn is_new(all: &[Finding], machine: &Machine<'_>, id: ExitId) -> bool {
    let span = &machine.exit(id).span;
    !all.iter().any(|finding| finding.problem.code_name() == "never-taken" && finding.problem.span() == *span)
}

/// Adds the findings of a machine, except those that are already listed. A machine and the machine that it names with
/// `like` share states.
fn add(all: &mut Vec<Finding>, machine: &Machine<'_>) {
    let source = &machine.outline.source;
    for (mistake, witness) in machine.found.take() {
        let mistake = mistake.within(source.text().len()).shown();
        let is_same = |finding: &Finding| {
            let problem = &finding.problem;
            problem.is(&mistake)
                || problem.code_name() == mistake.code && problem.span() == mistake.label.at && {
                    // For these codes, one place may have several findings with different texts.
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

/// Returns the notes.
fn notes(looked: &[Looked<'_>], undecided: &Undecided, has_more_circles: bool, is_cut: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !undecided.comparisons.is_empty() {
        let texts = undecided.comparisons.iter().map(|text| format!("`{text}`"));
        notes.push(format!("not decided: {}", listed(texts, MOST_NAMED)));
    }
    let states = || looked.iter().flat_map(|looked| looked.machine.outline.states());
    let either = [
        (undecided.has_chances, "chances"),
        (undecided.has_choices, "choices of exits, cooldowns, deadlines, and where exits lead back"),
        (undecided.has_scripts || looked.iter().any(|looked| looked.machine.has_script), "results of scripts"),
        (undecided.has_actions, "values after a change that sets them or runs actions"),
        (undecided.has_durations, "durations that are random or values of the game"),
        (undecided.has_regions, "what is active in other regions: each region was looked at alone"),
    ];
    let either: Vec<_> = either.into_iter().filter_map(|(is, what)| is.then_some(what)).collect();
    if !either.is_empty() {
        notes.push(format!("not decided: {}", either.join(", ")));
    }
    if states().any(|state| !state.behaviors.is_empty()) {
        notes.push("assumed: behaviors request changes only to states that their parameters name".into());
    }
    // The exits for which it is unknown whether they are taken, by their places in the file.
    let mut unknown = BTreeMap::new();
    for Looked { machine, reached } in looked {
        for id in &reached.unknown {
            let exit = machine.exit(*id);
            let name = |id| machine.state(id).name();
            unknown.insert(exit.span.start, format!("{} -> {}", name(id.of), name(exit.to)));
        }
    }
    if !unknown.is_empty() {
        notes.push(format!("not looked at in all situations: {}", listed(unknown.into_values(), MOST_NAMED)));
    } else if is_cut {
        notes.push("not all situations were looked at: there are too many".into());
    }
    if has_more_circles {
        notes.push("not all circles of states that lead to each other were looked at".into());
    }
    notes
}
