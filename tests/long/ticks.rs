//! Very many ticks.

use std::collections::VecDeque;
use std::time::Duration;

use allocation_counter::measure;
use demeanor::{Agent, Batch, Cast, Fsm, Key, Owner, State, StateMachine, Telegram};

/// How the clock is summed.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Double(f64),
    Single(f32),
    Whole(Duration),
}

/// Ticks in a second.
const RATE: u32 = 60;

impl Clock {
    const ALL: [Self; 3] = [Self::Double(0.0), Self::Single(0.0), Self::Whole(Duration::ZERO)];

    fn advance(&mut self, by: Duration) {
        match self {
            Self::Double(now) => *now += by.as_secs_f64(),
            Self::Single(now) => *now += by.as_secs_f32(),
            Self::Whole(now) => *now += by,
        }
    }

    fn now(self) -> f64 {
        match self {
            Self::Double(now) => now,
            Self::Single(now) => now.into(),
            Self::Whole(now) => now.as_secs_f64(),
        }
    }
}

/// By how much the clock goes on: a tick; seldom by half a minute, and once in a long while by days.
fn step(tick: u32) -> Duration {
    match tick {
        tick if tick % 50_000 == 49_999 => Duration::from_secs(3 * 86_400),
        tick if tick % 997 == 0 => Duration::from_secs(30),
        _ => Duration::from_secs(1) / RATE,
    }
}

/// A lamp: off until a timer turns it on; on while it sleeps; then it blinks in each tick, until a message comes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lamp {
    number: u32,
    changes: u32,
    updates: u32,
}

impl Lamp {
    /// How long it is off, on, and blinks, in seconds.
    fn times(&self) -> [f64; 3] {
        let number = f64::from(self.number);
        [0.05 + number / 7.0, 0.1 + number / 3.0, 0.25]
    }
}

impl Owner for Lamp {
    type Context<'a> = f64;
    type Message = ();

    fn now(now: &f64) -> f64 {
        *now
    }
}

struct Off;
struct On;
struct Blinking;

impl State<Lamp> for Off {
    fn enter(&self, lamp: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.changes += 1;
        fsm.change_state_after(lamp.times()[0], &On);
    }

    fn update(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.updates += 1;
    }
}

impl State<Lamp> for On {
    fn enter(&self, lamp: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.changes += 1;
        // A timer that ends with its state, and never comes due.
        fsm.change_state_after(1e9, &Off);
        fsm.sleep_for(lamp.times()[1]);
    }

    fn update(&self, lamp: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.updates += 1;
        fsm.change_state(&Blinking);
    }
}

impl State<Lamp> for Blinking {
    fn enter(&self, lamp: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.changes += 1;
        fsm.send_after(lamp.times()[2], ());
    }

    fn update(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut f64) {
        lamp.updates += 1;
    }

    fn on_message(&self, _: &mut Lamp, (): &(), fsm: &mut Fsm<'_, Lamp>, _: &mut f64) -> bool {
        fsm.change_state(&Off);
        true
    }
}

/// When a wait of so many seconds is over (rule 18).
fn due_after(seconds: f64, now: f64) -> f64 {
    now + (seconds - (1e-6 + 1e-6 * seconds))
}

/// The same lamp, which asks the clock in each tick.
#[derive(Clone)]
struct Polling {
    lamp: Lamp,
    state: usize,
    due: f64,
}

impl Polling {
    fn new(number: u32) -> Self {
        let lamp = Lamp { number, changes: 1, updates: 0 };
        let due = due_after(lamp.times()[0], 0.0);
        Self { lamp, state: 0, due }
    }

    fn tick(&mut self, now: f64) {
        // Timers and messages that are due come before the update.
        if self.state != 1 && now >= self.due {
            self.enter((self.state + 1) % 3, now);
        }
        if self.state != 1 {
            self.lamp.updates += 1;
        } else if now >= self.due {
            self.lamp.updates += 1;
            self.enter(2, now);
        }
    }

    fn enter(&mut self, state: usize, now: f64) {
        self.state = state;
        self.lamp.changes += 1;
        self.due = due_after(self.lamp.times()[state], now);
    }
}

