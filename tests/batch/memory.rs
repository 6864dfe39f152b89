//! How long a batch keeps states that are made at run time, and what it takes of memory meanwhile.

#![cfg(feature = "std")]

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Weak};

use crate::trace::log::Log;
use allocation_counter::measure;
use demeanor::{Batch, Fsm, Key, Owner, State, StateRef};

/// A nomad does in each tick what it is told to do, once.
#[derive(Clone, Default)]
struct Nomad {
    act: Option<fn(&mut Fsm<'_, Nomad>)>,
}

impl Owner for Nomad {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }
}

fn update(name: &str, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, log: &mut Log) {
    log.note(name);
    if let Some(act) = nomad.act.take() {
        act(fsm);
    }
}

thread_local! {
    /// How many camps there are.
    static CAMPS: Cell<u32> = const { Cell::new(0) };
    /// Whether the next camp that is asked whether it is passive panics.
    static IS_TRAPPED: Cell<bool> = const { Cell::new(false) };
}

/// A state that is made at run time, perhaps inside another.
struct Camp {
    name: &'static str,
    around: Option<StateRef<Nomad>>,
    keeps_history: bool,
}

impl Camp {
    fn inside(around: Option<StateRef<Nomad>>, name: &'static str) -> Self {
        CAMPS.set(CAMPS.get() + 1);
        Self { name, around, keeps_history: false }
    }

    fn new(name: &'static str) -> Self {
        Self::inside(None, name)
    }
}

/// A composite that keeps history.
fn remembering() -> Camp {
    let mut camp = Camp::new("Valley");
    camp.keeps_history = true;
    camp
}

impl Drop for Camp {
    fn drop(&mut self) {
        CAMPS.set(CAMPS.get() - 1);
    }
}

impl State<Nomad> for Camp {
    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, log: &mut Log) {
        update(self.name, nomad, fsm, log);
    }

    fn parent(&self) -> Option<StateRef<Nomad>> {
        self.around.clone()
    }

    fn keeps_history(&self) -> bool {
        self.keeps_history
    }

    fn is_passive(&self) -> bool {
        if IS_TRAPPED.take() {
            resume_unwind(Box::new("trapped"));
        }
        false
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }
}

/// Singletons.
struct Graze;
struct Rest;
struct Water;

impl State<Nomad> for Graze {
    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, log: &mut Log) {
        update("Graze", nomad, fsm, log);
    }
}

impl State<Nomad> for Rest {
    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, log: &mut Log) {
        update("Rest", nomad, fsm, log);
    }
}

impl State<Nomad> for Water {
    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, log: &mut Log) {
        update("Water", nomad, fsm, log);
    }
}

fn nomad() -> Nomad {
    Nomad::default()
}

/// A camp that only its owners refer to.
fn camp() -> (StateRef<Nomad>, Weak<Camp>) {
    let camp = Arc::new(Camp::new("Camp"));
    let weak = Arc::downgrade(&camp);
    (camp.into(), weak)
}

fn is_kept(camp: &Weak<Camp>) -> bool {
    camp.strong_count() > 0
}

fn census(batch: &Batch<Nomad>) -> Vec<(String, usize)> {
    batch.census().map(|(state, count)| (state.to_string(), count)).collect()
}

/// A batch with an owner in a camp.
fn camping() -> (Batch<Nomad>, Key, Weak<Camp>) {
    let mut batch = Batch::new();
    let (state, camp) = camp();
    let key = batch.insert(nomad(), state);
    assert!(is_kept(&camp));
    (batch, key, camp)
}

#[test]
fn a_shared_state_goes_with_the_owner_that_is_removed() {
    let (mut batch, key, camp) = camping();
    let removed = batch.remove(key);
    assert!(is_kept(&camp), "the machine that was removed is in it");
    drop(removed);
    assert!(!is_kept(&camp));
    assert_eq!(census(&batch), []);
}

#[test]
fn a_shared_state_is_kept_while_another_owner_is_in_it() {
    let (mut batch, key, camp) = camping();
    let state = batch.state_of(key).unwrap().clone();
    let other = batch.insert(nomad(), state);
    drop(batch.remove(key));
    batch.update(&mut Log::default());
    assert!(batch.state_of(other).is_some_and(|state| state.name() == "Camp"));
    drop(batch.remove(other));
    assert!(!is_kept(&camp));
}

