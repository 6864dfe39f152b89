//! A file that is reloaded again and again, under owners that run on it, by closures of the game, and into states that nobody
//! can enter.
#![cfg(feature = "definition")]

use std::sync::{Arc, Mutex};

use allocation_counter::measure;
use demeanor::definition::{Definition, Definitions, FileState, FileStates, StateName, Vocabulary};
use demeanor::{Batch, Fsm, State, StateMachine};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::captured_log::log_lines;
use crate::guard::Guard;

struct Walk(u32);
impl State<Guard> for Walk {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.is_alarmed |= self.0 == u32::MAX;
    }
}

#[derive(Deserialize, JsonSchema)]
struct WalkParams {
    speed: u32,
}

/// Goes on to a state of the file when it is left, as only a state can do that is no longer in the file.
struct GoOn(FileState<Guard>);
impl State<Guard> for GoOn {
    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.is_alarmed = self.0.state().is_some();
    }
}

#[derive(Deserialize, JsonSchema)]
struct GoOnParams {
    to: StateName,
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .flag("is_open", |guard: &Guard, _| guard.is_alarmed)
        .behavior_with("walk", |params: WalkParams| Walk(params.speed))
        .behavior_with_states("go_on", |params: GoOnParams, states: &FileStates<Guard>| {
            GoOn(states.get(&params.to).expect("it has been checked"))
        })
}

/// What the file says after so many reloads.
type Text = fn(usize) -> String;

/// Files of five states each, of which something is another one in each reload.
const KINDS: &[(&str, Text)] = &[
    ("nothing", |_| file(|nth| format!("s{nth}"), |_| String::new(), 1)),
    ("all names", |reload| file(|nth| format!("s{nth} of {reload}"), |_| String::new(), 1)),
    ("one name after the other", |reload| {
        file(|nth| format!("s{nth} of {}", (reload + 4 - nth) / 5), |_| String::new(), 1)
    }),
    ("the nesting", |reload| {
        let parent = move |nth: usize| {
            if nth > 0 && (nth + reload) % 3 == 0 { format!("parent = 's{}'\n", nth - 1) } else { String::new() }
        };
        file(|nth| format!("s{nth}"), parent, 1)
    }),
    ("the regions", |reload| {
        let lies = move |nth: usize| match (nth, reload % 3) {
            (0, 0) => "initial = 's1'\n".to_owned(),
            (0, 1) => "regions = ['s1', 's2']\n".to_owned(),
            (0, _) => "regions = ['s1', 's2', 's3']\n".to_owned(),
            _ => "parent = 's0'\n".to_owned(),
        };
        file(|nth| format!("s{nth}"), lies, 1)
    }),
    ("the parameters", |reload| file(|nth| format!("s{nth}"), |_| String::new(), reload)),
    ("the number of states", |reload| {
        let all = file(|nth| format!("s{nth}"), |_| String::new(), 1);
        let more: Vec<String> =
            (0..reload % 7).map(|nth| format!("[states.more{reload}of{nth}]\nentry = true\n")).collect();
        all + more.concat().as_str()
    }),
];

fn file(name: impl Fn(usize) -> String, more: impl Fn(usize) -> String, speed: usize) -> String {
    let states = (0..5).map(|nth| {
        let (one, next) = (name(nth), name((nth + 1) % 5));
        format!(
            "[states.'{one}']\n{}behavior = [{{ name = 'walk', speed = {speed} }}, {{ name = 'go_on', to = '{next}' }}]\n\
             exits = [{{ to = '{next}', when = 'not is_open' }}]\n",
            more(nth)
        )
    });
    format!("initial = '{}'\n{}", name(0), states.collect::<String>())
}

/// By how many bytes the game grows over so many reloads, once it has been reloaded for a while.
fn growth(text: Text, reloads: usize) -> i64 {
    let definition = Definition::parse(&text(0), &vocabulary()).unwrap_or_else(|problems| panic!("{problems}"));
    let mut batch = Batch::new();
    for _ in 0..10 {
        batch.insert(Guard::default(), definition.initial());
    }
    let mut alone = (Guard::default(), definition.machine());
    let mut reload = |nth: usize| {
        // The lines are dropped.
        log_lines(|| {
            definition.reload(&text(nth)).unwrap_or_else(|problems| panic!("{problems}"));
            batch.update(&mut 0.0);
            alone.1.update(&mut alone.0, &mut 0.0);
        });
    };
    // More than twice around whatever changes in turn.
    (1..=42).for_each(&mut reload);
    measure(|| (43..43 + reloads).for_each(&mut reload)).bytes_current
}

#[track_caller]
fn does_not_grow(reloads: usize) {
    let growths: Vec<_> = KINDS.iter().map(|(kind, text)| (*kind, growth(*text, reloads))).collect();
    // Longer names, with the numbers in them. One content that stays is some hundred bytes in each reload.
    assert!(growths.iter().all(|(_, bytes)| *bytes < 500), "{growths:?}");
}

