//! `demeanor check`, with text for people and JSON for programs.

use std::fmt::Write as _;

use serde_json::json;

use running::Folder;

mod running;

const RIGHT: &str = "initial = 'a'\n[states.a]\nfinal = true\n";
const WARNED: &str = "initial = 'a'\n[states.a]\nfinal = true\n[states.b]\nexits = [{ to = 'a' }]\n";
const WRONG: &str = "initial = 'a'\n[states.a]\nexits = [{ to = 'bb', when = 'near' }]\n[states.b]\nfinal = true\n";

#[test]
fn the_exit_code_says_how_bad_it_is() {
    let folder =
        Folder::new("exit_codes").with("right.toml", RIGHT).with("warned.toml", WARNED).with("wrong.toml", WRONG);
    for (arguments, code) in [
        (&["check", "right.toml"][..], 0),
        (&["check", "warned.toml"], 0),
        (&["check", "--deny-warnings", "right.toml"], 0),
        (&["check", "--deny-warnings", "warned.toml"], 1),
        (&["check", "right.toml", "wrong.toml"], 1),
        (&["check", "wrong.toml", "missing.toml"], 2),
        (&["check", "right.toml", "--vocabulary", "missing.json"], 2),
        (&["check"], 2),
        (&["check", "--wrong"], 2),
        (&["graph", "right.toml"], 0),
        (&["graph", "wrong.toml"], 1),
        (&["graph", "missing.toml"], 2),
        (&["graph", "right.toml", "--output", "no/such/folder/a.svg"], 2),
        (&["run", "right.toml"], 0),
        (&["run", "wrong.toml"], 1),
        (&["run", "missing.toml"], 2),
        (&["run", "right.toml", "--from", "b"], 2),
        (&["fmt", "right.toml", "--check"], 1),
        (&["fmt", "wrong.toml"], 1),
        (&["fmt", "missing.toml"], 2),
        (&["fmt", "right.toml", "--nested", "--flat"], 2),
        (&["fmt", "right.toml"], 0),
        (&["fmt", "right.toml", "--check"], 0),
    ] {
        assert_eq!(folder.run(arguments).0, code, "{arguments:?}");
    }
    for subcommand in ["check", "graph", "run", "fmt", "tests"] {
        let (code, told, _) = folder.run(&[subcommand, "--help"]);
        assert_eq!(code, 0);
        assert!(
            told.ends_with(
                "
Exit codes:
  0  success
  1  a definition has an error; with --deny-warnings, also if there is a warning;
     with `fmt --check`, also if a file is not formatted;
     with --fail-under, also if fewer exits were taken;
     with `run --tests`, also if the machine behaves differently;
     with `run --watch-properties`, also if a property does not hold
  2  the command could not be carried out: wrong arguments, or a file that cannot
     be read or written
"
            ),
            "{told}"
        );
    }
}

#[test]
fn what_is_found_is_one_json_document() {
    let folder = Folder::new("json").with("wrong.toml", WRONG).with("warned.toml", WARNED);
    let (code, told, complained) =
        folder.run(&["check", "--format", "json", "wrong.toml", "warned.toml", "missing.toml"]);
    assert_eq!((code, complained.as_str()), (2, ""));
    let document: serde_json::Value = serde_json::from_str(&told).unwrap();
    let place = |byte: usize, line: usize, column: usize| json!({ "byte": byte, "line": line, "column": column });
    let unreadable = document["files"][2]["unreadable"].as_str().unwrap();
    assert!(unreadable.starts_with("missing.toml: "), "{unreadable}");
    assert_eq!(
        document,
        json!({
            "version": 1,
            "files": [
                {
                    "file": "wrong.toml",
                    "errors": 1,
                    "warnings": 0,
                    "problems": [{
                        "code": "unknown-state",
                        "severity": "error",
                        "message": "unknown state `bb`",
                        "file": "wrong.toml",
                        "labels": [{ "start": place(41, 3, 17), "end": place(45, 3, 21), "text": "no state of this file" }],
                        "help": "did you mean `b`?",
                    }],
                },
                {
                    "file": "warned.toml",
                    "errors": 0,
                    "warnings": 1,
                    "machines": 1,
                    "states": 2,
                    "unchecked": {
                        "values": [], "actions": [],
                        "behaviors": [], "messages": [], "fields": [], "scripts": [], "rate": [],
                    },
                    "problems": [{
                        "code": "unreachable",
                        "severity": "warning",
                        "message": "state `b` can never be reached",
                        "file": "warned.toml",
                        "labels": [{ "start": place(46, 4, 9), "end": place(47, 4, 10), "text": "nothing leads here" }],
                        "help": "let an exit lead to it, remove it, or write `entry = true` if the game's code changes to it",
                    }],
                },
                { "file": "missing.toml", "unreadable": unreadable },
            ],
        })
    );
}