/// A way for an owner in a camp to lose it: what keeps it, and then what does not.
type Way = (&'static str, fn(&mut Batch<Nomad>, Key), fn(&mut Batch<Nomad>, Key));

#[test]
fn a_shared_state_is_kept_as_long_as_its_owner_is_in_it_comes_from_it_or_will_go_back_to_it() {
    let ways: [Way; 10] = [
        (
            "changed away twice",
            |batch, key| assert!(batch.change_state(key, &Graze, &mut Log::default())),
            |batch, key| assert!(batch.change_state(key, &Rest, &mut Log::default())),
        ),
        (
            "changed away twice in bulk",
            |batch, key| {
                batch[key].act = Some(|fsm| fsm.change_state(&Graze));
                batch.update(&mut Log::default());
                assert!(batch.is_in_state(key, &Graze));
            },
            |batch, key| {
                batch[key].act = Some(|fsm| fsm.change_state(&Rest));
                batch.update(&mut Log::default());
                assert!(batch.is_in_state(key, &Rest));
            },
        ),
        (
            "previous set",
            |batch, key| assert!(batch.change_state(key, &Graze, &mut Log::default())),
            |batch, key| assert!(batch.set_previous(key, &Rest)),
        ),
        ("current set", |_, _| {}, |batch, key| assert!(batch.set_current(key, &Rest))),
        (
            "pushed over, then stopped",
            |batch, key| {
                assert!(batch.push_state(key, &Graze, &mut Log::default()));
                assert!(batch.change_state(key, &Rest, &mut Log::default()));
                assert_eq!(batch.previous_of(key).unwrap().name(), "Graze");
            },
            |batch, key| assert!(batch.stop(key, &mut Log::default())),
        ),
        (
            "popped",
            |batch, key| {
                let camp = batch.state_of(key).unwrap().clone();
                assert!(batch.set_current(key, &Water));
                assert!(batch.push_state(key, camp, &mut Log::default()));
                assert!(batch.pop_state(key, &mut Log::default()));
                assert!(batch.is_in_state(key, &Water));
            },
            |batch, key| assert!(batch.change_state(key, &Rest, &mut Log::default())),
        ),
        ("cleared", |_, _| {}, |batch, _| batch.clear()),
        ("not retained", |batch, _| batch.retain(|_, _| true), |batch, _| batch.retain(|_, _| false)),
        ("drained", |_, _| {}, |batch, _| drop(batch.drain())),
        (
            "replaced by a clone of another batch",
            |_, _| {},
            |batch, _| {
                let mut other = Batch::new();
                other.insert(nomad(), &Rest);
                batch.clone_from(&other);
            },
        ),
    ];
    for (name, keep, lose) in ways {
        let (mut batch, key, camp) = camping();
        batch.insert(nomad(), &Water);
        keep(&mut batch, key);
        (0..100).for_each(|_| batch.update(&mut Log::default()));
        assert!(is_kept(&camp), "{name}: it is still needed");
        lose(&mut batch, key);
        assert!(!is_kept(&camp), "{name}: it is needed no more");
    }
}

#[test]
fn a_shared_global_goes_with_the_one_that_takes_its_place() {
    let (state, camp) = camp();
    let mut batch = Batch::new().with_global(state);
    batch.insert(nomad(), &Rest);
    batch.update(&mut Log::default());
    assert!(is_kept(&camp));
    batch.set_global(&Graze);
    assert!(!is_kept(&camp));
}

#[test]
fn the_states_around_a_shared_one_go_with_it() {
    let valley = Arc::new(Camp::new("Valley"));
    let weak = Arc::downgrade(&valley);
    let camp = Arc::new(Camp::inside(Some(valley.into()), "Camp"));
    let mut batch = Batch::new();
    let key = batch.insert(nomad(), camp);
    assert!(is_kept(&weak));
    batch.change_state(key, &Rest, &mut Log::default());
    batch.change_state(key, &Graze, &mut Log::default());
    assert!(!is_kept(&weak));
}

#[test]
fn a_shared_state_that_only_room_was_reserved_for_is_not_kept() {
    let (state, camp) = camp();
    let mut batch = Batch::new();
    let key = batch.insert(nomad(), &Rest);
    batch.reserve(100, state);
    batch.update(&mut Log::default());
    assert!(!is_kept(&camp));
    assert!(batch.is_in_state(key, &Rest));
}

/// Rule 22: an owner that did not come to be does not keep its state alive.
#[test]
fn a_shared_state_whose_insertion_panicked_is_not_kept() {
    let mut batch = Batch::new();
    batch.insert(nomad(), &Rest);
    let (state, camp) = camp();
    IS_TRAPPED.set(true);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.insert(nomad(), state))).is_err());
    assert_eq!(batch.len(), 1);
    batch.update(&mut Log::default());
    assert!(!is_kept(&camp));

    let (state, camp) = self::camp();
    IS_TRAPPED.set(true);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.reserve(10, state))).is_err());
    batch.update(&mut Log::default());
    assert!(!is_kept(&camp));
    assert_eq!(census(&batch), [("Rest".into(), 1)]);
}

