//! Places the boxes, labels and arrows of a diagram.
//!
//! Each composite state's children are laid out in layers, separately; then the composite is a box of that size in the layout
//! around it. Its regions are laid out separately, too, and divided by borders. The label of an arrow is a vertex between the two
//! states, so that labels never cover anything. An arrow that leads into a composite state or out of it crosses the edge of its box
//! at a place that the layout inside has chosen: see [`plan`].

use std::collections::HashMap;

use demeanor::diagram::{Caption, Diagram, Region};
use unicode_width::UnicodeWidthStr;

use crate::layers::{self, Placed};
use crate::picture::{Arrow, Border, Dot, Picture, Point, Rect, Title, Way};
use crate::plan::{Node, Plan, Step};
use crate::spread::room;
use crate::vertices::{End, Line, Vertex, Wants};

pub(crate) const LINE: f64 = 15.0;
const MARGIN: f64 = 24.0;
const CHAR: f64 = 6.4;

/// The height below regions in which arrows from one to another turn.
pub(crate) const TURN: f64 = 36.0;

/// Lays out a diagram.
pub(crate) fn layout(diagram: &Diagram) -> Picture<'_> {
    layout_near(diagram, vec![None; diagram.states().len()])
}

/// Lays out a diagram in which some states were in a former picture: they keep their order from left to right. `former` has their
/// middle in that picture.
pub(crate) fn layout_near(diagram: &Diagram, former: Vec<Option<f64>>) -> Picture<'_> {
    let arrow = |arrow| {
        let lines = demeanor::diagram::Arrow::lines(arrow);
        let label = sized(&lines, CHAR, 4.0);
        Arrow { of: arrow, from: arrow.from(), to: arrow.to(), lines, label, ways: [Way::new(), Way::new()] }
    };
    let arrows: Vec<_> = diagram.arrows().map(arrow).collect();
    let ends: Vec<_> = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
    let plan = Plan::new(diagram, &ends);
    let dot = |within| Dot { at: Rect { width: 14.0, height: 14.0, ..Rect::default() }, way: Way::new(), within };
    let picture = Picture {
        width: 0.0,
        height: 0.0,
        states: vec![Rect::default(); diagram.states().len()],
        dots: plan.beginnings.iter().map(|beginning| dot(beginning.within)).collect(),
        arrows,
        borders: Vec::new(),
        titles: Vec::new(),
    };
    let mut layout = Layout { diagram, plan, picture, former, pieces: Vec::new(), doors: HashMap::new() };
    let (width, height) = layout.level(None);
    (layout.picture.width, layout.picture.height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
    let mut origins = HashMap::new();
    layout.shift(None, (MARGIN, MARGIN), &mut origins);
    layout.join(&origins);
    layout.picture
}

struct Layout<'d> {
    diagram: &'d Diagram,
    plan: Plan,
    picture: Picture<'d>,
    /// The middle of each state in the former picture.
    former: Vec<Option<f64>>,
    /// The parts of ways, the innermost first: the way, the state that contains the part, and its points from there.
    pieces: Vec<(usize, Option<usize>, Way)>,
    /// Where each way crosses the edge of a state's box, from its left edge.
    doors: HashMap<(usize, usize), f64>,
}

