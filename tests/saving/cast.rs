//! Casts: members of several types, with the telegrams that wait.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use demeanor::{
    Agent, Cast, CastBook, CastContext, Dispatcher, Fsm, Members, Owner, SavedCast, State, StateBook, StateMachine,
    Telegram,
};
use serde::{Deserialize, Serialize};

use crate::barracks::fragile;
use crate::garbage::refuse;

/// The world is a record of what has happened.
pub(crate) type Town = Cast<u8, News, Vec<String>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum News {
    Home {
        #[serde(with = "fragile::message")]
        in_seconds: f64,
    },
    StewReady,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Miner {
    #[serde(with = "fragile::owner")]
    pub(crate) gold: u32,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Wife {
    #[serde(with = "fragile::owner")]
    name: String,
}

impl Owner for Miner {
    type Context<'a> = Town;
    type Message = Telegram<u8, News>;

    fn now(town: &Town) -> f64 {
        town.now()
    }
}

impl Owner for Wife {
    type Context<'a> = Town;
    type Message = Telegram<u8, News>;

    fn now(town: &Town) -> f64 {
        town.now()
    }
}

struct Dig;
struct Home;
/// An owned state.
#[derive(Clone, Serialize, Deserialize)]
struct Walk {
    #[serde(with = "fragile::state")]
    steps: u32,
}
struct Housework;

impl State<Miner> for Walk {}

impl State<Miner> for Dig {
    fn update(&self, miner: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        miner.gold += 1;
        town.world.push(format!("gold {} after {}", miner.gold, fsm.time_in_state(town)));
        if miner.gold % 3 == 0 {
            fsm.change_state(&Home);
            town.send_after(0.35, 1, 2, News::Home { in_seconds: 0.1 + 0.2 });
        }
    }
}

impl State<Miner> for Home {
    fn enter(&self, _: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
        town.world.push("home".into());
        fsm.send_after(0.5, Telegram::new(1, 1, News::StewReady));
        fsm.sleep();
    }

    fn on_message(
        &self,
        _: &mut Miner,
        telegram: &Telegram<u8, News>,
        fsm: &mut Fsm<'_, Miner>,
        town: &mut Town,
    ) -> bool {
        town.world.push(format!("to the miner: {telegram:?}"));
        fsm.change_state(&Dig);
        true
    }
}

impl State<Wife> for Housework {
    fn on_message(
        &self,
        wife: &mut Wife,
        telegram: &Telegram<u8, News>,
        _: &mut Fsm<'_, Wife>,
        town: &mut Town,
    ) -> bool {
        town.world.push(format!("to {}: {telegram:?}", wife.name));
        assert_ne!(telegram.message, News::StewReady, "she panics, as she is to");
        town.send_after(1.5, 2, telegram.sender, News::StewReady);
        true
    }
}

pub(crate) fn book() -> CastBook<Town> {
    CastBook::new()
        .with("miner", StateBook::<Miner>::new().with(&Dig).with(&Home).with_owned::<Walk>().with_messages())
        .with("wife", StateBook::<Wife>::new().with(&Housework))
}

pub(crate) fn town() -> Town {
    let mut town = Town::new(vec![]);
    town.add(2, Agent::new(Wife { name: "Elsa".into() }, StateMachine::new(&Housework))).unwrap();
    let mut machine = StateMachine::new(&Dig);
    machine.set_previous(Box::new(Walk { steps: 7 }));
    town.add(1, Agent::new(Miner { gold: 0 }, machine)).unwrap();
    town
}

/// A panic keeps telegrams from the wife, so that they wait for her next turn.
pub(crate) fn panic_over_telegrams(town: &mut Town) {
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        town.with::<Wife, _>(&2, |_, town| {
            town.send(1, 2, News::Home { in_seconds: 1.0 });
            town.post(1, 2, News::Home { in_seconds: 2.0 });
            resume_unwind(Box::new("expected"));
        })
    }));
    assert!(panicked.is_err());
}

pub(crate) fn tick(town: &mut Town) {
    town.advance(Duration::from_millis(100));
    town.update();
    town.deliver_due();
}

/// By way of bytes; the world is the game's.
fn reloaded(town: &Town) -> Town {
    let bytes = postcard::to_allocvec(&town.save(&book()).unwrap()).unwrap();
    Town::load(postcard::from_bytes(&bytes).unwrap(), &book(), town.world.clone()).unwrap()
}

#[test]
fn a_cast_that_is_saved_and_loaded_at_any_tick_goes_on_as_if_it_had_not_been() {
    let mut whole = town();
    for at in 0..25 {
        let mut loaded = reloaded(&whole);
        let mut twin = town();
        for _ in 0..at {
            tick(&mut twin);
        }
        for _ in 0..30 {
            tick(&mut loaded);
            tick(&mut twin);
        }
        assert_eq!(loaded.world, twin.world, "after {at} ticks");
        assert!(loaded.keys().eq(twin.keys()));
        tick(&mut whole);
    }
    assert!(whole.world.len() > 10);
}

#[test]
fn telegrams_with_one_due_time_arrive_in_the_order_of_sending() {
    let mut town = town();
    for nth in 0..5 {
        town.send_after(1.0, 9, 2, News::Home { in_seconds: f64::from(nth) });
    }
    let mut loaded = reloaded(&town);
    town.advance(Duration::from_secs(1));
    loaded.advance(Duration::from_secs(1));
    town.send_after(1e-9, 9, 2, News::Home { in_seconds: 5.0 });
    loaded.send_after(1e-9, 9, 2, News::Home { in_seconds: 5.0 });
    town.deliver_due();
    loaded.deliver_due();
    assert_eq!(loaded.world.len(), 5);
    assert_eq!(loaded.world, town.world);
}

