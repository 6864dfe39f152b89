//! A journal as a trace for Perfetto.
#![cfg(feature = "std")]

use std::collections::BTreeMap;
use std::io;

use allocation_counter::measure;
use demeanor::{Batch, Change, Fsm, Journal, Key, Owner, State, StateMachine, StateRef};
use serde_json::Value;

/// The time, and a journal for those that are not in a batch.
struct World {
    seconds: f64,
    journal: Journal<u32>,
}

impl World {
    fn at(seconds: f64) -> Self {
        Self { seconds, journal: Journal::new(2_000_000) }
    }
}

#[derive(Clone)]
struct Guard {
    number: u32,
    /// Whether changes are noted by hand.
    notes: bool,
}

impl Owner for Guard {
    type Context<'a> = World;
    type Message = ();

    fn now(world: &World) -> f64 {
        world.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, world: &mut World) {
        if self.notes {
            world.journal.note(self.number, change, world.seconds);
        }
    }
}

/// Contains `Aim` and `Shoot`.
struct Fight;
struct Aim;
struct Shoot;
struct Rest;

impl State<Guard> for Fight {
    fn initial(&self) -> Option<StateRef<Guard>> {
        Some((&Aim).into())
    }
}

impl State<Guard> for Aim {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Fight).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, world: &mut World) {
        if fsm.time_in_state(world) >= f64::from(guard.number % 3) {
            fsm.change_state(&Shoot);
        }
    }
}

impl State<Guard> for Shoot {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Fight).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        match guard.number % 4 {
            0 => fsm.change_state(&Aim),
            1 => fsm.change_state(&Shoot),
            2 => fsm.push_state(&Rest),
            _ => fsm.change_state(&Rest),
        }
    }
}

impl State<Guard> for Rest {
    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &World) -> bool {
        guard.number % 5 != 0
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut World) {
        if guard.number % 4 == 2 { fsm.pop_state() } else { fsm.change_state(&Fight) }
    }
}

fn states() -> [StateRef<Guard>; 4] {
    [(&Fight).into(), (&Aim).into(), (&Shoot).into(), (&Rest).into()]
}

fn batch(guards: u32) -> Batch<Guard> {
    let mut batch = Batch::new();
    batch.set_journal(Some(Journal::new(1_000_000)));
    for number in 0..guards {
        batch.spawn(Guard { number, notes: false }, &Fight, &mut World::at(0.0));
    }
    batch
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
    let mut machine = StateMachine::new(&Rest);
    let mut guard = Guard { number: 5, notes: true };
    machine.change_state(&mut guard, &Fight, &mut world);
    world.seconds = 2.5;
    machine.change_state(&mut guard, &Shoot, &mut world);
    machine.change_state(&mut guard, &Rest, &mut world);
    let trace = world.journal.trace().with_states(states()).labeled(|number| format!("\"{number}\"\n")).until(4.0);
    assert_eq!(
        text(&trace),
        r#"{"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"\"5\"\u000a"}},
{"ph":"B","pid":1,"tid":1,"ts":0,"name":"Rest"},
{"ph":"E","pid":1,"tid":1,"ts":1000000},
{"ph":"B","pid":1,"tid":1,"ts":1000000,"name":"Fight","args":{"cause":"change"}},
{"ph":"B","pid":1,"tid":1,"ts":1000000,"name":"Aim","args":{"cause":"change"}},
{"ph":"E","pid":1,"tid":1,"ts":2500000},
{"ph":"B","pid":1,"tid":1,"ts":2500000,"name":"Shoot","args":{"cause":"change"}},
{"ph":"i","pid":1,"tid":1,"ts":2500000,"s":"t","name":"refused by Rest.can_enter","args":{"cause":"change","to":"Rest"}},
{"ph":"E","pid":1,"tid":1,"ts":4000000},
{"ph":"E","pid":1,"tid":1,"ts":4000000}
]}
"#
    );
}

#[test]
fn the_slices_of_a_batch_are_nested_as_its_states_and_follow_each_other() {
    let mut batch = batch(60);
    for tick in 1..40 {
        batch.update(&mut World::at(f64::from(tick) / 4.0));
    }
    let text = text(&batch.journal().unwrap().trace().with_states(states()));
    let mut slices = slices(&events(&text));
    assert!(slices.len() > 1000, "{} slices", slices.len());
    slices.sort_by_key(|(track, _, begin, end, depth)| (*track, *depth, *begin, *end));
    for slice in &slices {
        let expected = usize::from(matches!(slice.1.as_str(), "Aim" | "Shoot"));
        assert_eq!(slice.4, expected, "{slice:?}");
    }
    for pair in slices.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].4 == pair[1].4) {
        assert!(pair[0].3 <= pair[1].2, "{pair:?} overlap");
    }
    // On each track, the outermost slices leave no gap.
    for pair in slices.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[1].4 == 0) {
        assert_eq!(pair[0].3, pair[1].2, "{pair:?}");
    }
    assert!(text.contains("refused by Rest.can_enter"));
}

