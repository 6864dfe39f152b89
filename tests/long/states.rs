//! Very many states.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use allocation_counter::{AllocationInfo, measure};
use demeanor::{Batch, Fsm, Owner, SavedBatch, State, StateBook, StateMachine, StateRef};
use serde::{Deserialize, Serialize};

thread_local! {
    /// How often states have been asked for their names, their parents and the like.
    static ASKED: Cell<u64> = const { Cell::new(0) };
    static STATES: Cell<i64> = const { Cell::new(0) };
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Bird {
    number: u32,
    to: u32,
}

impl Owner for Bird {
    type Context<'a> = f64;
    type Message = ();

    fn now(now: &f64) -> f64 {
        *now
    }
}

/// A state for each place, and there are very many.
#[derive(Serialize, Deserialize)]
struct Place(u32);

impl Place {
    fn new(number: u32) -> Self {
        STATES.set(STATES.get() + 1);
        Self(number)
    }
}

impl Clone for Place {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        STATES.set(STATES.get() - 1);
    }
}

struct Sky;

fn ask() {
    ASKED.set(ASKED.get() + 1);
}

impl State<Bird> for Place {
    fn parent(&self) -> Option<StateRef<Bird>> {
        ask();
        None
    }

    fn is_passive(&self) -> bool {
        ask();
        false
    }

    fn name(&self) -> Cow<'_, str> {
        ask();
        format!("place {}", self.0).into()
    }
}

impl State<Bird> for Sky {
    fn update(&self, bird: &mut Bird, fsm: &mut Fsm<'_, Bird>, _: &mut f64) {
        if bird.to > 0 {
            fsm.change_state(Arc::new(Place::new(bird.to)));
            bird.to = 0;
        }
    }
}

/// What something takes of memory, and how often it asks states, for once, twice and four times as many: in proportion.
fn grows_in_proportion(what: &str, act: impl Fn(u32)) {
    let count = crate::many(10);
    let of = |count: u32| -> (AllocationInfo, u64) {
        ASKED.set(0);
        let memory = measure(|| act(count));
        assert_eq!(memory.bytes_current, 0, "{what} gives back all that it takes");
        (memory, ASKED.get())
    };
    // What is made once for all.
    act(10);
    let [one, two, four] = [1, 2, 4].map(|times| of(times * count));
    for (times, (memory, asked)) in [(2, two), (4, four)] {
        // Tables double their room; a room for twice as many may just have been made.
        let most = |one: u64| one * times * 2 + 10_000;
        assert!(
            memory.bytes_max <= most(one.0.bytes_max),
            "{what}: {} bytes, then {}",
            one.0.bytes_max,
            memory.bytes_max
        );
        assert!(memory.count_total <= one.0.count_total * times * 5 / 4 + 100, "{what}: {:?}, then {memory:?}", one.0);
        assert!(asked <= one.1 * times * 5 / 4 + 100, "{what}: asked {} times, then {asked}", one.1);
    }
}

/// Birds, each in a place of its own.
fn birds(count: u32, place: impl Fn(u32) -> StateRef<Bird>) -> Batch<Bird> {
    let mut batch = Batch::new();
    for number in 0..count {
        batch.insert(Bird { number, to: 0 }, place(number));
    }
    batch
}

fn owned(number: u32) -> StateRef<Bird> {
    Box::new(Place::new(number)).into()
}

fn shared(number: u32) -> StateRef<Bird> {
    Arc::new(Place::new(number)).into()
}

#[test]
fn a_batch_of_very_many_states_takes_memory_and_calls_in_proportion() {
    for (what, place) in [("owned states", owned as fn(u32) -> StateRef<Bird>), ("shared states", shared)] {
        grows_in_proportion(what, |count| {
            let mut batch = birds(count, place);
            assert_eq!(batch.len(), count as usize);
            batch.update(&mut 1.0);
            let twin = batch.clone();
            assert_eq!(twin.digest(|_, _| {}), batch.digest(|_, _| {}));
            let keys: Vec<_> = batch.keys().collect();
            for key in keys {
                batch.change_state(key, &Sky, &mut 2.0);
            }
            batch.update(&mut 3.0);
            assert_eq!(batch.owners_in(&Sky).len(), count as usize);
        });
        assert_eq!(STATES.get(), 0, "all are dropped");
    }
}

