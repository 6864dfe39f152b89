//! Problems appear while the user types, and disappear when they are fixed.

use demeanor::definition::Words;
use serde_json::json;

use crate::editor::{Editor, WORDS};

const FILE: &str = "initial = \"aim\"\n\n[states.aim]\nexits = [{ to = \"rest\", when = \"helth < 20\" }]\n";

#[test]
fn the_server_says_what_it_can_do() {
    let editor = Editor::new();
    assert_eq!(
        editor.agreed,
        json!({
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": { "openClose": true, "change": 2, "save": true },
                "codeActionProvider": true,
                "completionProvider": { "triggerCharacters": ["\"", "'", ".", "(", "[", "{", "="] },
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "renameProvider": { "prepareProvider": true },
                "documentSymbolProvider": true,
            },
            "serverInfo": { "name": "demeanor", "version": env!("CARGO_PKG_VERSION") },
        })
    );
    editor.close();
}

#[test]
fn problems_are_said_when_a_file_is_opened() {
    let editor = Editor::new();
    editor.open("guard.toml", FILE);
    let (method, told) = editor.told();
    assert_eq!(method, "textDocument/publishDiagnostics");
    assert_eq!(
        told,
        json!({
            "uri": editor.uri("guard.toml"),
            "version": 1,
            "diagnostics": [
                {
                    "range": { "start": { "line": 3, "character": 16 }, "end": { "line": 3, "character": 22 } },
                    "severity": 1,
                    "code": "unknown-state",
                    "source": "demeanor",
                    "message": "unknown state `rest`\ndefine it: `[states.rest]`",
                },
                {
                    "range": { "start": { "line": 3, "character": 32 }, "end": { "line": 3, "character": 37 } },
                    "severity": 1,
                    "code": "unknown-value",
                    "source": "demeanor",
                    "message": "unknown value `helth`\ndid you mean `health`?",
                },
            ],
        })
    );
    editor.close();
}

#[test]
fn problems_go_when_they_are_mended_by_small_changes() {
    let editor = Editor::new();
    editor.open("guard.toml", FILE);
    assert_eq!(editor.problems_in_short("guard.toml").len(), 2);
    let at = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    editor.change("guard.toml", 2, &json!([{ "range": at(3, 32, 37), "text": "health" }]));
    assert_eq!(editor.problems_in_short("guard.toml"), ["3:16-3:22 unknown-state"]);
    let changes = json!([
        { "range": at(4, 0, 0), "text": "\n[states.rest]\n" },
        { "range": at(6, 0, 0), "text": "final = true" },
    ]);
    editor.change("guard.toml", 3, &changes);
    assert_eq!(editor.problems("guard.toml"), json!([]));
    editor.close();
}

#[test]
fn the_other_place_of_a_problem_is_told() {
    let editor = Editor::new();
    editor.open("guard.toml", "initial = 'a'\ninitial = 'a'\nstates.a.final = true\n");
    let problems = editor.problems("guard.toml");
    assert_eq!(
        problems[0]["relatedInformation"],
        json!([{
            "location": {
                "uri": editor.uri("guard.toml"),
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 7 } },
            },
            "message": "first given here",
        }])
    );
    editor.close();
}

#[test]
fn columns_are_counted_in_utf_16_unless_utf_8_is_offered() {
    let file = "initial = 'a'\n[states.a]\nexits = [{ to = '\u{1f600}\u{e4}' }]\n";
    let editor = Editor::new();
    editor.open("guard.toml", file);
    assert_eq!(editor.problems_in_short("guard.toml"), ["2:16-2:21 unknown-state"]);
    editor.close();

    let offered = json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } });
    let editor = Editor::with(None, &offered, &json!(null));
    assert_eq!(editor.agreed["capabilities"]["positionEncoding"], "utf-8");
    editor.open("guard.toml", file);
    assert_eq!(editor.problems_in_short("guard.toml"), ["2:16-2:24 unknown-state"]);
    editor.close();
}

#[test]
fn problems_of_a_linked_file_are_said_in_that_file_until_they_are_mended() {
    let editor = Editor::new();
    let round = "initial = 'walk'\n[states.walk]\nexits = [{ to = 'hom' }]\n[states.home]\nfinal = true\n";
    editor.write("rounds/round.toml", round);
    editor.open("guard.toml", "initial = 'a'\n[states.a]\nmachine = 'rounds/round.toml'\n");
    assert_eq!(editor.problems_in_short("guard.toml"), ["2:10-2:29 link"]);
    assert_eq!(editor.problems_in_short("rounds/round.toml"), ["2:16-2:21 unknown-state"]);

    // Fixed in the editor, without being saved.
    editor.open("rounds/round.toml", &round.replace("'hom'", "'home'"));
    assert_eq!(editor.problems("guard.toml"), json!([]));
    assert_eq!(editor.problems("rounds/round.toml"), json!([]));

    // Closed without being saved.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": editor.uri("rounds/round.toml") } }));
    assert_eq!(editor.problems("rounds/round.toml"), json!([]));
    assert_eq!(editor.problems_in_short("guard.toml"), ["2:10-2:29 link"]);
    assert_eq!(editor.problems_in_short("rounds/round.toml"), ["2:16-2:21 unknown-state"]);

    // Fixed by another program.
    editor.write("rounds/round.toml", &round.replace("'hom'", "'home'"));
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(editor.problems("guard.toml"), json!([]));
    assert_eq!(editor.problems("rounds/round.toml"), json!([]));
    editor.close();
}

