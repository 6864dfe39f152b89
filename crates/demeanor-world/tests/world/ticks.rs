//! Timers and sleeps that take whole ticks last the same number of ticks at every rate and on every clock, also in a world that
//! is stopped and continues from a checkpoint (rules 18, 25, 26, 27).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use demeanor::{DigestHasher, Fsm, GameTime, Owner, State, StateBook, StateRef};
use demeanor_world::{Citizen, World};
use oorandom::Rand32;
use serde::{Deserialize, Serialize};

const TICKS: u64 = 150;
const WATCHMEN: u64 = 6;

/// How the game measures the time of its ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clock {
    /// Each tick is one second, which no clock rounds.
    Whole,
    Double,
    /// The sum of all ticks in single precision: rounding makes a tick longer or shorter by more than rule 18 allows for.
    Single,
    Game,
}

impl Clock {
    /// Returns the clock's time in a tick, as the sum of all ticks before.
    fn shown(self, rate: u32, tick: u64) -> f64 {
        let length = 1.0 / f64::from(rate);
        match self {
            Self::Whole => f64::from(u32::try_from(tick).unwrap()),
            Self::Double => (0..tick).fold(0.0, |seconds, _| seconds + length),
            #[expect(clippy::cast_possible_truncation, reason = "games keep the length of a tick as an `f32`")]
            Self::Single => (0..tick).fold(0.0, |seconds, _| seconds + length as f32).into(),
            Self::Game => {
                let mut time = GameTime::new();
                (0..tick).for_each(|_| time.advance(Duration::from_secs_f64(length)));
                time.total().as_secs_f64()
            }
        }
    }
}

/// The events: tick, citizen, name.
type Log = Arc<Mutex<Vec<(u64, u64, &'static str)>>>;

struct Night {
    tick: u64,
    seconds: f64,
    log: Log,
}

/// The lengths of the watchman's activities, in seconds.
#[derive(Clone, Serialize, Deserialize)]
struct Watchman {
    id: u64,
    seconds: [f64; 4],
}

impl Watchman {
    fn note(&self, what: &'static str, night: &Night) {
        night.log.lock().unwrap().push((night.tick, self.id, what));
    }
}

impl Owner for Watchman {
    type Context<'a> = Night;
    type Message = u8;

    fn now(night: &Night) -> f64 {
        night.seconds
    }
}

impl Citizen for Watchman {
    fn id(&self) -> u64 {
        self.id
    }

    fn home(&self) -> u32 {
        u32::try_from(self.id % 3).unwrap()
    }

    fn digest(&self, _: &mut DigestHasher) {}
}

/// A state that lasts until its time is over. Meanwhile, a bell calls the watchman away.
struct Watch;
/// A state that is pushed onto the watch. It sleeps, and ends when it wakes up.
struct Errand;
/// Sleeps.
struct Rest;

impl State<Watchman> for Watch {
    fn enter(&self, watchman: &mut Watchman, fsm: &mut Fsm<'_, Watchman>, night: &mut Night) {
        watchman.note("watch", night);
        fsm.change_state_after(watchman.seconds[0], &Rest);
        fsm.send_after(watchman.seconds[1], 0);
    }

    fn on_message(&self, watchman: &mut Watchman, _: &u8, fsm: &mut Fsm<'_, Watchman>, night: &mut Night) -> bool {
        watchman.note("bell", night);
        fsm.push_state(&Errand);
        true
    }
}

impl State<Watchman> for Errand {
    fn enter(&self, watchman: &mut Watchman, fsm: &mut Fsm<'_, Watchman>, night: &mut Night) {
        watchman.note("errand", night);
        fsm.sleep_for(watchman.seconds[2]);
    }

    fn update(&self, _: &mut Watchman, fsm: &mut Fsm<'_, Watchman>, _: &mut Night) {
        fsm.pop_state();
    }
}

impl State<Watchman> for Rest {
    fn enter(&self, watchman: &mut Watchman, fsm: &mut Fsm<'_, Watchman>, night: &mut Night) {
        watchman.note("rest", night);
        fsm.sleep_for(watchman.seconds[3]);
    }

    fn update(&self, _: &mut Watchman, fsm: &mut Fsm<'_, Watchman>, _: &mut Night) {
        fsm.change_state(&Watch);
    }
}

/// A game: its clock, its ticks per second, and the number of ticks of each watchman's activities.
#[derive(Clone, Debug)]
struct Game {
    clock: Clock,
    rate: u32,
    ticks: Vec<[u32; 4]>,
}

impl Game {
    fn world(&self, log: &Log) -> World<Watchman> {
        let Self { clock, rate, ticks } = self.clone();
        let rate = if clock == Clock::Whole { 1 } else { rate };
        let watchmen = move |shard: u32| {
            let ticks = ticks.clone();
            let watchmen = (0..WATCHMEN).zip(ticks).map(move |(id, ticks)| {
                (
                    Watchman { id, seconds: ticks.map(|ticks| f64::from(ticks) / f64::from(rate)) },
                    StateRef::from(&Watch),
                )
            });
            watchmen.filter(move |(watchman, _)| watchman.home() == shard)
        };
        let log = Arc::clone(log);
        World::new(StateBook::new().with(&Watch).with(&Errand).with(&Rest).with_messages())
            .shards(3)
            .populate(watchmen)
            .context(move |tick, _| Night { tick, seconds: clock.shown(rate, tick), log: Arc::clone(&log) })
    }

    /// Runs for some ticks. With `saved_after`, the run ends with a checkpoint after that number of ticks, and continues from
    /// it.
    fn play(&self, saved_after: Option<u64>) -> Vec<(u64, u64, &'static str)> {
        let log = Log::default();
        let folder = tempfile::tempdir().unwrap();
        if let Some(ticks) = saved_after {
            self.world(&log).checkpoint(ticks, folder.path()).run(["-w", "2"], ticks).unwrap();
            self.world(&log).checkpoint(1_000_000, folder.path()).run(["--resume"], TICKS).unwrap();
        } else {
            self.world(&log).run(["-w", "1"], TICKS).unwrap();
        }
        let mut log = std::mem::take(&mut *log.lock().unwrap());
        log.sort_by_key(|(tick, id, _)| (*tick, *id));
        log
    }
}

#[test]
fn ticks_are_as_long_in_a_world_that_goes_on_from_a_checkpoint() {
    let games = std::env::var("RANDOM_CASES").map_or(64, |cases| cases.parse().unwrap()) / 16;
    let games = games.max(1);
    let mut random = Rand32::new(11);
    for _ in 0..games {
        let mut below = |end| random.rand_range(0..end);
        let rate = [30, 50, 60, 64, 72, 90, 100, 120, 144][below(9) as usize];
        let mut length = || 1 + if below(4) == 0 { below(90) } else { below(20) };
        let ticks: Vec<_> = (0..WATCHMEN).map(|_| [(); 4].map(|()| length())).collect();
        let saved_after = 1 + u64::from(below(140));
        let game = |clock| Game { clock, rate, ticks: ticks.clone() };
        let expected = game(Clock::Whole).play(None);
        assert!(expected.len() > 20, "{expected:?}");
        for clock in [Clock::Whole, Clock::Double, Clock::Game] {
            assert_eq!(game(clock).play(Some(saved_after)), expected, "saved after {saved_after}: {:?}", game(clock));
        }
        let game = game(Clock::Single);
        assert_eq!(game.play(Some(saved_after)), game.play(None), "saved after {saved_after}: {game:?}");
    }
}
