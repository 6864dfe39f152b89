//! Definitions from files that the game has read itself.
#![cfg(feature = "definition")]

use std::path::PathBuf;

#[cfg(feature = "script")]
use demeanor::StateMachine;
use demeanor::definition::{Definitions, Files, Vocabulary};

use crate::guard::Guard;

#[cfg(feature = "script")]
fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new().field("speed", |guard: &Guard, _| guard.speed, |guard, speed| guard.speed = speed)
}

#[cfg(not(feature = "script"))]
fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new().value("speed", |guard: &Guard, _| guard.speed)
}

const PATROL: &str = "
initial = 'patrol'
[states.patrol]
machine = 'rounds/short.fsm.toml'
script = './scripts/walk.rhai'
exits = [{ to = 'rest', when = { script = 'scripts/../tired.rhai' } }]
[states.rest]
enter_when = { script = 'may_rest.rhai' }
final = true
";

const ROUND: &str = "
initial = 'walk'
[states.walk]
script = 'scripts/round.rhai'
exits = [{ to = 'look', after = 2 }]
[states.look]
machine = 'other.fsm.toml#second'
";

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn problems(files: Files) -> Vec<String> {
    let problems = Definitions::from_files(files, &vocabulary()).unwrap_err();
    problems.iter().map(demeanor::definition::Problem::located).collect()
}

#[test]
fn what_is_missing_is_what_the_file_names_and_what_the_linked_files_name() {
    let mut files = Files::new("posts/guard.fsm.toml", PATROL);
    let named = ["may_rest.rhai", "rounds/short.fsm.toml", "scripts/walk.rhai", "tired.rhai"];
    assert_eq!(files.missing(), paths(&named));
    files.insert("rounds/short.fsm.toml", Ok::<_, String>(ROUND));
    // What a linked file names is looked for from that file's folder.
    let named =
        ["may_rest.rhai", "rounds/other.fsm.toml", "rounds/scripts/round.rhai", "scripts/walk.rhai", "tired.rhai"];
    assert_eq!(files.missing(), paths(&named));
    for path in files.missing() {
        files.insert(path, Err::<Vec<u8>, _>("the disk is gone"));
    }
    assert_eq!(files.missing(), paths(&[]));
}

#[test]
fn names_that_lead_out_of_the_folder_are_not_to_be_read() {
    let text = "
        initial = 'a'
        [states.a]
        machine = '../round.fsm.toml'
        script = '/etc/passwd'
        exits = [{ to = 'a', when = { script = 'scripts/../../secret.rhai' } }]
    ";
    assert_eq!(Files::new("posts/guard.fsm.toml", text).missing(), paths(&[]));
}

#[test]
fn a_linked_file_is_one_of_those_that_were_read() {
    let text = "initial = 'a'\nstates.a.machine = 'rounds/short.fsm.toml'\n";
    let mut files = Files::new("posts/guard.fsm.toml", text);
    assert_eq!(
        problems(files.clone()),
        ["posts/guard.fsm.toml:2:20: error: `rounds/short.fsm.toml` cannot be linked: it was not read"]
    );
    files.insert("rounds/short.fsm.toml", Ok::<_, String>("initial = 'walk'\nstates.walk.final = true\n"));
    let definitions = Definitions::from_files(files, &vocabulary()).unwrap();
    assert_eq!(definitions.first().initial().name(), "a.walk");
}

#[test]
fn a_reload_takes_the_files_that_it_is_given_and_one_with_a_mistake_changes_nothing() {
    let text = "initial = 'a'\nstates.a.machine = 'round.fsm.toml'\n";
    let with = |round: &str| {
        let mut files = Files::new("guard.fsm.toml", text);
        files.insert("round.fsm.toml", Ok::<_, String>(round));
        files
    };
    let mut definitions =
        Definitions::from_files(with("initial = 'x'\nstates.x.final = true\n"), &vocabulary()).unwrap();
    let guard = definitions.first().clone();
    definitions.reload_files(with("initial = 'y'\nstates.y.final = true\n")).unwrap();
    assert_eq!(guard.initial().name(), "a.y");
    assert!(definitions.reload_files(with("initial = 'z'\n")).is_err());
    assert_eq!(guard.initial().name(), "a.y");
    // The text alone is reloaded with the files that there are.
    guard.reload("initial = 'b'\nstates.b.machine = 'round.fsm.toml'\n").unwrap();
    assert_eq!(guard.initial().name(), "b.y");
    assert_eq!(definitions.first(), &guard);
    assert_eq!(definitions.get(""), Some(&guard));
}

