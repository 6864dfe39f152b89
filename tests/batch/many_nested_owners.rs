//! The chapter "Many owners", where states have parents: rules 5, 6, 8, 18, 19, 21 and 22 for owners that change together.
#![cfg(feature = "std")]

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use demeanor::{Batch, Fsm, Key, Owner, State, StateMachine, StateRef};

use crate::trace::log::Log;

/// An owner that goes to a state in each `update`.
#[derive(Clone, Default)]
struct Soldier {
    number: usize,
    to: Option<&'static Post>,
    /// The guard, such as `X.can_exit`, that refuses it.
    refused_by: &'static str,
    /// The callback in which it panics.
    panics_in: &'static str,
    /// The callback in which it changes to A at once.
    flees_in: &'static str,
}

impl Owner for Soldier {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }
}

struct Post {
    name: &'static str,
    parent: Option<&'static Post>,
    initial: Option<&'static Post>,
}

impl Post {
    const fn new(name: &'static str, parent: Option<&'static Post>, initial: Option<&'static Post>) -> Self {
        Self { name, parent, initial }
    }

    fn call(&self, callback: &str, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, log: &mut Log) {
        let key = format!("{}.{callback}", self.name);
        log.note(format!("{key} {}", soldier.number));
        if soldier.panics_in == key {
            resume_unwind(Box::new("told to"));
        }
        if soldier.flees_in == key {
            fsm.change_state_now(soldier, &A, log);
        }
    }
}

impl State<Soldier> for Post {
    fn enter(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, log: &mut Log) {
        self.call("enter", soldier, fsm, log);
    }

    fn update(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut Log) {
        if let (Some(to), true) = (soldier.to, fsm.is_in_state(self) && self.initial.is_none()) {
            fsm.change_state(to);
        }
    }

    fn exit(&self, soldier: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, log: &mut Log) {
        self.call("exit", soldier, fsm, log);
    }

    fn can_enter(&self, soldier: &Soldier, _: &Fsm<'_, Soldier>, _: &Log) -> bool {
        soldier.refused_by.strip_suffix(".can_enter") != Some(self.name)
    }

    fn can_exit(&self, soldier: &Soldier, _: &Fsm<'_, Soldier>, _: &Log) -> bool {
        soldier.refused_by.strip_suffix(".can_exit") != Some(self.name)
    }

    fn parent(&self) -> Option<StateRef<Soldier>> {
        self.parent.map(StateRef::from)
    }

    fn initial(&self) -> Option<StateRef<Soldier>> {
        self.initial.map(StateRef::from)
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }
}

static A: Post = Post::new("A", None, None);
static X: Post = Post::new("X", None, Some(&X1));
static X1: Post = Post::new("X1", Some(&X), None);
static X2: Post = Post::new("X2", Some(&X), None);
static Y: Post = Post::new("Y", None, Some(&Y1));
static Y1: Post = Post::new("Y1", Some(&Y), None);

/// A batch that knows all of the states, and some soldiers in X1.
fn in_x1(soldiers: &[Soldier]) -> (Batch<Soldier>, Vec<Key>, Log) {
    let mut log = Log::default();
    let mut batch = Batch::new();
    let guides = [&A, &X1, &X2, &Y1].map(|post| batch.spawn(Soldier::default(), post, &mut log));
    for guide in guides {
        batch.remove(guide);
    }
    let keys = soldiers.iter().map(|soldier| batch.spawn(soldier.clone(), &X1, &mut log)).collect();
    log.lines.clear();
    log.now = 5.0;
    (batch, keys, log)
}

