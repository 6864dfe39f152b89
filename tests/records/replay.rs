//! A replay plays to any tick what has been played before: the horde's enemies, with what a player does to them.
#![cfg(all(feature = "serde", feature = "std"))]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::Hasher;

use demeanor::save::Replay;
use demeanor::{Batch, DigestHasher, Key};

#[expect(dead_code, reason = "the example's own program does more with them")]
#[path = "../../examples/horde/enemy.rs"]
mod enemy;

#[expect(dead_code, reason = "the example's own program does more with it")]
#[path = "../../examples/horde/world.rs"]
mod world;

use enemy::{Enemy, Flee, Rest, View, populations};
use world::World;

#[derive(Clone)]
struct Plain {
    horde: Batch<Enemy>,
    tick: u32,
}

/// What comes from outside.
enum Order {
    Scare(Key),
    Leave(Key),
    Come(u64),
}

/// A day and a night.
const TICKS: u64 = 240;
/// As many are there at any tick.
const ENEMIES: u64 = 100;

impl Plain {
    fn new() -> Self {
        let mut horde = Batch::new();
        (0..ENEMIES).for_each(|seed| _ = horde.insert(Enemy::new(seed), &Rest));
        Self { horde, tick: 0 }
    }

    fn advance(&mut self, orders: &[Order]) {
        let world = World::at(self.tick, 100);
        let mut view = View { world: &world, changes: 0 };
        for order in orders {
            match *order {
                Order::Scare(key) => _ = self.horde.change_state(key, &Flee, &mut view),
                Order::Leave(key) => _ = self.horde.remove(key),
                Order::Come(seed) => _ = self.horde.spawn(Enemy::new(seed), &Rest, &mut view),
            }
        }
        self.horde.update(&mut view);
        self.tick += 1;
    }

    fn digest(&self) -> u64 {
        struct Text<'h>(&'h mut DigestHasher);
        impl Write for Text<'_> {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }
        self.horde.digest(|enemy, hasher| write!(Text(hasher), "{enemy:?}").unwrap())
    }
}

/// What a player does in a tick, to the owners that are there.
fn orders(tick: u64, plain: &Plain) -> Vec<Order> {
    let nth = |nth: u64| plain.horde.keys().nth((nth % ENEMIES).try_into().unwrap()).unwrap();
    match tick % 7 {
        0 => vec![Order::Scare(nth(tick * 31)), Order::Scare(nth(tick * 17))],
        3 => vec![Order::Leave(nth(tick * 13)), Order::Come(1000 + tick)],
        _ => vec![],
    }
}

/// Plays a game. Returns its replay, and its digest at each tick.
fn game() -> (Replay<Plain, Order>, BTreeMap<u64, u64>) {
    let mut plain = Plain::new();
    let mut replay = Replay::new(plain.clone());
    let mut digests = BTreeMap::from([(0, plain.digest())]);
    for tick in 0..TICKS {
        let orders = orders(tick, &plain);
        plain.advance(&orders);
        for order in orders {
            replay.record(tick, order);
        }
        digests.insert(tick + 1, plain.digest());
    }
    assert!(populations(&plain.horde).iter().filter(|&&many| many > 0).count() > 1);
    (replay, digests)
}

#[test]
fn the_horde_is_stopped_at_any_tick_looked_at_and_goes_on() {
    let (mut replay, digests) = game();
    for stop in [0, 1, 150, 239, 4] {
        let mut plain = replay.play_to(stop, Plain::advance);
        assert_eq!((u64::from(plain.tick), plain.digest()), (stop, digests[&stop]));
        for tick in stop..TICKS {
            plain.advance(replay.inputs_of(tick));
        }
        assert_eq!(plain.digest(), digests[&TICKS], "from {stop} on");
    }
}

#[test]
fn going_back_begins_at_the_last_state_that_was_kept() {
    let (replay, digests) = game();
    let mut replay = replay.with_keyframes(100);
    let played = |replay: &mut Replay<Plain, Order>, tick: u64| {
        let mut ticks = 0;
        let plain = replay.play_to(tick, |plain, orders| {
            ticks += 1;
            plain.advance(orders);
        });
        assert_eq!(plain.digest(), digests[&tick], "{tick}");
        ticks
    };
    let ticks = [240, 239, 199, 200, 99, 0, 240].map(|tick| played(&mut replay, tick));
    assert_eq!(ticks, [240, 39, 99, 0, 99, 0, 40]);
}

#[test]
fn an_input_that_comes_late_counts_from_its_tick_on() {
    let (replay, digests) = game();
    let mut late = replay.with_keyframes(10);
    late.play_to(TICKS, Plain::advance);
    late.record(100, Order::Come(7));
    let at = |replay: &mut Replay<Plain, Order>, tick| replay.play_to(tick, Plain::advance);
    assert_eq!(at(&mut late, 100).digest(), digests[&100]);
    let many = [100, 101, TICKS].map(|tick| at(&mut late, tick).horde.len() as u64);
    assert_eq!(many, [ENEMIES, ENEMIES + 1, ENEMIES + 1]);
}

/// The simplest game: a number, to which the sum of a tick's inputs is appended as a digit.
fn append(number: &mut u64, digits: &[u64]) {
    *number = *number * 10 + digits.iter().sum::<u64>();
}

fn digits() -> Replay<u64, u64> {
    let mut replay = Replay::new(7).with_keyframes(2);
    for (tick, digit) in [(3, 4), (1, 2), (3, 5)] {
        replay.record(tick, digit);
    }
    replay
}

#[test]
fn a_replay_is_the_same_after_it_was_written_in_any_format() {
    let mut whole = digits();
    assert_eq!([0, 2, 4, 5].map(|tick| whole.play_to(tick, append)), [7, 702, 70_209, 702_090]);
    assert_eq!(whole.inputs().collect::<Vec<_>>(), [(1, &2), (3, &4), (3, &5)]);

    let json = serde_json::to_string(&whole).unwrap();
    assert_eq!(json, r#"{"version":1,"start":7,"inputs":{"1":[2],"3":[4,5]},"every":2}"#);
    let ron = ron::to_string(&whole.as_ref()).unwrap();
    let postcard = postcard::to_allocvec(&whole).unwrap();
    let read: [Replay<u64, u64>; 3] =
        [serde_json::from_str(&json).unwrap(), ron::from_str(&ron).unwrap(), postcard::from_bytes(&postcard).unwrap()];
    for mut read in read {
        assert_eq!(read.play_to(5, append), 702_090);
        assert_eq!((*read.start(), serde_json::to_string(&read).unwrap()), (7, json.clone()));
    }
}

#[test]
fn a_replay_of_another_version_is_refused() {
    let json = serde_json::to_string(&digits()).unwrap().replace(r#""version":1"#, r#""version":2"#);
    let refused = serde_json::from_str::<Replay<u64, u64>>(&json).unwrap_err().to_string();
    let (why, _) = refused.split_once(" at line").unwrap();
    assert_eq!(why, "this is a replay of version 2, and this program knows version 1");
}

#[test]
fn a_replay_with_a_tick_twice_is_refused() {
    let json = serde_json::to_string(&digits()).unwrap().replace(r#""3":[4,5]"#, r#""3":[4],"3":[5]"#);
    let refused = serde_json::from_str::<Replay<u64, u64>>(&json).unwrap_err().to_string();
    assert!(refused.starts_with("the inputs of tick 3 are there twice"), "{refused}");
}
