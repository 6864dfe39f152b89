//! A layout for diagrams with too many states for layers: the states are in rows, the nearest to the initial one first.
//!
//! The labels of a state's exits are in a column below it. Boxes and labels do not overlap, but arrows may cross boxes; in
//! return, the time for the layout is linear in the number of states.

use std::collections::VecDeque;

/// The distance between blocks, and between a label and the box above it.
const GAP: f64 = 40.0;
const STEP: f64 = 8.0;

/// The largest numbers of edges between layers (including edges that pass through a layer) and of vertices for a layout in
/// layers.
const MOST_EDGES: usize = 30_000;
const MOST_VERTICES: usize = 4_000;

/// The largest number of layers, because the functions that lay them out are recursive.
const MOST_LAYERS: usize = 1_000;

/// Returns whether a layout in layers would take too long. The cost grows with the number of layers that edges pass through.
/// The edges must not contain a cycle.
pub(crate) fn is_too_large(vertices: usize, edges: &[(u32, u32)]) -> bool {
    if vertices > MOST_VERTICES {
        return true;
    }
    let index = |id: u32| id as usize;
    let mut waiting = vec![0_usize; vertices];
    let mut next = vec![Vec::new(); vertices];
    for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
        waiting[index(to)] += 1;
        next[index(from)].push(index(to));
    }
    let mut layer = vec![0_usize; vertices];
    let mut free: Vec<usize> = (0..vertices).filter(|i| waiting[*i] == 0).collect();
    while let Some(at) = free.pop() {
        for &to in &next[at] {
            layer[to] = layer[to].max(layer[at] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                free.push(to);
            }
        }
    }
    let length = |(from, to): &(u32, u32)| layer[index(*to)].abs_diff(layer[index(*from)]);
    layer.iter().any(|layer| *layer > MOST_LAYERS) || edges.iter().map(length).sum::<usize>() > MOST_EDGES
}

/// A block of vertices: a state, or the dot for the beginning, with the labels of its exits.
pub(crate) struct Block {
    pub(crate) vertex: usize,
    pub(crate) labels: Vec<usize>,
    /// The blocks to which its exits lead.
    pub(crate) leads_to: Vec<usize>,
}

/// Returns the center of each vertex. The walk begins at the first block.
pub(crate) fn places(blocks: &[Block], sizes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let order = order(blocks);
    let size_of = |block: &Block| {
        let vertices = block.labels.iter().chain([&block.vertex]).map(|vertex| sizes[*vertex]);
        vertices.fold((0.0_f64, 0.0), |(width, height), (w, h)| (width.max(w), height + h + STEP))
    };
    let area: f64 = blocks.iter().map(size_of).map(|(width, height)| (width + GAP) * (height + GAP)).sum();
    // Somewhat wider than high.
    let most = (area * 1.6).sqrt();
    let mut places = vec![(0.0, 0.0); sizes.len()];
    let (mut x, mut y, mut highest) = (0.0, 0.0, 0.0_f64);
    for at in order {
        let block = &blocks[at];
        let (width, height) = size_of(block);
        if x > 0.0 && x + width > most {
            (x, y, highest) = (0.0, y + highest + GAP, 0.0);
        }
        let mut top = y;
        for vertex in [&block.vertex].into_iter().chain(&block.labels) {
            let (_, height) = sizes[*vertex];
            places[*vertex] = (x + width / 2.0, top + height / 2.0);
            top += height + STEP;
        }
        (x, highest) = (x + width + GAP, highest.max(height));
    }
    places
}

/// Returns the blocks in the order of a walk from the first one; then the blocks that it does not reach.
fn order(blocks: &[Block]) -> Vec<usize> {
    let mut is_seen = vec![false; blocks.len()];
    let mut order = Vec::with_capacity(blocks.len());
    for start in 0..blocks.len() {
        let mut waiting = VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            if !std::mem::replace(&mut is_seen[at], true) {
                order.push(at);
                waiting.extend(blocks[at].leads_to.iter().filter(|to| !is_seen[**to]));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{Block, MOST_VERTICES, is_too_large, places};

    #[test]
    fn a_graph_is_too_large_when_its_edges_lead_through_many_layers() {
        let chain: Vec<_> = (0..1000).map(|i| (i, i + 1)).collect();
        assert!(!is_too_large(1001, &chain));
        assert!(is_too_large(1002, &[&chain[..], &[(1000, 1001)]].concat()));
        assert!(is_too_large(MOST_VERTICES + 1, &[]));
        let jumps: Vec<_> = chain.iter().copied().chain((0..40).map(|i| (i, 900))).collect();
        assert!(is_too_large(1001, &jumps));
    }

    #[test]
    fn blocks_stand_in_rows_in_the_order_of_a_walk() {
        let block = |vertex, labels: &[usize], leads_to: &[usize]| Block {
            vertex,
            labels: labels.into(),
            leads_to: leads_to.into(),
        };
        let blocks = [block(0, &[3], &[2]), block(1, &[], &[]), block(2, &[], &[1])];
        let sizes = [(60.0, 20.0), (60.0, 20.0), (60.0, 20.0), (40.0, 10.0)];
        assert_eq!(places(&blocks, &sizes), [(30.0, 10.0), (30.0, 96.0), (130.0, 10.0), (30.0, 33.0)]);
    }
}
