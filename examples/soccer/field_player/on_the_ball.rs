//! The states of a field player who has the ball.

use demeanor::{Fsm, State, StateRef};

use super::super::ball::Ball;
use super::super::body::Body;
use super::super::game::{Match, News, Told, Who};
use super::super::pitch::{Point, Shirt};
use super::super::view::{PASS_ARRIVES_AT, SHOT};
use super::FieldPlayer;
use super::off_the_ball::KeepPosition;

/// The speed with which he kicks the ball ahead of himself, in meters per second.
const NUDGE: f64 = 5.5;
/// He loses the ball when it is farther away than this, in meters.
const LOST: f64 = 3.0;

/// The parent of the states in which he has the ball.
struct OnTheBall;

impl State<FieldPlayer> for OnTheBall {
    fn enter(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        game.gain_ball(player.shirt);
    }

    fn exit(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        game.give_up_ball(player.shirt);
    }
}

/// Runs with the ball, and looks for a teammate to pass to, or for a shot at the goal.
pub(super) struct Dribble;

impl State<FieldPlayer> for Dribble {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OnTheBall))
    }

    fn update(&self, player: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let me = player.shirt;
        let ball = game.ball.place;
        player.body(game).run(ball, Body::DRIBBLE);
        if game.carrier != Some(me) || game.body(me).place.distance(ball) > LOST {
            fsm.change_state(&KeepPosition);
        } else if !game.reaches_ball(me) {
            // The ball rolls ahead of him.
        } else if let Some(target) = game.best_shot(me.side, ball).or_else(|| game.desperate_shot(me)) {
            fsm.change_state(Box::new(Shoot { target }));
        } else if let Some((to, spot)) = game.best_pass(me).filter(|_| game.is_pressed(me)) {
            fsm.change_state(Box::new(Pass { to, spot }));
        } else {
            let goal = me.side.other().goal();
            game.ball.kick(goal, NUDGE);
        }
    }

    /// A teammate asks for the ball. The pass is made before the teammate's callback continues: `Pass` is entered within its
    /// call.
    fn on_message(
        &self,
        player: &mut FieldPlayer,
        told: &Told,
        fsm: &mut Fsm<'_, FieldPlayer>,
        game: &mut Match,
    ) -> bool {
        let (News::PassToMe, Who::Player(to)) = (told.message, told.sender) else { return false };
        let spot = game.body(to).place;
        let can_pass = game.reaches_ball(player.shirt) && game.can_pass_to(player.shirt.side, spot);
        if can_pass {
            fsm.change_state(Box::new(Pass { to, spot }));
        }
        can_pass
    }
}

/// Kicks the ball to another player. This is a state with data, and each pass has its own.
#[derive(Clone)]
struct Pass {
    to: Shirt,
    spot: Point,
}

impl State<FieldPlayer> for Pass {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OnTheBall))
    }

    fn enter(&self, player: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let distance = game.ball.place.distance(self.spot);
        game.kick(self.spot, Ball::speed_for(distance, PASS_ARRIVES_AT));
        player.send(self.to, News::ReceiveBall(self.spot), game);
        player.send(Who::Team(player.shirt.side), News::FindSupport, game);
        fsm.change_state(&KeepPosition);
    }
}

/// Kicks the ball at the goal.
#[derive(Clone)]
struct Shoot {
    target: Point,
}

impl State<FieldPlayer> for Shoot {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OnTheBall))
    }

    fn enter(&self, _: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        game.kick(self.target, SHOT);
        fsm.change_state(&KeepPosition);
    }
}
