//! Which exits of a file were taken, for tests that are meant to take all of them.

use std::fmt;
use std::sync::Arc;

use super::Definition;
use crate::change::Cause;
use crate::diagram::{Arrow, Diagram, DiagramState, ExitRules, Region, Seen, UnknownStates};
use crate::format::leads::Leads;
use crate::format::outline::{Outline, RegionOutline};
use crate::journal::Flow;
use crate::owner::Owner;

/// Which exits of a machine were taken, according to a [`Flow`].
///
/// A flow contains the two states of each change, but not the exit that caused the change. So an exit counts as taken if it may
/// have caused a change. If several exits lead from one state to the same state, one change counts for all of them, and they
/// are [`in_doubt`](Self::in_doubt).
///
/// It is displayed as a short report: how many exits were taken, and which were not.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    exits: Vec<ExitSeen>,
    never_entered: Vec<String>,
}

/// How often one exit was taken.
///
/// It is displayed as `aim -> shoot: after 0.5 s`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExitSeen {
    /// The state in which the exit is written.
    pub state: String,
    /// The state to which it leads.
    pub to: String,
    /// Its message, time and condition; see [`ExitOutline::label`](super::ExitOutline::label).
    pub label: String,
    /// How often it was taken.
    pub seen: Seen,
}

impl Coverage {
    /// Returns all exits, in the order of the file.
    #[must_use]
    pub fn exits(&self) -> &[ExitSeen] {
        &self.exits
    }

    /// Returns the exits that were never taken.
    #[must_use]
    pub fn untaken(&self) -> Vec<&ExitSeen> {
        self.exits.iter().filter(|exit| exit.seen.at_most == 0).collect()
    }

    /// Returns the exits for which it is not known whether they or other exits between the same states were taken.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<&ExitSeen> {
        self.exits.iter().filter(|exit| exit.seen.at_least == 0 && exit.seen.at_most > 0).collect()
    }

    /// Returns the names of the states that no owner has entered.
    #[must_use]
    pub fn never_entered(&self) -> &[String] {
        &self.never_entered
    }

    /// Returns the percentage of the exits that were taken. Exits in doubt count as taken. 100 if there are no exits.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no file has so many exits")]
    pub fn percent(&self) -> f64 {
        let taken = self.exits.len() - self.untaken().len();
        if self.exits.is_empty() { 100.0 } else { taken as f64 * 100.0 / self.exits.len() as f64 }
    }
}

impl fmt::Display for ExitSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, to, label, .. } = self;
        write!(f, "{state} -> {to}")?;
        if label.is_empty() { Ok(()) } else { write!(f, ": {label}") }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, untaken, in_doubt) = (self.exits.len(), self.untaken(), self.in_doubt());
        let exits = if all == 1 { "exit was" } else { "exits were" };
        write!(f, "{} of {all} {exits} taken", all - untaken.len())?;
        if !in_doubt.is_empty() {
            write!(f, ", {} of them in doubt: others lead from the same state to the same one", in_doubt.len())?;
        }
        for (what, exits) in [("never taken:", untaken), ("in doubt:", in_doubt)] {
            if !exits.is_empty() {
                write!(f, "\n{what}")?;
                exits.iter().try_for_each(|exit| write!(f, "\n  {exit}"))?;
            }
        }
        if !self.never_entered.is_empty() {
            write!(f, "\nnever entered: {}", self.never_entered.join(", "))?;
        }
        Ok(())
    }
}

