//! Villagers that use all abilities of citizens: they send messages, move, wait, sleep, are born and end.
//!
//! Each villager mixes all its events into a number, so that a different order of the same events results in a different
//! number.

pub(crate) mod office;
pub(crate) mod process;
pub(crate) mod reference;

use std::borrow::Cow;
use std::hash::Hash;

use demeanor::{DigestHasher, Fsm, Owner, State, StateBook, StateRef};
use demeanor_world::{Citizen, World};
use serde::{Deserialize, Serialize};

use self::office::Office;

pub(crate) const SEED: u64 = 2026;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Villager {
    pub(crate) id: u64,
    pub(crate) home: u32,
    pub(crate) coins: i64,
    pub(crate) age: u32,
    pub(crate) lived: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Letter {
    Coins(i64),
    Hello(u64),
    Reminder,
}

pub(crate) struct Day<'a> {
    pub(crate) tick: u64,
    pub(crate) shards: u32,
    pub(crate) office: &'a mut dyn Office,
    pub(crate) oddity: Oddity,
}

/// An error in a village.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Oddity {
    None,
    /// A callback panics in this tick.
    Panic(u64),
    /// The observer panics in this tick.
    Blind(u64),
    /// In this tick, a second villager with this id is born.
    SameId(u64, u64),
    /// In this tick, a villager moves to a shard that does not exist.
    NoShard(u64),
    /// In this tick, two villagers with the same id are born in different shards.
    Twins(u64),
    /// In this tick, a villager ends, and another one gives its id to a child.
    Reused(u64),
    /// In this tick, a villager changes its id.
    Renamed(u64),
    /// In this tick, a villager removes a child that is not born yet.
    RemovedEarly(u64),
    /// In this tick, a villager sends a message in the name of a citizen that does not live.
    Forged(u64),
}

impl Owner for Villager {
    type Context<'a> = Day<'a>;
    type Message = Letter;

    fn now(day: &Day<'_>) -> f64 {
        f64::from(u32::try_from(day.tick).unwrap()) * 0.1
    }
}

impl Citizen for Villager {
    fn id(&self) -> u64 {
        self.id
    }

    fn home(&self) -> u32 {
        self.home
    }

    fn digest(&self, hasher: &mut DigestHasher) {
        self.hash(hasher);
    }
}

impl Villager {
    pub(crate) fn new(id: u64, home: u32) -> Self {
        Self { id, home, coins: 10, age: u32::try_from(id % 90).unwrap(), lived: 0 }
    }