#[test]
fn a_game_does_not_grow_with_reloads_whatever_changes() {
    // Divisible by all turns in which the files change.
    does_not_grow(105);
}

#[test]
#[ignore = "minutes without optimization"]
fn a_game_does_not_grow_with_ten_thousand_reloads_whatever_changes() {
    does_not_grow(10_080);
}

#[test]
fn a_state_that_somebody_has_stays_however_often_the_file_is_reloaded() {
    let before = "initial = 'a'\n[states.a]\nbehavior = 'go_on'\nparams = { to = 'b' }\nentry = true\n\
                  exits = [{ to = 'b', when = 'is_open' }]\n[states.b]\nfinal = true\n";
    let definition = Definition::parse(before, &vocabulary()).unwrap();
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    for nth in 0..50 {
        definition.reload(&format!("initial = 'c{nth}'\n[states.c{nth}]\nfinal = true\n")).unwrap();
    }
    assert_eq!(machine.current().unwrap().name(), "a");
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current().unwrap().name(), "c49");
    assert_eq!(machine.current(), Some(&definition.initial()));
    // What it knew as a state of the file still is a state, to which nothing leads but that.
    assert!(guard.is_alarmed);
}

/// Its place is another state's by then.
#[test]
fn a_state_that_nobody_had_any_more_leads_to_the_initial_one() {
    struct Return;
    impl State<Guard> for Return {}
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let vocabulary = Vocabulary::<Guard>::new().behavior_with_states(
        "keep",
        move |params: GoOnParams, states: &FileStates<Guard>| {
            *keep.lock().unwrap() = states.get(&params.to);
            Return
        },
    );
    let before = "initial = 'a'\n[states.a]\nbehavior = 'keep'\nparams = { to = 'b' }\nentry = true\nexits = [{ to = 'b' }]\n\
                  [states.b]\nparent = 'a'\n";
    let definition = Definition::parse(before, &vocabulary).unwrap();
    for nth in 0..4 {
        definition
            .reload(&format!(
                "initial = 'c{nth}'\n[states.c{nth}]\nexits = [{{ to = 'd{nth}' }}]\n[states.d{nth}]\nfinal = true\n"
            ))
            .unwrap();
    }
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    let gone = kept.lock().unwrap().as_ref().and_then(FileState::state).unwrap();
    machine.change_state(&mut guard, gone, &mut 0.0);
    assert_eq!(machine.current().unwrap().name(), "b");
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current().unwrap().name(), "c3");
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current().unwrap().name(), "d3");
}

#[test]
fn where_the_new_initial_state_cannot_be_entered_owners_stay_and_that_is_logged_once() {
    let definition = Definition::parse("initial = 'a'\n[states.a]\nfinal = true\n", &vocabulary()).unwrap();
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..100).map(|_| batch.insert(Guard::default(), definition.initial())).collect();
    let (mut guard, mut machine) = (Guard::recording_changes(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    definition.reload("initial = 'b'\n[states.b]\nfinal = true\nenter_when = 'is_open'\n").unwrap();
    let lines = log_lines(|| {
        for _ in 0..100 {
            batch.update(&mut 0.0);
            machine.update(&mut guard, &mut 0.0);
        }
    });
    assert_eq!(
        lines,
        [
            "WARN demeanor::definition::defined: Guard: state a is no longer in definition, and the change to b is refused: the owner stays in it. The same may happen to other owners"
        ]
    );
    assert_eq!(guard.trace(), [""; 0]);
    assert!(keys.iter().all(|key| batch.state_of(*key).unwrap().name() == "a"));

    guard.is_alarmed = true;
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current(), Some(&definition.initial()));
}

/// What a closure of the game asks while the file is reloaded.
#[test]
fn a_closure_may_ask_the_definition_while_it_is_reloaded() {
    let place: Arc<Mutex<Option<Definition<Guard>>>> = Arc::default();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (of, to) = (Arc::clone(&place), Arc::clone(&asked));
    let vocabulary = Vocabulary::<Guard>::new().behavior_with("walk", move |params: WalkParams| {
        let definition = of.lock().unwrap().clone();
        if let Some(definition) = definition {
            let states = definition.states().len();
            let found = definition.state("a").is_some();
            let outline = definition.outline().states().len();
            to.lock().unwrap().push(format!("{states} {found} {outline} {}", definition.initial()));
        }
        Walk(params.speed)
    });
    let text = |speed: u32| {
        format!("initial = 'a'\n[states.a]\nfinal = true\nbehavior = 'walk'\nparams = {{ speed = {speed} }}\n")
    };
    let definition = Definition::parse(&text(1), &vocabulary).unwrap();
    *place.lock().unwrap() = Some(definition.clone());
    definition.reload(&text(2)).unwrap();
    assert_eq!(*asked.lock().unwrap(), ["1 true 1 a"]);
    // Or the two keep each other.
    *place.lock().unwrap() = None;
}

