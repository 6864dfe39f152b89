//! Rules 11, 18 and 19: what many owners do within their callbacks.

#![cfg(feature = "std")]

use demeanor::{Batch, Fsm, FsmSlice, Owner, State, StateMachine};

use crate::trace::log::Log;

/// An owner that does what its number says.
struct Scout {
    number: usize,
    act: fn(&mut Scout, &mut Fsm<'_, Scout>, &mut Log),
}

impl Owner for Scout {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }
}

struct Rest;
struct Left;
struct Right;
/// Goes through its owners twice.
struct Twice;

impl State<Scout> for Rest {
    fn update(&self, scout: &mut Scout, fsm: &mut Fsm<'_, Scout>, log: &mut Log) {
        log.now += 1.0;
        (scout.act)(scout, fsm, log);
    }
}

impl State<Scout> for Left {
    fn exit(&self, scout: &mut Scout, _: &mut Fsm<'_, Scout>, log: &mut Log) {
        log.note(format!("{} leaves Left", scout.number));
    }
}

impl State<Scout> for Right {
    fn enter(&self, scout: &mut Scout, _: &mut Fsm<'_, Scout>, log: &mut Log) {
        log.note(format!("{} enters Right", scout.number));
    }
}

impl State<Scout> for Twice {
    fn update_all(&self, scouts: &mut [Scout], fsm: &mut FsmSlice<'_, Scout>, log: &mut Log) {
        for (i, scout) in scouts.iter_mut().enumerate().filter(|(i, _)| i % 3 != 0) {
            fsm.at(i).change_state_now(scout, &Left, log);
        }
        for (i, scout) in scouts.iter_mut().enumerate() {
            note(scout, fsm.at(i), log);
            match i % 3 {
                2 => drop(fsm.at(i).change_state_now(scout, &Right, log)),
                _ => fsm.at(i).change_state(&Right),
            }
            note(scout, fsm.at(i), log);
        }
    }
}

/// Writes down what an owner's handle shows.
fn note(scout: &Scout, fsm: &Fsm<'_, Scout>, log: &mut Log) {
    let (current, previous, time) = (fsm.current(), fsm.previous(), fsm.time_in_state(log));
    let line = format!("{}: {previous:?} -> {current:?} for {time}, {}", scout.number, fsm.has_requests());
    log.note(line);
}

fn scout(number: usize, act: fn(&mut Scout, &mut Fsm<'_, Scout>, &mut Log)) -> Scout {
    Scout { number, act }
}

/// A batch that knows all states, so that plain changes are made in bulk.
fn batch() -> Batch<Scout> {
    let mut batch = Batch::new();
    batch.insert(scout(98, |_, _, _| {}), &Left);
    batch.insert(scout(99, |_, _, _| {}), &Right);
    batch
}

#[test]
fn owners_that_change_at_several_times_of_one_tick_have_a_time_each() {
    let mut batch = batch();
    let keys = [0, 1, 2, 3, 4].map(|number| {
        let scout = scout(number, |scout, fsm, log| match scout.number {
            0 => drop(fsm.change_state_now(scout, &Left, log)),
            1 => drop(fsm.change_state_now(scout, &Right, log)),
            2 => fsm.change_state(&Left),
            3 => fsm.change_state(&Right),
            _ => {}
        });
        batch.insert(scout, &Rest)
    });
    let mut log = Log::at(10.0);
    batch.update(&mut log);
    log.now = 20.0;
    let found = keys
        .map(|key| (batch[key].number, batch.state_of(key).map(ToString::to_string), batch.time_in_state(key, &log)));
    let state = |name: &str| Some(name.to_owned());
    // The first two change when they are updated, the next two once all have been.
    assert_eq!(
        found,
        [
            (0, state("Left"), Some(9.0)),
            (1, state("Right"), Some(8.0)),
            (2, state("Left"), Some(5.0)),
            (3, state("Right"), Some(5.0)),
            (4, state("Rest"), Some(20.0)),
        ]
    );
}

#[test]
fn a_handle_shows_what_its_callback_has_changed_at_once() {
    fn act(scout: &mut Scout, fsm: &mut Fsm<'_, Scout>, log: &mut Log) {
        fsm.change_state_now(scout, &Left, log);
        note(scout, fsm, log);
        if scout.number > 0 {
            fsm.change_state(&Right);
            note(scout, fsm, log);
        }
        if scout.number > 1 {
            fsm.change_state_now(scout, &Left, log);
            note(scout, fsm, log);
        }
    }
    let (mut in_batch, mut alone) = (Log::default(), Log::default());
    for number in 0..3 {
        let mut batch = batch();
        let key = batch.insert(scout(number, act), &Rest);
        in_batch.now = 0.0;
        batch.update(&mut in_batch);

        let (mut scout, mut machine) = (scout(number, act), StateMachine::new(&Rest));
        alone.now = 0.0;
        machine.update(&mut scout, &mut alone);
        assert_eq!((batch.state_of(key), batch.previous_of(key)), (machine.current(), machine.previous()));
    }
    assert_eq!(in_batch.lines, alone.lines);
    assert_eq!(
        in_batch.lines,
        "0: Some(Rest) -> Some(Left) for 0, false
         1: Some(Rest) -> Some(Left) for 0, false; 1: Some(Rest) -> Some(Left) for 0, true
         1 leaves Left; 1 enters Right
         2: Some(Rest) -> Some(Left) for 0, false; 2: Some(Rest) -> Some(Left) for 0, true
         2 leaves Left; 2 enters Right; 2: Some(Right) -> Some(Left) for 0, false"
    );
}

#[test]
fn a_state_that_goes_through_its_owners_twice_finds_what_it_has_changed_at_once() {
    let mut batch = batch();
    let keys = [0, 1, 2, 3].map(|number| batch.insert(scout(number, |_, _, _| {}), &Twice));
    let mut log = Log::default();
    batch.update(&mut log);
    let states = keys.map(|key| (batch.previous_of(key).cloned(), batch.state_of(key).cloned()));
    let (left, right) = (Some((&Left).into()), Some((&Right).into()));
    let twice = Some((&Twice).into());
    assert_eq!(states, [&twice, &left, &left, &twice].map(|previous| (previous.clone(), right.clone())));
    // The order across owners is that of those who go through them.
    log.lines.sort_by(|one, other| one[..1].cmp(&other[..1]));
    assert_eq!(
        log.lines,
        "0: None -> Some(Twice) for 0, false; 0: None -> Some(Twice) for 0, true; 0 enters Right
         1: Some(Twice) -> Some(Left) for 0, false; 1: Some(Twice) -> Some(Left) for 0, true
         1 leaves Left; 1 enters Right
         2: Some(Twice) -> Some(Left) for 0, false; 2 leaves Left; 2 enters Right
         2: Some(Left) -> Some(Right) for 0, false
         3: None -> Some(Twice) for 0, false; 3: None -> Some(Twice) for 0, true; 3 enters Right"
    );
}