impl Layout<'_> {
    /// Lays out the children of a state, with its corner at the origin, and returns the size.
    fn level(&mut self, parent: Option<usize>) -> (f64, f64) {
        let diagram = self.diagram;
        let steps = self.plan.steps.remove(&parent).unwrap_or_default();
        let mut ends: HashMap<(Node, bool), usize> = HashMap::new();
        for Step { upper, lower, .. } in &steps {
            *ends.entry((*upper, false)).or_default() += 1;
            *ends.entry((*lower, true)).or_default() += 1;
        }
        for &child in diagram.children(parent) {
            let captions = diagram.captions(child);
            let widths = captions.iter().map(|caption| match caption {
                Caption::Name(text) => sized(&[text], CHAR + 1.9, 14.0).width,
                caption => sized(&[caption.text()], CHAR, 14.0).width,
            });
            let mut width = widths.fold(0.0, f64::max);
            let mut height = heading(captions.len());
            if diagram.is_composite(child) {
                let within = self.level(Some(child));
                width = width.max(within.0 + 2.0 * MARGIN);
                height += within.1 + MARGIN;
            }
            let ends = [false, true].map(|edge| ends.get(&(Node::State(child), edge)).copied().unwrap_or(0));
            width = width.max(room(ends[0].max(ends[1])));
            self.picture.states[child] = Rect { width, height, ..Rect::default() };
        }
        let regions = diagram.regions(parent);
        let laid: Vec<_> =
            regions.iter().enumerate().map(|(nth, region)| self.compartment(region, nth, &steps)).collect();
        let sum = |length: fn(&Laid) -> f64| laid.iter().map(length).sum::<f64>();
        let most = |length: fn(&Laid) -> f64| laid.iter().map(length).fold(0.0, f64::max);
        let (width, height) = (|laid: &Laid| laid.width, |laid: &Laid| laid.height);
        // Regions are side by side, or one below the other if the box is more like a square then and no arrow leads through them.
        let leads_through = |step: &Step| {
            step.lower == Node::Bottom && step.region + 1 < regions.len() || step.upper == Node::Top && step.region > 0
        };
        let is_beside = steps.iter().any(leads_through) || sum(width).max(most(height)) <= most(width).max(sum(height));
        let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
        let mut ways = Vec::new();
        for (nth, (laid, region)) in laid.into_iter().zip(&regions).enumerate() {
            let (mut left, mut top) = (0.0, 0.0);
            if nth > 0 {
                let at = if is_beside { &mut left } else { &mut top };
                *at = if is_beside { right } else { bottom } + 2.0 * MARGIN;
                let border = |within| Border { at: *at - MARGIN, within, is_upright: is_beside };
                self.picture.borders.extend(parent.map(border));
            }
            if let (Some(name), Some(within)) = (&region.name, parent) {
                self.picture.titles.push(Title { at: (left, top + LINE / 2.0), name: name.clone(), within });
            }
            for (node, rect) in laid.places {
                let rect = Rect { x: rect.x + left, y: rect.y + top, ..rect };
                match node {
                    Node::State(state) => self.picture.states[state] = rect,
                    Node::Label(arrow) => self.picture.arrows[arrow].label = rect,
                    Node::Dot(dot) => self.picture.dots[dot].at = rect,
                    Node::Top | Node::Bottom => {}
                }
            }
            let moved = |(x, y): Point| (x + left, y + top);
            ways.extend(laid.ways.into_iter().map(|(step, way)| (step, way.into_iter().map(moved).collect::<Way>())));
            right = right.max(left + laid.width);
            bottom = bottom.max(top + laid.height);
        }
        let turns = steps.iter().any(|step| step.turns);
        let floor = bottom;
        bottom += if turns { TURN } else { 0.0 };
        let above = parent.map_or(0.0, |parent| heading(diagram.captions(parent).len()));
        let mut turning: HashMap<usize, Way> = HashMap::new();
        for (nth, mut way) in ways {
            let step = &steps[nth];
            let mut door = |(x, _): Point| self.doors.extend(parent.map(|parent| ((step.way, parent), x + MARGIN)));
            let (first, last) = (way[0], way[way.len() - 1]);
            if step.turns {
                way.push((last.0, floor));
            } else if step.lower == Node::Bottom {
                way.push((last.0, bottom + MARGIN));
                door(last);
            } else if step.upper == Node::Top {
                way.insert(0, (first.0, -above));
                door(first);
            }
            if step.is_upward {
                way.reverse();
            }
            if step.turns {
                match turning.remove(&step.way) {
                    // The part that leads down comes first.
                    Some(other) if step.is_upward => way.splice(0..0, other).for_each(drop),
                    Some(other) => way.extend(other),
                    None => {
                        turning.insert(step.way, way);
                        continue;
                    }
                }
            }
            self.pieces.push((step.way, parent, way));
        }
        (right, bottom)
    }

    /// Lays out the children of a state that are in its nth region.
    fn compartment(&self, region: &Region, nth: usize, steps: &[Step]) -> Laid {
        let mut vertices = Vec::new();
        let mut nodes = Vec::new();
        let mut vertex_of = HashMap::new();
        let mut add = |node: Node| {
            let is_new = matches!(node, Node::Top | Node::Bottom) || !vertex_of.contains_key(&node);
            if is_new {
                let (Rect { width, height, .. }, wants) = match node {
                    Node::State(state) => (self.picture.states[state], Wants::High),
                    Node::Label(arrow) if self.plan.is_upward(arrow) => (self.picture.arrows[arrow].label, Wants::Low),
                    Node::Label(arrow) => (self.picture.arrows[arrow].label, Wants::High),
                    Node::Dot(dot) => (self.picture.dots[dot].at, Wants::Low),
                    Node::Top => (Rect::default(), Wants::Top),
                    Node::Bottom => (Rect::default(), Wants::Bottom),
                };
                let former = if let Node::State(state) = node { self.former[state] } else { None };
                vertices.push(Vertex { width, height, wants, former });
                nodes.push(node);
                vertex_of.insert(node, nodes.len() - 1);
            }
            vertex_of[&node]
        };
        let mut lines = Vec::new();
        let mut own: Vec<_> = (0..steps.len()).filter(|step| steps[*step].region == nth).collect();
        // The dot comes first, because a layout in rows begins there.
        own.sort_by_key(|step| !matches!(steps[*step].upper, Node::Dot(_)));
        for step in &own {
            let Step { way, upper, lower, .. } = steps[*step];
            let mut end = |node: Node| {
                let at = match node {
                    Node::State(state) => self.doors.get(&(way, state)).copied(),
                    Node::Label(arrow) => Some(self.at_label(way, arrow)),
                    Node::Dot(_) => Some(7.0),
                    Node::Top | Node::Bottom => Some(0.0),
                };
                End { vertex: add(node), at }
            };
            let (upper, lower) = (end(upper), end(lower));
            lines.push(Line { upper, lower });
        }
        for &child in &region.states {
            add(Node::State(child));
        }
        let Placed { centers, ways, width, height } = layers::placed(&vertices, &lines);
        let name = region.name.as_ref().map(|name| sized(&[name], CHAR, 0.0).width);
        let below = if name.is_some() { LINE } else { 0.0 };
        let rect = |(vertex, at): (&Vertex, Point)| Rect {
            x: at.0,
            y: at.1 + below,
            width: vertex.width,
            height: vertex.height,
        };
        let lowered = |way: Way| way.into_iter().map(|(x, y)| (x, y + below)).collect();
        Laid {
            places: nodes.into_iter().zip(vertices.iter().zip(centers).map(rect)).collect(),
            ways: own.into_iter().zip(ways.into_iter().map(lowered)).collect(),
            width: width.max(name.unwrap_or(0.0)),
            height: height + below,
        }
    }
    /// Returns where a way touches the label of its arrow, from the left edge of the label.
    fn at_label(&self, way: usize, arrow: usize) -> f64 {
        let width = self.picture.arrows[arrow].label.width;
        match (self.plan.is_loop(arrow), way % 2) {
            (true, 0) => 4.0,
            (true, _) => width - 4.0,
            (false, _) => width / 2.0,
        }
    }

    /// Moves the content of a state, which was laid out at the origin, to the state's place.
    fn shift(&mut self, parent: Option<usize>, (x, y): Point, origins: &mut HashMap<Option<usize>, Point>) {
        origins.insert(parent, (x, y));
        for border in self.picture.borders.iter_mut().filter(|border| Some(border.within) == parent) {
            border.at += if border.is_upright { x } else { y };
        }
        for title in self.picture.titles.iter_mut().filter(|title| Some(title.within) == parent) {
            title.at = (title.at.0 + x, title.at.1 + y);
        }
        for dot in self.picture.dots.iter_mut().filter(|dot| dot.within == parent) {
            (dot.at.x, dot.at.y) = (dot.at.x + x, dot.at.y + y);
        }
        for &child in self.diagram.children(parent) {
            let rect = &mut self.picture.states[child];
            (rect.x, rect.y) = (rect.x + x, rect.y + y);
            let left = rect.x - rect.width / 2.0 + MARGIN;
            let top = rect.y - rect.height / 2.0 + heading(self.diagram.captions(child).len());
            self.shift(Some(child), (left, top), origins);
        }
    }

    /// Moves the labels to their places, and joins the parts of each way.
    fn join(&mut self, origins: &HashMap<Option<usize>, Point>) {
        for (arrow, within) in self.picture.arrows.iter_mut().zip(self.plan.around()) {
            let (x, y) = origins[&within];
            (arrow.label.x, arrow.label.y) = (arrow.label.x + x, arrow.label.y + y);
        }
        for (way, within, piece) in std::mem::take(&mut self.pieces) {
            let (x, y) = origins[&within];
            let piece = piece.into_iter().map(|at| (at.0 + x, at.1 + y));
            let arrows = self.picture.arrows.len();
            let joined = match way.checked_sub(2 * arrows) {
                Some(dot) => &mut self.picture.dots[dot].way,
                None => &mut self.picture.arrows[way / 2].ways[way % 2],
            };
            // A way that begins at a state leads outward, and one that ends at a state inward.
            if way < 2 * arrows && way % 2 == 0 {
                joined.extend(piece);
            } else {
                joined.splice(0..0, piece);
            }
        }
    }
}

/// The content of one region, with its corner at the origin.
struct Laid {
    places: Vec<(Node, Rect)>,
    /// The way of each step, by the index of the step, from its upper end.
    ways: Vec<(usize, Way)>,
    width: f64,
    height: f64,
}

/// Returns the height of this number of lines, above the states in a box, or in a box without states.
pub(crate) fn heading(lines: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let lines = lines as f64;
    lines * LINE + 14.0
}

fn sized(lines: &[impl AsRef<str>], per_char: f64, padding: f64) -> Rect {
    #[expect(clippy::cast_precision_loss, reason = "a text is short")]
    let widest = lines.iter().map(|line| line.as_ref().width() as f64).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a text is short")]
    let height = lines.len().max(1) as f64 * LINE;
    Rect { x: 0.0, y: 0.0, width: (widest * per_char + 2.0 * padding).max(8.0), height: height + padding }
}
