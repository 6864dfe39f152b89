//! Timers of whole ticks last as many ticks at every rate and on every clock, also if the game is saved and loaded in one of them
//! (rules 18, 25, 26, 27).
//!
//! What happens by a clock of whole seconds, of which a tick is one, is what is to happen by every other clock.

use std::time::Duration;

use demeanor::{
    Agent, Batch, Cast, CastBook, Fsm, GameTime, Owner, State, StateBook, StateMachine, StateRef, Telegram,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cases::cases;

/// How a game measures the time of a tick.
#[derive(Clone, Debug)]
enum Clock {
    /// Each tick is one second, which no clock rounds.
    Whole {
        ticks: u32,
    },
    Double {
        seconds: f64,
        tick: f64,
    },
    /// The sum is rounded so much that a tick takes longer or shorter than it should, by more than rule 18 allows for.
    Single {
        seconds: f32,
        tick: f32,
    },
    Game {
        time: GameTime,
        tick: Duration,
    },
}

impl Clock {
    fn shown(&self) -> f64 {
        match self {
            Self::Whole { ticks } => (*ticks).into(),
            Self::Double { seconds, .. } => *seconds,
            Self::Single { seconds, .. } => (*seconds).into(),
            Self::Game { time, .. } => time.total().as_secs_f64(),
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Whole { ticks } => *ticks += 1,
            Self::Double { seconds, tick } => *seconds += *tick,
            Self::Single { seconds, tick } => *seconds += *tick,
            Self::Game { time, tick } => time.advance(*tick),
        }
    }

    /// The clocks that are exact enough, and the one that is not.
    fn each(rate: u32) -> [Self; 3] {
        let tick = 1.0 / f64::from(rate);
        #[expect(clippy::cast_possible_truncation, reason = "games keep the length of a tick as an `f32`")]
        let single = tick as f32;
        [
            Self::Double { seconds: 0.0, tick },
            Self::Game { time: GameTime::new(), tick: Duration::from_secs_f64(tick) },
            Self::Single { seconds: 0.0, tick: single },
        ]
    }
}

#[derive(Clone)]
struct World {
    clock: Clock,
    /// By how many seconds the clock has been set otherwise.
    moved_by: f64,
    /// In a second.
    rate: u32,
    tick: u32,
}

impl World {
    fn new(clock: &Clock, rate: u32) -> Self {
        Self { clock: clock.clone(), moved_by: 0.0, rate, tick: 0 }
    }

    /// Of a clock of whole seconds.
    fn whole() -> Self {
        Self::new(&Clock::Whole { ticks: 0 }, 1)
    }

    fn advance(&mut self) {
        self.clock.advance();
        self.tick += 1;
    }

    fn now(&self) -> f64 {
        self.moved_by + self.clock.shown()
    }

    /// Sets the clock otherwise, if that is asked for.
    fn set_clock(&mut self, shows: Option<f64>) {
        self.moved_by = shows.map_or(self.moved_by, |shows| shows - self.clock.shown());
    }
}

/// A guard, with how many ticks it does what.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Guard {
    ticks: [u32; 5],
    /// What has happened, in which tick.
    log: Vec<(u32, String)>,
}

impl Guard {
    fn new(ticks: [u32; 5]) -> Self {
        Self { ticks, log: Vec::new() }
    }

    fn seconds(&self, nth: usize, world: &World) -> f64 {
        f64::from(self.ticks[nth]) / f64::from(world.rate)
    }

    fn note(&mut self, what: &str, world: &World) {
        self.log.push((world.tick, what.into()));
    }
}

#[derive(Clone, Serialize, Deserialize)]
enum Told {
    Bell,
    Alarm,
}

impl Owner for Guard {
    type Context<'a> = World;
    type Message = Told;

    fn now(world: &World) -> f64 {
        world.now()
    }
}

/// Around those on duty and at rest. An alarm is told again and again.
struct Post;
/// Until the time is over. Meanwhile, a bell calls elsewhere.
struct Watch;
/// Pushed over the others. It sleeps, and is over when it wakes.
struct Errand;
struct Rest;

impl State<Guard> for Post {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        fsm.send_after(guard.seconds(0, world), Told::Alarm);
    }

    fn resume(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut World) {}

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, world: &mut World) -> bool {
        if let Told::Alarm = told {
            guard.note("alarm", world);
            fsm.send_after(guard.seconds(0, world), Told::Alarm);
        }
        true
    }
}

