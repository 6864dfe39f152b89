//! Places the boxes and labels of a diagram.
//!
//! Each composite state's children are laid out in layers, separately; then the composite is a box of that size in the layout
//! around it. Its regions are laid out separately, too, and divided by borders. The label of an arrow is a vertex between the two states, so that labels never cover anything.

use std::collections::{HashMap, HashSet};

use demeanor::diagram::{Caption, Diagram, Region};
use rust_sugiyama::configure::{Config, RankingType};
use rust_sugiyama::from_vertices_and_edges;
use unicode_width::UnicodeWidthStr;

use crate::picture::{Arrow, Border, Dot, Picture, Point, Rect, Title};
use crate::ports;
use crate::rows::{self, Block};

pub(crate) const LINE: f64 = 15.0;
const MARGIN: f64 = 24.0;
const CHAR: f64 = 6.4;

/// The arrows directly in each state, by their indices; `None` has the arrows that are in no state.
type Inside = HashMap<Option<usize>, Vec<usize>>;

pub(crate) fn layout<'d>(diagram: &'d Diagram) -> Picture<'d> {
    let arrow = |arrow: &'d demeanor::diagram::Arrow| {
        let lines = arrow.lines();
        let label = sized(&lines, CHAR, 4.0);
        let (begin, end) = (Point::default(), Point::default());
        Arrow { of: arrow, from: arrow.from(), to: arrow.to(), lines, label, begin, end }
    };
    let arrows = diagram.arrows().map(arrow).collect();
    let states = vec![Rect::default(); diagram.states().len()];
    let mut picture =
        Picture { width: 0.0, height: 0.0, states, arrows, dots: Vec::new(), borders: Vec::new(), titles: Vec::new() };
    let mut inside = Inside::new();
    for (i, arrow) in picture.arrows.iter().enumerate() {
        inside.entry(common(diagram, arrow.from, arrow.to)).or_default().push(i);
    }
    let (width, height) = level(diagram, None, &inside, &mut picture);
    (picture.width, picture.height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
    shift(diagram, None, MARGIN, MARGIN, &inside, &mut picture);
    ports::set(&mut picture);
    picture
}

/// Lays out the children of a state, with its corner at the origin, and returns the size.
fn level(diagram: &Diagram, parent: Option<usize>, inside: &Inside, picture: &mut Picture<'_>) -> (f64, f64) {
    let children = diagram.children(parent);
    for &child in children {
        let captions = diagram.captions(child);
        let widths = captions.iter().map(|caption| match caption {
            Caption::Name(text) => sized(&[text], CHAR + 1.9, 14.0).width,
            caption => sized(&[caption.text()], CHAR, 14.0).width,
        });
        let mut width = widths.fold(0.0, f64::max);
        let mut height = heading(captions.len());
        if diagram.is_composite(child) {
            let within = level(diagram, Some(child), inside, picture);
            width = width.max(within.0 + 2.0 * MARGIN);
            height += within.1 + MARGIN;
        }
        picture.states[child] = Rect { width, height, ..Rect::default() };
    }
    let regions = diagram.regions(parent);
    let own = inside.get(&parent).map_or(&[][..], Vec::as_slice);
    let laid: Vec<_> =
        (0..regions.len()).map(|nth| compartment(diagram, parent, &regions, nth, own, picture)).collect();
    let sum = |length: fn(&Laid) -> f64| laid.iter().map(length).sum::<f64>();
    let most = |length: fn(&Laid) -> f64| laid.iter().map(length).fold(0.0, f64::max);
    let (width, height) = (|laid: &Laid| laid.width, |laid: &Laid| laid.height);
    // Regions are side by side, or one below the other if the box is more like a square then.
    let is_beside = sum(width).max(most(height)) <= most(width).max(sum(height));
    let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
    for (nth, (laid, region)) in laid.into_iter().zip(regions).enumerate() {
        let (mut left, mut top) = (0.0, 0.0);
        if nth > 0 {
            let at = if is_beside { &mut left } else { &mut top };
            *at = if is_beside { right } else { bottom } + 2.0 * MARGIN;
            picture.borders.extend(parent.map(|within| Border { at: *at - MARGIN, within, is_upright: is_beside }));
        }
        if let (Some(name), Some(within)) = (region.name, parent) {
            picture.titles.push(Title { at: (left, top + LINE / 2.0), name, within });
        }
        for (what, rect) in laid.places {
            let rect = Rect { x: rect.x + left, y: rect.y + top, ..rect };
            match what {
                What::State(state) => picture.states[state] = rect,
                What::Label(arrow) => picture.arrows[arrow].label = rect,
                What::Dot(to) => {
                    picture.dots.push(Dot { at: rect, to, end: Point::default(), within: parent });
                }
            }
        }
        right = right.max(left + laid.width);
        bottom = bottom.max(top + laid.height);
    }
    (right, bottom)
}

