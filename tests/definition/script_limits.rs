//! Scripts that do too much, call what is not there, or name files that are none of theirs.
#![cfg(feature = "script")]
#![expect(clippy::float_cmp, reason = "what a script writes is exact")]

use std::time::Duration;

use allocation_counter::measure;
use demeanor::definition::{Definition, ScriptBudget};

use crate::captured_log::log_lines;
use crate::guard::{Guard, current, parsed};
use crate::script::{FILE, ann, definition, errors, failure, machine, vocabulary};
use crate::troop::{Alike, in_all_ways};

#[test]
fn a_call_that_does_too_much_is_cut_off() {
    let script = "fn update() { this.speed = 1.0; loop { } }";
    for (budget, why) in [
        (ScriptBudget::default(), "it takes more than 100000 operations"),
        (ScriptBudget::default().call(500), "it takes more than 500 operations"),
        (ScriptBudget::new(500, 400), "the state's scripts take more than 400 operations together"),
        (ScriptBudget::new(0, 0), "it takes more than 0 operations"),
        (ScriptBudget::default().real_time(Duration::ZERO), "it runs longer than 0ns"),
    ] {
        let mut guard = ann();
        let machine = definition(FILE, script, budget).machine();
        let lines = errors(|| { machine }.update(&mut guard, &mut 0.0));
        assert_eq!(guard.speed, 0.0);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("ERROR: Ann: script a.rhai, function update, in state a: "), "{lines:?}");
        assert!(lines[0].ends_with(why), "{lines:?}");
    }
}

#[test]
fn a_script_cannot_catch_that_it_is_cut_off() {
    let script = "fn update() { try { loop { } } catch { } this.speed = 1.0; }";
    let definition = definition(FILE, script, ScriptBudget::default().real_time(Duration::ZERO));
    let mut guard = ann();
    definition.machine().update(&mut guard, &mut 0.0);
    assert_eq!(guard.speed, 0.0);
    assert!(failure(script).ends_with("it takes more than 100000 operations"));
}

#[test]
fn a_script_that_is_cut_off_again_and_again_is_stopped_for_its_owner_until_it_leaves_the_state() {
    let script = "fn update() { if this.alarm { loop { } } this.speed += 1.0; }";
    let definition = definition(FILE, script, ScriptBudget::default());
    let (mut hung, mut well) = (Guard { is_alarmed: true, ..ann() }, ann());
    let (mut one, mut other) = (definition.machine(), definition.machine());
    let lines = errors(|| {
        for _ in 0..10 {
            one.update(&mut hung, &mut 0.0);
            other.update(&mut well, &mut 0.0);
        }
    });
    assert_eq!((hung.speed, well.speed), (0.0, 10.0));
    let said = "ERROR: Ann: script a.rhai, function update, in state a: ";
    assert_eq!(
        lines,
        [
            format!("{said}it takes more than 100000 operations"),
            format!("{said}it takes more than 100000 operations (2 times)"),
            format!("{said}it has been cut off 3 times: it is stopped for this owner until it leaves the state"),
        ]
    );
    // It stays stopped where it would not hang any more, and runs again in the state's next visit.
    hung.is_alarmed = false;
    one.update(&mut hung, &mut 0.0);
    assert_eq!(hung.speed, 0.0);
    one.change_state(&mut hung, definition.state("b").unwrap(), &mut 0.0);
    one.change_state(&mut hung, definition.state("a").unwrap(), &mut 0.0);
    one.update(&mut hung, &mut 0.0);
    assert_eq!(hung.speed, 1.0);
}

