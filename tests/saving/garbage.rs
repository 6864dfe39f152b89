//! Files that are anything but right: they are refused with what is wrong and where, or they work. Nothing panics, and nothing
//! takes more memory than there was to read.

use std::sync::LazyLock;

use allocation_counter::measure;
use demeanor::save::{SavedKey, SavedMore, SavedThen, Seconds};
use demeanor::{Batch, LoadError, SavedBatch, SavedMachine, StateMachine};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::barracks::{Combat, Flee, Guard, Idle, Told, batch, book, machines};

static SAVED: LazyLock<(SavedBatch<Guard>, Vec<SavedMachine>)> = LazyLock::new(|| {
    let machines = machines().into_iter().map(|(_, machine)| machine.save(&book(), 4.9).unwrap());
    (batch().0.save(&book(), 4.9).unwrap().map_owners(Guard::clone), machines.collect())
});

pub(crate) fn saved_batch() -> SavedBatch<Guard> {
    SAVED.0.clone()
}

pub(crate) fn saved_machine(nth: usize) -> SavedMachine {
    SAVED.1[nth].clone()
}

/// Loads a batch and, if that works, does with it what a game does.
fn use_batch(saved: SavedBatch<Guard>) {
    let Ok(mut batch) = Batch::load(saved, &book(), 4.9) else { return };
    let keys: Vec<_> = batch.keys().collect();
    assert_eq!(keys.len(), batch.len());
    for now in [4.9, 5.0, 7.0, 100.0] {
        batch.update(&mut { now });
        batch.broadcast(&Told::Bell, &mut { now });
        batch.insert(Guard::default(), &Idle);
    }
    for (nth, key) in keys.iter().enumerate() {
        assert!(batch.contains_key(*key) && batch.path(*key).is_some());
        match nth % 4 {
            0 => _ = batch.pop_state(*key, &mut 101.0),
            1 => _ = batch.revert_state(*key, &mut 101.0),
            2 => _ = batch.resume_state(*key, &Combat, &mut 101.0),
            _ => assert!(batch.remove(*key).is_some()),
        }
    }
    let mut clone = batch.clone();
    clone.update_in_key_order(&mut 200.0);
    batch.update(&mut 200.0);
    batch.save(&book(), 200.0).unwrap();
}

fn use_machine(saved: SavedMachine) {
    let Ok(mut machine) = book().load(saved, 4.9) else { return };
    let mut guard = Guard::default();
    for now in [4.9, 5.0, 100.0] {
        let now = &mut { now };
        machine.update(&mut guard, now);
        machine.send(&mut guard, &Told::Bell, now);
        machine.pop_state(&mut guard, now);
        machine.revert_state(&mut guard, now);
    }
    machine.stop(&mut guard, &mut 101.0);
    machine.save(&book(), 102.0).unwrap();
}

/// A change of some bytes.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Cut(Index),
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, u8),
    Remove(Index),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        1 => at().prop_map(Damage::Cut),
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => at().prop_map(Damage::Remove),
    ]
}

