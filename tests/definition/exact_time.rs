//! A state that is to last some ticks lasts so many, at every rate and on every clock, after hours, too.
#![cfg(feature = "definition")]

use std::fmt::Write as _;
use std::time::Duration;

use demeanor::definition::{Definition, Verdict, Vocabulary};
use demeanor::{Batch, Fsm, GameTime, Owner, State};

#[derive(Default)]
struct Guard {
    looks: usize,
}

impl Owner for Guard {
    type Context<'a> = Clock;
    type Message = ();

    fn now(clock: &Clock) -> f64 {
        clock.now()
    }
}

/// A game's clock, which advances by a tick at a time.
#[derive(Clone, Debug)]
enum Clock {
    /// Adds up the length of a tick.
    Float { seconds: f64, tick: f64 },
    /// Counts nanoseconds.
    Game { time: GameTime, tick: Duration },
    /// Counts ticks, and says how long they have been, as clocks do that count from 1970.
    Whole { ticks: f64, rate: f64, begins_at: f64 },
}

impl Clock {
    fn now(&self) -> f64 {
        match self {
            Self::Float { seconds, .. } => *seconds,
            Self::Game { time, .. } => time.total().as_secs_f64(),
            Self::Whole { ticks, rate, begins_at } => begins_at + ticks / rate,
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Float { seconds, tick } => *seconds += *tick,
            Self::Game { time, tick } => time.advance(*tick),
            Self::Whole { ticks, .. } => *ticks += 1.0,
        }
    }

    /// Advances by so many ticks.
    fn skip(&mut self, mut count: u32) {
        match self {
            // Each tick adds its own error.
            Self::Float { seconds, tick } => {
                while count > 0 {
                    *seconds += *tick;
                    count -= 1;
                }
            }
            Self::Game { time, tick } => time.advance(*tick * count),
            Self::Whole { ticks, .. } => *ticks += f64::from(count),
        }
    }

    fn each(rate: u32) -> [Self; 6] {
        let rate = f64::from(rate);
        #[expect(clippy::cast_possible_truncation, reason = "games keep the length of a tick as an `f32`")]
        let single = (1.0 / rate) as f32;
        [
            Self::Float { seconds: 0.0, tick: 1.0 / rate },
            Self::Float { seconds: 0.0, tick: f64::from(single) },
            Self::Game { time: GameTime::new(), tick: Duration::from_secs_f64(1.0 / rate) },
            Self::Game { time: GameTime::new(), tick: Duration::from_secs_f32(single) },
            Self::Whole { ticks: 0.0, rate, begins_at: 0.0 },
            Self::Whole { ticks: 0.0, rate, begins_at: 1.7e9 },
        ]
    }
}

const RATES: [u32; 8] = [10, 30, 35, 50, 60, 100, 120, 144];

/// Conditions on the time in a state, with the length of so many ticks for `{}`; and in which tick they first hold.
const CONDITIONS: [(&str, u32, usize); 12] = [
    ("time_in_state >= {}", 1, 1),
    ("time_in_state >= {}", 2, 2),
    ("{} <= time_in_state", 3, 3),
    ("time_in_state >= {}", 7, 7),
    ("time_in_state > {}", 3, 4),
    ("not time_in_state < {}", 5, 5),
    ("not time_in_state <= {}", 5, 6),
    ("time_in_state == {}", 9, 9),
    ("not time_in_state != {}", 6, 6),
    ("time_in_state >= three_ticks", 0, 3),
    ("time_in_state >= {}", 100, 100),
    ("time_in_state >= {}", 300, 300),
];

/// Nobody is to stay for so many ticks.
const MOST: usize = 30_000;

/// States in a circle, each of which lasts until its condition holds.
fn circle(rate: u32) -> Definition<Guard> {
    let mut file = String::from("initial = 's0'\n");
    for (i, (when, ticks, _)) in CONDITIONS.iter().enumerate() {
        let when = when.replace("{}", &(f64::from(*ticks) / f64::from(rate)).to_string());
        let next = (i + 1) % CONDITIONS.len();
        writeln!(file, "states.s{i}.exits = [{{ to = 's{next}', when = '{when}' }}]").unwrap();
    }
    let vocabulary = Vocabulary::new().value("three_ticks", move |_: &Guard, _| 3.0 / f64::from(rate));
    Definition::parse(&file, &vocabulary).unwrap_or_else(|problems| panic!("{problems}"))
}

/// How many ticks each state is to last, in the order of the circle.
fn expected() -> Vec<(String, usize)> {
    CONDITIONS.iter().enumerate().map(|(i, (_, _, ticks))| (format!("s{i}"), *ticks)).collect()
}

