//! Files of version 1, written once: they are read for ever.
//!
//! To write those of a new version: `SAVING=write cargo test --features serde --test saving golden`.

use std::fs;
use std::path::PathBuf;

use demeanor::{Batch, SavedBatch, SavedMachine};

use crate::barracks::{Guard, batch, book, go_on, go_on_together, machines};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// What a file holds; if it is to be written, what is given.
fn read(name: &str, bytes: &[u8]) -> Vec<u8> {
    if std::env::var_os("SAVING").is_some_and(|wanted| wanted == "write") {
        fs::write(file(name), bytes).unwrap();
    }
    fs::read(file(name)).unwrap()
}

#[test]
fn machines_of_version_1_are_read_and_go_on() {
    let machines = machines();
    let saved: Vec<_> = machines.iter().map(|(_, machine)| machine.save(&book(), 4.9).unwrap()).collect();
    let text = read("saved_machines_1.json", &serde_json::to_vec_pretty(&saved).unwrap());
    let of_json: Vec<SavedMachine> = serde_json::from_slice(&text).unwrap();
    let bytes = read("saved_machines_1.postcard", &postcard::to_allocvec(&saved).unwrap());
    let of_postcard: Vec<SavedMachine> = postcard::from_bytes(&bytes).unwrap();
    for golden in [of_json, of_postcard] {
        assert_eq!(golden.len(), machines.len());
        for ((guard, machine), golden) in machines.iter().zip(golden) {
            let (mut twin, mut loaded) = (guard.clone(), book().load(golden, 4.9).unwrap());
            assert_eq!(go_on(&mut twin, &mut loaded), go_on(&mut guard.clone(), &mut machine.clone()));
        }
    }
}

#[test]
fn a_batch_of_version_1_is_read_and_goes_on() {
    let (batch, _) = batch();
    let saved = batch.save(&book(), 4.9).unwrap();
    let text = read("saved_batch_1.json", &serde_json::to_vec_pretty(&saved).unwrap());
    let of_json: SavedBatch<Guard> = serde_json::from_slice(&text).unwrap();
    let bytes = read("saved_batch_1.postcard", &postcard::to_allocvec(&saved).unwrap());
    let of_postcard: SavedBatch<Guard> = postcard::from_bytes(&bytes).unwrap();
    let update = |batch: &mut Batch<Guard>, now: f64| batch.update(&mut { now });
    let expected = go_on_together(&mut batch.clone(), update);
    for golden in [of_json, of_postcard] {
        let mut loaded = Batch::load(golden, &book(), 4.9).unwrap();
        assert_eq!(go_on_together(&mut loaded, update), expected);
    }
}