/// The content of one region, with its corner at the origin.
struct Laid {
    places: Vec<(What, Rect)>,
    width: f64,
    height: f64,
}

/// Lays out the children of a state that are in its nth region. `own` has the arrows among all of its children. An arrow to
/// another region has its label in the region that it leaves: above its state if it leads to an earlier region.
fn compartment(
    diagram: &Diagram,
    parent: Option<usize>,
    regions: &[Region],
    nth: usize,
    own: &[usize],
    picture: &Picture<'_>,
) -> Laid {
    let (region, earlier) = (&regions[nth], &regions[..nth]);
    let mut vertices = Vec::new();
    let mut edges = Vec::new();
    let mut what = Vec::new();
    let mut vertex_of = HashMap::new();
    let mut add = |vertices: &mut Vec<Vertex>, kind: What, rect: Rect| {
        let id = u32::try_from(what.len()).unwrap_or(u32::MAX);
        vertices.push((id, (rect.width, rect.height)));
        what.push(kind);
        id
    };
    for &child in &region.states {
        vertex_of.insert(child, add(&mut vertices, What::State(child), picture.state(child)));
    }
    let initial = region.initial.and_then(|initial| lifted(diagram, initial, parent));
    let dot = Rect { width: 14.0, height: 14.0, ..Rect::default() };
    let begin = initial.and_then(|initial| vertex_of.get(&initial).copied());
    if let (Some(target), Some(begin)) = (region.initial, begin) {
        edges.push((add(&mut vertices, What::Dot(target), dot), begin));
    }
    let lifted = |state| lifted(diagram, state, parent);
    let leads = own.iter().filter_map(|&i| Some((i, lifted(picture.arrows[i].from)?, lifted(picture.arrows[i].to)?)));
    let own: Vec<_> = leads.filter(|(_, from, _)| vertex_of.contains_key(from)).collect();
    let backward = backward(initial, &region.states, &own);
    let mut leads = Vec::with_capacity(own.len());
    for (i, from, to) in own {
        let label = add(&mut vertices, What::Label(i), picture.arrows[i].label);
        // Arrows back to earlier states are reversed for the layout, so that the initial state is at the top.
        let is_backward = backward.contains(&i) || earlier.iter().any(|region| region.states.contains(&to));
        let turned = |a, b| if is_backward { (b, a) } else { (a, b) };
        let (begin, end) = (vertex_of[&from], vertex_of.get(&to).copied());
        edges.push(turned(begin, label));
        leads.push(Lead { from: begin, label, to: end });
        // An arrow from a state to itself has its label below the state, connected by one edge.
        edges.extend(end.filter(|_| to != from).map(|end| turned(label, end)));
    }
    let parts = if rows::is_too_large(vertices.len(), &edges) {
        vec![in_rows(&vertices, region.states.len(), begin, &leads)]
    } else {
        in_layers(&vertices, &edges)
    };
    let heading = if region.name.is_some() { LINE } else { 0.0 };
    let width = region.name.as_ref().map_or(0.0, |name| sized(&[name], CHAR, 0.0).width);
    let mut laid = Laid { places: Vec::with_capacity(vertices.len()), width, height: 0.0 };
    let mut right = 0.0_f64;
    for places in parts {
        let size = |id: usize| vertices[id].1;
        let left = places.iter().map(|(id, at)| at.0 - size(*id).0 / 2.0).fold(f64::MAX, f64::min);
        let top = places.iter().map(|(id, at)| at.1 - size(*id).1 / 2.0).fold(f64::MAX, f64::min);
        let begin = if right > 0.0 { right + MARGIN } else { 0.0 };
        for (id, at) in places {
            let (x, y) = (at.0 - left + begin, at.1 - top + heading);
            let (width, height) = size(id);
            right = right.max(x + width / 2.0);
            laid.height = laid.height.max(y + height / 2.0);
            laid.places.push((what[id], Rect { x, y, width, height }));
        }
    }
    laid.width = laid.width.max(right);
    laid
}

/// A vertex and its size.
type Vertex = (u32, (f64, f64));

/// The center of each vertex.
type Places = Vec<(usize, (f64, f64))>;

/// An arrow between vertices.
struct Lead {
    from: u32,
    label: u32,
    to: Option<u32>,
}