#[test]
fn a_file_that_is_not_utf_8_is_a_mistake_for_each_command_and_fmt_formats_the_others() {
    let latin = b"initial = 'a'\n[states.a]\nnote = 'caf\xe9'\nfinal = true\n";
    let folder = Folder::new("latin").with("latin.toml", latin).with("right.toml", RIGHT);
    for arguments in [&["check", "latin.toml"][..], &["run", "latin.toml"], &["fmt", "latin.toml", "right.toml"]] {
        let (code, _, complained) = folder.run(arguments);
        assert_eq!(code, 1, "{arguments:?}: {complained}");
        assert!(complained.starts_with("not-utf8\n") && complained.contains("[latin.toml:3:12]"), "{complained}");
    }
    assert_eq!(folder.run(&["fmt", "--check", "right.toml"]), (0, String::new(), String::new()));
}

#[test]
fn the_other_files_are_formatted_if_one_cannot_be_read() {
    let right = "initial = \"a\"\n\n[states.a]\nfinal = true\n";
    let folder = Folder::new("fmt_goes_on").with("one.toml", RIGHT).with("two.toml", right);
    let (code, told, complained) = folder.run(&["fmt", "--check", "missing.toml", "one.toml", "two.toml"]);
    assert_eq!((code, told.as_str()), (2, "one.toml\n"));
    assert!(complained.starts_with("error: missing.toml: "), "{complained}");
    assert_eq!(folder.run(&["fmt", "missing.toml", "one.toml"]).0, 2);
    assert_eq!(folder.run(&["fmt", "--check", "one.toml"]).0, 0);
}

#[test]
#[cfg(feature = "script")]
fn a_dash_is_standard_input() {
    let folder = Folder::new("stdin").with("low.rhai", "this.health < ;");
    let (code, told, complained) = folder.run_with(&["check", "-"], RIGHT);
    assert_eq!((code, told.as_str(), complained.as_str()), (0, "<stdin>: 1 state, 0 warnings\n", ""));
    let (code, told, _) = folder.run_with(&["graph", "-", "--format", "dot"], RIGHT);
    assert!(code == 0 && told.starts_with("digraph {"), "{told}");
    let (code, told, _) = folder.run_with(&["run", "-", "--seconds", "0"], RIGHT);
    assert!(code == 0 && told.contains("ends in a"), "{told}");
    // The script is beside the file, in the current folder.
    let file = "initial = 'a'\n[states.a]\nexits = [{ to = 'a', when = { script = 'low.rhai' } }]\n";
    let (code, told, complained) = folder.run_with(&["check", "-"], file);
    assert_eq!((code, told.as_str()), (1, "<stdin>: 1 error, 0 warnings\n"));
    assert!(complained.contains("[low.rhai:1:15]"), "{complained}");
}

#[test]
#[cfg(feature = "script")]
fn a_mistake_in_a_script_is_shown_in_the_script() {
    let folder = Folder::new("scripts").with("guard.rhai", "fn update() {\n    let speed = this.health +;\n}\n").with(
        "guard.toml",
        "initial = 'a'\n[states.a]\nscript = 'guard.rhai'\nexits = [{ to = 'a', when = { script = 'far.rhai' } }]\n",
    );
    let (code, told, complained) = folder.run(&["check", "guard.toml"]);
    assert_eq!((code, told.as_str()), (1, "guard.toml: 1 error, 0 warnings\n"));
    assert_eq!(
        complained.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim(),
        "script

  × a script of `guard.toml`: Unexpected ';'
   ╭─[guard.rhai:2:30]
 1 │ fn update() {
 2 │     let speed = this.health +;
   ·                              ┬
   ·                              ╰── here
 3 │ }
   ╰────"
    );
    let folder = folder.with("guard.rhai", "fn update() { }");
    let (code, told, _) = folder.run(&["check", "guard.toml"]);
    assert_eq!(
        (code, told.as_str()),
        (
            0,
            "guard.toml: 1 state, 0 warnings; the game's words are not checked without --vocabulary\nguard.toml: scripts not checked: far.rhai\n"
        )
    );
    let folder = folder.with("words.json", "{ \"scripts\": true }");
    let (code, told, complained) = folder.run(&["check", "guard.toml", "--vocabulary", "words.json"]);
    assert_eq!((code, told.as_str()), (1, "guard.toml: 1 error, 0 warnings\n"));
    assert!(complained.contains("× script `far.rhai`: No such file or directory"), "{complained}");
}

