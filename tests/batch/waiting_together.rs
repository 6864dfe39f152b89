//! The chapter "Waiting" in a batch, where many wait at once: what is due and what is asked for is done for all together, and each
//! owner fares as alone (rules 19, 22, 25, 26).
#![cfg(feature = "std")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::captured_log::log_lines;
use crate::trace::log::{Log, Trace};
use demeanor::{Agent, Batch, Change, Fsm, FsmSlice, Key, NextWake, Owner, State, StateMachine};

use crate::trace::due;

#[derive(Clone, Default)]
struct Guard {
    number: u32,
    /// Whether a guard of a state refuses.
    is_stubborn: bool,
    /// In which callback it panics.
    panics_in: &'static str,
    /// Whether it asks for a change after it has asked to sleep.
    is_restless: bool,
}

impl Guard {
    fn called(&self, callback: &'static str, log: &mut Log) {
        log.note(format!("{callback} {}", self.number));
        assert_ne!(self.panics_in, callback, "as it was to");
    }
}

impl Owner for Guard {
    type Context<'a> = Log;
    type Message = ();

    fn now(log: &Log) -> f64 {
        log.now
    }

    fn after_change(&mut self, _: &Change<'_, Self>, _: &mut Log) {
        assert_ne!(self.panics_in, "changed", "as it was to");
    }
}

/// Sleeps, and is up two seconds later.
struct Nap;
impl State<Guard> for Nap {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, log: &mut Log) {
        fsm.change_state_after(2.0, &Up);
        fsm.sleep();
        assert!(fsm.has_requests());
        guard.called("nap", log);
        if guard.is_restless {
            fsm.change_state(&Walk);
        }
    }

    fn can_exit(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &Log) -> bool {
        !guard.is_stubborn
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, log: &mut Log) {
        guard.called("awake", log);
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, log: &mut Log) {
        guard.called("rise", log);
    }
}

struct Up;
impl State<Guard> for Up {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, log: &mut Log) {
        guard.called("up", log);
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, log: &mut Log) {
        guard.called("stretch", log);
        fsm.change_state(&Nap);
    }
}

/// Is up two seconds later.
struct Lie;
impl State<Guard> for Lie {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
        fsm.change_state_after(2.0, &Up);
    }
}

/// Is updated once a second.
struct Walk;
impl State<Guard> for Walk {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, log: &mut Log) {
        fsm.sleep_for(9.0);
        guard.called("walk", log);
        fsm.sleep_for(1.0);
    }
}

/// Is updated every nine seconds.
struct Linger;
impl State<Guard> for Linger {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, log: &mut Log) {
        fsm.sleep_for(1.0);
        guard.called("linger", log);
        fsm.sleep_for(9.0);
    }
}

fn guards(count: u32) -> impl Iterator<Item = Guard> {
    (1..=count).map(|number| Guard { number, ..Guard::default() })
}

/// Some guards in a state, entered one second ago.
fn spawned(guards: impl IntoIterator<Item = Guard>, state: &'static dyn State<Guard>) -> (Batch<Guard>, Vec<Key>, Log) {
    let mut log = Log::default();
    let mut batch = Batch::new();
    let keys = guards.into_iter().map(|guard| batch.spawn(guard, state, &mut log)).collect();
    log.now = 1.0;
    log.lines.clear();
    (batch, keys, log)
}

fn tick(batch: &mut Batch<Guard>, log: &mut Log) -> Trace {
    batch.update(log);
    std::mem::take(&mut log.lines)
}

fn panicking_tick(batch: &mut Batch<Guard>, log: &mut Log) -> Trace {
    assert!(catch_unwind(AssertUnwindSafe(|| batch.update(log))).is_err(), "the panic reaches the caller");
    std::mem::take(&mut log.lines)
}

#[test]
fn changes_that_are_due_are_made_together_before_anybody_is_updated() {
    let (mut batch, keys, mut log) = spawned(guards(3), &Nap);
    let walker = batch.insert(Guard { number: 9, ..Guard::default() }, &Walk);
    assert_eq!(tick(&mut batch, &mut log), "walk 9");
    log.now = 2.0;
    // Who wakes lies in front of those awake.
    assert_eq!(
        tick(&mut batch, &mut log),
        "rise 3; rise 2; rise 1; up 3; up 2; up 1
         stretch 3; stretch 2; stretch 1; nap 3; nap 2; nap 1
         walk 9"
    );
    assert_eq!(batch.awake(), 0);
    assert_eq!(
        keys.iter().map(|&key| batch.next_wake(key)).collect::<Vec<_>>(),
        [Some(NextWake::At(due(2.0, 2.0))); 3]
    );
    assert_eq!(batch.next_wake(walker), Some(NextWake::At(due(1.0, 2.0))));
}