#[cfg(feature = "parallel")]
#[test]
fn the_trace_is_the_same_on_any_number_of_threads() {
    let written = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut batch = batch(5_000);
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
    let mut batch = batch(10);
    (1..5).for_each(|tick| batch.update(&mut World::at(f64::from(tick))));
    let journal = batch.journal().unwrap();
    let keys: Vec<Key> = batch.keys().take(3).collect();
    let events = events(&text(&journal.trace().only(|key| keys.contains(&key))));
    let tracks: Vec<_> = events.iter().filter(|event| event["ph"] == "M").map(|event| event["tid"].as_u64()).collect();
    assert_eq!(tracks, [Some(1), Some(2), Some(3)]);
    assert!(slices(&events).iter().all(|(track, ..)| (1..=3).contains(track)));
}

/// The slices of one guard who goes through states: `1 start Rest, 2 Shoot, 3 stop`. Each with its depth and its microseconds.
fn slices_of(steps: &str, until: Option<f64>) -> String {
    let mut world = World::at(0.0);
    let mut guard = Guard { number: 1, notes: true };
    let mut machine = StateMachine::idle();
    for step in steps.split(", ") {
        let (seconds, step) = step.split_once(' ').unwrap();
        world.seconds = seconds.parse().unwrap();
        let state = |name: &str| states().into_iter().find(|state| state.name() == name).unwrap();
        match step.split_once(' ') {
            Some((_, name)) => {
                machine = StateMachine::new(state(name));
                machine.start(&mut guard, &mut world);
            }
            None if step == "stop" => machine.stop(&mut guard, &mut world),
            None => _ = machine.change_state(&mut guard, state(step), &mut world),
        }
    }
    let trace = world.journal.trace().with_states(states());
    let trace = if let Some(seconds) = until { trace.until(seconds) } else { trace };
    let slices = slices(&events(&text(&trace)));
    let shown = slices.iter().map(|(_, name, begin, end, depth)| format!("{depth} {name} {begin}..{end}"));
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_trace_has_the_slices_of_what_one_guard_goes_through() {
    for (what, steps, until, slices) in [
        (
            "a state that stop and start led to begins when its time in state says",
            "1 start Rest, 1 Shoot, 2 stop, 2 start Aim, 3 Rest",
            None,
            "0 Rest 1000000..1000000, 1 Shoot 1000000..2000000, 0 Fight 1000000..2000000, 1 Aim 2000000..3000000, \
             0 Fight 2000000..3000000, 0 Rest 3000000..3000000",
        ),
        (
            "a state that start led to at the time of a change comes after it",
            "1 start Rest, 1 Shoot, 1 start Aim, 3 Rest",
            None,
            "0 Rest 1000000..1000000, 1 Shoot 1000000..1000000, 1 Aim 1000000..3000000, 0 Fight 1000000..3000000, \
             0 Rest 3000000..3000000",
        ),
        (
            "a state that changes to itself has two slices in one of its parent",
            "1 start Shoot, 2 Shoot",
            Some(4.0),
            "1 Shoot 1000000..2000000, 1 Shoot 2000000..4000000, 0 Fight 1000000..4000000",
        ),
        (
            "a clock that is set back or shows no number leaves the trace in order",
            "5 start Rest, 6 Shoot, 2 Aim, NaN Rest, inf Aim, 7 Rest",
            None,
            "0 Rest 5000000..6000000, 1 Shoot 6000000..6000000, 1 Aim 6000000..6000000, 0 Fight 6000000..6000000, \
             0 Rest 6000000..9000000000000000, 1 Aim 9000000000000000..9000000000000000, \
             0 Fight 9000000000000000..9000000000000000, 0 Rest 9000000000000000..9000000000000000",
        ),
    ] {
        assert_eq!(slices_of(steps, until), slices, "{what}");
    }
}

#[test]
fn who_changes_last_may_have_been_in_its_state_first() {
    let mut world = World::at(1.0);
    let [mut early, mut late] = [1, 2].map(|number| Guard { number, notes: true });
    let (mut of_early, mut of_late) = (StateMachine::new(&Aim), StateMachine::new(&Aim));
    of_early.start(&mut early, &mut world);
    world.seconds = 2.0;
    of_late.start(&mut late, &mut world);
    world.seconds = 3.0;
    of_late.change_state(&mut late, &Shoot, &mut world);
    of_early.change_state(&mut early, &Shoot, &mut world);
    let slices = slices(&events(&text(&world.journal.trace())));
    let aiming: Vec<_> =
        slices.iter().filter(|slice| slice.1 == "Aim").map(|(track, _, begin, ..)| (*track, *begin)).collect();
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
    let mut machines: Vec<_> =
        (0..1000).map(|number| (Guard { number, notes: true }, StateMachine::new(&Aim))).collect();
    let ticks: u32 = if cfg!(debug_assertions) { 100 } else { 1000 };
    for tick in 0..ticks {
        world.seconds = f64::from(tick);
        let to: &'static dyn State<Guard> = if tick % 2 == 0 { &Shoot } else { &Aim };
        for (guard, machine) in &mut machines {
            machine.change_state(guard, to, &mut world);
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
