//! Lays out vertices in layers, with the lines between them: Sugiyama's method.
//!
//! A line that spans several layers has a vertex in each layer on its way, which keeps a place free for it. Each layer has a
//! band, in which lines are upright; lines bend only between the bands, where there are no vertices. So no line crosses a vertex.

use std::collections::BTreeMap;

use crate::columns::columns;
use crate::picture::Point;
use crate::rows;
use crate::spread::{CORNER, spread};
use crate::vertices::{Band, End, GAP, Line, Size, Vertex, Wants};

const LINES: f64 = 12.0;

/// The distance between bands: if lines between them are upright, and if they lead far to a side.
const LEAST: f64 = 26.0;
const MOST: f64 = 80.0;

/// The largest numbers of vertices and of parts of lines for a layout in layers, and of layers, because the functions that lay them
/// out are recursive.
const MOST_VERTICES: usize = 4_000;
const MOST_PARTS: usize = 30_000;
const MOST_LAYERS: usize = 1_000;

/// Vertices with their places. The upper left corner is the origin.
pub(crate) struct Placed {
    /// The center of each vertex.
    pub(crate) centers: Vec<Point>,
    /// The points of each line, from its upper end to its lower end.
    pub(crate) ways: Vec<Vec<Point>>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Lays out vertices in layers, or in rows if there are too many.
pub(crate) fn placed(vertices: &[Vertex], lines: &[Line]) -> Placed {
    let layers = layers(vertices, lines);
    let parts = |line: &Line| layers[line.lower.vertex].abs_diff(layers[line.upper.vertex]);
    let is_too_large = vertices.len() > MOST_VERTICES
        || layers.iter().any(|layer| *layer > MOST_LAYERS)
        || lines.iter().map(parts).sum::<usize>() > MOST_PARTS;
    if is_too_large { in_rows(vertices, lines) } else { in_layers(vertices, lines, &layers) }
}

/// Returns the layer of each vertex. Each connected part begins in layer 0.
fn layers(vertices: &[Vertex], lines: &[Line]) -> Vec<usize> {
    let is_inside = |vertex: usize| matches!(vertices[vertex].wants, Wants::High | Wants::Low);
    let (mut above, mut below) = (vec![0_usize; vertices.len()], vec![Vec::new(); vertices.len()]);
    for Line { upper, lower } in
        lines.iter().filter(|line| is_inside(line.upper.vertex) && is_inside(line.lower.vertex))
    {
        above[lower.vertex] += 1;
        below[upper.vertex].push(lower.vertex);
    }
    let mut layers = vec![1_usize; vertices.len()];
    let is_first: Vec<bool> = above.iter().map(|above| *above == 0).collect();
    let mut order: Vec<usize> = (0..vertices.len()).filter(|vertex| is_first[*vertex]).collect();
    let mut next = 0;
    while let Some(&vertex) = order.get(next) {
        next += 1;
        for &lower in &below[vertex] {
            layers[lower] = layers[lower].max(layers[vertex] + 1);
            above[lower] -= 1;
            if above[lower] == 0 {
                order.push(lower);
            }
        }
    }
    for &vertex in order.iter().rev().filter(|vertex| is_first[**vertex] || vertices[**vertex].wants == Wants::Low) {
        layers[vertex] = below[vertex].iter().map(|lower| layers[*lower] - 1).min().unwrap_or(layers[vertex]);
    }
    for part in parts(vertices.len(), lines) {
        let inside = || part.iter().copied().filter(|vertex| is_inside(*vertex));
        let (first, last) = (inside().map(|vertex| layers[vertex]).min(), inside().map(|vertex| layers[vertex]).max());
        let (first, last) = (first.unwrap_or(1), last.unwrap_or(1));
        let has_top = part.iter().any(|vertex| vertices[*vertex].wants == Wants::Top);
        for vertex in part {
            layers[vertex] = match vertices[vertex].wants {
                Wants::High | Wants::Low => layers[vertex] - first + usize::from(has_top),
                Wants::Bottom => last + 1 - first + usize::from(has_top),
                Wants::Top => 0,
            };
        }
    }
    layers
}

/// Returns the vertices of each connected part.
fn parts(vertices: usize, lines: &[Line]) -> Vec<Vec<usize>> {
    let mut beside = vec![Vec::new(); vertices];
    for Line { upper, lower } in lines {
        beside[upper.vertex].push(lower.vertex);
        beside[lower.vertex].push(upper.vertex);
    }
    let mut is_seen = vec![false; vertices];
    let mut parts = Vec::new();
    for first in 0..vertices {
        let (mut part, mut waiting) = (Vec::new(), vec![first]);
        while let Some(vertex) = waiting.pop() {
            if !std::mem::replace(&mut is_seen[vertex], true) {
                part.push(vertex);
                waiting.extend(&beside[vertex]);
            }
        }
        parts.extend(Some(part).filter(|part| !part.is_empty()));
    }
    parts
}

fn in_layers(vertices: &[Vertex], lines: &[Line], layers: &[usize]) -> Placed {
    // The vertices, and after them those on the way of lines. Each line has its vertices from above.
    let mut sizes: Vec<_> = vertices.iter().map(|vertex| (vertex.width, vertex.height)).collect();
    let mut layer_of = layers.to_vec();
    let mut chains = Vec::with_capacity(lines.len());
    for Line { upper, lower } in lines {
        let within = layers[upper.vertex] + 1..layers[lower.vertex];
        let mut chain = vec![upper.vertex];
        chain.extend(sizes.len()..sizes.len() + within.len());
        chain.push(lower.vertex);
        sizes.resize(sizes.len() + within.len(), (LINES - GAP, 0.0));
        layer_of.extend(within);
        chains.push(chain);
    }
    let parts = parts(vertices.len(), lines);
    let mut part_of = vec![0; sizes.len()];
    for (nth, part) in parts.iter().enumerate() {
        for vertex in part {
            part_of[*vertex] = nth;
        }
    }
    for chain in &chains {
        for vertex in &chain[1..] {
            part_of[*vertex] = part_of[chain[0]];
        }
    }
    let mut bands = vec![Vec::<Band>::new(); parts.len()];
    for vertex in 0..sizes.len() {
        let (bands, layer) = (&mut bands[part_of[vertex]], layer_of[vertex]);
        bands.resize(bands.len().max(layer + 1), Band::default());
        bands[layer].vertices.push(vertex);
        bands[layer].height = bands[layer].height.max(sizes[vertex].1);
    }
    let x = columns(vertices, &sizes, lines, &chains, &mut bands);
    let ends = ends(vertices, lines, &chains, &x);
    let at = |line: usize, nth: usize| match nth {
        0 => ends[line][0],
        nth if nth + 1 == chains[line].len() => ends[line][1],
        nth => x[chains[line][nth]],
    };
    for (line, chain) in chains.iter().enumerate() {
        for nth in 0..chain.len() - 1 {
            let aside = (at(line, nth + 1) - at(line, nth)).abs();
            let band = &mut bands[part_of[chain[nth]]][layer_of[chain[nth]]];
            band.gap = band.gap.max((LEAST + aside / 8.0).min(MOST));
        }
    }
    let mut height = 0.0_f64;
    for bands in &mut bands {
        let mut top = 0.0;
        for band in bands {
            band.top = top;
            height = height.max(top + band.height);
            top += band.height + band.gap;
        }
    }
    let band = |vertex: usize| &bands[part_of[vertex]][layer_of[vertex]];
    let middle = |vertex: usize| band(vertex).top + band(vertex).height / 2.0;
    let ways = chains.iter().enumerate().map(|(line, chain)| {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let mut way = vec![(at(line, 0), middle(first) + sizes[first].1 / 2.0)];
        for (nth, vertex) in chain.iter().enumerate() {
            let (x, Band { top, height, .. }) = (at(line, nth), band(*vertex));
            way.extend((nth > 0).then_some((x, *top)));
            way.extend((nth + 1 < chain.len()).then_some((x, top + height)));
        }
        way.push((at(line, chain.len() - 1), middle(last) - sizes[last].1 / 2.0));
        way
    });
    let ways = ways.collect();
    let width = x.iter().zip(&sizes).map(|(x, (width, _))| x + width / 2.0).fold(0.0, f64::max);
    Placed { centers: (0..vertices.len()).map(|vertex| (x[vertex], middle(vertex))).collect(), ways, width, height }
}

/// Returns where the upper and the lower end of each line are, from left to right. The ends at one edge of a vertex are side by
/// side, in the order of the places to which their lines lead.
fn ends(vertices: &[Vertex], lines: &[Line], chains: &[Vec<usize>], x: &[f64]) -> Vec<[f64; 2]> {
    let mut ends = vec![[0.0; 2]; lines.len()];
    let mut beside: BTreeMap<(usize, usize), Vec<(f64, usize)>> = BTreeMap::new();
    for (line, (Line { upper, lower }, chain)) in lines.iter().zip(chains).enumerate() {
        let next = [chain[1], chain[chain.len() - 2]];
        for (side, End { vertex, at }) in [*upper, *lower].into_iter().enumerate() {
            match at {
                Some(at) => ends[line][side] = x[vertex] - vertices[vertex].width / 2.0 + at,
                None => beside.entry((vertex, side)).or_default().push((x[next[side]], line)),
            }
        }
    }
    for ((vertex, side), mut beside) in beside {
        beside.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = (vertices[vertex].width / 2.0 - CORNER).max(0.0);
        let wanted: Vec<_> = beside.iter().map(|(next, _)| next.clamp(x[vertex] - half, x[vertex] + half)).collect();
        for ((_, line), x) in beside.iter().zip(spread(&wanted, x[vertex] - half, x[vertex] + half)) {
            ends[*line][side] = x;
        }
    }
    ends
}

/// Lays out too many vertices for layers. Lines may cross vertices.
fn in_rows(vertices: &[Vertex], lines: &[Line]) -> Placed {
    let sizes: Vec<_> = vertices.iter().map(|vertex| (vertex.width, vertex.height)).collect();
    let edges: Vec<_> = lines.iter().map(|line| (line.upper.vertex, line.lower.vertex)).collect();
    let centers = rows::places(&sizes, &edges);
    let x: Vec<_> = centers.iter().map(|center| center.0).collect();
    let chains: Vec<_> = edges.iter().map(|(upper, lower)| vec![*upper, *lower]).collect();
    let ways = ends(vertices, lines, &chains, &x).into_iter().zip(edges).map(|([begin, end], (upper, lower))| {
        let (from, to) = (centers[upper].1, centers[lower].1);
        let edge = |vertex: usize, other: f64| {
            let half = vertices[vertex].height / 2.0;
            centers[vertex].1 + if other > centers[vertex].1 { half } else { -half }
        };
        vec![(begin, edge(upper, to)), (end, edge(lower, from))]
    });
    let ways = ways.collect();
    let most =
        |of: fn(&Point, &Size) -> f64| centers.iter().zip(&sizes).map(|(at, size)| of(at, size)).fold(0.0, f64::max);
    let (width, height) = (most(|at, size| at.0 + size.0 / 2.0), most(|at, size| at.1 + size.1 / 2.0));
    Placed { centers, ways, width, height }
}
