//! Machines and a batch whose states are in a file.

use std::hint::black_box;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Owner};

use crate::OWNERS;

/// Four states, with conditions on two values and on time. With a mood below 0, a guard changes its state in each tick; with a mood
/// above 0, it never does.
pub(crate) const FLAT: &str = "
initial = 'idle'

[states.idle]
exits = [{ to = 'flee', when = 'fear > 9' }, { to = 'chase', after = 1e9 }, { to = 'chase', when = 'mood < 0' }]

[states.chase]
exits = [{ to = 'flee', when = 'fear > 9 and mood > 5' }, { to = 'idle', when = 'mood < 0 or fear > 100' }]

[states.flee]
exits = [{ to = 'rest', when = 'time_in_state > 2' }]

[states.rest]
exits = [{ to = 'idle', after = 3 }]
";

/// States inside another one.
const NESTED: &str = "
initial = 'awake'

[states.awake]
EVERY
initial = 'stroll'
exits = [{ to = 'asleep', when = 'mood < 0' }]

[states.stroll]
parent = 'awake'
exits = [{ to = 'linger', when = 'time_in_state >= 0.5' }]

[states.linger]
parent = 'awake'
exits = [{ to = 'stroll', when = 'time_in_state >= 0.75' }]

[states.asleep]
exits = [{ to = 'awake', when = 'mood > 0' }]
";

/// Returns a file with nested states. With `has_turns`, the exit of the outer state is tried in each sixth tick only.
pub(crate) fn nested(has_turns: bool) -> String {
    NESTED.replace("EVERY", if has_turns { "every = 0.09375" } else { "" })
}

struct Guard {
    mood: f64,
    fear: f64,
}

impl Owner for Guard {
    /// The time, in seconds.
    type Context<'a> = f64;
    type Message = ();

    fn now(cx: &f64) -> f64 {
        *cx
    }
}

fn definition(file: &str) -> Definition<Guard> {
    let words = Vocabulary::new().value("mood", |guard: &Guard, _| guard.mood).value("fear", |guard, _| guard.fear);
    Definition::parse(file, &words).expect("the file is right")
}

/// Updates machines.
pub(crate) fn machines(file: &str, mood: f64, ticks: u32) {
    let definition = definition(file);
    let mut now = 0.0;
    let mut guards: Vec<_> = (0..OWNERS)
        .map(|n| {
            let mut guard = Guard { mood, fear: f64::from(n % 5) };
            let mut machine = definition.machine();
            machine.start(&mut guard, &mut now);
            (guard, machine)
        })
        .collect();
    for _ in 0..ticks {
        now += 1.0 / 64.0;
        for (guard, machine) in &mut guards {
            machine.update(guard, &mut now);
        }
    }
    black_box(guards);
}

/// Updates a batch.
pub(crate) fn batch(file: &str, mood: f64, ticks: u32) {
    let definition = definition(file);
    let mut now = 0.0;
    let mut batch = Batch::new();
    for n in 0..OWNERS {
        batch.spawn(Guard { mood, fear: f64::from(n % 5) }, definition.initial(), &mut now);
    }
    for _ in 0..ticks {
        now += 1.0 / 64.0;
        batch.update(&mut now);
    }
    black_box(batch);
}
