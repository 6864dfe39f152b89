//! The chapter "Many owners": rules 19 to 21, and rules 11, 18 and 22 for batches.
#![cfg(feature = "std")]

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use demeanor::{Batch, Fsm, FsmSlice, IntoState, Key, Owner, State, StateRef};

use crate::trace::log::{Log, Trace};

/// An owner that goes where it is told.
#[derive(Clone, Default)]
struct Soldier {
    number: usize,
    /// Where it goes in its next `update` or with its next message, from a state of this name.
    orders: Vec<(&'static str, &'static Post)>,
    /// The callback, such as `A.exit`, in which it panics.
    panics_in: Option<&'static str>,
    updates: u32,
}

impl Owner for Soldier {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }
}

impl Soldier {
    fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    fn ordered(number: usize, from: &'static str, to: &'static Post) -> Self {
        Self { orders: vec![(from, to)], ..Self::new(number) }
    }

    fn panicking(mut self, callback: &'static str) -> Self {
        self.panics_in = Some(callback);
        self
    }

    fn call(&mut self, state: &str, callback: &str, log: &mut Log) {
        let key = format!("{state}.{callback}");
        log.note(format!("{key} {}", self.number));
        if self.panics_in == Some(&key) {
            // Without the panic hook's message: it is expected.
            resume_unwind(Box::new("told to"));
        }
    }

    /// Follows the next order of a state.
    fn obey(&mut self, state: &str, fsm: &mut Fsm<'_, Self>) {
        self.updates += 1;
        if let Some(at) = self.orders.iter().position(|(from, _)| *from == state) {
            fsm.change_state(self.orders.remove(at).1);
        }
    }
}

/// Each `static` is one state.
#[derive(Clone)]
struct Post {
    name: &'static str,
    parent: Option<&'static Post>,
    initial: Option<&'static Post>,
    is_backward: bool,
}

impl Post {
    const fn new(name: &'static str) -> Self {
        Self { name, parent: None, initial: None, is_backward: false }
    }
}

static A: Post = Post::new("A");
static B: Post = Post::new("B");
static C: Post = Post::new("C");
static BACKWARD: Post = Post { is_backward: true, ..Post::new("Backward") };

impl State<Soldier> for Post {
    fn enter(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, log: &mut Log) {
        soldier.call(self.name, "enter", log);
    }

    fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, log: &mut Log) {
        soldier.obey(self.name, fsm);
        soldier.call(self.name, "update", log);
    }

    fn on_message(&self, soldier: &mut Soldier, (): &(), fsm: &mut Fsm<'_, Soldier>, log: &mut Log) -> bool {
        soldier.obey(self.name, fsm);
        soldier.call(self.name, "on_message", log);
        soldier.number % 4 > 0
    }

    fn exit(&self, soldier: &mut Soldier, _: &mut Fsm<'_, Soldier>, log: &mut Log) {
        soldier.call(self.name, "exit", log);
    }

    fn parent(&self) -> Option<StateRef<Soldier>> {
        self.parent.map(Into::into)
    }

    fn initial(&self) -> Option<StateRef<Soldier>> {
        self.initial.map(Into::into)
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }

    fn update_all(&self, soldiers: &mut [Soldier], fsm: &mut FsmSlice<'_, Soldier>, log: &mut Log) {
        let all = 0..soldiers.len();
        let update = |i: usize| self.update(&mut soldiers[i], fsm.at(i), log);
        if self.is_backward {
            all.rev().for_each(update);
        } else {
            all.for_each(update);
        }
    }
}

/// What happens in a tick, to everyone: `A.update 3`.
fn update(batch: &mut Batch<Soldier>) -> Trace {
    let mut log = Log::default();
    batch.update(&mut log);
    log.lines
}

/// A tick that panics as it was told to.
fn panicking_update(batch: &mut Batch<Soldier>) -> Trace {
    let mut log = Log::default();
    let panic = catch_unwind(AssertUnwindSafe(|| batch.update(&mut log))).expect_err("somebody panics");
    assert_eq!(panic.downcast_ref(), Some(&"told to"), "the panic reaches the caller");
    log.lines
}

fn name_of(batch: &Batch<Soldier>, key: Key) -> String {
    batch.state_of(key).expect("it is in a state").to_string()
}

/// The numbers of the owners in a state, as they lie.
fn numbers_in(batch: &Batch<Soldier>, state: &Post) -> Vec<usize> {
    batch.owners_in(state).iter().map(|soldier| soldier.number).collect()
}