/// Lays out vertices in layers, each connected part separately.
fn in_layers(vertices: &[Vertex], edges: &[(u32, u32)]) -> Vec<Places> {
    let config = Config {
        vertex_spacing: 22.0,
        ranking_type: RankingType::MinimizeEdgeLength,
        transpose: vertices.len() < 200,
        ..Config::default()
    };
    from_vertices_and_edges(vertices, edges, &config).into_iter().map(|(places, ..)| places).collect()
}

/// Lays out vertices in rows. The states come first, each with its labels. The dot after them leads to the state `begin`.
fn in_rows(vertices: &[Vertex], states: usize, begin: Option<u32>, leads: &[Lead]) -> Places {
    let block = |vertex| Block { vertex, labels: Vec::new(), leads_to: Vec::new() };
    // The dot becomes the first block, because the walk begins at the first block.
    let dots = usize::from(begin.is_some());
    let mut blocks: Vec<_> = (0..dots).map(|_| block(states)).chain((0..states).map(block)).collect();
    let index = |vertex: u32| vertex as usize + dots;
    if let Some(begin) = begin {
        blocks[0].leads_to.push(index(begin));
    }
    for Lead { from, label, to } in leads {
        let block = &mut blocks[index(*from)];
        block.labels.push(*label as usize);
        block.leads_to.extend(to.map(index));
    }
    let sizes: Vec<_> = vertices.iter().map(|(_, size)| *size).collect();
    rows::places(&blocks, &sizes).into_iter().enumerate().collect()
}

/// Returns the arrows among states that lead back to a state on the path of a depth-first walk from the initial one. `own` has
/// each arrow with the two states.
fn backward(initial: Option<usize>, states: &[usize], own: &[(usize, usize, usize)]) -> HashSet<usize> {
    let mut leads = HashMap::<usize, Vec<(usize, usize)>>::new();
    for &(i, from, to) in own {
        leads.entry(from).or_default().push((i, to));
    }
    let mut backward = HashSet::new();
    let mut seen = HashMap::<usize, bool>::new();
    for &start in initial.iter().chain(states) {
        if seen.contains_key(&start) {
            continue;
        }
        // The path of the walk. Each state has the number of its arrows that have been followed. `true` for a state on the
        // path.
        let mut way = vec![(start, 0)];
        seen.insert(start, true);
        while let Some((at, followed)) = way.last_mut() {
            let Some(&(arrow, to)) = leads.get(at).and_then(|leads| leads.get(*followed)) else {
                seen.insert(*at, false);
                way.pop();
                continue;
            };
            *followed += 1;
            if let Some(is_on_the_way) = seen.get(&to) {
                if *is_on_the_way && to != *at {
                    backward.insert(arrow);
                }
            } else {
                seen.insert(to, true);
                way.push((to, 0));
            }
        }
    }
    backward
}

#[derive(Clone, Copy)]
enum What {
    State(usize),
    Label(usize),
    /// The dot for the beginning in this state.
    Dot(usize),
}

/// Moves the content of a state, which was laid out at the origin, to the state's place.
fn shift(diagram: &Diagram, parent: Option<usize>, x: f64, y: f64, inside: &Inside, picture: &mut Picture<'_>) {
    for i in inside.get(&parent).into_iter().flatten() {
        let arrow = &mut picture.arrows[*i];
        arrow.label.x += x;
        arrow.label.y += y;
    }
    for dot in picture.dots.iter_mut().filter(|dot| dot.within == parent) {
        dot.at.x += x;
        dot.at.y += y;
    }
    for border in picture.borders.iter_mut().filter(|border| Some(border.within) == parent) {
        border.at += if border.is_upright { x } else { y };
    }
    for title in picture.titles.iter_mut().filter(|title| Some(title.within) == parent) {
        title.at = (title.at.0 + x, title.at.1 + y);
    }
    for &child in diagram.children(parent) {
        let rect = &mut picture.states[child];
        rect.x += x;
        rect.y += y;
        let rect = *rect;
        let left = rect.x - rect.width / 2.0 + MARGIN;
        let top = rect.y - rect.height / 2.0 + heading(diagram.captions(child).len());
        shift(diagram, Some(child), left, top, inside, picture);
    }
}

/// Returns the innermost state around both; if one state contains the other, the state around the outer one.
fn common(diagram: &Diagram, from: usize, to: usize) -> Option<usize> {
    let around = |id| {
        let mut path = diagram.path(id);
        path.pop();
        path
    };
    let shared = around(from).into_iter().zip(around(to)).take_while(|(a, b)| a == b);
    shared.last().map(|(shared, _)| shared)
}

/// Returns the child of `parent` that is the state or contains it.
fn lifted(diagram: &Diagram, id: usize, parent: Option<usize>) -> Option<usize> {
    diagram.path(id).into_iter().find(|id| diagram.states()[*id].parent() == parent)
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
