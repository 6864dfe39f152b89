//! A team: its machine is above the machines of its players, and tells them where to go.

use std::fmt;

use demeanor::{Agent, CastContext, Change, Fsm, Owner, State, StateMachine, StateRef};

use super::field_player::{Chase, OffTheBall, Stumble, Support};
use super::game::{Match, News, Told, Who};
use super::pitch::{Shirt, Side};

pub(crate) const STATES: [&str; 3] = ["PrepareForKickOff", "Defending", "Attacking"];

/// How much sooner another player must be at the ball, in seconds, to replace the player who runs to it.
const SOONER: f64 = 0.3;

pub(crate) struct Team {
    side: Side,
    /// The player who is sent to the ball.
    chaser: Option<Shirt>,
    /// The player who is sent to a place where a pass can arrive.
    supporter: Option<Shirt>,
    /// The time at which the team looks at the pitch again, in seconds.
    next_look: f64,
}

impl Owner for Team {
    type Context<'a> = Match;
    type Message = Told;

    fn now(game: &Match) -> f64 {
        game.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.side)
    }

    fn on_change(&mut self, change: &Change<'_, Self>, game: &mut Match) {
        game.census.count(self.who(), change);
    }
}

pub(crate) fn agent(side: Side) -> Agent<Team> {
    let team = Team { side, chaser: None, supporter: None, next_look: 0.0 };
    Agent::new(team, StateMachine::new(&PrepareForKickOff).with_global(&Rules))
}

impl Team {
    fn who(&self) -> Who {
        Who::Team(self.side)
    }

    fn tell(&self, shirt: Shirt, news: News, game: &mut Match) {
        game.send(self.who(), shirt.into(), news);
    }

    fn tell_all(&self, news: News, game: &mut Match) {
        for shirt in self.side.players() {
            self.tell(shirt, news, game);
        }
    }

    /// Returns the field players who can be sent elsewhere, by the states of their machines.
    fn free_players(&self, game: &Match) -> Vec<Shirt> {
        let is_free = |shirt: &Shirt| game.members().is_in_state(&(*shirt).into(), &OffTheBall);
        self.side.field_players().filter(is_free).collect()
    }

    /// Returns whether it is time to look at the pitch again, which is twice a second.
    fn looks(&mut self, game: &Match) -> bool {
        let looks = game.now() >= self.next_look;
        if looks {
            self.next_look = game.now() + 0.5;
        }
        looks
    }

    /// Sends the player who gets to the ball first, unless a teammate has it or will receive it.
    fn win_ball(&mut self, game: &mut Match) {
        let is_ours = |shirt: Option<Shirt>| shirt.is_some_and(|shirt| shirt.side == self.side);
        let chaser = if is_ours(game.carrier) || is_ours(game.receiver) || game.ball.held_by.is_some() {
            None
        } else {
            self.closest_to_ball(game)
        };
        if let Some(old) = self.chaser.filter(|old| chaser != Some(*old)) {
            self.tell(old, News::LeaveBall, game);
        }
        if let Some(new) = chaser.filter(|new| !game.members().is_in_state(&(*new).into(), &Chase)) {
            self.tell(new, News::WinBall, game);
        }
        self.chaser = chaser;
    }