impl Outline {
    /// Returns the state diagram of the machine.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::Outline;
    ///
    /// let file = "initial = 'sit'\nstates.sit.exits = [{ to = 'run', when = 'seen' }]\nstates.run.final = true\n";
    /// let outline = Outline::parse("hare.toml", file, None)?;
    /// assert!(outline.diagram().to_mermaid().contains("s0 --> s1 : seen\n"));
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn diagram(&self) -> Diagram {
        let region = |region: &RegionOutline| Region {
            name: region.is_named.then(|| region.name.text.clone()),
            initial: Some(region.initial.index()),
            ..Region::default()
        };
        let state = |state: &Arc<super::StateOutline>| DiagramState {
            name: state.name().to_owned(),
            behaviors: state.behaviors().map(str::to_owned).collect(),
            every: state.every().map(ToString::to_string),
            enter_when: state.enter_when(),
            note: state.note().map(str::to_owned),
            parent: state.parent().map(super::StateId::index),
            initial: state.initial().map(super::StateId::index),
            regions: state.regions.iter().map(region).collect(),
            region: state.region(),
            is_final: state.is_final(),
            ends: state.ends.map(super::StateId::index),
            ..DiagramState::default()
        };
        let arrows = self.states().iter().flat_map(|state| {
            state.exits().iter().enumerate().map(|(nth, exit)| Arrow {
                from: state.id().index(),
                to: exit.target().index(),
                number: (state.exits().len() > 1).then_some(nth + 1),
                exit: Some((state.id().index(), nth)),
                label: exit.label(),
                // An exit for the end of a machine leads out of the state in which the machine ends, and this state is final.
                rules: ExitRules {
                    leads: match exit.leads {
                        Leads::To => None,
                        Leads::Back => Some(Cause::Revert),
                        Leads::Push => Some(Cause::Push),
                        Leads::Pop => Some(Cause::Pop),
                        Leads::Resume => Some(Cause::Resume),
                    },
                    restarts: exit.restarts(),
                    is_always: exit.is_always(),
                    even_final: exit.even_final() || exit.is_done,
                },
                ..Arrow::default()
            })
        });
        Diagram::new(
            self.states().iter().map(state).collect(),
            arrows.collect(),
            Some(self.initial().index()),
            self.global().map(super::StateId::index),
        )
    }

    /// Returns which exits were taken, according to a flow.
    ///
    /// # Errors
    ///
    /// When the flow names states that this machine does not have.
    pub fn coverage(&self, flow: &Flow) -> Result<Coverage, UnknownStates> {
        let diagram = self.diagram().observe(flow)?;
        let name = |state: usize| diagram.states()[state].name().to_owned();
        let exits = diagram.arrows().filter(|arrow| !arrow.is_unwritten()).map(|arrow| ExitSeen {
            state: name(arrow.from()),
            to: name(arrow.to()),
            label: arrow.label().to_owned(),
            seen: arrow.seen().copied().unwrap_or_default(),
        });
        let never_entered = diagram.never_entered().map(|state| state.name().to_owned());
        Ok(Coverage { exits: exits.collect(), never_entered: never_entered.collect() })
    }
}

impl<T: Owner> Definition<T> {
    /// Returns which exits were taken, according to a flow. A test can use this to report exits that no test has taken.
    ///
    /// # Errors
    ///
    /// When the flow names states that this definition does not have.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::definition::{Definition, Vocabulary};
    /// use demeanor::{Change, Flow, Owner};
    ///
    /// struct Hare { afraid: bool }
    ///
    /// impl Owner for Hare {
    ///     type Context<'a> = Flow;
    ///     type Message = ();
    ///
    ///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) {
    ///         flow.note(change);
    ///     }
    /// }
    ///
    /// let file = "
    ///     initial = 'sit'
    ///     states.sit.exits = [{ to = 'run', when = 'afraid' }]
    ///     states.run.exits = [{ to = 'sit', when = 'not afraid' }]
    /// ";
    /// let vocabulary = Vocabulary::<Hare>::new().flag("afraid", |hare: &Hare, _| hare.afraid);
    /// let hares = Definition::parse(file, &vocabulary)?;
    /// let mut flow = Flow::new();
    /// let mut machine = hares.machine();
    ///
    /// machine.update(&mut Hare { afraid: true }, &mut flow);
    /// let coverage = hares.coverage(&flow)?;
    /// assert_eq!(coverage.to_string(), "1 of 2 exits were taken\nnever taken:\n  run -> sit: not afraid");
    ///
    /// machine.update(&mut Hare { afraid: false }, &mut flow);
    /// let coverage = hares.coverage(&flow)?;
    /// assert!(coverage.untaken().is_empty(), "{coverage}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn coverage(&self, flow: &Flow) -> Result<Coverage, UnknownStates> {
        self.outline().coverage(flow)
    }
}