/// Lets a machine go round the circle, and says how many ticks it has been in each state. What is explained before each tick
/// is what happens in it.
fn stays_alone(definition: &Definition<Guard>, mut clock: Clock) -> Vec<(String, usize)> {
    let mut machine = definition.machine();
    machine.start(&mut Guard::default(), &mut clock);
    let mut stays = Vec::new();
    for _ in &CONDITIONS {
        let state = machine.current().cloned();
        let mut ticks = 0;
        while machine.current() == state.as_ref() && ticks < MOST {
            ticks += 1;
            clock.advance();
            let reports = machine.with(&mut Guard::default(), &mut clock, |guard, fsm, clock| {
                definition.explain_with(guard, fsm, clock)
            });
            let is_taken = reports.iter().any(|report| report.verdict == Verdict::Taken);
            machine.update(&mut Guard::default(), &mut clock);
            assert_eq!(machine.current() != state.as_ref(), is_taken, "{reports:?}");
        }
        stays.push((state.unwrap().to_string(), ticks));
    }
    stays
}

/// The same of many in a batch, who are all alike.
fn stays_in_a_batch(definition: &Definition<Guard>, mut clock: Clock) -> Vec<(String, usize)> {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..70).map(|_| batch.spawn(Guard::default(), definition.initial(), &mut clock)).collect();
    let mut stays = Vec::new();
    for _ in &CONDITIONS {
        let state = batch.state_of(keys[0]).cloned();
        let mut ticks = 0;
        while batch.state_of(keys[0]) == state.as_ref() && ticks < MOST {
            ticks += 1;
            clock.advance();
            batch.update(&mut clock);
        }
        assert!(keys.iter().all(|key| batch.state_of(*key) == batch.state_of(keys[0])));
        stays.push((state.unwrap().to_string(), ticks));
    }
    stays
}

#[test]
fn a_state_lasts_as_many_ticks_as_the_file_says_at_every_rate_on_every_clock_after_hours() {
    for rate in RATES {
        let definition = circle(rate);
        for mut clock in Clock::each(rate) {
            // From the beginning, and after an hour, two, and twelve.
            for hours in [0, 1, 1, 10] {
                clock.skip(hours * 3600 * rate);
                let case = format!("{rate} Hz, {clock:?}");
                assert_eq!(stays_alone(&definition, clock.clone()), expected(), "{case}");
                assert_eq!(stays_in_a_batch(&definition, clock.clone()), expected(), "{case}");
            }
        }
    }
}

/// What each tick adds to the error of a clock adds up, too. Who sleeps meanwhile wakes in the right tick.
#[test]
fn a_state_that_lasts_many_ticks_lasts_as_many_as_the_file_says() {
    for rate in RATES {
        let seconds = 5_000.0 / f64::from(rate);
        for way in [format!("when = 'time_in_state >= {seconds}'"), format!("after = {seconds}")] {
            let file =
                format!("initial = 'long'\nstates.long.exits = [{{ to = 'end', {way} }}]\nstates.end.final = true");
            let definition = Definition::parse(&file, &Vocabulary::<Guard>::new()).unwrap();
            for mut clock in Clock::each(rate) {
                let case = format!("{way}, {rate} Hz, {clock:?}");
                let mut machine = definition.machine();
                machine.start(&mut Guard::default(), &mut clock);
                let mut batch = Batch::new();
                let keys = [(); 2].map(|()| batch.spawn(Guard::default(), definition.initial(), &mut clock));
                let initial = definition.initial();
                let mut stays = [0; 3];
                for _ in 0..5_010 {
                    clock.advance();
                    machine.update(&mut Guard::default(), &mut clock);
                    batch.update(&mut clock);
                    let states = [machine.current(), batch.state_of(keys[0]), batch.state_of(keys[1])];
                    for (stay, state) in stays.iter_mut().zip(states) {
                        *stay += usize::from(state == Some(&initial));
                    }
                }
                // In the last tick it is somewhere else.
                assert_eq!(stays, [4_999; 3], "{case}");
            }
        }
    }
}

/// A behavior that counts its updates.
struct Look;

impl State<Guard> for Look {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Clock) {
        guard.looks += 1;
    }
}

#[test]
fn a_state_has_its_turn_in_the_ticks_that_the_file_says_at_every_rate_on_every_clock() {
    const TICKS: [usize; 4] = [1, 3, 7, 100];

    for rate in RATES {
        for ticks in TICKS {
            let every = f64::from(u32::try_from(ticks).unwrap()) / f64::from(rate);
            let vocabulary = Vocabulary::new().behaviour("look", &Look);
            let file =
                format!("initial = 'watch'\nstates.watch = {{ behaviour = 'look', every = {every}, final = true }}");
            let definition = Definition::parse(&file, &vocabulary).unwrap();
            for mut clock in Clock::each(rate) {
                let (mut guard, mut machine) = (Guard::default(), definition.machine());
                machine.start(&mut guard, &mut clock);
                let mut batch = Batch::new();
                let key = batch.spawn(Guard::default(), definition.initial(), &mut clock);
                for tick in 1..=500 {
                    clock.advance();
                    machine.update(&mut guard, &mut clock);
                    batch.update(&mut clock);
                    let looks = [guard.looks, batch.get(key).unwrap().looks];
                    assert_eq!(looks, [tick / ticks; 2], "tick {tick}, {ticks} ticks at {rate} Hz, {clock:?}");
                }
            }
        }
    }
}
