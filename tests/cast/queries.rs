//! Queries about a cast while members are acting, and contexts that are a game's own structs (rule 30).

use std::sync::Arc;

use demeanor::{Agent, CastContext, Delivery, Fsm, Members, Owner, State, StateMachine, Telegram, Unavailable};

use crate::play::{Player, Stage, happened, place, play, stage, with_many};

#[test]
fn questions() {
    play(
        r"
        # the_state_of_a_member_that_is_acting_is_seen_at_each_point_of_its_changes
        cast Ann, Ben
        Ann Idle.update: see Ann Idle Busy Inside; now Busy is done; see Ann Idle Busy Inside; change Left
        Ann Idle.exit: see Ann Idle Busy Inside
        Ann Busy.enter: see Ann Idle Busy Inside
        Ann Inside.enter: see Ann Idle Busy Inside Left
        Ann Left.enter: see Ann Idle Busy Inside Left
        Ann Left.exit: see Ann Idle Busy Inside Left
        update Ann
        only sees => sees Ann in Idle: Idle; sees Ann in Idle: Idle; sees Ann in Busy: Busy; sees Ann in Busy: Busy
            sees Ann in Inside: Inside; sees Ann in Left: Inside Left
        stop
        only sees => sees Ann in Left: Inside Left
        look => Ann in no state, Ben in no state

        # the_regions_of_a_member_that_is_acting_are_seen_at_each_point_of_their_changes
        // A state whose name is in the list is active. `Both` is the current state.
        cast Ann, Ben
        Ann Idle.update: now Both is done; see Ann Both Low Lower High Higher
        Ann Both.enter: see Ann Both Low High
        Ann Low.enter: see Ann Both Low High
        Ann Low.update: now Lower is done; see Ann Both Low Lower High Higher; change Low; see Ann Low Lower
        Ann Lower.exit: see Ann Low Lower
        Ann High.update: see Ann Both Low Lower High Higher; now Left is done; see Ann Both Low Lower High Inside Left
        update Ann; update Ann
        only sees => sees Ann in Both: Both; sees Ann in Both: Both Low; sees Ann in Both: Both Low High
            sees Ann in Both: Both Lower High; sees Ann in Both: Lower; sees Ann in Both: Lower
            sees Ann in Both: Both Low High; sees Ann in Both: Both Low High; sees Ann in Left: Inside Left

        # what_is_changed_from_outside_between_turns_is_seen_in_the_next
        cast Ann, Ben
        Ann Busy.update: see Ann Idle Busy Inside
        Ann Away.update: see Ann Idle Busy Inside
        update Ann; set Ann Busy
        update Ann => Ann Busy.update; sees Ann in Busy: Busy
        with Ann change Away
        update Ann => Ann Away.update; sees Ann in Away:

        # the_state_of_a_member_that_is_lent_is_seen_as_it_changes
        cast Ann, Ben
        Ann Busy.enter: see Ann Idle Busy Inside
        with Ann change Busy + see Ann Busy Away + tick + change Away + see Ann Busy Away
        only sees => sees Ann in Busy: Busy; sees Ann in Busy: Busy; sees Ann in Away: Away

        # members_can_take_turns_one_by_one
        // In the second callback, Ann is acting. There is no member Eve.
        cast Ann, Ben
        Ann Idle.update: update Ann is skipped
        update Ben; note Ben moves; update Ann; note Ann moves; update Eve is skipped =>
            Ben Idle.update; Ben moves; Ann Idle.update; Ann moves
        ",
    );
}

#[test]
fn a_member_that_cannot_be_had_says_why() {
    struct Referee;
    impl Owner for Referee {
        type Context<'a> = Stage;
        type Message = Telegram<&'static str, &'static str>;
    }
    struct Watching;
    impl State<Referee> for Watching {}

    let mut stage = stage("cast Ann");
    stage.add("Ref", Agent::new(Referee, StateMachine::new(&Watching))).unwrap();
    let asked = stage.with::<Player, _>(&"Ann", |_, stage| {
        assert_eq!(stage.get::<Player>(&"Ann").err(), Some(Unavailable::Acting));
        assert_eq!(stage.get_mut::<Player>(&"Ann").err(), Some(Unavailable::Acting));
        assert_eq!(stage.remove::<Player>(&"Ann").err(), Some(Unavailable::Acting));
        assert_eq!(stage.with::<Player, ()>(&"Ann", |_, _| unreachable!()), Err(Unavailable::Acting));
        // This holds whether or not she is acting.
        assert_eq!(stage.get::<Referee>(&"Ann").err(), Some(Unavailable::WrongType));
    });
    assert_eq!(asked, Ok(()));
    assert_eq!(stage.get::<Player>(&"Ref").err(), Some(Unavailable::WrongType));
    assert_eq!(stage.get::<Player>(&"Eve").err(), Some(Unavailable::Unknown));
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().name, "Ann");
    assert_eq!(stage.iter::<Referee>().map(|(key, _)| *key).collect::<Vec<_>>(), ["Ref"]);
    let texts = [Unavailable::Unknown, Unavailable::WrongType, Unavailable::Acting].map(|why| why.to_string());
    assert_eq!(
        texts,
        [
            "there is no member with that key",
            "the member with that key has an owner of another type",
            "a callback of the member with that key is running"
        ]
    );

    assert_eq!(stage.remove::<Player>(&"Ref").err(), Some(Unavailable::WrongType));
    assert!(stage.contains(&"Ref") && stage.remove::<Referee>(&"Ref").is_ok() && !stage.contains(&"Ref"));
    assert_eq!(stage.remove::<Referee>(&"Ref").err(), Some(Unavailable::Unknown));
    assert!(!stage.dismiss(&"Ref"));
    assert_eq!(stage.len(), 1);
}

