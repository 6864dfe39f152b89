//! The chapter "Journal": rule 29.
#![cfg(feature = "std")]

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::flock::{Graze, Sheep, Sleep, Startle, World, flock};
use demeanor::journal::{Entry, Stays};
use demeanor::{Batch, Change, Flow, Fsm, Journal, Key, Owner, State, StateMachine, StateRef, Step};

/// An entry as `on_change` is told of it.
fn told(entry: &Entry<'_, Key>, keys: &[Key]) -> String {
    let number = keys.iter().position(|key| *key == entry.owner).expect("one of the flock");
    let name = |state: Option<&str>| state.unwrap_or("(no state)").to_owned();
    let refused = entry.refused.map(|refused| format!(", refused by {refused}")).unwrap_or_default();
    format!("{number}: {} -> {} ({}){refused} {}", name(entry.from), name(entry.to), entry.cause, entry.time_in_state)
}

fn texts(journal: &Journal) -> Vec<String> {
    journal.entries().map(|entry| entry.to_string()).collect()
}

/// Rule 29.
#[test]
fn a_journal_has_what_on_change_is_told_in_the_same_order() {
    let (mut batch, keys) = flock(40, 10_000);
    let mut world = World::at(0.0);
    for _ in 0..5 {
        world.seconds += 0.25;
        batch.update(&mut world);
    }
    batch.change_state(keys[3], &Sleep, &mut world);
    batch.change_state(keys[7], &Sleep, &mut world);
    let journal = batch.journal().unwrap();
    assert_eq!(journal.entries().map(|entry| told(&entry, &keys)).collect::<Vec<_>>(), world.told);
    for text in ["revert", "push", "pop", "refused by Sleep.can_enter", "refused by Drink.can_exit"] {
        assert!(world.told.iter().any(|told| told.contains(text)), "{text} occurs");
    }
}

/// Rule 29.
#[test]
fn an_entry_says_what_happened_in_words() {
    let (mut batch, keys) = flock(2, 10);
    let mut world = World::at(2.5);
    batch.update(&mut world);
    world.seconds = 3.25;
    batch.change_state(keys[0], &Graze, &mut world);
    let key = |nth: usize| format!("{:?}", keys[nth]);
    let expected = [
        format!("2.5 s: {}: Graze -> Drink (change), after 2.5 s", key(0)),
        format!("2.5 s: {}: Graze -> Sleep (change), refused by Sleep.can_enter", key(1)),
        format!("3.25 s: {}: Drink -> Graze (change), refused by Drink.can_exit", key(0)),
    ];
    assert_eq!(texts(batch.journal().unwrap()), expected);
    assert_eq!(batch.journal().unwrap().of(keys[1]).count(), 1);
}

/// Rule 29.
#[cfg(feature = "parallel")]
#[test]
fn the_journal_is_the_same_on_any_number_of_threads() {
    let written = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut batch, _) = flock(20_000, 1_000_000);
        for tick in 0..4 {
            let make = |_| World::at(f64::from(tick));
            pool.install(|| batch.par_update(make));
        }
        texts(batch.journal().unwrap())
    };
    let on_one = written(1);
    assert!(on_one.len() > 40_000, "{} changes", on_one.len());
    for threads in 2..=4 {
        assert!(written(threads) == on_one, "{threads} threads");
    }
}

/// Rule 29.
#[cfg(feature = "parallel")]
#[test]
fn an_update_in_turn_writes_the_same_journal_once_all_states_are_known() {
    let written = |tick: fn(&mut Batch<Sheep>, f64)| {
        let (mut batch, _) = flock(5000, 1_000_000);
        for state in [&crate::flock::Drink as &'static dyn State<Sheep>, &Sleep, &Startle] {
            batch.insert(Sheep::default(), state);
        }
        (0..4).for_each(|nth| tick(&mut batch, f64::from(nth)));
        texts(batch.journal().unwrap())
    };
    let in_turn = written(|batch, seconds| batch.update(&mut World::at(seconds)));
    let parallel = written(|batch, seconds| drop(batch.par_update(|_| World::at(seconds))));
    assert!(in_turn == parallel);
}

/// Rule 29.
#[test]
fn a_full_journal_keeps_the_last_entries_and_counts_all() {
    let run = |entries| {
        let (mut batch, _) = flock(100, entries);
        let mut world = World::at(0.0);
        for _ in 0..20 {
            world.seconds += 0.125;
            batch.update(&mut world);
        }
        batch.set_journal(None).unwrap()
    };
    let whole = run(1_000_000);
    assert!(whole.len() > 1000, "{} entries", whole.len());
    for entries in [0, 1, 7, 300] {
        let last = run(entries);
        let all = texts(&whole);
        assert_eq!(texts(&last), all[all.len() - entries..]);
        assert_eq!(last.flow(), whole.flow(), "with {entries} entries");
    }
}

