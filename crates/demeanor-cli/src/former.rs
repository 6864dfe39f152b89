//! The order of vertices in a former picture. A diagram that has been edited looks as before if what was on the left stays there.

use crate::vertices::{Band, Vertex};

/// How often the vertices without a former place are moved between those to which their lines lead.
const SWEEPS: usize = 12;

/// Sorts the vertices of each layer as in the former picture, unless they are in this order already.
pub(crate) fn keep_order(vertices: &[Vertex], chains: &[Vec<usize>], bands: &mut [Vec<Band>], all: usize) {
    let former = |vertex: usize| vertices.get(vertex).and_then(|vertex| vertex.former);
    let is_kept = |band: &Band| band.vertices.iter().filter_map(|vertex| former(*vertex)).is_sorted();
    if bands.iter().flatten().all(is_kept) {
        return;
    }
    let mut beside = vec![Vec::new(); all];
    // Lines with the same ends stay side by side in the order of their numbers.
    let mut number = vec![0; all];
    for (line, chain) in chains.iter().enumerate() {
        for pair in chain.windows(2) {
            beside[pair[0]].push(pair[1]);
            beside[pair[1]].push(pair[0]);
        }
        for vertex in chain {
            number[*vertex] = line;
        }
    }
    let mut places: Vec<_> = (0..all).map(former).collect();
    for _ in 0..SWEEPS {
        for vertex in (0..all).chain((0..all).rev()).filter(|vertex| former(*vertex).is_none()) {
            let near: Vec<_> = beside[vertex].iter().filter_map(|other| places[*other]).collect();
            #[expect(clippy::cast_precision_loss, reason = "a state has few arrows")]
            let count = near.len() as f64;
            places[vertex] = (count > 0.0).then(|| near.iter().sum::<f64>() / count);
        }
    }
    for band in bands.iter_mut().flatten() {
        // Nearly the same places are the same.
        let place = |vertex: usize| places[vertex].map_or(f64::MAX, f64::round);
        band.vertices.sort_by(|a, b| place(*a).total_cmp(&place(*b)).then(number[*a].cmp(&number[*b])));
    }
}
