//! The ball: plain physics, no machine.

use super::pitch::{CENTER, GOAL_WIDTH, LENGTH, Point, Shirt, Side, WIDTH};

pub(crate) struct Ball {
    pub(crate) place: Point,
    /// In meters per second.
    pub(crate) velocity: Point,
    /// The keeper who has it in his hands.
    pub(crate) held_by: Option<Shirt>,
}

impl Ball {
    /// How much slower it rolls after a second, in meters per second.
    const BRAKE: f64 = 2.5;
    /// How much of its speed is left when it comes back from the boards.
    const BOUNCE: f64 = 0.6;

    pub(crate) const fn at_center() -> Self {
        Self { place: CENTER, velocity: Point::new(0.0, 0.0), held_by: None }
    }

    /// Kicks it, with a speed in meters per second.
    pub(crate) fn kick(&mut self, to: Point, speed: f64) {
        self.velocity = (to - self.place).with_length(speed);
    }

    /// Lets it roll for some time. Returns in whose goal it is, if it is in one.
    pub(crate) fn roll(&mut self, seconds: f64) -> Option<Side> {
        let before = self.place;
        let speed = self.velocity.length();
        self.place = before + self.velocity * seconds;
        self.velocity = self.velocity.with_length((speed - Self::BRAKE * seconds).max(0.0));
        let goal = self.goal_that_is_entered(before);
        self.bounce();
        goal
    }

    fn goal_that_is_entered(&self, before: Point) -> Option<Side> {
        let (line, side) = match self.place.x {
            x if x < 0.0 => (0.0, Side::Orange),
            x if x > LENGTH => (LENGTH, Side::Blue),
            _ => return None,
        };
        let part = (line - before.x) / (self.place.x - before.x);
        let y = before.y + part * (self.place.y - before.y);
        is_in_mouth(y).then_some(side)
    }

    /// Sends it back from the boards around the pitch.
    fn bounce(&mut self) {
        let inside = self.place.on_pitch();
        if inside.x.to_bits() != self.place.x.to_bits() {
            self.velocity = Point::new(-self.velocity.x, self.velocity.y) * Self::BOUNCE;
        }
        if inside.y.to_bits() != self.place.y.to_bits() {
            self.velocity = Point::new(self.velocity.x, -self.velocity.y) * Self::BOUNCE;
        }
        self.place = inside;
    }

    /// Returns where it will be, if nobody touches it and no board is in the way.
    pub(crate) fn place_in(&self, seconds: f64) -> Point {
        let speed = self.velocity.length();
        let rolls = seconds.min(speed / Self::BRAKE);
        let way = speed * rolls - Self::BRAKE * rolls * rolls / 2.0;
        (self.place + self.velocity.with_length(way)).on_pitch()
    }

    /// Returns where it will cross the goal line of a side within the given time, if it will be between the posts.
    pub(crate) fn shot_at(&self, side: Side, seconds: f64) -> Option<Point> {
        let to_the_line = side.goal().x - self.place.x;
        let time = to_the_line / self.velocity.x;
        let way = self.velocity.length() * time;
        let is_coming = time > 0.0 && Self::seconds_for(way, self.velocity.length()).is_some_and(|time| time < seconds);
        let y = self.place.y + self.velocity.y * time;
        (is_coming && is_in_mouth(y)).then(|| Point::new(side.goal().x, y))
    }

    /// Returns how long a ball of that speed needs for a distance. `None` if it does not get so far.
    pub(crate) fn seconds_for(distance: f64, speed: f64) -> Option<f64> {
        let left = speed * speed - 2.0 * Self::BRAKE * distance;
        (left >= 0.0).then(|| (speed - left.sqrt()) / Self::BRAKE)
    }

    /// Returns how fast a ball has to be kicked, to arrive over a distance at a speed.
    pub(crate) fn speed_for(distance: f64, arrival: f64) -> f64 {
        (arrival * arrival + 2.0 * Self::BRAKE * distance).sqrt()
    }
}

/// Returns whether something at the goal line is between the posts.
fn is_in_mouth(y: f64) -> bool {
    (y - WIDTH / 2.0).abs() < GOAL_WIDTH / 2.0
}
