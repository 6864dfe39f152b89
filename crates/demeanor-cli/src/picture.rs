//! A diagram: boxes, arrows and labels, and where they are.

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
pub(crate) struct Arrow<'d> {
    pub(crate) of: &'d demeanor::diagram::Arrow,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The label's lines.
    pub(crate) lines: Vec<String>,
    pub(crate) label: Rect,
    /// Where it leaves the one state.
    pub(crate) begin: Point,
    /// Where it reaches the other.
    pub(crate) end: Point,
}

/// A laid out diagram.
pub(crate) struct Picture<'d> {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// By the states' indices in the diagram.
    pub(crate) states: Vec<Rect>,
    pub(crate) arrows: Vec<Arrow<'d>>,
    /// The dots that stand for the beginning: of the machine, and of each composite state with an initial child.
    pub(crate) dots: Vec<Dot>,
}

/// The dot that stands for the beginning of a machine, or of a composite state.
pub(crate) struct Dot {
    pub(crate) at: Rect,
    /// The state that it leads to.
    pub(crate) to: usize,
    /// Where the arrow reaches that state.
    pub(crate) end: Point,
    /// The composite state that it is in.
    pub(crate) within: Option<usize>,
}

impl Picture<'_> {
    pub(crate) fn state(&self, id: usize) -> Rect {
        self.states[id]
    }
}