#[test]
fn a_cast_is_not_saved_while_a_member_is_acting() {
    let mut town = town();
    let error = town.with::<Wife, _>(&2, |_, town| town.save(&book()).map(|_| ()).unwrap_err()).unwrap();
    assert_eq!(error.to_string(), "member 2 is acting: save between two turns");
}

#[test]
fn a_member_of_a_type_or_in_a_state_that_the_book_does_not_know_is_an_error() {
    let poor = CastBook::<Town>::new().with("miner", StateBook::<Miner>::new().with(&Home));
    assert_eq!(
        town().save(&poor).unwrap_err().to_string(),
        "the book of the cast does not know the type of member 2: add it with `CastBook::with`"
    );
    let saved =
        || -> SavedCast<u8, News> { ron::from_str(&ron::to_string(&town().save(&book()).unwrap()).unwrap()).unwrap() };
    let refused = |saved, book: CastBook<Town>| Town::load(saved, &book, vec![]).err().unwrap().to_string();
    assert_eq!(
        refused(saved(), poor),
        "the book of the cast does not know members of type `wife`: add it with `CastBook::with`"
    );
    let poor = CastBook::new()
        .with("miner", StateBook::<Miner>::new().with(&Home).with_owned::<Walk>())
        .with("wife", StateBook::<Wife>::new().with(&Housework));
    assert!(refused(saved(), poor).starts_with("the book does not know the state `Dig`"));
    let twice = book().with("wife", StateBook::<Wife>::new());
    assert_eq!(refused(saved(), twice), "the book of the cast has two types of members for `wife`, or that type twice");

    refuse::<Town>(
        town().save(&book()).unwrap(),
        r#"
        /version = 3 => it was saved in version 3, and this program reads version 1
        /content/members/1/key = 2 => member 2, members: there is a member 2 already
        /content/members/0/owner = "(nobody:3)" => the owner of member 2 cannot be read: ..
        "#,
    );
}

#[test]
fn a_queue_that_merges_goes_on_merging() {
    let mut town = town().with_dispatcher(Dispatcher::merging_within(0.25));
    town.send_after(1.0, 1, 2, News::StewReady);
    assert!(town.save(&book()).unwrap_err().to_string().ends_with("call `CastBook::with_merging`"));
    let book = book().with_merging();
    let text = serde_json::to_string(&town.save(&book).unwrap()).unwrap();
    let mut loaded = Town::load(serde_json::from_str(&text).unwrap(), &book, vec![]).unwrap();
    loaded.send_after(1.1, 1, 2, News::StewReady);
    assert_eq!(loaded.dispatcher().len(), 1);
    assert!(Town::load(serde_json::from_str(&text).unwrap(), &self::book(), vec![]).is_err());
}

#[test]
fn a_dispatcher_by_itself_is_data_too() {
    let mut post = Dispatcher::merging_within(0.25);
    post.send_at(0.1 + 0.2, Telegram::new(1, 2, "stew".to_string()));
    post.send_at(f64::NEG_INFINITY, Telegram::new(2, 1, "now".to_string()));
    let text = serde_json::to_string(&post).unwrap();
    assert_eq!(
        text,
        "{\"merging_within\":0.25,\"queue\":[[\"-inf\",{\"sender\":2,\"receiver\":1,\"message\":\"now\"}],\
         [0.30000000000000004,{\"sender\":1,\"receiver\":2,\"message\":\"stew\"}]]}"
    );
    let mut loaded: Dispatcher<i32, String> = serde_json::from_str(&text).unwrap();
    assert!(loaded.iter().eq(post.iter()));
    assert!(!loaded.send_at(0.4, Telegram::new(1, 2, "stew".to_string())));
    let error = serde_json::from_str::<Dispatcher<i32, String>>(&text.replace("0.30000000000000004", "\"NaN\""));
    assert!(error.unwrap_err().to_string().starts_with("the due time of a telegram is not a number"));
}

#[test]
fn a_struct_of_the_game_saves_its_members() {
    struct Game {
        members: Members<u8, News, Self>,
    }
    impl CastContext for Game {
        type Key = u8;
        type Message = News;

        fn members_mut(&mut self) -> &mut Members<u8, News, Self> {
            &mut self.members
        }
    }
    #[derive(Serialize, Deserialize)]
    struct Player(u32);
    impl Owner for Player {
        type Context<'a> = Game;
        type Message = Telegram<u8, News>;
    }
    struct Play;
    impl State<Player> for Play {
        fn update(&self, player: &mut Player, _: &mut Fsm<'_, Player>, _: &mut Game) {
            player.0 += 1;
        }
    }
    let book = CastBook::<Game>::new().with("player", StateBook::<Player>::new().with(&Play));
    let mut game = Game { members: Members::new() };
    game.members.add(3, Agent::new(Player(4), StateMachine::new(&Play))).unwrap();
    let bytes = postcard::to_allocvec(&game.members.save(&book).unwrap()).unwrap();
    let mut game = Game { members: Members::load(postcard::from_bytes(&bytes).unwrap(), &book).unwrap() };
    game.update();
    assert_eq!(game.members.get::<Player>(&3).unwrap().0, 5);
}