/// What the old content takes along is dropped when the definition can be asked again.
#[test]
fn what_is_dropped_with_the_old_file_may_ask_the_definition() {
    struct Last(Arc<Mutex<Option<Definition<Guard>>>>, Arc<Mutex<Vec<usize>>>);
    impl State<Guard> for Last {}
    impl Drop for Last {
        fn drop(&mut self) {
            let definition = self.0.lock().unwrap().clone();
            if let Some(definition) = definition {
                self.1.lock().unwrap().push(definition.states().len());
            }
        }
    }
    let (place, counts) = (Arc::<Mutex<Option<Definition<Guard>>>>::default(), Arc::<Mutex<Vec<usize>>>::default());
    let (of, to) = (Arc::clone(&place), Arc::clone(&counts));
    let vocabulary =
        Vocabulary::<Guard>::new().behavior_with("last", move |_: WalkParams| Last(Arc::clone(&of), Arc::clone(&to)));
    let definition = Definition::parse(
        "initial = 'a'\n[states.a]\nfinal = true\nbehavior = 'last'\nparams = { speed = 1 }\n",
        &vocabulary,
    )
    .unwrap();
    *place.lock().unwrap() = Some(definition.clone());
    for nth in 0..3 {
        definition.reload(&format!("initial = 'b{nth}'\n[states.b{nth}]\nfinal = true\n")).unwrap();
    }
    assert_eq!(*counts.lock().unwrap(), [1]);
    *place.lock().unwrap() = None;
}

/// Two threads reload it at the same time.
#[test]
fn reloads_at_the_same_time_leave_one_of_the_files() {
    let definition = Definition::parse("initial = 'a'\n[states.a]\nfinal = true\n", &vocabulary()).unwrap();
    let mut machine: StateMachine<Guard> = definition.machine();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let definition = definition.clone();
            threads.spawn(move || {
                for nth in 0..50 {
                    let name = format!("s{thread}of{nth}");
                    definition.reload(&format!("initial = '{name}'\n[states.{name}]\nfinal = true\n")).unwrap();
                }
            });
        }
    });
    let mut guard = Guard::default();
    machine.update(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current(), Some(&definition.initial()));
    assert_eq!(definition.states(), [definition.initial()]);
}

/// What the file says after so many reloads: a machine that stays, and one that is renamed.
fn machines(reload: usize) -> String {
    format!(
        "[machines.stays]\ninitial = 'a'\nstates.a.final = true\n\
         [machines.'called {reload}']\ninitial = 'a'\nstates.a.final = true\n"
    )
}

#[test]
fn a_machine_that_is_gone_is_forgotten_when_nobody_has_it() {
    let mut definitions = Definitions::parse(&machines(0), &vocabulary()).unwrap();
    let owned = definitions.get("called 0").unwrap().machine();
    let lines = log_lines(|| {
        for reload in 1..4 {
            definitions.reload(&machines(reload)).unwrap();
        }
    });
    let warnings: Vec<_> = lines.iter().filter(|line| line.contains("no longer")).collect();
    assert_eq!(
        warnings,
        [
            "WARN demeanor::definition::definitions: machine called 0 is no longer in definition: it stays as it was",
            "WARN demeanor::definition::definitions: machine called 1 is no longer in definition",
            "WARN demeanor::definition::definitions: machine called 2 is no longer in definition",
        ]
    );
    assert_eq!(definitions.names().collect::<Vec<_>>(), ["stays", "called 0", "called 3"]);
    // Who has a definition may still make machines of it.
    drop(owned);
    let held = definitions.get("called 0").unwrap().clone();
    log_lines(|| definitions.reload(&machines(3)).unwrap());
    assert_eq!(definitions.names().collect::<Vec<_>>(), ["stays", "called 0", "called 3"]);
    drop(held);
    let lines = log_lines(|| definitions.reload(&machines(3)).unwrap());
    assert!(!lines.iter().any(|line| line.contains("no longer")), "{lines:?}");
    assert_eq!(definitions.names().collect::<Vec<_>>(), ["stays", "called 3"]);
}

#[test]
fn a_game_does_not_grow_with_each_machine_that_is_renamed() {
    let mut definitions = Definitions::parse(&machines(0), &vocabulary()).unwrap();
    let mut reload = |nth: usize| drop(log_lines(|| definitions.reload(&machines(nth)).unwrap()));
    (1..20).for_each(&mut reload);
    let growth = measure(|| (20..60).for_each(&mut reload)).bytes_current;
    assert!(growth < 2000, "{growth} bytes");
}

#[test]
fn that_owners_leave_a_state_that_is_gone_is_logged_once() {
    let definition = Definition::parse("initial = 'a'\n[states.a]\nfinal = true\n", &vocabulary()).unwrap();
    let mut batch = Batch::new();
    for _ in 0..100 {
        batch.insert(Guard::default(), definition.initial());
    }
    definition.reload("initial = 'b'\n[states.b]\nfinal = true\n").unwrap();
    let lines = log_lines(|| batch.update(&mut 0.0));
    let warnings: Vec<_> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
    assert_eq!(
        warnings,
        [
            "WARN demeanor::definition::defined: Guard: state a is no longer in definition: changes to b. The same may happen to other owners"
        ]
    );
}