#[test]
fn who_is_refused_a_change_that_is_due_is_awake_and_updated() {
    let stubborn = Guard { number: 2, is_stubborn: true, ..Guard::default() };
    let (mut batch, keys, mut log) = spawned(guards(1).chain([stubborn]), &Nap);
    log.now = 2.0;
    assert_eq!(tick(&mut batch, &mut log), "rise 1; up 1; awake 2; stretch 1; nap 1");
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
    // The timer is used up.
    log.now = 3.0;
    batch.get_mut(keys[1]).expect("it is there").is_stubborn = false;
    assert_eq!(tick(&mut batch, &mut log), "awake 2");
}

#[test]
fn after_a_panic_in_a_change_that_is_due_the_others_have_changed_and_nobody_is_updated() {
    for (callback, steps) in [("rise", ["rise 2", "rise 3", "up 3"]), ("up", ["up 2", "rise 3", "up 3"])] {
        let panicking = Guard { number: 2, panics_in: callback, ..Guard::default() };
        let last = Guard { number: 3, ..Guard::default() };
        let (mut batch, keys, mut log) = spawned(guards(1).chain([panicking, last]), &Nap);
        batch.insert(Guard { number: 9, ..Guard::default() }, &Walk);
        // Of a state that comes after the one in which the panic happens.
        let mut early = Log::default();
        batch.spawn(Guard { number: 8, ..Guard::default() }, &Lie, &mut early);
        log.now = 2.0;
        let calls = panicking_tick(&mut batch, &mut log);
        for call in steps.iter().chain(&["rise 1", "up 1", "up 8"]) {
            assert!(calls.iter().any(|called| called == call), "{call} in {calls:?}");
        }
        assert!(!calls.iter().any(|call| call.starts_with("stretch") || call == "walk 9"), "{calls:?}");
        batch.get_mut(keys[1]).expect("nobody is lost").panics_in = "";
        let mut calls = tick(&mut batch, &mut log);
        calls.retain(|call| !call.starts_with("nap"));
        calls.sort_unstable();
        let second = if callback == "rise" { "awake 2" } else { "stretch 2" };
        let mut expected = ["stretch 1", "stretch 3", "stretch 8", "walk 9", second];
        expected.sort_unstable();
        assert_eq!(calls, expected);
    }
}

#[test]
fn a_panic_drops_what_the_callback_has_asked_to_wait_for() {
    let panicking = Guard { number: 2, panics_in: "walk", ..Guard::default() };
    let (mut batch, keys, mut log) = spawned(guards(1).chain([panicking]), &Walk);
    panicking_tick(&mut batch, &mut log);
    assert_eq!(batch.next_wake(keys[0]), Some(NextWake::At(due(1.0, 1.0))));
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
}

#[test]
fn a_panic_in_after_change_drops_what_enter_has_asked_to_wait_for() {
    let panicking = Guard { number: 2, panics_in: "changed", ..Guard::default() };
    let mut log = Log::default();
    let mut batch = Batch::new();
    let keys: Vec<_> = guards(1).chain([panicking]).map(|guard| batch.insert(guard, &Up)).collect();
    panicking_tick(&mut batch, &mut log);
    assert!(batch.is_in_state(keys[1], &Nap));
    assert_eq!(batch.next_wake(keys[0]), Some(NextWake::At(due(2.0, 0.0))));
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
}

#[test]
fn of_two_requests_to_sleep_the_last_counts() {
    let (mut batch, keys, mut log) = spawned(guards(2), &Walk);
    tick(&mut batch, &mut log);
    assert_eq!(batch.awake(), 0);
    assert_eq!(batch.next_wake(keys[0]), Some(NextWake::At(due(1.0, 1.0))));
    log.now = 2.0;
    assert_eq!(tick(&mut batch, &mut log).len(), 2);
    // Nor does the first one count where it is the shorter one.
    let (mut batch, keys, mut log) = spawned(guards(2), &Linger);
    tick(&mut batch, &mut log);
    assert_eq!(batch.next_wake(keys[0]), Some(NextWake::At(due(9.0, 1.0))));
    log.now = 2.0;
    assert_eq!(tick(&mut batch, &mut log), "");
}

#[test]
fn a_change_asked_for_after_sleep_ends_the_sleep_and_the_timer() {
    let restless = Guard { number: 2, is_restless: true, ..Guard::default() };
    let (mut batch, keys, mut log) = spawned(guards(1).chain([restless]), &Up);
    assert_eq!(tick(&mut batch, &mut log), "stretch 1; stretch 2; nap 1; nap 2; rise 2");
    assert!(batch.is_in_state(keys[1], &Walk));
    assert_eq!(batch.next_wake(keys[0]), Some(NextWake::At(due(2.0, 1.0))));
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
    log.now = 3.0;
    assert!(tick(&mut batch, &mut log).iter().all(|call| !call.contains('2') || call == "walk 2"));
}

/// Its `update_all` asks for one thing after the other, each for all owners.
struct Muster;
impl State<Guard> for Muster {
    fn update_all(&self, guards: &mut [Guard], fsm: &mut FsmSlice<'_, Guard>, _: &mut Log) {
        for at in 0..guards.len() {
            fsm.at(at).sleep_for(5.0);
        }
        for at in (0..guards.len()).rev() {
            fsm.at(at).change_state_after(1.0, &Up);
        }
        for (at, guard) in guards.iter().enumerate() {
            if guard.is_restless {
                fsm.at(at).change_state(&Walk);
            }
        }
    }
}