const NAMES: [&str; 3] = ["Off", "On", "Blinking"];

fn lamps_of_a_batch(batch: &Batch<Lamp>, keys: &[Key]) -> Vec<(Lamp, String)> {
    let of = |key: &Key| (batch[*key].clone(), batch.state_of(*key).expect("it is in one").to_string());
    keys.iter().map(of).collect()
}

/// Rules 18, 25 and 26.
#[test]
fn a_machine_and_a_batch_that_wait_fare_for_very_many_ticks_as_a_model_that_polls() {
    for mut clock in Clock::ALL {
        let ticks = crate::many(400) / 3;
        let mut polling: Vec<_> = (0..12).map(Polling::new).collect();
        let mut machines: Vec<_> =
            (0..12).map(|number| (Lamp { number, ..Lamp::default() }, StateMachine::new(&Off))).collect();
        let mut batch = Batch::new();
        for (lamp, machine) in &mut machines {
            machine.start(lamp, &mut 0.0);
        }
        let keys: Vec<_> =
            (0..12).map(|number| batch.spawn(Lamp { number, ..Lamp::default() }, &Off, &mut 0.0)).collect();
        let mut run = |ticks: std::ops::Range<u32>| {
            for tick in ticks {
                clock.advance(step(tick));
                let now = clock.now();
                for (lamp, machine) in &mut machines {
                    machine.update(lamp, &mut { now });
                }
                batch.update(&mut { now });
                for lamp in &mut polling {
                    lamp.tick(now);
                }
                if tick % 1000 == 0 || tick < 200 {
                    let expected: Vec<_> = polling
                        .iter()
                        .map(|polling| (polling.lamp.clone(), NAMES[polling.state].to_string()))
                        .collect();
                    let of_machines: Vec<_> = machines
                        .iter()
                        .map(|(lamp, machine)| (lamp.clone(), machine.current().expect("it is in one").to_string()))
                        .collect();
                    assert_eq!(of_machines, expected, "machines in tick {tick}, {clock:?}");
                    assert_eq!(lamps_of_a_batch(&batch, &keys), expected, "the batch in tick {tick}, {clock:?}");
                }
            }
        };
        // A batch keeps up to a thousand timers that have ended. After these ticks, its vectors have room for them.
        let start = (ticks / 2).max(24_000);
        run(0..start);
        let memory = measure(|| run(start..start + ticks / 2));
        // What is compared is made anew, and given back.
        assert!(memory.bytes_current.abs() < 20_000, "{memory:?}");
    }
}

/// The world is what has arrived, in which tick.
type Ring = Cast<u32, u32, (u32, u64)>;

struct Passer(u32);

impl Owner for Passer {
    type Context<'a> = Ring;
    type Message = Telegram<u32, u32>;

    fn now(ring: &Ring) -> f64 {
        ring.now()
    }
}

struct Passing;

const MEMBERS: u32 = 7;

/// After how many ticks a telegram arrives.
fn delay(word: u32) -> u32 {
    1 + word % 13
}