pub(crate) fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
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
pub(crate) fn change(value: &mut Value, path: &mut impl Iterator<Item = Index>, how: u8, number: u32) {
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_that_are_changed_at_random_are_refused_or_work(damages in prop::collection::vec(damage(), 1..6)) {
        let bytes = damaged(postcard::to_allocvec(&saved_batch()).unwrap(), &damages);
        if let Ok(saved) = postcard::from_bytes(&bytes) {
            use_batch(saved);
        }
        for nth in 0..8 {
            let bytes = damaged(postcard::to_allocvec(&saved_machine(nth)).unwrap(), &damages);
            if let Ok(saved) = postcard::from_bytes(&bytes) {
                use_machine(saved);
            }
        }
    }

    #[test]
    fn texts_that_are_changed_at_random_are_refused_or_work(damages in prop::collection::vec(damage(), 1..3)) {
        let text = damaged(serde_json::to_vec(&saved_batch()).unwrap(), &damages);
        if let Ok(saved) = serde_json::from_slice(&text) {
            use_batch(saved);
        }
    }

    #[test]
    fn values_that_are_changed_at_random_are_refused_or_work(
        changes in prop::collection::vec((prop::collection::vec(any::<Index>(), 1..9), 0..12_u8, any::<u32>()), 1..4),
    ) {
        let mut batch = serde_json::to_value(saved_batch()).unwrap();
        let mut machines: Vec<_> = (0..8).map(|nth| serde_json::to_value(saved_machine(nth)).unwrap()).collect();
        for (path, how, number) in &changes {
            change(&mut batch, &mut path.iter().copied(), *how, *number);
            for machine in &mut machines {
                change(machine, &mut path.iter().copied(), *how, *number);
            }
        }
        if let Ok(saved) = serde_json::from_value(batch) {
            use_batch(saved);
        }
        for machine in machines {
            if let Ok(saved) = serde_json::from_value(machine) {
                use_machine(saved);
            }
        }
    }

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

fn refused(change: impl FnOnce(&mut SavedBatch<Guard>)) -> String {
    let mut saved = saved_batch();
    change(&mut saved);
    Batch::load(saved, &book(), 4.9).err().map_or_else(|| "it works".to_string(), |error| error.to_string())
}

/// The number of the bucket of a state.
fn bucket_of(saved: &SavedBatch<Guard>, name: &str) -> usize {
    let is_name = |number: u32| {
        let state = number.checked_sub(1).map(|nth| &saved.content.states[nth as usize]);
        state.is_some_and(|state| format!("{state:?}") == format!("Name({name:?})"))
    };
    saved.content.buckets.iter().position(|bucket| is_name(bucket.state)).unwrap()
}

#[test]
fn a_batch_that_cannot_be_is_refused_with_what_is_wrong_and_where() {
    let saved = saved_batch();
    let idle = bucket_of(&saved, "Idle");
    let at = |what: &str| format!("bucket {idle}, {what}");
    assert_eq!(refused(|_| {}), "it works");
    assert_eq!(refused(|saved| saved.version = 0), "it was saved in version 0, and this program reads version 1");
    assert_eq!(refused(|saved| saved.content.clock = Seconds(f64::NAN)), "clock: the time is not a number");
    assert_eq!(refused(|saved| saved.content.buckets.clear()), "buckets: there are 0");
    let owners = saved.content.buckets[idle].owners.len();
    assert_eq!(
        refused(|saved| _ = saved.content.buckets[idle].owners.pop()),
        at(&format!("indices: the column has {owners} rows, not {}", owners - 1))
    );
    assert_eq!(refused(|saved| saved.content.buckets[idle].indices[0] = saved.content.buckets[idle].indices[1]), {
        let (index, version) = (saved.content.buckets[idle].indices[1], saved.content.buckets[idle].versions[1]);
        at(&format!("key {index}, version {version}: another key has its place"))
    });
    assert!(refused(|saved| saved.content.buckets[idle].indices[0] = 0).ends_with(": there is no key 0"));
    assert!(refused(|saved| saved.content.buckets[idle].indices[0] = u32::MAX).ends_with(": there are fewer keys"));
    assert!(refused(|saved| saved.content.buckets[idle].versions[0] = 2).ends_with(": versions are odd numbers"));
    assert_eq!(
        refused(|saved| saved.content.buckets[idle].asleep = 1000),
        at(&format!("asleep: there are 1000 of {owners}"))
    );
    assert_eq!(
        refused(|saved| saved.content.buckets[idle].entered_at[0] = Seconds(f64::NAN)),
        at("entered_at: the time is not a number")
    );
    assert_eq!(refused(|saved| saved.content.buckets[idle].previous[0] = 1000), "previous: bucket 999 cannot be there");
    assert_eq!(refused(|saved| saved.content.buckets[idle].state = 900), {
        let count = saved.content.states.len();
        at(&format!("state 900: there are only {count}"))
    });
    assert_eq!(
        refused(|saved| saved.content.order[1] = saved.content.order[0]),
        format!("order: bucket {} cannot be in it, or is in it twice", saved.content.order[0])
    );
    assert_eq!(
        refused(|saved| _ = saved.content.order.pop()),
        format!("order: bucket {} is missing", saved.content.order.last().unwrap())
    );
    assert_eq!(refused(|saved| saved.content.free.push(77)), "free, previous: bucket 77 cannot be there");
    assert_eq!(refused(|saved| saved.content.unused.push(77)), "unused: there is no bucket 77");
    assert!(
        refused(|saved| {
            let key: SavedKey = saved.content.next_keys[0];
            saved.content.next_keys.push(key);
        })
        .ends_with(": another key has its place")
    );
    assert_eq!(
        refused(|saved| saved.content.unused_credit = u64::MAX),
        "it works",
        "a high credit is as good as any other"
    );
}

#[test]
fn a_machine_that_cannot_be_is_refused_with_what_is_wrong_and_where() {
    let refused = |change: &dyn Fn(&mut SavedMachine)| {
        let mut saved = saved_machine(3);
        change(&mut saved);
        book().load(saved, 4.9).err().map_or_else(|| "it works".to_string(), |error| error.to_string())
    };
    let more = |change: fn(&mut SavedMore)| refused(&move |saved| change(&mut saved.content.machine.more));
    assert_eq!(refused(&|_| {}), "it works");
    assert_eq!(refused(&|saved| saved.content.machine.current = 99), {
        let count = saved_machine(3).content.states.len();
        format!("state 99: there are only {count}")
    });
    assert_eq!(
        refused(&|saved| saved.content.machine.entered_at = Some(Seconds(f64::NAN))),
        "entered_at: the time is not a number"
    );
    assert_eq!(
        refused(&|saved| saved.content.machine.ancestors = vec![(1, None); 65]),
        "ancestors: there are more than 64"
    );
    assert_eq!(more(|more| more.stack = vec![more.stack[0].clone(); 65]), "stack: it has 65 paths; the most are 64");
    assert_eq!(more(|more| more.stack[1].states.clear()), "path 1 of the stack, states: there is none");
    assert_eq!(
        more(|more| more.stack[0].states = vec![more.stack[0].states[0]; 66]),
        "path 0 of the stack, states: there are more than 65"
    );
    assert_eq!(
        more(|more| more.stack[0].states[0].1 = Seconds(f64::NAN)),
        "path 0 of the stack, seconds: the time is not a number"
    );
    assert_eq!(
        more(|more| {
            let timer = more.timers[0].clone();
            more.stack[0].timers.insert(0, timer);
            more.stack[0].timers[0].depth = None;
        }),
        "path 0 of the stack, depth: a timer of a suspended path belongs to one of its states"
    );
    assert_eq!(more(|more| more.timers[0].due = Seconds(f64::NAN)), "timer 0, due: the time is not a number");
    assert_eq!(more(|more| more.timers[0].depth = Some(9)), "timer 0, depth: no state is active at depth 9");
    assert_eq!(more(|more| more.timers[0].then = SavedThen::Change(0)), "timer 0, then: it changes to no state");
    assert!(
        more(|more| more.timers[0].then = SavedThen::Send("(".into()))
            .starts_with("the message of a timer cannot be read: ")
    );
    assert_eq!(more(|more| more.history = vec![(1, 1); 65]), "history: it has 65 entries; the most are 64");
    assert_eq!(more(|more| more.history.push(more.history[0])), "history: it remembers Combat twice");
    let of_none: [fn(&mut SavedMore); 3] =
        [|more| more.history.push((0, 0)), |more| more.history[0].0 = 0, |more| more.history[0].1 = 0];
    for change in of_none {
        assert_eq!(more(change), "history: it remembers no state");
    }
    let mut saved = saved_machine(4);
    for state in &mut saved.content.states {
        if let demeanor::save::SavedState::Owned { data, .. } = state {
            *data = "(route:[(1,".into();
        }
    }
    let error = book().load(saved, 4.9).unwrap_err();
    assert!(error.to_string().starts_with("the data of an owned state `Patrol` cannot be read: "), "{error}");
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

#[test]
fn a_batch_that_is_there_is_untouched_by_one_that_is_refused() {
    let (there, _) = batch();
    let digest = |batch: &Batch<Guard>| batch.digest(|_, _| {});
    let before = digest(&there);
    let mut saved = saved_batch();
    saved.content.order.pop();
    assert!(Batch::load(saved, &book(), 4.9).is_err());
    assert_eq!(digest(&there), before);
}
