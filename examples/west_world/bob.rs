//! Miner Bob, who digs for gold, brings it to the bank, drinks, and sleeps.

use std::fmt;

use demeanor::{Agent, Fsm, Owner, State, StateMachine, Telegram};

use super::page::PLAIN;
use super::telegraph;
use super::town::{Name, News, Program, Town};

pub(crate) struct Miner {
    habits: Habits,
    location: Location,
    gold_carried: i64,
    money_in_bank: i64,
    thirst: i64,
    fatigue: i64,
}

/// The book's constants, as options. With other values, Bob can do something that he never does in the book: leave the mine for
/// the bank and then for the saloon in one tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// The amount of money in the bank with which he goes home.
    pub(crate) comfort: i64,
    /// The number of nuggets that fill his pockets.
    pub(crate) pockets: i64,
    /// The thirst with which he goes to the saloon.
    pub(crate) thirst: i64,
    /// The fatigue above which he continues to sleep.
    pub(crate) tired: i64,
}

impl Default for Habits {
    fn default() -> Self {
        Self { comfort: 5, pockets: 3, thirst: 5, tired: 5 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Location {
    Shack,
    Goldmine,
    Bank,
    Saloon,
}

impl Owner for Miner {
    type Context<'a> = Town;
    type Message = Telegram<Name, News>;

    fn now(town: &Town) -> f64 {
        town.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Name::Bob, f)
    }
}

impl Miner {
    pub(crate) fn new(habits: Habits) -> Self {
        Self { habits, location: Location::Shack, gold_carried: 0, money_in_bank: 0, thirst: 0, fatigue: 0 }
    }

    fn has_full_pockets(&self) -> bool {
        self.gold_carried >= self.habits.pockets
    }

    fn is_thirsty(&self) -> bool {
        self.thirst >= self.habits.thirst
    }

    fn is_fatigued(&self) -> bool {
        self.fatigue > self.habits.tired
    }

    /// Moves him to a location. Returns whether he was elsewhere before.
    fn go_to(&mut self, location: Location) -> bool {
        let was_elsewhere = self.location != location;
        self.location = location;
        was_elsewhere
    }
}

pub(crate) fn agent(bob: Miner) -> Agent<Miner> {
    Agent::new(bob, StateMachine::new(&GoHomeAndSleepTilRested).with_global(&GettingThirsty))
}

fn say(town: &mut Town, what: &str) {
    town.world.say(Name::Bob, what);
}

/// The global state. In the book, `Miner::Update` does this before it updates the machine.
struct GettingThirsty;

impl State<Miner> for GettingThirsty {
    fn update(&self, bob: &mut Miner, _: &mut Fsm<'_, Miner>, _: &mut Town) {
        bob.thirst += 1;
    }
}

struct EnterMineAndDigForNugget;

impl State<Miner> for EnterMineAndDigForNugget {
    fn enter(&self, bob: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        if bob.go_to(Location::Goldmine) {
            say(town, "Walkin' to the goldmine");
        }
    }

    fn update(&self, bob: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        bob.gold_carried += 1;
        bob.fatigue += 1;
        say(town, "Pickin' up a nugget");
        if bob.has_full_pockets() {
            fsm.change_state(&VisitBankAndDepositGold);
        }
        // This is not `else if`: if both conditions hold, both changes are made, and he leaves the bank without a deposit.
        if bob.is_thirsty() {
            fsm.change_state(&QuenchThirst);
        }
    }

    fn exit(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Ah'm leavin' the goldmine with mah pockets full o' sweet gold");
    }
}

struct VisitBankAndDepositGold;

impl State<Miner> for VisitBankAndDepositGold {
    fn enter(&self, bob: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        if bob.go_to(Location::Bank) {
            say(town, "Goin' to the bank. Yes siree");
        }
    }

    fn update(&self, bob: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        bob.money_in_bank = (bob.money_in_bank + bob.gold_carried).max(0);
        bob.gold_carried = 0;
        say(town, &format!("Depositing gold. Total savings now: {}", bob.money_in_bank));
        if bob.money_in_bank >= bob.habits.comfort {
            say(town, "WooHoo! Rich enough for now. Back home to mah li'lle lady");
            fsm.change_state(&GoHomeAndSleepTilRested);
        } else {
            fsm.change_state(&EnterMineAndDigForNugget);
        }
    }

    fn exit(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Leavin' the bank");
    }
}

struct GoHomeAndSleepTilRested;

impl State<Miner> for GoHomeAndSleepTilRested {
    fn enter(&self, bob: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        if bob.go_to(Location::Shack) {
            say(town, "Walkin' home");
            if town.world.has_telegrams() {
                telegraph::send(town, Name::Bob, Name::Elsa, News::HiHoneyImHome);
            }
        }
    }

    fn update(&self, bob: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        if bob.is_fatigued() {
            bob.fatigue -= 1;
            say(town, "ZZZZ... ");
        } else {
            say(
                town,
                match town.world.program {
                    Program::WestWorld1 | Program::WithWoman => "What a God darn fantastic nap! Time to find more gold",
                    Program::WithMessaging => "All mah fatigue has drained away. Time to find more gold!",
                },
            );
            fsm.change_state(&EnterMineAndDigForNugget);
        }
    }

    fn exit(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        if !town.world.has_telegrams() {
            say(town, "Leaving the house");
        }
    }

    fn on_message(
        &self,
        _: &mut Miner,
        telegram: &Telegram<Name, News>,
        fsm: &mut Fsm<'_, Miner>,
        town: &mut Town,
    ) -> bool {
        match telegram.message {
            News::StewReady => {
                telegraph::acknowledge(town, "handled", Name::Bob);
                say(town, "Okay Hun, ahm a comin'!");
                fsm.change_state(&EatStew);
                true
            }
            News::HiHoneyImHome => false,
        }
    }
}

struct QuenchThirst;

impl State<Miner> for QuenchThirst {
    fn enter(&self, bob: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        if bob.go_to(Location::Saloon) {
            say(town, "Boy, ah sure is thusty! Walking to the saloon");
        }
    }

    fn update(&self, bob: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        if !bob.is_thirsty() && !town.world.has_telegrams() {
            for _ in 0..3 {
                town.world.page.line(PLAIN, format_args!("ERROR!"));
            }
            return;
        }
        bob.thirst = 0;
        bob.money_in_bank -= 2;
        say(
            town,
            match town.world.program {
                Program::WestWorld1 => "That's mighty fine sippin liquer",
                Program::WithWoman | Program::WithMessaging => "That's mighty fine sippin' liquer",
            },
        );
        fsm.change_state(&EnterMineAndDigForNugget);
    }

    fn exit(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Leaving the saloon, feelin' good");
    }
}

struct EatStew;

impl State<Miner> for EatStew {
    fn enter(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Smells Reaaal goood Elsa!");
    }

    fn update(&self, _: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Tastes real good too!");
        fsm.revert_state();
    }

    fn exit(&self, _: &mut Miner, _: &mut Fsm<'_, Miner>, town: &mut Town) {
        say(town, "Thankya li'lle lady. Ah better get back to whatever ah wuz doin'");
    }
}