#[test]
fn how_many_problems_are_not_shown_is_said() {
    let mut warned = String::from(RIGHT);
    let mut wrong = String::from("initial = 'a'\n");
    for i in 0..300 {
        writeln!(warned, "[states.s{i}]\nfinal = true").unwrap();
        writeln!(wrong, "[states.s{i}]\nexits = [{{ to = 't{i}00000', after = 0 }}]").unwrap();
    }
    let folder = Folder::new("many").with("warned.toml", &warned).with("wrong.toml", &wrong);
    let (code, told, _) = folder.run(&["check", "warned.toml"]);
    assert_eq!((code, told.as_str()), (0, "warned.toml: 301 states, 300 warnings, 299 of them not shown\n"));
    // If there are errors, warnings are left out.
    let (code, told, complained) = folder.run(&["check", "wrong.toml"]);
    assert_eq!((code, told.as_str()), (1, "wrong.toml: 301 errors, 300 warnings, 600 of them not shown\n"));
    assert!(!complained.contains('⚠'), "{complained}");
}

#[test]
fn control_characters_are_escaped_and_reports_are_short() {
    let long = "x".repeat(1_000_000);
    let folder = Folder::new("controls")
        .with("long.toml", &format!("initial = '{long}'\n[states.a]\nexits = [{{ to = 'a', on = 'hit', when = '{long} < 3 and' }}]\n"))
        .with("nul.toml", "initial = \"a\"\n[states.a]\nbehavior = \"b\\u001b[31m\"\nexits = [{ to = \"a\u{1b}[31m\0\", on = \"x\" }]\n");
    for file in ["long.toml", "nul.toml"] {
        let (code, told, complained) = folder.run(&["check", file]);
        assert_eq!(code, 1);
        assert!(told.len() + complained.len() < 5_000, "{}", complained.len());
        assert!(!format!("{told}{complained}").contains(|c: char| c.is_control() && c != '\n'), "{complained:?}");
    }
    let unchecked =
        "initial = \"a\"\n[states.a]\nbehavior = \"b\\u001b[31m\"\nexits = [{ to = \"a\", on = \"hit\\u0007\" }]\n";
    let folder = folder.with("unchecked.toml", unchecked);
    let (_, told, _) = folder.run(&["check", "unchecked.toml"]);
    assert_eq!(
        told,
        "unchecked.toml: 1 state, 0 warnings; the game's words are not checked without --vocabulary\n\
         unchecked.toml: behaviors not checked: b\\u{1b}[31m\n\
         unchecked.toml: messages not checked: hit\\u{7}\n"
    );
    for arguments in [&["run", "unchecked.toml", "--why"][..], &["graph", "unchecked.toml"]] {
        let (_, told, _) = folder.run(arguments);
        assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told:?}");
    }
}

#[test]
fn the_page_shows_the_document_as_it_is() {
    let page = include_str!("../../../docs/definitions.md");
    let (_, shown) = page.split_once("```json\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
    let folder = Folder::new("page").with("guard.toml", WRONG);
    let (_, told, _) = folder.run(&["check", "--format", "json", "guard.toml"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), shown);
}

#[cfg(not(feature = "lsp"))]
#[test]
fn without_its_feature_the_language_server_says_how_to_install_it() {
    let (code, _, complained) = Folder::new("no_lsp").run(&["lsp"]);
    assert_eq!(code, 2);
    assert!(complained.contains("--features lsp"), "{complained}");
}

/// A proof that ignores a script would be wrong.
#[cfg(not(feature = "script"))]
#[test]
fn without_its_feature_a_script_is_an_error_that_says_how_to_turn_scripts_on() {
    let file = "initial = 'a'\n[states.a]\nscript = 'a.rhai'\n";
    let (code, _, complained) = Folder::new("no_scripts").with("a.toml", file).run(&["check", "a.toml"]);
    assert_eq!(code, 1);
    assert!(complained.contains("the feature `script` turns them on"), "{complained}");
}
