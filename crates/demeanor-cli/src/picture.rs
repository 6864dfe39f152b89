//! A diagram: boxes, arrows and labels, with their positions.

/// A point: its distance to the right, and down.
pub(crate) type Point = (f64, f64);

/// The points of a line. Between two points with the same x, it is straight; between two with the same y, it makes a turn below
/// them; between others, it is a curve that is upright at both ends.
pub(crate) type Way = Vec<Point>;

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
    /// The ways from the first state to the label, and from the label to the second state.
    pub(crate) ways: [Way; 2],
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
    /// The way to the state in which the machine, the state or the region begins.
    pub(crate) way: Way,
    /// The composite state that contains it.
    pub(crate) within: Option<usize>,
}

impl Picture<'_> {
    pub(crate) fn state(&self, id: usize) -> Rect {
        self.states[id]
    }
}
