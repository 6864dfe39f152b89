//! State diagrams: of a definition file, of states in code, and of observed changes (a [`Flow`]).
//!
//! A [`Diagram`] is data. This module writes a diagram as text for Mermaid and for Graphviz. The command-line tool `demeanor`
//! draws it as an SVG.

// This module is part of the layer `journal`: it uses states and the counts of a journal. The layer `definition` creates the
// diagrams of files.

mod dot;
mod flowchart;
mod fold;
mod mermaid;
mod near;
mod observe;
mod shade;
mod text;

use std::iter;

pub use self::observe::{Seen, UnknownStates, Visits};
pub use self::shade::{Color, Shade};
pub use self::text::Caption;
use self::text::{escaped, wrapped};
use crate::change::Cause;
use crate::journal::Flow;
use crate::machine::seat::path_to;
use crate::owner::Owner;
use crate::state::{IntoState, StateRef};

/// The states of a machine, their nesting, and the arrows between them.
///
/// There are three ways to create a diagram: [`of_flow`](Self::of_flow) from observed changes alone,
/// [`of_states`](Self::of_states) from states in code, and `Outline::diagram` from a definition file. For the last two,
/// [`observe`](Self::observe) then adds observed changes.
///
/// An observed diagram is drawn with its numbers: the more often an arrow was taken, the wider the arrow is; the longer owners
/// stayed in a state, the darker the state is. Arrows that were never taken and states that were never entered are dashed. Widths
/// and shades grow with the square root of the number, so that rare changes can still be seen beside frequent ones.
///
/// States are identified by their index in [`states`](Self::states). A method that takes an index panics if there is no such
/// state.
///
/// # Examples
///
/// ```
/// use demeanor::diagram::Diagram;
/// use demeanor::{Change, Flow, Owner, State, StateMachine};
///
/// struct Door;
///
/// impl Owner for Door {
///     type Context<'a> = Flow;
///     type Message = ();
///
///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) {
///         flow.note(change);
///     }
/// }
///
/// struct Open;
/// struct Closed;
/// struct Locked;
/// impl State<Door> for Open {}
/// impl State<Door> for Closed {}
/// impl State<Door> for Locked {}
///
/// let mut flow = Flow::new();
/// let mut machine = StateMachine::new(&Closed);
/// machine.change_state(&mut Door, &Open, &mut flow);
/// machine.change_state(&mut Door, &Closed, &mut flow);
///
/// let diagram = Diagram::of_states::<Door>([(&Open).into(), (&Closed).into(), (&Locked).into()]).observe(&flow)?;
/// let never: Vec<_> = diagram.never_entered().map(|state| state.name()).collect();
/// assert_eq!(never, ["Locked"]);
/// assert!(diagram.to_mermaid().contains("s0 -->|\"1×\"| s1"));
/// # Ok::<(), demeanor::diagram::UnknownStates>(())
/// ```
#[derive(Clone, Debug)]
pub struct Diagram {
    states: Vec<DiagramState>,
    arrows: Vec<Arrow>,
    initial: Option<usize>,
    global: Option<usize>,
    /// Whether each state is drawn.
    is_shown: Vec<bool>,
    /// The first list has the drawn outermost states. After it, there is one list for each state, with its drawn children: see
    /// [`place`].
    children: Vec<Vec<usize>>,
    has_written: bool,
    is_observed: bool,
}

/// One state of a [`Diagram`].
#[derive(Clone, Debug, Default)]
pub struct DiagramState {
    pub(crate) name: String,
    pub(crate) behaviors: Vec<String>,
    pub(crate) every: Option<String>,
    pub(crate) enter_when: Option<String>,
    /// The note about the state in the file.
    pub(crate) note: Option<String>,
    pub(crate) parent: Option<usize>,
    pub(crate) initial: Option<usize>,
    /// Each region, without its states (rule 32). Empty if the state has no regions.
    pub(crate) regions: Vec<Region>,
    /// The index of the parent's region in which the state lies.
    pub(crate) region: usize,
    pub(crate) is_final: bool,
    /// The state whose linked machine ends in this final state. Then this final state holds back only the exits of states in the
    /// linked machine.
    pub(crate) ends: Option<usize>,
    pub(crate) visits: Option<Visits>,
    /// How many states in it are not drawn because it is folded.
    pub(crate) hidden: usize,
}

