//! What all players have, keepers and field players: where they are, and where they run.

use super::pitch::{Point, Shirt};

/// A part of each player that lies in the game, so that all others can see it, whoever is acting.
pub(crate) struct Body {
    pub(crate) place: Point,
    /// In meters per second.
    pub(crate) velocity: Point,
    /// Where the player runs.
    pub(crate) target: Point,
    /// How fast, in meters per second.
    pub(crate) pace: f64,
}

impl Body {
    /// How far a player reaches for the ball, in meters.
    pub(crate) const REACH: f64 = 0.8;
    pub(crate) const RUN: f64 = 6.0;
    pub(crate) const WALK: f64 = 3.0;
    /// With the ball at the feet.
    pub(crate) const DRIBBLE: f64 = 5.0;
    /// How much faster a player is after a second of running, in meters per second.
    const PUSH: f64 = 14.0;
    /// How close two players can stand.
    const WIDTH: f64 = 1.0;

    pub(crate) fn at_home(shirt: Shirt) -> Self {
        let place = shirt.home();
        Self { place, velocity: Point::default(), target: place, pace: Self::RUN }
    }

    pub(crate) fn run(&mut self, target: Point, pace: f64) {
        self.target = target;
        self.pace = pace;
    }

    /// Moves toward the target for some time, and nowhere off the pitch.
    pub(crate) fn step(&mut self, seconds: f64) {
        let way = self.target - self.place;
        // Slower when it is close, so that it does not run past.
        let wanted = way.with_length(self.pace.min(way.length() * 4.0));
        let change = wanted - self.velocity;
        self.velocity = self.velocity + change.with_length(change.length().min(Self::PUSH * seconds));
        self.place = (self.place + self.velocity * seconds).on_pitch();
    }

    /// Makes room for somebody who stands too close.
    pub(crate) fn make_room(&mut self, other: Point) {
        let way = self.place - other;
        if way.length() < Self::WIDTH {
            self.place = (self.place + way.with_length((Self::WIDTH - way.length()) / 2.0)).on_pitch();
        }
    }

    /// Returns how long the player needs to reach something, in seconds.
    pub(crate) fn seconds_to(&self, place: Point) -> f64 {
        (self.place.distance(place) - Self::REACH).max(0.0) / Self::RUN
    }
}