    fn note(&mut self, what: u64) {
        self.lived = (self.lived.rotate_left(7) ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns one of the first villagers, which may have ended since then.
    fn someone(&self, day: &Day<'_>, purpose: u64) -> u64 {
        let mut random = day.office.random(self, purpose);
        id_of(some_shard(&mut random, day), random.rand_range(0..20))
    }
}

fn some_shard(random: &mut oorandom::Rand64, day: &Day<'_>) -> u32 {
    u32::try_from(random.rand_range(0..u64::from(day.shards))).unwrap()
}

pub(crate) fn id_of(shard: u32, nth: u64) -> u64 {
    u64::from(shard) * 1000 + nth
}

/// The global state: one villager in ten moves in each tick, and an old villager is replaced by a child.
struct Life;

impl State<Villager> for Life {
    fn update(&self, villager: &mut Villager, _: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.age += 1;
        match day.oddity {
            Oddity::Panic(tick) if tick == day.tick && villager.id == id_of(3, 7) => {
                panic!("{} falls ill", villager.id)
            }
            Oddity::SameId(tick, id) if tick == day.tick && villager.id == id_of(3, 7) => {
                day.office.spawn(Villager::new(id, 5), StateRef::from(&Idle));
            }
            Oddity::Twins(tick) if tick == day.tick && villager.id == id_of(3, 7) => {
                for home in 0..2 {
                    day.office.spawn(Villager::new(999_999, home), StateRef::from(&Idle));
                }
            }
            Oddity::Reused(tick) if tick == day.tick && villager.id == id_of(3, 7) => day.office.remove(villager),
            Oddity::Reused(tick) if tick == day.tick && villager.id == id_of(2, 1) => {
                day.office.spawn(Villager::new(id_of(3, 7), 2), StateRef::from(&Idle));
            }
            Oddity::Renamed(tick) if tick == day.tick && villager.id == id_of(3, 7) => villager.id = 999_999,
            Oddity::RemovedEarly(tick) if tick == day.tick && villager.id == id_of(3, 7) => {
                let child = Villager::new(999_999, villager.home);
                day.office.spawn(child.clone(), StateRef::from(&Idle));
                day.office.remove(&child);
            }
            Oddity::Forged(tick) if tick == day.tick && villager.id == id_of(3, 7) => {
                day.office.send(&Villager::new(999_999, 0), villager.id, Letter::Reminder);
            }
            Oddity::NoShard(tick) if tick == day.tick && villager.id == id_of(3, 7) => {
                villager.home = day.shards;
                return;
            }
            _ => {}
        }
        for receiver in day.office.returned(villager) {
            villager.note(receiver);
            villager.coins += 1;
        }
        let mut random = day.office.random(villager, 1);
        if random.rand_range(0..10) == 0 {
            villager.home = some_shard(&mut random, day);
        }
        if day.tick.is_multiple_of(16) {
            // Many villagers write to one.
            day.office.send(villager, id_of(3, day.tick / 16 % 10), Letter::Hello(villager.id));
        }
        if villager.age > 120 {
            let child = Villager { id: villager.id + 1_000_000, age: 0, coins: villager.coins, ..*villager };
            let receiver = child.id;
            // The message has no receiver. The child gets it back in its first tick, wherever it is born.
            day.office.send(&child, u64::MAX, Letter::Reminder);
            if random.rand_range(0..2) == 0 {
                day.office.spawn(child, StateRef::from(&Idle));
            } else {
                day.office.spawn(child, StateRef::from(&Work));
            }
            day.office.send(villager, receiver, Letter::Hello(day.tick));
            day.office.remove(villager);
        }
    }
}

struct Idle;

impl State<Villager> for Idle {
    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(1);
        let receiver = villager.someone(day, 2);
        let mut random = day.office.random(villager, 3);
        match random.rand_range(0..8) {
            0 => fsm.change_state(&Work),
            1 => fsm.change_state(Box::new(Errand { to: receiver, left: 3 })),
            2 => fsm.push_state(&Prayer),
            3 => fsm.sleep_for(0.35),
            5 => fsm.change_state(&Feast),
            4 => {
                day.office.send(villager, receiver, Letter::Coins(2));
                day.office.send(villager, receiver, Letter::Hello(random.rand_u64()));
                villager.coins -= 2;
            }
            _ => {}
        }
    }

    fn on_message(&self, villager: &mut Villager, letter: &Letter, _: &mut Fsm<'_, Villager>, _: &mut Day<'_>) -> bool {
        villager.receive(letter)
    }
}

impl Villager {
    fn receive(&mut self, letter: &Letter) -> bool {
        match letter {
            Letter::Coins(coins) => self.coins += coins,
            Letter::Hello(who) => self.note(*who),
            Letter::Reminder => self.note(9),
        }
        true
    }
}

struct Work;

impl State<Villager> for Work {
    fn enter(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(2);
        let ticks = f64::from(u8::try_from(day.office.random(villager, 4).rand_range(2..9)).unwrap());
        fsm.change_state_after(ticks * 0.1 + 0.05, &Idle);
        fsm.send_after(ticks * 0.07, Letter::Reminder);
        fsm.sleep();
    }

    fn update(&self, villager: &mut Villager, _: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        villager.coins += 1;
    }

    fn exit(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(fsm.time_in_state(day).to_bits());
    }

    fn on_message(&self, villager: &mut Villager, letter: &Letter, _: &mut Fsm<'_, Villager>, _: &mut Day<'_>) -> bool {
        villager.receive(letter)
    }
}

struct Prayer;

impl State<Villager> for Prayer {
    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(3);
        if day.office.random(villager, 5).rand_range(0..3) == 0 {
            fsm.pop_state();
        }
    }
}

/// A state with two regions: at a feast, a villager dances, and eats meanwhile.
struct Feast;

impl State<Villager> for Feast {
    fn enter(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        let ticks = f64::from(u8::try_from(day.office.random(villager, 6).rand_range(2..9)).unwrap());
        fsm.change_state_after(ticks * 0.1 + 0.05, &Idle);
    }

    fn exit(&self, villager: &mut Villager, _: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        villager.note(8);
    }