/// Rules 19 and 20.
#[test]
fn a_state_of_many_is_updated_by_chunks_in_slot_order() {
    const CHUNK: usize = 2048;
    let mut batch = Batch::new();
    batch.insert(Soldier::new(CHUNK + 2), &B);
    for number in 0..CHUNK + 2 {
        batch.insert(Soldier::ordered(number, "A", &B), &A);
    }
    // The state that was seen first.
    let mut expected = vec![format!("B.update {}", CHUNK + 2)];
    for chunk in [0..CHUNK, CHUNK..CHUNK + 2] {
        for callback in ["A.update", "A.exit", "B.enter"] {
            expected.extend(chunk.clone().map(|number| format!("{callback} {number}")));
        }
    }
    assert_eq!(*update(&mut batch), expected);
    assert!(batch.owners_in(&A).is_empty());
    assert_eq!(batch.owners_in(&B).len(), CHUNK + 3);
}

/// Rule 19.
#[test]
fn the_last_owners_that_stay_take_the_slots_of_those_that_leave_before_them() {
    let leave = |leaving: &[usize]| {
        let mut batch = Batch::new();
        for number in 0..10 {
            let soldier = Soldier::new(number);
            batch.insert(if leaving.contains(&number) { Soldier::ordered(number, "A", &B) } else { soldier }, &A);
        }
        update(&mut batch);
        (numbers_in(&batch, &A), numbers_in(&batch, &B))
    };
    // Owner 7 takes slot 1 and 9 takes slot 3, so that 1, 8 and 3 are the last.
    assert_eq!(leave(&[1, 3, 8]), (vec![0, 7, 2, 9, 4, 5, 6], vec![1, 8, 3]));
    assert_eq!(leave(&[7, 8, 9]), ((0..7).collect(), vec![7, 8, 9]), "there is no gap");
    assert_eq!(leave(&[0]), (vec![9, 1, 2, 3, 4, 5, 6, 7, 8], vec![0]));
    assert_eq!(leave(&(0..10).collect::<Vec<_>>()), (vec![], (0..10).collect()), "all leave together");
    assert_eq!(leave(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), (vec![9], vec![1, 2, 3, 4, 5, 6, 7, 8, 0]));
}

/// Rule 19.
#[test]
fn owners_that_leave_asleep_first_change_places_with_the_last_owners_that_sleep() {
    let mut batch = Batch::new();
    // The state does not handle the message, so owners without an order stay asleep.
    for number in [0, 4, 8, 12, 16, 20, 24, 28] {
        let is_leaving = [0, 4, 12].contains(&number);
        let soldier = if is_leaving { Soldier::ordered(number, "A", &B) } else { Soldier::new(number) };
        let key = batch.insert(soldier, &A);
        if number < 24 {
            batch.sleep(key);
        }
    }
    batch.broadcast(&(), &mut Log::default());
    // Owner 12 changes places with 20, 4 with 16, and 0 with 20. Then 20, 16 and 8 sleep, and 0, 4, 12, 24 and 28 are awake.
    assert_eq!(numbers_in(&batch, &A), [20, 16, 8, 24, 28]);
    assert_eq!(numbers_in(&batch, &B), [12, 0, 4]);
    assert_eq!(batch.awake(), 5);
}

/// Rule 19: some targets are told apart by counting, very many by sorting.
#[test]
fn enters_come_by_target_however_many_states_there_are() {
    for states in [3, 300] {
        let posts: Vec<&'static Post> = (0..states).map(|_| &*Box::leak(Box::new(Post::new("Post")))).collect();
        let mut batch = Batch::new();
        for (number, post) in posts.iter().enumerate() {
            batch.insert(Soldier::new(1000 + number), *post);
        }
        for number in 0..40 {
            batch.insert(Soldier::ordered(number, "A", posts[number * 7 % states]), &A);
        }
        let mut numbers: Vec<_> = (0..40).collect();
        numbers.sort_by_key(|number| number * 7 % states);
        let expected: Vec<_> = numbers.into_iter().map(|number| format!("Post.enter {number}")).collect();
        let log = update(&mut batch);
        let entered: Vec<_> = log.into_iter().filter(|line| line.starts_with("Post.enter")).collect();
        assert_eq!(entered, expected);
        for (state, post) in posts.iter().enumerate() {
            let mut here = numbers_in(&batch, post);
            here.sort_unstable();
            let mut expected: Vec<_> = (0..40).filter(|number| number * 7 % states == state).collect();
            expected.push(1000 + state);
            assert_eq!(here, expected);
        }
    }
}

