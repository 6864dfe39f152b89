//! State diagrams: of a file, of states in code, and of what was [seen](crate::Flow) of them.
//!
//! A [`Diagram`] is data. It is written as text for Mermaid and for Graphviz here; the tool `demeanor` lays it out as an SVG.

// Of the layer `journal`: it knows states and what a journal has counted. `definition` makes diagrams of files.

mod dot;
mod flowchart;
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
use crate::journal::Flow;
use crate::machine::seat::path_to;
use crate::owner::Owner;
use crate::state::{IntoState, StateRef};

/// The states of a machine, how they are nested, and what leads from one to another.
///
/// There are three ways to one: [`of_flow`](Self::of_flow) from what was seen alone, [`of_states`](Self::of_states) from states in
/// code, and `Outline::diagram` from a definition file. [`observe`](Self::observe) then adds what was seen.
///
/// A diagram that has been observed is drawn with its numbers: an arrow is as wide as it was often taken, a state as dark as
/// owners stayed long in it. What was never taken or entered is dashed. Widths and shades go by the square root, so that
/// what is rare can still be seen beside what is frequent.
///
/// States are named by their index among [`states`](Self::states). A method that is given one panics if there is no such state.
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
/// assert!(diagram.to_dot().contains("s0 -> s1 [label = \"1×\""));
/// # Ok::<(), demeanor::diagram::UnknownStates>(())
/// ```
#[derive(Clone, Debug)]
pub struct Diagram {
    states: Vec<DiagramState>,
    arrows: Vec<Arrow>,
    initial: Option<usize>,
    global: Option<usize>,
    /// What is drawn, by index.
    is_shown: Vec<bool>,
    /// The shown outermost states, and then the shown states directly in each state: see [`place`].
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
    pub(crate) parent: Option<usize>,
    pub(crate) initial: Option<usize>,
    pub(crate) is_final: bool,
    pub(crate) visits: Option<Visits>,
}

/// What leads from one state of a [`Diagram`] to another.
#[derive(Clone, Debug, Default)]
pub struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: String,
    pub(crate) rules: ExitRules,
    pub(crate) is_unwritten: bool,
    pub(crate) seen: Option<Seen>,
}

/// What a file says of an exit, besides its condition, about where it is taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExitRules {
    pub(crate) restarts: bool,
    /// Whether it is also tried as its state is entered.
    pub(crate) is_always: bool,
    /// Whether it also leads out of a final state that is not its own.
    pub(crate) even_final: bool,
}

impl Diagram {
    /// Makes the diagram of states, with these arrows.
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

    /// Makes the diagram of what was seen: of the states that a flow names, and of the changes between them.
    ///
    /// A flow does not know how the states are nested, nor which exits were never taken.
    ///
    /// # Examples
    ///
    /// A flow by itself has two of these methods, too: [`Flow::to_mermaid`] and [`Flow::to_dot`].
    #[must_use]
    pub fn of_flow(flow: &Flow) -> Self {
        let named = |name: &str| DiagramState { name: name.to_owned(), ..DiagramState::default() };
        let states = flow.states().into_iter().map(named).collect();
        Self::new(states, Vec::new(), None, None).observed(flow)
    }

