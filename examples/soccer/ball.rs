//! The ball: simple physics, without a machine.

use super::pitch::{CENTER, GOAL_WIDTH, LENGTH, Point, Shirt, Side, WIDTH};

pub(crate) struct Ball {
    pub(crate) place: Point,
    /// The velocity in meters per second.
    pub(crate) velocity: Point,
    /// The keeper who has the ball in his hands.
    pub(crate) held_by: Option<Shirt>,
}

impl Ball {
    /// How much it slows down, in meters per second per second.
    const BRAKE: f64 = 2.5;
    /// The share of its speed that it keeps when it bounces off the boards.
    const BOUNCE: f64 = 0.6;

    pub(crate) const fn at_center() -> Self {
        Self { place: CENTER, velocity: Point::new(0.0, 0.0), held_by: None }
    }

    /// Kicks the ball, with a speed in meters per second.
    pub(crate) fn kick(&mut self, to: Point, speed: f64) {
        self.velocity = (to - self.place).with_length(speed);
    }

    /// Moves the ball for some time. Returns the side whose goal it is in, if any.
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

    /// Lets the ball bounce off the boards around the pitch.
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

    /// Returns the ball's future place, if no player touches it and no board is in the way.
    pub(crate) fn place_in(&self, seconds: f64) -> Point {
        let speed = self.velocity.length();
        let rolls = seconds.min(speed / Self::BRAKE);
        let way = speed * rolls - Self::BRAKE * rolls * rolls / 2.0;
        (self.place + self.velocity.with_length(way)).on_pitch()
    }

    /// Returns the point at which the ball will cross a side's goal line within the given time, if this is between the posts.
    pub(crate) fn shot_at(&self, side: Side, seconds: f64) -> Option<Point> {
        let to_the_line = side.goal().x - self.place.x;
        let time = to_the_line / self.velocity.x;
        let way = self.velocity.length() * time;
        let is_coming = time > 0.0 && Self::seconds_for(way, self.velocity.length()).is_some_and(|time| time < seconds);
        let y = self.place.y + self.velocity.y * time;
        (is_coming && is_in_mouth(y)).then(|| Point::new(side.goal().x, y))
    }

    /// Returns the time that a ball of this speed needs for a distance. Returns `None` if it does not get that far.
    pub(crate) fn seconds_for(distance: f64, speed: f64) -> Option<f64> {
        let left = speed * speed - 2.0 * Self::BRAKE * distance;
        (left >= 0.0).then(|| (speed - left.sqrt()) / Self::BRAKE)
    }

    /// Returns the initial speed of a ball that must have the speed `arrival` after a distance.
    pub(crate) fn speed_for(distance: f64, arrival: f64) -> f64 {
        (arrival * arrival + 2.0 * Self::BRAKE * distance).sqrt()
    }
}

/// Returns whether a point on the goal line is between the posts.
fn is_in_mouth(y: f64) -> bool {
    (y - WIDTH / 2.0).abs() < GOAL_WIDTH / 2.0
}
