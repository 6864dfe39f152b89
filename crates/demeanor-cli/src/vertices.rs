//! What is laid out: vertices, the lines between them, and the bands in which vertices lie.

/// The distance between vertices, and between lines that pass through the same layer.
pub(crate) const GAP: f64 = 22.0;

/// A width and a height.
pub(crate) type Size = (f64, f64);

pub(crate) struct Vertex {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) wants: Wants,
    /// Its middle in a former picture, from left to right.
    pub(crate) former: Option<f64>,
}

/// The layer in which a vertex is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// As near as possible to the vertices above.
    High,
    /// As near as possible to the vertices below.
    Low,
    /// The first layer, in which there are no other vertices.
    Top,
    /// The last layer, in which there are no other vertices.
    Bottom,
}

/// A line from one vertex to another one below it.
pub(crate) struct Line {
    pub(crate) upper: End,
    pub(crate) lower: End,
}

/// The end of a line at a vertex.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) vertex: usize,
    /// The distance from the left edge of the vertex. `None` for a place beside the other lines.
    pub(crate) at: Option<f64>,
}

/// The place of one layer of one connected part.
#[derive(Clone, Default)]
pub(crate) struct Band {
    /// From left to right.
    pub(crate) vertices: Vec<usize>,
    pub(crate) top: f64,
    pub(crate) height: f64,
    /// The distance to the band below.
    pub(crate) gap: f64,
}