/// Rule 29.
#[test]
fn a_change_whose_enter_panics_is_in_the_journal() {
    let (mut batch, _) = flock(0, 10);
    let key = batch.insert(Sheep { number: 1, is_tired: true, falls: true, ..Sheep::default() }, &Graze);
    let mut world = World::at(0.0);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.update(&mut world))).is_err());
    assert_eq!(batch.journal().unwrap().of(key).next().unwrap().to, Some("Sleep"));
    assert_eq!(batch.state_of(key).unwrap().name(), "Sleep");
}

/// Rule 29.
#[test]
fn a_clone_of_a_batch_has_no_journal_and_one_that_is_cloned_into_goes_on_with_its_own() {
    let (mut batch, _) = flock(8, 100);
    batch.update(&mut World::at(0.0));
    assert!(batch.clone().journal().is_none());
    let mut other = Batch::new();
    // Its numbers are other states'.
    other.insert(Sheep::default(), &Startle);
    other.set_journal(Some(Journal::new(100)));
    other.update(&mut World::at(0.0));
    other.clone_from(&batch);
    batch.journal_mut().unwrap().clear();
    batch.update(&mut World::at(0.0));
    other.update(&mut World::at(0.0));
    assert_eq!(texts(other.journal().unwrap()), texts(batch.journal().unwrap()));
}

/// Rule 29.
#[test]
fn a_journal_that_is_exchanged_in_place_has_the_right_names() {
    let (mut batch, keys) = flock(4, 100);
    batch.update(&mut World::at(0.0));
    *batch.journal_mut().unwrap() = Journal::new(100);
    let mut world = World::at(0.0);
    batch.update(&mut world);
    let journal = batch.journal().unwrap();
    assert!(journal.len() > 2, "{} entries", journal.len());
    assert_eq!(journal.entries().map(|entry| told(&entry, &keys)).collect::<Vec<_>>(), world.told);
}

thread_local! {
    /// How often the name of `Shy` panics.
    static SHY: Cell<u32> = const { Cell::new(0) };
}

struct Shy;

impl State<Sheep> for Shy {
    fn name(&self) -> Cow<'_, str> {
        if let Some(left) = SHY.get().checked_sub(1) {
            SHY.set(left);
            resume_unwind(Box::new("shy"));
        }
        "Shy".into()
    }
}

/// Writes its changes down by hand.
struct Door;

/// A journal, a flow, and the time.
struct House {
    journal: Journal<u32>,
    flow: Flow,
    seconds: f64,
}

impl House {
    fn new(entries: usize) -> Self {
        Self { journal: Journal::new(entries), flow: Flow::new(), seconds: 0.0 }
    }
}

impl Owner for Door {
    type Context<'a> = House;
    type Message = ();

    fn now(house: &House) -> f64 {
        house.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, house: &mut House) {
        house.journal.note(1, change, house.seconds);
        house.flow.note(change);
    }
}

/// A shared state with a name of its own.
struct Named(String);

impl State<Door> for Named {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn can_enter(&self, _: &Door, _: &Fsm<'_, Door>, _: &House) -> bool {
        self.0 != "Locked"
    }

    fn can_exit(&self, _: &Door, _: &Fsm<'_, Door>, _: &House) -> bool {
        self.0 != "Stuck"
    }
}

fn named(name: &(impl ToString + ?Sized)) -> StateRef<Door> {
    StateRef::from(Arc::new(Named(name.to_string())))
}

/// A door that goes through states in turn, and stays in each a second longer than in the one before.
fn pass_through<N: ToString>(names: impl IntoIterator<Item = N>, house: &mut House) {
    let mut machine = StateMachine::idle();
    for (nth, name) in (0_u32..).zip(names) {
        house.seconds += f64::from(nth);
        machine.change_state(&mut Door, named(&name), house);
    }
}