impl State<Guard> for Watch {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Post).into())
    }

    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.note("watch", world);
        fsm.change_state_after(guard.seconds(1, world), &Rest);
        fsm.send_after(guard.seconds(2, world), Told::Bell);
    }

    fn resume(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.note("watch again", world);
    }

    fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut World) -> bool {
        let is_bell = matches!(told, Told::Bell);
        if is_bell {
            fsm.push_state(&Errand);
        }
        is_bell
    }
}

impl State<Guard> for Errand {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.note("errand", world);
        fsm.sleep_for(guard.seconds(3, world));
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        fsm.pop_state();
    }
}

impl State<Guard> for Rest {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Post).into())
    }

    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        guard.note("rest", world);
        fsm.sleep_for(guard.seconds(4, world));
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        fsm.change_state(&Watch);
    }
}

fn book() -> StateBook<Guard> {
    StateBook::new().with(&Post).with(&Watch).with(&Errand).with(&Rest).with_messages()
}

type Log = Vec<(u32, String)>;

/// When a run is saved and loaded, if it is. The clock may then show something else.
#[derive(Clone, Copy, Debug)]
struct Plan {
    saved_in: Option<u32>,
    clock_shows: Option<f64>,
}

/// A machine, and how long it has been in its states in each tick, to the bit.
fn alone(lengths: [u32; 5], mut world: World, plan: Plan) -> (Log, Vec<Vec<u64>>) {
    let mut guard = Guard::new(lengths);
    let mut machine = StateMachine::new(&Watch);
    machine.start(&mut guard, &mut world);
    let mut times = Vec::new();
    for tick in 0..TICKS {
        if plan.saved_in == Some(tick) {
            let text = serde_json::to_string(&machine.save(&book(), world.now()).unwrap()).unwrap();
            world.set_clock(plan.clock_shows);
            machine = book().load(serde_json::from_str(&text).unwrap(), world.now()).unwrap();
        }
        world.advance();
        machine.update(&mut guard, &mut world);
        let path: Vec<_> = machine.path().cloned().collect();
        times.push(path.iter().map(|state| machine.time_in(&**state, &world).unwrap().to_bits()).collect());
    }
    (guard.log, times)
}

/// How a batch is updated.
type Tick = fn(&mut Batch<Guard>, &mut World);

/// The same of many guards, of whom some have other lengths.
fn many(lengths: [u32; 5], mut world: World, plan: Plan, update: Tick) -> Vec<Log> {
    let mut batch = Batch::new();
    for nth in 0..4 {
        batch.spawn(Guard::new(lengths.map(|ticks| ticks + nth / 2)), &Watch, &mut world);
    }
    for tick in 0..TICKS {
        if plan.saved_in == Some(tick) {
            let bytes = postcard::to_allocvec(&batch.save(&book(), world.now()).unwrap()).unwrap();
            world.set_clock(plan.clock_shows);
            batch = Batch::load(postcard::from_bytes(&bytes).unwrap(), &book(), world.now()).unwrap();
        }
        world.advance();
        update(&mut batch, &mut world);
    }
    batch.keys().map(|key| batch[key].log.clone()).collect()
}

const UPDATES: &[Tick] = &[
    |batch, world| batch.update(world),
    |batch, world| batch.update_in_key_order(world),
    #[cfg(feature = "parallel")]
    |batch, world| drop(batch.par_update(|_| world.clone())),
];

/// What happens within one tick, in the order of the alphabet: clocks that count from 1970 cannot tell which of two timers was to
/// be the first.
fn by_tick(mut log: Log) -> Log {
    log.sort();
    log
}

fn rate() -> impl Strategy<Value = u32> {
    prop_oneof![Just(50), Just(60), Just(64), Just(100), Just(144), 10..=240_u32]
}

fn lengths() -> impl Strategy<Value = [u32; 5]> {
    proptest::array::uniform5(prop_oneof![3 => 1..=20_u32, 1 => 1..=300_u32])
}

/// What a clock shows that was set otherwise.
fn elsewhere() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.7e9), -1e5..1e5_f64]
}

