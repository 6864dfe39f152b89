//! Reads random bytes as a definition: `cargo +nightly fuzz run definition fuzz/corpus/definition fuzz/seeds/definition`.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use demeanor::definition::{Definition, Definitions, Outline, Problems, Proof, Vocabulary, Words};
use demeanor::{Batch, Fsm, Owner, State};
use libfuzzer_sys::fuzz_target;
use miette::{GraphicalReportHandler, GraphicalTheme};
use serde_json::Value;

#[derive(Default)]
struct Guard {
    health: f64,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

/// Accepts any parameters. If the number of parameters is odd, it requests a change.
struct Do {
    odd: bool,
}

impl State<Guard> for Do {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, (): &mut ()) {
        guard.health += 0.5;
        if self.odd && guard.health > 9.0 {
            fsm.revert_state();
        }
    }
}

/// The vocabulary of the seeds.
static VOCABULARY: LazyLock<Vocabulary<Guard>> = LazyLock::new(|| {
    let mut vocabulary = Vocabulary::new()
        .value("health", |guard: &Guard, ()| guard.health)
        .value("ammo", |guard: &Guard, ()| 3.0 - guard.health)
        .value("foe_distance", |guard: &Guard, ()| guard.health * 4.0)
        .value("cover_distance", |guard: &Guard, ()| (guard.health - 5.0).sqrt())
        .flag("enemy_visible", |guard: &Guard, ()| guard.health > 5.0)
        .message("hit", |()| true)
        .message_value("hit", "damage", |()| 5.0)
        .message_flag("hit", "is_critical", |()| false)
        .random(|_, ()| 0.5);
    for name in ["wander", "go_to", "shoot", "rest"] {
        vocabulary =
            vocabulary.behaviour_with(name, |params: BTreeMap<String, Value>| Do { odd: params.len() % 2 == 1 });
    }
    vocabulary
});
static WORDS: LazyLock<Words> = LazyLock::new(|| VOCABULARY.export());

fuzz_target!(|bytes: &[u8]| {
    draw(Outline::from_bytes("fuzz", bytes, None));
    if draw(Outline::from_bytes("fuzz", bytes, Some(&WORDS))).is_none() {
        return;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The proof of a large file has a limit, which a fuzzer would take too long to reach.
    if bytes.len() <= 20_000 {
        let outlines = Outline::parse_all("fuzz", text, Some(&WORDS)).expect("it has been read before");
        let _ = Proof::of(&outlines);
    }
    let Ok(definitions) = Definitions::parse(text, &VOCABULARY) else { return };
    for (_, definition) in definitions.iter() {
        run(definition, text);
    }
});

/// Runs a machine and a batch of the definition, and reloads it while they run.
fn run(definition: &Definition<Guard>, text: &str) {
    let mut batch = Batch::new();
    for health in 0..10_u8 {
        batch.insert(Guard { health: health.into() }, definition.initial());
    }
    let mut machine = definition.machine();
    let mut guard = Guard::default();
    machine.start(&mut guard, &mut ());
    for _ in 0..8 {
        guard.health += 1.0;
        machine.update(&mut guard, &mut ());
        machine.send(&mut guard, &(), &mut ());
        batch.update(&mut ());
    }
    definition.reload(text).expect("it has been read before");
    machine.update(&mut guard, &mut ());
    batch.update(&mut ());
}

/// Returns the outline if it is valid, and draws the problems otherwise.
fn draw(read: Result<Outline, Problems>) -> Option<Outline> {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_links(false);
    match read {
        Ok(outline) => Some(outline),
        Err(problems) => {
            for problem in &problems {
                handler.render_report(&mut String::new(), problem).expect("it is written to a string");
            }
            None
        }
    }
}