#[test]
fn owners_of_a_batch_are_stopped_as_each_would_be_alone() {
    let file = "initial = 'a'\n[states.a]\nscript = 'a.rhai'\nexits = [{ to = 'b', when = { script = 'w.rhai' } }]\n[states.b]\nfinal = true\n";
    let vocabulary = vocabulary(ScriptBudget::default())
        .script("a.rhai", "fn update() { if this.alarm && this.health > 5.0 { loop { } } this.speed += 1.0; }")
        .script("w.rhai", "if this.alarm { while true { } } this.speed > 4.0");
    let definition = Definition::parse(file, &vocabulary).unwrap();
    let guards: Vec<_> = (0..10_u8).map(|i| Guard { is_alarmed: i % 2 == 0, health: f64::from(i), ..ann() }).collect();
    let ticks: Vec<_> = (0..8_u8).map(f64::from).collect();
    let ends = in_all_ways(&definition, &definition.initial(), &guards, &ticks);
    // Conditions count with the rest: after three, nothing of the state's scripts is run for the owner.
    assert_eq!(
        ends.iter().map(|(guard, _)| guard.speed).collect::<Vec<_>>(),
        [3.0, 5.0, 3.0, 5.0, 3.0, 5.0, 0.0, 5.0, 0.0, 5.0]
    );
}

#[test]
fn a_condition_of_an_entry_that_is_cut_off_for_one_owner_holds_for_others() {
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b' }]\n[states.b]\nfinal = true\nenter_when = { script = 'a.rhai' }\n";
    let definition = definition(file, "if this.alarm { loop { } } true", ScriptBudget::default());
    let (mut machine, mut hung) = (definition.machine(), Guard { is_alarmed: true, ..ann() });
    let lines = errors(|| (0..10).for_each(|_| machine.update(&mut hung, &mut 0.0)));
    assert_eq!(current(&machine), "a");
    assert_eq!(lines.len(), 4, "the first, the second, the fourth and the eighth: {lines:?}");
    // After three owners for which it was stopped, the condition once held for no owner.
    let ends = [true, true, false].map(|is_alarmed| {
        let mut machine = definition.machine();
        machine.update(&mut Guard { is_alarmed, ..ann() }, &mut 0.0);
        current(&machine)
    });
    assert_eq!(ends, ["a", "a", "b"]);
    hung.is_alarmed = false;
    machine.update(&mut hung, &mut 0.0);
    assert_eq!(current(&machine), "b");
}

#[test]
fn scripts_of_a_state_share_the_operations_of_a_callback() {
    let file = "initial = 'a'\n[states.a]\nscript = 'a.rhai'\nexits = [\
        { to = 'b', when = { script = 'false.rhai' } }, { to = 'c', when = { script = 'true.rhai' } }]\n\
        [states.b]\nfinal = true\n[states.c]\nfinal = true\n";
    // About 300 operations each.
    let count = "let sum = 0; for i in 0..100 { sum += i; }";
    let ends_in = |most: u64| {
        let vocabulary = vocabulary(ScriptBudget::default().callback(most))
            .script("a.rhai", format!("fn update() {{ {count} this.speed += 1.0; }}"))
            .script("false.rhai", format!("{count} false"))
            .script("true.rhai", format!("{count} true"));
        let mut machine = parsed(file, &vocabulary).machine();
        let mut guard = ann();
        let lines = errors(|| machine.update(&mut guard, &mut 0.0));
        let why = format!("the state's scripts take more than {most} operations together");
        assert!(lines.iter().all(|line| line.starts_with("ERROR: Ann: script ")), "{lines:?}");
        (current(&machine), guard.speed, lines.iter().filter(|line| line.ends_with(&why)).count())
    };
    assert_eq!(ends_in(2_000), ("c".to_owned(), 1.0, 0));
    assert_eq!(ends_in(750), ("a".to_owned(), 1.0, 1));
    assert_eq!(ends_in(450), ("a".to_owned(), 1.0, 2));
    assert_eq!(ends_in(150), ("a".to_owned(), 0.0, 3));
}

#[test]
fn what_is_printed_goes_to_the_log_and_is_limited() {
    let script = "fn update() { for i in 0..20 { print(`${i}\\n`); } }";
    let mut machine = machine(script);
    let mut guard = ann();
    let lines = log_lines(|| (0..20).for_each(|_| machine.update(&mut guard, &mut 0.0)));
    assert_eq!(lines.len(), 101, "{lines:?}");
    assert_eq!(lines[0], "INFO demeanor::definition: Ann: script a.rhai: 0\\n");
    assert_eq!(lines[8], "INFO demeanor::definition: Ann: script a.rhai: 0\\n", "eight of each run are shown");
    assert_eq!(lines[100], "INFO demeanor::definition: script a.rhai has printed 100 lines: no more are shown");
}