fn going(targets: &[&'static Post]) -> Vec<Soldier> {
    let numbered = targets.iter().enumerate();
    numbered.map(|(number, to)| Soldier { number, to: Some(to), ..Soldier::default() }).collect()
}

fn path(batch: &Batch<Soldier>, key: Key) -> Vec<String> {
    batch.path(key).into_iter().flatten().map(|state| state.name().into_owned()).collect()
}

/// Rules 5, 6 and 19.
#[test]
fn exits_come_level_by_level_and_enters_by_target_level_by_level() {
    let (mut batch, keys, mut log) = in_x1(&going(&[&X2, &Y, &A, &X1, &X2, &Y]));
    batch.update(&mut log);
    // First the innermost states are left. Y, which is the outer one, is entered before Y1.
    assert_eq!(
        log.lines,
        "X1.exit 0; X1.exit 1; X1.exit 2; X1.exit 3; X1.exit 4; X1.exit 5
         X.exit 1; X.exit 2; X.exit 5
         A.enter 2; X1.enter 3; X2.enter 0; X2.enter 4
         Y.enter 1; Y.enter 5; Y1.enter 1; Y1.enter 5"
    );
    let paths: Vec<_> = keys.iter().map(|&key| path(&batch, key).join(" ")).collect();
    assert_eq!(paths, ["X X2", "Y Y1", "A", "X X1", "X X2", "Y Y1"]);
}

/// Rule 18.
#[test]
fn who_stays_in_a_parent_keeps_its_time() {
    let (mut batch, keys, mut log) = in_x1(&going(&[&X2, &Y, &A, &X2]));
    batch.update(&mut log);
    log.now = 7.0;
    assert_eq!([&X, &X2].map(|state| batch.time_in(keys[0], state, &log)), [Some(7.0), Some(2.0)]);
    assert_eq!([&Y, &Y1].map(|state| batch.time_in(keys[1], state, &log)), [Some(2.0), Some(2.0)]);
    assert_eq!([&A, &X].map(|state| batch.time_in(keys[2], state, &log)), [Some(2.0), None]);
    // One goes back, and one to the state that it is in.
    batch.get_mut(keys[0]).unwrap().to = Some(&X1);
    batch.update(&mut log);
    assert_eq!([&X, &X1].map(|state| batch.time_in(keys[0], state, &log)), [Some(7.0), Some(0.0)]);
    assert_eq!([&X, &X2].map(|state| batch.time_in(keys[3], state, &log)), [Some(7.0), Some(0.0)]);
}

/// Rule 6.
#[test]
fn a_change_to_an_active_parent_leaves_and_enters_it() {
    let (mut batch, keys, mut log) = in_x1(&going(&[&X, &X]));
    batch.update(&mut log);
    for number in 0..2 {
        let own: Vec<_> = log.lines.iter().filter(|call| call.ends_with(&number.to_string())).collect();
        assert_eq!(own, ["X1.exit", "X.exit", "X.enter", "X1.enter"].map(|call| format!("{call} {number}")).each_ref());
    }
    assert_eq!(path(&batch, keys[0]), ["X", "X1"]);
}

/// What one tick of a machine in X1 comes to: its calls and its path, and whether it panics.
fn alone(soldier: &Soldier) -> (Vec<String>, Vec<String>, bool) {
    let mut log = Log::default();
    let (mut soldier, mut machine) = (soldier.clone(), StateMachine::new(&X1));
    machine.start(&mut soldier, &mut log);
    log.lines.clear();
    log.now = 5.0;
    let is_panicking = catch_unwind(AssertUnwindSafe(|| machine.update(&mut soldier, &mut log))).is_err();
    (log.lines.to_vec(), machine.path().map(|state| state.name().into_owned()).collect(), is_panicking)
}

/// Rules 8, 19 and 22.
#[test]
fn a_guard_a_panic_or_a_flight_at_any_level_concerns_nobody_else() {
    let keys = ["X1.exit", "X.exit", "Y.enter", "Y1.enter", "X2.enter", "A.enter"];
    let mut soldiers = Vec::new();
    for to in [&X2, &Y, &A, &X1] {
        let plain = Soldier { to: Some(to), ..Soldier::default() };
        soldiers.push(plain.clone());
        for guard in ["X1.can_exit", "X.can_exit", "Y.can_enter", "Y1.can_enter", "X2.can_enter", "A.can_enter"] {
            soldiers.push(Soldier { refused_by: guard, ..plain.clone() });
        }
        soldiers.extend(keys.map(|flees_in| Soldier { flees_in, ..plain.clone() }));
        soldiers.extend(keys.map(|panics_in| Soldier { panics_in, ..plain.clone() }));
        soldiers.push(plain);
    }
    for (number, soldier) in soldiers.iter_mut().enumerate() {
        soldier.number = 1000 + number;
    }
    let (mut batch, keys, mut log) = in_x1(&soldiers);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.update(&mut log))).is_err(), "the panic reaches the caller");
    let mut panicked = 0;
    for (soldier, key) in soldiers.iter().zip(keys) {
        let number = soldier.number.to_string();
        let own: Vec<_> = log.lines.iter().filter(|call| call.ends_with(&number)).cloned().collect();
        let (calls, path_alone, is_panicking) = alone(soldier);
        panicked += usize::from(is_panicking);
        let what = format!(
            "{:?}, {}, {}, {}",
            soldier.to.map(|to| to.name),
            soldier.refused_by,
            soldier.panics_in,
            soldier.flees_in
        );
        assert_eq!((own, path(&batch, key)), (calls, path_alone), "{what}");
    }
    assert!(panicked > 4);
}

/// Rule 21.
#[cfg(feature = "parallel")]
#[test]
fn in_parallel_they_end_as_in_an_ordinary_tick() {
    let targets = [&X2, &Y, &A, &X1, &Y1];
    let soldiers = going(&(0..9000).map(|number| targets[number * 7 % targets.len()]).collect::<Vec<_>>());
    let (mut batch, _, mut log) = in_x1(&soldiers);
    let mut other = batch.clone();
    for seconds in 5..9 {
        log.now = f64::from(seconds);
        log.lines.clear();
        batch.update(&mut log);
        let logs = other.par_update(|_| Log::at(f64::from(seconds)));
        assert_eq!(logs.into_iter().flat_map(|log| log.lines).collect::<Vec<_>>(), *log.lines);
        let layout = |batch: &Batch<Soldier>| -> Vec<_> {
            let one = |(key, soldier): (Key, &Soldier)| {
                (soldier.number, path(batch, key), batch.time_in_state(key, &log), batch.time_in(key, &X, &log))
            };
            batch.iter().map(one).collect()
        };
        assert_eq!(layout(&batch), layout(&other));
    }
}
