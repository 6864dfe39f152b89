//! A diagram: boxes, arrows and labels, and where they are.

use demeanor::definition::StateId;

/// A point, by how far it is to the right and down.
pub(crate) type Point = (f64, f64);

/// A rectangle, by its middle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// An arrow from state to state by way of its label.
pub(crate) struct Arrow {
    pub(crate) from: StateId,
    pub(crate) to: StateId,
    /// The label's lines.
    pub(crate) lines: Vec<String>,
    pub(crate) label: Rect,
    /// Where it leaves the one state.
    pub(crate) begin: Point,
    /// Where it reaches the other.
    pub(crate) end: Point,
}

/// A laid out diagram.
pub(crate) struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// By the index of their ids.
    pub(crate) states: Vec<Rect>,
    pub(crate) arrows: Vec<Arrow>,
    /// The dots that stand for the beginning: of the machine, and of each composite state with an initial child.
    pub(crate) dots: Vec<Dot>,
}

/// The dot that stands for the beginning of a machine, or of a composite state.
pub(crate) struct Dot {
    pub(crate) at: Rect,
    /// The state that it leads to.
    pub(crate) to: StateId,
    /// Where the arrow reaches that state.
    pub(crate) end: Point,
    /// The composite state that it is in.
    pub(crate) within: Option<StateId>,
}

impl Picture {
    pub(crate) fn state(&self, id: StateId) -> Rect {
        self.states[id.index()]
    }
}