#[test]
fn an_array_and_a_map_are_printed_without_what_is_within_their_elements() {
    let mut machine = machine("fn update() { print([1, \"a\", [2], #{ b: 3 }]); print(#{ a: [1], b: true }); }");
    let lines = log_lines(|| machine.update(&mut ann(), &mut 0.0));
    let shown: Vec<_> = lines.iter().map(|line| line.rsplit("a.rhai: ").next().unwrap()).collect();
    assert_eq!(shown, ["[1, a, [..], #{..}]", "#{a: [..], b: true}"]);
}

#[test]
fn an_error_is_shown_without_control_characters_and_not_too_long() {
    let found = failure("fn update() { let s = \"\\n\\u0000\"; for i in 0..8 { s += s; } throw s; }");
    assert!(found.len() < 900 && !found.contains(['\n', '\0']), "{found}");
}

#[test]
fn what_is_written_to_has_to_be_a_value_that_can_be_written() {
    // What can be seen in the text is found when the file is loaded.
    let written = |name: &str| failure(&format!("fn update() {{ let name = \"{name}\"; this[name] = 5; }}"));
    let place = "line 1, column";
    assert!(
        written("sped").ends_with(": `sped` is not a value of the game: did you mean `speed`?"),
        "{}",
        written("sped")
    );
    assert!(written("other").starts_with(place) && written("other").ends_with(": `other` is not a value of the game"));
    assert_eq!(
        failure("fn update() { this.speed = \"a\"; }"),
        "line 1, column 20: `speed` is a number, not of type string"
    );
    assert_eq!(failure("fn update() { this.remove(\"speed\"); }"), "`speed` has been taken out of `this`");
}

#[test]
fn constants_outside_of_the_functions_are_known_in_all_of_them() {
    let script = "const FAST = 3.0;\nconst FASTER = FAST * 2.0;\n\
                  fn faster() { FASTER }\nfn update() { this.speed = if this.alarm { faster() } else { FAST }; }";
    let mut machine = machine(script);
    let mut guard = ann();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.speed, 3.0);
    guard.is_alarmed = true;
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.speed, 6.0);
}

#[test]
fn a_local_variable_hides_a_constant() {
    let script = "const X = 3.0;
        fn same(X) { X }
        fn update() { this.speed = X; for X in 0..5 { this.speed += X; } let X = 7.0; this.speed += X + same(100); }";
    let mut machine = machine(script);
    let mut guard = ann();
    machine.update(&mut guard, &mut 0.0);
    assert_eq!(guard.speed, 120.0);
}

#[test]
fn where_a_behavior_and_a_script_both_ask_for_a_change_the_behavior_counts() {
    let file = "initial = 'a'\n[states.a]\nbehavior = 'ask'\nscript = 'a.rhai'\n[states.b]\nfinal = true\n";
    let definition =
        definition(file, "fn update() { this.speed = 1.0; change_state(\"b\"); }", ScriptBudget::default());
    let mut guards = Alike::start(&definition, &Guard { is_hungry: true, ..ann() });
    assert_eq!(guards.update(0.0), "ByCode");
    guards.each(|troop, who| assert_eq!(troop.guard(who).speed, 1.0));
}

#[test]
fn where_a_script_asks_for_a_change_no_exit_is_taken() {
    let file = "initial = 'a'\n[states.a]\nscript = 'a.rhai'\nexits = [{ to = 'c' }]\n[states.b]\nfinal = true\n[states.c]\nfinal = true\n";
    let definition = definition(file, "fn update() { change_state(\"b\"); }", ScriptBudget::default());
    let mut machine = definition.machine();
    machine.update(&mut ann(), &mut 0.0);
    assert_eq!(current(&machine), "b");
}