/// One region of a state of a [`Diagram`] (see [`State::regions`](crate::State::regions)).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Region {
    /// Its name, if the file gives it one. Otherwise, it is named after its initial state.
    pub name: Option<String>,
    /// Its initial state, if it is drawn.
    pub initial: Option<usize>,
    /// Its drawn states.
    pub states: Vec<usize>,
}

/// An arrow from one state of a [`Diagram`] to another.
#[derive(Clone, Debug, Default)]
pub struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Its place among the exits of its state, from 1. `None` if the state has no other exit, or if no exit is drawn.
    pub(crate) number: Option<usize>,
    /// The exit of a file: its state, and its place among the exits of this state.
    pub(crate) exit: Option<(usize, usize)>,
    pub(crate) label: String,
    pub(crate) rules: ExitRules,
    pub(crate) is_unwritten: bool,
    pub(crate) seen: Option<Seen>,
}

/// The settings of an exit in a file that decide, besides its condition, in which states it can be taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExitRules {
    /// What the exit requests, if it is not a change to its target.
    pub(crate) leads: Option<Cause>,
    /// Whether the exit is also taken if its target is already active.
    pub(crate) restarts: bool,
    /// Whether the exit is also tried when its state is entered.
    pub(crate) is_always: bool,
    /// Whether the exit also leads out of a final state other than its own.
    pub(crate) even_final: bool,
}

impl Diagram {
    /// Creates the diagram of a machine with these states and arrows. `initial` is the state in which machines begin.
    pub(crate) fn new(
        states: Vec<DiagramState>,
        arrows: Vec<Arrow>,
        initial: Option<usize>,
        global: Option<usize>,
    ) -> Self {
        let (is_shown, has_written) = (vec![true; states.len()], !arrows.is_empty());
        let mut diagram =
            Self { states, arrows, initial, global, is_shown, children: Vec::new(), has_written, is_observed: false };
        diagram.find_children();
        diagram
    }

    /// Creates a diagram of observed changes alone: of the states that a flow names, and the changes between them.
    ///
    /// A flow does not contain how the states are nested, or which exits were never taken.
    ///
    /// # Examples
    ///
    /// For a flow alone, there are two shortcuts: [`Flow::to_mermaid`] and [`Flow::to_dot`].
    #[must_use]
    pub fn of_flow(flow: &Flow) -> Self {
        let named = |name: &str| DiagramState { name: name.to_owned(), ..DiagramState::default() };
        let states = flow.states().into_iter().map(named).collect();
        Self::new(states, Vec::new(), None, None).observed(flow)
    }

    /// Creates the diagram of states in code, nested by their [`parent`](crate::State::parent). The ancestors of the given states
    /// are added if they are missing.
    ///
    /// The diagram has no arrows, because only the code knows which changes the states request. [`observe`](Self::observe) adds
    /// the changes that were observed.
    #[must_use]
    pub fn of_states<T: Owner>(states: impl IntoIterator<Item = StateRef<T>>) -> Self {
        let mut known: Vec<StateRef<T>> = Vec::new();
        let mut drawn: Vec<DiagramState> = Vec::new();
        for state in states {
            let path = path_to(&state).unwrap_or_else(|_| iter::once(state.clone()).collect());
            let mut parent = None;
            for state in path {
                let at = known.iter().position(|known| *known == state).unwrap_or_else(|| {
                    let name = state.name().into_owned();
                    drawn.push(DiagramState { name, parent, region: state.region(), ..DiagramState::default() });
                    known.push(state);
                    known.len() - 1
                });
                parent = Some(at);
            }
        }
        for (at, state) in known.iter().enumerate() {
            let child = |state: &StateRef<T>| {
                let at_child = known.iter().position(|known| known == state);
                at_child.filter(|child| drawn[*child].parent == Some(at))
            };
            let (initial, regions) = (state.initial(), state.regions());
            let region = |state: &StateRef<T>| Region { initial: child(state), ..Region::default() };
            let (initial, regions) = (initial.as_ref().and_then(child), regions.iter().map(region).collect());
            (drawn[at].initial, drawn[at].regions) = (initial, regions);
        }
        Self::new(drawn, Vec::new(), None, None)
    }

