//! Files that are anything but right: they are refused with what is wrong and where, or they work. Nothing panics, and nothing
//! takes more memory than there was to read.

use std::sync::LazyLock;

use allocation_counter::measure;
use demeanor::save::SavedThen;
use demeanor::{Agent, Batch, LoadError, SavedBatch, SavedMachine, StateMachine};
use proptest::prelude::*;
use proptest::sample::Index;
use serde::Serialize;
use serde_json::Value;

use crate::barracks::{Flee, Guard, Idle, batch, book, machines};
use crate::cases::cases;
use crate::cast::Town;
use crate::formats::Format;
use crate::kinds::Host;

static SAVED: LazyLock<(SavedBatch<Guard>, Vec<SavedMachine>)> = LazyLock::new(|| {
    let machines = machines().into_iter().map(|(_, machine)| machine.save(&book(), 4.9).unwrap());
    (batch().0.save(&book(), 4.9).unwrap().map_owners(Guard::clone), machines.collect())
});

fn saved_batch() -> SavedBatch<Guard> {
    SAVED.0.clone()
}

fn saved_machine(nth: usize) -> SavedMachine {
    SAVED.1[nth].clone()
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Damage {
    Cut(Index),
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, u8),
    Remove(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        1 => at().prop_map(Damage::Cut),
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => at().prop_map(Damage::Remove),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Set(at, byte) => *at.get_mut(&mut bytes) = *byte,
            Damage::Flip(at, bit) => *at.get_mut(&mut bytes) ^= 1 << bit,
            Damage::Insert(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
            Damage::Remove(at) => _ = bytes.remove(at.index(bytes.len())),
        }
    }
    bytes
}

/// Changes one thing somewhere in a value.
fn change(value: &mut Value, path: &mut impl Iterator<Item = Index>, how: u8, number: u32) {
    let Some(at) = path.next() else { return replace(value, how, number) };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = at.index(items.len());
            // Of what there are many, one is taken out or is there twice.
            match how {
                0 => _ = items.remove(at),
                1 => items.insert(at, items[at].clone()),
                2 => items.swap(0, at),
                _ => change(&mut items[at], path, how, number),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = at.index(fields.len());
            if let Some((_, field)) = fields.iter_mut().nth(at) {
                change(field, path, how, number);
            }
        }
        other => replace(other, how, number),
    }
}

fn replace(value: &mut Value, how: u8, number: u32) {
    *value = match value {
        Value::Number(_) => match how % 4 {
            0 => Value::from(number),
            1 => Value::from(number % 8),
            2 => Value::from(-1.5),
            _ => Value::from("NaN"),
        },
        Value::String(_) => Value::from(["Idle", "Patrol", "Nobody", "inf", ""][how as usize % 5]),
        Value::Bool(is) => Value::from(!*is),
        Value::Null => Value::from(number % 8),
        Value::Array(_) => Value::Array(vec![]),
        Value::Object(_) => Value::Null,
    };
}

/// A change of one thing in a value: the way to it, and what becomes of it.
type Change = (Vec<Index>, u8, u32);

/// Bytes, texts and values that are changed at random are refused, or they work. What is there goes on as its twin, and so does
/// what is loaded later.
fn goes_on_beside_garbage<H: Host>(damages: &[Vec<Damage>], changes: &[Change]) {
    let there = H::all();
    for format in [Format::Postcard, Format::Json] {
        let intact: Vec<_> = there.iter().map(|host| host.write(format).unwrap()).collect();
        for (bytes, damages) in intact.iter().flat_map(|bytes| damages.iter().map(move |damages| (bytes, damages))) {
            if let Ok(host) = format.read(&damaged(bytes.clone(), damages)).and_then(H::load) {
                host.put_to_use();
            }
        }
    }
    for host in &there {
        let mut value: Value = Format::Json.read(&host.write(Format::Json).unwrap()).unwrap();
        for (path, how, number) in changes {
            change(&mut value, &mut path.iter().copied(), *how, *number);
            if let Ok(host) = serde_json::from_value(value.clone()).map_err(|error| error.to_string()).and_then(H::load)
            {
                host.put_to_use();
            }
        }
    }
    for (there, twin) in there.into_iter().zip(H::all()) {
        let loaded = H::load(Format::Postcard.read(&there.write(Format::Postcard).unwrap()).unwrap()).unwrap();
        let expected = twin.goes_on();
        assert_eq!(there.goes_on(), expected);
        assert_eq!(loaded.goes_on(), expected);
    }
}

