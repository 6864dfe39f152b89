//! A file reloaded under the machines that run on it.
#![cfg(feature = "definition")]

use demeanor::StateMachine;
use demeanor::definition::{Definition, LoadError, Vocabulary};

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
