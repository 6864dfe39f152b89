//! A goalkeeper: another type of owner, with its own states, that gets the same telegrams.

use std::fmt;

use demeanor::{Agent, CastContext, Change, Fsm, Owner, State, StateMachine, Telegram};

use super::ball::Ball;
use super::body::Body;
use super::game::{Match, News, Told, Who};
use super::pitch::{Shirt, Side};
use super::view::PASS_ARRIVES_AT;

pub(crate) const STATES: [&str; 4] = ["GoHome", "TendGoal", "Intercept", "HoldBall"];

/// How far from the goal he runs for a free ball, in meters.
const AREA: f64 = 8.0;
/// How far from the goal he runs for an opponent's ball, in meters.
const CLOSE: f64 = 4.5;
/// How early he sees that a shot will reach the goal, in seconds.
const FORESIGHT: f64 = 1.5;

pub(crate) struct Keeper {
    shirt: Shirt,
    /// The time until which he cannot catch, because a ball has slipped through his hands, in seconds.
    clumsy_until: f64,
}

impl Owner for Keeper {
    type Context<'a> = Match;
    type Message = Told;

    fn now(game: &Match) -> f64 {
        game.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.shirt, f)
    }

    fn on_change(&mut self, change: &Change<'_, Self>, game: &mut Match) {
        game.census.count(self.shirt.into(), change);
    }
}

/// Returns a keeper who is in no state until the team sends him home.
pub(crate) fn agent(shirt: Shirt) -> Agent<Keeper> {
    Agent::new(Keeper { shirt, clumsy_until: 0.0 }, StateMachine::idle().with_global(&Orders))
}

impl Keeper {
    fn side(&self) -> Side {
        self.shirt.side
    }

    /// Returns whether he should run for the ball: it is about to reach the goal, an opponent brings it there, or it is free
    /// and he is the first to reach it.
    fn goes_for_ball(&self, game: &Match) -> bool {
        if game.ball.held_by.is_some() {
            return false;
        }
        if game.ball.shot_at(self.side(), FORESIGHT).is_some() {
            return true;
        }
        let depth = self.side().depth(game.ball.place);
        if depth < CLOSE && game.carrier_of(self.side().other()).is_some() {
            return true;
        }
        let (soon, place) = game.interception(self.shirt);
        let is_his = self.side().depth(place) < AREA && game.carrier.is_none() && game.receiver.is_none();
        let mut others = Side::BOTH.into_iter().flat_map(Side::field_players);
        is_his && others.all(|other| game.interception(other).0 > soon)
    }

    /// Tries to catch the ball. The faster it is, the more often he fails.
    fn catches(&mut self, game: &mut Match) -> bool {
        if !game.reaches_ball(self.shirt) || game.now() < self.clumsy_until {
            return false;
        }
        let is_caught = !game.chance(game.ball.velocity.length() / 32.0);
        if !is_caught {
            self.clumsy_until = game.now() + 0.5;
        }
        is_caught
    }
}

/// The global state: telegrams from the team and from himself.
struct Orders;

impl State<Keeper> for Orders {
    fn on_message(&self, keeper: &mut Keeper, told: &Told, fsm: &mut Fsm<'_, Keeper>, game: &mut Match) -> bool {
        match told.message {
            News::GoHome => fsm.change_state(&GoHome),
            News::KickOff => fsm.change_state(&TendGoal),
            News::BallAtFeet => {
                if let Some(opponent) = game.carrier_of(keeper.side().other()) {
                    game.send(keeper.shirt.into(), opponent.into(), News::Tackled);
                }
                fsm.change_state(&HoldBall);
            }
            _ => return false,
        }
        true
    }
}

/// Runs to his place at the kick-off, and waits there for the team.
struct GoHome;

impl State<Keeper> for GoHome {
    fn enter(&self, keeper: &mut Keeper, _: &mut Fsm<'_, Keeper>, game: &mut Match) {
        game.body_mut(keeper.shirt).run(keeper.shirt.home(), Body::WALK);
    }
}

/// Stands between the ball and the goal.
struct TendGoal;

impl State<Keeper> for TendGoal {
    fn update(&self, keeper: &mut Keeper, fsm: &mut Fsm<'_, Keeper>, game: &mut Match) {
        let place = keeper.side().goal().toward(game.ball.place, 2.0);
        game.body_mut(keeper.shirt).run(place, Body::RUN);
        if keeper.goes_for_ball(game) {
            fsm.change_state(&Intercept);
        }
    }
}

/// Runs for the ball.
struct Intercept;

impl State<Keeper> for Intercept {
    fn update(&self, keeper: &mut Keeper, fsm: &mut Fsm<'_, Keeper>, game: &mut Match) {
        let me = keeper.shirt;
        let (_, meeting) = game.interception(me);
        game.body_mut(me).run(meeting, Body::RUN);
        if keeper.catches(game) {
            // Delivered after this callback has returned: no code here depends on it.
            fsm.send(Telegram::new(me.into(), me.into(), News::BallAtFeet));
        } else if !keeper.goes_for_ball(game) {
            fsm.change_state(&TendGoal);
        }
    }
}

/// Has the ball in his hands, and throws it to a teammate a second later.
struct HoldBall;

impl HoldBall {
    /// The duration in seconds.
    const LASTS: f64 = 1.0;
    /// The speed with which he kicks the ball up the pitch if no teammate is free, in meters per second.
    const CLEARS_AT: f64 = 13.0;
}

impl State<Keeper> for HoldBall {
    fn enter(&self, keeper: &mut Keeper, _: &mut Fsm<'_, Keeper>, game: &mut Match) {
        let me = keeper.shirt;
        game.ball.held_by = Some(me);
        game.gain_ball(me);
        let body = game.body_mut(me);
        body.run(body.place, Body::WALK);
        game.send_after(Self::LASTS, me.into(), me.into(), News::ThrowOut);
    }

    fn on_message(&self, keeper: &mut Keeper, told: &Told, fsm: &mut Fsm<'_, Keeper>, game: &mut Match) -> bool {
        if told.message != News::ThrowOut {
            return false;
        }
        let me = keeper.shirt;
        if let Some((mate, spot)) = game.best_pass(me) {
            let distance = game.ball.place.distance(spot);
            game.kick(spot, Ball::speed_for(distance, PASS_ARRIVES_AT));
            game.send(me.into(), mate.into(), News::ReceiveBall(spot));
            game.send(me.into(), Who::Team(me.side), News::FindSupport);
        } else {
            let far = me.side.other().goal();
            game.kick(far, Self::CLEARS_AT);
        }
        fsm.change_state(&TendGoal);
        true
    }

    fn exit(&self, keeper: &mut Keeper, _: &mut Fsm<'_, Keeper>, game: &mut Match) {
        game.ball.held_by = None;
        game.give_up_ball(keeper.shirt);
        keeper.clumsy_until = game.now() + 0.5;
    }
}