proptest! {
    #![proptest_config(cases(16))]

    /// Rule 27.
    #[test]
    fn what_is_there_goes_on_as_its_twin_whatever_is_loaded_beside_it(
        damages in prop::collection::vec(prop::collection::vec(damage(), 1..6), 1..8),
        changes in prop::collection::vec((prop::collection::vec(any::<Index>(), 1..9), 0..12_u8, any::<u32>()), 1..8),
    ) {
        goes_on_beside_garbage::<StateMachine<Guard>>(&damages, &changes);
        goes_on_beside_garbage::<Agent<Guard>>(&damages, &changes);
        goes_on_beside_garbage::<Batch<Guard>>(&damages, &changes);
        goes_on_beside_garbage::<Town>(&damages, &changes);
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_is_refused_takes_no_more_memory_than_the_file_is_long(
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(postcard::to_allocvec(&saved_batch()).unwrap(), &damages);
        let book = book();
        let memory = measure(|| {
            if let Ok(saved) = postcard::from_bytes::<SavedBatch<Guard>>(&bytes) {
                _ = Batch::load(saved, &book, 4.9);
            }
        });
        // A guard that is one byte in the file is 32 in memory, and so on; a count in a damaged file reserves a megabyte at
        // most, until it turns out that there is nothing behind it.
        prop_assert!(memory.bytes_max < 200 * bytes.len() as u64 + (2 << 20), "{memory:?} for {} bytes", bytes.len());
    }
}

/// Compares what is said of saved data after the changes in each row of a table. `65x` makes a list of as many times its first
/// element, `+` adds an element, and `-` takes the last one away. Behind `..`, more may be said.
pub(crate) fn refuse<H: Host>(saved: impl Serialize, table: &str) {
    let value = serde_json::to_value(saved).unwrap();
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (changes, expected) = row.split_once(" => ").expect("what is said of it");
        let mut altered = value.clone();
        for change in changes.split("; ") {
            let (pointer, how) = change.split_once(' ').expect("what changes, and how");
            let at = altered.pointer_mut(pointer).unwrap_or_else(|| panic!("{row}"));
            match how.split_once(' ') {
                Some(("=", new)) => *at = serde_json::from_str(new).unwrap(),
                Some((_, new)) => at.as_array_mut().unwrap().push(serde_json::from_str(new).unwrap()),
                None if how == "-" => _ = at.as_array_mut().unwrap().pop(),
                None => *at = vec![at[0].clone(); how.trim_end_matches('x').parse().unwrap()].into(),
            }
        }
        let said = H::load(serde_json::from_value(altered).unwrap()).err().unwrap_or_else(|| "it works".into());
        let is_said = expected.strip_suffix("..").map_or(said == expected, |begin| said.starts_with(begin));
        assert!(is_said, "{row}: {said}");
    }
}