/// Mixes what arrives into one number, in its order.
fn mix(sum: u64, tick: u32, receiver: u32, word: u32) -> u64 {
    let entry = u64::from(tick) << 32 ^ u64::from(receiver) << 16 ^ u64::from(word);
    (sum.rotate_left(5) ^ entry).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl State<Passer> for Passing {
    fn on_message(
        &self,
        passer: &mut Passer,
        telegram: &Telegram<u32, u32>,
        _: &mut Fsm<'_, Passer>,
        ring: &mut Ring,
    ) -> bool {
        let (tick, sum) = ring.world;
        ring.world.1 = mix(sum, tick, passer.0, telegram.message);
        let word = telegram.message.wrapping_mul(7).wrapping_add(tick) % 1000;
        // Ticks of a binary fraction of a second, so that all that is due in a tick is due at one time.
        ring.send_after(f64::from(delay(word)) / 64.0, passer.0, (passer.0 + 1) % MEMBERS, word);
        true
    }
}

/// Rule 30.
#[test]
fn telegrams_arrive_for_very_many_ticks_in_the_order_of_a_model() {
    let ticks = crate::many(400);
    let mut ring = Ring::new((0, 0));
    let mut model: VecDeque<Vec<(u32, u32)>> = vec![vec![]; 20].into();
    let mut sum = 0;
    for number in 0..MEMBERS {
        ring.add(number, Agent::new(Passer(number), StateMachine::new(&Passing))).unwrap();
        ring.send_after(f64::from(number + 1) / 64.0, 99, number, number);
        model[number as usize + 1].push((number, number));
    }
    let mut run = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            ring.world.0 = tick;
            assert!(ring.deliver_due().is_empty());
            let due = model.pop_front().expect("as many as there are ticks ahead");
            model.push_back(vec![]);
            for (receiver, word) in due {
                sum = mix(sum, tick, receiver, word);
                let word = word.wrapping_mul(7).wrapping_add(tick) % 1000;
                model[delay(word) as usize - 1].push(((receiver + 1) % MEMBERS, word));
            }
            assert_eq!(ring.world.1, sum, "in tick {tick}");
            ring.advance(Duration::from_secs(1) / 64);
        }
    };
    run(0..ticks / 2);
    let memory = measure(|| run(ticks / 2..ticks));
    assert!(memory.bytes_current.abs() < 5000, "{memory:?}");
}

#[cfg(feature = "definition")]
mod definition {
    use super::*;
    use demeanor::definition::{Definition, Vocabulary};

    struct Count;

    impl State<Lamp> for Count {
        fn update(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut f64) {
            lamp.updates += 1;
        }

        fn enter(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut f64) {
            lamp.changes += 1;
        }
    }

    const FILE: &str = "initial = 'a'\n[states.a]\nbehavior = 'count'\nevery = 0.25\nexits = [{ to = 'b', after = 3 }]\n\
                        [states.b]\nbehavior = 'count'\nexits = [{ to = 'a', after = 1 }]\n";

    /// At 64 ticks in a second, all times of the file are whole ticks.
    #[test]
    fn a_definition_counts_its_turns_and_seconds_right_for_very_many_ticks() {
        let vocabulary = Vocabulary::new().behavior("count", std::sync::Arc::new(Count));
        let definition = Definition::parse(FILE, &vocabulary).unwrap_or_else(|problems| panic!("{problems}"));
        let ticks = crate::many(400);
        let (mut lamp, mut machine) = (Lamp::default(), definition.machine());
        machine.start(&mut lamp, &mut 0.0);
        let mut batch = definition.batch();
        let keys: Vec<_> = (0..70).map(|_| batch.spawn(Lamp::default(), definition.initial(), &mut 0.0)).collect();
        let mut counts = (1, 0);
        let mut changes = vec![];
        let mut run = |ticks: std::ops::Range<u32>| {
            for tick in ticks {
                let now = f64::from(tick) / 64.0;
                machine.update(&mut lamp, &mut { now });
                batch.update(&mut { now });
                let seen = (lamp.changes, lamp.updates);
                if seen.0 != counts.0 {
                    changes.push(tick);
                    if changes.len() > 4 {
                        changes.remove(0);
                        let spans: Vec<_> = changes.windows(2).map(|pair| pair[1] - pair[0]).collect();
                        assert!(spans == [192, 64, 192] || spans == [64, 192, 64], "{spans:?} at tick {tick}");
                    }
                }
                counts = seen;
                for key in &keys {
                    assert_eq!((batch[*key].changes, batch[*key].updates), seen, "in tick {tick}");
                }
            }
        };
        run(1..ticks / 2);
        let memory = measure(|| run(ticks / 2..ticks));
        assert!(memory.bytes_current.abs() < 5000, "{memory:?}");
        // In four seconds there are twelve turns of `a`, or one fewer where it is left, and an update of `b` in each tick of its second.
        let rounds = f64::from(ticks) / 256.0;
        // The last round may have only begun.
        let updates = 74.0 * (rounds - 1.0)..78.0 * (rounds + 1.0);
        assert!(updates.contains(&f64::from(counts.1)), "{} updates in {rounds} rounds", counts.1);
    }
}
