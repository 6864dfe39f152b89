//! The points at which arrows touch boxes: side by side, in the order of the states at their other ends.

use std::collections::BTreeMap;

use crate::picture::{Arrow, Picture, Point, Rect};

/// The distance between arrows on the same edge, if there is room.
const GAP: f64 = 14.0;

/// The distance from the corners of a box.
const CORNER: f64 = 10.0;

/// The arrow ends on one edge of a box: the preferred point, the order from left to right, and the end.
type Touches = Vec<(Point, f64, End)>;

/// One end of an arrow.
#[derive(Clone, Copy)]
enum End {
    Begin(usize),
    To(usize),
    Dot(usize),
}

/// Sets the beginning and the end of each arrow.
pub(crate) fn set(picture: &mut Picture<'_>) {
    let mut edges: BTreeMap<(usize, bool), Touches> = BTreeMap::new();
    let mut add = |state: usize, rect: Rect, towards: Point, end: End| {
        let at = border(rect, towards);
        let is_below = at.1 > rect.y;
        // Only ends on the upper and the lower edge are in a row.
        if (at.1 - rect.y).abs() > rect.height / 2.0 - 0.1 {
            edges.entry((state, is_below)).or_default().push((at, towards.0, end));
        }
        at
    };
    for (i, dot) in picture.dots.iter_mut().enumerate() {
        dot.end = add(dot.to, picture.states[dot.to], (dot.at.x, dot.at.y), End::Dot(i));
    }
    for (i, arrow) in picture.arrows.iter_mut().enumerate() {
        let (begin, end) = (picture.states[arrow.from], picture.states[arrow.to]);
        let [into, out] = facing(arrow, begin, end);
        arrow.begin = add(arrow.from, begin, into, End::Begin(i));
        arrow.end = add(arrow.to, end, out, End::To(i));
    }
    for ((state, _), mut ends) in edges {
        ends.sort_by(|a, b| a.1.total_cmp(&b.1));
        let rect = picture.state(state);
        let wanted: Vec<f64> = ends.iter().map(|(at, ..)| at.0).collect();
        let spread = spread(&wanted, rect.x - rect.width / 2.0 + CORNER, rect.x + rect.width / 2.0 - CORNER);
        for ((_, _, end), x) in ends.iter().zip(spread) {
            match *end {
                End::Begin(i) => picture.arrows[i].begin.0 = x,
                End::To(i) => picture.arrows[i].end.0 = x,
                End::Dot(i) => picture.dots[i].end.0 = x,
            }
        }
    }
}

/// Returns the points at which an arrow enters its label and leaves it: on the edges that face the two states; for an arrow
/// from a state to itself, on both sides of the one edge.
pub(crate) fn facing(arrow: &Arrow<'_>, begin: Rect, end: Rect) -> [Point; 2] {
    // Without a label the two halves meet.
    let half = if arrow.lines.is_empty() { 0.0 } else { arrow.label.height / 2.0 };
    let Rect { x, y, width, .. } = arrow.label;
    let apart = if arrow.from == arrow.to { width / 2.0 - 4.0 } else { 0.0 };
    [(x - apart, begin), (x + apart, end)].map(|(x, state)| (x, if state.y <= y { y - half } else { y + half }))
}

/// Moves points apart that are too near to each other. They stay in order and between `left` and `right`.
fn spread(wanted: &[f64], left: f64, right: f64) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a state has few arrows")]
    let count = |ends: usize| ends as f64;
    let gaps = wanted.len().saturating_sub(1);
    let gap = GAP.min((right - left).max(0.0) / count(gaps.max(1)));
    // One copy is moved to the right as far as necessary, and one to the left; the average of both keeps the distance, and is
    // symmetric.
    let mut rightward = wanted.to_vec();
    let mut least = left;
    for (i, x) in rightward.iter_mut().enumerate() {
        *x = x.max(least).min(right - gap * count(gaps - i));
        least = *x + gap;
    }
    let mut leftward = wanted.to_vec();
    let mut most = right;
    for (i, x) in leftward.iter_mut().enumerate().rev() {
        *x = x.min(most).max(left + gap * count(i));
        most = *x - gap;
    }
    rightward.iter().zip(leftward).map(|(a, b)| f64::midpoint(*a, b)).collect()
}

/// Returns the point at which the line from the center of a box toward a point leaves the box; on the upper or lower edge if
/// possible.
fn border(rect: Rect, towards: Point) -> Point {
    let (left, right) = (rect.x - rect.width / 2.0 + CORNER, rect.x + rect.width / 2.0 - CORNER);
    let (top, bottom) = (rect.y - rect.height / 2.0, rect.y + rect.height / 2.0);
    if towards.1 > top && towards.1 < bottom {
        let is_left = towards.0 < rect.x;
        return (if is_left { left - CORNER } else { right + CORNER }, towards.1);
    }
    let share = (rect.height / 2.0) / (towards.1 - rect.y).abs().max(1.0);
    let x = rect.x + (towards.0 - rect.x) * share.clamp(0.25, 1.0);
    (x.clamp(left.min(right), right.max(left)), if towards.1 > rect.y { bottom } else { top })
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn arrows_touch_a_box_side_by_side() {
        assert_eq!(spread(&[], 0.0, 100.0), Vec::<f64>::new());
        assert_eq!(spread(&[50.0], 0.0, 100.0), [50.0]);
        assert_eq!(spread(&[20.0, 80.0], 0.0, 100.0), [20.0, 80.0]);
        assert_eq!(spread(&[50.0, 50.0, 50.0], 0.0, 100.0), [36.0, 50.0, 64.0]);
        assert_eq!(spread(&[100.0, 100.0, 100.0], 0.0, 100.0), [72.0, 86.0, 100.0]);
        assert_eq!(spread(&[5.0; 5], 0.0, 8.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
    }
}