    /// Sets the state in which machines begin. Call this before [`observe`](Self::observe). If the diagram has no state with this
    /// name, nothing is changed.
    ///
    /// Beginning in a state is not a change. Without this method, the state is drawn as never entered until an owner has left
    /// it or changed to it.
    #[must_use]
    pub fn beginning_in<T: Owner>(mut self, state: impl IntoState<T>) -> Self {
        let name = state.into_state().name().into_owned();
        self.initial = self.index_of(&name).or(self.initial);
        self
    }

    /// Returns all states, whether they are drawn or not. Other methods identify a state by its index here.
    #[must_use]
    pub fn states(&self) -> &[DiagramState] {
        &self.states
    }

    /// Returns the indices of the states that are drawn.
    pub fn shown(&self) -> impl Iterator<Item = usize> {
        (0..self.states.len()).filter(|state| self.is_shown[*state])
    }

    /// Returns the arrows between drawn states, in the order of the states that they lead from. For each state, the arrows of
    /// the file come first.
    pub fn arrows(&self) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(|arrow| self.is_shown[arrow.from] && self.is_shown[arrow.to])
    }

    /// Returns the index of the first state with this name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|state| state.name == name)
    }

    /// Returns the drawn children of a state. For `None`, returns the drawn outermost states.
    #[must_use]
    pub fn children(&self, parent: impl Into<Option<usize>>) -> &[usize] {
        &self.children[place(parent.into())]
    }

    /// Returns whether a state has drawn children.
    #[must_use]
    pub fn is_composite(&self, state: usize) -> bool {
        !self.children(state).is_empty()
    }

    /// Returns whether a state is the global state.
    #[must_use]
    pub fn is_global(&self, state: usize) -> bool {
        self.global == Some(state)
    }

    /// Returns the initial child of a state. For `None`, returns the state in which machines begin. The result is `None` if there
    /// is no such state, or if it is not drawn.
    #[must_use]
    pub fn initial(&self, parent: impl Into<Option<usize>>) -> Option<usize> {
        let initial = match parent.into() {
            Some(parent) => self.states[parent].initial,
            None => self.initial,
        };
        initial.filter(|initial| self.is_shown[*initial])
    }

    /// Returns the regions of a state. The children of a state without [regions](crate::State::regions) count as one region, and
    /// so do the outermost states, for `None`.
    #[must_use]
    pub fn regions(&self, parent: impl Into<Option<usize>>) -> Vec<Region> {
        let parent = parent.into();
        let regions = parent.map_or(&[][..], |parent| &self.states[parent].regions);
        let children = self.children(parent);
        if regions.is_empty() {
            return vec![Region { name: None, initial: self.initial(parent), states: children.to_vec() }];
        }
        let region = |(nth, Region { name, initial, .. }): (usize, &Region)| Region {
            name: name.clone(),
            initial: initial.filter(|initial| self.is_shown[*initial]),
            states: children.iter().copied().filter(|child| self.states[*child].region == nth).collect(),
        };
        regions.iter().enumerate().map(region).collect()
    }

    /// Returns a state and its ancestors, outermost first.
    #[must_use]
    pub fn path(&self, state: usize) -> Vec<usize> {
        let mut path: Vec<_> = self.outward(state).collect();
        path.reverse();
        path
    }

    /// Returns whether the diagram has been [observed](Self::observe).
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// Returns the lines in a state's box.
    #[must_use]
    pub fn captions(&self, state: usize) -> Vec<Caption> {
        text::captions(&self.states[state])
    }

    /// Returns whether the diagram has been [observed](Self::observe), and no owner has been in the state. False for the global
    /// state.
    #[must_use]
    pub fn is_never_entered(&self, state: usize) -> bool {
        self.states[state].visits.is_some_and(|visits| !visits.is_entered && !visits.is_global)
    }

    /// Returns whether the diagram has arrows from a file. Then an [unwritten](Arrow::is_unwritten) arrow is drawn in another
    /// color.
    #[must_use]
    pub fn has_written(&self) -> bool {
        self.has_written
    }

    /// Returns a state and its ancestors, innermost first.
    fn outward(&self, state: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(state), |state| self.states[*state].parent)
    }

    /// Returns a state and its initial descendants, outermost first.
    fn descent(&self, state: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(state), |state| self.states[*state].initial)
    }

    /// Returns whether a state is the same as the state `around`, or inside it.
    fn is_within(&self, state: usize, around: usize) -> bool {
        self.outward(state).any(|state| state == around)
    }

    fn find_children(&mut self) {
        self.children = vec![Vec::new(); self.states.len() + 1];
        for (at, state) in self.states.iter().enumerate().filter(|(at, _)| self.is_shown[*at]) {
            self.children[place(state.parent)].push(at);
        }
    }
}

