//! Regions in an editor: completion, definitions, references, renaming and hover of their names.

use serde_json::json;

use crate::editor::{Editor, cursor, edited, range};

const FILE: &str = "initial = 'fight'
[states.walk]
parent = 'fight'
[states.run]
parent = 'fight'
region = 'legs'
[states.fight]
regions = { legs = 'walk', \"the arms\" = 'ready' }
[states.ready]
parent = 'fight'
[states.fire]
parent = 'fight'
region = 'the arms'
[states.other]
regions = { ears = 'hear' }
[states.hear]
parent = 'other'
";

/// Returns the file with a `|` in the first `word` after `behind`.
fn at(behind: &str, word: &str) -> String {
    let begin = FILE.find(behind).unwrap();
    let at = begin + FILE[begin..].find(word).unwrap() + 1;
    format!("{}|{}", &FILE[..at], &FILE[at..])
}

#[test]
fn the_regions_of_the_parent_are_completed() {
    let mut editor = Editor::new();
    let text = FILE.replace("region = 'legs'", "region = '|'");
    let items = editor.at("textDocument/completion", &text).unwrap()["items"].clone();
    let labels: Vec<_> = items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["legs", "the arms"]);
    editor.close();
}

#[test]
fn the_definition_and_the_references_of_a_region_are_found() {
    let mut editor = Editor::new();
    let definition = editor.at("textDocument/definition", &at("region = 'the", "the arms")).unwrap();
    assert_eq!(range(&definition[0]["range"]), "7:27-7:37");
    editor.close();
}

#[test]
fn a_region_is_renamed_wherever_it_is_named() {
    for (behind, word, new, expected) in [
        ("region = 'legs", "legs", "feet", FILE.replace("legs", "feet")),
        (
            "regions = {",
            "legs",
            "both feet",
            FILE.replace("{ legs", "{ \"both feet\"").replace("'legs'", "'both feet'"),
        ),
        ("regions = {", "the arms", "arms", FILE.replace("the arms", "arms")),
    ] {
        let mut editor = Editor::new();
        let (plain, line, column) = cursor(&at(behind, word));
        editor.open("guard.toml", &plain);
        let edit =
            editor.ask_at("textDocument/rename", "guard.toml", line, column, &json!({ "newName": new })).unwrap();
        assert_eq!(edited(&plain, &edit["changes"][&editor.uri("guard.toml")]), expected);
        let taken = editor.ask_at("textDocument/rename", "guard.toml", line, column, &json!({ "newName": "the arms" }));
        assert_eq!(taken.is_err(), word != "the arms", "{taken:?}");
        editor.close();
    }
}

#[test]
fn a_state_and_a_region_say_which_is_which() {
    for (behind, word, expected) in [
        ("[states.run]", "run", "state `fight / run`\n- lies in region `legs` of `fight`"),
        ("[states.fight]", "fight", "state `fight`\n- a machine begins in it\n- has the regions `legs`, `the arms`"),
        ("regions = {", "legs", "region `legs` of `fight`\n\nstates: `walk`, `run`"),
        ("region = 'the", "the arms", "region `the arms` of `fight`\n\nstates: `ready`, `fire`"),
    ] {
        let mut editor = Editor::new();
        let hover = editor.at("textDocument/hover", &at(behind, word)).unwrap();
        assert_eq!(hover["contents"]["value"].as_str(), Some(expected));
        editor.close();
    }
}