/// Rule 29.
#[test]
fn names_are_displayed_in_one_line_and_none_as_if_there_were_no_state() {
    let mut house = House::new(10);
    let long = "x".repeat(1000);
    pass_through(["a\u{1b}[2J\n", "(no state)", &long, "b"], &mut house);
    let entries: Vec<_> = house.journal.entries().map(|entry| entry.to_string()).collect();
    let cut = format!("{}…", "x".repeat(200));
    assert_eq!(
        entries,
        [
            "0 s: 1: (no state) -> a\\u{1b}[2J\\n (change), after 0 s".to_owned(),
            "1 s: 1: a\\u{1b}[2J\\n -> \"(no state)\" (change), after 1 s".to_owned(),
            format!("3 s: 1: \"(no state)\" -> {cut} (change), after 2 s"),
            format!("6 s: 1: {cut} -> b (change), after 3 s"),
        ]
    );
    let table = house.flow.to_string();
    assert!(!table.contains('\u{1b}') && !table.contains(&long), "{table}");
    assert_eq!(table.matches("\"(no state)\"").count(), 3, "{table}");
}

/// Rule 29.
#[test]
fn a_name_that_has_panicked_is_known_by_the_next_entry() {
    let (mut batch, keys) = flock(1, 10);
    // The first call is from `on_change`, and the second from the journal.
    SHY.set(2);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.change_state(keys[0], &Shy, &mut World::at(1.0)))).is_err());
    batch.change_state(keys[0], &Startle, &mut World::at(2.0));
    let names: Vec<_> = batch.journal().unwrap().entries().map(|entry| (entry.from, entry.to)).collect();
    assert_eq!(names[..2], [(Some("Graze"), Some("(others)")), (Some("Shy"), Some("Startle"))]);
}

/// Rule 29.
#[test]
fn names_beyond_65_534_are_others() {
    let mut house = House::new(10);
    pass_through(0..65_600, &mut house);
    let last = house.journal.entries().next_back().unwrap();
    assert_eq!((last.from, last.to), (Some("(others)"), Some("(others)")));
    let flow = house.journal.flow();
    let others = flow.changes().find(|change| change.from == Some("(others)")).unwrap();
    assert_eq!(others.count, 65);
    assert_eq!(house.flow.states().len(), 65_600, "a flow that is filled by hand has them all");
}

/// Rule 29.
#[test]
fn a_flow_that_is_filled_by_hand_is_that_of_a_journal() {
    let mut house = House::new(3);
    pass_through(["Open", "Closed", "Open", "Locked", "Closed", "Open", "Closed"], &mut house);
    assert_eq!(house.flow, house.journal.flow());
    let expected = "\
from        to      cause   refused by        count
(no state)  Open    change                    1
Closed      Open    change                    2
Open        Closed  change                    3
Open        Locked  change  Locked.can_enter  1
state   left  mean seconds  median
Closed  2     3.500         2 to 4
Open    3     4.667         4 to 8
";
    assert_eq!(house.flow.to_string(), expected);
}

/// Rule 29.
#[test]
fn merged_flows_count_what_both_have_counted() {
    let (mut first, mut second, mut both) = (House::new(0), House::new(0), House::new(0));
    pass_through(["Open", "Locked", "Closed"], &mut first);
    pass_through(["Open", "Locked", "Closed", "Open"], &mut second);
    pass_through(["Open", "Locked", "Closed"], &mut both);
    both.seconds = 0.0;
    pass_through(["Open", "Locked", "Closed", "Open"], &mut both);
    first.flow.merge(&second.flow);
    assert_eq!(first.flow, both.flow);
    first.flow.merge(&Flow::new());
    assert_eq!(first.flow, both.flow);
}

/// Rule 29.
#[cfg(feature = "serde")]
#[test]
fn a_flow_is_read_as_it_was_written_and_others_are_refused() {
    let mut house = House::new(0);
    pass_through(["Open", "Locked", "Closed", "Open"], &mut house);
    let text = serde_json::to_string(&house.flow).unwrap();
    assert_eq!(serde_json::from_str::<Flow>(&text).unwrap(), house.flow);
    let bytes = postcard::to_allocvec(&house.flow).unwrap();
    assert_eq!(postcard::from_bytes::<Flow>(&bytes).unwrap(), house.flow);
    let error = |text: &str| serde_json::from_str::<Flow>(text).unwrap_err().to_string();
    assert_eq!(error(&text.replacen(":1,", ":2,", 1)), "a flow of version 2; this program knows version 1");
    let short = r#"{"version":1,"changes":[],"refusals":[],"stays":[{"state":"A","seconds":1.0,"lengths":[1]}]}"#;
    assert_eq!(error(short), "state A has 1 lengths of stays, not 32");
    let expected = "invalid length 0, expected a flow: a version, changes, refusals and stays at line 1 column 2";
    assert_eq!(error("[]"), expected);
}

