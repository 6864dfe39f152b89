//! Elsa, who does the housework, and cooks when Bob comes home.

use std::fmt;

use demeanor::{Agent, Fsm, Owner, State, StateMachine, Telegram};

use super::telegraph;
use super::town::{Name, News, Town};

/// The cooking time of a stew, in seconds.
const COOKING_TIME: f64 = 1.5;

#[derive(Default)]
pub(crate) struct Wife {
    is_cooking: bool,
}

impl Owner for Wife {
    type Context<'a> = Town;
    type Message = Telegram<Name, News>;

    fn now(town: &Town) -> f64 {
        town.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Name::Elsa, f)
    }
}

pub(crate) fn agent(elsa: Wife) -> Agent<Wife> {
    Agent::new(elsa, StateMachine::new(&DoHouseWork).with_global(&WifesGlobalState))
}

fn say(town: &mut Town, what: &str) {
    town.world.say(Name::Elsa, what);
}

/// The global state.
struct WifesGlobalState;

impl State<Wife> for WifesGlobalState {
    fn update(&self, _: &mut Wife, fsm: &mut Fsm<'_, Wife>, town: &mut Town) {
        // Draws a number even if she is in the bathroom, because later numbers depend on it.
        if town.world.random.float() < 0.1 && !fsm.is_in_state(&VisitBathroom) {
            fsm.change_state(&VisitBathroom);
        }
    }

    fn on_message(
        &self,
        _: &mut Wife,
        telegram: &Telegram<Name, News>,
        fsm: &mut Fsm<'_, Wife>,
        town: &mut Town,
    ) -> bool {
        match telegram.message {
            News::HiHoneyImHome => {
                telegraph::acknowledge(town, "handled", Name::Elsa);
                say(town, "Hi honey. Let me make you some of mah fine country stew");
                fsm.change_state(&CookStew);
                true
            }
            News::StewReady => false,
        }
    }
}

struct DoHouseWork;

impl State<Wife> for DoHouseWork {
    fn enter(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        if town.world.has_telegrams() {
            say(town, "Time to do some more housework!");
        }
    }

    fn update(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        let chore = match town.world.random.integer(0, 2) {
            0 => "Moppin' the floor",
            1 => "Washin' the dishes",
            _ => "Makin' the bed",
        };
        say(town, chore);
    }
}

struct VisitBathroom;

impl State<Wife> for VisitBathroom {
    fn enter(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        say(town, "Walkin' to the can. Need to powda mah pretty li'lle nose");
    }

    fn update(&self, _: &mut Wife, fsm: &mut Fsm<'_, Wife>, town: &mut Town) {
        say(town, "Ahhhhhh! Sweet relief!");
        fsm.revert_state();
    }

    fn exit(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        say(town, "Leavin' the Jon");
    }
}

struct CookStew;

impl State<Wife> for CookStew {
    fn enter(&self, elsa: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        if !elsa.is_cooking {
            say(town, "Putting the stew in the oven");
            telegraph::send_after(town, COOKING_TIME, Name::Elsa, Name::Elsa, News::StewReady);
            elsa.is_cooking = true;
        }
    }

    fn update(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        say(town, "Fussin' over food");
    }

    fn exit(&self, _: &mut Wife, _: &mut Fsm<'_, Wife>, town: &mut Town) {
        say(town, "Puttin' the stew on the table");
    }

    fn on_message(
        &self,
        elsa: &mut Wife,
        telegram: &Telegram<Name, News>,
        fsm: &mut Fsm<'_, Wife>,
        town: &mut Town,
    ) -> bool {
        match telegram.message {
            News::StewReady => {
                telegraph::acknowledge(town, "received", Name::Elsa);
                say(town, "StewReady! Lets eat");
                // Bob handles it, and changes state, within this call.
                telegraph::send(town, Name::Elsa, Name::Bob, News::StewReady);
                elsa.is_cooking = false;
                fsm.change_state(&DoHouseWork);
                true
            }
            News::HiHoneyImHome => false,
        }
    }
}
