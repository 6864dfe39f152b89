//! A player's or team's view of a match: the first player at the ball, possible passes, free space.

use super::ball::Ball;
use super::body::Body;
use super::game::Match;
use super::pitch::{GOAL_WIDTH, Point, Shirt, Side, WIDTH};

/// The speed at which the ball should arrive, in meters per second.
pub(crate) const PASS_ARRIVES_AT: f64 = 5.0;
pub(crate) const SHOT: f64 = 16.0;
/// The longest pass, in meters.
const LONGEST_PASS: f64 = 20.0;
/// The largest distance of a shot, in meters.
const LONGEST_SHOT: f64 = 15.0;
/// The time that an opponent needs to see where the ball goes, in seconds.
const REACTION: f64 = 0.3;
/// How far ahead a player predicts the ball, in steps of a tenth of a second.
const LOOK_AHEAD: u32 = 40;

impl Match {
    /// Returns the number of seconds in which a player meets the ball, and the place.
    pub(crate) fn interception(&self, shirt: Shirt) -> (f64, Point) {
        let body = self.body(shirt);
        let steps = (0..LOOK_AHEAD).map(|step| f64::from(step) / 10.0);
        let mut meetings = steps.map(|seconds| (seconds, self.ball.place_in(seconds)));
        meetings.find(|(seconds, place)| body.seconds_to(*place) <= *seconds).unwrap_or_else(|| {
            let rest = self.ball.place_in(f64::from(LOOK_AHEAD) / 10.0);
            (body.seconds_to(rest), rest)
        })
    }

    /// Returns whether the ball gets from one place to another before an opponent of `side` can reach it.
    pub(crate) fn is_way_free(&self, side: Side, from: Point, to: Point, speed: f64) -> bool {
        let distance = from.distance(to);
        side.other().players().all(|opponent| {
            let body = self.body(opponent);
            (1..=8).all(|eighth| {
                let way = distance * f64::from(eighth) / 8.0;
                let ball = Ball::seconds_for(way, speed);
                ball.is_some_and(|seconds| seconds < REACTION + body.seconds_to(from.toward(to, way)))
            })
        })
    }

    /// Returns whether a pass from the ball to a place would arrive.
    pub(crate) fn can_pass_to(&self, side: Side, place: Point) -> bool {
        let distance = self.ball.place.distance(place);
        let speed = Ball::speed_for(distance, PASS_ARRIVES_AT);
        (3.0..LONGEST_PASS).contains(&distance) && self.is_way_free(side, self.ball.place, place, speed)
    }

    /// Returns the pass that brings the ball the farthest forward: the receiver, and the place.
    pub(crate) fn best_pass(&self, from: Shirt) -> Option<(Shirt, Point)> {
        let side = from.side;
        let mates = side.field_players().filter(|mate| *mate != from);
        let passes = mates.flat_map(|mate| {
            let place = self.body(mate).place;
            let ahead = (place + (side.other().goal() - place).with_length(3.0)).on_pitch();
            [(mate, place), (mate, ahead)]
        });
        let safe = passes.filter(|(_, place)| self.can_pass_to(side, *place));
        safe.max_by(|(_, one), (_, other)| side.depth(*one).total_cmp(&side.depth(*other)))
    }

    /// Returns the point in the other goal at which a shot from a place would pass all opponents.
    pub(crate) fn best_shot(&self, side: Side, from: Point) -> Option<Point> {
        let goal = side.other().goal();
        if from.distance(goal) > LONGEST_SHOT {
            return None;
        }
        let posts = [-0.42, 0.42, -0.3, 0.3, -0.15, 0.15, 0.0];
        let targets = posts.map(|part| Point::new(goal.x, goal.y + part * GOAL_WIDTH));
        targets.into_iter().find(|target| self.is_way_free(side, from, *target, SHOT))
    }

    /// Returns a corner of the other goal for an uncertain shot: sometimes, for a player under pressure.
    pub(crate) fn desperate_shot(&mut self, shirt: Shirt) -> Option<Point> {
        let goal = shirt.side.other().goal();
        let is_close = self.body(shirt).place.distance(goal) < LONGEST_SHOT - 3.0;
        if !is_close || !self.is_pressed(shirt) || !self.chance(0.15) {
            return None;
        }
        let part = if self.chance(0.5) { 0.4 } else { -0.4 };
        Some(Point::new(goal.x, goal.y + part * GOAL_WIDTH))
    }

    /// Returns the distance from a place to the closest opponent of a side.
    pub(crate) fn room_at(&self, side: Side, place: Point) -> f64 {
        let distances = side.other().players().map(|opponent| self.body(opponent).place.distance(place));
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Returns whether an opponent is close enough to take the ball soon.
    pub(crate) fn is_pressed(&self, shirt: Shirt) -> bool {
        self.room_at(shirt.side, self.body(shirt).place) < 2.5
    }

    /// Returns the place in the other half at which a player would be most useful.
    pub(crate) fn support_spot(&self, side: Side) -> Point {
        let columns = (0..6).map(|column| 21.0 + 3.0 * f64::from(column));
        let spots = columns.flat_map(|depth| (0..5).map(move |row| side.place(depth, 3.0 + 4.5 * f64::from(row))));
        let scored = spots.map(|spot| (self.support_score(side, spot), spot));
        let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or(side.other().goal(), |(_, spot)| spot)
    }

    fn support_score(&self, side: Side, spot: Point) -> f64 {
        let can_arrive = if self.can_pass_to(side, spot) { 2.0 } else { 0.0 };
        let can_score = if self.best_shot(side, spot).is_some() { 1.5 } else { 0.0 };
        let room = self.room_at(side, spot).min(5.0) / 5.0;
        let distance = (self.ball.place.distance(spot) - 9.0).abs() / 9.0;
        can_arrive + can_score + room - distance
    }

    /// Returns the place of a player in the formation: forward with the ball, back without it, and a bit toward the ball.
    pub(crate) fn position_of(&self, shirt: Shirt) -> Point {
        let home = shirt.home();
        let forward = if self.possession == shirt.side { 11.0 } else { -2.0 };
        let aside = (self.ball.place.y - WIDTH / 2.0) * 0.3;
        shirt.side.place(shirt.side.depth(home) + forward, home.y + aside).on_pitch()
    }

    /// Returns the place between an opponent and the side's own goal.
    pub(crate) fn place_to_mark(&self, side: Side, opponent: Shirt) -> Point {
        self.body(opponent).place.toward(side.goal(), 2.0 * Body::REACH)
    }
}