#[test]
fn an_override_may_ask_for_its_owners_in_any_order() {
    let restless = Guard { number: 2, is_restless: true, ..Guard::default() };
    let (mut batch, keys, mut log) = spawned(guards(1).chain([restless]).chain(guards(1)), &Muster);
    batch.update(&mut log);
    assert_eq!(batch.awake(), 1);
    assert!(batch.is_in_state(keys[1], &Walk));
    assert_eq!(batch.next_wake(keys[1]), Some(NextWake::EveryTick));
    for key in [keys[0], keys[2]] {
        assert_eq!(batch.next_wake(key), Some(NextWake::At(due(1.0, 1.0))));
    }
    log.now = 2.0;
    batch.update(&mut log);
    assert_eq!(batch.owners_in(&Up).len() + batch.owners_in(&Nap).len(), 2);
}

#[cfg(feature = "parallel")]
#[test]
fn in_a_parallel_tick_what_is_due_has_the_first_context() {
    let (mut batch, _, _) = spawned(guards(5000), &Nap);
    let logs = batch.par_update(|_| Log::at(2.0));
    let steps = |log: &Log, step| log.lines.iter().filter(|call| call.starts_with(step)).count();
    assert_eq!((steps(&logs[0], "rise"), steps(&logs[0], "up")), (5000, 5000));
    assert_eq!(logs.iter().map(|log| steps(log, "stretch")).sum::<usize>(), 5000);
    assert!(logs.len() > 1);
}

/// Walks for ten seconds at most, and lies down at once.
struct Stroll;
impl State<Guard> for Stroll {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
        fsm.change_state_after(10.0, &Walk);
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
        fsm.change_state(&Doze);
    }
}

/// Sleeps until somebody wakes it.
struct Doze;
impl State<Guard> for Doze {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
        fsm.sleep();
    }
}

/// Rule 26.
#[test]
fn a_sleep_that_a_timer_ends_is_not_said_to_have_no_end() {
    let (mut batch, keys, mut log) = spawned(guards(2), &Up);
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Guard::default(), &Nap);
    let lines = log_lines(|| batch.update(&mut log));
    assert!(keys.iter().all(|&key| batch.is_in_state(key, &Nap)));
    assert_eq!((batch.len(), batch.awake()), (3, 1));
    assert!(!lines.iter().any(|line| line.contains("until a message or `wake`")), "{lines:?}");
}

/// Rule 26: the timers of the state that was left do not count.
#[test]
fn a_sleep_without_an_end_is_said_of_those_who_come_from_a_state_with_timers() {
    let (mut batch, _, mut log) = spawned(guards(2), &Stroll);
    // To a state that it has not met, a batch changes an owner in another way.
    batch.spawn(Guard::default(), &Doze, &mut log);
    let together = log_lines(|| batch.update(&mut log));
    let mut log = Log::default();
    let mut agent = Agent::new(guards(1).next().unwrap(), StateMachine::new(&Stroll));
    agent.start(&mut log);
    let alone = log_lines(|| agent.update(&mut log));
    let is_endless = |line: &&String| line.contains("sleeps in state Doze until a message or `wake`");
    assert_eq!(alone.iter().filter(is_endless).count(), 1, "{alone:?}");
    assert_eq!(together.iter().filter(is_endless).count(), 2, "{together:?}");
}

/// Asks for what it cannot have.
struct Nod;
impl State<Guard> for Nod {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Log) {
        fsm.change_state_after(-1.0, &Doze);
        fsm.sleep_for(f64::NAN);
    }
}

/// Rules 25 and 26.
#[test]
fn seconds_that_are_no_time_are_said_of_each_owner_with_its_state() {
    let mut log = Log::default();
    let mut agent = Agent::new(guards(1).next().unwrap(), StateMachine::new(&Nod));
    agent.start(&mut log);
    let alone = log_lines(|| agent.update(&mut log));
    let [one_by_one, together] = [false, true].map(|knows_target| {
        let (mut batch, _, mut log) = spawned(guards(2), &Nod);
        if knows_target {
            batch.insert(Guard::default(), &Doze);
        }
        log_lines(|| batch.update(&mut log))
    });
    let of_no_time = |lines: Vec<String>| {
        let mut lines: Vec<_> = lines.into_iter().filter(|line| line.contains("counts as 0 s")).collect();
        lines.sort();
        lines
    };
    let warning = |what| format!("WARN demeanor: Guard: {what} s, asked for in state Nod, counts as 0 s");
    let warnings = [warning("change to Doze after -1"), warning("sleep after NaN")];
    assert_eq!(of_no_time(alone), warnings);
    for lines in [one_by_one, together] {
        assert_eq!(of_no_time(lines), [0, 0, 1, 1].map(|warning| warnings[warning].clone()));
    }
}