    fn closest_to_ball(&self, game: &Match) -> Option<Shirt> {
        let stands = |shirt: &Shirt| !game.members().is_in_state(&(*shirt).into(), &Stumble);
        let times = self.side.field_players().filter(stands).map(|shirt| {
            let lead = if self.chaser == Some(shirt) { SOONER } else { 0.0 };
            (game.interception(shirt).0 - lead, shirt)
        });
        times.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, shirt)| shirt)
    }

    /// Sends the closest free player to a place where he can get a pass. A player who was sent before goes back.
    fn find_support(&mut self, game: &mut Match) {
        let spot = game.support_spot(self.side);
        let free = self.free_players(game).into_iter();
        let distances = free.map(|shirt| (game.body(shirt).place.distance(spot), shirt));
        let closest = distances.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, shirt)| shirt);
        if let Some(old) = self.supporter.filter(|old| closest != Some(*old)) {
            let supports = game.members().is_in_state(&old.into(), &Support);
            if supports {
                self.tell(old, News::KeepPosition, game);
            }
        }
        if let Some(new) = closest {
            self.tell(new, News::Support(spot), game);
        }
        self.supporter = closest;
    }

    /// Sends the free players to the opponents: the closest player to the most dangerous opponent, and so on.
    fn mark_opponents(&self, game: &mut Match) {
        let mut free = self.free_players(game);
        let mut opponents: Vec<Shirt> = self.side.other().field_players().collect();
        opponents.retain(|opponent| game.carrier != Some(*opponent));
        opponents.sort_by(|one, other| {
            let depth = |shirt: &Shirt| self.side.depth(game.body(*shirt).place);
            depth(one).total_cmp(&depth(other))
        });
        for opponent in opponents {
            let place = game.place_to_mark(self.side, opponent);
            let distance = |shirt: &Shirt| game.body(*shirt).place.distance(place);
            let closest =
                (0..free.len()).min_by(|one, other| distance(&free[*one]).total_cmp(&distance(&free[*other])));
            let Some(closest) = closest else { return };
            let shirt = free.swap_remove(closest);
            self.tell(shirt, News::Mark(opponent), game);
        }
    }
}

/// The global state: telegrams from the match.
struct Rules;

impl State<Team> for Rules {
    fn on_message(&self, _: &mut Team, told: &Told, fsm: &mut Fsm<'_, Team>, _: &mut Match) -> bool {
        if told.message == News::Goal {
            fsm.change_state(&PrepareForKickOff);
        }
        told.message == News::Goal
    }
}

/// All players go home. When all ten are there, the team that has the kick-off begins, and tells the other.
struct PrepareForKickOff;

impl State<Team> for PrepareForKickOff {
    fn enter(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        team.chaser = None;
        team.supporter = None;
        team.tell_all(News::GoHome, game);
    }

    fn update(&self, team: &mut Team, fsm: &mut Fsm<'_, Team>, game: &mut Match) {
        if game.kicks_off == team.side && game.is_everybody_home() {
            game.possession = team.side;
            game.send(team.who(), Who::Team(team.side.other()), News::KickOff);
            fsm.change_state(&Attacking);
        }
    }

    fn on_message(&self, _: &mut Team, told: &Told, fsm: &mut Fsm<'_, Team>, _: &mut Match) -> bool {
        if told.message == News::KickOff {
            fsm.change_state(&Defending);
        }
        told.message == News::KickOff
    }

    fn exit(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        team.tell_all(News::KickOff, game);
    }
}

/// The parent of the two states in which the ball is in play.
struct InPlay;

impl State<Team> for InPlay {
    fn update(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        team.win_ball(game);
    }

    fn on_message(&self, team: &mut Team, told: &Told, fsm: &mut Fsm<'_, Team>, _: &mut Match) -> bool {
        match told.message {
            News::Possession(side) if side == team.side => fsm.ensure_state(&Attacking),
            News::Possession(_) => fsm.ensure_state(&Defending),
            _ => return false,
        }
        true
    }
}

struct Defending;

impl State<Team> for Defending {
    fn parent(&self) -> Option<StateRef<Team>> {
        Some(StateRef::from(&InPlay))
    }

    fn enter(&self, team: &mut Team, _: &mut Fsm<'_, Team>, _: &mut Match) {
        team.next_look = 0.0;
    }

    fn update(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        if team.looks(game) {
            team.mark_opponents(game);
        }
    }
}

struct Attacking;

impl State<Team> for Attacking {
    fn parent(&self) -> Option<StateRef<Team>> {
        Some(StateRef::from(&InPlay))
    }

    fn enter(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        team.next_look = 0.0;
        for shirt in team.free_players(game) {
            team.tell(shirt, News::KeepPosition, game);
        }
    }

    fn update(&self, team: &mut Team, _: &mut Fsm<'_, Team>, game: &mut Match) {
        if team.looks(game) {
            team.find_support(game);
        }
    }

    fn on_message(&self, team: &mut Team, told: &Told, _: &mut Fsm<'_, Team>, game: &mut Match) -> bool {
        if told.message == News::FindSupport {
            team.find_support(game);
        }
        told.message == News::FindSupport
    }
}