/// States that nobody needs any more are forgotten, and those that come later have their places.
#[test]
fn a_batch_that_meets_very_many_states_again_and_again_takes_no_more() {
    let count = crate::many(20);
    let mut batch = birds(count, |_| (&Sky).into());
    let (mut time, mut left) = (0.0, 0);
    let mut round = || {
        for (_, bird) in &mut batch {
            bird.to = bird.number + 1;
        }
        time += 1.0;
        batch.update(&mut time);
        // Those of the last round that are left may be forgotten now, or later.
        let others = STATES.get() - i64::from(count);
        assert!((0..=left).contains(&others), "each is in a state of its own, and there are {others} others");
        // Back, twice: the first place is what they come from, and the rest is forgotten within some ticks.
        let keys: Vec<_> = batch.keys().collect();
        for key in &keys {
            batch.set_current(*key, &Sky);
            batch.set_previous(*key, &Sky);
        }
        for _ in 0..20 {
            batch.update(&mut time);
        }
        left = STATES.get();
        assert!(left < i64::from(count) / 10 + 100, "{left} are left");
    };
    round();
    let first = measure(&mut round).bytes_max;
    // In one of the first rounds, a vector that doubles comes to its last length.
    (0..4).for_each(|_| round());
    let later = measure(|| (0..3).for_each(|_| round()));
    assert!(later.bytes_max <= first * 5 / 4 + 10_000, "{first} bytes, then {}", later.bytes_max);
    assert!(later.bytes_current < 10_000, "{later:?}");
}

#[test]
fn a_machine_that_goes_through_very_many_states_keeps_its_memory() {
    let (mut bird, mut machine) = (Bird { number: 0, to: 0 }, StateMachine::new(&Sky));
    machine.change_state(&mut bird, owned(0), &mut 0.0);
    let memory = measure(|| {
        for number in 0..crate::many(40) {
            machine.change_state(&mut bird, if number % 2 == 0 { owned(number) } else { shared(number) }, &mut 0.0);
        }
    });
    assert_eq!(STATES.get(), 2, "the current one and the one before");
    assert!(memory.bytes_max < 1000, "{memory:?}");
}

#[test]
fn a_save_of_very_many_states_takes_memory_and_calls_in_proportion() {
    grows_in_proportion("a save of owned states", |count| {
        let book = StateBook::new().with(&Sky).with_owned::<Place>();
        let batch = birds(count, owned);
        let bytes = postcard::to_allocvec(&batch.save(&book, 0.0).unwrap()).unwrap();
        let saved: SavedBatch<Bird> = postcard::from_bytes(&bytes).unwrap();
        let loaded = Batch::load(saved, &book, 0.0).unwrap();
        assert_eq!(loaded.digest(|_, _| {}), batch.digest(|_, _| {}));
    });
    grows_in_proportion("a save of shared states", |count| {
        let places: Vec<_> = (0..count).map(shared).collect();
        let names = || places.iter().enumerate().map(|(number, place)| (format!("number {number}"), place.clone()));
        let book = names().fold(StateBook::new(), |book, (name, place)| book.with_name(name, place));
        let batch = birds(count, |number| places[number as usize].clone());
        let bytes = postcard::to_allocvec(&batch.save(&book, 0.0).unwrap()).unwrap();
        let saved: SavedBatch<Bird> = postcard::from_bytes(&bytes).unwrap();
        let loaded = Batch::load(saved.clone(), &book, 0.0).unwrap();
        assert_eq!(loaded.digest(|_, _| {}), batch.digest(|_, _| {}));
        let error = Batch::load(saved, &StateBook::new(), 0.0).unwrap_err().to_string();
        assert_eq!(error.matches("number ").count(), count as usize, "the error lists all of them");
    });
}

#[cfg(feature = "definition")]
#[test]
fn a_definition_of_very_many_states_takes_memory_in_proportion() {
    use demeanor::definition::{Definition, Vocabulary};

    let file = |count: u32, name: &str| {
        let states = (0..count).map(|nth| {
            format!("[states.{name}{nth}]\nexits = [{{ to = '{name}{}', after = 1 }}]\n", (nth + 1) % count)
        });
        format!("initial = '{name}0'\n{}", states.collect::<String>())
    };
    // Files beyond 20 000 states are not what they are for.
    grows_in_proportion("a definition", |count| {
        let count = count.min(20_000);
        let vocabulary = Vocabulary::<Bird>::new();
        let definition = Definition::parse(&file(count, "s"), &vocabulary).unwrap();
        let mut batch = definition.batch();
        let keys: Vec<_> = (0..10)
            .map(|nth| {
                let state = definition.state(&format!("s{}", nth * count / 10)).unwrap();
                batch.insert(Bird { number: nth, to: 0 }, state)
            })
            .collect();
        for tick in 0..20 {
            batch.update(&mut f64::from(tick));
        }
        let names: Vec<_> = keys.iter().map(|key| batch.state_of(*key).unwrap().to_string()).collect();
        let expected: Vec<_> = (0..10).map(|nth| format!("s{}", (nth * count / 10 + 19) % count)).collect();
        assert_eq!(names, expected);
        definition.reload(&file(count, "t")).unwrap();
        batch.update(&mut 20.0);
        batch.update(&mut 20.0);
        assert!(keys.iter().all(|key| batch.state_of(*key) == Some(&definition.initial())));
    });
}
