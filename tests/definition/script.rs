//! Scripts: what they read, write and ask for, and what happens when they fail.
#![cfg(feature = "script")]
#![expect(clippy::float_cmp, reason = "what a script writes is exact")]

use std::fs;
use std::path::Path;

use demeanor::definition::{Definition, Outline, Problems, ScriptBudget, Vocabulary};
use demeanor::{Fsm, State, StateMachine};

use crate::captured_log::log_lines;
use crate::guard::{Guard, current, parsed};
use crate::played::Ask;
use crate::troop::in_all_ways;

struct Slow;
impl State<Guard> for Slow {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.speed = 1.0;
    }
}

pub(crate) fn vocabulary(budget: ScriptBudget) -> Vocabulary<Guard> {
    Vocabulary::new()
        .script_budget(budget)
        .value("health", |guard: &Guard, _| guard.health)
        .flag("alarm", |guard: &Guard, _| guard.is_alarmed)
        .field("speed", |guard: &Guard, _| guard.speed, |guard, speed| guard.speed = speed)
        .behavior("ask", &Ask)
        .behaviour("slow", &Slow)
}

pub(crate) fn definition(file: &str, script: &str, budget: ScriptBudget) -> Definition<Guard> {
    parsed(file, &vocabulary(budget).script("a.rhai", script))
}

pub(crate) const FILE: &str = "initial = 'a'\nstates.a.script = 'a.rhai'\n[states.b]\nfinal = true\n";

pub(crate) fn machine(script: &str) -> StateMachine<Guard> {
    definition(FILE, script, ScriptBudget::default()).machine()
}

pub(crate) fn ann() -> Guard {
    Guard { name: "Ann", ..Guard::default() }
}

/// The errors and warnings that are logged, without the log's own words.
pub(crate) fn errors(act: impl FnOnce()) -> Vec<String> {
    let lines = log_lines(act);
    let serious = |line: &String| line.starts_with("ERROR") || line.starts_with("WARN");
    lines.into_iter().filter(serious).map(|line| line.replace(" demeanor::definition", "")).collect()
}

/// What is logged of one update with a script that fails. Its owner stays, and what the script wrote is not kept.
#[track_caller]
pub(crate) fn failure(script: &str) -> String {
    let (mut machine, mut guard) = (machine(script), Guard { speed: 0.5, health: 50.0, ..ann() });
    let lines = errors(|| machine.update(&mut guard, &mut 0.0));
    assert_eq!((lines.len(), guard.speed, current(&machine).as_str()), (1, 0.5, "a"), "{lines:?}");
    lines[0].replace("ERROR: Ann: script a.rhai, function update, in state a: ", "")
}

#[test]
fn a_script_reads_values_writes_fields_and_changes_state() {
    let mut machine = machine(
        r#"
            fn enter() { this.speed = 3; }
            fn update() {
                if this.alarm && this.health < 20 && this.time_in_state == 0.0 { change_state("b"); }
                this.speed += this.health;
            }
            fn exit() { this.speed = -this.speed; }
        "#,
    );
    let (mut guard, mut time) = (Guard { health: 50.0, ..Guard::default() }, 0.0);
    machine.start(&mut guard, &mut time);
    assert_eq!(guard.speed, 3.0);
    machine.update(&mut guard, &mut time);
    assert_eq!((guard.speed, current(&machine).as_str()), (53.0, "a"));
    guard.is_alarmed = true;
    guard.health = 10.0;
    machine.update(&mut guard, &mut time);
    assert_eq!((guard.speed, current(&machine).as_str()), (-63.0, "b"));
}

#[test]
fn a_script_runs_after_the_behaviour_and_before_the_exits() {
    let file = "initial = \"a\"\n[states.a]\nbehaviour = \"slow\"\nscript = \"a.rhai\"\n\
                exits = [{ to = \"b\", when = \"speed == 2\" }]\n[states.b]\n";
    let vocabulary = vocabulary(ScriptBudget::default()).script("a.rhai", "fn update() { this.speed *= 2.0; }");
    let mut machine = Definition::parse(file, &vocabulary).unwrap().machine();
    machine.update(&mut Guard::default(), &mut 0.0);
    assert_eq!(current(&machine), "b");
}

