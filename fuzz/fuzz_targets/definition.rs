//! Any bytes for a definition: `cargo +nightly fuzz run definition corpus/definition seeds/definition -- -max_total_time=60`.
#![no_main]

use std::sync::LazyLock;

use demeanor::Owner;
use demeanor::definition::{Definition, Outline, Vocabulary, Words};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Guard {
    health: f64,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

static VOCABULARY: LazyLock<Vocabulary<Guard>> = LazyLock::new(|| {
    Vocabulary::new()
        .value("health", |guard: &Guard, ()| guard.health)
        .flag("seen", |guard: &Guard, ()| guard.health > 5.0)
        .message("hit", |()| true)
        .random(|_, ()| 0.5)
});
static WORDS: LazyLock<Words> = LazyLock::new(|| VOCABULARY.export());

fuzz_target!(|bytes: &[u8]| {
    let _ = Outline::from_bytes("fuzz", bytes, None);
    if Outline::from_bytes("fuzz", bytes, Some(&WORDS)).is_err() {
        return;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(definition) = Definition::parse(text, &VOCABULARY) else { return };
    let mut machine = definition.machine();
    let mut guard = Guard::default();
    machine.start(&mut guard, &mut ());
    for _ in 0..8 {
        guard.health += 1.0;
        machine.update(&mut guard, &mut ());
        machine.send(&mut guard, &(), &mut ());
    }
});
