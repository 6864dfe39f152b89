//! The states of a field player who is away from the ball: the team can send him.

use demeanor::{CastContext, Delivery, Fsm, State, StateRef};

use super::super::body::Body;
use super::super::game::{Match, News};
use super::FieldPlayer;
use super::after_the_ball::Receive;

/// The parent of the states in which the team can send him elsewhere.
pub(crate) struct OffTheBall;

impl State<FieldPlayer> for OffTheBall {}

/// Keeps his place in the formation.
pub(super) struct KeepPosition;

impl State<FieldPlayer> for KeepPosition {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OffTheBall))
    }

    fn update(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let position = game.position_of(player.shirt);
        player.body(game).run(position, Body::RUN);
    }
}

/// Stays between an opponent and the player's own goal.
pub(super) struct Mark;

impl State<FieldPlayer> for Mark {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OffTheBall))
    }

    fn update(&self, player: &mut FieldPlayer, _: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let place = game.place_to_mark(player.shirt.side, player.opponent);
        player.body(game).run(place, Body::RUN);
    }
}

/// Runs to the place that the team has chosen, and asks for the ball when a pass would arrive.
pub(crate) struct Support;

impl State<FieldPlayer> for Support {
    fn parent(&self) -> Option<StateRef<FieldPlayer>> {
        Some(StateRef::from(&OffTheBall))
    }

    fn update(&self, player: &mut FieldPlayer, fsm: &mut Fsm<'_, FieldPlayer>, game: &mut Match) {
        let me = player.shirt;
        if let Some(carrier) = game.carrier_of(me.side) {
            let is_free = game.can_pass_to(me.side, game.body(me).place);
            if is_free && game.now() >= player.next_question {
                player.next_question = game.now() + 1.0;
                // The passer answers within this call: he kicks the ball, and tells this player to receive it. For that, this
                // player must be an ordinary member during the call, and not a member whose callback is running.
                let answer =
                    game.rejoin(&me.into(), player, fsm, |game| game.send(me.into(), carrier.into(), News::PassToMe));
                game.questions.asked += 1;
                if answer == Ok(Delivery::Handled) && fsm.is_in_state(&Receive) {
                    game.questions.answered += 1;
                    return; // the ball is on its way, so he no longer runs to the spot
                }
            }
        }
        let spot = player.spot;
        player.body(game).run(spot, Body::RUN);
    }
}
