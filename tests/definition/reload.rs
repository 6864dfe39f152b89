//! A file reloaded under the machines that run on it.
#![cfg(feature = "definition")]

use demeanor::StateMachine;
use demeanor::definition::{Definition, LoadError, Vocabulary};
use proptest::prelude::*;

use crate::captured_log::log_lines;
use crate::cases::cases;
use crate::guard::{Guard, Notes};
use crate::troop::{Request, Troop, WAYS};

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .flag("alarm", |guard: &Guard, _| guard.is_alarmed)
        .behaviour("stand", Notes::new("stand"))
        .behaviour("walk", Notes::new("walk"))
}

const BEFORE: &str = r#"
    initial = "post"
    [states.post]
    behaviour = "stand"
    exits = [{ to = "search", when = "alarm" }]
    [states.search]
    behaviour = "walk"
    final = true
"#;

fn in_search(definition: &Definition<Guard>) -> (Guard, StateMachine<Guard>) {
    let mut guard = Guard { is_alarmed: true, ..Guard::recording_changes() };
    let mut machine = definition.machine();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(machine.current().unwrap().name(), "search");
    guard.take_trace();
    (guard, machine)
}

#[test]
fn owners_keep_their_state_by_name_and_do_what_the_file_now_says() {
    let definition = Definition::parse(BEFORE, &vocabulary()).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    let search = definition.state("search").unwrap();
    let after = r#"
        initial = "search"
        [states.search]
        behaviour = "stand"
        exits = [{ to = "post", when = "alarm" }]
        [states.post]
        final = true
    "#;
    definition.reload(after).unwrap();
    assert_eq!(definition.state("search").unwrap(), search);
    assert_eq!(machine.current(), Some(&search));
    assert_eq!(guard.trace(), [""; 0]);
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), ["update stand", "exit stand", "search -> post (change)"]);
    assert_eq!(definition.machine().current(), Some(&search));

    let names = || definition.states().iter().map(|state| state.name().into_owned()).collect::<Vec<_>>();
    assert_eq!(names(), ["search", "post"]);
    assert!(definition.reload("initial = 'post'\nstates.post.behaviour = 'wlak'\n").is_err());
    assert_eq!(names(), ["search", "post"]);
    definition.reload(BEFORE).unwrap();
    assert_eq!(names(), ["post", "search"]);
    assert_eq!(definition.state("search").unwrap(), search);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Definition::load("no/such/file.toml", &vocabulary()).unwrap_err();
    assert!(matches!(error, LoadError::Io { .. }));
    assert!(error.to_string().starts_with("no/such/file.toml: "), "{error}");
}

#[test]
fn what_a_reload_does_is_logged() {
    let definition = Definition::parse_named("watch.toml", BEFORE, &vocabulary()).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    let mut lines = log_lines(|| {
        definition.reload("initial = \"rest\"\n[states.rest]\n").unwrap();
        machine.update(&mut guard, &mut 0.0);
    });
    lines.retain(|line| line.contains("watch.toml"));
    assert_eq!(
        lines,
        [
            "WARN demeanor::definition: watch.toml:2:9: warning: state `rest` has no way out: \
             give it an exit, or write `final = true` if it is meant to be the end",
            "INFO demeanor::definition: watch.toml was reloaded",
            "WARN demeanor::definition::defined: Guard: state search is no longer in watch.toml: changes to rest. The same may happen to other owners",
        ]
    );
}

/// Legs and arms, with what else the file says.
fn soldier(more: &str) -> String {
    format!(
        "initial = 'combat'\n[states.walk]\nparent = 'combat'\n[states.run]\nparent = 'combat'\nentry = true\n\
         [states.ready]\nparent = 'combat'\n{more}"
    )
}

#[test]
fn what_a_reload_does_to_states_in_regions_is_logged() {
    let combat = |regions: &str| format!("[states.combat]\nregions = {{ legs = 'walk', {regions} }}\n");
    let fire = "[states.fire]\nparent = 'combat'\nregion = 'arms'\nentry = true\n";
    let before = soldier(&(combat("arms = 'ready'") + fire));
    let log = |after: &str| {
        let definition = Definition::parse(&before, &vocabulary()).unwrap();
        let mut machine = definition.machine();
        let mut guard = Guard::default();
        for state in ["run", "fire"] {
            machine.change_state(&mut guard, definition.state(state).unwrap(), &mut 0.0);
        }
        definition.reload(after).unwrap();
        let of = |line: String| line.split_once("::defined: Guard: ").map(|(_, said)| said.to_owned());
        log_lines(|| machine.update(&mut guard, &mut 0.0)).into_iter().filter_map(of).collect::<Vec<_>>()
    };
    let region = soldier(&(combat("arms = 'ready', eyes = 'look'") + fire + "[states.look]\nparent = 'combat'\n"));
    assert_eq!(
        log(&region),
        ["run", "fire"]
            .map(|state| format!("state {state} is nested differently in definition now: it is entered again"))
    );
    let no_fire = soldier(&combat("arms = 'ready'"));
    assert_eq!(
        log(&no_fire),
        ["state fire is no longer in definition: changes to ready. The same may happen to other owners"]
    );
    let flat = soldier(&format!("[states.combat]\ninitial = 'walk'\n{}", fire.replace("region = 'arms'\n", "")));
    assert_eq!(
        log(&flat),
        [
            "state fire beside run is no longer in definition: changes to run. The same may happen to other owners",
            "state run is nested differently in definition now: it is entered again",
        ]
    );
}