/// A regression test: a script knew the states by their full names only, as if it were written outside of all states.
#[test]
fn a_name_in_a_script_means_what_it_means_in_an_exit_of_the_same_state() {
    let linked = "machines.guard = { initial = 'patrol', states.patrol.machine = 'round', states.look.entry = true }
        [machines.round]\ninitial = 'walk'\nstates.look.final = true\n[machines.round.states.walk]\n";
    let nested = "initial = 'hunt'\n[states.fight]\ninitial = 'look'\nentry = true\nstates.look.final = true
        states.far.final = true\n[states.hunt]\ninitial = 'walk'\nstates.look.final = true\n[states.hunt.states.walk]\n";
    for (file, name, expected) in [
        (linked, "look", "patrol.look"),
        (nested, "look", "hunt.look"),
        (nested, "fight.look", "look"),
        (nested, "far", "far"),
    ] {
        let (begin, end) = name.split_at(2);
        let calculated = format!("let end = \"{end}\"; change_state(\"{begin}\" + end);");
        for body in [format!("change_state(\"{name}\");"), calculated] {
            let script = format!("fn update() {{ {body} }}");
            for key in ["script = 'a.rhai'".into(), format!("exits = [{{ to = '{name}' }}]")] {
                let definition = definition(&format!("{file}{key}\n"), &script, ScriptBudget::default());
                let unreached = format!("state `{expected}` can never be reached");
                assert!(definition.outline().warnings().iter().all(|warning| warning.to_string() != unreached));
                let mut machine = definition.machine();
                machine.update(&mut Guard::default(), &mut 0.0);
                assert_eq!(current(&machine), expected, "{file}{key}: {script}");
            }
        }
    }
}

#[test]
fn a_script_of_two_states_may_mean_two_states_by_one_name() {
    let file =
        "initial = 'a'\n[states.a]\ninitial = 'walk'\nstates.walk.script = 'a.rhai'\nstates.look.exits = [{ to = 'b' }]
        [states.b]\ninitial = 'walk'\nstates.walk.script = 'a.rhai'\nstates.look.exits = [{ to = 'a' }]\n";
    let script = "fn update() { change_state(\"look\"); }";
    let mut machine = definition(file, script, ScriptBudget::default()).machine();
    let mut visited = Vec::new();
    for _ in 0..4 {
        machine.update(&mut Guard::default(), &mut 0.0);
        visited.push(current(&machine));
    }
    assert_eq!(visited, ["look", "b.walk", "b.look", "walk"]);
}

#[test]
fn a_script_answers_a_condition() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", when = { script = \"low.rhai\" } }]\n[states.b]\n";
    for text in [
        "this.health < 20",
        "let limit = 20;\nthis.health < limit",
        "fn low(x) { x < 20 }\nfn when() { low(this.health) }",
    ] {
        let definition =
            Definition::parse(file, &vocabulary(ScriptBudget::default()).script("low.rhai", text)).unwrap();
        for (health, expected) in [(10.0, "b"), (30.0, "a")] {
            let mut machine = definition.machine();
            machine.update(&mut Guard { health, ..Guard::default() }, &mut 0.0);
            assert_eq!(current(&machine), expected, "{text}");
        }
    }
}

#[test]
fn many_owners_run_their_script_as_each_would_alone() {
    let file = "initial = \"a\"\n[states.a]\nscript = \"a.rhai\"\nexits = [{ to = \"b\", when = { script = \"w.rhai\" } }]\n[states.b]\n";
    let vocabulary = vocabulary(ScriptBudget::default())
        .script("a.rhai", "fn update() { this.speed += this.health; if this.speed > 30.0 { change_state(\"b\"); } }")
        .script("w.rhai", "this.speed == 14.0");
    let definition = Definition::parse(file, &vocabulary).unwrap();
    let guards: Vec<_> = (0..100_u8).map(|i| Guard { health: f64::from(i), ..Guard::default() }).collect();
    in_all_ways(&definition, &definition.initial(), &guards, &[0.0; 4]);
}

#[test]
fn a_script_that_fails_is_logged_with_its_place() {
    for (script, why) in [
        (
            "fn update() {\n    this.speed = 9.0;\n    change_state(\"b\");\n    let name = \"halth\";\n    this[name] + 1\n}",
            "line 5, column 10: Property not found: halth",
        ),
        (
            "fn update() { this.speed = 9.0; let to = \"c\"; change_state(to); }",
            "line 1, column 47: Runtime error: unknown state `c`",
        ),
        (
            "fn update() { this.speed = 9.0; let name = \"health\"; this[name] = 100.0; change_state(\"b\"); }",
            "line 1, column 58: `health` can be read, but not written",
        ),
    ] {
        assert_eq!(failure(script), why);
    }
}

#[test]
fn a_condition_that_fails_is_logged_with_file_line_and_state_and_does_not_hold() {
    let file = "initial = \"a\"\n[states.a]\nexits = [{ to = \"b\", when = { script = \"w.rhai\" } }]\n[states.b]\n";
    for (script, why) in [
        ("this.health < 20 &&\n  { let name = \"alrm\"; this[name] }", "line 2, column 29: Property not found: alrm"),
        ("this.health", "the answer is neither true nor false, but of type f64"),
    ] {
        let mut machine = parsed(file, &vocabulary(ScriptBudget::default()).script("w.rhai", script)).machine();
        let mut lines = log_lines(|| machine.update(&mut ann(), &mut 0.0));
        lines.retain(|line| !line.starts_with("DEBUG"));
        assert_eq!(current(&machine), "a");
        assert_eq!(
            lines,
            [format!("ERROR demeanor::definition: Ann: script w.rhai, function when, in state a: {why}")]
        );
    }
}

