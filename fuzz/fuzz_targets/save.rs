//! Reads random bytes as a saved batch, or as saved machines: `cargo +nightly fuzz run save fuzz/corpus/save fuzz/seeds/save`.
#![no_main]

#[path = "../../tests/saving/barracks.rs"]
#[expect(dead_code, reason = "what the tests share makes more than is loaded here")]
mod barracks;

use std::sync::LazyLock;

use barracks::{Combat, Guard, Idle, Told, book};
use demeanor::{Batch, SavedBatch, SavedMachine, StateBook};
use libfuzzer_sys::fuzz_target;

static BOOK: LazyLock<StateBook<Guard>> = LazyLock::new(book);

fuzz_target!(|bytes: &[u8]| {
    if let Ok(saved) = postcard::from_bytes(bytes) {
        use_batch(saved);
    }
    for saved in postcard::from_bytes(bytes).unwrap_or_else(|_| vec![]) {
        use_machine(saved);
    }
});

/// Checks that a loaded value works.
fn use_batch(saved: SavedBatch<Guard>) {
    let Ok(mut batch) = Batch::load(saved, &BOOK, 4.9) else { return };
    let keys: Vec<_> = batch.keys().collect();
    assert_eq!(keys.len(), batch.len());
    for now in [4.9, 5.0, 100.0] {
        batch.update(&mut { now });
        batch.broadcast(&Told::Bell, &mut { now });
        batch.insert(Guard::default(), &Idle);
    }
    for (nth, key) in keys.into_iter().enumerate() {
        match nth % 4 {
            0 => _ = batch.pop_state(key, &mut 101.0),
            1 => _ = batch.revert_state(key, &mut 101.0),
            2 => _ = batch.resume_state(key, &Combat, &mut 101.0),
            _ => assert!(batch.remove(key).is_some()),
        }
    }
    let digest = |batch: &Batch<Guard>| batch.digest(|_, _| {});
    let saved = batch.save(&BOOK, 200.0).expect("what has been loaded can be saved");
    let again = Batch::load(saved.map_owners(Guard::clone), &BOOK, 200.0).expect("it has just been saved");
    assert_eq!(digest(&again), digest(&batch));
}

fn use_machine(saved: SavedMachine) {
    let Ok(mut machine) = BOOK.load(saved, 4.9) else { return };
    let mut guard = Guard::default();
    for now in [4.9, 5.0, 100.0] {
        let now = &mut { now };
        machine.update(&mut guard, now);
        machine.send(&mut guard, &Told::Bell, now);
        machine.pop_state(&mut guard, now);
        machine.revert_state(&mut guard, now);
    }
    let saved = machine.save(&BOOK, 200.0).expect("what has been loaded can be saved");
    let again = BOOK.load(saved.clone(), 200.0).expect("it has just been saved");
    assert_eq!(again.save(&BOOK, 200.0), Ok(saved));
}