/// Rule 20.
#[test]
fn owners_that_change_places_are_each_updated_once_a_tick() {
    let mut batch = Batch::new();
    for number in 0..5000 {
        let mut soldier = Soldier::new(number);
        for _ in 0..6 {
            soldier.orders.push(("A", if number % 3 == 0 { &B } else { &C }));
            soldier.orders.push(("B", if number % 5 == 0 { &C } else { &A }));
            soldier.orders.push(("C", if number % 7 == 0 { &C } else { &A }));
        }
        batch.insert(soldier, [&A, &B, &C][number % 3]);
    }
    for tick in 1..=6 {
        update(&mut batch);
        assert!(batch.iter().all(|(_, soldier)| soldier.updates == tick));
    }
}

#[test]
fn an_override_may_take_the_handles_in_any_order() {
    let mut batch = Batch::new();
    for number in 0..5 {
        let to = if number % 2 == 0 { &B } else { &C };
        batch.insert(Soldier::ordered(number, "Backward", to), &BACKWARD);
    }
    batch.insert(Soldier::new(5), &BACKWARD);
    let log = update(&mut batch);
    assert_eq!(log[..6], [5, 4, 3, 2, 1, 0].map(|number| format!("Backward.update {number}")));
    let mut here = (numbers_in(&batch, &B), numbers_in(&batch, &C));
    here.0.sort_unstable();
    here.1.sort_unstable();
    assert_eq!(here, (vec![0, 2, 4], vec![1, 3]));
    assert_eq!(numbers_in(&batch, &BACKWARD), [5]);
}

#[test]
fn none_one_or_all_owners_in_a_state_are_all_the_same() {
    let mut batch = Batch::<Soldier>::new();
    assert_eq!(update(&mut batch), "");
    batch.update_in_key_order(&mut Log::default());
    batch.update_part(0, 3, &mut Log::default());
    assert_eq!((batch.len(), batch.broadcast(&(), &mut Log::default()), batch.census().count()), (0, 0, 0));

    let key = batch.insert(Soldier::ordered(0, "A", &A), &A);
    assert_eq!(update(&mut batch), "A.update 0; A.exit 0; A.enter 0");
    assert_eq!(batch.previous_of(key), batch.state_of(key));
    assert_eq!(numbers_in(&batch, &A), [0]);

    for number in 1..100 {
        batch.insert(Soldier::ordered(number, "A", &B), &A);
    }
    update(&mut batch);
    assert_eq!((batch.owners_in(&A).len(), batch.owners_in(&B).len()), (1, 99));
}

#[test]
fn n_parts_update_every_owner_once_while_they_move_come_and_go() {
    let mut batch = Batch::new();
    let order = |number: usize| {
        let mut soldier = Soldier::new(number);
        for i in 0..40 {
            soldier.orders.push(("A", if (number + i) % 2 == 0 { &B } else { &C }));
            soldier.orders.push(("B", if (number + i) % 3 == 0 { &A } else { &C }));
            soldier.orders.push(("C", if (number + i) % 5 == 0 { &B } else { &A }));
        }
        soldier
    };
    let mut keys: Vec<_> = (0..3000).map(|number| batch.insert(order(number), [&A, &B][number % 2])).collect();
    for n in [1, 2, 3, 7] {
        let before: Vec<_> = keys.iter().map(|key| batch.get(*key).expect("it is there").updates).collect();
        let mut come = Vec::new();
        for k in 0..n {
            batch.update_part(k, n, &mut Log::default());
            // Somebody goes, and somebody else comes in its place, to be in the part that it was in.
            let gone = keys.remove(k * 100);
            assert!(batch.remove(gone).is_some());
            come.push(batch.insert(order(k), &C));
        }
        let mut stayed = before;
        for k in 0..n {
            stayed.remove(k * 100);
        }
        for (key, before) in keys.iter().zip(stayed) {
            assert_eq!(batch.get(*key).expect("it is there").updates, before + 1, "in {n} parts");
        }
        assert!(come.iter().all(|key| batch.get(*key).expect("it is there").updates <= 1));
        keys.extend(come);
    }
}

/// In whose `update` a second passes, and then the soldier of a number changes in its own way.
struct Slow;

