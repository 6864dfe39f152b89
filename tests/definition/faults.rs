//! The chapter "Faults" for machines from files: a panic in what a game offers to them, for one owner of many.
#![cfg(feature = "definition")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, State};

use crate::guard::Guard;

/// Notes what it does, and if the guard is brave, asks for a change itself.
struct Walk;
impl State<Guard> for Walk {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note("enter");
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        if guard.is_brave {
            fsm.change_state(&Elsewhere);
        }
        guard.note("update");
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note("exit");
    }
}

struct Elsewhere;
impl State<Guard> for Elsewhere {}

/// A guard may be afraid of a question.
fn ask(guard: &Guard, question: &str) {
    assert!(guard.afraid_of != question, "afraid of {question}");
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .flag("flag", |guard: &Guard, _| {
            ask(guard, "flag");
            false
        })
        .value("number", |guard: &Guard, _| {
            ask(guard, "number");
            1.0
        })
        .random(|guard: &mut Guard, _| {
            ask(guard, "chance");
            0.5
        })
        .behaviour("walk", &Walk)
}

/// Runs a tick in which one of many panics, and tells of each where it is: before it, itself, and after it.
fn after_a_panic(when: &str, afraid_of: &'static str) -> (Vec<String>, String, Vec<String>) {
    let file = format!(
        "initial = \"a\"\n[states.a]\nbehaviour = \"walk\"\n\
         exits = [{{ to = \"b\", when = \"{when}\" }}]\n[states.b]\nenter_when = \"not flag\"\nfinal = true\n"
    );
    let definition = Definition::parse(&file, &vocabulary()).unwrap();
    let mut batch = Batch::new();
    let guard = |i| Guard { is_brave: true, ..Guard::afraid_of(if i == 100 { afraid_of } else { "" }) };
    let keys: Vec<_> = (0..150).map(|i| batch.insert(guard(i), definition.initial())).collect();
    let caught = catch_unwind(AssertUnwindSafe(|| batch.update(&mut 0.0)));
    assert!(caught.is_err(), "{afraid_of} was not asked");
    let states: Vec<_> = keys.iter().map(|key| batch.state_of(*key).unwrap().to_string()).collect();
    assert_eq!(batch.len(), keys.len());

    // It goes on working.
    for (_, guard) in &mut batch {
        guard.afraid_of = "";
    }
    batch.update(&mut 0.0);
    assert_eq!(batch.owners_in(&Elsewhere).len(), keys.len());
    (states[..100].to_vec(), states[100].clone(), states[101..].to_vec())
}

/// Rule 22.
#[test]
fn a_panic_in_what_a_condition_asks_drops_the_requests_of_that_owner_and_of_no_other() {
    for (when, afraid_of) in [
        ("flag", "flag"),
        ("number > 2", "number"),
        ("number == number", "number"),
        ("time_in_state < number", "number"),
        ("chance(0.5)", "chance"),
        ("number > 0", "flag"),
        ("number > 5 and flag or number < 5 and chance(0.9)", "chance"),
    ] {
        let (before, itself, after) = after_a_panic(when, afraid_of);
        assert!(before.iter().all(|state| state == "Elsewhere"), "{when}: {before:?}");
        assert_eq!(itself, "a", "{when}");
        // Their behaviour has had its turn, too, and has asked.
        assert!(after.iter().all(|state| state == "Elsewhere"), "{when}: {after:?}");
    }
}

/// Rule 22.
#[test]
fn a_panic_in_a_behaviour_drops_the_requests_of_that_owner_and_of_no_other() {
    let (before, itself, after) = after_a_panic("flag", "update");
    assert!(before.iter().all(|state| state == "Elsewhere"), "{before:?}");
    assert_eq!(itself, "a");
    assert!(after.iter().all(|state| state == "a"), "{after:?}");
}

/// Rule 22: a panic where a script's work begins or ends, in the game's own code.
#[cfg(feature = "script")]
#[test]
fn a_panic_in_a_field_of_a_script_leaves_no_other_owner_out_and_none_twice() {
    for hook in ["exit", "enter"] {
        let vocabulary = vocabulary()
            .field(
                "field",
                |_: &Guard, _| 0.0,
                |guard, _| {
                    ask(guard, "field");
                },
            )
            .script("hook.rhai", format!("fn {hook}() {{ this.field = 1.0; }}"));
        let file = "initial = \"a\"\n\
                    [states.a]\nbehaviour = \"walk\"\nscript = \"hook.rhai\"\nexits = [{ to = \"b\" }]\n\
                    [states.b]\nbehaviour = \"walk\"\nscript = \"hook.rhai\"\n";
        let definition = Definition::parse(file, &vocabulary).unwrap();
        let mut batch = Batch::new();
        // A state that the batch has seen is one that many enter at once.
        batch.insert(Guard::default(), definition.state("b").unwrap());
        let keys: Vec<_> = (0..20)
            .map(|i| batch.insert(Guard::afraid_of(if i == 10 { "field" } else { "" }), definition.initial()))
            .collect();
        assert!(catch_unwind(AssertUnwindSafe(|| batch.update(&mut 0.0))).is_err());
        for (i, key) in keys.iter().enumerate() {
            let guard = batch.get(*key).unwrap();
            let has_left = hook == "enter" || i != 10;
            assert_eq!(batch.state_of(*key).unwrap().name(), if has_left { "b" } else { "a" }, "{hook} of {i}");
            let expected: &[_] = if has_left { &["update", "exit", "enter"] } else { &["update", "exit"] };
            assert_eq!(guard.trace(), expected, "{hook} of {i}");
        }
    }
}

/// Rule 19: of many at once nobody is asked what it would not be asked alone.
#[test]
fn a_condition_asks_only_the_owners_that_have_come_so_far() {
    /// How far away its prey is, which only those have who see it.
    fn distance(guard: &Guard) -> f64 {
        assert!(guard.enemy_visible, "it has no prey");
        guard.health
    }
    let vocabulary = Vocabulary::new()
        .flag("has_prey", |guard: &Guard, _| guard.enemy_visible)
        .flag("is_near", |guard: &Guard, _| distance(guard) < 5.0)
        .value("distance", |guard: &Guard, _| distance(guard));
    let file = r#"
        initial = "hunt"

        [states.hunt]
        exits = [
            { to = "near", when = "has_prey and is_near" },
            { to = "far", when = "has_prey and distance >= 70" },
            { to = "home", when = "not has_prey" },
            { to = "between", when = "distance > 0" },
        ]

        [states.near]
        final = true
        [states.far]
        final = true
        [states.home]
        final = true
        [states.between]
        final = true
    "#;
    let definition = Definition::parse(file, &vocabulary).unwrap();
    let mut batch = Batch::new();
    let hunters: Vec<_> = (0..100)
        .map(|i| {
            let hunter = Guard { enemy_visible: i % 11 != 3 && i > 20, health: f64::from(i % 90), ..Guard::default() };
            let mut machine = definition.machine();
            machine.update(&mut hunter.clone(), &mut 0.0);
            (batch.insert(hunter, definition.initial()), machine)
        })
        .collect();
    batch.update(&mut 0.0);
    for (key, alone) in hunters {
        assert_eq!(batch.state_of(key), alone.current());
    }
    for state in definition.states().iter().filter(|state| state.name() != "hunt") {
        assert!(!batch.owners_in(&**state).is_empty(), "{state}");
    }
}
