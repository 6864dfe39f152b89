//! The halls of the abbey: a square of rooms, with a door in the middle of each wall between two rooms.
//!
//! The code uses no functions such as sines, which differ between systems, so that a run is the same everywhere.

/// A place in steps from the corner of the first hall.
pub(crate) type Point = [f64; 2];

/// The width and length of a hall, in steps.
pub(crate) const WIDTH: f64 = 24.0;
/// The width of a door.
const DOOR: f64 = 6.0;
/// The smallest distance to a wall.
const MARGIN: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Halls {
    /// The number of halls in a row, and the number of rows.
    side: usize,
}

pub(crate) fn distance(a: Point, b: Point) -> f64 {
    let (x, y) = (a[0] - b[0], a[1] - b[1]);
    (x * x + y * y).sqrt()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "there are few halls, and nobody is outside of them"
)]
impl Halls {
    /// Creates enough halls for this number of creatures.
    pub(crate) fn for_creatures(creatures: usize) -> Self {
        const IN_A_HALL: usize = 12;

        let mut side = 1;
        while side * side * IN_A_HALL < creatures {
            side += 1;
        }
        Self { side }
    }

    pub(crate) fn count(self) -> usize {
        self.side * self.side
    }

    /// Returns the number of the hall at a place.
    pub(crate) fn hall_at(self, at: Point) -> usize {
        let [column, row] = self.cell(at);
        row * self.side + column
    }

    /// Returns the halls around a hall, with the hall itself.
    pub(crate) fn around(self, hall: usize) -> impl Iterator<Item = usize> {
        let (column, row, side) = (hall % self.side, hall / self.side, self.side);
        let columns = move || column.saturating_sub(1)..(column + 2).min(side);
        let rows = row.saturating_sub(1)..(row + 2).min(side);
        rows.flat_map(move |row| columns().map(move |column| row * side + column))
    }

    /// Returns a place in a hall: `x` and `y` go from 0 at one wall to 1 at the other.
    pub(crate) fn place_in(self, hall: usize, x: f64, y: f64) -> Point {
        let corner = [(hall % self.side) as f64 * WIDTH, (hall / self.side) as f64 * WIDTH];
        let room = WIDTH - 2.0 * MARGIN;
        [corner[0] + MARGIN + x * room, corner[1] + MARGIN + y * room]
    }

    /// Walks from a place toward another one, at most `steps` steps, through doors. Returns the new place, and whether a wall
    /// was in the way.
    pub(crate) fn walk(self, from: Point, to: Point, steps: f64) -> (Point, bool) {
        let way = self.way(from, to);
        let far = distance(from, way);
        if far <= f64::EPSILON {
            return (from, false);
        }
        let part = (steps / far).min(1.0);
        let aim = [from[0] + (way[0] - from[0]) * part, from[1] + (way[1] - from[1]) * part];
        let at = self.stop_at_walls(from, aim);
        (at, distance(at, aim) > 0.0)
    }

    /// Returns the first goal on the way to a place: the place itself, if it is in the same hall, or else a door.
    fn way(self, from: Point, to: Point) -> Point {
        let (here, there) = (self.cell(from), self.cell(to));
        let Some(axis) = (0..2).find(|axis| here[*axis] != there[*axis]) else { return to };
        let is_forward = there[axis] > here[axis];
        let wall = (here[axis] + usize::from(is_forward)) as f64 * WIDTH;
        let middle = (here[1 - axis] as f64 + 0.5) * WIDTH;
        let is_at_door = (from[1 - axis] - middle).abs() < DOOR / 2.0 - MARGIN;
        let mut way = [middle; 2];
        // First to the place before the door, then through it.
        let is_behind = is_at_door == is_forward;
        way[axis] = if is_behind { wall + 2.0 * MARGIN } else { wall - 2.0 * MARGIN };
        way
    }

    /// Returns the end of a straight walk to a close place, which ends at a wall.
    fn stop_at_walls(self, from: Point, mut to: Point) -> Point {
        let here = self.cell(from);
        for axis in 0..2 {
            let low = here[axis] as f64 * WIDTH;
            let middle = (here[1 - axis] as f64 + 0.5) * WIDTH;
            let is_at_door = (from[1 - axis] - middle).abs() < DOOR / 2.0;
            let (is_first, is_last) = (here[axis] == 0, here[axis] + 1 == self.side);
            if is_first || !is_at_door {
                to[axis] = to[axis].max(low + MARGIN);
            }
            if is_last || !is_at_door {
                to[axis] = to[axis].min(low + WIDTH - MARGIN);
            }
        }
        to
    }

    /// Returns the column and the row of the hall at a place.
    fn cell(self, at: Point) -> [usize; 2] {
        at.map(|along| ((along / WIDTH) as usize).min(self.side - 1))
    }
}