impl State<Soldier> for Slow {
    fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, log: &mut Log) {
        log.now += 1.0;
        match soldier.number {
            0 => drop(fsm.change_state_now(soldier, &A, log)),
            1 => drop(fsm.change_state_now(soldier, &B, log)),
            2 => fsm.change_state(&A),
            3 => fsm.change_state(&B),
            _ => {}
        }
    }
}

/// Goes through its owners twice.
struct Twice;

impl State<Soldier> for Twice {
    fn update_all(&self, soldiers: &mut [Soldier], fsm: &mut FsmSlice<'_, Soldier>, log: &mut Log) {
        for (i, soldier) in soldiers.iter_mut().enumerate().filter(|(i, _)| i % 3 != 0) {
            fsm.at(i).change_state_now(soldier, &A, log);
        }
        for (i, soldier) in soldiers.iter_mut().enumerate() {
            note(soldier, fsm.at(i), log);
            match i % 3 {
                2 => drop(fsm.at(i).change_state_now(soldier, &B, log)),
                _ => fsm.at(i).change_state(&B),
            }
            note(soldier, fsm.at(i), log);
        }
    }
}

/// Writes down what an owner's handle shows.
fn note(soldier: &Soldier, fsm: &Fsm<'_, Soldier>, log: &mut Log) {
    let (current, previous, time) = (fsm.current(), fsm.previous(), fsm.time_in_state(log));
    log.note(format!("{previous:?} -> {current:?} for {time}, {} {}", fsm.has_requests(), soldier.number));
}

/// So many soldiers in a state, in a batch that knows where they go, so that plain changes are made in bulk.
fn squad<const N: usize>(state: impl IntoState<Soldier> + Copy) -> (Batch<Soldier>, [Key; N]) {
    let mut batch = Batch::new();
    for known in [&A, &B] {
        let guide = batch.insert(Soldier::default(), known);
        batch.remove(guide);
    }
    let keys = std::array::from_fn(|number| batch.insert(Soldier::new(number), state));
    (batch, keys)
}

/// Rule 18.
#[test]
fn owners_that_change_at_several_times_of_one_tick_have_a_time_each() {
    let (mut batch, keys) = squad::<5>(&Slow);
    let mut log = Log::at(10.0);
    batch.update(&mut log);
    log.now = 20.0;
    let found = keys.map(|key| (name_of(&batch, key), batch.time_in_state(key, &log).expect("it is there")));
    // The first two change when they are updated, the next two once all have been.
    let expected = [("A", 9.0), ("B", 8.0), ("A", 5.0), ("B", 5.0), ("Slow", 20.0)];
    assert_eq!(found, expected.map(|(name, time)| (name.to_owned(), time)));
}

/// Rules 11 and 19.
#[test]
fn a_state_that_goes_through_its_owners_twice_finds_what_it_has_changed_at_once() {
    let (mut batch, keys) = squad::<4>(&Twice);
    let mut log = Log::default();
    batch.update(&mut log);
    let previous = keys.map(|key| batch.previous_of(key).map(ToString::to_string).expect("it has changed"));
    assert_eq!(previous, ["Twice", "A", "A", "Twice"]);
    assert_eq!(numbers_in(&batch, &B).len(), 4);
    // The order across owners is that of those who go through them.
    log.lines.sort_by_key(|line| line.chars().last());
    assert_eq!(
        log.lines,
        "None -> Some(Twice) for 0, false 0; None -> Some(Twice) for 0, true 0; B.enter 0
         A.enter 1; Some(Twice) -> Some(A) for 0, false 1; Some(Twice) -> Some(A) for 0, true 1; A.exit 1; B.enter 1
         A.enter 2; Some(Twice) -> Some(A) for 0, false 2; A.exit 2; B.enter 2; Some(A) -> Some(B) for 0, false 2
         None -> Some(Twice) for 0, false 3; None -> Some(Twice) for 0, true 3; B.enter 3"
    );
}

#[cfg(feature = "parallel")]
mod on_all_cores;

/// Rule 22.
#[test]
fn a_panic_in_an_override_drops_the_requests_of_whom_it_had_come_to() {
    let mut batch = Batch::new();
    let keys = [0, 1, 2].map(|number| {
        let soldier = Soldier::ordered(number, "Backward", &B);
        batch.insert(if number == 1 { soldier.panicking("Backward.update") } else { soldier }, &BACKWARD)
    });
    let log = panicking_update(&mut batch);
    assert_eq!(log, "Backward.update 2; Backward.update 1; Backward.exit 2; B.enter 2");
    assert_eq!(keys.map(|key| name_of(&batch, key)), ["Backward", "Backward", "B"]);
}