/// Writing a diagram as text.
impl Diagram {
    /// Writes the diagram as text for [Mermaid](https://mermaid.js.org): as a state diagram or, if it has been observed, as a
    /// flowchart. In Mermaid's state diagrams, all arrows have the same width.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        if self.is_observed { flowchart::flowchart(self) } else { mermaid::mermaid(self) }
    }

    /// Writes the diagram as text for [Graphviz](https://graphviz.org).
    #[must_use]
    pub fn to_dot(&self) -> String {
        dot::dot(self)
    }
}

/// Writing observed changes as a diagram, for machines in code and for machines from files.
impl Flow {
    /// Writes the flow as text for [Mermaid](https://mermaid.js.org); see [`Diagram::of_flow`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Owner, State, StateMachine};
    /// use demeanor::Flow;
    /// struct Door;
    /// impl Owner for Door {
    ///     type Context<'a> = Flow;
    ///     type Message = ();
    ///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) { flow.note(change); }
    /// }
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    ///
    /// let mut flow = Flow::new();
    /// let mut machine = StateMachine::new(&Closed);
    /// machine.change_state(&mut Door, &Open, &mut flow);
    /// assert!(flow.to_mermaid().contains("s0 -->|\"1×\"| s1\n"));
    /// ```
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        Diagram::of_flow(self).to_mermaid()
    }

    /// Writes the flow as text for [Graphviz](https://graphviz.org); see [`Diagram::of_flow`].
    #[must_use]
    pub fn to_dot(&self) -> String {
        Diagram::of_flow(self).to_dot()
    }
}

/// Returns the index in `children` for a state, or for the outermost states.
fn place(parent: Option<usize>) -> usize {
    parent.map_or(0, |parent| parent + 1)
}

impl DiagramState {
    /// Returns the state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the index of the state's parent.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Returns whether a file marks the state as final.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns what was observed of the state; `None` if the diagram has not been observed.
    #[must_use]
    pub fn visits(&self) -> Option<&Visits> {
        self.visits.as_ref()
    }
}

impl Arrow {
    /// Returns the index of the state from which the arrow leads.
    #[must_use]
    pub fn from(&self) -> usize {
        self.from
    }

    /// Returns the index of the state to which the arrow leads.
    #[must_use]
    pub fn to(&self) -> usize {
        self.to
    }

    /// Returns the text at the arrow, without the number of times it was taken. For an exit, the text says when the exit is
    /// taken. For another arrow, it says what requested the changes, and is empty for ordinary changes.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the place of the exit among the exits of its state, from 1: the order in which the file lists them. `None` if the
    /// state has only one exit, or if the arrow is not an exit of a file.
    #[must_use]
    pub fn number(&self) -> Option<usize> {
        self.number
    }

    /// Returns the exit of a file that the arrow stands for: the index of its state in the outline, and its place among the exits
    /// of this state, from 0. For several exits that are drawn as one arrow, it is the first one. `None` if the arrow is not an
    /// exit of a file.
    #[must_use]
    pub fn exit(&self) -> Option<(usize, usize)> {
        self.exit
    }

    /// Returns the text at the arrow, in lines, after its [number](Self::number). If the diagram has been observed, the last line
    /// says how often the arrow was taken.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = wrapped(&escaped(&self.numbered()));
        lines.extend(self.seen.as_ref().map(ToString::to_string));
        lines
    }

    /// Returns the label after the number.
    fn numbered(&self) -> String {
        match self.number {
            Some(number) if self.label.is_empty() => number.to_string(),
            Some(number) => format!("{number}: {}", self.label),
            None => self.label.clone(),
        }
    }

    /// Returns whether the arrow was observed but is not an exit of the file.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.is_unwritten
    }

    /// Returns how often the arrow was taken; `None` if the diagram has not been observed.
    #[must_use]
    pub fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    /// Returns whether the diagram has been observed, and the arrow was never taken.
    #[must_use]
    pub fn is_untaken(&self) -> bool {
        self.seen.is_some_and(|seen| seen.at_most == 0)
    }
}
