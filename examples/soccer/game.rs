//! The match: the members with their telegrams, and their shared data. It is the context of their callbacks.

use std::array;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use demeanor::{CastContext, Members, Telegram};
use oorandom::Rand64;

use super::ball::Ball;
use super::body::Body;
use super::census::Census;
use super::pitch::{Point, Shirt, Side};
use super::{field_player, keeper, team};

/// The length of a tick.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// The length of the tracks in ticks: eight seconds.
const TRACKED: usize = 160;

/// The members, which send and receive telegrams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Team(Side),
    Player(Shirt),
}

impl From<Shirt> for Who {
    fn from(shirt: Shirt) -> Self {
        Self::Player(shirt)
    }
}

/// `Blue` is the team, and `Blue 4` is a player.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Team(side) => write!(f, "{side:?}"),
            Self::Player(shirt) => write!(f, "{shirt}"),
        }
    }
}

/// The names of senders and receivers in the log.
impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The content of telegrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// From the match to both teams: there was a goal.
    Goal,
    /// From the match to both teams: this side has the ball.
    Possession(Side),
    /// From a team to the other team, and from each team to its players: the ball is in play.
    KickOff,
    /// From a team to its players: go to your places for the kick-off.
    GoHome,
    /// From a team to a player: you are closest to the ball.
    WinBall,
    /// From a team to a player: another player is closer.
    LeaveBall,
    /// From a team to a player: go to this place, to be free for a pass.
    Support(Point),
    /// From a team to a player: stay close to this opponent.
    Mark(Shirt),
    /// From a team to a player: go to your position, which is farther forward if the team has the ball.
    KeepPosition,
    /// From a player to the teammate who has the ball.
    PassToMe,
    /// From a player to a teammate: the ball comes to this place.
    ReceiveBall(Point),
    /// From a player who has passed, to the team.
    FindSupport,
    /// From a player to the opponent who had the ball.
    Tackled,
    /// From a player to himself.
    BallAtFeet,
    /// From a keeper to himself, after he has held the ball for a while.
    ThrowOut,
}

pub(crate) type Told = Telegram<Who, News>;

/// Counts of the requests for a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Questions {
    pub(crate) asked: u32,
    /// How often the ball was passed before the call of the requesting player had returned.
    pub(crate) answered: u32,
}

pub(crate) struct Match {
    members: Members<Who, News, Self>,
    pub(crate) ball: Ball,
    bodies: [Body; 10],
    /// The player who has the ball at his feet or in his hands.
    pub(crate) carrier: Option<Shirt>,
    /// The player to whom a pass is on its way.
    pub(crate) receiver: Option<Shirt>,
    /// The side that last had the ball.
    pub(crate) possession: Side,
    /// The side that has the next kick-off.
    pub(crate) kicks_off: Side,
    /// The goals of Orange and of Blue.
    pub(crate) score: [u32; 2],
    pub(crate) ticks: u64,
    pub(crate) questions: Questions,
    pub(crate) census: Census,
    /// The last places of the ten players and, last, of the ball.
    pub(crate) tracks: VecDeque<[Point; 11]>,
    random: Rand64,
}

impl CastContext for Match {
    type Key = Who;
    type Message = News;

    fn members_mut(&mut self) -> &mut Members<Who, News, Self> {
        &mut self.members
    }
}

impl Match {
    /// Creates a match before the kick-off, with all players at home.
    pub(crate) fn new(seed: u64) -> Self {
        let players: Vec<Shirt> = Side::BOTH.into_iter().flat_map(Side::players).collect();
        let mut game = Self {
            members: Members::new(),
            ball: Ball::at_center(),
            bodies: array::from_fn(|index| Body::at_home(players[index])),
            carrier: None,
            receiver: None,
            possession: Side::Orange,
            kicks_off: Side::Orange,
            score: [0; 2],
            ticks: 0,
            questions: Questions::default(),
            census: Census::default(),
            tracks: VecDeque::new(),
            random: Rand64::new(seed.into()),
        };
        let once = "each member joins once";
        for shirt in players {
            if shirt.is_keeper() {
                game.members.add(shirt.into(), keeper::agent(shirt)).expect(once);
            } else {
                game.members.add(shirt.into(), field_player::agent(shirt)).expect(once);
            }
        }
        // The teams come after the players, because a team that starts sends its players home.
        for side in Side::BOTH {
            game.spawn(Who::Team(side), team::agent(side)).expect(once);
        }
        game
    }

