//! A layout for diagrams with too many states for layers: the vertices are in rows, the nearest to the first one first.
//!
//! Vertices do not overlap, but lines may cross them; in return, the time for the layout is linear in the number of vertices.

use std::collections::VecDeque;

use crate::picture::Point;

/// The distance between vertices.
const GAP: f64 = 40.0;

/// Returns the center of each vertex. The walk along the edges begins at the first vertex.
pub(crate) fn places(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Vec<Point> {
    let area: f64 = sizes.iter().map(|(width, height)| (width + GAP) * (height + GAP)).sum();
    // Somewhat wider than high.
    let most = (area * 1.6).sqrt();
    let mut places = vec![(0.0, 0.0); sizes.len()];
    let (mut x, mut y, mut highest) = (0.0, 0.0, 0.0_f64);
    for at in order(sizes.len(), edges) {
        let (width, height) = sizes[at];
        if x > 0.0 && x + width > most {
            (x, y, highest) = (0.0, y + highest + GAP, 0.0);
        }
        places[at] = (x + width / 2.0, y + height / 2.0);
        (x, highest) = (x + width + GAP, highest.max(height));
    }
    places
}

/// Returns the vertices in the order of a walk from the first one; then the vertices that it does not reach.
fn order(vertices: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut beside = vec![Vec::new(); vertices];
    for &(from, to) in edges {
        beside[from].push(to);
        beside[to].push(from);
    }
    let mut is_seen = vec![false; vertices];
    let mut order = Vec::with_capacity(vertices);
    for start in 0..vertices {
        let mut waiting = VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            if !std::mem::replace(&mut is_seen[at], true) {
                order.push(at);
                waiting.extend(beside[at].iter().filter(|to| !is_seen[**to]));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn vertices_stand_in_rows_in_the_order_of_a_walk() {
        let sizes = [(60.0, 20.0), (60.0, 20.0), (60.0, 20.0), (40.0, 10.0)];
        let walked = [(30.0, 10.0), (130.0, 70.0), (30.0, 70.0), (120.0, 5.0)];
        assert_eq!(places(&sizes, &[(0, 3), (3, 2), (1, 2)]), walked);
    }
}
