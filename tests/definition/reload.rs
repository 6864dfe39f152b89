//! A file reloaded under the machines that run on it.
#![cfg(feature = "definition")]

use demeanor::definition::{Definition, LoadError, Vocabulary};
use demeanor::{Batch, StateMachine};

use crate::captured_log::log_lines;
use crate::guard::{Guard, Notes};

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
}

#[test]
fn an_owner_whose_state_is_gone_changes_to_the_initial_one_in_its_next_update() {
    let definition = Definition::parse(BEFORE, &vocabulary()).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    let mut batch = Batch::new();
    let key = batch.insert(Guard::recording_changes(), definition.state("search").unwrap());

    definition.reload("initial = \"rest\"\n[states.rest]\nbehaviour = \"stand\"\nfinal = true\n").unwrap();
    assert!(definition.state("search").is_none());
    assert_eq!(machine.current().unwrap().name(), "search");
    machine.update(&mut guard, &mut 0.0);
    batch.update(&mut 0.0);
    let expected = ["exit walk", "search -> rest (change)", "enter stand"];
    assert_eq!(guard.trace(), expected);
    assert_eq!(batch.get(key).unwrap().trace(), expected);
    assert_eq!(batch.state_of(key), definition.state("rest").as_ref());
}

#[test]
fn a_state_that_comes_back_is_a_state_of_the_file_again() {
    let definition = Definition::parse(BEFORE, &vocabulary()).unwrap();
    definition.reload("initial = \"rest\"\n[states.rest]\nfinal = true\n").unwrap();
    definition.reload(BEFORE).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), ["update walk"]);
    assert_eq!(
        definition.states().iter().map(|state| state.name().into_owned()).collect::<Vec<_>>(),
        ["post", "search"]
    );
}

#[test]
fn a_state_that_is_nested_differently_is_entered_again() {
    let definition = Definition::parse(BEFORE, &vocabulary()).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    let after = r#"
        initial = "post"
        [states.post]
        exits = [{ to = "search", when = "alarm" }]
        [states.duty]
        behaviour = "stand"
        exits = [{ to = "post", when = "not alarm" }]
        [states.search]
        parent = "duty"
        behaviour = "walk"
    "#;
    definition.reload(after).unwrap();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), ["exit walk", "search -> search (change)", "enter stand", "enter walk"]);
    guard.take_trace();
    guard.is_alarmed = false;
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), ["update stand", "exit walk", "exit stand", "search -> post (change)"]);
}

#[test]
fn a_file_with_a_mistake_changes_nothing() {
    let definition = Definition::parse_named("guard.toml", BEFORE, &vocabulary()).unwrap();
    let (mut guard, mut machine) = in_search(&definition);
    let problems = definition.reload("initial = \"post\"\n[states.post]\nbehaviour = \"wlak\"\n").unwrap_err();
    assert_eq!(problems.to_string(), "guard.toml:3:13: error: unknown behavior `wlak`: did you mean `walk`?");
    assert_eq!(definition.states().len(), 2);
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.trace(), ["update walk"]);
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