#[test]
fn a_thousand_shared_states_inserted_and_removed_leave_nothing() {
    let mut batch = Batch::new();
    let mut camps = Vec::new();
    let keys: Vec<_> = (0..1000)
        .map(|_| {
            let (state, camp) = camp();
            camps.push(camp);
            batch.insert(nomad(), state)
        })
        .collect();
    assert_eq!(batch.census().count(), 1000);
    for key in keys {
        drop(batch.remove(key));
    }
    assert_eq!(camps.iter().filter(|camp| is_kept(camp)).count(), 0);
    assert_eq!(census(&batch), []);
}

/// To look for them takes a look at every row, so it takes some ticks where there are many.
#[test]
fn among_many_owners_shared_states_that_nobody_needs_go_within_some_ticks() {
    let mut batch = Batch::new();
    for _ in 0..10_000 {
        batch.insert(nomad(), &Rest);
    }
    let mut camps = Vec::new();
    for _ in 0..10 {
        let (state, camp) = camp();
        camps.push(camp);
        let key = batch.insert(nomad(), state);
        batch.change_state(key, &Rest, &mut Log::default());
        batch.change_state(key, &Rest, &mut Log::default());
    }
    (0..64).for_each(|_| batch.update(&mut Log::default()));
    assert_eq!(camps.iter().filter(|camp| is_kept(camp)).count(), 0);
    assert_eq!(census(&batch), [("Rest".into(), 10_010)]);
}

/// Leads to another of its kind in every tick.
struct Trek(u64);

impl Trek {
    fn new(day: u64) -> Self {
        CAMPS.set(CAMPS.get() + 1);
        Self(day)
    }
}

impl Drop for Trek {
    fn drop(&mut self) {
        CAMPS.set(CAMPS.get() - 1);
    }
}

impl State<Nomad> for Trek {
    fn update(&self, _: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, _: &mut Log) {
        fsm.change_state(Arc::new(Self::new(self.0 + 1)));
    }
}

#[test]
fn a_batch_that_meets_fresh_states_for_100_000_ticks_keeps_its_memory() {
    let before = CAMPS.get();
    let mut batch = Batch::new();
    batch.insert(nomad(), Arc::new(Trek::new(0)));
    for _ in 0..3 {
        batch.insert(nomad(), &Rest);
    }
    let mut log = Log::default();
    let mut ticks = |count: u32| {
        for _ in 0..count {
            log.lines.clear();
            batch.update(&mut log);
        }
        batch.census().count()
    };
    let known_at_first = ticks(1000);
    let (mut known, mut known_later) = (0, 0);
    let first = measure(|| known = ticks(1000));
    ticks(97_000);
    let last = measure(|| known_later = ticks(1000));
    assert!(known_at_first <= 10 && known <= 10 && known_later <= 10, "{known_at_first} {known} {known_later}");
    assert!(CAMPS.get() - before <= 4, "{} states are alive", CAMPS.get() - before);
    assert_eq!(last.count_total, first.count_total, "allocations of a thousand ticks");
    assert!(last.bytes_current.abs() < 1024, "{} bytes more after a thousand ticks", last.bytes_current);
    assert!(last.bytes_max < first.bytes_max + 1024, "{} {}", first.bytes_max, last.bytes_max);
}