#[test]
fn machines_are_named_in_the_order_of_the_file() {
    let machine = |name: &str| format!("[machines.{name}]\ninitial = 'a'\nstates.a.final = true\n");
    let files = Files::new("creatures.fsm.toml", ["zombie", "imp", "baron"].map(machine).concat());
    assert_eq!(files.machines().unwrap(), ["zombie", "imp", "baron"]);
    let files = Files::new("guard.fsm.toml", "initial = 'a'\nstates.a.final = true\n");
    assert_eq!(files.machines().unwrap(), [""]);
    // What is wrong apart from the TOML is found later.
    let files = Files::new("creatures.fsm.toml", "[machines.imp]\ninitial = 'nowhere'\n");
    assert_eq!(files.machines().unwrap(), ["imp"]);
    let error = Files::new("creatures.fsm.toml", "[machines.imp\n").machines().unwrap_err();
    assert!(error.to_string().starts_with("creatures.fsm.toml:1:"), "{error}");
    let error = Files::new("creatures.fsm.toml", *b"\xff").machines().unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[cfg(feature = "script")]
mod scripts {
    use super::{Definitions, Files, Guard, StateMachine, problems, vocabulary};

    const LIMP: &str = "initial = 'limp'\nstates.limp.script = 'scripts/../limp.rhai'\n";

    fn limping(script: Result<&str, &str>) -> Files {
        let mut files = Files::new("posts/guard.fsm.toml", LIMP);
        files.insert("limp.rhai", script);
        files
    }

    fn speed_of(machine: &mut StateMachine<Guard>) -> u64 {
        let mut guard = Guard::default();
        machine.update(&mut guard, &mut 0.0);
        guard.speed.to_bits()
    }

    #[test]
    fn scripts_are_those_that_were_read_and_those_of_a_reload() {
        let files = limping(Ok("fn update() { this.speed = 2.0; }"));
        let mut definitions = Definitions::from_files(files, &vocabulary()).unwrap();
        let mut machine = definitions.first().machine();
        machine.start(&mut Guard::default(), &mut 0.0);
        assert_eq!(speed_of(&mut machine), 2_f64.to_bits());
        definitions.reload_files(limping(Ok("fn update() { this.speed = 3.0; }"))).unwrap();
        assert_eq!(speed_of(&mut machine), 3_f64.to_bits());
        assert!(definitions.reload_files(limping(Ok("fn update() {"))).is_err());
        assert_eq!(speed_of(&mut machine), 3_f64.to_bits());
    }

    #[test]
    fn a_mistake_in_a_script_is_shown_where_the_script_is() {
        let lines = problems(limping(Ok("fn update() { this.speed = ; }")));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("posts/scripts/../limp.rhai:1:28: error: a script of `posts/guard.fsm.toml`: "),
            "{lines:?}"
        );
    }

    #[test]
    fn a_script_that_cannot_be_read_is_a_mistake_that_says_why() {
        let script = "posts/guard.fsm.toml:2:22: error: script `scripts/../limp.rhai`: ";
        let why = |files: Files| problems(files)[0].strip_prefix(script).map(ToOwned::to_owned).unwrap();
        assert_eq!(why(limping(Err("the disk is gone"))), "the disk is gone");
        assert_eq!(why(Files::new("posts/guard.fsm.toml", LIMP)), "it was not read");
        let mut files = Files::new("posts/guard.fsm.toml", LIMP);
        files.insert("limp.rhai", Ok::<_, String>(*b"\xff"));
        assert_eq!(why(files), "it is not UTF-8 text");
        let mut files = Files::new("posts/guard.fsm.toml", LIMP);
        files.insert("limp.rhai", Ok::<_, String>(vec![b' '; 10_000_001]));
        assert_eq!(why(files), "it is longer than 10 MB");
    }

    #[test]
    fn a_script_outside_of_the_folder_is_refused_even_if_it_was_read() {
        let text = "initial = 'limp'\nstates.limp.script = '../limp.rhai'\n";
        let mut files = Files::new("posts/guard.fsm.toml", text);
        files.insert("../limp.rhai", Ok::<_, String>("fn update() { }"));
        assert_eq!(
            problems(files),
            ["posts/guard.fsm.toml:2:22: error: script `../limp.rhai`: it leads out of the definition's folder"]
        );
    }
}
