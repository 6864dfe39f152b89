//! What can be asked of a cast, whoever is acting, and contexts that are a game's own (rule 30).

use demeanor::{Agent, Cast, CastContext, Delivery, Fsm, Members, Owner, State, StateMachine, Telegram, Unavailable};

use crate::players::{Away, Busy, Idle, Inside, Left, Player, Stage, happened, stage};

#[test]
fn a_member_that_cannot_be_had_says_why() {
    struct Referee;
    impl Owner for Referee {
        type Context<'a> = Stage;
        type Message = Telegram<&'static str, &'static str>;
    }
    struct Watching;
    impl State<Referee> for Watching {}

    let mut stage = stage([(
        "Ann",
        &[("Idle.update", |_, _, stage| {
            assert_eq!(stage.get::<Player>(&"Ann").err(), Some(Unavailable::Acting));
            assert_eq!(stage.get_mut::<Player>(&"Ann").err(), Some(Unavailable::Acting));
            assert_eq!(stage.remove::<Player>(&"Ann").err(), Some(Unavailable::Acting));
            assert_eq!(stage.with::<Player, ()>(&"Ann", |_, _| unreachable!()), Err(Unavailable::Acting));
            assert_eq!(
                stage.get::<Referee>(&"Ann").err(),
                Some(Unavailable::WrongType),
                "whether or not she is acting"
            );
        })],
    )]);
    stage.add("Ref", Agent::new(Referee, StateMachine::new(&Watching))).unwrap();
    stage.update();
    assert_eq!(stage.get::<Player>(&"Ref").err(), Some(Unavailable::WrongType));
    assert_eq!(stage.get::<Player>(&"Eve").err(), Some(Unavailable::Unknown));
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().name, "Ann");
    let texts = [Unavailable::Unknown, Unavailable::WrongType, Unavailable::Acting].map(|why| why.to_string());
    assert_eq!(
        texts,
        [
            "there is no member with that key",
            "the member with that key has an owner of another type",
            "a callback of the member with that key is running"
        ]
    );
    assert_eq!(stage.iter::<Referee>().map(|(key, _)| *key).collect::<Vec<_>>(), ["Ref"]);
}

#[test]
fn members_of_one_type_are_visited_in_the_order_in_which_they_joined_without_who_is_acting() {
    let mut stage = stage([
        ("Cat", &[]),
        (
            "Ann",
            &[("Idle.update", |_, _, stage| {
                for (_, player) in stage.iter_mut::<Player>() {
                    player.energy += 1;
                }
                let seen: Vec<_> = stage.iter::<Player>().map(|(key, player)| (*key, player.energy)).collect();
                assert_eq!(seen, [("Cat", 1), ("Ben", 1)]);
            })],
        ),
        ("Ben", &[]),
    ]);
    stage.update_one(&"Ann");
    assert_eq!(stage.iter::<Player>().rev().map(|(key, _)| *key).collect::<Vec<_>>(), ["Ben", "Ann", "Cat"]);
}

/// Notes what Ben sees of Ann.
fn look_at_ann(stage: &mut Stage) {
    stage.send("Ann", "Ben", "look");
}

const BEN: crate::players::Act = |ben, _, stage| {
    let name = stage.state_of(&"Ann").map(String::from);
    let is_in = [
        stage.is_in_state::<Player, _>(&"Ann", &Idle),
        stage.is_in_state::<Player, _>(&"Ann", &Busy),
        stage.is_in_state::<Player, _>(&"Ann", &Inside),
    ];
    ben.note(format_args!("sees {name:?} {is_in:?}"), stage);
};

