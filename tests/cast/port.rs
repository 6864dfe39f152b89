//! A chain of calls from a match of Buckland's soccer, in the order that the C++ has.
//!
//! There, a supporting player asks for a pass within its own `Execute`. `Dispatcher::DispatchMsg` calls the passer's
//! `HandleMessage` within the call, the passer kicks and dispatches `Msg_ReceiveBall`, and that calls the asker's
//! `HandleMessage`, within the asker's own `Execute`. `ChangeState` in there leaves `SupportAttacker` and enters `ReceiveBall`
//! at once. Then the passer looks for support, which tells a third player, and only then everything returns.

use crate::trace::Trace;
use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Team,
    Passer,
    Asker,
    Third,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Msg {
    PassToMe,
    ReceiveBall,
    SupportAttacker,
    FindSupport,
}

/// What all players read and write lies in the world.
#[derive(Default)]
struct Pitch {
    controlling: Option<Id>,
    supporting: Option<Id>,
    trace: Trace,
}

type Match = Cast<Id, Msg, Pitch>;
type Told = Telegram<Id, Msg>;

struct Player {
    id: Id,
}

impl Default for Player {
    fn default() -> Self {
        Self { id: Id::Team }
    }
}

#[derive(Default)]
struct Team;

impl Owner for Player {
    type Context<'a> = Match;
    type Message = Told;
}

impl Owner for Team {
    type Context<'a> = Match;
    type Message = Told;
}

impl Player {
    fn says(&self, what: &str, game: &mut Match) {
        game.world.trace.push(format!("{:?} {what}", self.id));
    }

    /// `Dispatcher->DispatchMsg(SEND_MSG_IMMEDIATELY, ..)`.
    fn dispatch(&mut self, to: Id, msg: Msg, fsm: &mut Fsm<'_, Self>, game: &mut Match) {
        let id = self.id;
        game.rejoin(&id, self, fsm, |game| {
            game.send(id, to, msg);
        })
        .expect("it is a callback of this player");
    }
}

struct Wait;
struct SupportAttacker;
struct ReceiveBall;
struct KickBall;
/// `GlobalPlayerState`.
struct Global;
struct Attacking;

impl State<Player> for Global {
    fn on_message(&self, player: &mut Player, told: &Told, fsm: &mut Fsm<'_, Player>, game: &mut Match) -> bool {
        player.says(&format!("is told {:?}", told.message), game);
        match told.message {
            Msg::PassToMe => {
                player.says("kicks", game);
                player.dispatch(told.sender, Msg::ReceiveBall, fsm, game);
                fsm.change_state_now(player, &Wait, game);
                player.dispatch(Id::Team, Msg::FindSupport, fsm, game);
                player.says("has passed", game);
            }
            Msg::ReceiveBall => {
                fsm.change_state_now(player, &ReceiveBall, game);
            }
            Msg::SupportAttacker => {
                if !fsm.is_in_state(&SupportAttacker) {
                    fsm.change_state_now(player, &SupportAttacker, game);
                }
            }
            Msg::FindSupport => return false,
        }
        true
    }
}

impl State<Player> for SupportAttacker {
    fn enter(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("enters SupportAttacker", game);
        game.world.supporting = Some(player.id);
    }

    fn update(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("asks for a pass", game);
        player.dispatch(Id::Passer, Msg::PassToMe, fsm, game);
        let state = fsm.current().map(|state| state.name().into_owned());
        player.says(&format!("goes on, in {}", state.unwrap_or_default()), game);
    }

    fn exit(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("exits SupportAttacker", game);
        game.world.supporting = None;
    }
}

impl State<Player> for ReceiveBall {
    fn enter(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("enters ReceiveBall", game);
        game.world.controlling = Some(player.id);
    }

    fn update(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("runs for the ball", game);
    }
}

impl State<Player> for KickBall {
    fn exit(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("exits KickBall", game);
    }
}

impl State<Player> for Wait {
    fn enter(&self, player: &mut Player, _: &mut Fsm<'_, Player>, game: &mut Match) {
        player.says("enters Wait", game);
    }
}

impl State<Team> for Attacking {
    /// `FindSupport`: asks where everybody is, also those in the middle of a callback.
    fn on_message(&self, _: &mut Team, told: &Told, _: &mut Fsm<'_, Team>, game: &mut Match) -> bool {
        if told.message != Msg::FindSupport {
            return false;
        }
        let states = [Id::Passer, Id::Asker, Id::Third].map(|id| game.state_of(&id).unwrap_or_default().into_owned());
        game.world.trace.push(format!("the team sees {}, and supports {:?}", states.join(" "), game.world.controlling));
        if game.world.supporting.is_none() {
            game.send(Id::Team, Id::Third, Msg::SupportAttacker);
        }
        true
    }
}

#[test]
fn a_pass_that_is_asked_for_is_made_and_supported_before_the_asker_goes_on() {
    let mut game = Match::new(Pitch { supporting: Some(Id::Asker), ..Pitch::default() });
    let player = |id, machine: StateMachine<Player>| Agent::new(Player { id }, machine.with_global(&Global));
    game.add(Id::Team, Agent::new(Team, StateMachine::new(&Attacking))).unwrap();
    game.add(Id::Asker, player(Id::Asker, StateMachine::new(&SupportAttacker))).unwrap();
    game.add(Id::Passer, player(Id::Passer, StateMachine::new(&KickBall))).unwrap();
    game.add(Id::Third, player(Id::Third, StateMachine::new(&Wait))).unwrap();

    game.update_one(&Id::Asker);
    assert_eq!(
        game.world.trace,
        "Asker asks for a pass; Passer is told PassToMe; Passer kicks; Asker is told ReceiveBall
         Asker exits SupportAttacker; Asker enters ReceiveBall; Passer exits KickBall; Passer enters Wait
         the team sees Wait ReceiveBall Wait, and supports Some(Asker); Third is told SupportAttacker
         Third enters SupportAttacker; Passer has passed; Asker goes on, in ReceiveBall"
    );

    game.world.trace.clear();
    game.update_one(&Id::Asker);
    assert_eq!(game.world.trace, ["Asker runs for the ball"]);
}