#[test]
fn a_batch_that_cannot_be_is_refused_with_what_is_wrong_and_where() {
    // Bucket 2 is that of `Idle`.
    refuse::<Batch<Guard>>(
        saved_batch(),
        r#"
        /version = 1 => it works
        /version = 0 => it was saved in version 0, and this program reads version 1
        /content/clock = "NaN" => clock: the time is not a number
        /content/buckets = [] => buckets: there are 0
        /content/buckets/2/owners - => bucket 2, indices: the column has 9 rows, not 8
        /content/buckets/2/indices/0 = 19 => bucket 2, key 19, version 1: another key has its place
        /content/buckets/2/indices/0 = 0 => bucket 2, key 0, version 1: there is no key 0
        /content/buckets/2/indices/0 = 4294967295 => bucket 2, key 4294967295, version 1: there are fewer keys
        /content/buckets/2/versions/0 = 2 => bucket 2, key 11, version 2: versions are odd numbers
        /content/buckets/2/asleep = 1000 => bucket 2, asleep: there are 1000 of 9
        /content/buckets/2/entered_at/0 = "NaN" => bucket 2, entered_at: the time is not a number
        /content/buckets/2/previous/0 = 1000 => previous: bucket 999 cannot be there
        /content/buckets/2/state = 900 => bucket 2, state 900: there are only 14
        /content/order/1 = 0 => order: bucket 0 cannot be in it, or is in it twice
        /content/order - => order: bucket 7 is missing
        /content/order + 77 => order: bucket 77 cannot be there
        /content/free + 77 => free: bucket 77 cannot be there
        /content/unused + 77 => unused: there is no bucket 77
        /content/next_keys + {"index":9,"version":3} => key 9, version 3: another key has its place
        /content/unused_credit = 18446744073709551615 => it works
        "#,
    );
}

#[test]
fn a_machine_that_cannot_be_is_refused_with_what_is_wrong_and_where() {
    refuse::<StateMachine<Guard>>(
        saved_machine(3),
        r#"
        /version = 1 => it works
        /content/machine/current = 99 => state 99: there are only 6
        /content/machine/entered_at = "NaN" => entered_at: the time is not a number
        /content/machine/ancestors = [[1,null]]; /content/machine/ancestors 65x => ancestors: there are more than 64
        /content/machine/more/stack 65x => stack: it has 65 paths; the most are 64
        /content/machine/more/stack/1/states = [] => path 1 of the stack, states: there is none
        /content/machine/more/stack/0/states 66x => path 0 of the stack, states: there are more than 65
        /content/machine/more/stack/0/states/0/1 = "NaN" => path 0 of the stack, seconds: the time is not a number
        /content/machine/more/stack/0/timers/0/depth = null => path 0 of the stack, depth: a timer of a suspended path belongs to one of its states
        /content/machine/more/timers/0/due = "NaN" => timer 0, due: the time is not a number
        /content/machine/more/timers/0/depth = 9 => timer 0, depth: no state is active at depth 9
        /content/machine/more/timers/0/then = {"Change":0} => timer 0, then: it changes to no state
        /content/machine/more/timers/0/then = {"Send":"("} => the message of a timer cannot be read: ..
        /content/machine/more/history 65x => history: it has 65 entries; the most are 64
        /content/machine/more/history + [3,4] => history: it remembers Combat twice
        /content/machine/more/history + [0,0] => history: it remembers no state
        /content/machine/more/history/0/0 = 0 => history: it remembers no state
        /content/machine/more/history/0/1 = 0 => history: it remembers no state
        "#,
    );
    let broken = "(route:[(1,";
    let data = "the data of an owned state `Patrol` cannot be read: ..";
    refuse::<StateMachine<Guard>>(saved_machine(4), &format!("/content/states/1/Owned/data = {broken:?} => {data}"));
}

#[test]
fn a_stack_of_sixty_four_is_loaded_and_data_nested_without_end_is_refused() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    for _ in 0..70 {
        machine.push_state(&mut guard, &Flee, &mut 0.0);
    }
    let saved = machine.save(&book(), 0.0).unwrap();
    assert_eq!(saved.content.machine.more.stack.len(), 64);
    assert!(book().load(saved.clone(), 0.0).is_ok());

    let mut deep = saved;
    deep.content.machine.more.timers.push(saved_machine(3).content.machine.more.timers[0].clone());
    deep.content.machine.more.timers[0].then = SavedThen::Send("Some(".repeat(100_000));
    assert!(matches!(book().load(deep, 0.0), Err(LoadError::Message { .. } | LoadError::Damaged { .. })));
}