#[test]
fn the_state_of_a_member_that_is_acting_is_seen_at_each_point_of_its_changes() {
    let mut stage = stage([
        (
            "Ann",
            &[
                ("Idle.update", |ann, fsm, stage| {
                    look_at_ann(stage);
                    fsm.change_state_now(ann, &Busy, stage);
                    look_at_ann(stage);
                    fsm.change_state(&Left);
                }),
                ("Idle.exit", |_, _, stage| look_at_ann(stage)),
                ("Busy.enter", |_, _, stage| look_at_ann(stage)),
                ("Inside.enter", |_, _, stage| look_at_ann(stage)),
                ("Left.enter", |_, _, stage| look_at_ann(stage)),
                ("Left.exit", |_, _, stage| look_at_ann(stage)),
            ],
        ),
        ("Ben", &[("Idle: look", BEN)]),
    ]);
    let seen =
        |stage: &mut Stage| happened(stage).into_iter().filter(|line| line.starts_with("Ben sees")).collect::<Vec<_>>();
    stage.update_one(&"Ann");
    assert_eq!(
        seen(&mut stage),
        [
            r#"Ben sees Some("Idle") [true, false, false]"#,
            r#"Ben sees Some("Idle") [true, false, false]"#,
            r#"Ben sees Some("Busy") [false, true, false]"#,
            r#"Ben sees Some("Busy") [false, true, false]"#,
            r#"Ben sees Some("Inside") [false, false, true]"#,
            r#"Ben sees Some("Left") [false, false, true]"#,
        ]
    );
    stage.stop();
    assert_eq!(seen(&mut stage), [r#"Ben sees Some("Left") [false, false, true]"#]);
    assert_eq!(stage.state_of(&"Ann"), None);
}

#[test]
fn what_is_changed_from_outside_between_turns_is_seen_in_the_next() {
    let mut stage = stage([
        (
            "Ann",
            &[("Busy.update", |_, _, stage| look_at_ann(stage)), ("Away.update", |_, _, stage| look_at_ann(stage))],
        ),
        ("Ben", &[("Idle: look", BEN)]),
    ]);
    stage.update_one(&"Ann");
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(&Busy);
    stage.update_one(&"Ann");
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Away, stage)).unwrap();
    stage.update_one(&"Ann");
    let seen: Vec<_> = happened(&mut stage).into_iter().filter(|line| line.starts_with("Ben sees")).collect();
    assert_eq!(
        seen,
        [r#"Ben sees Some("Busy") [false, true, false]"#, r#"Ben sees Some("Away") [false, false, false]"#]
    );
}

#[test]
fn the_state_of_a_member_that_is_lent_is_seen_as_it_changes() {
    let mut stage =
        stage([("Ann", &[("Busy.enter", |_, _, stage| look_at_ann(stage))]), ("Ben", &[("Idle: look", BEN)])]);
    stage
        .with::<Player, _>(&"Ann", |ann, stage| {
            ann.change_state(&Busy, stage);
            assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Busy"));
            ann.update(stage);
            ann.change_state(&Away, stage);
            assert!(stage.is_in_state::<Player, _>(&"Ann", &Away));
        })
        .unwrap();
    let seen: Vec<_> = happened(&mut stage).into_iter().filter(|line| line.starts_with("Ben sees")).collect();
    assert_eq!(seen, [r#"Ben sees Some("Busy") [false, true, false]"#]);
}

#[test]
fn a_state_that_is_a_members_own_is_seen_while_it_is_acting_and_kept_alive_no_longer() {
    #[derive(Clone)]
    struct Holding {
        held: std::sync::Arc<()>,
    }
    impl State<Player> for Holding {
        fn update(&self, _: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
            assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Holding"));
            assert_eq!(std::sync::Arc::strong_count(&self.held), 2);
            assert!(stage.is_in_state::<Player, _>(&"Ann", self));
            fsm.change_state(&Busy);
        }
    }
    let held = std::sync::Arc::new(());
    let mut stage = stage([]);
    let machine = StateMachine::new(Box::new(Holding { held: held.clone() }));
    stage.add("Ann", Agent::new(Player::new("Ann", &[]), machine)).unwrap();
    stage.update();
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_previous(&Idle);
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}

#[test]
fn members_can_take_turns_one_by_one() {
    let mut stage = stage([
        ("Ann", &[("Idle.update", |_, _, stage| assert!(!stage.update_one(&"Ann"), "she is acting"))]),
        ("Ben", &[]),
    ]);
    for name in ["Ben", "Ann"] {
        assert!(stage.update_one(&name));
        stage.world.push(format!("{name} moves"));
    }
    assert!(!stage.update_one(&"Eve"));
    assert_eq!(happened(&mut stage), "Ben Idle.update; Ben moves; Ann Idle.update; Ann moves");
}

#[test]
fn members_that_come_and_go_keep_their_order_and_their_keys() {
    struct Counter(u32);
    impl Owner for Counter {
        type Context<'a> = Cast<u32, &'static str, Vec<u32>>;
        type Message = Telegram<u32, &'static str>;
    }
    struct Count;
    impl State<Counter> for Count {
        fn update(
            &self,
            counter: &mut Counter,
            _: &mut Fsm<'_, Counter>,
            cast: &mut Cast<u32, &'static str, Vec<u32>>,
        ) {
            cast.world.push(counter.0);
            if counter.0 == 50 {
                // Holes are made, and many, while a walk over all is under way.
                for key in (0..100).filter(|key| key % 10 != 0) {
                    assert!(cast.dismiss(&key));
                }
                cast.add(7, Agent::new(Counter(7), StateMachine::new(&Count))).unwrap();
            }
        }
    }
    let mut cast: Cast<u32, &'static str, Vec<u32>> = Cast::new(vec![]);
    for key in 0..100 {
        cast.add(key, Agent::new(Counter(key), StateMachine::new(&Count))).unwrap();
    }
    cast.update();
    let expected: Vec<u32> = (0..=50).chain([60, 70, 80, 90]).collect();
    assert_eq!(std::mem::take(&mut cast.world), expected);
    let keys: Vec<u32> = (0..100).step_by(10).chain([7]).collect();
    assert_eq!(cast.keys().copied().collect::<Vec<_>>(), keys);
    assert_eq!(cast.keys().len(), 11);
    assert_eq!(cast.keys().rev().copied().collect::<Vec<_>>(), keys.iter().rev().copied().collect::<Vec<_>>());
    for key in keys {
        assert_eq!(cast.get::<Counter>(&key).unwrap().0, key);
        assert_eq!(cast.remove::<Counter>(&key).unwrap().0, key);
    }
    assert!(cast.is_empty());
}

/// The members of a game whose context is its own struct.
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
            game.spawn(2, Agent::new(Striker, StateMachine::new(&Wait))).unwrap();
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
    struct Striker;

    impl Owner for Keeper {
        type Context<'a> = Game;
        type Message = Telegram<u32, &'static str>;
    }

    impl Owner for Striker {
        type Context<'a> = Game;
        type Message = Telegram<u32, &'static str>;
    }

    struct Wait;

    impl State<Striker> for Wait {
        fn update(&self, _: &mut Striker, _: &mut Fsm<'_, Striker>, game: &mut Game) {
            game.send(2, 1, "shot");
        }
    }

    impl State<Keeper> for Wait {
        fn update(&self, keeper: &mut Keeper, fsm: &mut Fsm<'_, Keeper>, game: &mut Game) {
            let shot = game.rejoin(&1, keeper, fsm, |game| game.update_one(&2));
            assert_eq!(shot, Ok(true));
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
        assert_eq!(game.score, 2);
        assert_eq!(game.members.get::<Keeper>(&1).unwrap().saved, 2);
        assert_eq!(
            game.with::<Keeper, _>(&1, |keeper, game| keeper.send(&Telegram::new(2, 1, "shot"), game)),
            Ok(true)
        );
        assert_eq!(game.send_after(1.0, 2, 1, "late shot"), Delivery::Delayed);
        game.members.advance(std::time::Duration::from_secs(1));
        assert!(game.deliver_due().is_empty());
        assert_eq!(game.score, 4);
    }

    #[test]
    fn a_struct_of_the_game_is_send_and_sync_when_its_parts_are() {
        const fn is_send_and_sync<T: Send + Sync>() {}
        const { is_send_and_sync::<Game>() };
    }
}
