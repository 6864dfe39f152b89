//! The places at which arrows touch the edge of a box: side by side.

/// The distance between arrows on the same edge, if there is room.
const GAP: f64 = 14.0;

/// The distance from the corners of a box.
pub(crate) const CORNER: f64 = 10.0;

/// Returns the width of a box that has room for this number of arrows on one edge.
pub(crate) fn room(arrows: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a state has few arrows")]
    let gaps = arrows.saturating_sub(1) as f64;
    2.0 * CORNER + gaps * GAP
}

/// Moves points apart that are too near to each other. They stay in order and between `left` and `right`.
pub(crate) fn spread(wanted: &[f64], left: f64, right: f64) -> Vec<f64> {
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