    fn regions(&self) -> Vec<StateRef<Villager>> {
        vec![(&Dance).into(), (&PLATES[2]).into()]
    }
}

struct Dance;

impl State<Villager> for Dance {
    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(4);
        match day.office.random(villager, 7).rand_range(0..6) {
            0 => fsm.push_state(&Rest),
            1 => fsm.change_state(&Rest),
            2 => fsm.change_state(&PLATES[2]),
            3 => fsm.change_state(&Work),
            _ => {}
        }
    }

    fn on_message(&self, villager: &mut Villager, letter: &Letter, _: &mut Fsm<'_, Villager>, _: &mut Day<'_>) -> bool {
        villager.receive(letter)
    }

    fn parent(&self) -> Option<StateRef<Villager>> {
        Some((&Feast).into())
    }
}

/// A pause of the dance.
struct Rest;

impl State<Villager> for Rest {
    fn enter(&self, _: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        fsm.sleep_for(0.15);
    }

    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(fsm.time_in_state(day).to_bits());
        if !fsm.pop_state_now(villager, day) {
            fsm.change_state(&Dance);
        }
    }

    fn parent(&self) -> Option<StateRef<Villager>> {
        Some((&Feast).into())
    }
}

/// A villager eats: how much is left on the plate.
struct Eat {
    left: u8,
}

static PLATES: [Eat; 3] = [Eat { left: 0 }, Eat { left: 1 }, Eat { left: 2 }];

impl State<Villager> for Eat {
    fn enter(&self, _: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        if self.left > 0 {
            fsm.send_after(0.15, Letter::Reminder);
        }
    }

    fn name(&self) -> Cow<'_, str> {
        format!("Eat {}", self.left).into()
    }

    fn on_message(
        &self,
        villager: &mut Villager,
        letter: &Letter,
        fsm: &mut Fsm<'_, Villager>,
        _: &mut Day<'_>,
    ) -> bool {
        if let (Letter::Reminder, Some(left)) = (letter, self.left.checked_sub(1)) {
            villager.note(u64::from(self.left));
            fsm.change_state(&PLATES[usize::from(left)]);
        }
        false
    }

    fn parent(&self) -> Option<StateRef<Villager>> {
        Some((&Feast).into())
    }

    fn region(&self) -> usize {
        1
    }
}

/// The state in which a villager carries a letter to another one.
#[derive(Clone, Serialize, Deserialize)]
struct Errand {
    to: u64,
    left: u8,
}

impl State<Villager> for Errand {
    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        villager.note(u64::from(self.left));
        if let Some(left) = self.left.checked_sub(1) {
            fsm.change_state(Box::new(Self { left, ..*self }));
        } else {
            day.office.send(villager, self.to, Letter::Coins(1));
            fsm.change_state(&Idle);
        }
    }
}

pub(crate) fn book() -> StateBook<Villager> {
    let book =
        StateBook::new().with(&Life).with(&Idle).with(&Work).with(&Prayer).with_owned::<Errand>().with_messages();
    PLATES.iter().fold(book.with(&Feast).with(&Dance).with(&Rest), StateBook::with)
}

/// Returns the first villagers of a shard: some shards are empty, and one has a third of all villagers.
pub(crate) fn first_of(shard: u32, shards: u32) -> Vec<(Villager, StateRef<Villager>)> {
    let count = if shard == 3 { u64::from(10 * shards) } else { u64::from(shard * shard % 37) };
    assert!(shard < shards);
    (0..count).map(|nth| (Villager::new(id_of(shard, nth), shard), StateRef::from(&Idle))).collect()
}

pub(crate) fn global() -> StateRef<Villager> {
    StateRef::from(&Life)
}

/// Returns the world of these villagers.
pub(crate) fn world(shards: u32) -> World<Villager> {
    world_with(shards, Oddity::None)
}

pub(crate) fn world_with(shards: u32, oddity: Oddity) -> World<Villager> {
    World::new(book())
        .shards(shards)
        .seed(SEED)
        .global(&Life)
        .populate(move |shard| first_of(shard, shards))
        .context(move |tick, post| Day { tick, shards, office: post, oddity })
}

pub(crate) fn idle() -> StateRef<Villager> {
    StateRef::from(&Idle)
}

/// A state that no villager is in.
pub(crate) struct Other;

impl State<Villager> for Other {}
