//! The states of a field player who runs to the ball.

use demeanor::{Fsm, State, StateRef, Telegram};

use super::super::body::Body;
use super::super::game::{Match, News, Told};
use super::FieldPlayer;
use super::off_the_ball::KeepPosition;

/// The probability that a player takes the ball from an opponent, in each tick in which he reaches it.
const TACKLE: f64 = 0.12;

/// The parent of the two states: the player runs to the place where he meets the ball, and plays it.
struct AfterTheBall;

impl State<FieldPlayer> for AfterTheBall {
    fn update(&self, player: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let me = player.shirt;
        let (_, meeting) = game.interception(me);
        player.body(game).run(meeting, Body::RUN);
        if !game.reaches_ball(me) {
            return;
        }
        if let Some(carrier) = game.carrier {
            if carrier.side == me.side || !game.chance(TACKLE) {
                return;
            }
            player.send(carrier, News::Tackled, game);
        }
        // Delivered within the call: when it returns, he has the ball, and the rest of this tick runs in a state with the ball.
        fsm.send_now(player, &Telegram::new(me.into(), me.into(), News::BallAtFeet), game);
    }
}

/// No teammate is closer to the ball.
pub(crate) struct Chase;

impl State<FieldPlayer> for Chase {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&AfterTheBall))
    }

    fn on_message(&self, _: &mut FieldPlayer, told: &Told, fsm: &mut Fsm<'_, FieldPlayer>, _: &mut Match) -> bool {
        if told.message == News::LeaveBall {
            fsm.change_state(&KeepPosition);
        }
        told.message == News::LeaveBall
    }
}

/// He waits for a pass to him.
pub(super) struct Receive;

impl Receive {
    /// The longest time that he waits for a pass, in seconds.
    const PATIENCE: f64 = 4.0;
}

impl State<FieldPlayer> for Receive {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&AfterTheBall))
    }

    fn enter(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        game.receiver = Some(player.shirt);
    }

    fn update(&self, player: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let is_lost = game.possession != player.shirt.side || game.carrier_of(player.shirt.side).is_some();
        if is_lost || fsm.time_in_state(game) > Self::PATIENCE {
            fsm.change_state(&KeepPosition);
        }
    }

    fn exit(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        game.receiver = game.receiver.filter(|receiver| *receiver != player.shirt);
    }
}
