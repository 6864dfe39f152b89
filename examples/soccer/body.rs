//! The body of a player (keeper or field player): its place and movement.

use super::pitch::{Point, Shirt};

/// The data of each player that is stored in the match, so that all others can see it, even while the player is acting.
pub(crate) struct Body {
    pub(crate) place: Point,
    /// The velocity in meters per second.
    pub(crate) velocity: Point,
    /// The place to which the player runs.
    pub(crate) target: Point,
    /// The speed of running, in meters per second.
    pub(crate) pace: f64,
}

impl Body {
    /// The distance at which a player reaches the ball, in meters.
    pub(crate) const REACH: f64 = 0.8;
    pub(crate) const RUN: f64 = 6.0;
    pub(crate) const WALK: f64 = 3.0;
    /// The speed with the ball at the feet.
    pub(crate) const DRIBBLE: f64 = 5.0;
    /// The acceleration of a player, in meters per second per second.
    const PUSH: f64 = 14.0;
    /// The smallest distance between two players.
    const WIDTH: f64 = 1.0;

    pub(crate) fn at_home(shirt: Shirt) -> Self {
        let place = shirt.home();
        Self { place, velocity: Point::default(), target: place, pace: Self::RUN }
    }

    pub(crate) fn run(&mut self, target: Point, pace: f64) {
        self.target = target;
        self.pace = pace;
    }

    /// Moves toward the target for some time, without leaving the pitch.
    pub(crate) fn step(&mut self, seconds: f64) {
        let way = self.target - self.place;
        // The player slows down near the target, to avoid running past it.
        let wanted = way.with_length(self.pace.min(way.length() * 4.0));
        let change = wanted - self.velocity;
        self.velocity = self.velocity + change.with_length(change.length().min(Self::PUSH * seconds));
        self.place = (self.place + self.velocity * seconds).on_pitch();
    }

    /// Moves away from a player who is too close.
    pub(crate) fn make_room(&mut self, other: Point) {
        let way = self.place - other;
        if way.length() < Self::WIDTH {
            self.place = (self.place + way.with_length((Self::WIDTH - way.length()) / 2.0)).on_pitch();
        }
    }

    /// Returns the time that the player needs to reach a place, in seconds.
    pub(crate) fn seconds_to(&self, place: Point) -> f64 {
        (self.place.distance(place) - Self::REACH).max(0.0) / Self::RUN
    }
}
