//! Places the vertices of layers from left to right: near to the vertices to which their lines lead, so that lines are short, and as
//! straight as possible.

use rust_sugiyama::configure::{Config, RankingType};
use rust_sugiyama::from_vertices_and_edges;

use crate::former::keep_order;
use crate::spread::CORNER;
use crate::vertices::{Band, End, GAP, Line, Size, Vertex, Wants};

/// Returns the middle of each vertex, from left to right. Connected parts are side by side. Sorts the vertices of the bands.
pub(crate) fn columns(
    vertices: &[Vertex],
    sizes: &[Size],
    lines: &[Line],
    chains: &[Vec<usize>],
    bands: &mut [Vec<Band>],
) -> Vec<f64> {
    let id = |vertex: usize| u32::try_from(vertex).unwrap_or(u32::MAX);
    let all: Vec<_> = sizes.iter().enumerate().map(|(vertex, size)| (id(vertex), *size)).collect();
    let edges: Vec<_> =
        chains.iter().flat_map(|chain| chain.windows(2).map(|pair| (id(pair[0]), id(pair[1])))).collect();
    let config = Config {
        vertex_spacing: GAP,
        // Of 10 000 vertices, the first takes nine times as long as the second. No line is longer than one layer, so that both find
        // nearly the same layers.
        ranking_type: if all.len() < 2_000 { RankingType::MinimizeEdgeLength } else { RankingType::Up },
        transpose: all.len() < 300,
        ..Config::default()
    };
    let mut x = vec![0.0; sizes.len()];
    for (vertex, (at, _)) in from_vertices_and_edges(&all, &edges, &config).into_iter().flat_map(|part| part.0) {
        x[vertex] = at;
    }
    for Band { vertices, .. } in bands.iter_mut().flatten() {
        vertices.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    }
    keep_order(vertices, chains, bands, sizes.len());
    // The lines above and below each vertex: the other vertex, and where the line touches both.
    let mut pulls: [Vec<Vec<Pull>>; 2] = [vec![Vec::new(); sizes.len()], vec![Vec::new(); sizes.len()]];
    for (line, chain) in lines.iter().zip(chains) {
        for (nth, pair) in chain.windows(2).enumerate() {
            let touch = |end: End| end.at.map(|at| at - sizes[end.vertex].0 / 2.0);
            let from = if nth == 0 { touch(line.upper) } else { Some(0.0) };
            let to = if nth + 2 == chain.len() { touch(line.lower) } else { Some(0.0) };
            // Parts within a line are straightened first.
            let weight = [1.0, 4.0, 16.0][usize::from(nth > 0) + usize::from(nth + 2 < chain.len())];
            pulls[1][pair[0]].push(Pull { other: pair[1], own: from, theirs: to, weight });
            pulls[0][pair[1]].push(Pull { other: pair[0], own: to, theirs: from, weight });
        }
    }
    for bands in &*bands {
        for Band { vertices, .. } in bands {
            let mut right = 0.0;
            for &vertex in vertices {
                x[vertex] = right + sizes[vertex].0 / 2.0;
                right += sizes[vertex].0 + GAP;
            }
            for vertex in vertices {
                x[*vertex] -= right / 2.0;
            }
        }
        for sweep in 0..SWEEPS {
            let directions: &[usize] = if sweep > SWEEPS / 4 {
                &[0, 1]
            } else if sweep % 2 == 0 {
                &[0]
            } else {
                &[1]
            };
            let mut order: Vec<_> = bands.iter().collect();
            if sweep % 2 == 1 {
                order.reverse();
            }
            for Band { vertices: band, .. } in order {
                let wanted = band.iter().map(|vertex| {
                    let former = vertices.get(*vertex).and_then(|vertex| vertex.former);
                    former.map_or_else(|| wanted(*vertex, directions, &pulls, sizes, &x), |at| (at, FORMER))
                });
                settle(band, &wanted.collect::<Vec<_>>(), sizes, &mut x);
            }
        }
    }
    straighten(vertices, sizes, lines, chains, bands, &mut x);
    let mut left = 0.0;
    for bands in bands {
        let all = || bands.iter().flat_map(|band| &band.vertices).copied();
        let first = all().map(|vertex| x[vertex] - sizes[vertex].0 / 2.0).fold(f64::MAX, f64::min);
        all().for_each(|vertex| x[vertex] += left - first);
        left = all().map(|vertex| x[vertex] + sizes[vertex].0 / 2.0).fold(0.0, f64::max) + GAP;
    }
    x
}

/// How often each layer is adapted to the layers beside it.
const SWEEPS: usize = 48;

/// How strongly a vertex is pulled to its place in a former picture: more than all its lines pull.
const FORMER: f64 = 1e4;

