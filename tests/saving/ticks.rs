//! A game that is loaded goes on to the tick, at every rate and on every clock (rules 18 and 27).

use std::time::Duration;

use demeanor::{Agent, Batch, Fsm, GameTime, Owner, State, StateBook, StateMachine};
use proptest::prelude::*;

/// An owner whose timers last whole ticks.
#[derive(Clone, Debug, Default, PartialEq)]
struct Guard {
    /// How many ticks its timer, its sleep, and the timer of the state under it last.
    ticks: [u32; 3],
    seen: Vec<&'static str>,
}

/// The clock, and how long a tick is in seconds.
struct Shown {
    now: f64,
    tick: f64,
}

impl Owner for Guard {
    type Context<'a> = Shown;
    type Message = ();

    fn now(shown: &Shown) -> f64 {
        shown.now
    }
}

impl Guard {
    fn wait(&self, nth: usize, shown: &Shown) -> f64 {
        f64::from(self.ticks[nth]) * shown.tick
    }
}

/// Lasts some ticks, and is pushed over meanwhile.
struct Walk;
/// Sleeps some ticks.
struct Rest;
/// Is pushed over `Walk` for some ticks.
struct Look;

impl State<Guard> for Walk {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, shown: &mut Shown) {
        guard.seen.push("walk");
        fsm.change_state_after(guard.wait(0, shown), &Rest);
        fsm.push_state(&Look);
    }

    fn resume(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Shown) {
        guard.seen.push("walk on");
    }

    fn suspend(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Shown) {}
}

impl State<Guard> for Rest {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, shown: &mut Shown) {
        guard.seen.push("rest");
        fsm.sleep_for(guard.wait(1, shown));
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Shown) {
        guard.seen.push("awake");
        fsm.change_state(&Walk);
    }
}

impl State<Guard> for Look {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, shown: &mut Shown) {
        guard.seen.push("look");
        fsm.send_after(guard.wait(2, shown), ());
    }

    fn on_message(&self, guard: &mut Guard, (): &(), fsm: &mut Fsm<'_, Guard>, _: &mut Shown) -> bool {
        guard.seen.push("seen");
        fsm.pop_state();
        true
    }
}

fn book() -> StateBook<Guard> {
    StateBook::new().with(&Walk).with(&Rest).with(&Look).with_messages()
}

/// How a game keeps its time.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Float,
    Single,
    Game,
}

/// A game's clock.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Float(f64, f64),
    Single(f32, f32),
    Game(GameTime, Duration),
}

impl Clock {
    fn new(sum: Sum, rate: u32, begins_at: f64) -> Self {
        let tick = 1.0 / f64::from(rate);
        #[expect(clippy::cast_possible_truncation, reason = "that is what such a game does")]
        match sum {
            Sum::Float => Self::Float(begins_at, tick),
            Sum::Single => Self::Single(begins_at as f32, tick as f32),
            Sum::Game => {
                let mut time = GameTime::new();
                time.advance(Duration::from_secs_f64(begins_at));
                Self::Game(time, Duration::from_secs_f64(tick))
            }
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Float(seconds, tick) => *seconds += *tick,
            Self::Single(seconds, tick) => *seconds += *tick,
            Self::Game(time, tick) => time.advance(*tick),
        }
    }

    fn shown(&self) -> Shown {
        match self {
            Self::Float(seconds, tick) => Shown { now: *seconds, tick: *tick },
            Self::Single(seconds, tick) => Shown { now: f64::from(*seconds), tick: f64::from(*tick) },
            Self::Game(time, tick) => Shown { now: time.total().as_secs_f64(), tick: tick.as_secs_f64() },
        }
    }

    fn now(&self) -> f64 {
        self.shown().now
    }
}

/// What a guard of each kind has seen, tick by tick: as a machine, an agent, in a batch, and in one that is updated on all
/// cores.
struct Game {
    guard: Guard,
    machine: StateMachine<Guard>,
    agent: Agent<Guard>,
    batches: [Batch<Guard>; 2],
}

