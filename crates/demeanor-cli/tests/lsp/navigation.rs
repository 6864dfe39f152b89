//! Definitions, references, and the outline.

use serde_json::{Value, json};

use crate::editor::{Editor, cursor, range};

const FILE: &str = "initial = 'fight'
[states.fight]
initial = 'aim'
exits = [{ to = 'hunt', when = 'time_in(aim) > 3 and not in(\"hunt.aim\")' }]
[states.'fight.aim']
[[states.'fight.aim'.exits]]
to = 'hunt.aim'
[states.hunt]
initial = 'aim'
[states.'hunt.aim']
behavior = { name = 'walk', speed = 3, then = 'fight.aim' }
";

/// Returns locations in short form: `guard.toml 2:3-2:7`.
fn places(editor: &Editor, locations: &Value) -> Vec<String> {
    let root = format!("{}/", editor.uri(""));
    let place = |one: &Value| format!("{} {}", one["uri"].as_str().unwrap().replace(&root, ""), range(&one["range"]));
    locations.as_array().unwrap().iter().map(place).collect()
}

/// Returns the definition of the first `word` after `behind`.
#[track_caller]
fn assert_defined(behind: &str, word: &str, expected: &[&str]) {
    let begin = FILE.find(behind).unwrap();
    let at = begin + FILE[begin..].find(word).unwrap();
    let mut editor = Editor::new();
    let found = editor.at("textDocument/definition", &format!("{}|{}", &FILE[..at], &FILE[at..])).unwrap();
    assert_eq!(places(&editor, &found), expected);
    editor.close();
}

#[test]
fn the_definition_of_a_state_is_found_in_its_scope() {
    assert_defined("initial = ", "fight", &["guard.toml 1:8-1:13"]);
    assert_defined("initial = 'aim'", "aim", &["guard.toml 4:8-4:19"]);
    assert_defined("time_in(", "aim", &["guard.toml 4:8-4:19"]);
    assert_defined("not in(", "aim", &["guard.toml 9:8-9:18"]);
    assert_defined("not in(", "hunt", &["guard.toml 7:8-7:12"]);
    assert_defined("[states.hunt]\ninitial = 'aim'", "aim", &["guard.toml 9:8-9:18"]);
    assert_defined("then = ", "aim", &["guard.toml 4:8-4:19"]);
    assert_defined("[[", "aim", &["guard.toml 4:8-4:19"]);
    assert_defined("exits = ", "when", &[]);
}

#[test]
fn the_mentions_of_a_state_are_found_in_keys_texts_conditions_and_parameters() {
    let mut editor = Editor::new();
    editor.open("guard.toml", FILE);
    let mut mentions = |line, column, with: bool| {
        let context = json!({ "context": { "includeDeclaration": with } });
        let found = editor.ask_at("textDocument/references", "guard.toml", line, column, &context).unwrap();
        places(&editor, &found)
    };
    let aim = ["4:15-4:18", "5:16-5:19", "2:11-2:14", "3:40-3:43", "10:53-10:56"].map(|at| format!("guard.toml {at}"));
    let mut sorted = aim.to_vec();
    sorted.sort_by_key(|place| place.split([' ', ':']).nth(1).unwrap().parse::<u32>().unwrap());
    assert_eq!(mentions(2, 12, true), sorted);
    let without: Vec<_> = sorted.iter().filter(|place| !place.contains(" 4:")).cloned().collect();
    assert_eq!(mentions(2, 12, false), without);
    let fight = ["0:11-0:16", "1:8-1:13", "4:9-4:14", "5:10-5:15", "10:47-10:52"];
    assert_eq!(mentions(0, 12, true), fight.map(|at| format!("guard.toml {at}")));
    editor.close();
}

#[test]
fn a_state_of_a_linked_file_is_found_there_and_in_all_that_link_to_it() {
    let mut editor = Editor::new();
    let round = "initial = 'walk'\n[states.walk]\nexits = [{ to = 'home', after = 3 }]\n[states.home]\nfinal = true\n";
    editor.write("rounds/round.toml", round);
    let guard = "initial = 'patrol'\n[states.patrol]\nmachine = 'rounds/round.toml'\nexits = [{ to = 'patrol.walk', after = 9 }]\n";
    editor.write("guard.toml", guard);
    editor.write("unrelated.toml", "machine = 'x'\n");
    editor.open("other.toml", &guard.replace("after = 9", "on = 'done'"));
    let found = editor.ask_at("textDocument/definition", "other.toml", 3, 26, &json!({})).unwrap();
    assert_eq!(places(&editor, &found), ["rounds/round.toml 1:8-1:12"]);
    let found = editor.ask_at("textDocument/definition", "other.toml", 2, 15, &json!({})).unwrap();
    assert_eq!(places(&editor, &found), ["rounds/round.toml 0:0-0:0"]);

    let with = json!({ "context": { "includeDeclaration": true } });
    let found = editor.ask_at("textDocument/references", "other.toml", 3, 26, &with).unwrap();
    assert_eq!(
        places(&editor, &found),
        ["guard.toml 3:24-3:28", "other.toml 3:24-3:28", "rounds/round.toml 0:11-0:15", "rounds/round.toml 1:8-1:12"]
    );
    editor.close();
}