#[test]
fn a_game_does_not_grow_when_scripts_are_reloaded() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("script-reloaded");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("guard.toml"), FILE.replace("a.rhai", "own.rhai")).unwrap();
    let reload = |nth: usize| {
        let text = format!(
            "const C{nth} = [{nth}];\nfn f{nth}(x{nth}) {{ C{nth} }}\nfn update() {{ let y = f{nth}(\"{nth}\"); print(y); }}"
        );
        std::fs::write(folder.join("own.rhai"), text).unwrap();
        let loaded = Definition::load(folder.join("guard.toml"), &vocabulary(ScriptBudget::default())).unwrap();
        let lines = log_lines(|| {
            loaded.reload_from(folder.join("guard.toml")).unwrap();
            loaded.machine().update(&mut ann(), &mut 0.0);
        });
        assert!(lines.last().is_some_and(|line| line.ends_with(&format!("own.rhai: [{nth}]"))), "{lines:?}");
    };
    // The engine keeps some hundred names.
    (0..300).for_each(reload);
    let growth = measure(|| (300..500).for_each(reload)).bytes_current;
    assert!(growth < 2_500, "{growth}");
}

#[cfg(unix)]
mod files {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;

    use demeanor::definition::{Definition, LoadError};

    use super::{FILE, ScriptBudget, vocabulary};

    const SCRIPT: &str = "fn update() { change_state(\"b\") }";

    /// An empty folder with a definition whose script has this name.
    fn folder(test: &str, script: &str) -> PathBuf {
        let outer = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("script-{test}"));
        let _ = fs::remove_dir_all(&outer);
        let folder = outer.join("inner");
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(outer.join("secret.rhai"), SCRIPT).unwrap();
        fs::write(folder.join("below/a.rhai"), SCRIPT).unwrap();
        fs::write(folder.join("guard.toml"), FILE.replace("a.rhai", script)).unwrap();
        folder
    }

    /// What is wrong with the script of the folder's definition.
    fn problem(folder: &std::path::Path) -> Option<String> {
        let error =
            Definition::load(folder.join("guard.toml"), &vocabulary(ScriptBudget::default())).err()?.to_string();
        Some(error.split_once("`: ").map(|(_, why)| why.to_owned()).unwrap_or(error))
    }

    fn make_pipe(at: &std::path::Path) {
        assert!(Command::new("mkfifo").arg(at).status().expect("there is `mkfifo`").success());
    }

    #[test]
    fn scripts_are_files_in_the_folder_of_the_definition_or_below_it() {
        assert_eq!(problem(&folder("below", "below/a.rhai")), None);
        let linked = folder("linked", "b.rhai");
        symlink("below/a.rhai", linked.join("b.rhai")).unwrap();
        assert_eq!(problem(&linked), None);
    }

    #[test]
    fn a_script_outside_of_the_folder_is_refused_however_it_is_named() {
        let why = Some("it leads out of the definition's folder".to_owned());
        assert_eq!(problem(&folder("dots", "../secret.rhai")), why);
        assert_eq!(problem(&folder("absolute", "/etc/passwd")), why);
        let linked = folder("symlink", "b.rhai");
        symlink("../secret.rhai", linked.join("b.rhai")).unwrap();
        assert_eq!(problem(&linked), why);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let why = Some("it is not a file".to_owned());
        assert_eq!(problem(&folder("folder", "below")), why);
        let piped = folder("pipe", "pipe.rhai");
        make_pipe(&piped.join("pipe.rhai"));
        assert_eq!(problem(&piped), why);
        let device = folder("device", "zero.rhai");
        symlink("/dev/zero", device.join("zero.rhai")).unwrap();
        assert_eq!(problem(&device), Some("it leads out of the definition's folder".to_owned()));
    }

    #[test]
    fn a_script_that_is_too_long_is_refused() {
        let folder = folder("long", "long.rhai");
        fs::write(folder.join("long.rhai"), vec![b' '; 10_000_001]).unwrap();
        assert_eq!(problem(&folder), Some("it is longer than 10 MB".to_owned()));
    }

    #[test]
    fn a_definition_that_is_a_pipe_or_a_device_is_refused() {
        let folder = folder("definition", "below/a.rhai");
        make_pipe(&folder.join("pipe.toml"));
        for path in [folder.join("pipe.toml"), "/dev/zero".into()] {
            let error = Definition::load(&path, &vocabulary(ScriptBudget::default())).unwrap_err();
            assert!(matches!(error, LoadError::Io { .. }));
            assert_eq!(error.to_string(), format!("{}: it is not a file", path.display()));
        }
    }
}
