//! A journal as a trace for Perfetto.
#![cfg(feature = "std")]

use std::collections::BTreeMap;
use std::io;

use crate::flock::{Drink, Graze, Meadow, Sheep, Sleep, World, flock};
use allocation_counter::measure;
use demeanor::{Journal, Key, State, StateMachine, StateRef};
use serde_json::Value;

fn states() -> [StateRef<Sheep>; 4] {
    [(&Meadow).into(), (&Graze).into(), (&Drink).into(), (&Sleep).into()]
}

/// A sheep whose changes are noted. It is not tired, so that it may leave `Drink`.
fn sheep(number: u32) -> Sheep {
    Sheep { number, is_noted: true, ..Sheep::default() }
}

fn text<K: Copy + Eq + std::hash::Hash>(trace: &demeanor::journal::Trace<'_, K>) -> String {
    let mut out = Vec::new();
    trace.write_to(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn events(text: &str) -> Vec<Value> {
    let trace: Value = serde_json::from_str(text).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

/// One slice: its track, its name, when it begins, when it ends, and in how many others it is.
type Slice = (u64, String, i64, i64, usize);

/// The slices in the order in which they end. They are nested, for the last that has begun is the one that ends.
fn slices(events: &[Value]) -> Vec<Slice> {
    let mut open: BTreeMap<u64, Vec<(String, i64)>> = BTreeMap::new();
    let (mut slices, mut last) = (Vec::new(), i64::MIN);
    for event in events.iter().filter(|event| event["ph"] != "M") {
        let (track, at) = (event["tid"].as_u64().unwrap(), event["ts"].as_i64().unwrap());
        assert!(at >= last, "the events are in the order of time: {event}");
        last = at;
        let open = open.entry(track).or_default();
        match event["ph"].as_str().unwrap() {
            "B" => open.push((event["name"].as_str().unwrap().to_owned(), at)),
            "E" => {
                let (name, begin) = open.pop().expect("an end has a beginning");
                slices.push((track, name, begin, at, open.len()));
            }
            kind => assert_eq!(kind, "i"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "all slices end");
    slices
}

#[test]
fn a_trace_has_a_slice_for_each_state_and_an_instant_for_each_refusal() {
    let mut world = World::at(1.0);
    let mut machine = StateMachine::new(&Sleep);
    let mut ewe = sheep(5);
    machine.change_state(&mut ewe, &Meadow, &mut world);
    world.seconds = 2.5;
    machine.change_state(&mut ewe, &Drink, &mut world);
    machine.change_state(&mut ewe, &Sleep, &mut world);
    let trace = world.journal.trace().with_states(states()).labeled(|number| format!("\"{number}\"\n")).until(4.0);
    assert_eq!(
        text(&trace),
        r#"{"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"\"5\"\u000a"}},
{"ph":"B","pid":1,"tid":1,"ts":0,"name":"Sleep"},
{"ph":"E","pid":1,"tid":1,"ts":1000000},
{"ph":"B","pid":1,"tid":1,"ts":1000000,"name":"Meadow","args":{"cause":"change"}},
{"ph":"B","pid":1,"tid":1,"ts":1000000,"name":"Graze","args":{"cause":"change"}},
{"ph":"E","pid":1,"tid":1,"ts":2500000},
{"ph":"B","pid":1,"tid":1,"ts":2500000,"name":"Drink","args":{"cause":"change"}},
{"ph":"i","pid":1,"tid":1,"ts":2500000,"s":"t","name":"refused by Sleep.can_enter","args":{"cause":"change","to":"Sleep"}},
{"ph":"E","pid":1,"tid":1,"ts":4000000},
{"ph":"E","pid":1,"tid":1,"ts":4000000}
]}
"#
    );
}

#[test]
fn the_slices_of_a_batch_are_nested_as_its_states_and_follow_each_other() {
    let (mut batch, _) = flock(60, 1_000_000);
    for tick in 1..40 {
        batch.update(&mut World::at(f64::from(tick) / 4.0));
    }
    let text = text(&batch.journal().unwrap().trace().with_states(states()));
    let mut slices = slices(&events(&text));
    assert!(slices.len() > 1000, "{} slices", slices.len());
    slices.sort_by_key(|(track, _, begin, end, depth)| (*track, *depth, *begin, *end));
    for slice in &slices {
        let expected = usize::from(matches!(slice.1.as_str(), "Graze" | "Drink"));
        assert_eq!(slice.4, expected, "{slice:?}");
    }
    for pair in slices.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].4 == pair[1].4) {
        assert!(pair[0].3 <= pair[1].2, "{pair:?} overlap");
    }
    // On each track, the outermost slices leave no gap.
    for pair in slices.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[1].4 == 0) {
        assert_eq!(pair[0].3, pair[1].2, "{pair:?}");
    }
    assert!(text.contains("refused by Sleep.can_enter"));
}

#[cfg(feature = "parallel")]
#[test]
fn the_trace_is_the_same_on_any_number_of_threads() {
    let written = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut batch, _) = flock(5_000, 1_000_000);
        for tick in 1..6 {
            pool.install(|| batch.par_update(|_| World::at(f64::from(tick))));
        }
        text(&batch.journal().unwrap().trace().with_states(states()))
    };
    let on_one = written(1);
    assert!(slices(&events(&on_one)).len() > 20_000);
    for threads in 2..=4 {
        assert!(written(threads) == on_one, "{threads} threads");
    }
}