#[test]
fn a_state_is_found_in_the_scripts_that_mean_it() {
    let mut editor = Editor::new();
    editor.write("guard.rhai", "fn update() {\n    change_state(\"aim\");\n}\n");
    let script = "script = 'guard.rhai'\n";
    editor.open("guard.toml", &(FILE.to_owned() + script));
    for (line, expected) in [(4, None), (9, Some("guard.rhai 1:18-1:21"))] {
        let with = json!({ "context": { "includeDeclaration": true } });
        let found = editor.ask_at("textDocument/references", "guard.toml", line, 16, &with).unwrap();
        let in_script = places(&editor, &found).into_iter().find(|place| place.contains("rhai"));
        assert_eq!(in_script.as_deref(), expected);
    }
    editor.close();
}

#[test]
fn a_machine_and_a_script_are_found() {
    let mut editor = Editor::new();
    editor.write("guard.rhai", "fn update() {}\n");
    let file = "[machines.imp]\ninitial = 'a'\n[machines.imp.states.a]\nscript = 'guard.rhai'\nmachine = 'baron'\n[machines.baron]\ninitial = 'b'\n[machines.baron.states.b]\nfinal = true\n[machines.third]\nlike = 'baron'\n";
    editor.open("guard.toml", file);
    for (line, column, expected) in
        [(3, 12, "guard.rhai 0:0-0:0"), (4, 12, "guard.toml 5:10-5:15"), (10, 9, "guard.toml 5:10-5:15")]
    {
        let found = editor.ask_at("textDocument/definition", "guard.toml", line, column, &json!({})).unwrap();
        assert_eq!(places(&editor, &found), [expected]);
    }
    editor.close();
}

#[test]
fn a_machine_of_a_file_with_any_name_is_found() {
    let mut editor = Editor::new();
    editor.write("c#.toml", "[machines.imp]\ninitial = 'a'\nstates.a.final = true\n");
    editor.open("guard.toml", "initial = 'a'\n[states.a]\nmachine = 'c#.toml#imp'\n");
    let found = editor.ask_at("textDocument/definition", "guard.toml", 2, 14, &json!({})).unwrap();
    assert_eq!(places(&editor, &found), ["c%23.toml 0:10-0:13"]);
    editor.close();
}

/// Writes the tree of an outline: each line has a name, its detail, and its range.
fn tree(symbols: &Value, depth: usize, lines: &mut Vec<String>) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let detail = symbol["detail"].as_str().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let (name, at) = (symbol["name"].as_str().unwrap(), range(&symbol["range"]));
        let selected = range(&symbol["selectionRange"]);
        lines.push(format!("{}{name}{detail} {at} {selected}", "  ".repeat(depth)));
        tree(&symbol["children"], depth + 1, lines);
    }
}

#[test]
fn the_outline_has_the_states_as_they_are_nested() {
    let mut editor = Editor::new();
    editor.open("guard.toml", FILE);
    let symbols =
        editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": editor.uri("guard.toml") } }));
    let mut lines = Vec::new();
    tree(&symbols.unwrap(), 0, &mut lines);
    assert_eq!(
        lines,
        [
            "fight 1:0-3:75 1:8-1:13",
            "  fight.aim 4:0-4:20 4:8-4:19",
            "hunt 7:0-8:15 7:8-7:12",
            "  hunt.aim (walk) 9:0-10:59 9:8-9:18",
        ]
    );
    editor.close();
}

#[test]
fn the_outline_of_several_machines_has_in_each_what_is_written_in_it() {
    let mut editor = Editor::new();
    let file = "[machines.imp]\ninitial = 'a'\n[machines.imp.states.a]\nmachine = 'baron'\n[machines.baron]\ninitial = 'b'\nstates.b = { final = true }\n[machines.third]\nlike = 'baron'\n[machines.third.states.c]\nentry = true\n";
    let (text, ..) = cursor(&format!("{file}|"));
    editor.open("guard.toml", &text);
    let symbols =
        editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": editor.uri("guard.toml") } }));
    let mut lines = Vec::new();
    tree(&symbols.unwrap(), 0, &mut lines);
    assert_eq!(
        lines,
        [
            "imp 0:0-1:13 0:10-0:13",
            "  a 2:0-3:17 2:21-2:22",
            "baron 4:0-6:27 4:10-4:15",
            "  b 6:7-6:27 6:7-6:8",
            "third (like baron) 7:0-8:14 7:10-7:15",
            "  c 9:0-10:12 9:23-9:24",
        ]
    );
    editor.close();
}