#[test]
fn a_script_that_calls_itself_without_end_is_stopped() {
    let found = failure("fn again(x) { again(x + 1) }\nfn update() { this.speed = 9.0; again(0); }");
    assert!(found.contains("Stack overflow"), "{found}");
}

#[test]
fn a_script_that_fills_the_memory_is_stopped() {
    for body in ["let s = \"ab\"; loop { s += s; }", "let a = []; loop { a.push(1); }"] {
        let mut machine = machine(&format!("fn update() {{ this.speed = 9.0; {body} }}"));
        let mut guard = ann();
        let lines = errors(|| machine.update(&mut guard, &mut 0.0));
        assert!(lines.last().unwrap().contains("Ann: script a.rhai"), "{lines:?}");
        assert_eq!((guard.speed, current(&machine).as_str()), (0.0, "a"));
    }
}

#[test]
fn the_same_failure_is_not_logged_in_every_tick() {
    let mut machine = machine("fn update() { let name = \"nothing\"; this[name] }");
    let lines = errors(|| (0..100).for_each(|_| machine.update(&mut ann(), &mut 0.0)));
    assert_eq!(lines.len(), 7);
}

#[test]
fn a_script_that_cannot_be_read_is_a_mistake_of_the_definition() {
    let problems = |text: Option<&str>| -> Problems {
        let vocabulary = match text {
            Some(text) => vocabulary(ScriptBudget::default()).script("a.rhai", text),
            None => vocabulary(ScriptBudget::default()),
        };
        let file = "initial = \"a\"\n[states.a]\nscript = \"a.rhai\"\nfinal = true\n";
        Definition::parse_named("guard.toml", file, &vocabulary).unwrap_err()
    };
    assert_eq!(
        problems(None).to_string(),
        "guard.toml:3:10: error: script `a.rhai`: it is not offered by the game, and there is no file to look beside"
    );
    assert_eq!(
        problems(Some("fn update() {\n    let = 3;\n}")).to_string(),
        "a.rhai:2:9: error: a script of `guard.toml`: Expecting name of a variable"
    );
    assert_eq!(
        problems(Some("fn other() { }")).to_string(),
        "a.rhai:1:1: error: a script of `guard.toml`: it has none of the functions `enter()`, `update()` and `exit()`"
    );
}

#[test]
fn the_files_beside_a_definition_are_its_scripts() {
    let folder = std::env::temp_dir().join(format!("demeanor-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("guard.toml");
    std::fs::write(&path, "initial = \"a\"\n[states.a]\nscript = \"a.rhai\"\n[states.b]\n").unwrap();
    std::fs::write(folder.join("a.rhai"), "fn update() { change_state(\"b\") }").unwrap();
    let mut machine = Definition::load(&path, &vocabulary(ScriptBudget::default())).unwrap().machine();
    machine.update(&mut Guard::default(), &mut 0.0);
    assert_eq!(current(&machine), "b");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A regression test: it was looked for in the folder of the file with the link, where another script may have the same name.
#[test]
fn a_script_of_a_linked_file_is_in_the_folder_of_that_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script_of_linked");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("below/deep")).unwrap();
    let last = "initial = 'a'
        [states.a]\nscript = 'a.rhai'\nexits = [{ to = 'd', when = { script = 'when.rhai' } }]
        [states.b]\nenter_when = { script = 'when.rhai' }\n[states.c]\n[states.d]\n";
    for (file, text) in [
        ("main.toml", "initial = 'x'\nstates.x.machine = 'below/between.toml'\n"),
        ("below/between.toml", "initial = 'y'\nstates.y.machine = 'deep/last.toml'\n"),
        ("below/deep/last.toml", last),
        ("below/deep/a.rhai", "fn update() { if this.alarm { change_state(\"b\") } }"),
        ("below/deep/when.rhai", "true"),
        ("a.rhai", "fn update() { change_state(\"c\") }"),
        ("below/a.rhai", "fn update() { change_state(\"c\") }"),
        ("when.rhai", "false"),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    let from_files = vocabulary(ScriptBudget::default());
    let from_game = vocabulary(ScriptBudget::default()).script("a.rhai", "fn update() { change_state(\"c\") }");
    for (vocabulary, is_alarmed, expected) in
        [(&from_files, false, "x.y.d"), (&from_files, true, "x.y.b"), (&from_game, false, "x.y.c")]
    {
        let mut machine = Definition::load(folder.join("main.toml"), vocabulary).unwrap().machine();
        machine.update(&mut Guard { is_alarmed, ..Guard::default() }, &mut 0.0);
        assert_eq!(current(&machine), expected);
    }
    let read = Outline::load_all(folder.join("main.toml"), None).unwrap().swap_remove(0);
    assert!(read.unchecked().scripts.is_empty());
    assert_eq!(read.states()[2].script(), Some("below/deep/a.rhai"));
}