#[test]
fn members_of_one_type_are_visited_in_the_order_in_which_they_joined_without_the_acting_one() {
    let mut stage = stage("cast Cat, Ann, Ben");
    let renamed = stage.with::<Player, _>(&"Ann", |_, stage| {
        stage.iter_mut::<Player>().for_each(|(_, player)| player.name = "seen");
        stage.iter::<Player>().map(|(key, player)| (*key, player.name)).collect::<Vec<_>>()
    });
    assert_eq!(renamed, Ok(vec![("Cat", "seen"), ("Ben", "seen")]));
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().name, "Ann");
    assert_eq!(stage.iter::<Player>().rev().map(|(key, _)| *key).collect::<Vec<_>>(), ["Ben", "Ann", "Cat"]);
}

#[test]
fn a_state_that_is_a_members_own_is_seen_while_it_is_acting_and_kept_alive_no_longer() {
    #[derive(Clone)]
    struct Holding {
        held: Arc<()>,
    }
    impl State<Player> for Holding {
        fn update(&self, _: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
            assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Holding"));
            assert_eq!(Arc::strong_count(&self.held), 2);
            assert!(stage.is_in_state::<Player, _>(&"Ann", self));
            fsm.change_state(place("Busy"));
        }
    }
    let held = Arc::new(());
    let mut stage = stage("cast Ann");
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(Box::new(Holding { held: held.clone() }));
    stage.update();
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_previous(place("Idle"));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn members_that_come_and_go_keep_their_order_and_their_keys() {
    // Many members leave while a loop over all slots is running.
    let holes = (0..100).filter(|key| key % 10 != 0).map(|key| format!("dismiss {key}; "));
    let acts = holes.collect::<String>() + "add 7";
    let mut stage = with_many(100, "Idle.update", |nth| if nth == 50 { acts.clone() } else { "nothing".to_owned() });
    assert!(stage.dismiss(&"Ann"));
    stage.update();
    let updated: Vec<_> = (0..=50).chain([60, 70, 80, 90]).map(|key| format!("{key} Idle.update")).collect();
    assert_eq!(*happened(&mut stage), updated);
    let keys: Vec<_> = (0..100).step_by(10).chain([7]).map(|key| &*key.to_string().leak()).collect();
    assert_eq!(stage.keys().copied().collect::<Vec<_>>(), keys);
    assert_eq!(stage.keys().len(), 11);
    assert_eq!(stage.keys().rev().copied().collect::<Vec<_>>(), keys.iter().rev().copied().collect::<Vec<_>>());
    for key in keys {
        assert_eq!(stage.get::<Player>(&key).unwrap().name, key);
        assert_eq!(stage.remove::<Player>(&key).unwrap().name, key);
    }
    assert!(stage.is_empty());
}

/// A game whose own struct is the context.
mod game_of_its_own {
    use super::*;

    pub(super) struct Game {
        members: Members<u32, &'static str, Self>,
        score: u32,
    }

    impl CastContext for Game {
        type Key = u32;
        type Message = &'static str;

        fn members_mut(&mut self) -> &mut Members<u32, &'static str, Self> {
            &mut self.members
        }
    }

    impl Game {
        pub(super) fn new() -> Self {
            let mut game = Self { members: Members::new(), score: 0 };
            game.spawn(1, Agent::new(Keeper::default(), StateMachine::new(&Wait))).unwrap();
            game
        }

        fn score_goal(&mut self) {
            self.score += 1;
        }
    }

    #[derive(Default)]
    struct Keeper {
        saved: u32,
    }

    impl Owner for Keeper {
        type Context<'a> = Game;
        type Message = Telegram<u32, &'static str>;
    }

    struct Wait;

    impl State<Keeper> for Wait {
        fn update(&self, keeper: &mut Keeper, fsm: &mut Fsm<'_, Keeper>, game: &mut Game) {
            let shot = game.rejoin(&1, keeper, fsm, |game| game.send(2, 1, "shot"));
            assert_eq!(shot, Ok(Delivery::Handled));
            assert_eq!(keeper.saved, game.score);
        }

        fn on_message(
            &self,
            keeper: &mut Keeper,
            _: &Telegram<u32, &'static str>,
            _: &mut Fsm<'_, Keeper>,
            game: &mut Game,
        ) -> bool {
            keeper.saved += 1;
            game.score_goal();
            true
        }
    }

    #[test]
    fn a_struct_of_the_game_is_the_context_of_its_members() {
        let mut game = Game::new();
        game.update();
        assert_eq!(game.score, 1);
        assert_eq!(game.members.get::<Keeper>(&1).unwrap().saved, 1);
        assert_eq!(
            game.with::<Keeper, _>(&1, |keeper, game| keeper.send(&Telegram::new(2, 1, "shot"), game)),
            Ok(true)
        );
        assert_eq!(game.send_after(1.0, 2, 1, "late shot"), Delivery::Delayed);
        game.members.advance(std::time::Duration::from_secs(1));
        assert!(game.deliver_due().is_empty());
        assert_eq!(game.score, 3);
    }

    #[test]
    fn a_struct_of_the_game_is_send_and_sync_when_its_parts_are() {
        const fn is_send_and_sync<T: Send + Sync>() {}
        const { is_send_and_sync::<Game>() };
    }
}