const TICKS: u32 = 400;

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn timers_last_as_many_ticks_at_every_rate_on_every_clock_before_and_after_loading(
        rate in rate(), lengths in lengths(), saved_in in 0..TICKS, elsewhere in elsewhere(),
    ) {
        let plan = Plan { saved_in: None, clock_shows: None };
        let (expected, _) = alone(lengths, World::whole(), plan);
        let of_many = many(lengths, World::whole(), plan, UPDATES[0]);
        prop_assert_eq!(&of_many[0], &expected);
        for clock in Clock::each(rate) {
            let world = || World::new(&clock, rate);
            let before = alone(lengths, world(), plan);
            let all_before = many(lengths, world(), plan, UPDATES[0]);
            let is_exact = !matches!(clock, Clock::Single { .. });
            if is_exact {
                prop_assert_eq!(&before.0, &expected, "never saved, {:?}", clock);
                prop_assert_eq!(&all_before, &of_many, "never saved, {:?}", clock);
            }
            prop_assert_eq!(&all_before[0], &before.0, "{:?}", clock);

            let saved = Plan { saved_in: Some(saved_in), ..plan };
            prop_assert_eq!(&alone(lengths, world(), saved), &before, "the clock is the same, {:?}", clock);
            let moved = Plan { clock_shows: Some(elsewhere), ..saved };
            let (log, _) = alone(lengths, world(), moved);
            if is_exact {
                prop_assert_eq!(by_tick(log), by_tick(expected.clone()), "the clock is another, {:?}", clock);
            }
            for update in UPDATES {
                prop_assert_eq!(&many(lengths, world(), saved, *update), &all_before, "the clock is the same, {:?}", clock);
                if is_exact {
                    let moved = many(lengths, world(), moved, *update).into_iter().map(by_tick);
                    let expected = of_many.iter().cloned().map(by_tick);
                    prop_assert!(moved.eq(expected), "the clock is another, {:?}", clock);
                }
            }
        }
    }
}

type Fort = Cast<u32, u32, Vec<(u32, u32)>>;

/// A member that sends a telegram to itself, over and over, each of so many ticks that the last one says.
#[derive(Serialize, Deserialize)]
struct Runner {
    ticks: Vec<u32>,
    tick: f64,
}

impl Owner for Runner {
    type Context<'a> = Fort;
    type Message = Telegram<u32, u32>;

    fn now(fort: &Fort) -> f64 {
        fort.now()
    }
}

struct Run;

impl State<Runner> for Run {
    fn on_message(
        &self,
        runner: &mut Runner,
        told: &Telegram<u32, u32>,
        _: &mut Fsm<'_, Runner>,
        fort: &mut Fort,
    ) -> bool {
        fort.world.push((0, told.message));
        let next = told.message + 1;
        let ticks = runner.ticks[next as usize % runner.ticks.len()];
        fort.send_after(f64::from(ticks) * runner.tick, told.receiver, told.receiver, next);
        true
    }
}

/// In which ticks telegrams arrive that are sent for so many ticks each, if the cast is saved and loaded in one of them.
fn arrivals(ticks: &[u32], tick: Duration, rate: u32, saved_in: Option<u32>) -> Vec<(u32, u32)> {
    let book = CastBook::<Fort>::new().with("runner", StateBook::<Runner>::new().with(&Run));
    let mut fort = Fort::new(Vec::new());
    let runner = Runner { ticks: ticks.to_vec(), tick: 1.0 / f64::from(rate) };
    fort.add(1, Agent::new(runner, StateMachine::new(&Run))).unwrap();
    fort.send_after(f64::from(ticks[0]) / f64::from(rate), 1, 1, 0);
    let mut arrived = Vec::new();
    for nth in 1..=TICKS {
        if saved_in == Some(nth) {
            let text = serde_json::to_string(&fort.save(&book).unwrap()).unwrap();
            fort = Fort::load(serde_json::from_str(&text).unwrap(), &book, Vec::new()).unwrap();
        }
        fort.advance(tick);
        fort.deliver_due();
        arrived.extend(fort.world.drain(..).map(|(_, number)| (nth, number)));
    }
    arrived
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn delayed_telegrams_arrive_in_the_same_ticks_after_loading(
        rate in rate(), ticks in proptest::collection::vec(1..60_u32, 1..5), saved_in in 1..=TICKS,
    ) {
        let tick = Duration::from_secs_f64(1.0 / f64::from(rate));
        let unsaved = arrivals(&ticks, tick, rate, None);
        prop_assert!(!unsaved.is_empty());
        prop_assert_eq!(&arrivals(&ticks, tick, rate, Some(saved_in)), &unsaved);
    }
}
