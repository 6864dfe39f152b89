//! A diagram: boxes, arrows and labels, with their positions.

/// A point: its distance to the right, and down.
pub(crate) type Point = (f64, f64);

/// A rectangle, given by its center.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// An arrow from state to state, through its label.
pub(crate) struct Arrow<'d> {
    pub(crate) of: &'d demeanor::diagram::Arrow,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The label's lines.
    pub(crate) lines: Vec<String>,
    pub(crate) label: Rect,
    /// The point at which it leaves the first state.
    pub(crate) begin: Point,
    /// The point at which it reaches the second state.
    pub(crate) end: Point,
}

/// A laid out diagram.
pub(crate) struct Picture<'d> {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The rectangle of each state, by its index in the diagram.
    pub(crate) states: Vec<Rect>,
    pub(crate) arrows: Vec<Arrow<'d>>,
    /// The dots for the beginning: of the machine, and of each composite state with an initial child.
    pub(crate) dots: Vec<Dot>,
    /// The borders between regions.
    pub(crate) borders: Vec<Border>,
    /// The names of regions.
    pub(crate) titles: Vec<Title>,
}

/// The border between two regions of a composite state, from edge to edge of its box.
pub(crate) struct Border {
    /// The distance to the right if it is upright, or else down.
    pub(crate) at: f64,
    pub(crate) within: usize,
    pub(crate) is_upright: bool,
}

/// The name of a region.
pub(crate) struct Title {
    /// The left end of the line of text, and the middle of its height.
    pub(crate) at: Point,
    pub(crate) name: String,
    /// The composite state with the region.
    pub(crate) within: usize,
}

/// The dot for the beginning of a machine or of a composite state.
pub(crate) struct Dot {
    pub(crate) at: Rect,
    /// The state to which it leads.
    pub(crate) to: usize,
    /// The point at which the arrow reaches that state.
    pub(crate) end: Point,
    /// The composite state that contains it.
    pub(crate) within: Option<usize>,
}

impl Picture<'_> {
    pub(crate) fn state(&self, id: usize) -> Rect {
        self.states[id]
    }
}
