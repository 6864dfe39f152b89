//! The pitch: its places, its two sides, and their players. Lengths are in meters.

use std::fmt;
use std::ops::{Add, Mul, Sub};

/// The distance between the goals.
pub(crate) const LENGTH: f64 = 40.0;
pub(crate) const WIDTH: f64 = 24.0;
pub(crate) const GOAL_WIDTH: f64 = 5.0;
pub(crate) const CENTER: Point = Point { x: LENGTH / 2.0, y: WIDTH / 2.0 };

/// A place on the pitch, or a vector from one place to another. `x` goes from the goal of Orange to the goal of Blue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// `hypot` is not used, because its last digit differs between systems: a seed must give the same match on each of them.
    pub(crate) fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub(crate) fn distance(self, other: Self) -> f64 {
        (other - self).length()
    }

    /// Returns the vector of the given length with the same direction; a zero vector stays zero.
    pub(crate) fn with_length(self, length: f64) -> Self {
        let own = self.length();
        if own > 0.0 { self * (length / own) } else { self }
    }

    /// Returns the place that is `distance` meters from here on the way to another place, but not beyond it.
    pub(crate) fn toward(self, other: Self, distance: f64) -> Self {
        let way = other - self;
        if way.length() <= distance { other } else { self + way.with_length(distance) }
    }

    /// Returns the closest place on the pitch.
    pub(crate) fn on_pitch(self) -> Self {
        Self { x: self.x.clamp(0.0, LENGTH), y: self.y.clamp(0.0, WIDTH) }
    }
}

impl Add for Point {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }
}

impl Sub for Point {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }
}

impl Mul<f64> for Point {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }
}

/// One of the two teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    #[default]
    Orange,
    Blue,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Orange, Self::Blue];

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Orange => Self::Blue,
            Self::Blue => Self::Orange,
        }
    }

    /// Returns 0 for Orange, and 1 for Blue.
    pub(crate) fn index(self) -> usize {
        usize::from(self == Self::Blue)
    }

    /// Returns the place that is `depth` meters from the side's own goal line, and `y` meters from the side line.
    pub(crate) fn place(self, depth: f64, y: f64) -> Point {
        match self {
            Self::Orange => Point { x: depth, y },
            Self::Blue => Point { x: LENGTH - depth, y },
        }
    }

    /// Returns the distance of a place from the side's own goal line, in meters.
    pub(crate) fn depth(self, place: Point) -> f64 {
        match self {
            Self::Orange => place.x,
            Self::Blue => LENGTH - place.x,
        }
    }

    /// Returns the middle of the side's own goal.
    pub(crate) fn goal(self) -> Point {
        self.place(0.0, WIDTH / 2.0)
    }

    /// Returns the five players, the keeper first.
    pub(crate) fn players(self) -> impl Iterator<Item = Shirt> {
        (1..=5).map(move |number| Shirt { side: self, number })
    }

    /// Returns the four players who are not the keeper.
    pub(crate) fn field_players(self) -> impl Iterator<Item = Shirt> {
        self.players().skip(1)
    }
}

/// A player, by team and number. The keeper has number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shirt {
    pub(crate) side: Side,
    pub(crate) number: u8,
}

impl Default for Shirt {
    fn default() -> Self {
        Self { side: Side::Orange, number: 1 }
    }
}

impl Shirt {
    /// Returns the index of the player among all ten.
    pub(crate) fn index(self) -> usize {
        self.side.index() * 5 + usize::from(self.number) - 1
    }

    pub(crate) fn is_keeper(self) -> bool {
        self.number == 1
    }

    /// Returns the player's place at the kick-off.
    pub(crate) fn home(self) -> Point {
        let (depth, y) = match self.number {
            1 => (1.0, 12.0),
            2 => (8.0, 7.0),
            3 => (8.0, 17.0),
            4 => (16.0, 8.0),
            _ => (16.0, 16.0),
        };
        self.side.place(depth, y)
    }
}

/// For example `Blue 4`.
impl fmt::Display for Shirt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.side, self.number)
    }
}