/// A line that pulls a vertex toward another vertex.
#[derive(Clone, Copy)]
struct Pull {
    other: usize,
    /// Where it touches the two vertices, from their middle; `None` for anywhere.
    own: Option<f64>,
    theirs: Option<f64>,
    weight: f64,
}

/// Returns to where the lines on some directions pull a vertex, and how strongly.
fn wanted(vertex: usize, directions: &[usize], pulls: &[Vec<Vec<Pull>>; 2], sizes: &[Size], x: &[f64]) -> (f64, f64) {
    let (mut sum, mut weights) = (0.0, 0.0);
    for Pull { other, own, theirs, weight } in directions.iter().flat_map(|side| &pulls[*side][vertex]) {
        let anywhere = |of: usize, near: f64| {
            let half = (sizes[of].0 / 2.0 - CORNER).max(0.0);
            (near - x[of]).clamp(-half, half)
        };
        let theirs = x[*other] + theirs.unwrap_or_else(|| anywhere(*other, x[vertex] + own.unwrap_or(0.0)));
        let own = own.unwrap_or_else(|| anywhere(vertex, theirs));
        sum += (theirs - own) * weight;
        weights += weight;
    }
    if weights > 0.0 { (sum / weights, weights) } else { (x[vertex], 0.01) }
}

/// Moves the vertices of a layer as near as possible to the wanted places; they keep their order and distance. This is the
/// algorithm of pool adjacent violators.
fn settle(vertices: &[usize], wanted: &[(f64, f64)], sizes: &[Size], x: &mut [f64]) {
    let mut right = 0.0;
    // Neighbors that touch: their common place without the distances between them, its weight, and their number.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    let mut offsets = Vec::with_capacity(vertices.len());
    for (vertex, (at, weight)) in vertices.iter().zip(wanted) {
        let offset = right + sizes[*vertex].0 / 2.0;
        offsets.push(offset);
        right += sizes[*vertex].0 + GAP;
        let mut pool = (at - offset, *weight, 1);
        while let Some(&(place, weight, count)) = pools.last().filter(|last| last.0 > pool.0) {
            pool = ((place * weight + pool.0 * pool.1) / (weight + pool.1), weight + pool.1, count + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let places = pools.into_iter().flat_map(|(place, _, count)| std::iter::repeat_n(place, count));
    for ((vertex, offset), place) in vertices.iter().zip(offsets).zip(places) {
        x[*vertex] = place + offset;
    }
}

/// Makes each line as straight as the vertices beside it allow: it bends only where it must.
fn straighten(
    vertices: &[Vertex],
    sizes: &[Size],
    lines: &[Line],
    chains: &[Vec<usize>],
    bands: &[Vec<Band>],
    x: &mut [f64],
) {
    let wants = |vertex: usize| vertices[vertex].wants;
    let mut beside = vec![[None; 2]; sizes.len()];
    for pair in bands.iter().flatten().flat_map(|band| band.vertices.windows(2)) {
        (beside[pair[0]][1], beside[pair[1]][0]) = (Some(pair[1]), Some(pair[0]));
    }
    for (line, chain) in lines.iter().zip(chains) {
        // The way through the edge of a box can be moved, too.
        let first = usize::from(wants(line.upper.vertex) != Wants::Top);
        let mut rest = &chain[first..chain.len() - usize::from(wants(line.lower.vertex) != Wants::Bottom)];
        while !rest.is_empty() {
            let (mut least, mut most, mut count) = (f64::MIN, f64::MAX, 0);
            for &vertex in rest {
                let distance = |other: usize| f64::midpoint(sizes[vertex].0, sizes[other].0) + GAP;
                let [left, right] = beside[vertex];
                let left = left.map_or(f64::MIN, |left| x[left] + distance(left)).max(least);
                let right = right.map_or(f64::MAX, |right| x[right] - distance(right)).min(most);
                if left > right {
                    break;
                }
                (least, most, count) = (left, right, count + 1);
            }
            // Rounding may leave less than no room.
            let (run, after) = rest.split_at(count.max(1));
            rest = after;
            let touch = |end: End| end.at.map(|at| x[end.vertex] - sizes[end.vertex].0 / 2.0 + at);
            let above = touch(line.upper).filter(|_| first == 1 && run[0] == chain[1]);
            let below = touch(line.lower).filter(|_| rest.is_empty() && run[run.len() - 1] != line.lower.vertex);
            let middle = || x[run[run.len() / 2]];
            let at = above.or(below).unwrap_or_else(middle);
            if count > 0 {
                let at = at.max(least).min(most);
                for vertex in run {
                    x[*vertex] = at;
                }
            }
        }
    }
}