/// The states that come and go. Beside them there is always `rest`.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Where each state lies: in one of three regions of `combat`; outside of it, for 3; nowhere, for more. Regions without a state
/// are left out. If there is only one and `is_flat`, `combat` has no regions.
type Places = ([usize; 6], bool);

fn file_of((places, is_flat): Places) -> String {
    let initial = |region: usize| (0..6).find(|nth| places[*nth] == region).map(|nth| NAMES[nth]);
    let regions: Vec<_> = (0..3).filter_map(|region| Some(format!("r{region} = '{}'", initial(region)?))).collect();
    let is_flat = is_flat && regions.len() == 1;
    let begins = match (0..3).find_map(initial).filter(|_| is_flat) {
        Some(initial) => format!("initial = '{initial}'"),
        None => format!("regions = {{ {} }}", regions.join(", ")),
    };
    let combat = if regions.is_empty() { String::new() } else { format!("[states.combat]\n{begins}\nentry = true\n") };
    let state = |(nth, name): (usize, &&str)| match places[nth] {
        0..3 if is_flat => format!("[states.{name}]\nentry = true\nparent = 'combat'\n"),
        region @ 0..3 => format!("[states.{name}]\nentry = true\nparent = 'combat'\nregion = 'r{region}'\n"),
        3 => format!("[states.{name}]\nentry = true\n"),
        _ => String::new(),
    };
    let states: String = NAMES.iter().enumerate().map(state).collect();
    format!("initial = 'rest'\n[states.rest]\nentry = true\n{combat}{states}")
}

fn places() -> impl Strategy<Value = Places> {
    (prop::array::uniform6(0..5_usize), any::<bool>())
}

proptest! {
    #![proptest_config(cases(96))]

    /// All hosts do the same. No owner is left in a state that is gone, and what can stay active in its region does.
    #[test]
    fn owners_in_regions_follow_a_file_whatever_changes(
        files in prop::collection::vec((places(), prop::collection::vec(0..6_usize, 0..4)), 2..6),
    ) {
        let mut expected = None;
        for way in WAYS {
            let definition = Definition::parse(&file_of(files[0].0), &vocabulary()).unwrap();
            let guard = Guard::recording_changes();
            let mut troop = Troop::start(*way, &[guard.clone(), guard], &definition.initial(), None);
            let active = |troop: &mut Troop| {
                let mut active = Vec::new();
                troop.with(0, 0.0, |_, fsm, _| active = fsm.active_states().map(|state| state.name().into_owned()).collect());
                active
            };
            for (places, changes) in &files {
                let before = active(&mut troop);
                definition.reload(&file_of(*places)).unwrap();
                troop.update(0.0);
                let after = active(&mut troop);
                let names: Vec<_> = definition.states().iter().map(|state| state.name().into_owned()).collect();
                prop_assert!(after.iter().all(|state| names.contains(state)), "{before:?} -> {after:?}: {names:?}");
                let region = |state: &String| NAMES.iter().position(|name| name == state).map(|nth| places.0[nth]);
                let is_alone = |state: &&String| {
                    let inside = before.iter().filter_map(region).filter(|region| *region < 3);
                    before.contains(&"combat".to_owned())
                        && region(state).is_some_and(|own| own < 3 && inside.filter(|other| *other == own).count() == 1)
                };
                if before.iter().filter_map(region).all(|region| region < 3) && !places.1 {
                    for state in before.iter().filter(is_alone) {
                        prop_assert!(after.contains(state), "{before:?} -> {after:?}: {state} has left its region");
                    }
                }
                for change in changes {
                    if let Some(to) = definition.state(NAMES[*change]) {
                        troop.ask(0, Request::Change(to), 0.0);
                    }
                }
            }
            let outcome: Vec<_> = troop.end().into_iter().map(|(mut guard, _)| guard.take_trace()).collect();
            prop_assert_eq!(expected.get_or_insert_with(|| outcome.clone()), &outcome, "{:?}", way);
        }
    }
}