    /// Makes the diagram of states in code, nested as their [`parent`](crate::State::parent) says. Those around them need not
    /// be among them.
    ///
    /// There are no arrows in it: what leads from one state to another is in the code. [`observe`](Self::observe) adds those that
    /// were seen.
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
                    drawn.push(DiagramState { name, parent, ..DiagramState::default() });
                    known.push(state);
                    known.len() - 1
                });
                parent = Some(at);
            }
        }
        for (at, state) in known.iter().enumerate() {
            let initial = state.initial().and_then(|initial| known.iter().position(|known| *known == initial));
            drawn[at].initial = initial.filter(|initial| drawn[*initial].parent == Some(at));
        }
        Self::new(drawn, Vec::new(), None, None)
    }

    /// The same, beginning in a state of it.
    ///
    /// What an owner begins in is not a change: without this, it is drawn as never entered until it has been left.
    #[must_use]
    pub fn beginning_in<T: Owner>(mut self, state: impl IntoState<T>) -> Self {
        let name = state.into_state().name().into_owned();
        self.initial = self.index_of(&name).or(self.initial);
        self
    }

    /// Returns all states, whether they are drawn or not. Elsewhere they are named by their index.
    #[must_use]
    pub fn states(&self) -> &[DiagramState] {
        &self.states
    }

    /// Returns the indices of the states that are drawn.
    pub fn shown(&self) -> impl Iterator<Item = usize> {
        (0..self.states.len()).filter(|state| self.is_shown[*state])
    }

    /// Returns the arrows between states that are drawn: in the order of the states that they lead from, those that a file has
    /// first.
    pub fn arrows(&self) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(|arrow| self.is_shown[arrow.from] && self.is_shown[arrow.to])
    }

    /// Returns the state of a name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|state| state.name == name)
    }

    /// Returns the drawn states directly in a state; for `None`, those in none.
    #[must_use]
    pub fn children(&self, parent: impl Into<Option<usize>>) -> &[usize] {
        &self.children[place(parent.into())]
    }

    /// Returns whether states are drawn in it.
    #[must_use]
    pub fn is_composite(&self, state: usize) -> bool {
        !self.children(state).is_empty()
    }

    /// Returns whether it runs beside every other.
    #[must_use]
    pub fn is_global(&self, state: usize) -> bool {
        self.global == Some(state)
    }

    /// Returns where a machine begins; or, within a state, its initial child. `None` if that is not known, or not drawn.
    #[must_use]
    pub fn initial(&self, parent: impl Into<Option<usize>>) -> Option<usize> {
        let initial = match parent.into() {
            Some(parent) => self.states[parent].initial,
            None => self.initial,
        };
        initial.filter(|initial| self.is_shown[*initial])
    }

    /// Returns the states around a state, outermost first, and itself.
    #[must_use]
    pub fn path(&self, state: usize) -> Vec<usize> {
        let mut path: Vec<_> = self.outward(state).collect();
        path.reverse();
        path
    }

    /// Returns whether it has been [observed](Self::observe).
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// Returns what is written in a state's box, line by line.
    #[must_use]
    pub fn captions(&self, state: usize) -> Vec<Caption> {
        text::captions(&self.states[state])
    }

    /// Whether no owner was in a state, where that is known.
    #[must_use]
    pub fn is_never_entered(&self, state: usize) -> bool {
        self.states[state].visits.is_some_and(|visits| !visits.is_entered && !visits.is_global)
    }

    /// Returns whether a file says what leads from one state to another. Then an [unwritten](Arrow::is_unwritten) arrow is
    /// drawn in another color.
    #[must_use]
    pub fn has_written(&self) -> bool {
        self.has_written
    }

    /// A state and its ancestors, innermost first.
    fn outward(&self, state: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(state), |state| self.states[*state].parent)
    }

    /// A state and its initial children.
    fn descent(&self, state: usize) -> impl Iterator<Item = usize> {
        iter::successors(Some(state), |state| self.states[*state].initial)
    }

    /// Whether a state is another one, or in it.
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

/// How it is written.
impl Diagram {
    /// Writes it as text for [Mermaid](https://mermaid.js.org): as a state diagram, or as a flowchart if it has been observed,
    /// because state diagrams know no width of arrows.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        if self.is_observed { flowchart::flowchart(self) } else { mermaid::mermaid(self) }
    }

    /// Writes it as text for [Graphviz](https://graphviz.org).
    #[must_use]
    pub fn to_dot(&self) -> String {
        dot::dot(self)
    }
}

/// Pictures of what was seen, for machines in code and for machines from files.
impl Flow {
    /// Writes what was seen as text for [Mermaid](https://mermaid.js.org); see [`Diagram::of_flow`].
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

    /// Writes what was seen as text for [Graphviz](https://graphviz.org); see [`Diagram::of_flow`].
    #[must_use]
    pub fn to_dot(&self) -> String {
        Diagram::of_flow(self).to_dot()
    }
}

/// Where the children of a state are, or the outermost states.
fn place(parent: Option<usize>) -> usize {
    parent.map_or(0, |parent| parent + 1)
}

impl DiagramState {
    /// Returns the state's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state around it.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Returns whether a file says that it is an end.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns what was seen of it; `None` if the diagram has not been observed.
    #[must_use]
    pub fn visits(&self) -> Option<&Visits> {
        self.visits.as_ref()
    }
}

impl Arrow {
    /// Returns the state that it leads from.
    #[must_use]
    pub fn from(&self) -> usize {
        self.from
    }

    /// Returns the state that it leads to.
    #[must_use]
    pub fn to(&self) -> usize {
        self.to
    }

    /// Returns what is written at it, without what was seen: of an exit, its condition.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns what is written at it, in lines: the last has what was seen.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = wrapped(&escaped(&self.label));
        lines.extend(self.seen.as_ref().map(ToString::to_string));
        lines
    }

    /// Returns whether it is no exit of a file, but was seen.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.is_unwritten
    }

    /// Returns how often it was taken; `None` if the diagram has not been observed.
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