/// Rule 29.
#[cfg(feature = "serde")]
#[test]
fn a_flow_of_endless_times_and_of_any_counts_is_written_and_read() {
    let mut house = House::new(10);
    let mut machine = StateMachine::idle();
    for (seconds, name) in [(0.0, "Open"), (f64::INFINITY, "Closed"), (-1e300, "Open"), (1e300, "Closed")] {
        house.seconds = seconds;
        machine.change_state(&mut Door, named(&name), &mut house);
    }
    let text = serde_json::to_string(&house.flow).unwrap();
    assert_eq!(serde_json::from_str::<Flow>(&text).unwrap(), house.flow);
    let many = text.replacen("\"count\":2", "\"count\":18446744073709551615", 1);
    assert_ne!(many, text);
    let mut many: Flow = serde_json::from_str(&many).unwrap();
    many.merge(&many.clone());
    assert_eq!(many.changes().map(|change| change.count).max(), Some(u64::MAX));
    let all = vec![u64::MAX; 32];
    let stays = serde_json::json!([{ "state": "Open", "seconds": f64::MAX, "lengths": all }]);
    let flow = serde_json::json!({ "version": 1, "changes": [], "refusals": [], "stays": stays });
    house.flow = serde_json::from_value(flow).unwrap();
    machine.change_state(&mut Door, named(&"Open"), &mut house);
    machine.change_state(&mut Door, named(&"Closed"), &mut house);
    assert_eq!(house.flow.stays_in("Open").unwrap().count(), u64::MAX);
    let seconds = text.rfind("\"seconds\":").unwrap() + "\"seconds\":".len();
    let error = serde_json::from_str::<Flow>(&format!("{}-{}", &text[..seconds], &text[seconds..])).unwrap_err();
    assert!(error.to_string().starts_with("owners cannot have stayed in state Open for -"), "{error}");
}

/// Rule 29.
#[test]
fn how_many_entries_were_written_goes_on_when_a_journal_is_cleared() {
    let mut house = House::new(10);
    pass_through(["Open", "Closed"], &mut house);
    house.journal.clear();
    assert!(house.journal.is_empty() && house.journal.flow().is_empty());
    pass_through(["Open"], &mut house);
    assert_eq!((house.journal.written(), house.journal.len()), (3, 1));
}

/// Rule 29.
#[test]
fn recorded_steps_make_the_journal_that_on_change_makes() {
    let mut house = House { seconds: 0.5, ..House::new(100) };
    let (mut machine, mut steps): (_, Vec<Step<Door>>) = (StateMachine::new(named("Shut")), Vec::new());
    let mut recorded = machine.recording(Some(&mut steps));
    recorded.start(&mut Door, &mut house);
    for _ in 0..2 {
        house.seconds += 0.75;
        recorded.change_state(&mut Door, named("Ajar"), &mut house);
        recorded.push_state(&mut Door, named("Shut"), &mut house);
        recorded.pop_state(&mut Door, &mut house);
        recorded.change_state(&mut Door, named("Locked"), &mut house);
        recorded.change_state(&mut Door, named("Stuck"), &mut house);
        recorded.change_state(&mut Door, named("Shut"), &mut house);
    }
    recorded.stop(&mut Door, &mut house);
    let mut journal = Journal::new(100);
    for step in &steps {
        journal.note_step(1, step);
    }
    assert_eq!(journal.entries().collect::<Vec<_>>(), house.journal.entries().collect::<Vec<_>>());
    assert_eq!(journal.flow(), house.flow);
    assert!(journal.entries().any(|entry| entry.refused.is_some()));
    assert!(
        matches!(&steps[..], [Step::Changed { time, time_in_state, .. }, ..] if (*time, *time_in_state) == (0.5, 0.0))
    );
}

#[test]
fn stays_of_any_length_are_counted() {
    let mut stays = Stays::default();
    for seconds in [0.0, -1.0, f64::NAN, 1e-9, 0.001, 1.0, 1e9, f64::INFINITY] {
        stays.note(seconds);
    }
    let lengths: Vec<_> = stays.lengths().collect();
    let shortest = 1.0 / 1024.0;
    let longest = 1024.0 * 1024.0;
    assert_eq!(
        lengths,
        [(0.0..shortest, 4), (shortest..2.0 * shortest, 1), (1.0..2.0, 1), (longest..f64::INFINITY, 2)]
    );
    assert_eq!(stays.quantile(0.0), Some(0.0..shortest));
    assert_eq!(stays.quantile(1.0), Some(longest..f64::INFINITY));
    assert_eq!(Stays::default().quantile(0.5), None);
}