impl Game {
    fn new(ticks: [u32; 3], clock: &Clock) -> Self {
        let mut shown = clock.shown();
        let guard = Guard { ticks, seen: Vec::new() };
        let mut game = Self {
            agent: Agent::new(guard.clone(), StateMachine::new(&Walk)),
            machine: StateMachine::new(&Walk),
            batches: [Batch::new(), Batch::new()],
            guard: guard.clone(),
        };
        game.machine.start(&mut game.guard, &mut shown);
        game.agent.start(&mut shown);
        for batch in &mut game.batches {
            batch.spawn(guard.clone(), &Walk, &mut shown);
        }
        game
    }

    fn save_and_load(&mut self, before: f64, now: f64) {
        let book = book();
        self.machine = book.load(self.machine.save(&book, before).unwrap(), now).unwrap();
        let saved = self.agent.save(&book, before).unwrap().map_owner(Guard::clone);
        self.agent = Agent::load(saved, &book, now).unwrap();
        for batch in &mut self.batches {
            *batch = Batch::load(batch.save(&book, before).unwrap().map_owners(Guard::clone), &book, now).unwrap();
        }
    }

    /// Goes on by a tick. Returns what the guards have seen in it, which is the same for all.
    fn tick(&mut self, clock: &mut Clock) -> Vec<&'static str> {
        clock.advance();
        self.machine.update(&mut self.guard, &mut clock.shown());
        self.agent.update(&mut clock.shown());
        let [batch, parallel] = &mut self.batches;
        batch.update(&mut clock.shown());
        #[cfg(feature = "parallel")]
        parallel.par_update(|_| clock.shown());
        #[cfg(not(feature = "parallel"))]
        parallel.update(&mut clock.shown());
        let seen = std::mem::take(&mut self.guard.seen);
        assert_eq!(std::mem::take(&mut self.agent.seen), seen);
        for batch in &mut self.batches {
            let (_, guard) = batch.iter_mut().next().unwrap();
            assert_eq!(std::mem::take(&mut guard.seen), seen);
        }
        seen
    }
}

const RATES: [u32; 10] = [10, 24, 30, 50, 60, 64, 100, 120, 144, 240];

proptest! {
    /// At the same time by the clock, to the bit; by another clock, within the tolerance, for which a clock that adds up in
    /// `f32` is too coarse.
    #[test]
    fn what_lasts_whole_ticks_lasts_as_many_after_loading(
        ticks in proptest::array::uniform3(1..40_u32),
        rate in proptest::sample::select(&RATES),
        sum in prop_oneof![Just(Sum::Float), Just(Sum::Single), Just(Sum::Game)],
        begins_at in prop_oneof![Just(0.0), 0.0..10_000.0_f64],
        elsewhere in prop_oneof![Just(0.0), 0.0..10_000.0_f64],
        saved_at in proptest::collection::vec(1..200_u32, 1..4),
    ) {
        let elsewhere = if let Sum::Single = sum { None } else { Some(elsewhere) };
        let mut clock = Clock::new(sum, rate, begins_at);
        let mut clocks = [clock, clock];
        let mut game = Game::new(ticks, &clock);
        let mut loaded = [Game::new(ticks, &clock), Game::new(ticks, &clock)];
        for tick in 1..200 {
            let seen = game.tick(&mut clock);
            for (nth, (loaded, clock)) in loaded.iter_mut().zip(&mut clocks).enumerate() {
                prop_assert_eq!(loaded.tick(clock), &*seen, "tick {}, game {}", tick, nth);
                if saved_at.contains(&tick) {
                    let before = clock.now();
                    if let (1, Some(elsewhere)) = (nth, elsewhere) {
                        *clock = Clock::new(sum, rate, elsewhere);
                    }
                    loaded.save_and_load(before, clock.now());
                }
            }
            if tick == ticks[2] && !matches!(sum, Sum::Single) {
                prop_assert!(seen.contains(&"seen"), "the first timer is due in tick {}", tick);
            }
        }
    }
}
