//! A field player, with the telegrams that are handled in every state.

mod after_the_ball;
mod off_the_ball;
mod on_the_ball;

use std::fmt;

use demeanor::{Agent, CastContext, Change, Delivery, Fsm, Owner, State, StateMachine};

pub(crate) use self::after_the_ball::Chase;
use self::after_the_ball::Receive;
use self::off_the_ball::{KeepPosition, Mark};
pub(crate) use self::off_the_ball::{OffTheBall, Support};
use self::on_the_ball::Dribble;
use super::body::Body;
use super::game::{Match, News, Told, Who};
use super::pitch::{Point, Shirt};

pub(crate) const STATES: [&str; 10] =
    ["GoHome", "KeepPosition", "Mark", "Support", "Chase", "Receive", "Dribble", "Pass", "Shoot", "Stumble"];

/// The data that only the player's own states read. His place is in the match, visible to all.
#[derive(Default)]
pub(crate) struct FieldPlayer {
    shirt: Shirt,
    /// The place where he should be free for a pass.
    spot: Point,
    /// The opponent whom he marks.
    opponent: Shirt,
    /// The time of his next request for a pass, in seconds.
    next_question: f64,
}

impl Owner for FieldPlayer {
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

/// Returns a player who is in no state until the team sends him home.
pub(crate) fn agent(shirt: Shirt) -> Agent<FieldPlayer> {
    let player = FieldPlayer { shirt, ..FieldPlayer::default() };
    Agent::new(player, StateMachine::idle().with_global(&Orders))
}

impl FieldPlayer {
    fn send(&self, to: impl Into<Who>, news: News, game: &mut Match) -> Delivery {
        game.send(self.shirt.into(), to.into(), news)
    }

    fn body<'g>(&self, game: &'g mut Match) -> &'g mut Body {
        game.body_mut(self.shirt)
    }
}

/// The global state: telegrams from the team and the other players.
struct Orders;

impl State<FieldPlayer> for Orders {
    fn on_message(&self, player: &mut FieldPlayer, told: &Told, fsm: &mut Fsm<'_, FieldPlayer>, _: &mut Match) -> bool {
        match told.message {
            News::GoHome => fsm.force_state(&GoHome),
            News::KickOff | News::KeepPosition => fsm.ensure_state(&KeepPosition),
            News::WinBall => fsm.ensure_state(&Chase),
            News::ReceiveBall(_) => fsm.change_state(&Receive),
            News::BallAtFeet => fsm.change_state(&Dribble),
            News::Tackled => fsm.change_state(&Stumble),
            News::Support(spot) => {
                player.spot = spot;
                fsm.ensure_state(&Support);
            }
            News::Mark(opponent) => {
                player.opponent = opponent;
                fsm.ensure_state(&Mark);
            }
            _ => return false,
        }
        true
    }
}

/// Runs to his place at the kick-off, and waits there for the team.
struct GoHome;

impl State<FieldPlayer> for GoHome {
    fn enter(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let home = player.shirt.home();
        player.body(game).run(home, Body::RUN);
    }
}

/// Has lost the ball to an opponent, and cannot act for a moment.
pub(crate) struct Stumble;

impl Stumble {
    /// The duration in seconds.
    const LASTS: f64 = 0.7;
}

impl State<FieldPlayer> for Stumble {
    /// Only the team's order to go home can end it earlier.
    fn can_exit(&self, _: &FieldPlayer, fsm: &Fsm<'_, FieldPlayer>, game: &Match) -> bool {
        fsm.time_in_state(game) >= Self::LASTS
    }

    fn enter(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let body = player.body(game);
        body.run(body.place, Body::WALK);
    }

    fn update(&self, _: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        if fsm.time_in_state(game) >= Self::LASTS {
            fsm.change_state(&KeepPosition);
        }
    }
}
