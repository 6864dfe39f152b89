//! A large game for the measurement in `cost.mjs`: 50 000 owners in 300 states, 20 ticks a second, until it is ended.
//!
//! Its argument is the address. It prints the address of the page.

use std::error::Error;
use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Journal, Owner};
use demeanor_inspector::{Crowd, Inspector};

const OWNERS: u32 = 50_000;
const STATES: u32 = 300;
/// The number of states with a common parent.
const FAMILY: u32 = 10;
const TICK: Duration = Duration::from_millis(50);

struct Walker {
    dice: oorandom::Rand32,
}

impl Owner for Walker {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

/// Returns a file whose states each lead to three others after some seconds.
fn file() -> Result<String, Box<dyn Error>> {
    let mut file = String::from("initial = 's0'\n");
    for parent in 0..STATES / FAMILY {
        writeln!(file, "states.p{parent}.initial = 's{}'", parent * FAMILY)?;
    }
    for nth in 0..STATES {
        let after = 2 + nth % 9;
        write!(file, "[states.s{nth}]\nparent = 'p{}'\nexits = [", nth / FAMILY)?;
        for (turn, to) in [nth + 1, nth * 7 + 3, nth + STATES / 2].into_iter().enumerate() {
            write!(file, "{{ to = 's{}', after = {after}, when = 'turn == {turn}' }}, ", to % STATES)?;
        }
        writeln!(file, "]")?;
    }
    Ok(file)
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let mut inspector = Inspector::bind(&*address)?.allow_commands();
    println!("{}", inspector.url());
    let vocabulary = Vocabulary::new().value("turn", |walker: &Walker, _| {
        // The dice are copied, so that a condition can be asked more than once.
        f64::from(walker.dice.clone().rand_range(0..3))
    });
    let definition = Definition::parse(&file()?, &vocabulary)?;
    let mut seconds = 0.0;
    let mut walkers = Batch::new();
    walkers.set_journal(Some(Journal::new(100_000)));
    for number in 0..OWNERS {
        let walker = Walker { dice: oorandom::Rand32::new(number.into()) };
        let state = definition.state(&format!("s{}", number % STATES)).ok_or("no such state")?;
        walkers.spawn(walker, state, &mut seconds);
    }
    loop {
        let tick = Instant::now();
        seconds += TICK.as_secs_f64();
        for (_, walker) in &mut walkers {
            walker.dice.rand_u32();
        }
        walkers.update(&mut seconds);
        inspector.explain("walkers", &definition, &mut walkers, &mut seconds);
        inspector.show("walkers", &walkers.with_definition(&definition), &seconds);
        thread::sleep(TICK.saturating_sub(tick.elapsed()));
    }
}