    /// Plays one tick: the teams think, then each player thinks and moves before the next player does.
    pub(crate) fn tick(&mut self) {
        self.members.advance(TICK);
        for side in Side::BOTH {
            self.update_one(&Who::Team(side));
        }
        // The teams take turns, so that none is always the first.
        let first = if self.ticks % 2 == 0 { Side::Orange } else { Side::Blue };
        for (one, other) in first.players().zip(first.other().players()) {
            for shirt in [one, other] {
                self.update_one(&shirt.into());
                self.step(shirt);
            }
        }
        self.roll();
        self.deliver_due();
        self.ticks += 1;
        self.track();
    }

    fn step(&mut self, shirt: Shirt) {
        let others: [Point; 10] = array::from_fn(|index| self.bodies[index].place);
        let body = &mut self.bodies[shirt.index()];
        body.step(TICK.as_secs_f64());
        for (index, other) in others.into_iter().enumerate() {
            if index != shirt.index() {
                body.make_room(other);
            }
        }
    }

    fn roll(&mut self) {
        if let Some(keeper) = self.ball.held_by {
            self.ball.place = self.body(keeper).place;
            self.ball.velocity = Point::default();
        } else if let Some(side) = self.ball.roll(TICK.as_secs_f64()) {
            self.score(side.other());
        }
    }

    /// Counts a goal: the ball goes back to the center, and both teams are told.
    fn score(&mut self, side: Side) {
        self.score[side.index()] += 1;
        self.kicks_off = side.other();
        self.ball = Ball::at_center();
        for team in Side::BOTH {
            self.send(Who::Team(side), Who::Team(team), News::Goal);
        }
    }

    fn track(&mut self) {
        if self.tracks.len() == TRACKED {
            self.tracks.pop_front();
        }
        self.tracks.push_back(array::from_fn(|index| match self.bodies.get(index) {
            Some(body) => body.place,
            None => self.ball.place,
        }));
    }

    /// Returns the members, read-only.
    pub(crate) fn members(&self) -> &Members<Who, News, Self> {
        &self.members
    }

    /// Returns the time since the first kick-off, in seconds.
    pub(crate) fn now(&self) -> f64 {
        self.members.now()
    }

    pub(crate) fn body(&self, shirt: Shirt) -> &Body {
        &self.bodies[shirt.index()]
    }

    pub(crate) fn body_mut(&mut self, shirt: Shirt) -> &mut Body {
        &mut self.bodies[shirt.index()]
    }

    /// Returns `true` with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.random.rand_float() < probability
    }

    /// Kicks the ball with an error, which grows with the distance.
    pub(crate) fn kick(&mut self, to: Point, speed: f64) {
        let miss = 0.12 * self.ball.place.distance(to);
        let [x, y] = [(); 2].map(|()| (self.random.rand_float() - 0.5) * miss);
        self.ball.kick(to + Point::new(x, y), speed);
    }

    /// Gives the ball to a player. If the other side had it, both teams are told when the turn is over.
    pub(crate) fn gain_ball(&mut self, shirt: Shirt) {
        self.carrier = Some(shirt);
        if self.possession != shirt.side {
            self.possession = shirt.side;
            for team in Side::BOTH {
                self.post(shirt.into(), Who::Team(team), News::Possession(shirt.side));
            }
        }
    }

    /// Takes the ball from a player, unless another player already has it.
    pub(crate) fn give_up_ball(&mut self, shirt: Shirt) {
        self.carrier = self.carrier.filter(|carrier| *carrier != shirt);
    }

    /// Returns the player of a side who has the ball.
    pub(crate) fn carrier_of(&self, side: Side) -> Option<Shirt> {
        self.carrier.filter(|carrier| carrier.side == side)
    }

    /// Returns whether a player can play the ball: it is close, and no keeper has it in his hands.
    pub(crate) fn reaches_ball(&self, shirt: Shirt) -> bool {
        self.ball.held_by.is_none() && self.body(shirt).place.distance(self.ball.place) < Body::REACH
    }

    /// Returns whether all ten players are in their places for the kick-off.
    pub(crate) fn is_everybody_home(&self) -> bool {
        let mut players = Side::BOTH.into_iter().flat_map(Side::players);
        players.all(|shirt| self.body(shirt).place.distance(shirt.home()) < 0.5)
    }
}