/// Rule 16.
#[test]
fn an_owner_of_a_batch_remembers_at_most_64_composites() {
    let mut batch = Batch::new();
    let key = batch.insert(nomad(), &Rest);
    let mut camps = Vec::new();
    for _ in 0..1000 {
        let valley = Arc::new(remembering());
        camps.push(Arc::downgrade(&valley));
        let camp = Arc::new(Camp::inside(Some(valley.into()), "Camp"));
        assert!(batch.change_state(key, camp, &mut Log::default()));
        assert!(batch.change_state(key, &Rest, &mut Log::default()));
    }
    assert!(camps.iter().filter(|camp| is_kept(camp)).count() <= 64);
    drop(batch.remove(key));
    assert_eq!(camps.iter().filter(|camp| is_kept(camp)).count(), 0);
}

/// Rules 16 and 19.
#[test]
fn an_owner_that_is_updated_with_others_remembers_at_most_64_composites() {
    fn leave(fsm: &mut Fsm<'_, Nomad>) {
        fsm.change_state(&Rest);
    }
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..3).map(|_| batch.insert(nomad(), &Rest)).collect();
    let mut camps = Vec::new();
    for _ in 0..300 {
        for &key in &keys {
            let valley = Arc::new(remembering());
            camps.push(Arc::downgrade(&valley));
            batch.set_current(key, Arc::new(Camp::inside(Some(valley.into()), "Camp")));
            batch[key].act = Some(leave);
        }
        batch.update(&mut Log::default());
        assert_eq!(batch.owners_in(&Rest).len(), 3);
    }
    assert!(camps.iter().filter(|camp| is_kept(camp)).count() <= 3 * 64);
    batch.clear();
    assert_eq!(camps.iter().filter(|camp| is_kept(camp)).count(), 0);
}

/// Rule 19: the number of a state that is gone is given to another, whose place in the order is the last.
#[test]
fn states_are_visited_in_the_order_in_which_they_were_first_seen_though_others_are_gone() {
    let mut batch = Batch::new();
    let first = batch.insert(nomad(), Arc::new(Camp::new("First")));
    batch.insert(nomad(), &Graze);
    let second = batch.insert(nomad(), Arc::new(Camp::new("Second")));
    // A singleton that was asked for counts as seen.
    batch.insert(Nomad { act: Some(|fsm| fsm.change_state(&Water)) }, &Graze);
    drop(batch.remove(first));
    batch.insert(nomad(), Arc::new(Camp::new("Third")));
    batch.update(&mut Log::default());
    drop(batch.remove(second));
    batch.insert(nomad(), &Rest);
    batch.insert(nomad(), Arc::new(Camp::new("Fourth")));
    let expected = ["Graze", "Third", "Water", "Rest", "Fourth"].map(|name| (name.to_owned(), 1));
    assert_eq!(census(&batch), expected);
    let mut log = Log::default();
    batch.update(&mut log);
    assert_eq!(log.lines, "Graze; Third; Water; Rest; Fourth");
    assert_eq!(batch.iter().count(), 5);
}

/// Rule 18: a nested state's number goes to a flat one, and the other way around.
#[test]
fn times_are_right_when_the_number_of_a_state_is_given_to_another_of_other_depth() {
    let mut batch = Batch::new();
    let mut log = Log { now: 1.0, ..Log::default() };
    batch.spawn(nomad(), &Rest, &mut log);
    for round in 0..4_u8 {
        let start = f64::from(round) * 100.0;
        let valley: StateRef<Nomad> = Arc::new(Camp::new("Valley")).into();
        let [one, two] = ["One", "Two"].map(|name| Arc::new(Camp::inside(Some(valley.clone()), name)));
        let is_nested = round % 2 == 0;
        let (one, two) = if is_nested { (one, two) } else { (Arc::new(Camp::new("A")), Arc::new(Camp::new("B"))) };
        log.now = start + 10.0;
        let keys = [0, 1, 2].map(|_| batch.spawn(nomad(), one.clone(), &mut log));
        log.now = start + 30.0;
        assert!(batch.change_state(keys[0], two.clone(), &mut log));
        log.now = start + 60.0;
        let times = keys.map(|key| batch.time_in_state(key, &log));
        assert_eq!(times, [Some(30.0), Some(50.0), Some(50.0)]);
        let around = keys.map(|key| batch.time_in(key, &*valley, &log));
        assert_eq!(around, if is_nested { [Some(50.0); 3] } else { [None; 3] });
        batch.update(&mut log);
        for key in keys {
            drop(batch.remove(key));
        }
        assert_eq!(batch.census().count(), 1, "they are known no more");
    }
}
