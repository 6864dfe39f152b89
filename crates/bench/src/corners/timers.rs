//! Many timers, requests or messages of one owner: the cost of each must not depend on their number (rule 31).

use std::time::Instant;

use demeanor::{Batch, Fsm, State, StateMachine};

use bench_runner::median;

/// How often each course is measured.
const ROUNDS: usize = 5;

pub(crate) const NAME: &str = "many timers of one owner";

/// An owner that sets timers in its next update.
#[derive(Default)]
struct Unit {
    to_set: u32,
    heard: u64,
}

impl demeanor::Owner for Unit {
    type Context<'a> = f64;
    type Message = u32;

    fn now(now: &f64) -> f64 {
        *now
    }
}

struct Post;
struct Break;

impl State<Unit> for Post {
    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, _: &mut f64) {
        for nth in 0..std::mem::take(&mut unit.to_set) {
            fsm.send_after(later(nth), nth);
        }
    }

    fn on_message(&self, unit: &mut Unit, message: &u32, _: &mut Fsm<'_, Unit>, _: &mut f64) -> bool {
        unit.heard += u64::from(*message);
        true
    }
}

impl State<Unit> for Break {}

fn later(nth: u32) -> f64 {
    1000.0 + f64::from(nth)
}

/// The events of an owner in this course.
#[derive(Clone, Copy)]
enum Course {
    SetFromOutside,
    SetInCallback,
    DueOneByOne,
    Messages,
    PushesAndPops,
}

/// Name, course, number of owners, and number of events for each owner.
const COURSES: [(&str, Course, usize, u32); 6] = [
    ("timers set from outside", Course::SetFromOutside, 1, 20_000),
    ("timers set from outside, of 1000 owners", Course::SetFromOutside, 1000, 1000),
    ("timers set in a callback", Course::SetInCallback, 1, 20_000),
    ("timers due, one in each tick", Course::DueOneByOne, 1, 20_000),
    ("messages to an owner with as many timers", Course::Messages, 1, 10_000),
    ("a push and a pop, in turns", Course::PushesAndPops, 1, 10_000),
];

/// Runs a course on machines, with `each` events for each owner. Returns the nanoseconds per event, and a checksum.
fn on_machines(course: Course, owners: usize, each: u32) -> (f64, u64) {
    let mut cx = 0.0;
    let mut units: Vec<_> = (0..owners).map(|_| (Unit::default(), StateMachine::new(&Post))).collect();
    prepare(course, each, |to_set| units.iter_mut().for_each(|(unit, _)| unit.to_set = to_set));
    let mut start = Instant::now();
    for (unit, machine) in &mut units {
        machine.update(unit, &mut cx);
        if matches!(course, Course::SetFromOutside | Course::Messages) {
            (0..each).for_each(|nth| _ = machine.send_after(unit, later(nth), nth, &mut cx));
        }
    }
    if is_timed_later(course) {
        start = Instant::now();
    }
    for nth in 0..each {
        for (unit, machine) in &mut units {
            match course {
                Course::SetFromOutside | Course::SetInCallback => {}
                Course::DueOneByOne => machine.update(unit, &mut later(nth)),
                Course::Messages => _ = machine.send(unit, &nth, &mut cx),
                Course::PushesAndPops => {
                    machine.push_state(unit, &Break, &mut cx);
                    machine.pop_state(unit, &mut cx);
                }
            }
        }
    }
    let taken = start.elapsed().as_nanos() as f64 / (owners as f64 * f64::from(each));
    (taken, units.iter().map(|(unit, _)| unit.heard).sum())
}

/// Runs a course in a batch.
fn in_batch(course: Course, owners: usize, each: u32) -> (f64, u64) {
    let mut cx = 0.0;
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..owners).map(|_| batch.insert(Unit::default(), &Post)).collect();
    prepare(course, each, |to_set| batch.iter_mut().for_each(|(_, unit)| unit.to_set = to_set));
    let mut start = Instant::now();
    batch.update(&mut cx);
    if matches!(course, Course::SetFromOutside | Course::Messages) {
        for &key in &keys {
            (0..each).for_each(|nth| _ = batch.send_after(key, later(nth), nth, &mut cx));
        }
    }
    if is_timed_later(course) {
        start = Instant::now();
    }
    for nth in 0..each {
        match course {
            Course::SetFromOutside | Course::SetInCallback => break,
            Course::DueOneByOne => batch.update(&mut later(nth)),
            Course::Messages => keys.iter().for_each(|key| _ = batch.send(*key, &nth, &mut cx)),
            Course::PushesAndPops => {
                for &key in &keys {
                    batch.push_state(key, &Break, &mut cx);
                    batch.pop_state(key, &mut cx);
                }
            }
        }
    }
    let taken = start.elapsed().as_nanos() as f64 / (owners as f64 * f64::from(each));
    (taken, batch.iter().map(|(_, unit)| unit.heard).sum())
}

fn prepare(course: Course, each: u32, to_set: impl FnOnce(u32)) {
    if matches!(course, Course::SetInCallback | Course::DueOneByOne) {
        to_set(each);
    }
}

/// Returns whether the timers are set before the measurement.
fn is_timed_later(course: Course) -> bool {
    matches!(course, Course::DueOneByOne | Course::Messages)
}

/// Returns the rows of the table: nanoseconds per event, for a quarter of the events and for all.
///
/// # Errors
///
/// When machines and batch have different checksums.
pub(crate) fn rows() -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    for (name, course, owners, each) in COURSES {
        let mut row = vec![name.to_owned(), (owners * each as usize).to_string()];
        for run in [on_machines, in_batch] {
            let few = median((0..ROUNDS).map(|_| run(course, owners, each / 4).0));
            let all = median((0..ROUNDS).map(|_| run(course, owners, each).0));
            row.extend([format!("{few:.0}"), format!("{all:.0}"), format!("{:.2}", all / few)]);
        }
        if on_machines(course, owners, each).1 != in_batch(course, owners, each).1 {
            return Err(format!("{name}: the checksums of machines and batch differ"));
        }
        rows.push(row);
    }
    Ok(rows)
}