#[test]
fn a_closed_file_has_no_problems() {
    let editor = Editor::new();
    editor.open("guard.toml", FILE);
    assert_eq!(editor.problems_in_short("guard.toml").len(), 2);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": editor.uri("guard.toml") } }));
    assert_eq!(editor.problems("guard.toml"), json!([]));
    editor.close();
}

#[test]
fn a_toml_file_that_is_no_definition_is_left_alone() {
    let editor = Editor::new();
    for (file, text) in [
        ("Cargo.toml", "[package]\nname = 'game'\ninitial = 'aim'\n"),
        ("notes.toml", "text = '''\ninitial = 'aim'\n'''\n"),
    ] {
        editor.open(file, text);
        assert_eq!(editor.problems(file), json!([]), "{file}");
    }
    editor.open("guard.toml", "version = 1\ninitial = 'aim'\n");
    assert_ne!(editor.problems("guard.toml"), json!([]));
    editor.open("new.fsm.toml", "");
    assert_eq!(editor.problems_in_short("new.fsm.toml"), ["0:0-0:0 empty"]);
    editor.close();
}

#[test]
fn words_come_from_the_file_beside_and_are_read_again_when_it_changes() {
    let editor = Editor::with(None, &json!({}), &json!(null));
    editor.open("creatures/guard.toml", FILE);
    assert_eq!(editor.problems_in_short("creatures/guard.toml"), ["3:16-3:22 unknown-state"]);
    editor.write("vocabulary.json", WORDS);
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let both = ["3:16-3:22 unknown-state", "3:32-3:37 unknown-value"];
    assert_eq!(editor.problems_in_short("creatures/guard.toml"), both);
    editor.close();
}

#[test]
fn words_come_from_the_file_that_the_editor_names() {
    let editor = Editor::with(Some(Words::default()), &json!({}), &json!({ "vocabulary": "words.json" }));
    editor.write("words.json", WORDS);
    editor.open("guard.toml", FILE);
    assert_eq!(editor.problems_in_short("guard.toml").len(), 2);
    editor.close();
}

#[test]
fn a_vocabulary_that_cannot_be_read_is_said_once() {
    let editor = Editor::with(None, &json!({}), &json!({ "vocabulary": "words.json" }));
    editor.write("words.json", "{ \"valves\": {} }");
    editor.open("guard.toml", FILE);
    assert_eq!(editor.problems_in_short("guard.toml"), ["3:16-3:22 unknown-state"]);
    let (method, told) = editor.told();
    assert_eq!(method, "window/showMessage");
    let message = told["message"].as_str().unwrap();
    let begin = format!(
        "{}: it is not a vocabulary that a game has written: unknown field `valves`",
        editor.path("words.json").display()
    );
    assert!(message.starts_with(&begin), "{message}");
    editor.replace("guard.toml", 2, FILE);
    assert_eq!(editor.told().0, "textDocument/publishDiagnostics");
    editor.replace("guard.toml", 3, FILE);
    assert_eq!(editor.told().0, "textDocument/publishDiagnostics");
    editor.close();
}

#[test]
fn an_editor_that_can_is_asked_to_tell_of_changed_files() {
    let can = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let editor = Editor::with(None, &can, &json!(null));
    let (method, params) = editor.told();
    assert_eq!(method, "client/registerCapability");
    let globs = ["**/*.toml", "**/*.rhai", "**/*.json"].map(|glob| json!({ "globPattern": glob }));
    assert_eq!(
        params,
        json!({ "registrations": [{
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": globs },
        }] })
    );
    editor.close();
}

#[test]
fn problems_of_a_script_are_said_in_the_script() {
    let editor = Editor::new();
    editor.write("scripts/guard.rhai", "fn update() {\n    let a = ;\n}\n");
    editor.open("guard.toml", "initial = 'a'\n[states.a]\nscript = 'scripts/guard.rhai'\nfinal = true\n");
    assert_eq!(editor.problems("guard.toml"), json!([]));
    assert_eq!(editor.problems_in_short("scripts/guard.rhai"), ["1:12-1:13 script"]);

    // Fixed in the editor, without being saved.
    editor.open("scripts/guard.rhai", "fn update() {\n    let a = 3;\n}\n");
    assert_eq!(editor.problems("guard.toml"), json!([]));
    assert_eq!(editor.problems("scripts/guard.rhai"), json!([]));
    editor.replace("scripts/guard.rhai", 2, "fn update() {");
    assert_eq!(editor.problems_in_short("scripts/guard.rhai"), ["0:13-0:13 script"]);
    editor.close();
}