#[test]
fn some_owners_can_be_left_out() {
    let (mut batch, _) = flock(10, 1_000_000);
    (1..5).for_each(|tick| batch.update(&mut World::at(f64::from(tick))));
    let journal = batch.journal().unwrap();
    let keys: Vec<Key> = batch.keys().take(3).collect();
    let events = events(&text(&journal.trace().only(|key| keys.contains(&key))));
    let tracks: Vec<_> = events.iter().filter(|event| event["ph"] == "M").map(|event| event["tid"].as_u64()).collect();
    assert_eq!(tracks, [Some(1), Some(2), Some(3)]);
    assert!(slices(&events).iter().all(|(track, ..)| (1..=3).contains(track)));
}

/// The slices of one sheep that goes through states: `1 start Sleep, 2 Drink, 3 stop`. Each with its depth and its
/// microseconds. If it is said until when, they are nested as the states.
fn slices_of(steps: &str, until: Option<f64>) -> String {
    let mut world = World::at(0.0);
    let mut ewe = sheep(1);
    let mut machine = StateMachine::idle();
    for step in steps.split(", ") {
        let (seconds, step) = step.split_once(' ').unwrap();
        world.seconds = seconds.parse().unwrap();
        ewe.is_tired = step.ends_with("Sleep");
        let state = |name: &str| states().into_iter().find(|state| state.name() == name).unwrap();
        match step.split_once(' ') {
            Some((_, name)) => {
                machine = StateMachine::new(state(name));
                machine.start(&mut ewe, &mut world);
            }
            None if step == "stop" => machine.stop(&mut ewe, &mut world),
            None => _ = machine.change_state(&mut ewe, state(step), &mut world),
        }
    }
    let mut trace = world.journal.trace();
    if let Some(seconds) = until {
        trace = trace.with_states(states()).until(seconds);
    }
    let slices = slices(&events(&text(&trace)));
    let shown = slices.iter().map(|(_, name, begin, end, depth)| format!("{depth} {name} {begin}..{end}"));
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_trace_has_the_slices_of_what_one_sheep_goes_through() {
    for (what, steps, until, slices) in [
        (
            "a state that stop and start led to begins when its time in state says",
            "1 start Sleep, 1 Drink, 2 stop, 2 start Graze, 3 Sleep",
            None,
            "0 Sleep 1000000..1000000, 0 Drink 1000000..2000000, 0 Graze 2000000..3000000, 0 Sleep 3000000..3000000",
        ),
        (
            "a state that start led to at the time of a change comes after it",
            "1 start Sleep, 1 Drink, 1 start Graze, 3 Sleep",
            None,
            "0 Sleep 1000000..1000000, 0 Drink 1000000..1000000, 0 Graze 1000000..3000000, 0 Sleep 3000000..3000000",
        ),
        (
            "a state that changes to itself has two slices in one of its parent",
            "1 start Drink, 2 Drink",
            Some(4.0),
            "1 Drink 1000000..2000000, 1 Drink 2000000..4000000, 0 Meadow 1000000..4000000",
        ),
        (
            "a clock that is set back or shows no number leaves the trace in order",
            "5 start Sleep, 6 Drink, 2 Graze, NaN Sleep, inf Graze, 7 Sleep",
            None,
            "0 Sleep 5000000..6000000, 0 Drink 6000000..6000000, 0 Graze 6000000..6000000, 0 Sleep 6000000..9000000000000000, \
             0 Graze 9000000000000000..9000000000000000, 0 Sleep 9000000000000000..9000000000000000",
        ),
    ] {
        assert_eq!(slices_of(steps, until), slices, "{what}");
    }
}

#[test]
fn an_owner_that_changes_last_may_have_been_in_its_state_first() {
    let mut world = World::at(1.0);
    let [mut early, mut late] = [1, 2].map(sheep);
    let (mut of_early, mut of_late) = (StateMachine::new(&Graze), StateMachine::new(&Graze));
    of_early.start(&mut early, &mut world);
    world.seconds = 2.0;
    of_late.start(&mut late, &mut world);
    world.seconds = 3.0;
    of_late.change_state(&mut late, &Drink, &mut world);
    of_early.change_state(&mut early, &Drink, &mut world);
    let slices = slices(&events(&text(&world.journal.trace())));
    let aiming: Vec<_> =
        slices.iter().filter(|slice| slice.1 == "Graze").map(|(track, _, begin, ..)| (*track, *begin)).collect();
    assert_eq!(aiming, [(1, 2_000_000), (2, 1_000_000)]);
}

#[test]
fn an_empty_journal_is_a_trace_without_tracks() {
    assert_eq!(events(&text(&Journal::<u32>::new(10).trace().until(3.0))), Vec::<Value>::new());
}

/// A million entries of a thousand owners, or without optimizations a tenth of that: what is allocated at once is for the owners
/// alone.
#[test]
fn a_trace_is_written_without_being_built_in_memory() {
    let mut world = World::at(0.0);
    let mut machines: Vec<_> = (0..1000).map(|number| (sheep(number), StateMachine::new(&Graze))).collect();
    let ticks: u32 = if cfg!(debug_assertions) { 100 } else { 1000 };
    for tick in 0..ticks {
        world.seconds = f64::from(tick);
        let to: &'static dyn State<Sheep> = if tick % 2 == 0 { &Drink } else { &Graze };
        for (ewe, machine) in &mut machines {
            machine.change_state(ewe, to, &mut world);
        }
    }
    let entries = world.journal.len();
    assert_eq!(entries, 1000 * usize::try_from(ticks).unwrap());
    let trace = world.journal.trace().with_states(states());
    let mut written = Counted(0);
    let allocated = measure(|| trace.write_to(&mut written).unwrap());
    assert!(written.0 > 100 * entries, "{} bytes", written.0);
    assert!(allocated.bytes_max < 1_000_000, "{} bytes at once", allocated.bytes_max);
}

struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
